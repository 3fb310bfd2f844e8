package algo

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"quern.dev/algo/internal/template"
	"quern.dev/gpu"
)

// Axis is an axis of an array in row-major order: Outer is the product of the extents of the axes
// before it, N is its own extent, and Inner is the product of the extents of the axes after it.
// The elements along the axis are Inner apart. For the rows of a matrix, Inner is 1.
type Axis struct{ Outer, N, Inner int }

// AxisOf returns an axis of an array with the given extents. Axes are counted from 0, and from -1
// backward. The product of the extents before the axis, and that of those after it, must be an int.
func AxisOf(axis int, extents ...int) (Axis, error) {
	if axis < -len(extents) || axis >= len(extents) {
		return Axis{}, invalid("AxisOf", "axis", "%d is not an axis of an array of %d dimensions", axis, len(extents))
	}
	if axis < 0 {
		axis += len(extents)
	}
	for _, n := range extents {
		if n < 0 {
			return Axis{}, invalid("AxisOf", "extents", "%v has a negative one", extents)
		}
	}
	outer, before := product(extents[:axis]...)
	inner, after := product(extents[axis+1:]...)
	if !before || !after {
		return Axis{}, invalid("AxisOf", "extents", "the product of those before or after axis %d of %v is more than an int", axis, extents)
	}
	return Axis{outer, extents[axis], inner}, nil
}

// product multiplies numbers that are not negative, and reports whether the result is an int.
func product(factors ...int) (int, bool) {
	if slices.Contains(factors, 0) {
		return 0, true
	}
	p := uint64(1)
	for _, n := range factors {
		over, next := bits.Mul64(p, uint64(n))
		if over != 0 || next > math.MaxInt {
			return 0, false
		}
		p = next
	}
	return int(p), true
}

// String returns the extents, with that of the axis in brackets: "4x[3]x1000".
func (a Axis) String() string { return fmt.Sprintf("%dx[%d]x%d", a.Outer, a.N, a.Inner) }

// size returns the number of elements of the array.
func (a Axis) size() int { return a.Outer * a.N * a.Inner }

// check returns an error if the axis does not describe n elements.
func (a Axis) check(name, arg string, n int) error {
	if a.Outer < 0 || a.N < 0 || a.Inner < 0 {
		return invalid(name, "axis", "negative extent in %v", a)
	}
	if _, ok := product(a.Outer, a.Inner); !ok {
		return invalid(name, "axis", "%v has more lines than an int", a)
	}
	if all, ok := product(a.Outer, a.N, a.Inner); !ok {
		return invalid(name, arg, "%d elements, but %v are more than an int", n, a)
	} else if all != n {
		return invalid(name, arg, "%d elements, but %v are %d", n, a, all)
	}
	return nil
}

// ReduceAxis combines the elements of src along an axis with an operator that is associative and
// commutative. dst has axis.Outer*axis.Inner elements. Each run has the same result.
func ReduceAxis[T any](s *gpu.Stream, op Combine[T], axis Axis, dst, src *gpu.Buffer[T], work ...*gpu.Workspace) error {
	const name = "ReduceAxis"
	if err := op.check(name); err != nil {
		return err
	}
	if err := checkLines(name, axis, dst, src); err != nil {
		return err
	}
	results := axis.lines()
	if results > 0 && axis.N == 0 {
		return invalid(name, "axis", "it has no elements, and %s has no result for none", name)
	}
	tmp, err := gpu.OpenScratch(s, work)
	if err != nil {
		return failed(name, err)
	}
	defer tmp.Close()
	reduce := op.reduceColumns
	if axis.Inner == 1 {
		reduce = op.reduceRows
	}
	// Each stage combines the results of the one before.
	var stages [4]struct {
		axis        Axis
		parts, part int
		to          *gpu.Buffer[T]
	}
	count := 0
	for a := axis; ; a.N = stages[count-1].parts {
		stage := &stages[count]
		stage.axis, stage.to = a, dst
		stage.parts, stage.part = a.stage(count)
		count++
		if stage.parts == 1 {
			break
		}
		stage.to = gpu.Take[T](tmp, results*stage.parts)
	}
	if run, err := tmp.Ready(); !run || results == 0 {
		return failed(name, err)
	}
	from := src
	for i := range count {
		stage := &stages[i]
		if err := reduce(s, stage.axis, stage.parts, stage.part, from, stage.to); err != nil {
			return failed(name, err)
		}
		from = stage.to
	}
	return nil
}

// stage returns how a stage of a reduction divides the lines: rows are divided once, columns again
// while there are many parts.
func (a Axis) stage(number int) (parts, part int) {
	switch {
	case a.Inner == 1 && (number > 0 || blockPerRow(a)):
		return 1, a.N
	case a.Inner == 1:
		return a.divide()
	}
	threads, many := a.lines(), manyThreads
	if a.Inner%template.Vector == 0 {
		threads, many = threads/template.Vector, manyThreads/2
	}
	return a.divideInto(many/max(threads, 1), 4096)
}

// blockPerRow reports whether there are enough long rows to give each one a block.
func blockPerRow(axis Axis) bool {
	const rows, vectors = 1 << 10, 2 * template.Threads
	return axis.Inner == 1 && axis.Outer >= rows && axis.N >= vectors*template.Vector && axis.N%template.Vector == 0
}

