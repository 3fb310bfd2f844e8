package elementwise

import "quern.dev/kernel"

//go:generate go tool quern gen

// scaleAdd computes y += a*x.
//
//quern:kernel
func scaleAdd(t kernel.Thread, a float32, x, y []float32) {
	if i := t.Global(); i < len(y) {
		y[i] += a * x[i]
	}
}

// negate moves 1-byte elements.
//
//quern:kernel
func negate(t kernel.Thread, n int, in, out []int8) {
	i := t.Global()
	if i >= n {
		return
	}
	out[i] = -in[i]
}

// average moves 2-byte elements.
//
//quern:kernel
func average(t kernel.Thread, x, y, out []uint16) {
	if i := t.Global(); i < len(out) {
		out[i] = uint16((uint32(x[i]) + uint32(y[i])) / 2)
	}
}

// square moves 8-byte elements.
//
//quern:kernel
func square(t kernel.Thread, x []float64) {
	if i := t.Global(); i < len(x) {
		x[i] *= x[i]
	}
}

// widen has elements of two sizes.
//
//quern:kernel
func widen(t kernel.Thread, in []uint8, out []float32) {
	if i := t.Global(); i < len(in) {
		out[i] = float32(in[i]) / 255
	}
}

// lookUp reads indices from memory. They may be out of range.
//
//quern:kernel
func lookUp(t kernel.Thread, table []float32, at []int32, out []float32) {
	if i := t.Global(); i < len(out) {
		out[i] = table[at[i]]
	}
}

// difference reads an adjacent element.
//
//quern:kernel
func difference(t kernel.Thread, x, y []float32) {
	if i := t.Global(); i+1 < len(x) {
		y[i] = x[i+1] - x[i]
	}
}

// number has no guard but the end of the grid.
//
//quern:kernel
func number(t kernel.Thread, out []int32) {
	out[t.Global()] = int32(t.Global())
}

// blocks stores the position of each thread.
//
//quern:kernel
func blocks(t kernel.Thread, out []int32) {
	i := t.Global()
	out[i] = int32(t.BlockIdx.X*1000000 + t.GridDim.X*1000 + t.ThreadIdx.X)
}

// invert inverts an image.
//
//quern:kernel
func invert(t kernel.Thread, w, h int, in, out []uint8) {
	x, y := t.Global2()
	if x < w && y < h {
		out[y*w+x] = 255 - in[y*w+x]
	}
}

// count counts values with an atomic addition.
//
//quern:kernel
func count(t kernel.Thread, values []uint8, bins []uint32) {
	if i := t.Global(); i < len(values) {
		kernel.AtomicAdd(&bins[values[i]], 1)
	}
}

// scaleHalves has 2-byte elements that are not integers.
//
//quern:kernel
func scaleHalves(t kernel.Thread, a kernel.Float16, x []kernel.Float16) {
	if i := t.Global(); i < len(x) {
		x[i] = x[i].Mul(a)
	}
}
