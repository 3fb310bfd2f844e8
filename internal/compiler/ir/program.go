package ir

import "fmt"

// Program is what one Go package's kernels become.
type Program struct {
	Package string // import path
	Name    string // package name
	Kernels []*Kernel
}

// Kernel is a function that runs on a grid.
type Kernel struct {
	Name   string // of the function; of an instance with its type arguments, as in scale[float32]
	Func   *Func
	Shared []*SharedVar // in order of appearance; SharedVar.ID is the index
	Tables []*Table     // used by Func and what it calls
	// Constant are those of Tables that are best put in constant memory. A pass
	// sets it at the end.
	Constant []*Table
	Formats  []*Format // calls of kernel.Printf; Format.ID is the index
	Options  Options

	// Handler is set for the kernel of an actor, the loop around its handler: what a
	// block in Go does with one message, as a kernel whose parameters may be pointers.
	Handler *Kernel

	// Written says of each parameter whether it is a slice whose elements the kernel
	// may write. A pass sets it.
	Written []bool

	// Special are the parameters whose listed values get forms of the kernel in
	// which they are constants.
	Special []Special

	// Limits is set by the pass that narrows int: the conditions on launch
	// arguments under which this body is exact. A launch that does not meet
	// them needs the wide variant.
	Limits Limits

	// Coarse is set where a thread of this body runs several threads of the
	// kernel as it was written.
	Coarse *Coarsening
}

// Coarsening says which threads of a kernel one thread of its coarse form runs:
// Threads of them, numbered from 0. With the grid's blocks along X numbered as
// the launch states them, of which ceil(GridDim.X/Threads) are run,
//
//	the thread's block is BlockIdx.X*Threads + number, its place in it the same; or
//	Adjacent: its number in the grid along X is (BlockIdx.X*BlockDim.X + ThreadIdx.X)*Threads + number.
//
// In the body GridDim.X is the number of blocks that the launch states, and
// BlockIdx.X the block that runs. Threads whose block is not below GridDim.X do
// not exist, and the body does nothing for them.
type Coarsening struct {
	Threads  int
	Adjacent bool
	// Number is the thread that runs where something can fail.
	Number *Local
}

// Options are those of the //quern:kernel directive.
type Options struct {
	Unchecked bool
	FastMath  bool
	Block     [3]int // launch bounds, 0 where not declared
	Cluster   [3]int // blocks in a cluster, 0 where there are none
	MinBlocks int    // blocks that a multiprocessor is to hold at once, 0 for any number
	MaxRegs   int    // registers that a thread has at most, 0 for any number

	// Variants is how many variants the kernel has at most, 0 for any number. One is
	// that for every launch, two are narrow besides. A kernel that stays on the device
	// is launched anew with other slices and grids: that should not take a variant
	// which would have to be loaded.
	Variants int
}

// Func is a function. Params excludes parameters of type kernel.Thread.
type Func struct {
	Name    string // for reading: package.Function
	Params  []*Local
	Results []*Local // named or invented; Return also carries the values
	Locals  []*Local // all others; a Local occurs in one list of one Func
	Body    []Stmt
	Pos     Pos

	// Go is how Go source calls the function.
	Go GoRef
	// UsesThread reports that the body, or what it calls, reads the thread's
	// coordinates, waits at a barrier or has shared variables, so that Go code
	// outside a thread cannot call it as it is.
	UsesThread bool
	// Assembly is what the function is on a GPU; Body is its equivalent elsewhere.
	Assembly *Assembly
	// Strict: floating-point operations are not to be fused (standard library).
	Strict bool
}

// GoRef names a Go function or method.
type GoRef struct {
	Package  string // import path
	Name     string
	TypeArgs []*Type
	Method   bool // Params[0] is the receiver
	// Thread holds the positions of kernel.Thread parameters in the Go
	// signature (receiver not counted).
	Thread []int
}

// Local is a local variable, a parameter or a temporary.
type Local struct {
	Name   string
	Type   *Type
	Pos    Pos
	Hidden bool // not a variable of the source: no message names it

	// Path is what the source calls the part of a variable that this one is, such
	// as p.X or sums[2]; "" for a whole variable.
	Path string

	// Uniform says which threads are known to read the same value, whatever its
	// assignments look like.
	Uniform Group
}

// Shown is what the source calls the variable.
func (v *Local) Shown() string {
	if v.Path != "" {
		return v.Path
	}
	return v.Name
}

// Group is threads of one block.
type Group uint8

// Groups. Those of a block are those of each of its warps too.
const (
	OfNone Group = iota
	OfWarp
	OfThreadBlock
)

// SharedVar is a shared variable: one instance a block, contents undefined at
// its start. One of slice type is the dynamic shared memory (see IsDynamic).
type SharedVar struct {
	Name string
	Type *Type
	ID   int
	Pos  Pos
}

// Table is a package-level variable with constant contents that kernels only
// read, or the bytes of a constant string.
type Table struct {
	Name string // import/path.Name
	Type *Type
	// Data is the contents, little-endian, in Go's layout.
	Data []byte
	Go   GoRef // without a name, of a string
}

// IsString reports whether the table is a constant string, not a variable.
func (t *Table) IsString() bool { return t.Go.Name == "" }

// Pos is a position in Go source; Line 0 means unknown.
type Pos struct {
	File      string
	Line, Col int
}

func (p Pos) String() string { return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Col) }
