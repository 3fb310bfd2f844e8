package algo

import (
	"quern.dev/algo/internal/template"
	"quern.dev/gpu"
)

// Union writes the elements that are in a or b, or in both, to dst, in order, and their number to
// count[0]. a and b are sorted in the given order. An element that occurs m times in a and n times
// in b occurs max(m, n) times in the result: m times as the element of a, the rest as the element
// of b. Elements of dst behind the result are not changed. dst has as many elements as a and b
// together, and shares no memory with them.
func Union[T any](s *gpu.Stream, order Less[T], dst *gpu.Buffer[T], count *gpu.Buffer[int], a, b *gpu.Buffer[T], work ...*gpu.Workspace) error {
	return order.sets("Union", s, template.OnlyFirst|template.OnlySecond|template.Both, a.Len()+b.Len(), dst, count, a, b, work)
}

// Intersection writes the elements that are in both a and b to dst, as the elements of a. An
// element that occurs m times in a and n times in b occurs min(m, n) times in the result. dst has
// as many elements as the shorter one of a and b. Otherwise it is like [Union].
func Intersection[T any](s *gpu.Stream, order Less[T], dst *gpu.Buffer[T], count *gpu.Buffer[int], a, b *gpu.Buffer[T], work ...*gpu.Workspace) error {
	return order.sets("Intersection", s, template.Both, min(a.Len(), b.Len()), dst, count, a, b, work)
}

// Difference writes the elements that are in a but not in b to dst. An element that occurs m
// times in a and n times in b occurs max(m-n, 0) times in the result. dst has as many elements as
// a. Otherwise it is like [Union].
func Difference[T any](s *gpu.Stream, order Less[T], dst *gpu.Buffer[T], count *gpu.Buffer[int], a, b *gpu.Buffer[T], work ...*gpu.Workspace) error {
	return order.sets("Difference", s, template.OnlyFirst, a.Len(), dst, count, a, b, work)
}

// SymmetricDifference writes the elements that are in only one of a and b to dst. An element that
// occurs m times in a and n times in b occurs |m-n| times in the result. Otherwise it is like
// [Union].
func SymmetricDifference[T any](s *gpu.Stream, order Less[T], dst *gpu.Buffer[T], count *gpu.Buffer[int], a, b *gpu.Buffer[T], work ...*gpu.Workspace) error {
	return order.sets("SymmetricDifference", s, template.OnlyFirst|template.OnlySecond, a.Len()+b.Len(), dst, count, a, b, work)
}

// sets keeps the elements of some sets; see [template.Both]. The result has at most most elements.
func (o *Less[T]) sets(name string, s *gpu.Stream, operation uint32, most int, dst *gpu.Buffer[T], count *gpu.Buffer[int], a, b *gpu.Buffer[T], work []*gpu.Workspace) error {
	if err := o.check(name); err != nil {
		return err
	}
	if err := present(name, "a", a); err != nil {
		return err
	}
	if err := present(name, "b", b); err != nil {
		return err
	}
	if err := length(name, "dst", dst, most); err != nil {
		return err
	}
	if err := length(name, "count", count, 1); err != nil {
		return err
	}
	if err := checkApart(name, "dst", dst, "a", a, "b", b); err != nil {
		return err
	}
	tmp, err := gpu.OpenScratch(s, work)
	if err != nil {
		return failed(name, err)
	}
	defer tmp.Close()
	n := a.Len() + b.Len()
	onCPU := s.Device().Backend() == gpu.CPU
	part := mergeTile[T]()
	if onCPU {
		part = hostPart
	}
	parts := (n + part - 1) / part
	var sums, paths *gpu.Buffer[int]
	var status *gpu.Buffer[uint64]
	if onCPU {
		sums = gpu.Take[int](tmp, parts)
	} else {
		paths, status = gpu.Take[int](tmp, 2*(parts+1)), takeStatus(tmp, parts, sizeOf[int]())
	}
	if run, err := tmp.Ready(); !run {
		return failed(name, err)
	}
	if n == 0 {
		return failed(name, gpu.Zero(s, count))
	}
	if onCPU {
		for number := range 3 {
			l, err := begin(s, o.Kernels.SetParts, o.Bind, hostGrid(n, part))
			if err != nil {
				return failed(name, err)
			}
			gpu.Arg(l, number)
			gpu.Arg(l, operation)
			gpu.Arg(l, part)
			gpu.SliceArg(l, a)
			gpu.SliceArg(l, b)
			gpu.SliceArg(l, dst)
			gpu.SliceArg(l, count)
			gpu.SliceArg(l, sums)
			if err := l.End(); err != nil {
				return failed(name, err)
			}
		}
		return nil
	}
	if err := gpu.Zero(s, status); err != nil {
		return failed(name, err)
	}
	l, err := begin(s, o.Kernels.SetPaths, o.Bind, gpu.Linear(parts+1))
	if err != nil {
		return failed(name, err)
	}
	gpu.Arg(l, part)
	gpu.SliceArg(l, a)
	gpu.SliceArg(l, b)
	gpu.SliceArg(l, paths)
	if err := l.End(); err != nil {
		return failed(name, err)
	}
	l, err = begin(s, o.Kernels.SetTiles, o.Bind, gpu.Blocks(gpu.Dim3{X: parts}, block).Shared((part+1)*sizeOf[T]()))
	if err != nil {
		return failed(name, err)
	}
	gpu.Arg(l, operation)
	gpu.SliceArg(l, paths)
	gpu.SliceArg(l, a)
	gpu.SliceArg(l, b)
	gpu.SliceArg(l, dst)
	gpu.SliceArg(l, count)
	gpu.SliceArg(l, status)
	return failed(name, l.End())
}
