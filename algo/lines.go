package algo

import (
	"math"
	"math/bits"

	"quern.dev/algo/internal/template"
	"quern.dev/gpu"
)

// A launch of rows or columns has about this many threads, if there is work for them.
const manyThreads = 1 << 18

// divide returns into how many parts the lines along an axis are divided, and the size of all but
// the last. The division depends on the shape only.
func (a Axis) divide() (parts, part int) {
	return a.divideInto(manyThreads/max(a.lines(), 1), 512)
}

// divideInto divides lines into the wanted number of parts, at most most, or fewer if they are short.
func (a Axis) divideInto(wanted, most int) (parts, part int) {
	parts, part = 1, a.N
	if wanted > 1 && a.N > 0 {
		unit := 64
		parts = min(wanted, (a.N+unit-1)/unit, most)
		part = (a.N + parts - 1) / parts
		part = (part + template.Vector - 1) / template.Vector * template.Vector
		parts = (a.N + part - 1) / part
	}
	return parts, part
}

// lines returns the number of lines along the axis.
func (a Axis) lines() int { return a.Outer * a.Inner }

// checkLines checks the arguments of a function that makes one result of each line along an axis.
func checkLines[T, R any](name string, axis Axis, dst *gpu.Buffer[R], src *gpu.Buffer[T]) error {
	if err := present(name, "src", src); err != nil {
		return err
	}
	if err := axis.check(name, "src", src.Len()); err != nil {
		return err
	}
	if err := length(name, "dst", dst, axis.lines()); err != nil {
		return err
	}
	return apart(name, "dst", dst, "src", src)
}

// checkSegments checks the arguments of a function that makes one result of each segment.
func checkSegments[T, R any](name string, dst *gpu.Buffer[R], src *gpu.Buffer[T], ends *gpu.Buffer[int32]) error {
	if err := present(name, "src", src); err != nil {
		return err
	}
	if err := present(name, "dst", dst); err != nil {
		return err
	}
	if err := length(name, "ends", ends, dst.Len()+1); err != nil {
		return err
	}
	return apartFrom(name, "dst", dst, "src", src, "ends", ends)
}

// grouped returns a description for kernels of lines that are divided into parts, and the grid.
func grouped(s *gpu.Stream, axis Axis, parts, part int) (template.Lines, gpu.Grid) {
	group := 1
	if axis.Inner == 1 {
		group = groupOf(s, part)
	}
	threads := axis.lines() * parts * group
	l := template.Lines{N: axis.N, Inner: axis.Inner, Parts: parts, Part: part, Group: bits.Len(uint(group)) - 1}
	return l, gpu.Blocks(gpu.Dim3{X: (threads + template.Threads - 1) / template.Threads}, block)
}

// segments returns a description for kernels of n segments of a buffer of size elements, and the
// grid.
func segments(s *gpu.Stream, n, size int) (template.Lines, gpu.Grid) {
	l, grid := grouped(s, Axis{n, size / max(n, 1), 1}, 1, size/max(n, 1))
	l.Part = math.MaxInt
	return l, grid
}

// linesArg passes a description of lines to a kernel of an operator.
func linesArg(l *gpu.Launch, lines template.Lines) {
	gpu.Arg(l, lines.N)
	gpu.Arg(l, lines.Inner)
	gpu.Arg(l, lines.Parts)
	gpu.Arg(l, lines.Part)
	gpu.Arg(l, lines.Group)
}

// ArgMinAxis writes the index of the least element of each line along an axis to dst, which has
// axis.Outer*axis.Inner elements: the first one of equal elements, and the first NaN. Lines have
// at least one element.
func ArgMinAxis[T any](s *gpu.Stream, order Less[T], axis Axis, dst *gpu.Buffer[int], src *gpu.Buffer[T], work ...*gpu.Workspace) error {
	return order.extremeAxis("ArgMinAxis", s, false, axis, dst, src, work)
}

// ArgMaxAxis is [ArgMinAxis] for the greatest element.
func ArgMaxAxis[T any](s *gpu.Stream, order Less[T], axis Axis, dst *gpu.Buffer[int], src *gpu.Buffer[T], work ...*gpu.Workspace) error {
	return order.extremeAxis("ArgMaxAxis", s, true, axis, dst, src, work)
}

