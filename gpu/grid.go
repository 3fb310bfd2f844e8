package gpu

import (
	"fmt"
	"math"

	"quern.dev/internal/driver"
)

// Grid is the number of threads of a launch. [Linear], [Plane] and [Volume] set the number of
// threads and leave the block size to the kernel; [Blocks] sets both. The zero value is an
// empty grid, which cannot be launched.
type Grid struct {
	threads Dim3 // minimum; if rank > 0
	rank    int  // dimensions that blocks may extend in; 0 if Blocks made the grid

	blocks Dim3 // if rank is 0
	block  Dim3 // if rank is 0 or the caller has set it
	shared int  // dynamic shared memory in bytes
}

// Linear returns a grid of at least n threads along X. Blocks, and clusters of blocks, are
// always complete, so some threads may have an index of n or more. Kernels skip these
// threads:
//
//	if i := t.Global(); i < n { ... }
func Linear(n int) Grid {
	return Grid{threads: Dim3{X: n, Y: 1, Z: 1}, rank: 1}
}

// Plane returns a grid of at least w x h threads. Kernels skip threads beyond these, as with
// [Linear].
func Plane(w, h int) Grid {
	return Grid{threads: Dim3{X: w, Y: h, Z: 1}, rank: 2}
}

// Volume returns a grid of at least w x h x d threads. Kernels skip threads beyond these, as
// with [Linear].
func Volume(w, h, d int) Grid {
	return Grid{threads: Dim3{X: w, Y: h, Z: d}, rank: 3}
}

// Blocks returns a grid with the given number of blocks and of threads per block. A zero Y or Z
// counts as 1.
func Blocks(grid, block Dim3) Grid {
	return Grid{blocks: filled(grid), block: filled(block)}
}

// Block returns g with the given block size. A zero Y or Z counts as 1. If [Blocks] made the
// grid, the number of blocks stays.
func (g Grid) Block(block Dim3) Grid {
	g.block = filled(block)
	return g
}

// Shared returns g with the given number of bytes of dynamic shared memory per block.
func (g Grid) Shared(bytes int) Grid {
	g.shared = bytes
	return g
}

// String returns g in the form "Plane(640, 480)" or "Linear(1000).Block(64x1x1)".
func (g Grid) String() string {
	text := ""
	switch t := g.threads; g.rank {
	case 1:
		text = fmt.Sprintf("Linear(%d)", t.X)
	case 2:
		text = fmt.Sprintf("Plane(%d, %d)", t.X, t.Y)
	case 3:
		text = fmt.Sprintf("Volume(%d, %d, %d)", t.X, t.Y, t.Z)
	default:
		return fmt.Sprintf("Blocks(%v, %v)", g.blocks, g.block)
	}
	if g.block != (Dim3{}) {
		text += fmt.Sprintf(".Block(%v)", g.block)
	}
	return text
}

func filled(d Dim3) Dim3 {
	if d.Y == 0 {
		d.Y = 1
	}
	if d.Z == 0 {
		d.Z = 1
	}
	return d
}

// blockSizes are a kernel's default block sizes on grids of one to three dimensions.
type blockSizes [3]Dim3

// chooseBlocks picks the block sizes for a kernel that declares the given block size,
// zero if it declares none. resident returns the number of blocks of a size that are
// resident on a multiprocessor.
func chooseBlocks(declared Dim3, p driver.Properties, resident func(threads int) int) blockSizes {
	if declared.X > 0 {
		b := filled(declared)
		return blockSizes{b, b, b}
	}
	n := preferredThreads(p.MaxThreads, resident)
	x2 := min(n, 32) // a warp, so that neighbours in X are neighbours in memory
	y2 := max(1, n/x2)
	z3 := min(2, y2)
	return blockSizes{
		{X: n, Y: 1, Z: 1},
		{X: x2, Y: y2, Z: 1},
		{X: x2, Y: y2 / z3, Z: z3},
	}
}

