package host

import (
	"unsafe"

	"quern.dev/internal/mma"
)

// The functions of this file multiply tiles in all groups of a block. dst holds, per
// element of a thread's sum, the results of the threads, or nil.

// GroupMMAFloat16 multiplies tiles of kernel.Float16.
func GroupMMAFloat16[A, B, S any](dst [][]float32, a []*A, b []*B, sum []S) {
	multiplyTiles(mma.Float16, mma.Float16, dst, a, b, sum)
}

// GroupMMABFloat16 multiplies tiles of kernel.BFloat16.
func GroupMMABFloat16[A, B, S any](dst [][]float32, a []*A, b []*B, sum []S) {
	multiplyTiles(mma.BFloat16, mma.BFloat16, dst, a, b, sum)
}

// GroupMMATF32 multiplies tiles of float32 in the format TF32.
func GroupMMATF32[A, B, S any](dst [][]float32, a []*A, b []*B, sum []S) {
	multiplyTiles(mma.TF32, mma.TF32, dst, a, b, sum)
}

// GroupMMAE4M3 multiplies tiles of kernel.Float8E4M3.
func GroupMMAE4M3[A, B, S any](dst [][]float32, a []*A, b []*B, sum []S) {
	multiplyTiles(mma.E4M3, mma.E4M3, dst, a, b, sum)
}

// GroupMMAE4M3E5M2 multiplies a tile of kernel.Float8E4M3 by one of kernel.Float8E5M2.
func GroupMMAE4M3E5M2[A, B, S any](dst [][]float32, a []*A, b []*B, sum []S) {
	multiplyTiles(mma.E4M3, mma.E5M2, dst, a, b, sum)
}

// GroupMMAE5M2E4M3 multiplies a tile of kernel.Float8E5M2 by one of kernel.Float8E4M3.
func GroupMMAE5M2E4M3[A, B, S any](dst [][]float32, a []*A, b []*B, sum []S) {
	multiplyTiles(mma.E5M2, mma.E4M3, dst, a, b, sum)
}

// GroupMMAE5M2 multiplies tiles of kernel.Float8E5M2.
func GroupMMAE5M2[A, B, S any](dst [][]float32, a []*A, b []*B, sum []S) {
	multiplyTiles(mma.E5M2, mma.E5M2, dst, a, b, sum)
}

// GroupMMAInt8 multiplies tiles of int8.
func GroupMMAInt8[A, B, S any](dst [][]int32, a []*A, b []*B, sum []S) {
	multiplyTiles(mma.Int8, mma.Int8, dst, a, b, sum)
}

// GroupMMAInt8Uint8 multiplies a tile of int8 by one of uint8.
func GroupMMAInt8Uint8[A, B, S any](dst [][]int32, a []*A, b []*B, sum []S) {
	multiplyTiles(mma.Int8, mma.Uint8, dst, a, b, sum)
}

// GroupMMAUint8Int8 multiplies a tile of uint8 by one of int8.
func GroupMMAUint8Int8[A, B, S any](dst [][]int32, a []*A, b []*B, sum []S) {
	multiplyTiles(mma.Uint8, mma.Int8, dst, a, b, sum)
}

// GroupMMAUint8 multiplies tiles of uint8.
func GroupMMAUint8[A, B, S any](dst [][]int32, a []*A, b []*B, sum []S) {
	multiplyTiles(mma.Uint8, mma.Uint8, dst, a, b, sum)
}

// multiplyTiles computes the results of one warp or of several whole groups. The sum of
// a thread is an array of accumulators.
func multiplyTiles[T mma.Value, A, B, S any](fa, fb mma.Format, dst [][]T, a []*A, b []*B, sum []S) {
	columns := len(dst) / 4
	for i := range sum {
		x := unsafe.Slice((*[4]T)(unsafe.Pointer(&sum[i])), columns)
		tileA := unsafe.Slice((*[4]uint32)(unsafe.Pointer(a[i])), 64*mma.TileLines)
		tileB := unsafe.Slice((*[4]uint32)(unsafe.Pointer(b[i])), columns*8*mma.TileLines)
		mma.MultiplyTile(fa, fb, i, tileA, tileB, x)
		for e, d := range dst {
			if d != nil {
				d[i] = x[e/4][e%4]
			}
		}
	}
}
