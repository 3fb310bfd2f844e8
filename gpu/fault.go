package gpu

import (
	"cmp"
	"fmt"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"quern.dev/gpu/compiled"
	"quern.dev/gpu/internal/layout"
	"quern.dev/internal/driver"
	"quern.dev/kernel"
)

// FaultKind is the kind of a fault.
type FaultKind uint8

// Faults that the kernel's own checks detect on every device.
const (
	OutOfRange   = FaultKind(driver.KindRange)  // an index or slice bound
	DivideByZero = FaultKind(driver.KindDivide) // of integers
	BadShift     = FaultKind(driver.KindShift)  // a negative shift count
	Panic        = FaultKind(driver.KindPanic)  // a call of panic
	NilPointer   = FaultKind(driver.KindNil)
)

// Faults that the simulator detects.
const (
	BadAddress    = FaultKind(driver.KindMemory)        // outside every allocation or variable
	Misaligned    = FaultKind(driver.KindMisaligned)    // address not a multiple of the access size
	UseAfterFree  = FaultKind(driver.KindFreed)         // of a closed buffer
	DataRace      = FaultKind(driver.KindRace)          // two threads, one writing, no barrier or atomic
	Divergence    = FaultKind(driver.KindBarrier)       // threads of a block at different barriers
	Uninitialized = FaultKind(driver.KindUninitialized) // a read of memory that was never written
	StepBudget    = FaultKind(driver.KindBudget)        // see SimOptions.Steps
	Trap          = FaultKind(driver.KindTrap)
)

// GivenUp means that a launch was stopped because the context of its stream ended or
// Config.LaunchTimeout passed.
const GivenUp = FaultKind(driver.KindGivenUp)

var faultNames = [...]string{
	OutOfRange: "out of range", DivideByZero: "divide by zero", BadShift: "bad shift",
	Panic: "panic", NilPointer: "nil pointer", BadAddress: "bad address",
	Misaligned: "misaligned", UseAfterFree: "use after free", DataRace: "data race",
	Divergence: "divergence", Uninitialized: "uninitialized", StepBudget: "step budget",
	Trap: "trap", GivenUp: "given up",
}

// String returns the kind in words, such as "data race".
func (k FaultKind) String() string {
	if int(k) < len(faultNames) && faultNames[k] != "" {
		return faultNames[k]
	}
	return "unknown fault"
}

// KernelError is the first fault of a kernel. The next wait on the stream returns it, once. A
// launch that was given up returns it itself. The device stays usable. The contents of
// buffers that the kernel writes are unspecified: on a GPU and the simulator the other
// threads continue, on the CPU the rest of the launch does not run. A fault that only the
// simulator detects ends the launch.
type KernelError struct {
	Kernel        string // its function, or the handler of an actor
	Handler       bool   // Kernel is a handler
	Kind          FaultKind
	File          string // of the Go source, with the import path of its package: "example.com/app/filters/blur.go"
	Line          int
	Block, Thread Dim3
	// Index is the index or slice bound that was out of range. Length is the length or, for
	// slice bounds, the capacity. If the simulator detected the fault in an access to a
	// slice, Param is the parameter, Index the element, and Length that of the slice.
	Index, Length int64
	Param         string
	Reason        string // "index 8 out of range [0,5)"

	// Err is the cause of the context's end for GivenUp, and otherwise nil.
	Err error
}

// Unwrap returns Err.
func (e *KernelError) Unwrap() error { return e.Err }

// Error returns, for example,
//
//	filters/blur.go:16: kernel blur: index 8 out of range [0,5) in block (0,0,0) thread (8,0,0)
//
// with the last element of the import path.
func (e *KernelError) Error() string {
	var b strings.Builder
	if e.File != "" {
		b.WriteString(position(e.File, e.Line) + ": ")
	}
	what := "kernel"
	if e.Handler {
		what = "handler"
	}
	fmt.Fprintf(&b, "%s %s: %s in %s", what, e.Kernel, e.Reason, place(e.Block, e.Thread))
	if e.Err != nil {
		fmt.Fprintf(&b, ": %v", e.Err)
	}
	return b.String()
}

// position returns a position in a source file, with the last element of the import path.
func position(file string, line int) string {
	dir, name := path.Split(file)
	return fmt.Sprintf("%s:%d", path.Join(path.Base(dir), name), line)
}

func place(block, thread Dim3) string {
	return fmt.Sprintf("block (%d,%d,%d) thread (%d,%d,%d)", block.X, block.Y, block.Z, thread.X, thread.Y, thread.Z)
}

