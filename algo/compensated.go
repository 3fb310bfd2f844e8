package algo

import (
	"quern.dev/algo/internal/template"
	"quern.dev/gpu"
	"quern.dev/kernel"
)

// Compensated is a sum of floating-point numbers, and what rounding has left out of it. Value is
// the sum rounded once, unless the sum of the absolute values is very much larger: the error is as
// if the numbers were added with twice the precision.
type Compensated[T kernel.Float] struct{ Sum, Rest T }

// Value returns the sum.
func (c Compensated[T]) Value() T {
	if c.Rest != c.Rest { // of an infinite sum, and of one that is not a number
		return c.Sum
	}
	return c.Sum + c.Rest
}

// addCompensated adds two sums (Knuth, 1969).
//
//quern:op merge instantiate=float32,float64
func addCompensated[T kernel.Float](a, b Compensated[T]) Compensated[T] {
	s := a.Sum + b.Sum
	v := s - a.Sum
	rest := (a.Sum - (s - v)) + (b.Sum - v)
	return Compensated[T]{s, rest + (a.Rest + b.Rest)}
}

// sumCompensated adds up each part of in.
//
//quern:kernel unchecked block=256 instantiate=float32,float64
func sumCompensated[T kernel.Float](t kernel.Thread, part int, in []T, out []Compensated[T]) {
	first := t.BlockIdx.X * part
	count := min(part, len(in)-first)
	i := t.ThreadIdx.X
	var sum Compensated[T]
	for j := i; j < count; j += template.Threads {
		sum = addCompensated(sum, Compensated[T]{Sum: in[first+j]})
	}
	sum = template.ReduceBlock(t, addCompensated[T], min(count, template.Threads), sum)
	if i == 0 {
		out[t.BlockIdx.X] = sum
	}
}

// SumCompensated writes the sum of the elements of src to dst[0], with the error of its rounding.
// The result of no elements is 0. It takes as long as [Reduce] with [Sum], where memory limits the
// speed.
func SumCompensated[T float32 | float64](s *gpu.Stream, dst *gpu.Buffer[Compensated[T]], src *gpu.Buffer[T], work ...*gpu.Workspace) error {
	return twoStages("SumCompensated", s, OpAddCompensated[T](), dst, src, work, func(g gpu.Grid, part int, partial *gpu.Buffer[Compensated[T]]) error {
		return LaunchSumCompensated(s, g, part, src, partial)
	})
}
