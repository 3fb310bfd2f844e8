package ptxvm

import (
	"fmt"
	"strings"
)

// Kind is the kind of a Fault.
type Kind uint8

const (
	OutOfBounds      Kind = iota + 1 // access outside all allocations or outside shared or local memory
	Misaligned                       // address is not a multiple of the access size
	UseAfterFree                     // access to freed global memory
	ReadOnly                         // write to constant memory
	Uninitialised                    // read of bytes never written
	SharedRace                       // unordered accesses to shared memory by two threads
	GlobalRace                       // unordered accesses to global memory by two threads
	DivergentBarrier                 // threads of a block wait at different barriers
	DivergentWarp                    // warp operation that its threads cannot complete together
	StepBudget                       // the launch executed Config.MaxSteps instructions
	Trap                             // the kernel executed trap
	IllegalOperand                   // operand that the hardware does not define, such as barrier 16
	GivenUp                          // the context of the launch ended
)

var kindNames = [...]string{
	OutOfBounds:      "out-of-bounds access",
	Misaligned:       "misaligned access",
	UseAfterFree:     "use after free",
	ReadOnly:         "write to constant memory",
	Uninitialised:    "read of uninitialised memory",
	SharedRace:       "data race in shared memory",
	GlobalRace:       "data race in global memory",
	DivergentBarrier: "divergent barrier",
	DivergentWarp:    "divergent warp operation",
	StepBudget:       "step budget exhausted",
	Trap:             "trap",
	IllegalOperand:   "illegal operand",
	GivenUp:          "given up",
}

func (k Kind) String() string {
	if int(k) < len(kindNames) && kindNames[k] != "" {
		return kindNames[k]
	}
	return fmt.Sprintf("Kind(%d)", uint8(k))
}

// Fault is the error of a launch that one of its threads ended, by violating a check or a
// rule of the machine.
type Fault struct {
	Kind   Kind
	Kernel string
	Site
	Address uint64 // of the access; zero for faults without an access
	Detail  string // size and space of the access, the allocation, or what the block waits for
	// Global describes an access to the global memory of a checked Memory; nil for other
	// faults.
	Global *GlobalAccess
	// Other is the access that races with this one; nil for other faults.
	Other *Site
	// Cause is why the launch was given up; nil for other faults.
	Cause error
}

// Unwrap returns the cause of a launch that was given up.
func (f *Fault) Unwrap() error { return f.Cause }

// GlobalAccess locates an access in global memory.
type GlobalAccess struct {
	Size  int  // bytes
	Write bool // store or atomic access
	// Lo and Hi are the address of the first byte of the nearest allocation and the
	// address after its last byte. The access may lie outside of it. Both are zero if
	// there is no allocation.
	Lo, Hi uint64
	Where  string // the part of Fault.Detail that locates the address: byte 4 of "y" (64 bytes)
}

// Site is a thread at an instruction.
type Site struct {
	// File, Line and Col are the Go source position. Line is zero if the PTX has no .loc
	// for the instruction.
	File      string
	Line, Col int
	// PTXLine is the line in the PTX text; zero if unknown.
	PTXLine int
	Block   [3]int // X, Y, Z
	Thread  [3]int
}

// position returns the position in the Go source or, if that is unknown, in the PTX text.
func (s Site) position() string {
	switch {
	case s.Line > 0:
		return fmt.Sprintf("%s:%d:%d", s.File, s.Line, s.Col)
	case s.PTXLine > 0:
		return fmt.Sprintf("PTX line %d", s.PTXLine)
	}
	return ""
}

func (s Site) String() string {
	var text strings.Builder
	if at := s.position(); at != "" {
		text.WriteString(at + " ")
	}
	fmt.Fprintf(&text, "block (%d,%d,%d) thread (%d,%d,%d)",
		s.Block[0], s.Block[1], s.Block[2], s.Thread[0], s.Thread[1], s.Thread[2])
	return text.String()
}

func (f *Fault) Error() string {
	text := fmt.Sprintf("kernel %s: %s", f.Kernel, f.Kind)
	if f.Detail != "" {
		text += ": " + f.Detail
	}
	text += " at " + f.Site.String()
	if f.Other != nil {
		text += "; races with " + f.Other.String()
	}
	if f.Cause != nil {
		text += ": " + f.Cause.Error()
	}
	return text
}

// site returns the Site of the given thread and block at instruction in.
func (e *Entry) site(in *instr, block, thread [3]int) Site {
	loc := e.locations[in.loc]
	return Site{
		File: loc.file, Line: int(loc.line), Col: int(loc.col), PTXLine: int(in.line),
		Block: block, Thread: thread,
	}
}

// fault stops the block with a fault of t at in and returns the fault. It returns nil if
// the block has already stopped.
func (t *thread) fault(kind Kind, in *instr, address uint64, format string, args ...any) *Fault {
	t.state = halted
	b := t.b
	if b.err != nil {
		return nil
	}
	f := &Fault{
		Kind:    kind,
		Kernel:  b.entry.Name,
		Site:    b.entry.site(in, b.index, b.coordinates(t.index)),
		Address: address,
		Detail:  fmt.Sprintf(format, args...),
	}
	b.err = f
	return f
}

// inGlobal adds the location of a global memory access to f, which may be nil.
func (f *Fault) inGlobal(a *allocation, in *instr, address uint64) {
	if f == nil {
		return
	}
	f.Global = &GlobalAccess{Size: int(in.access.size), Write: in.access.write, Where: describeAddress(a, address)}
	if a != nil {
		f.Global.Lo, f.Global.Hi = a.base, a.base+a.size
	}
}

// describe returns a description of the access in space sp, such as "global load of 4
// bytes".
func (a access) describe(sp space) string {
	verb := "load"
	switch {
	case a.read && a.write:
		verb = "atomic access"
	case a.write:
		verb = "store"
	}
	return fmt.Sprintf("%s %s of %d bytes", sp, verb, a.size)
}
