package kernel

import (
	"fmt"
	"reflect"
	"unsafe"

	"quern.dev/internal/mma"
)

// The operations of this file multiply larger matrices than [MMA], which lie in
// shared memory, by groups of 128 threads: four warps, the first of which has a
// number that is a multiple of four. All threads of a group must call them
// together. The kernel's directive must declare a block of whole groups, for
// example block=256.

// TileLine returns the index of line i, 0 to 7, of a row of a tile. A tile is a
// matrix in shared memory that [GroupMMA] multiplies. Its rows have 128 bytes,
// which are eight lines of 16 bytes. The lines of a row are permuted, so that
// reading the same line of eight rows uses all banks of shared memory.
func TileLine(row, i int) int { return row*8 + (i ^ row&7) }

// GroupMMA starts the addition of a*bᵀ to sum. a points to the first line of a tile
// with 64 rows, b to that of a tile with N rows; the elements of a row are
// adjacent. N is 8 times the length of sum, and 64, 128 or 256. The tiles are in
// shared variables and begin at multiples of 64 lines. All threads of a group pass
// the same tiles.
//
// sum is all of an array variable, as in sum[:], the thread's share of a matrix
// with 64 rows and N columns. Element e of accumulator j is in the column
// 8*j + sum[j].Column(t, e) and the row t.Warp()%4*16 + sum[j].Row(t, e).
//
// The sum is present, and the tiles have been read, after a [GroupWait]. Until
// then, do not write the tiles, and use sum only in other calls of GroupMMA. A
// barrier of the block must be between writes to the tiles and GroupMMA.
//
// The types of the elements and of the sums are those that [MMA] allows. The bound
// of the difference between devices is that of MMA for 128 bytes of elements.
// Elements of float32 are cut off, not rounded, to the TF32 format.
//
// GPUs of compute capability 9.0 have instructions for it; others use those of MMA.
func GroupMMA[A, B MatrixLine, C float32 | int32](t Thread, a *A, b *B, sum []Accumulator[C]) {
	switch len(sum) {
	case 8, 16, 32:
	default:
		panic(fmt.Sprintf("kernel: GroupMMA: %d accumulators; the number is 8, 16 or 32", len(sum)))
	}
	fa, fb := lineFormat[A](), lineFormat[B]()
	mustMultiply[C](fa, fb)
	tileA := unsafe.Slice((*[4]uint32)(unsafe.Pointer(a)), 64*mma.TileLines)
	tileB := unsafe.Slice((*[4]uint32)(unsafe.Pointer(b)), len(sum)*8*mma.TileLines)
	mma.MultiplyTile(fa, fb, t.linear(), tileA, tileB, unsafe.Slice((*[4]C)(&sum[0]), len(sum)))
}

// GroupWait waits until at most the n newest calls of [GroupMMA] by the group are
// incomplete. With n = 0 it waits for all. n must be a constant.
func GroupWait(t Thread, n int) { AsyncWait(t, n) }

// lineFormat returns the format of a line's elements.
func lineFormat[R MatrixLine]() mma.Format {
	switch reflect.TypeFor[R]().Elem() {
	case reflect.TypeFor[Float16]():
		return mma.Float16
	case reflect.TypeFor[BFloat16]():
		return mma.BFloat16
	case reflect.TypeFor[Float8E4M3]():
		return mma.E4M3
	case reflect.TypeFor[Float8E5M2]():
		return mma.E5M2
	case reflect.TypeFor[float32]():
		return mma.TF32
	case reflect.TypeFor[int8]():
		return mma.Int8
	}
	return mma.Uint8
}
