package ptxvm

import (
	"fmt"
	"strings"
)

// Kind says what a Fault is.
type Kind uint8

const (
	OutOfBounds      Kind = iota + 1 // access outside every allocation, shared or local memory
	Misaligned                       // address not a multiple of the size of the access
	UseAfterFree                     // access to freed global memory
	ReadOnly                         // write to constant memory
	Uninitialised                    // read of bytes never written
	SharedRace                       // unordered accesses of two threads to shared memory
	GlobalRace                       // unordered accesses of two threads to global memory
	DivergentBarrier                 // threads of a block wait at different barriers
	DivergentWarp                    // a warp operation that its threads cannot complete together
	StepBudget                       // Config.MaxSteps instructions were run
	Trap                             // the kernel executed trap
	IllegalOperand                   // an operand that the hardware does not define, such as barrier 16
	GivenUp                          // the launch's context has ended
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

// Fault is the error of a launch that a thread ended by doing something that
// the checks, or the machine itself, do not allow.
type Fault struct {
	Kind   Kind
	Kernel string
	Site
	Address uint64 // of the access; zero for faults that are none
	Detail  string // size and space of the access, allocation, what the block waits for
	// Global is set for accesses to the global memory of a checked Memory.
	Global *GlobalAccess
	// Other is the access that races with this one; nil for other faults.
	Other *Site
	// Cause is why the launch was given up; nil for other faults.
	Cause error
}

// Unwrap returns the cause of a launch that was given up.
func (f *Fault) Unwrap() error { return f.Cause }

// GlobalAccess is where an access is in global memory.
type GlobalAccess struct {
	Size  int  // of the access, bytes
	Write bool // it is a store or an atomic access
	// Lo and Hi are the first byte of the allocation that the address belongs to, which
	// need not be in it, and the one behind its last. Both are zero if there is none.
	Lo, Hi uint64
	Where  string // the part of Fault.Detail that says where the address is: byte 4 of "y" (64 bytes)
}

// Site is a thread at an instruction.
type Site struct {
	// File, Line and Col are the Go source position; Line is zero where the
	// PTX has no .loc for the instruction.
	File      string
	Line, Col int
	// PTXLine is the line in the PTX text; zero where it is unknown.
	PTXLine int
	Block   [3]int // X, Y, Z
	Thread  [3]int
}

func (s Site) String() string {
	var text strings.Builder
	if s.Line > 0 {
		fmt.Fprintf(&text, "%s:%d:%d ", s.File, s.Line, s.Col)
	}
	if s.PTXLine > 0 {
		fmt.Fprintf(&text, "(PTX line %d) ", s.PTXLine)
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

// site describes thread index of block, at instruction in.
func (e *Entry) site(in *instr, block, thread [3]int) Site {
	loc := e.locations[in.loc]
	return Site{
		File: loc.file, Line: int(loc.line), Col: int(loc.col), PTXLine: int(in.line),
		Block: block, Thread: thread,
	}
}

// fault stops the block with a fault of t at in, which it returns; nil if the block
// has been stopped before.
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

// inGlobal adds to a fault of an access to global memory where that is.
func (f *Fault) inGlobal(a *allocation, in *instr, address uint64) {
	if f == nil {
		return
	}
	f.Global = &GlobalAccess{Size: int(in.access.size), Write: in.access.write, Where: describeAddress(a, address)}
	if a != nil {
		f.Global.Lo, f.Global.Hi = a.base, a.base+a.size
	}
}

// describe says what kind of access in makes.
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
