package ptxvm

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Module is a parsed PTX module. It is immutable and safe for concurrent use.
type Module struct {
	// Version and Target are the arguments of the .version and .target directives, such as
	// "6.0" and "sm_50".
	Version, Target string

	files     map[uint64]string // .file table
	entries   []*Entry
	variables []*variable // .global and .const variables
}

// Entry is a kernel of a module.
type Entry struct {
	Name   string
	Params []Param
	// Cluster holds .reqnctapercluster, the dimensions of a cluster in blocks; zero if
	// absent.
	Cluster [3]int
	// MaxThreads holds .maxntid, RequiredThreads .reqntid; zero if absent.
	MaxThreads, RequiredThreads [3]int
	// SharedSize is the static shared memory per block and LocalSize the local memory per
	// thread, in bytes.
	SharedSize, LocalSize int
	// Registers is the number of virtual registers in use.
	Registers int

	module    *Module
	code      []instr
	locations []location // Go source positions; instr.loc indexes it
	initial   []uint64   // slots of a thread before its first instruction
	specials  []specialSlot
	relocs    []slotReloc
	paramSize int
	machines  sync.Pool // of *block
}

// Param is one .param of a kernel.
type Param struct {
	Name   string
	Size   int // bytes
	Align  int
	Offset int // in the parameter buffer
}

// location is a Go source position from a .loc directive.
type location struct {
	file      string
	line, col int32
}

// slotReloc asks for the address of a module variable in a slot. The address is unknown
// until the module is loaded into a Memory.
type slotReloc struct {
	slot     int32
	variable *variable
	addend   uint64
}

// Entries returns the kernels of m in the order of the text.
func (m *Module) Entries() []*Entry { return slices.Clone(m.entries) }

// Entry returns the kernel with the given name, or nil.
func (m *Module) Entry(name string) *Entry {
	for _, e := range m.entries {
		if e.Name == name {
			return e
		}
	}
	return nil
}

// SyntaxError is an error in PTX text.
type SyntaxError struct {
	Line    int
	Message string
	// Unsupported means that the text may be valid PTX that this package does not support.
	Unsupported bool
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("ptx:%d: %s", e.Line, e.Message) }

// ErrorList holds the errors of a PTX text in the order of the text. Parse returns it.
type ErrorList []*SyntaxError

func (l ErrorList) Error() string {
	lines := make([]string, len(l))
	for i, e := range l {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap gives errors.Is and errors.As access to each error.
func (l ErrorList) Unwrap() []error {
	errs := make([]error, len(l))
	for i, e := range l {
		errs[i] = e
	}
	return errs
}
