package ir

import (
	"context"
	"fmt"
)

// Program holds the kernels of one Go package.
type Program struct {
	Package string // import path
	Name    string // package name
	Kernels []*Kernel
}

// Kernel is a function that runs on a grid.
type Kernel struct {
	Name   string // of the function; for an instance with type arguments, as in scale[float32]
	Func   *Func
	Shared []*SharedVar // in order of appearance; SharedVar.ID is the index
	Tables []*Table     // used by Func and the functions that it calls
	// Constant lists the Tables to put in constant memory. A late pass sets it.
	Constant []*Table
	Formats  []*Format // calls of kernel.Printf; Format.ID is the index
	Options  Options

	// Handler is set for the kernel of an actor, which is the loop around its handler:
	// a kernel that does, for Go, what a block does with one message. Its parameters
	// may be pointers.
	Handler *Kernel

	// Written says for each parameter whether it is a slice whose elements the kernel
	// may write. A pass sets it.
	Written []bool

	// Special lists the parameters that are constants in special forms of the kernel,
	// with their values.
	Special []Special

	// Limits is set by the pass that narrows int: the conditions on launch arguments
	// under which this body is exact. A launch that does not meet them needs the wide
	// variant.
	Limits Limits

	// Coarse is set if a thread of this body runs several threads of the original
	// kernel.
	Coarse *Coarsening
}

// Coarsening says which threads of a kernel one thread of its coarse form runs. These
// are Threads threads, numbered from 0. The launch states GridDim.X blocks along X, of
// which ceil(GridDim.X/Threads) run.
//
//   - The thread's block is BlockIdx.X*Threads + number, and its index in the block is
//
// unchanged; or,
//   - if Adjacent, its index in the grid along X is (BlockIdx.X*BlockDim.X +
//
// ThreadIdx.X)*Threads + number.
//
// In the body, GridDim.X is the number of blocks stated by the launch, and BlockIdx.X
// the block that runs. Threads whose block is not below GridDim.X do not exist, and the
// body does nothing for them.
type Coarsening struct {
	Threads  int
	Adjacent bool
	// Number is the thread that runs where something can fail.
	Number *Local
}

// Options are the options of the //quern:kernel directive.
type Options struct {
	Unchecked bool
	FastMath  bool
	Block     [3]int // launch bounds, 0 if not declared
	Cluster   [3]int // blocks per cluster, 0 without clusters
	MinBlocks int    // minimum number of resident blocks per multiprocessor, 0 for any number
	MaxRegs   int    // maximum number of registers per thread, 0 for any number

	// Variants is the maximum number of variants of the kernel, 0 for any number. One
	// is the variant for every launch; two adds narrow. A kernel that stays on the
	// device is relaunched with other slices and grids, which should not require
	// loading another variant.
	Variants int

	// Only names the only kind of device for which the kernel has code, "gpu" or "cpu".
	// The CPU device interprets the GPU code of a kernel that has no other.
	Only string
}

// Func is a function. Params excludes parameters of type kernel.Thread.
type Func struct {
	Name    string // for messages: package.Function
	Params  []*Local
	Results []*Local // named or generated; Return also carries the values
	Locals  []*Local // all others; a Local is in one list of one Func
	Body    []Stmt
	Pos     Pos
	Context context.Context // of the compilation, see Poll; nil if nothing cancels it

	// Go says how Go source calls the function.
	Go GoRef
	// UsesThread: the body, or a function that it calls, reads the thread's
	// coordinates, waits at a barrier or has shared variables, so that Go code outside
	// a thread cannot call it directly.
	UsesThread bool
	// Assembly is the function's implementation on a GPU; Body is its equivalent
	// elsewhere.
	Assembly *Assembly
	// Strict: floating-point operations must not be fused (standard library).
	Strict bool
}

// GoRef names a Go function or method.
type GoRef struct {
	Package  string // import path
	Name     string
	TypeArgs []*Type
	Method   bool // Params[0] is the receiver
	// Thread holds the positions of kernel.Thread parameters in the Go signature,
	// without the receiver.
	Thread []int
}

// Local is a local variable, a parameter or a temporary.
type Local struct {
	Name   string
	Type   *Type
	Pos    Pos
	Hidden bool // not a source variable: messages do not name it

	// Path is the source text for a variable that is a part of another one, such as p.X
	// or sums[2]; "" for a whole variable.
	Path string

	// Uniform says which threads are known to read the same value, whatever its
	// assignments.
	Uniform Group
}

// Shown returns the source text for the variable.
func (v *Local) Shown() string {
	if v.Path != "" {
		return v.Path
	}
	return v.Name
}

// Group is a set of threads of one block.
type Group uint8

// Groups. What is uniform in a block is uniform in each of its warps.
const (
	OfNone Group = iota
	OfWarp
	OfThreadBlock
)

// SharedVar is a shared variable: one instance per block, with undefined initial
// contents. A SharedVar of slice type is the dynamic shared memory (see IsDynamic).
type SharedVar struct {
	Name string
	Type *Type
	ID   int
	Pos  Pos
}

// Table is a package-level variable with constant contents that kernels only read, or
// the bytes of a constant string.
type Table struct {
	Name string // import/path.Name
	Type *Type
	// Data holds the contents, little-endian, in Go's layout.
	Data []byte
	Go   GoRef // without a name for a string
}

// IsString reports whether the table is a constant string and not a variable.
func (t *Table) IsString() bool { return t.Go.Name == "" }

// Pos is a position in Go source; Line 0 means unknown.
type Pos struct {
	File      string
	Line, Col int
}

func (p Pos) String() string { return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Col) }
