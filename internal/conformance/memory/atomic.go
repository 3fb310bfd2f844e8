package memory

import "quern.dev/kernel"

// operations applies each atomic integer operation once per thread to the thread's own
// cells in global memory, and stores the old values.
//
//quern:kernel instantiate=int32,uint32,int64,uint64,int,uint
func operations[T kernel.AtomicInteger](t kernel.Thread, x []T, cells, old []T) {
	i := t.Global()
	if i >= len(x) {
		return
	}
	c, o := cells[11*i:][:11], old[11*i:][:11]
	v := x[i]
	o[0] = kernel.AtomicAdd(&c[0], v)
	o[1] = kernel.AtomicSub(&c[1], v)
	o[2] = kernel.AtomicMin(&c[2], v)
	o[3] = kernel.AtomicMax(&c[3], v)
	o[4] = kernel.AtomicAnd(&c[4], v)
	o[5] = kernel.AtomicOr(&c[5], v)
	o[6] = kernel.AtomicXor(&c[6], v)
	o[7] = kernel.AtomicExchange(&c[7], v)
	o[8] = kernel.AtomicCompareAndSwap(&c[8], v, v+1)
	o[9] = kernel.AtomicCompareAndSwap(&c[9], v+1, v)
	kernel.AtomicAdd(&c[10], v)
	kernel.AtomicMin(&c[10], v/2)
	kernel.AtomicMax(&c[10], v/4)
	kernel.AtomicXor(&c[10], v)
	kernel.AtomicExchange(&c[9], c[10]+1)
}

// floatOperations does the same for floats.
//
//quern:kernel instantiate=float32,float64
func floatOperations[T kernel.Float](t kernel.Thread, x []T, cells, old []T) {
	i := t.Global()
	if i >= len(x) {
		return
	}
	c, o := cells[8*i:][:8], old[8*i:][:8]
	v := x[i]
	o[0] = kernel.AtomicAdd(&c[0], v)
	o[1] = kernel.AtomicSub(&c[1], v)
	o[2] = kernel.AtomicMin(&c[2], v)
	o[3] = kernel.AtomicMax(&c[3], v)
	o[4] = kernel.AtomicExchange(&c[4], v)
	o[5] = kernel.AtomicCompareAndSwap(&c[5], v, 7)
	kernel.AtomicMin(&c[6], v)
	kernel.AtomicMax(&c[7], v)
}

// scopes combines the values of all threads through cells of each scope, first in shared
// memory.
//
//quern:kernel
func scopes(t kernel.Thread, x []float32, sums []uint32, extremes []float32) {
	count := kernel.Shared[uint32](t)
	low := kernel.Shared[float32](t)
	high := kernel.Shared[float64](t)
	if t.ThreadIdx.X == 0 {
		*count = 0
		*low, *high = 1e30, -1e30
	}
	t.Sync()
	if i := t.Global(); i < len(x) {
		kernel.AtomicAdd(count, uint32(x[i]), kernel.BlockScope)
		kernel.AtomicMin(low, x[i], kernel.BlockScope)
		kernel.AtomicMax(high, float64(x[i]), kernel.BlockScope)
	}
	t.Sync()
	if t.ThreadIdx.X == 0 {
		kernel.AtomicAdd(&sums[t.BlockIdx.X], *count, kernel.BlockScope)
		kernel.AtomicAdd(&sums[len(sums)-2], *count, kernel.DeviceScope)
		kernel.AtomicAdd(&sums[len(sums)-1], *count, kernel.SystemScope)
		kernel.AtomicMin(&extremes[0], *low)
		kernel.AtomicMax(&extremes[1], float32(*high), kernel.SystemScope)
	}
}

// histogram counts in shared memory whose size comes from the launch.
//
//quern:kernel
func histogram(t kernel.Thread, x []uint32, out []uint32) {
	bins := kernel.Dynamic[uint32](t)
	for i := t.ThreadIdx.X; i < len(bins); i += t.BlockDim.X {
		bins[i] = 0
	}
	t.Sync()
	for i := t.Global(); i < len(x); i += t.Stride() {
		kernel.AtomicAdd(&bins[int(x[i])%len(bins)], 1)
	}
	t.Sync()
	for i := t.ThreadIdx.X; i < len(bins); i += t.BlockDim.X {
		kernel.AtomicAdd(&out[i], bins[i])
	}
}
