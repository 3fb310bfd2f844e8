package kernel

import (
	"fmt"
	"unsafe"
)

// reach is the set of threads that a barrier synchronizes.
type reach uint8

const (
	ofNone reach = iota
	ofBlock
	ofCluster
	ofGrid
)

func (r reach) String() string { return [...]string{"nothing", "Sync", "SyncCluster", "SyncGrid"}[r] }

// EachCluster is [Each] for a kernel with the directive option cluster. The
// blocks of a cluster take turns and have the given number of bytes of dynamic
// shared memory. A Y or Z of zero counts as one. The extents of the grid must be
// multiples of those of the cluster.
func EachCluster(grid, block, cluster Dim3, bytes int, body func(t Thread)) {
	grid, block, cluster = grid.filled(), block.filled(), cluster.filled()
	if min(grid.X, grid.Y, grid.Z, block.X, block.Y, block.Z, cluster.X, cluster.Y, cluster.Z) < 1 ||
		grid.X%cluster.X != 0 || grid.Y%cluster.Y != 0 || grid.Z%cluster.Z != 0 {
		panic(fmt.Sprintf("kernel: EachCluster: grid of %v blocks with %v threads each in clusters of %v: every extent must be at least 1, and the grid a multiple of the cluster", grid, block, cluster))
	}
	if bytes < 0 {
		panic(fmt.Sprintf("kernel: EachCluster: %d bytes of dynamic shared memory; the size cannot be negative", bytes))
	}
	(&gridState{body: body, grid: grid, block: block, cluster: cluster, bytes: bytes}).run()
}

// gridState is a grid that Each runs.
type gridState struct {
	body                 func(Thread)
	grid, block, cluster Dim3
	bytes                int

	live    []*blockState   // with started coroutines
	idle    [][]*blockState // clusters that have ended
	waiting [][]*blockState // clusters whose blocks wait in SyncGrid
	ended   bool            // at least one cluster has ended
}

func (g *gridState) run() {
	defer func() {
		for _, b := range g.live {
			b.stop()
		}
	}()
	c := g.cluster
	for z := 0; z < g.grid.Z; z += c.Z {
		for y := 0; y < g.grid.Y; y += c.Y {
			for x := 0; x < g.grid.X; x += c.X {
				g.advance(g.begin(Dim3{x, y, z}))
			}
		}
	}
	for len(g.waiting) > 0 {
		clusters := g.waiting
		g.waiting = nil
		if g.ended {
			b := clusters[0][0]
			panic(&ThreadError{Block: b.thread.BlockIdx, Thread: b.parked[0].thread.ThreadIdx, Value: "waits in SyncGrid, but another block has ended"})
		}
		for _, blocks := range clusters {
			for _, b := range blocks {
				b.release()
			}
			g.advance(blocks)
		}
	}
}

// begin starts the blocks of the cluster whose first block has the given index.
func (g *gridState) begin(first Dim3) []*blockState {
	var blocks []*blockState
	if n := len(g.idle); n > 0 {
		blocks = g.idle[n-1]
		g.idle = g.idle[:n-1]
	} else {
		blocks = make([]*blockState, g.cluster.Count())
		for i := range blocks {
			blocks[i] = &blockState{
				body: g.body, cluster: blocks, extent: g.cluster,
				count: g.block.Count(), thread: Thread{BlockDim: g.block, GridDim: g.grid},
				dynamic: make([]uint64, (g.bytes+7)/8), dynamicBytes: g.bytes,
			}
		}
		g.live = append(g.live, blocks...)
	}
	for i, b := range blocks {
		c := g.cluster
		b.begin(Dim3{first.X + i%c.X, first.Y + i/c.X%c.Y, first.Z + i/(c.X*c.Y)})
	}
	return blocks
}

// advance runs the blocks of a cluster until they have ended or wait in SyncGrid.
func (g *gridState) advance(blocks []*blockState) {
	for {
		at := blocks[0].run()
		for _, b := range blocks[1:] {
			if r := b.run(); r != at {
				mismatch(blocks[0], at, b, r)
			}
		}
		switch at {
		case ofGrid:
			g.waiting = append(g.waiting, blocks)
			return
		case ofNone:
			g.ended = true
			g.idle = append(g.idle, blocks)
			return
		}
		for _, b := range blocks {
			b.release()
		}
	}
}

// mismatch panics because two blocks of a cluster wait at different barriers.
func mismatch(x *blockState, at reach, y *blockState, other reach) {
	if at == ofNone {
		x, at, y, other = y, other, x, at
	}
	where := "waits in " + other.String()
	if other == ofNone {
		where = "has ended"
	}
	panic(&ThreadError{Block: x.thread.BlockIdx, Thread: x.parked[0].thread.ThreadIdx,
		Value: fmt.Sprintf("waits in %v, but block %v of its cluster %s", at, y.thread.BlockIdx, where)})
}

// poisonDynamic fills the block's dynamic shared memory.
func (b *blockState) poisonDynamic() {
	if b.unfilled {
		return
	}
	fill(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(b.dynamic))), len(b.dynamic)*8))
}