func (o *Less[T]) extremeAxis(name string, s *gpu.Stream, most bool, axis Axis, dst *gpu.Buffer[int], src *gpu.Buffer[T], work []*gpu.Workspace) error {
	if err := o.check(name); err != nil {
		return err
	}
	if err := checkLines(name, axis, dst, src); err != nil {
		return err
	}
	if axis.lines() > 0 && axis.N == 0 {
		return invalid(name, "axis", "it has no elements, and %s has no result for none", name)
	}
	tmp, err := gpu.OpenScratch(s, work)
	if err != nil {
		return failed(name, err)
	}
	defer tmp.Close()
	parts, part := axis.divide()
	ends, all := gpu.Take[int32](tmp, 0), gpu.Take[int](tmp, 0)
	found := dst
	if parts > 1 {
		found = gpu.Take[int](tmp, axis.lines()*parts)
	}
	if run, err := tmp.Ready(); !run || axis.lines() == 0 {
		return failed(name, err)
	}
	l, grid := grouped(s, axis, parts, part)
	err = o.extremeLines(s, l, grid, most, ends, src, all, found)
	if err == nil && parts > 1 {
		l, grid = grouped(s, axis, 1, parts)
		err = o.extremeLines(s, l, grid, most, ends, src, found, dst)
	}
	return failed(name, err)
}

// ArgMinSegments writes the index of the least element of each segment of src to dst, counted from
// the beginning of the segment: the first one of equal elements, and the first NaN. For an empty
// segment it is -1. Segment i has the elements ends[i] to ends[i+1]-1, as in [ReduceSegments].
func ArgMinSegments[T any](s *gpu.Stream, order Less[T], dst *gpu.Buffer[int], src *gpu.Buffer[T], ends *gpu.Buffer[int32]) error {
	return order.extremeSegments("ArgMinSegments", s, false, dst, src, ends)
}

// ArgMaxSegments is [ArgMinSegments] for the greatest element.
func ArgMaxSegments[T any](s *gpu.Stream, order Less[T], dst *gpu.Buffer[int], src *gpu.Buffer[T], ends *gpu.Buffer[int32]) error {
	return order.extremeSegments("ArgMaxSegments", s, true, dst, src, ends)
}

func (o *Less[T]) extremeSegments(name string, s *gpu.Stream, most bool, dst *gpu.Buffer[int], src *gpu.Buffer[T], ends *gpu.Buffer[int32]) error {
	if err := o.check(name); err != nil {
		return err
	}
	if err := checkSegments(name, dst, src, ends); err != nil || dst.Len() == 0 {
		return err
	}
	tmp, err := gpu.OpenScratch(s, nil)
	if err != nil {
		return failed(name, err)
	}
	defer tmp.Close()
	l, grid := segments(s, dst.Len(), src.Len())
	return failed(name, o.extremeLines(s, l, grid, most, ends, src, gpu.Take[int](tmp, 0), dst))
}

// extremeLines finds the extremes of lines, or of their elements at the given indices.
func (o *Less[T]) extremeLines(s *gpu.Stream, lines template.Lines, grid gpu.Grid, most bool, ends *gpu.Buffer[int32], src *gpu.Buffer[T], at, dst *gpu.Buffer[int]) error {
	bind := o.Bind
	if o.least != nil && !most {
		bind = o.least
	}
	l, err := begin(s, o.Kernels.ExtremeLines, bind, grid)
	if err != nil {
		return err
	}
	linesArg(l, lines)
	gpu.Arg(l, most)
	gpu.SliceArg(l, ends)
	gpu.SliceArg(l, src)
	gpu.SliceArg(l, at)
	gpu.SliceArg(l, dst)
	return l.End()
}

