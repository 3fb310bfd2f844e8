package kernel

// CopyBarrier is a shared variable at which the threads of a block wait for bulk
// copies. It is declared with [Shared], alone or in an array, and needs no
// initialisation. It is passed by its address; it cannot be copied.
//
//	arrived := kernel.Shared[kernel.CopyBarrier](t)
type CopyBarrier struct {
	_ uint64 // the GPU's barrier; Each and the CPU wait at the block's
}

// BulkCopy begins to copy the elements of src, in global memory, to dst, in the
// block's shared memory, as many as the shorter of the two has. All threads of
// the block call it together, with the same arguments. Where the GPU has an
// engine for it (compute capability 9.0) and the addresses are multiples of 16
// bytes, one thread starts that and none copies; otherwise the threads share the
// work.
//
// The elements are there after the next [BulkWait] for the barrier. Until then
// dst must not be read, nor either be written. What the threads did with dst
// before must have ended, at a barrier.
func BulkCopy[T any](t Thread, b *CopyBarrier, dst, src []T) {
	if t.linear() == 0 {
		copy(dst, src)
	}
}

// BulkWait waits until all copies that were begun with the barrier have arrived,
// and until all threads of the block have called it: it is a barrier as Sync is.
func BulkWait(t Thread, b *CopyBarrier) {
	t.Sync()
}
