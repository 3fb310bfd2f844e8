package kernels

import "quern.dev/kernel"

// SmallFloat is the floats that widen takes.
type SmallFloat interface {
	kernel.Float16 | kernel.BFloat16 | kernel.Float8E4M3 | kernel.Float8E5M2
	Float32() float32
}

// widen copies matrices to matrices of float32 without gaps, with a row per thread: the CPU device
// multiplies them with gemmCPU.
//
//quern:kernel only=cpu instantiate=kernel.Float16,kernel.BFloat16,kernel.Float8E4M3,kernel.Float8E5M2
func widen[T SmallFloat](t kernel.Thread, rows, columns, stride, step, matrices int, from []T, to []float32) {
	row := t.Global()
	if row >= matrices*rows {
		return
	}
	at := row/rows*step + row%rows*stride
	out := to[row*columns : (row+1)*columns]
	for i, v := range from[at : at+columns] {
		out[i] = v.Float32()
	}
}

// integerCPU is tensorS8 and tensorU8 for the CPU device, with a row of C per thread.
//
//quern:kernel only=cpu instantiate=int8,uint8
func integerCPU[T int8 | uint8](t kernel.Thread, m, n, k, batch, lda, ldb, ldc, stepA, stepB, stepC int, alpha, beta int32, a, b []T, c []int32) {
	if t.Global() >= batch*m {
		return
	}
	matrix, row := t.Global()/m, t.Global()%m
	at := matrix*stepA + row*lda
	x := a[at : at+k]
	at = matrix*stepC + row*ldc
	out := c[at : at+n]
	for j := range out {
		at := matrix*stepB + j*ldb
		y := b[at : at+k]
		var sum int32
		for p, v := range x {
			sum += int32(v) * int32(y[p])
		}
		sum *= alpha
		if beta != 0 {
			sum += beta * out[j]
		}
		out[j] = sum
	}
}
