package kernels

import "quern.dev/kernel"

// Rates of operations, for the model of profile.Advise.

// empty does nothing.
//
//quern:kernel
func empty(t kernel.Thread) {}

// touch writes one byte per thread: the cost of a thread.
//
//quern:kernel
func touch(t kernel.Thread, out []uint8) {
	if i := t.Global(); i < len(out) {
		out[i] = 1
	}
}

// IntegerOperations and Specials are the operations of a thread of integers, and of roots or
// functions, in one step.
const (
	IntegerOperations = 3 * chains * rounds
	Specials          = 2 * chains
)

// integers computes steps of integer multiplications, shifts and exclusive ors.
//
//quern:kernel
func integers(t kernel.Thread, steps int, a uint32, out []uint32) {
	var x [chains]uint32
	for i := range x {
		x[i] = uint32(t.ThreadIdx.X + i)
	}
	for range steps {
		for range rounds {
			for i := range x {
				x[i] = x[i]*a ^ x[i]>>3
			}
		}
	}
	sum := uint32(0)
	for i := range x {
		sum += x[i]
	}
	if sum == a {
		out[0] = sum
	}
}

// roots computes steps of square roots and divisions.
//
//quern:kernel
func roots(t kernel.Thread, steps int, a float32, out []float32) {
	var x [chains]float32
	for i := range x {
		x[i] = float32(t.ThreadIdx.X + i + 1)
	}
	for range steps {
		for i := range x {
			x[i] = kernel.Sqrt(a / x[i])
		}
	}
	sum := float32(0)
	for i := range x {
		sum += x[i]
	}
	if sum == a {
		out[0] = sum
	}
}

// functions computes steps of exponentials and logarithms.
//
//quern:kernel
func functions(t kernel.Thread, steps int, a float32, out []float32) {
	var x [chains]float32
	for i := range x {
		x[i] = float32(t.ThreadIdx.X+i+1) / 1024
	}
	for range steps {
		for i := range x {
			x[i] = kernel.Log(a + kernel.Exp(x[i]))
		}
	}
	sum := float32(0)
	for i := range x {
		sum += x[i]
	}
	if sum == a {
		out[0] = sum
	}
}

// barriers waits for the block.
//
//quern:kernel
func barriers(t kernel.Thread, steps int, out []int32) {
	tile := kernel.Shared[[1024]int32](t)
	for step := range int32(steps) {
		tile[t.ThreadIdx.X] = step
		t.Sync()
	}
	if tile[t.ThreadIdx.X] == -1 {
		out[0] = 1
	}
}

// chase follows a chain of indices with one thread: the latency of memory.
//
//quern:kernel unchecked
func chase(t kernel.Thread, steps int, next []int32, out []int32) {
	at := int32(0)
	for range steps {
		at = next[at]
	}
	out[0] = at
}
