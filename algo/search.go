package algo

import (
	"quern.dev/algo/internal/template"
	"quern.dev/gpu"
)

// LowerBound writes to dst[i] the position of the first element of sorted that values[i] does
// not come after: the number of elements that come before values[i] in the order. sorted is
// sorted in that order. dst has as many elements as values.
func LowerBound[T any](s *gpu.Stream, order Less[T], dst *gpu.Buffer[int], sorted, values *gpu.Buffer[T]) error {
	return order.bounds("LowerBound", s, false, dst, sorted, values)
}

// UpperBound writes to dst[i] the position of the first element of sorted that comes after
// values[i], or the number of elements. Otherwise it is like [LowerBound].
func UpperBound[T any](s *gpu.Stream, order Less[T], dst *gpu.Buffer[int], sorted, values *gpu.Buffer[T]) error {
	return order.bounds("UpperBound", s, true, dst, sorted, values)
}

func (o *Less[T]) bounds(name string, s *gpu.Stream, upper bool, dst *gpu.Buffer[int], sorted, values *gpu.Buffer[T]) error {
	if err := o.check(name); err != nil {
		return err
	}
	if err := present(name, "sorted", sorted); err != nil {
		return err
	}
	if err := present(name, "values", values); err != nil {
		return err
	}
	if err := length(name, "dst", dst, values.Len()); err != nil || values.Len() == 0 {
		return err
	}
	l, err := begin(s, o.Kernels.Bounds, o.Bind, gpu.Linear(values.Len()))
	if err != nil {
		return failed(name, err)
	}
	gpu.Arg(l, upper)
	gpu.SliceArg(l, sorted)
	gpu.SliceArg(l, values)
	gpu.SliceArg(l, dst)
	return failed(name, l.End())
}

// IsSorted writes 1 to dst[0] if x is sorted in the given order, otherwise 0. The result can be
// the condition of [gpu.If].
func IsSorted[T any](s *gpu.Stream, order Less[T], dst *gpu.Buffer[uint32], x *gpu.Buffer[T]) error {
	const name = "IsSorted"
	if err := order.check(name); err != nil {
		return err
	}
	if err := present(name, "x", x); err != nil {
		return err
	}
	if err := length(name, "dst", dst, 1); err != nil {
		return err
	}
	if err := gpu.Fill(s, dst, 1); err != nil || x.Len() < 2 {
		return failed(name, err)
	}
	l, err := begin(s, order.Kernels.Unsorted, order.Bind, gpu.Linear(x.Len()-1))
	if err != nil {
		return failed(name, err)
	}
	gpu.SliceArg(l, x)
	gpu.SliceArg(l, dst)
	return failed(name, l.End())
}

// ArgMin writes to dst[0] the position of the least element of src, the first one in the given
// order. If there are several, it is the first of them. If there are NaNs and the order is
// [Ascending] or [Descending], it is the position of the first NaN, as in NumPy. src has at least
// one element.
func ArgMin[T any](s *gpu.Stream, order Less[T], dst *gpu.Buffer[int], src *gpu.Buffer[T], work ...*gpu.Workspace) error {
	return order.argument("ArgMin", s, 0, -1, dst, src, work)
}

// ArgMax writes to dst[0] the position of the greatest element of src, the last one in the given
// order. If there are several, it is the first of them. If there are NaNs and the order is
// [Ascending] or [Descending], it is the position of the first NaN, as in NumPy. src has at least
// one element.
func ArgMax[T any](s *gpu.Stream, order Less[T], dst *gpu.Buffer[int], src *gpu.Buffer[T], work ...*gpu.Workspace) error {
	return order.argument("ArgMax", s, -1, 0, dst, src, work)
}

func (o *Less[T]) argument(name string, s *gpu.Stream, lo, hi int, dst *gpu.Buffer[int], src *gpu.Buffer[T], work []*gpu.Workspace) error {
	if err := length(name, "dst", dst, 1); err != nil {
		return err
	}
	return o.extremes(name, s, lo, hi, nil, dst, src, work)
}