// statesBlock reports whether the grid sets the block size.
func (g Grid) statesBlock() bool { return g.rank == 0 || g.block != (Dim3{}) }

// blocksOf returns the number of blocks of the grid, for the given block size and the
// kernel's cluster size, zero if it has none.
func (g Grid) blocksOf(block, cluster Dim3) (blocks Dim3, err error) {
	if g.rank == 0 {
		return g.blocks, g.checkExtents(g.blocks, block)
	}
	t := g.threads
	if err := g.checkExtents(t, block); err != nil {
		return blocks, err
	}
	switch {
	case !g.isFlatterThan(block):
	case g.statesBlock():
		return blocks, invalid("grid %v has fewer dimensions than its block; use %s", g, gridOf(block))
	default:
		return blocks, invalid("grid %v has fewer dimensions than the kernel's block of %v; use %s", g, block, gridOf(block))
	}
	blocks = Dim3{X: divideUp(t.X, block.X), Y: divideUp(t.Y, block.Y), Z: divideUp(t.Z, block.Z)}
	if cluster.X == 0 {
		return blocks, nil
	}
	c := filled(cluster)
	if g.isFlatterThan(c) {
		return blocks, invalid("grid %v has fewer dimensions than the kernel's clusters of %v; use %s", g, c, gridOf(c))
	}
	return Dim3{X: roundUp(blocks.X, c.X), Y: roundUp(blocks.Y, c.Y), Z: roundUp(blocks.Z, c.Z)}, nil
}

// gridOf names the function that makes grids with the dimensions of d.
func gridOf(d Dim3) string {
	if d.Z > 1 {
		return "gpu.Volume"
	}
	return "gpu.Plane"
}

// isFlatterThan reports whether d extends in a dimension that g does not have.
func (g Grid) isFlatterThan(d Dim3) bool { return g.rank < 3 && d.Z > 1 || g.rank < 2 && d.Y > 1 }

// checkExtents returns an error if an extent of g is zero or negative.
func (g Grid) checkExtents(extents ...Dim3) error {
	for _, d := range extents {
		switch least := min(d.X, d.Y, d.Z); {
		case least < 0:
			return invalid("grid %v has a negative extent", g)
		case least == 0:
			return invalid("grid %v is empty", g)
		}
	}
	return nil
}

func divideUp(n, by int) int {
	q := n / by
	if n%by != 0 {
		q++
	}
	return q
}

// roundUp returns the smallest multiple of to that is at least n, or n if that
// exceeds int.
func roundUp(n, to int) int {
	if over := n % to; over != 0 && n <= math.MaxInt-to {
		n += to - over
	}
	return n
}

// within reports whether no dimension of d exceeds that of most.
func within(d, most Dim3) bool { return d.X <= most.X && d.Y <= most.Y && d.Z <= most.Z }

// checkSize returns an error if the device cannot run the grid.
func checkSize(g Grid, blocks, block Dim3, staticShared int, p *driver.Properties, a *driver.Limits) error {
	switch {
	case !within(blocks, a.Grid):
		return invalid("grid %v is too large: %v blocks, at most %v", g, blocks, a.Grid)
	case !within(block, a.Block):
		return invalid("block %v is too large, the device allows %v", block, a.Block)
	}
	// The extents are within the device's limits, so their product does not overflow.
	switch n := block.X * block.Y * block.Z; {
	case n > a.ThreadsPerBlock:
		return invalid("block %v has %d threads, the device allows %d", block, n, a.ThreadsPerBlock)
	case n > p.MaxThreads:
		return invalid("block %v has %d threads, the kernel's %d registers per thread allow %d", block, n, p.Registers, p.MaxThreads)
	case g.shared < 0:
		return invalid("negative size of dynamic shared memory: %d bytes", g.shared)
	case g.shared > a.SharedPerBlock-staticShared:
		return invalid("%d bytes of dynamic and %d bytes of static shared memory, the device allows %d in all", g.shared, staticShared, a.SharedPerBlock)
	default:
		return nil
	}
}
