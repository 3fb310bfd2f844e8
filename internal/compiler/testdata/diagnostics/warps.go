package p

import "quern.dev/kernel"

//quern:kernel
func inABranch(t kernel.Thread, x []float32) {
	if i := t.Global(); i < len(x) {
		x[i] = kernel.WarpReduceAdd(t, x[i])
	}
}

//quern:kernel
func afterAReturn(t kernel.Thread, x []int32) {
	i := t.Global()
	if i >= len(x) {
		return
	}
	x[i] = kernel.ShuffleXor(t, x[i], 1)
}

//quern:kernel
func inALoop(t kernel.Thread, x []int32) {
	for i := t.Global(); i < len(x); i += t.Stride() {
		if kernel.Any(t, x[i] > 0) {
			x[i] = 0
		}
	}
}

func sum[T kernel.Number](t kernel.Thread, v T) T {
	t.SyncWarp()
	return kernel.WarpScanAdd(t, v)
}

//quern:kernel
func throughACall(t kernel.Thread, x []int32) {
	if t.Lane() < 16 {
		x[t.Lane()] = sum(t, x[t.Lane()])
	}
}

//quern:kernel
func onAScan(t kernel.Thread, x []int32) {
	if kernel.WarpScanAdd(t, x[t.ThreadIdx.X]) > 3 {
		x[0] = int32(kernel.Ballot(t, true))
	}
}

//quern:kernel
func withoutAllBlocks(t kernel.Thread, x []int32) {
	if t.BlockIdx.X < 2 {
		t.SyncGrid()
	}
}

//quern:kernel
func withoutAllThreads(t kernel.Thread, x []int32) {
	if t.ThreadIdx.X < 2 {
		t.SyncGrid()
	}
}

//quern:kernel cluster=2
func onSharedMemory(t kernel.Thread, x []int32) {
	stop := kernel.Shared[int32](t)
	*stop = 0
	t.Sync()
	for *stop == 0 {
		t.SyncCluster()
	}
}
