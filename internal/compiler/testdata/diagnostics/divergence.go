package p

import "quern.dev/kernel"

//quern:kernel
func underThreadIndex(t kernel.Thread, x []int32) {
	if t.ThreadIdx.X < 16 {
		t.Sync()
	}
}

//quern:kernel
func afterReturn(t kernel.Thread, x []int32) {
	i := t.Global()
	if i >= len(x) {
		return
	}
	x[i] = 1
	t.Sync()
}

//quern:kernel
func inDivergentLoop(t kernel.Thread, x []int32) {
	for i := t.ThreadIdx.X; i < len(x); i += t.BlockDim.X {
		x[i]++
		t.Sync()
	}
}

//quern:kernel
func afterBreak(t kernel.Thread, n int, x []int32) {
	for k := range n {
		if x[t.Global()] == int32(k) {
			break
		}
		t.Sync()
	}
}

//quern:kernel
func throughCall(t kernel.Thread, x []int32) {
	if x[t.Global()] > 0 {
		waits(t)
	}
}

func waits(t kernel.Thread) { t.Sync() }

//quern:kernel
func onAtomicResult(t kernel.Thread, x []int32) {
	if kernel.AtomicAdd(&x[0], 1) == 0 {
		t.Sync()
	}
}

//quern:kernel
func uniformIsFine(t kernel.Thread, n int, x []int32) {
	for k := 0; k < n; k++ {
		if k&1 == 0 && t.BlockIdx.X > 2 {
			t.Sync()
		}
	}
	if i := t.Global(); i < len(x) {
		x[i] = 1
	}
}

//quern:kernel
func bulkCopyInOneThread(t kernel.Thread, x, y []float32) {
	arrived := kernel.Shared[kernel.CopyBarrier](t)
	s := kernel.Shared[[64]float32](t)
	if t.ThreadIdx.X == 0 {
		kernel.BulkCopy(t, arrived, s[:], x)
	}
	kernel.BulkWait(t, arrived)
	y[t.Global()] = s[t.ThreadIdx.X]
}

//quern:kernel
func bulkCopyOfOwnPart(t kernel.Thread, x, y []float32) {
	arrived := kernel.Shared[kernel.CopyBarrier](t)
	s := kernel.Shared[[64]float32](t)
	kernel.BulkCopy(t, arrived, s[:], x[t.ThreadIdx.X:])
	kernel.BulkWait(t, arrived)
	y[t.Global()] = s[t.ThreadIdx.X]
}

// A value without a name is told by what it depends on.
//
//quern:kernel block=32
func inASwitch(t kernel.Thread, x []int32) {
	switch x[0] + int32(t.ThreadIdx.X) {
	case 1:
		t.Sync()
	}
	i := t.Lane()
	switch 2 * i {
	case 1:
		t.Sync()
	}
}
