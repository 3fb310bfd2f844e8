package kernel

// Blocks runs blocks of kernels, one after another, as [Each] does, but that shared
// memory has what earlier blocks left in it. It is for package host, which hands out
// the blocks of a launch in an order of its own. It is used by one goroutine, which
// calls Stop at the end.
type Blocks struct{ state *blockState }

// NewBlocks returns Blocks that have run nothing.
func NewBlocks() *Blocks { return &Blocks{new(blockState)} }

// Begin prepares to run blocks of a launch, with the given bytes of dynamic shared
// memory.
func (b *Blocks) Begin(grid, block Dim3, bytes int, body func(t Thread)) {
	idle := b.state.idle
	*b.state = blockState{
		body: body, extent: Dim3{1, 1, 1}, count: block.Count(), thread: Thread{BlockDim: block, GridDim: grid},
		dynamic: make([]uint64, (bytes+7)/8), dynamicBytes: bytes, unfilled: true, idle: idle,
	}
	b.state.cluster = []*blockState{b.state}
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
// Run panics as Each does; then nothing but Stop may be called.
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

// End lets go of the launch.
func (b *Blocks) End() { *b.state = blockState{idle: b.state.idle} }

// Stop ends what was started.
func (b *Blocks) Stop() { b.state.stop() }
