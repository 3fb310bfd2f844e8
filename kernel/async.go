package kernel

import (
	"fmt"
	"reflect"
	"unsafe"
)

// AsyncCopy starts a copy of *src, in global memory, to *dst, in the block's
// shared memory. The thread does not wait for the copy, and the data does not
// pass through its registers. T must be 4, 8 or 16 bytes in size. To copy more
// than one element at a time, convert slices to array pointers:
//
//	kernel.AsyncCopy(t, (*[4]float32)(tile[row][col:]), (*[4]float32)(a[i:]))
//
// [AsyncCommit] makes a group of the copies that the thread has started. A group
// is complete after [AsyncWait], and visible to the other threads of the block
// after the next Sync. Until then, do not read *dst, and do not write *dst or
// *src.
//
// A copy is synchronous if an address is not a multiple of the size of T, which
// is possible for a part of a buffer. Copies are also synchronous on GPUs before
// compute capability 8.0, on the CPU and in [Each].
func AsyncCopy[T any](t Thread, dst, src *T) {
	switch size := unsafe.Sizeof(*dst); size {
	case 4, 8, 16:
		*dst = *src
	default:
		panic(fmt.Sprintf("kernel: AsyncCopy: %v has a size of %d bytes; copy 4, 8 or 16 bytes at a time", reflect.TypeFor[T](), size))
	}
}

// AsyncCommit makes a group of the copies that the thread has started since its
// last AsyncCommit.
func AsyncCommit(t Thread) {}

// AsyncWait waits until at most the n newest groups of the thread are incomplete.
// With n = 0 it waits for all groups. n must be a constant.
func AsyncWait(t Thread, n int) {
	if n < 0 {
		panic(fmt.Sprintf("kernel: AsyncWait: %d groups; the number cannot be negative", n))
	}
}