// kernelError returns the public form of a fault of a kernel that was launched on d.
func (d *Device) kernelError(f *driver.Fault) *KernelError {
	e := &KernelError{
		Kernel: "unknown",
		Kind:   FaultKind(f.Kind),
		File:   f.File,
		Line:   f.Line,
		Block:  f.Block,
		Thread: f.Thread,
		Index:  f.Index,
		Length: f.Length,
		Reason: f.Reason,
		Err:    f.Cause,
	}
	r, variant := d.loadedByID(f.ID)
	if r == nil {
		return e
	}
	info := &r.kernel.info
	e.Kernel, e.Handler = cmp.Or(info.Handler, info.Name), info.Handler != ""
	if f.Site < 0 {
		if f.File == "" {
			f.File, f.Line = info.declared()
			e.Line = f.Line
		}
		e.File = info.sourceFile(f.File, f.Package)
		if f.Access != nil {
			if at, text, ok := layout.Locate(f.Access, info.Params); ok {
				e.Param, e.Index, e.Length = at.Param, at.Index, at.Length
				e.Reason = strings.Replace(e.Reason, f.Access.Where, text, 1)
			}
		}
		e.explain(f.HasIndex, f.Reason)
		e.explainDynamic(info)
		if o := f.Other; o != nil {
			at := ""
			if o.File != "" {
				at = position(info.sourceFile(o.File, ""), o.Line) + " in "
			}
			e.Reason += " (the other access: " + at + place(o.Block, o.Thread) + ")"
		}
		return e
	}
	sites := info.Variants[variant].Sites
	if f.Site >= len(sites) {
		e.Reason = fmt.Sprintf("failed check number %d", f.Site)
		return e
	}
	s := &sites[f.Site]
	e.Kind, e.File, e.Line = faultKind(s.Kind), info.sourceFile(s.File, ""), s.Line
	switch s.Kind {
	case compiled.SliceSite:
		e.explain(true, "slice bounds out of range")
	case compiled.PanicSite:
		e.explain(false, s.Text)
	default:
		e.explain(true, "")
	}
	e.explainDynamic(info)
	return e
}

// explainDynamic says what to do if the failed index or bound is that of a slice of
// kernel.Dynamic without elements.
func (e *KernelError) explainDynamic(info *kernelInfo) {
	if e.Kind != OutOfRange || e.Length != 0 {
		return
	}
	for _, v := range info.Variants {
		for i := range v.Sites {
			if s := &v.Sites[i]; s.Text == compiled.DynamicSlice && s.Line == e.Line && info.sourceFile(s.File, "") == e.File {
				e.Reason += "; kernel.Dynamic has as many elements as fit the bytes given to Grid.Shared"
				return
			}
		}
	}
}

// explain sets Reason from the kind, with the same words for all devices. For faults that
// only the simulator detects it leaves Reason as it is.
func (e *KernelError) explain(hasIndex bool, reason string) {
	switch {
	case e.Kind == OutOfRange && !hasIndex:
		e.Reason = reason
	case e.Kind == OutOfRange && strings.HasPrefix(reason, "slice"):
		e.Reason = fmt.Sprintf("slice bound %d out of range [0,%d]", e.Index, e.Length)
	case e.Kind == OutOfRange && e.Index < 0 && e.Length == 0:
		e.Reason = fmt.Sprintf("index %d out of range", e.Index) // Go does not tell the length
	case e.Kind == OutOfRange:
		e.Reason = fmt.Sprintf("index %d out of range [0,%d)", e.Index, e.Length)
	case e.Kind == DivideByZero:
		e.Reason = "integer divide by zero"
	case e.Kind == BadShift:
		e.Reason = "negative shift amount"
	case e.Kind == NilPointer:
		e.Reason = "nil pointer dereference"
	case e.Kind == Panic:
		e.Reason = "panic: " + reason
	case e.Kind == GivenUp:
		e.Reason = "given up"
	}
}

// declared returns the position of the kernel's declaration.
func (k *kernelInfo) declared() (file string, line int) {
	file, number, _ := strings.Cut(k.Pos, ":")
	line, _ = strconv.Atoi(number)
	return file, line
}

// sourceFile returns the name of a source file with the import path of its package. In GPU
// code, files of the kernel's own package have no path. Go's runtime reports the full path
// of a file and pkg, the package of the function; code inlined from another package has the
// name that it has in GPU code.
func (k *kernelInfo) sourceFile(name, pkg string) string {
	name = filepath.ToSlash(name)
	switch base := path.Base(name); {
	case name == "":
		return ""
	case pkg != "" && pkg != "main" && pkg != k.Package && k.Package != "":
		return pkg + "/" + base
	case pkg != "":
		for _, v := range k.Variants {
			for i := range v.Sites {
				if other := v.Sites[i].File; strings.Contains(other, "/") && strings.HasSuffix("/"+name, "/"+other) {
					return other
				}
			}
		}
		name = base
	}
	if k.Package == compiledPackage || strings.Contains(name, "/") {
		return name
	}
	return path.Join(k.Package, name)
}

// Dim3 is an extent in threads or blocks, or a position within one.
type Dim3 = kernel.Dim3