// CountAxis writes the number of elements for which match is true of each line along an axis to
// dst, which has axis.Outer*axis.Inner elements. A predicate is true for any element of a line if
// the number is not 0, and for all of them if it is axis.N.
func CountAxis[T any](s *gpu.Stream, match Predicate[T], axis Axis, dst *gpu.Buffer[int], src *gpu.Buffer[T]) error {
	const name = "CountAxis"
	if err := match.check(name); err != nil {
		return err
	}
	if err := checkLines(name, axis, dst, src); err != nil || dst.Len() == 0 {
		return err
	}
	parts, part := axis.divide()
	if parts > 1 {
		if err := gpu.Zero(s, dst); err != nil {
			return failed(name, err)
		}
	}
	l, grid := grouped(s, axis, parts, part)
	return match.countLines(name, s, l, grid, dst, src, nil)
}

// CountSegments writes the number of elements for which match is true of each segment of src to
// dst. Segment i has the elements ends[i] to ends[i+1]-1, as in [ReduceSegments].
func CountSegments[T any](s *gpu.Stream, match Predicate[T], dst *gpu.Buffer[int], src *gpu.Buffer[T], ends *gpu.Buffer[int32]) error {
	const name = "CountSegments"
	if err := match.check(name); err != nil {
		return err
	}
	if err := checkSegments(name, dst, src, ends); err != nil || dst.Len() == 0 {
		return err
	}
	l, grid := segments(s, dst.Len(), src.Len())
	return match.countLines(name, s, l, grid, dst, src, ends)
}

func (p *Predicate[T]) countLines(name string, s *gpu.Stream, lines template.Lines, grid gpu.Grid, dst *gpu.Buffer[int], src *gpu.Buffer[T], ends *gpu.Buffer[int32]) error {
	tmp, err := gpu.OpenScratch(s, nil)
	if err != nil {
		return failed(name, err)
	}
	defer tmp.Close()
	if ends == nil {
		ends = gpu.Take[int32](tmp, 0)
	}
	l, err := begin(s, p.Kernels.CountLines, p.Bind, grid)
	if err != nil {
		return failed(name, err)
	}
	linesArg(l, lines)
	gpu.SliceArg(l, ends)
	gpu.SliceArg(l, src)
	gpu.SliceArg(l, dst)
	return failed(name, l.End())
}

// MomentsAxis writes the number, the mean and the variance of the elements of each line along an
// axis to dst, which has axis.Outer*axis.Inner elements. They are computed in float64. Each run has
// the same result.
func MomentsAxis[T int32 | float32 | float64](s *gpu.Stream, axis Axis, dst *gpu.Buffer[Moments], src *gpu.Buffer[T], work ...*gpu.Workspace) error {
	const name = "MomentsAxis"
	if err := checkLines(name, axis, dst, src); err != nil {
		return err
	}
	tmp, err := gpu.OpenScratch(s, work)
	if err != nil {
		return failed(name, err)
	}
	defer tmp.Close()
	parts, part := axis.divide()
	ends, partial := gpu.Take[int32](tmp, 0), dst
	if parts > 1 {
		parts = (parts + template.Vector - 1) / template.Vector * template.Vector // for reduceParts
		partial = gpu.Take[Moments](tmp, axis.lines()*parts)
	}
	if run, err := tmp.Ready(); !run || axis.lines() == 0 {
		return failed(name, err)
	}
	l, grid := grouped(s, axis, parts, part)
	err = LaunchMomentsOfLines(s, grid, l, ends, src, partial)
	if err == nil && parts > 1 {
		err = reduceParts(s, OpMergeMoments.Kernels.ReduceParts, OpMergeMoments.Kernels.ReducePartsInTurn, nil, axis.lines(), parts, partial, dst)
	}
	return failed(name, err)
}

// MomentsSegments writes the number, the mean and the variance of the elements of each segment of
// src to dst, like [MomentsAxis]. Segment i has the elements ends[i] to ends[i+1]-1, as in
// [ReduceSegments].
func MomentsSegments[T int32 | float32 | float64](s *gpu.Stream, dst *gpu.Buffer[Moments], src *gpu.Buffer[T], ends *gpu.Buffer[int32]) error {
	const name = "MomentsSegments"
	if err := checkSegments(name, dst, src, ends); err != nil || dst.Len() == 0 {
		return err
	}
	l, grid := segments(s, dst.Len(), src.Len())
	return failed(name, LaunchMomentsOfLines(s, grid, l, ends, src, dst))
}