// MinMax writes to dst[0] the least element of src, and to dst[1] the greatest, which are equal to
// those that [ArgMin] and [ArgMax] find: if there are NaNs and the order is [Ascending] or
// [Descending], both are NaN. Of zeros, it may find one of either sign. src has at least one element,
// and is read once. It shares no memory with dst.
func MinMax[T any](s *gpu.Stream, order Less[T], dst, src *gpu.Buffer[T], work ...*gpu.Workspace) error {
	if err := length("MinMax", "dst", dst, 2); err != nil {
		return err
	}
	if err := apart("MinMax", "dst", dst, "src", src); err != nil {
		return err
	}
	if order.numbers != otherOrder && src.Len() > 0 && s.Device().Backend() != gpu.CPU {
		down := order.numbers == downward
		switch x := any(src).(type) {
		case *gpu.Buffer[int32]:
			return minMaxNumbers(s, down, any(dst).(*gpu.Buffer[int32]), x, work)
		case *gpu.Buffer[int64]:
			return minMaxNumbers(s, down, any(dst).(*gpu.Buffer[int64]), x, work)
		case *gpu.Buffer[uint32]:
			return minMaxNumbers(s, down, any(dst).(*gpu.Buffer[uint32]), x, work)
		case *gpu.Buffer[uint64]:
			return minMaxNumbers(s, down, any(dst).(*gpu.Buffer[uint64]), x, work)
		case *gpu.Buffer[float32]:
			return minMaxNumbers(s, down, any(dst).(*gpu.Buffer[float32]), x, work)
		case *gpu.Buffer[float64]:
			return minMaxNumbers(s, down, any(dst).(*gpu.Buffer[float64]), x, work)
		}
	}
	return order.extremes("MinMax", s, 0, 1, dst, nil, src, work)
}

// extremes writes the least element or its position at lo, and the greatest one at hi, unless
// that is negative.
func (o *Less[T]) extremes(name string, s *gpu.Stream, lo, hi int, dst *gpu.Buffer[T], dstAt *gpu.Buffer[int], src *gpu.Buffer[T], work []*gpu.Workspace) error {
	if err := o.check(name); err != nil {
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
	x, none, noneAt := src, gpu.Take[T](tmp, 0), gpu.Take[int](tmp, 0)
	at := noneAt
	if count > 1 {
		found := count
		if lo >= 0 && hi >= 0 {
			found = 2 * count
		}
		x, at = gpu.Take[T](tmp, found), gpu.Take[int](tmp, found)
	}
	if dst == nil {
		dst = none
	}
	if dstAt == nil {
		dstAt = noneAt
	}
	if run, err := tmp.Ready(); !run {
		return failed(name, err)
	}
	// The least element of an order in which NaNs come last is found in one in which they come
	// first. If both extremes are wanted, the greatest element of a part is its NaN.
	bind, both := o.Bind, lo >= 0 && hi >= 0
	if o.least != nil && hi < 0 {
		bind = o.least
	}
	if count > 1 {
		if err := o.extremesOf(s, bind, count, size, lo, hi, src, noneAt, x, at); err != nil {
			return failed(name, err)
		}
	}
	last := (x.Len() + partUnit - 1) / partUnit * partUnit
	if o.least != nil && both {
		if err := o.extremesOf(s, o.least, 1, last, lo, -1, x, at, dst, dstAt); err != nil {
			return failed(name, err)
		}
		lo = -1
	}
	return failed(name, o.extremesOf(s, bind, 1, last, lo, hi, x, at, dst, dstAt))
}

func (o *Less[T]) extremesOf(s *gpu.Stream, bind func(*gpu.Launch), count, size, lo, hi int, src *gpu.Buffer[T], at *gpu.Buffer[int], dst *gpu.Buffer[T], dstAt *gpu.Buffer[int]) error {
	k, grid := o.Kernels.Extremes, gpu.Blocks(gpu.Dim3{X: count}, gpu.Dim3{X: template.Threads})
	if s.Device().Backend() == gpu.CPU {
		k, grid = o.Kernels.ExtremeParts, gpu.Blocks(gpu.Dim3{X: count}, gpu.Dim3{X: 1})
	}
	l, err := begin(s, k, bind, grid)
	if err != nil {
		return err
	}
	gpu.Arg(l, size)
	gpu.Arg(l, lo)
	gpu.Arg(l, hi)
	gpu.SliceArg(l, src)
	gpu.SliceArg(l, at)
	gpu.SliceArg(l, dst)
	gpu.SliceArg(l, dstAt)
	return l.End()
}
