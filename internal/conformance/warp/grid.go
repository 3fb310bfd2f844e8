package warp

import "quern.dev/kernel"

// relax averages each element with its neighbors, for several rounds.
//
//quern:kernel
func relax(t kernel.Thread, rounds int, x, y []float32) {
	n := len(x)
	for range rounds {
		for i := t.Global(); i < n; i += t.Stride() {
			y[i] = (x[max(i-1, 0)] + 2*x[i] + x[min(i+1, n-1)]) / 4
		}
		t.SyncGrid()
		for i := t.Global(); i < n; i += t.Stride() {
			x[i] = y[i]
		}
		t.SyncGrid()
	}
}

// sumTwice reduces a slice in two steps. Every block does the second one.
//
//quern:kernel block=64
func sumTwice(t kernel.Thread, in, partial, out []int64) {
	var sum int64
	for i := t.Global(); i < len(in); i += t.Stride() {
		sum += in[i]
	}
	sum = total(t, sum)
	if t.ThreadIdx.X == 0 {
		partial[t.BlockIdx.X] = sum
	}
	t.SyncGrid()
	var all int64
	for _, p := range partial {
		all += p
	}
	if i := t.Global(); i < len(out) {
		out[i] = all
	}
}

// failsBefore has one thread fail while all others wait for it.
//
//quern:kernel
func failsBefore(t kernel.Thread, at int, x []int32) {
	if t.Global() == at {
		x[len(x)+at] = 1
	}
	t.SyncGrid()
	x[t.Global()]++
}

// exchange has each block read shared memory of the next block in its cluster, and write
// shared memory of the previous one.
//
//quern:kernel cluster=4
func exchange(t kernel.Thread, in, out []int32) {
	tile := kernel.Shared[[64]int32](t)
	sums := kernel.Shared[[2]int32](t)
	me := t.ThreadIdx.X
	i := t.Global()
	tile[me] = in[i]
	if me < 2 {
		sums[me] = 0
	}
	t.SyncCluster()
	next := (t.ClusterRank() + 1) % t.ClusterSize()
	v := kernel.ClusterShared(t, tile, next)[t.BlockDim.X-1-me]
	last := kernel.ClusterShared(t, &sums[1], (t.ClusterRank()+t.ClusterSize()-1)%t.ClusterSize())
	kernel.AtomicAdd(last, v)
	t.SyncCluster()
	out[i] = v*1000 + sums[1] + int32(t.ClusterRank())
}

// square has two-dimensional clusters that loop over rounds.
//
//quern:kernel cluster=2x2
func square(t kernel.Thread, rounds int, out []int32) {
	box := kernel.Shared[int32](t)
	leader := t.ThreadIdx.X == 0
	if leader {
		*box = int32(t.ClusterRank() + 1)
	}
	t.SyncCluster()
	for r := range rounds {
		v := *kernel.ClusterShared(t, box, (t.ClusterRank()+r)%4)
		t.SyncCluster()
		if leader {
			*box = v*2 + int32(r)
		}
		t.SyncCluster()
	}
	if leader {
		out[t.BlockIdx.Y*t.GridDim.X+t.BlockIdx.X] = *box*10 + int32(t.ClusterRank())
	}
}

// both waits for its cluster and for the grid.
//
//quern:kernel cluster=2 block=32
func both(t kernel.Thread, x, y []int32) {
	tile := kernel.Shared[[32]int32](t)
	i := t.Global()
	tile[t.ThreadIdx.X] = x[i]
	t.SyncCluster()
	y[i] = kernel.ClusterShared(t, tile, 1-t.ClusterRank())[t.ThreadIdx.X]
	t.SyncGrid()
	x[i] += y[len(y)-1-i]
	t.SyncCluster()
}
