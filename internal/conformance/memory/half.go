package memory

import "quern.dev/kernel"

// addFloat16 adds to a cell of each thread's own, beside another thread's in the
// same word, and to few cells of all, in shared memory too.
//
//quern:kernel
func addFloat16(t kernel.Thread, x, cells, old, sums []kernel.Float16) {
	s := kernel.Shared[[4]kernel.Float16](t)
	if t.ThreadIdx.X < len(s) {
		s[t.ThreadIdx.X] = kernel.Float16{}
	}
	t.Sync()
	if i := t.Global(); i < len(x) {
		old[i] = kernel.AtomicAdd(&cells[i], x[i])
		kernel.AtomicAdd(&cells[i], x[i], kernel.SystemScope)
		kernel.AtomicAdd(&sums[i%7], kernel.ToFloat16(0.5))
		kernel.AtomicAdd(&s[i%3], kernel.ToFloat16(1))
	}
	t.Sync()
	if t.ThreadIdx.X < 3 {
		kernel.AtomicAdd(&sums[7+t.ThreadIdx.X], s[t.ThreadIdx.X])
	}
}

// addBFloat16 does the same.
//
//quern:kernel
func addBFloat16(t kernel.Thread, x, cells, old, sums []kernel.BFloat16) {
	s := kernel.Shared[[4]kernel.BFloat16](t)
	if t.ThreadIdx.X < len(s) {
		s[t.ThreadIdx.X] = kernel.BFloat16{}
	}
	t.Sync()
	if i := t.Global(); i < len(x) {
		old[i] = kernel.AtomicAdd(&cells[i], x[i])
		kernel.AtomicAdd(&cells[i], x[i], kernel.SystemScope)
		kernel.AtomicAdd(&sums[i%7], kernel.ToBFloat16(0.5))
		kernel.AtomicAdd(&s[i%3], kernel.ToBFloat16(1))
	}
	t.Sync()
	if t.ThreadIdx.X < 3 {
		kernel.AtomicAdd(&sums[7+t.ThreadIdx.X], s[t.ThreadIdx.X])
	}
}
