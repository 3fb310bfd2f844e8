package kernels

import "quern.dev/kernel"

// The five kernels of BabelStream (Deakin et al., 2018), on float64.

// StreamScalar is the factor of streamMul and streamTriad.
const StreamScalar = 0.4

// streamCopy computes c = a.
//
//quern:kernel unchecked
func streamCopy(t kernel.Thread, a, c []float64) {
	if i := t.Global(); i < len(c) {
		c[i] = a[i]
	}
}

// streamMul computes b = scalar*c.
//
//quern:kernel unchecked
func streamMul(t kernel.Thread, b, c []float64) {
	if i := t.Global(); i < len(b) {
		b[i] = StreamScalar * c[i]
	}
}

// streamAdd computes c = a + b.
//
//quern:kernel unchecked
func streamAdd(t kernel.Thread, a, b, c []float64) {
	if i := t.Global(); i < len(c) {
		c[i] = a[i] + b[i]
	}
}

// streamTriad computes a = b + scalar*c.
//
//quern:kernel unchecked
func streamTriad(t kernel.Thread, a, b, c []float64) {
	if i := t.Global(); i < len(a) {
		a[i] = b[i] + StreamScalar*c[i]
	}
}

// DotThreads is the block size of streamDot.
const DotThreads = 1024

// streamDot adds a[i]*b[i]: one sum per block.
//
//quern:kernel unchecked block=1024
func streamDot(t kernel.Thread, a, b, sums []float64) {
	part := kernel.Shared[[DotThreads / 32]float64](t)
	sum := 0.0
	for i := t.Global(); i < len(a); i += t.Stride() {
		sum += a[i] * b[i]
	}
	sum = kernel.WarpReduceAdd(t, sum)
	if t.Lane() == 0 {
		part[t.Warp()] = sum
	}
	t.Sync()
	if t.Warp() == 0 {
		sum = kernel.WarpReduceAdd(t, part[t.Lane()])
		if t.Lane() == 0 {
			sums[t.BlockIdx.X] = sum
		}
	}
}
