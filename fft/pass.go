package fft

// pass describes one launch: transforms of length N, each along one direction of memory.
// Kernels take it by value.
//
// The transforms are numbered in levels, as nested loops are: transform (b0, b1, b2, ...)
// begins at element b0*Levels[0].In + b1*Levels[1].In + ..., and its points are In elements
// apart. A block of a GPU computes several transforms with adjacent b0 at a time.
type pass struct {
	In, Out int // distance between the points of a transform, in elements
	Levels  [levels]level
	Blocks  int   // along Levels[0]: its count divided by Tile, rounded up
	N       int32 // points of a transform
	Tile    int32 // transforms per block

	// The steps of the transform. A step with radix r combines r transforms of some length
	// into one. Radices holds the radices, four bits each, 0 standing for 16 (radix 1 does
	// not occur). The roots of unity for the steps begin at Roots in the tables.
	Radices uint64
	Steps   int32
	Roots   int32

	// After a step of a long transform of Long points, point k of transform j is multiplied by
	// exp(-2*pi*i*j*k/Long), where j is the index in level Twist-1. Coarse and Fine begin the
	// tables of these roots: the root with number m is the product of Coarse[m>>Shift] and
	// Fine[m&(1<<Shift-1)]. Twist is 0 if there is nothing to multiply.
	Twist        int32
	Coarse, Fine int32
	Shift        int32

	// The columns of a tile are adjacent in memory: adjacent threads read (write) points of
	// adjacent transforms, instead of adjacent points of one.
	ReadColumns, WriteColumns bool

	// The imaginary parts of the input are multiplied by Sign, the real and imaginary parts
	// of the output by ScaleX and ScaleY. Conjugating both turns a forward transform into an
	// inverse one. On the CPU, a pass with Sign -1 is an inverse transform, and ScaleY is
	// ScaleX.
	Sign, ScaleX, ScaleY float64
}

// levels is the maximum number of nested loops over transforms: a long transform of three
// passes along one dimension of three, in a batch, needs two for itself and three others.
const levels = 5

// level is a loop over transforms. In and Out are the distances between the first points
// of successive transforms.
type level struct {
	Count   int
	In, Out int
}

// maxRadix is the largest radix of a step.
const maxRadix = 16
