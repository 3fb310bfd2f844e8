package compiled

import (
	"quern.dev/kernel"
	"quern.dev/kernel/host"
)

// Declaration is what a generated Go file says about a kernel: its name and its Go forms.
// The archive has the rest. Go initialises variables of this type at compile time, so a program
// has only those that it uses.
type Declaration struct {
	Name    string // see Kernel
	Code    *Code
	Host    host.Func
	Plain   host.Func
	Special []host.Func // of the special forms, if they run on the CPU
}

// Kernel describes a kernel. gpu.NewKernel prepares it for launches.
type Kernel struct {
	Name    string // with type arguments if it is an instance of a generic kernel: "scale[float32]"
	Entry   string // name of the entry point in the PTX; empty if it is Name
	Package string // import path
	Handler string // the actor that the kernel was made for; otherwise empty
	Pos     string // "saxpy.go:14"
	Params  []Param

	// Code is the GPU code of the package. If it is nil, the kernel runs only on the
	// CPU. HostOnly says so in an archive.
	Code     *Code
	HostOnly bool

	// Variants are the forms of the kernel, fastest first. A launch uses the first
	// one whose limits it meets; the last one has no limits. If there are none, the
	// kernel has one form, without checks that can fail.
	Variants []Variant

	// Special are forms of the kernel for particular arguments. A launch uses the
	// first one whose limits it meets.
	Special []Special

	Block  kernel.Dim3 // required block size; zero if any will do
	Shared int         // static shared memory per block in bytes

	Formats []Format // the calls of kernel.Printf

	Cooperative bool        // the kernel waits for the whole grid, so all blocks must be resident at once
	Cluster     kernel.Dim3 // blocks per cluster; zero if the kernel has no clusters

	// Host is the kernel compiled to Go. If it is nil, the CPU device interprets the
	// PTX.
	Host host.Func
	// Plain is the kernel's own Go function. The CPU device runs it instead of Host
	// when coverage is measured.
	Plain host.Func
}

// Variant is a form of a kernel that is exact for all launches which meet its limits.
type Variant struct {
	Name   string  // "coarse", "proven", "narrow" or "wide"
	Limits []int64 // conditions on the arguments; see package internal/limits
	Sites  []Site  // the checks that can fail

	// Threads is the number of threads of the kernel, along X, that one GPU thread
	// runs: the launch has fewer blocks by that factor, plus one for the remainder.
	// Zero means one.
	Threads int
	// Adjacent means that these threads have consecutive numbers in the grid.
	// Otherwise they have the same number in consecutive blocks.
	Adjacent bool
}

// Param is a parameter of a kernel.
type Param struct {
	Name string
	Kind ParamKind
	Type string // Go type of the value or of the elements, with full package paths
	Size int    // of the value or of an element, in bytes

	// Layout is Type with every defined type replaced by its definition, such as
	// "struct{X float32; Y [2]int32}": it gives the place of each number. It is empty
	// if it equals Type.
	Layout string

	// ReadOnly means that the kernel writes no element of the slice. If it is not
	// set, the argument must not be a read-only view; see gpu.Unified.ReadDevice.
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
	File      string // with the import path of its package if that is not the kernel's
	Line, Col int
	Text      string // the reason, for a panic; DynamicSlice, for an index or bound of such a slice
}

// DynamicSlice is the text of sites in slices that kernel.Dynamic returns.
const DynamicSlice = "kernel.Dynamic"

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

// Special is a form of a kernel in which some parameters are constants. It is exact
// for launches that meet its limits, which require these values of the arguments.
type Special struct {
	Name    string  // "radius=1"
	Section string  // the kernel's name in the package's Code
	Entry   string  // of the kernel in its PTX
	Limits  []int64 // conditions on the arguments; see package internal/limits

	Variants []Variant // as those of Kernel
	Shared   int       // static shared memory per block in bytes
	Host     host.Func // the form compiled to Go
}

// Format describes a call of kernel.Printf in a kernel.
type Format struct {
	Text string // the format
	// Args are the predeclared Go types of the arguments. A constant string is
	// represented by its Go literal.
	Args []string
}
