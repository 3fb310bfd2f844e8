package kernel

import "fmt"

// warpSize is the number of threads that the hardware runs in lockstep.
const warpSize = 32

// Dim3 is a number of threads or blocks in three dimensions, or an index within
// them.
type Dim3 struct{ X, Y, Z int }

// Count returns the number of threads or blocks in the extent d. A Y or Z of zero
// counts as one, so Dim3{X: 256} has 256.
func (d Dim3) Count() int {
	return d.X * max(d.Y, 1) * max(d.Z, 1)
}

// String returns d in the form "32x8x1".
func (d Dim3) String() string {
	return fmt.Sprintf("%dx%dx%d", d.X, d.Y, d.Z)
}

// filled returns d with a Y or Z of zero replaced by one.
func (d Dim3) filled() Dim3 {
	if d.Y == 0 {
		d.Y = 1
	}
	if d.Z == 0 {
		d.Z = 1
	}
	return d
}

// Thread identifies a thread in the grid. It is the first parameter of every
// kernel.
//
// A program can create a Thread to call a kernel for a single thread. Such a
// thread is a block of its own: Sync panics unless BlockDim is a single thread,
// and Shared returns new memory. Use [Each] to run whole blocks.
type Thread struct {
	ThreadIdx Dim3 // within the block
	BlockIdx  Dim3 // within the grid
	BlockDim  Dim3 // threads in a block
	GridDim   Dim3 // blocks in the grid

	state *threadState // set by Each
}

// Global returns the thread's index along X in the whole grid.
func (t Thread) Global() int {
	return t.BlockIdx.X*t.BlockDim.X + t.ThreadIdx.X
}

// Global2 returns the thread's indices along X and Y in the whole grid.
func (t Thread) Global2() (x, y int) {
	return t.BlockIdx.X*t.BlockDim.X + t.ThreadIdx.X,
		t.BlockIdx.Y*t.BlockDim.Y + t.ThreadIdx.Y
}

// Global3 returns the thread's indices in the whole grid.
func (t Thread) Global3() (x, y, z int) {
	return t.BlockIdx.X*t.BlockDim.X + t.ThreadIdx.X,
		t.BlockIdx.Y*t.BlockDim.Y + t.ThreadIdx.Y,
		t.BlockIdx.Z*t.BlockDim.Z + t.ThreadIdx.Z
}

// Stride returns the number of threads of the grid along X. It is the step of a
// loop over more elements than the grid has threads:
//
//	for i := t.Global(); i < len(x); i += t.Stride() {
func (t Thread) Stride() int {
	return t.GridDim.X * t.BlockDim.X
}

// Lane returns the thread's index within its warp, 0 to 31.
func (t Thread) Lane() int {
	return t.linear() % warpSize
}

// Warp returns the index of the thread's warp within the block.
func (t Thread) Warp() int {
	return t.linear() / warpSize
}

// linear returns the thread's index within the block, with X varying fastest.
func (t Thread) linear() int {
	return t.ThreadIdx.X + t.ThreadIdx.Y*t.BlockDim.X + t.ThreadIdx.Z*t.BlockDim.X*t.BlockDim.Y
}

// Sync waits until every thread of the block has called it. Writes that a thread
// made before the call are visible to the other threads of the block after it.
func (t Thread) Sync() {
	t.sync(ofBlock)
}
