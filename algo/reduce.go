package algo

import (
	"quern.dev/algo/internal/template"
	"quern.dev/gpu"
)

// Limits of how Reduce divides its work. The division depends on the number of elements only,
// so that results do not depend on the device.
const (
	partUnit = template.Threads * template.Vector
	smallest = partUnit // elements of a part
	mostPart = 1024
)

// parts returns into how many parts n elements are divided, and the size of all but the last.
func parts(n int) (count, size int) {
	count = min((n+smallest-1)/smallest, mostPart)
	size = (n + count - 1) / count
	size = (size + partUnit - 1) / partUnit * partUnit
	return (n + size - 1) / size, size
}

// Reduce combines all elements of src with an operator that is associative and commutative, and
// writes the result to dst[0]. src has at least one element, and dst may be one of them. Each run has the
// same result, also if op rounds, because elements are combined in an order that depends only
// on their number.
func Reduce[T any](s *gpu.Stream, op Combine[T], dst, src *gpu.Buffer[T], work ...*gpu.Workspace) error {
	const name = "Reduce"
	if err := op.check(name); err != nil {
		return err
	}
	if err := length(name, "dst", dst, 1); err != nil {
		return err
	}
	if err := present(name, "src", src); err != nil {
		return err
	}
	n := src.Len()
	if n == 0 {
		return invalid(name, "src", "no elements, and %s has no result for none", name)
	}
	tmp, err := gpu.OpenScratch(s, work)
	if err != nil {
		return failed(name, err)
	}
	defer tmp.Close()
	count, size := parts(n)
	partial := dst
	if count > 1 {
		partial = gpu.Take[T](tmp, count)
	}
	if run, err := tmp.Ready(); !run {
		return failed(name, err)
	}
	err = reduceParts(s, op.Kernels.ReduceParts, op.Kernels.ReducePartsInTurn, op.Bind, count, size, src, partial)
	if err == nil && count > 1 {
		err = reduceParts(s, op.Kernels.ReduceParts, op.Kernels.ReducePartsInTurn, op.Bind, 1, (count+partUnit-1)/partUnit*partUnit, partial, dst)
	}
	return failed(name, err)
}

// reduceParts combines the elements of each part of src. The size is a multiple of template.Vector.
// inTurn is the kernel for CPUs.
func reduceParts[T any](s *gpu.Stream, k, inTurn *gpu.Kernel, bind func(*gpu.Launch), count, size int, src, dst *gpu.Buffer[T]) error {
	grid := gpu.Blocks(gpu.Dim3{X: count}, block)
	if s.Device().Backend() == gpu.CPU {
		k, grid = inTurn, gpu.Blocks(gpu.Dim3{X: count}, oneThread)
	}
	l, err := begin(s, k, bind, grid)
	if err != nil {
		return err
	}
	gpu.Arg(l, size/template.Vector)
	gpu.SliceArg(l, src)
	gpu.SliceArg(l, dst)
	return l.End()
}
