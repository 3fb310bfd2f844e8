package host

import (
	"unsafe"

	"quern.dev/internal/mma"
)

// The functions of this file carry out one matrix operation in all warps of a
// block of whole warps. They write as much of each result as fits in its slice.

// LoadMatrix reads matrices from shared memory. lines holds, per thread, a
// pointer to a line of 16 bytes.
func LoadMatrix[R any](w0, w1, w2, w3 []uint32, lines []*R) {
	for i, words := range [4][]uint32{w0, w1, w2, w3} {
		for first := 0; first < len(words); first += warpSize {
			d := words[first:][:warpSize]
			for row, p := range lines[first+8*i:][:8] {
				copy(d[4*row:], unsafe.Slice((*uint32)(unsafe.Pointer(p)), 4))
			}
		}
	}
}

// LoadMatrixTransposed is LoadMatrix for matrices whose columns are contiguous.
func LoadMatrixTransposed[R any](w0, w1, w2, w3 []uint32, lines []*R) {
	for i, words := range [4][]uint32{w0, w1, w2, w3} {
		for first := 0; first < len(words); first += warpSize {
			d := (*[8][4]uint32)(unsafe.Pointer((*[warpSize]uint32)(words[first:])))
			for pair := range 4 {
				even := (*[8]uint16)(unsafe.Pointer(lines[first+8*i+2*pair]))
				odd := (*[8]uint16)(unsafe.Pointer(lines[first+8*i+2*pair+1]))
				for column := range d {
					d[column][pair] = uint32(even[column]) | uint32(odd[column])<<16
				}
			}
		}
	}
}

// MMAFloat16 multiplies matrices of kernel.Float16 and adds c.
func MMAFloat16[A ~[4]uint32, B ~[2]uint32, C ~[4]float32](d0, d1, d2, d3 []float32, a []A, b []B, c []C) {
	multiply(mma.Float16, mma.Float16, [4][]float32{d0, d1, d2, d3}, a, b, c)
}

// MMABFloat16 multiplies matrices of kernel.BFloat16 and adds c.
func MMABFloat16[A ~[4]uint32, B ~[2]uint32, C ~[4]float32](d0, d1, d2, d3 []float32, a []A, b []B, c []C) {
	multiply(mma.BFloat16, mma.BFloat16, [4][]float32{d0, d1, d2, d3}, a, b, c)
}

// MMATF32 multiplies matrices of float32 in the format TF32 and adds c.
func MMATF32[A ~[4]uint32, B ~[2]uint32, C ~[4]float32](d0, d1, d2, d3 []float32, a []A, b []B, c []C) {
	multiply(mma.TF32, mma.TF32, [4][]float32{d0, d1, d2, d3}, a, b, c)
}

// MMAFloat64 multiplies matrices of float64 and adds c.
func MMAFloat64[A ~[4]uint32, B ~[2]uint32, C ~[4]float64](d0, d1, d2, d3 []float64, a []A, b []B, c []C) {
	multiply(mma.Float64, mma.Float64, [4][]float64{d0, d1, d2, d3}, a, b, c)
}

// MMAE4M3 multiplies matrices of kernel.Float8E4M3 and adds c.
func MMAE4M3[A ~[4]uint32, B ~[2]uint32, C ~[4]float32](d0, d1, d2, d3 []float32, a []A, b []B, c []C) {
	multiply(mma.E4M3, mma.E4M3, [4][]float32{d0, d1, d2, d3}, a, b, c)
}

// MMAE4M3E5M2 multiplies a matrix of kernel.Float8E4M3 by one of kernel.Float8E5M2 and adds c.
func MMAE4M3E5M2[A ~[4]uint32, B ~[2]uint32, C ~[4]float32](d0, d1, d2, d3 []float32, a []A, b []B, c []C) {
	multiply(mma.E4M3, mma.E5M2, [4][]float32{d0, d1, d2, d3}, a, b, c)
}

// MMAE5M2E4M3 multiplies a matrix of kernel.Float8E5M2 by one of kernel.Float8E4M3 and adds c.
func MMAE5M2E4M3[A ~[4]uint32, B ~[2]uint32, C ~[4]float32](d0, d1, d2, d3 []float32, a []A, b []B, c []C) {
	multiply(mma.E5M2, mma.E4M3, [4][]float32{d0, d1, d2, d3}, a, b, c)
}

// MMAE5M2 multiplies matrices of kernel.Float8E5M2 and adds c.
func MMAE5M2[A ~[4]uint32, B ~[2]uint32, C ~[4]float32](d0, d1, d2, d3 []float32, a []A, b []B, c []C) {
	multiply(mma.E5M2, mma.E5M2, [4][]float32{d0, d1, d2, d3}, a, b, c)
}

// MMAInt8 multiplies matrices of int8 and adds c.
func MMAInt8[A ~[4]uint32, B ~[2]uint32, C ~[4]int32](d0, d1, d2, d3 []int32, a []A, b []B, c []C) {
	multiply(mma.Int8, mma.Int8, [4][]int32{d0, d1, d2, d3}, a, b, c)
}

// MMAInt8Uint8 multiplies a matrix of int8 by one of uint8 and adds c.
func MMAInt8Uint8[A ~[4]uint32, B ~[2]uint32, C ~[4]int32](d0, d1, d2, d3 []int32, a []A, b []B, c []C) {
	multiply(mma.Int8, mma.Uint8, [4][]int32{d0, d1, d2, d3}, a, b, c)
}

// MMAUint8Int8 multiplies a matrix of uint8 by one of int8 and adds c.
func MMAUint8Int8[A ~[4]uint32, B ~[2]uint32, C ~[4]int32](d0, d1, d2, d3 []int32, a []A, b []B, c []C) {
	multiply(mma.Uint8, mma.Int8, [4][]int32{d0, d1, d2, d3}, a, b, c)
}

// MMAUint8 multiplies matrices of uint8 and adds c.
func MMAUint8[A ~[4]uint32, B ~[2]uint32, C ~[4]int32](d0, d1, d2, d3 []int32, a []A, b []B, c []C) {
	multiply(mma.Uint8, mma.Uint8, [4][]int32{d0, d1, d2, d3}, a, b, c)
}

func multiply[T mma.Value, A ~[4]uint32, B ~[2]uint32, C ~[4]T](fa, fb mma.Format, dst [4][]T, a []A, b []B, c []C) {
	for first := 0; first < len(a); first += warpSize {
		var ma mma.A
		var mb mma.B
		var mc mma.C[T]
		for lane := range warpSize {
			ma[lane], mb[lane], mc[lane] = a[first+lane], b[first+lane], c[first+lane]
		}
		mma.Multiply(fa, fb, &ma, &mb, &mc)
		for i, d := range dst {
			if first < len(d) {
				d = d[first : first+warpSize]
				for lane := range d {
					d[lane] = mc[lane][i]
				}
			}
		}
	}
}
