package compiled

import (
	"quern.dev/kernel"
	"quern.dev/kernel/host"
)

// Kernel describes a kernel. gpu.NewKernel makes it ready to be launched.
type Kernel struct {
	Name    string // of an instance of a generic kernel with its type arguments: "scale[float32]"
	Entry   string // of the kernel in its PTX; empty if it is Name
	Package string // import path
	Handler string // of an actor, that the kernel was made for; else empty
	Pos     string // "saxpy.go:14"
	Params  []Param

	// Code is the GPU code of the package. Without it the kernel runs on the CPU
	// only.
	Code *Code

	// Variants are the forms of the kernel, fastest first. A launch uses the
	// first whose limits it meets; the last one has none. No variants means one
	// without checks that can fail.
	Variants []Variant

	// Special are forms of the kernel for particular arguments. A launch uses the
	// first whose limits it meets.
	Special []Special

	Block  kernel.Dim3 // that the kernel must be launched with, zero if any will do
	Shared int         // static shared memory of a block in bytes

	Formats []Format // calls of kernel.Printf

	Cooperative bool        // it waits for the whole grid: all blocks have to be resident at once
	Cluster     kernel.Dim3 // blocks in a cluster, zero if it has none

	// Host is the kernel compiled to Go. Without it the CPU interprets the PTX.
	Host host.Func
	// Plain is the kernel's own function, which the CPU runs in its place where
	// coverage is counted.
	Plain host.Func
}

// Variant is a form of a kernel that is exact for launches which meet its limits.
type Variant struct {
	Name   string  // "coarse", "proven", "narrow" or "wide"
	Limits []int64 // conditions on the arguments; see package internal/limits
	Sites  []Site  // the checks that can fail

	// Threads is how many threads of the kernel, along X, one thread runs: as
	// many blocks fewer are launched, with a last one for the rest. Zero is one.
	Threads int
	// Adjacent: these threads have numbers in the grid that follow each other;
	// otherwise they are the same thread of blocks that do.
	Adjacent bool
}

// Param is a parameter of a kernel.
type Param struct {
	Name string
	Kind ParamKind
	Type string // Go type of the value or of the elements, with the paths of packages
	Size int    // of the value or of an element, bytes

	// Layout is Type with what it is defined as in place of every defined type, such
	// as "struct{X float32; Y [2]int32}": it says where each number is. It is empty if
	// it is Type.
	Layout string

	// ReadOnly: the kernel writes no element of the slice. Otherwise it may, and the
	// argument cannot be a view for reading; see gpu.Unified.ReadDevice.
	ReadOnly bool
}

// ParamKind is the form of a parameter.
type ParamKind uint8

// Forms of parameters.
const (
	Scalar  ParamKind = iota // a number or bool
	Slice                    // a slice; the argument is a Buffer
	Struct                   // a struct or array
	Texture                  // a texture; the argument is a Texture2D
)

// Site is a check in a kernel that can fail.
type Site struct {
	Kind      SiteKind
	File      string // with the import path of its package if that is another
	Line, Col int
	Text      string // the reason of a panic
}

// SiteKind is the kind of a check.
type SiteKind uint8

// Kinds of checks.
const (
	IndexSite  SiteKind = iota // an index
	SliceSite                  // a bound of a slice expression
	DivideSite                 // a divisor
	ShiftSite                  // a shift count
	PanicSite                  // a call of panic
	NilSite                    // a pointer
)

// Special is a form of a kernel in which parameters are constants, exact for
// launches that meet its limits: that their arguments have these values.
type Special struct {
	Name    string  // "radius=1"
	Section string  // the kernel's name in the package's Code
	Entry   string  // of the kernel in its PTX
	Limits  []int64 // conditions on the arguments; see package internal/limits

	Variants []Variant // as those of Kernel
	Shared   int       // static shared memory of a block in bytes
	Host     host.Func // the form compiled to Go
}

// Format is a call of kernel.Printf in a kernel.
type Format struct {
	Text string // the format
	// Args are the predeclared Go types of the arguments. A constant string is
	// there as a Go literal.
	Args []string
}
