package kernel

// Blocks runs blocks of a kernel, one after another, as [Each] does. It is for
// package host, which hands out the blocks of a launch in an order of its own.
// It is used by one goroutine, which calls Stop at the end.
type Blocks struct{ state *blockState }

// NewBlocks prepares to run blocks that have the given bytes of dynamic shared
// memory.
func NewBlocks(grid, block Dim3, bytes int, body func(t Thread)) *Blocks {
	b := &blockState{
		body: body, extent: Dim3{1, 1, 1}, count: block.Count(), thread: Thread{BlockDim: block, GridDim: grid},
		dynamic: make([]uint64, (bytes+7)/8), dynamicBytes: bytes,
	}
	b.cluster = []*blockState{b}
	return &Blocks{b}
}

// Join makes the blocks that each of the members runs clusters of the given
// extent. Members are in the order of their ranks, and run at the same time.
func Join(extent Dim3, members []*Blocks) {
	cluster := make([]*blockState, len(members))
	for i, m := range members {
		cluster[i] = m.state
	}
	for _, b := range cluster {
		b.cluster, b.extent = cluster, extent
	}
}

// Run runs the block with the given index. When all of its threads are in
// SyncGrid it calls syncGrid, and when they are in SyncCluster, syncCluster.
// Run panics as Each does.
func (b *Blocks) Run(index Dim3, syncGrid, syncCluster func()) {
	s := b.state
	s.begin(index)
	for {
		switch s.run() {
		case ofGrid:
			syncGrid()
		case ofCluster:
			syncCluster()
		default:
			return
		}
		s.release()
	}
}

// Stop ends what Run has started. Run must not be called any more.
func (b *Blocks) Stop() { b.state.stop() }
