package algo

import "quern.dev/gpu"

// Combine is an associative function of two values.
type Combine[T any] struct {
	Kernels *CombineKernels
	Bind    func(*gpu.Launch)
}

// CombineKernels are the kernels of a [Combine].
type CombineKernels struct {
	ReduceRows *gpu.Kernel
}

// sum adds.
//
//quern:op Combine instantiate=int32,float32
func sum[T int32 | float32](a, b T) T { return a + b }

// larger returns the larger absolute value.
//
//quern:op Combine
func larger(a, b float64) float64 { return max(a, b) }

// larger returns the larger absolute value.
//
//quern:op Combine
func clipped(a, b float64, limit float64) float64 { return min(max(a, b), limit) }
