package kernel

// Blocks runs blocks of kernels one after another, like [Each], but does not
// reset shared memory between them. It is for package host, which chooses the
// order of the blocks. Only one goroutine may use it, and must call Stop at the
// end.
type Blocks struct{ state *blockState }

// NewBlocks returns Blocks without a launch.
func NewBlocks() *Blocks { return &Blocks{new(blockState)} }

// Begin prepares to run blocks of a launch with the given number of bytes of
// dynamic shared memory.
func (b *Blocks) Begin(grid, block Dim3, bytes int, body func(t Thread)) {
	idle := b.state.idle
	*b.state = blockState{
		body: body, extent: Dim3{1, 1, 1}, count: block.Count(), thread: Thread{BlockDim: block, GridDim: grid},
		dynamic: make([]uint64, (bytes+7)/8), dynamicBytes: bytes, unfilled: true, idle: idle,
	}
	b.state.cluster = []*blockState{b.state}
}

// Join combines the blocks that the members run into clusters of the given
// extent. Members are ordered by rank and run at the same time.
func Join(extent Dim3, members []*Blocks) {
	cluster := make([]*blockState, len(members))
	for i, m := range members {
		cluster[i] = m.state
	}
	for _, b := range cluster {
		b.cluster, b.extent = cluster, extent
	}
}

// Run runs the block with the given index. It calls syncGrid when all threads of
// the block are in SyncGrid, and syncCluster when all are in SyncCluster. Run
// panics as Each does; after a panic only Stop may be called.
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

// End releases the launch.
func (b *Blocks) End() { *b.state = blockState{idle: b.state.idle} }

// Stop ends the coroutines.
func (b *Blocks) Stop() { b.state.stop() }
