package kernel

// CopyBarrier is a shared variable on which the threads of a block wait for bulk
// copies. Declare it with [Shared], alone or in an array. It needs no
// initialization. Pass it by address; it cannot be copied.
//
//	arrived := kernel.Shared[kernel.CopyBarrier](t)
type CopyBarrier struct {
	_ uint64 // the barrier on a GPU; Each and the CPU use the block's barrier
}

// BulkCopy starts a copy of the elements of src, in global memory, to dst, in the
// block's shared memory. It copies as many elements as the shorter of the two
// has. All threads of the block must call it together, with the same arguments.
// On GPUs with a bulk copy engine (compute capability 9.0), and if the addresses
// are multiples of 16 bytes, one thread starts the engine. Otherwise the threads
// share the copy.
//
// The elements are present after the next [BulkWait] on the barrier. Until then,
// do not read dst, and do not write dst or src. If threads used dst before, place
// a barrier between that use and BulkCopy.
func BulkCopy[T any](t Thread, b *CopyBarrier, dst, src []T) {
	if t.linear() == 0 {
		copy(dst, src)
	}
}

// BulkWait waits until all copies started with the barrier are complete and all
// threads of the block have called it. It is also a barrier of the block, like
// Sync.
func BulkWait(t Thread, b *CopyBarrier) {
	t.Sync()
}