// groupOf returns how many threads work together on n elements.
func groupOf(s *gpu.Stream, n int) int {
	group := 1
	for s.Device().Backend() != gpu.CPU && group < 32 && 4*group < n {
		group *= 2
	}
	return group
}

func (c *Combine[T]) reduceRows(s *gpu.Stream, axis Axis, parts, part int, src, dst *gpu.Buffer[T]) error {
	if parts == 1 && blockPerRow(axis) {
		return reduceParts(s, c.Kernels.ReduceParts, c.Kernels.ReducePartsInTurn, c.Bind, axis.Outer, axis.N, src, dst)
	}
	group := groupOf(s, part)
	blocks := (axis.Outer*parts*group + template.Threads - 1) / template.Threads
	l, err := begin(s, c.Kernels.ReduceRows, c.Bind, gpu.Blocks(gpu.Dim3{X: blocks}, block))
	if err != nil {
		return err
	}
	gpu.Arg(l, axis.N)
	gpu.Arg(l, parts)
	gpu.Arg(l, part)
	gpu.Arg(l, bits.Len(uint(group))-1)
	gpu.SliceArg(l, src)
	gpu.SliceArg(l, dst)
	return l.End()
}

func (c *Combine[T]) reduceColumns(s *gpu.Stream, axis Axis, parts, part int, src, dst *gpu.Buffer[T]) error {
	threads := axis.Inner
	if threads%template.Vector == 0 {
		threads /= template.Vector
	}
	x := min(threads, 128)
	blocks := gpu.Dim3{X: (threads + x - 1) / x, Y: parts, Z: min(axis.Outer, 1<<15)}
	l, err := begin(s, c.Kernels.ReduceColumns, c.Bind, gpu.Blocks(blocks, gpu.Dim3{X: x}))
	if err != nil {
		return err
	}
	gpu.Arg(l, axis.N)
	gpu.Arg(l, axis.Inner)
	gpu.Arg(l, part)
	gpu.SliceArg(l, src)
	gpu.SliceArg(l, dst)
	return l.End()
}

// ReduceSegments combines the elements of each segment of src with an operator that is
// associative and commutative. Segment i has the elements ends[i] to ends[i+1]-1, so ends has one
// element more than dst; its elements do not decrease, and are at most src.Len(). The result of an
// empty segment is empty.
func ReduceSegments[T any](s *gpu.Stream, op Combine[T], empty T, dst, src *gpu.Buffer[T], ends *gpu.Buffer[int32]) error {
	const name = "ReduceSegments"
	if err := op.check(name); err != nil {
		return err
	}
	if err := checkSegments(name, dst, src, ends); err != nil {
		return err
	}
	n := dst.Len()
	if n == 0 {
		return nil
	}
	group := groupOf(s, src.Len()/n)
	l, err := begin(s, op.Kernels.ReduceSegments, op.Bind, gpu.Blocks(gpu.Dim3{X: (n*group + template.Threads - 1) / template.Threads}, block))
	if err != nil {
		return failed(name, err)
	}
	gpu.Arg(l, group)
	gpu.Arg(l, empty)
	gpu.SliceArg(l, ends)
	gpu.SliceArg(l, src)
	gpu.SliceArg(l, dst)
	return failed(name, l.End())
}

// ScanAxis is [Scan] along an axis: lines along it are scanned each by itself.
func ScanAxis[T any](s *gpu.Stream, op Combine[T], axis Axis, dst, src *gpu.Buffer[T]) error {
	var none T
	return op.scanAxis("ScanAxis", s, axis, false, false, none, dst, src)
}

// ScanExclusiveAxis is [ScanExclusive] along an axis: lines along it are scanned each by itself,
// and each begins with first.
func ScanExclusiveAxis[T any](s *gpu.Stream, op Combine[T], axis Axis, first T, dst, src *gpu.Buffer[T]) error {
	return op.scanAxis("ScanExclusiveAxis", s, axis, true, true, first, dst, src)
}

func (c *Combine[T]) scanAxis(name string, s *gpu.Stream, axis Axis, exclusive, start bool, first T, dst, src *gpu.Buffer[T]) error {
	if err := c.check(name); err != nil {
		return err
	}
	if err := present(name, "src", src); err != nil {
		return err
	}
	if err := axis.check(name, "src", src.Len()); err != nil {
		return err
	}
	if err := length(name, "dst", dst, src.Len()); err != nil || src.Len() == 0 {
		return err
	}
	if err := sameOrApart(name, dst, src); err != nil {
		return err
	}
	lines := axis.Outer * axis.Inner
	rows := s.Device().Backend() != gpu.CPU && axis.Inner == 1
	k, threads, count := c.Kernels.ScanLines, min(lines, 128), lines
	if rows {
		k, threads, count = c.Kernels.ScanRows, template.Threads, lines*32
	}
	l, err := begin(s, k, c.Bind, gpu.Blocks(gpu.Dim3{X: (count + threads - 1) / threads}, gpu.Dim3{X: threads}))
	if err != nil {
		return failed(name, err)
	}
	gpu.Arg(l, exclusive)
	gpu.Arg(l, start)
	gpu.Arg(l, first)
	gpu.Arg(l, axis.N)
	if !rows {
		gpu.Arg(l, axis.Inner)
	}
	gpu.SliceArg(l, src)
	gpu.SliceArg(l, dst)
	return failed(name, l.End())
}
