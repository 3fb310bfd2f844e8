package algo

import (
	"math"

	"quern.dev/gpu"
)

// Number are the types for which package algo has operators. For other types, write an
// operator; see the documentation of the package.
type Number interface {
	int32 | int64 | uint32 | uint64 | float32 | float64
}

// A Combine is an associative function of two values, for reductions and scans:
//
//	// longer returns the longer vector.
//	//
//	//quern:op algo.Combine
//	func longer(a, b kernel.Vec2[float32]) kernel.Vec2[float32] { ... }
//
// quern gen declares OpLonger, a Combine[kernel.Vec2[float32]]. Only quern gen sets the fields.
type Combine[T any] struct {
	Kernels *CombineKernels
	Bind    func(*gpu.Launch) // passes the bound parameters
}

// CombineKernels are the kernels of a [Combine].
type CombineKernels struct {
	ReduceParts, ReducePartsInTurn                *gpu.Kernel
	ReduceRows, ReduceColumns, ReduceSegments     *gpu.Kernel
	ScanTiles, TotalParts, PrefixParts, ScanParts *gpu.Kernel
	ScanRows, ScanLines                           *gpu.Kernel
	ScanRuns, RunScanParts                        *gpu.Kernel
}

// merge is a [Combine] for reductions only.
type merge[T any] struct {
	Kernels *mergeKernels
	Bind    func(*gpu.Launch)
}

type mergeKernels struct{ ReduceParts, ReducePartsInTurn *gpu.Kernel }

// begin begins a launch of a kernel of an operator.
func begin(s *gpu.Stream, k *gpu.Kernel, bind func(*gpu.Launch), g gpu.Grid) (*gpu.Launch, error) {
	l, err := k.Begin(s, g)
	if err == nil && bind != nil {
		bind(l)
	}
	return l, err
}

// check returns an error if the operator was not made by quern gen for type T.
func (c *Combine[T]) check(op string) error {
	if c.Kernels == nil {
		return notCompiled[T](op)
	}
	return nil
}

func notCompiled[T any](op string) error {
	var zero T
	return invalid(op, "operator", "it has no kernels for type %T: declare it with //quern:op, list the type in instantiate=, and run go generate", zero)
}

// Sum returns the operator a+b. Integers wrap around.
func Sum[T Number]() Combine[T] {
	return Combine[T]{Kernels: ofSigned[T](OpAdd[int32]().Kernels, OpAdd[int64]().Kernels, OpAdd[float32]().Kernels, OpAdd[float64]().Kernels)}
}

// Product returns the operator a*b. Integers wrap around.
func Product[T Number]() Combine[T] {
	return Combine[T]{Kernels: ofSigned[T](OpMultiply[int32]().Kernels, OpMultiply[int64]().Kernels, OpMultiply[float32]().Kernels, OpMultiply[float64]().Kernels)}
}

// ofSigned returns the kernels for type T of an operator for which the sign of integers makes no
// difference.
func ofSigned[T Number, K any](int32s, int64s, float32s, float64s *K) *K {
	var zero T
	switch any(zero).(type) {
	case int32, uint32:
		return int32s
	case int64, uint64:
		return int64s
	case float32:
		return float32s
	default:
		return float64s
	}
}

// Min returns the operator min(a, b). A NaN makes the result NaN.
func Min[T Number]() Combine[T] {
	var zero T
	switch any(zero).(type) {
	case uint32:
		return Combine[T]{extremesOfInt32s, func(l *gpu.Launch) { gpu.Arg[int32](l, math.MinInt32) }}
	case uint64:
		return Combine[T]{extremesOfInt64s, func(l *gpu.Launch) { gpu.Arg[int64](l, math.MinInt64) }}
	case int32:
		return Combine[T]{extremesOfInt32s, func(l *gpu.Launch) { gpu.Arg[int32](l, 0) }}
	case int64:
		return Combine[T]{extremesOfInt64s, func(l *gpu.Launch) { gpu.Arg[int64](l, 0) }}
	case float32:
		return Combine[T]{extremesOfFloat32s, func(l *gpu.Launch) { gpu.Arg[float32](l, 1) }}
	default:
		return Combine[T]{extremesOfFloat64s, func(l *gpu.Launch) { gpu.Arg[float64](l, 1) }}
	}
}

// Max returns the operator max(a, b). A NaN makes the result NaN.
func Max[T Number]() Combine[T] {
	var zero T
	switch any(zero).(type) {
	case uint32:
		return Combine[T]{extremesOfInt32s, func(l *gpu.Launch) { gpu.Arg[int32](l, math.MaxInt32) }}
	case uint64:
		return Combine[T]{extremesOfInt64s, func(l *gpu.Launch) { gpu.Arg[int64](l, math.MaxInt64) }}
	case int32:
		return Combine[T]{extremesOfInt32s, func(l *gpu.Launch) { gpu.Arg[int32](l, -1) }}
	case int64:
		return Combine[T]{extremesOfInt64s, func(l *gpu.Launch) { gpu.Arg[int64](l, -1) }}
	case float32:
		return Combine[T]{extremesOfFloat32s, func(l *gpu.Launch) { gpu.Arg[float32](l, -1) }}
	default:
		return Combine[T]{extremesOfFloat64s, func(l *gpu.Launch) { gpu.Arg[float64](l, -1) }}
	}
}

// Kernels of the operators of [Min] and [Max].
var (
	extremesOfInt32s, extremesOfInt64s     = OpExtremeInteger[int32](0).Kernels, OpExtremeInteger[int64](0).Kernels
	extremesOfFloat32s, extremesOfFloat64s = OpExtremeFloat[float32](0).Kernels, OpExtremeFloat[float64](0).Kernels
)

// extremeInteger returns the number that is least after the bits of flip have been inverted, which
// makes it the operator of [Min] and [Max] for signed and unsigned integers.
//
//quern:op Combine instantiate=int32,int64
func extremeInteger[T int32 | int64](a, b, flip T) T { return min(a^flip, b^flip) ^ flip }

// extremeFloat is the operator of [Min] if sign is 1, and of [Max] if it is -1.
//
//quern:op Combine instantiate=float32,float64
func extremeFloat[T float32 | float64](a, b, sign T) T { return sign * min(sign*a, sign*b) }

// add is the operator of [Sum].
//
//quern:op Combine instantiate=int32,int64,float32,float64
func add[T Number](a, b T) T { return a + b }

// multiply is the operator of [Product].
//
//quern:op Combine instantiate=int32,int64,float32,float64
func multiply[T Number](a, b T) T { return a * b }
