package kernels

import "quern.dev/kernel"

// Vectors are n elements of a slice: element i is at place(i, n, inc). The kernels have
// special forms for increments of 1, in which the compiler widens the accesses.

// place returns the index of element i of a vector with an increment that may be negative.
func place(i, n, inc int) int {
	if inc < 0 {
		return (i + 1 - n) * inc
	}
	return i * inc
}

// axpy computes y += alpha*x.
//
//quern:kernel specialise=incX:1 specialise=incY:1 instantiate=float32,float64
func axpy[T Float](t kernel.Thread, n, incX, incY int, alpha T, x, y []T) {
	if i := t.Global(); i < n {
		y[place(i, n, incY)] += alpha * x[place(i, n, incX)]
	}
}

// scal computes x *= alpha. If alpha is 0, x becomes 0, even where it is NaN.
//
//quern:kernel specialise=incX:1 instantiate=float32,float64
func scal[T Float](t kernel.Thread, n, incX int, alpha T, x []T) {
	if i := t.Global(); i < n {
		v := alpha * x[place(i, n, incX)]
		if alpha == 0 {
			v = 0
		}
		x[place(i, n, incX)] = v
	}
}

// copyVector computes y = x.
//
//quern:kernel specialise=incX:1 specialise=incY:1 instantiate=float32,float64
func copyVector[T Float](t kernel.Thread, n, incX, incY int, x, y []T) {
	if i := t.Global(); i < n {
		y[place(i, n, incY)] = x[place(i, n, incX)]
	}
}

// swap exchanges x and y.
//
//quern:kernel instantiate=float32,float64
func swap[T Float](t kernel.Thread, n, incX, incY int, x, y []T) {
	if i := t.Global(); i < n {
		at, to := place(i, n, incX), place(i, n, incY)
		x[at], y[to] = y[to], x[at]
	}
}

// rot rotates the points (x, y): x, y = c*x + s*y, c*y - s*x.
//
//quern:kernel instantiate=float32,float64
func rot[T Float](t kernel.Thread, n, incX, incY int, c, s T, x, y []T) {
	if i := t.Global(); i < n {
		at, to := place(i, n, incX), place(i, n, incY)
		u, v := x[at], y[to]
		x[at], y[to] = c*u+s*v, c*v-s*u
	}
}

// AxpyChunk is the number of elements of a block of axpyCPU.
const AxpyChunk = 16384

// axpyCPU is axpy for the CPU device and increments of 1, with one thread per block.
//
//quern:kernel block=1 instantiate=float32,float64 only=cpu
func axpyCPU[T Float](t kernel.Thread, n int, alpha T, x, y []T) {
	from := t.BlockIdx.X * AxpyChunk
	to := min(from+AxpyChunk, n)
	addMultiple(y[from:to], x[from:to], alpha)
}

// addMultiplePlain computes y += f*x for slices of the same length.
func addMultiplePlain[T Float](y, x []T, f T) {
	x = x[:len(y)]
	for i, v := range x {
		y[i] += f * v
	}
}
