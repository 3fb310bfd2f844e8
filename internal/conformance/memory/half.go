package memory

import "quern.dev/kernel"

// addFloat16 adds to each thread's own cell, which shares a word with another thread's
// cell, and to a few cells of all threads, also in shared memory.
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

// addBFloat16 is addFloat16 for BFloat16.
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
