package kernel

import (
	"fmt"
	"reflect"
	"unsafe"
)

// AsyncCopy begins to copy *src, in global memory, to *dst, in the block's
// shared memory, without the thread waiting for it or its registers holding the
// data. T has 4, 8 or 16 bytes. For more than one element at a time, convert
// slices to pointers to arrays:
//
//	kernel.AsyncCopy(t, (*[4]float32)(tile[row][col:]), (*[4]float32)(a[i:]))
//
// Copies that a thread has begun form a group when it calls [AsyncCommit], and
// are there when it has called [AsyncWait]; for the other threads of the block,
// after the next Sync. Until then *dst must not be read, nor either be written.
//
// Addresses that are not multiples of T's size, which parts of a buffer can have,
// are copied at once. So is everything on devices without such copies (before
// compute capability 8.0), on the CPU and by [Each].
func AsyncCopy[T any](t Thread, dst, src *T) {
	switch size := unsafe.Sizeof(*dst); size {
	case 4, 8, 16:
		*dst = *src
	default:
		panic(fmt.Sprintf("kernel: AsyncCopy of %v, which has %d bytes; copy 4, 8 or 16 at a time", reflect.TypeFor[T](), size))
	}
}

// AsyncCommit makes the copies that the thread has begun since its last call a
// group.
func AsyncCommit(t Thread) {}

// AsyncWait waits until at most the n newest groups of the thread are still
// being copied; with 0, until all have arrived. n is a constant.
func AsyncWait(t Thread, n int) {
	if n < 0 {
		panic(fmt.Sprintf("kernel: AsyncWait for %d groups", n))
	}
}
