package algo

import (
	"math"
	"unsafe"

	"quern.dev/algo/internal/template"
	"quern.dev/gpu"
)

// A Less is an order of values: a function that reports whether a comes before b. It must be a
// strict weak order: nothing comes before itself, and both "before" and "neither before the
// other" are transitive. Values of which neither comes before the other are equal in the order.
//
//	// nearer orders points by their distance from a center.
//	//
//	//quern:op algo.Less
//	func nearer(a, b, center kernel.Vec2[float32]) bool { ... }
//
// quern gen declares the function OpNearer, which takes the center and returns a
// Less[kernel.Vec2[float32]]. Only quern gen sets the fields.
type Less[T any] struct {
	Kernels *LessKernels
	Bind    func(*gpu.Launch) // passes the bound parameters

	least   func(*gpu.Launch) // is Bind for the search of the least element, unless nil
	numbers direction         // of numbers in their own order
}

// direction says whether an order is that of numbers.
type direction uint8

const (
	otherOrder direction = iota
	upward
	downward
)

// LessKernels are the kernels of a [Less].
type LessKernels struct {
	SortTiles, SortPairTiles, MergePaths, MergeTiles, MergePairTiles *gpu.Kernel
	SortParts, SortPairParts, MergeParts, MergePairParts             *gpu.Kernel
	SetPaths, SetTiles, SetParts                                     *gpu.Kernel
	Bounds, Unsorted, Extremes, ExtremeParts, ExtremeLines           *gpu.Kernel
}

// check returns an error if the order was not made by quern gen for type T.
func (o *Less[T]) check(op string) error {
	if o.Kernels == nil {
		return notCompiled[T](op)
	}
	return nil
}

// Ascending returns the order of numbers from low to high. Floating-point -0 and 0 are equal.
// All NaNs are equal and come after all numbers.
func Ascending[T Number]() Less[T] {
	var zero T
	switch any(zero).(type) {
	case uint32, uint64:
		return Less[T]{Kernels: orderKernels[T](), Bind: bindUnsigned, numbers: upward}
	case float32, float64:
		return Less[T]{Kernels: orderKernels[T](), Bind: bindAscending, least: bindAscendingNaN, numbers: upward}
	default:
		return Less[T]{Kernels: orderKernels[T](), Bind: bindAscending, numbers: upward}
	}
}

// Descending returns the order of numbers from high to low. Floating-point -0 and 0 are equal.
// All NaNs are equal and come after all numbers.
func Descending[T Number]() Less[T] {
	var zero T
	switch any(zero).(type) {
	case uint32, uint64:
		return Less[T]{Kernels: orderKernels[T](), Bind: bindUnsignedDescending, numbers: downward}
	case float32, float64:
		return Less[T]{Kernels: orderKernels[T](), Bind: bindDescending, least: bindDescendingNaN, numbers: downward}
	default:
		return Less[T]{Kernels: orderKernels[T](), Bind: bindDescending, numbers: downward}
	}
}

// Kernels of the operators of [Ascending] and [Descending]. The operators themselves would be
// allocated by each call, because of their parameter.
var (
	orderOfInt32s, orderOfInt64s     = OpOrderedIntegers[int32](0).Kernels, OpOrderedIntegers[int64](0).Kernels
	orderOfFloat32s, orderOfFloat64s = OpOrderedFloats[float32](0).Kernels, OpOrderedFloats[float64](0).Kernels
)

func orderKernels[T Number]() *LessKernels {
	return ofSigned[T](orderOfInt32s, orderOfInt64s, orderOfFloat32s, orderOfFloat64s)
}

func bindAscending(l *gpu.Launch)          { gpu.Arg[uint32](l, 0) }
func bindDescending(l *gpu.Launch)         { gpu.Arg[uint32](l, descending) }
func bindUnsigned(l *gpu.Launch)           { gpu.Arg[uint32](l, unsigned) }
func bindUnsignedDescending(l *gpu.Launch) { gpu.Arg[uint32](l, unsigned|descending) }
func bindAscendingNaN(l *gpu.Launch)       { gpu.Arg[uint32](l, nanFirst) }
func bindDescendingNaN(l *gpu.Launch)      { gpu.Arg[uint32](l, descending|nanFirst) }

// Bits of the parameter how of the operators of [Ascending] and [Descending].
const (
	descending = 1 << iota
	unsigned   // the bits of integers are those of unsigned ones
	nanFirst
)

// orderedIntegers serves unsigned integers of the same size, too.
//
//quern:op Less instantiate=int32,int64
func orderedIntegers[T int32 | int64](a, b T, how uint32) bool {
	if how&unsigned != 0 {
		sign := ^T(0) << (8*int(unsafe.Sizeof(a)) - 1)
		a, b = a^sign, b^sign
	}
	if how&descending != 0 {
		a, b = b, a
	}
	return a < b
}

//quern:op Less instantiate=float32,float64
func orderedFloats[T float32 | float64](a, b T, how uint32) bool {
	x, y, number := a, b, a
	if how&descending != 0 {
		x, y = b, a
	}
	if how&nanFirst != 0 {
		number = b
	}
	return number == number && !(y <= x) // x < y, or one of them is NaN, but not number
}

// maxSorted is how many elements can be sorted with values: their positions have 32 bits.
const maxSorted = math.MaxUint32

// SortBy sorts keys in place, in an order given by a function, and keeps the order of equal
// elements. It merges sorted lists, which takes about n log n comparisons; for numbers, [Sort] is
// faster. It needs temporary memory for a copy of the keys.
func SortBy[T any](s *gpu.Stream, order Less[T], keys *gpu.Buffer[T], work ...*gpu.Workspace) error {
	const name = "SortBy"
	if err := order.check(name); err != nil {
		return err
	}
	if err := present(name, "keys", keys); err != nil {
		return err
	}
	tmp, err := gpu.OpenScratch(s, work)
	if err != nil {
		return failed(name, err)
	}
	defer tmp.Close()
	m := order.sorter(s, tmp, keys, false)
	if run, err := tmp.Ready(); !run {
		return failed(name, err)
	}
	return failed(name, m.sort())
}

// SortPairsBy sorts keys like [SortBy], and moves values with their keys: values[i] belongs to
// keys[i]. It needs temporary memory for a copy of the keys and values, and 8 bytes per key.
func SortPairsBy[K, V any](s *gpu.Stream, order Less[K], keys *gpu.Buffer[K], values *gpu.Buffer[V], work ...*gpu.Workspace) error {
	const name = "SortPairsBy"
	if err := order.check(name); err != nil {
		return err
	}
	if err := present(name, "keys", keys); err != nil {
		return err
	}
	n := keys.Len()
	if err := length(name, "values", values, n); err != nil {
		return err
	}
	if n > maxSorted {
		return invalid(name, "keys", "%d elements; at most %d can be sorted with values", n, maxSorted)
	}
	tmp, err := gpu.OpenScratch(s, work)
	if err != nil {
		return failed(name, err)
	}
	defer tmp.Close()
	m := order.sorter(s, tmp, keys, true)
	copied := gpu.Take[V](tmp, n)
	if run, err := tmp.Ready(); !run || n == 0 {
		return failed(name, err)
	}
	err = m.sort()
	if err == nil {
		err = gpu.Copy(s, copied, values)
	}
	if err == nil {
		err = Gather(s, values, copied, m.index)
	}
	return failed(name, err)
}

// merger sorts by merging.
type merger[T any] struct {
	Less[T]
	s            *gpu.Stream
	keys, other  *gpu.Buffer[T]
	index, moved *gpu.Buffer[uint32] // where the keys were, unless nil
	paths        *gpu.Buffer[int]    // of tiles; nil on the CPU

	part   int // elements of the lists that are merged first
	passes int
}

// sorter returns a merger of keys.
func (o *Less[T]) sorter(s *gpu.Stream, tmp *gpu.Scratch, keys *gpu.Buffer[T], pairs bool) merger[T] {
	n := keys.Len()
	m := merger[T]{Less: *o, s: s, keys: keys, part: mergeTile[T]()}
	if s.Device().Backend() == gpu.CPU {
		m.part = hostPart
	} else {
		m.paths = gpu.Take[int](tmp, (n+m.part-1)/m.part)
	}
	for width := m.part; width < n; width *= 2 {
		m.passes++
	}
	m.other = gpu.Take[T](tmp, n)
	if pairs {
		m.index, m.moved = gpu.Take[uint32](tmp, n), gpu.Take[uint32](tmp, n)
	}
	return m
}

// hostPart is how many elements a kernel for the CPU sorts before lists are merged, and how many
// it merges.
const hostPart = 1 << 13

// mergeTile returns the number of elements of a tile of the merging kernels.
func mergeTile[T any]() int {
	return template.Threads * template.SortItems(sizeOf[T]())
}

// tiles returns the grid of a kernel that has one block per tile, and shared memory for a tile.
func tiles[T any](n int) gpu.Grid {
	tile := mergeTile[T]()
	return gpu.Blocks(gpu.Dim3{X: (n + tile - 1) / tile}, block).Shared(tile * max(sizeOf[T](), 4))
}

// hostGrid returns the grid of a kernel for the CPU that has one thread per part.
func hostGrid(n, part int) gpu.Grid {
	return gpu.Blocks(gpu.Dim3{X: (n + part - 1) / part}, oneThread)
}

// sort adds the launches to the stream.
func (m *merger[T]) sort() error {
	n := m.keys.Len()
	if n == 0 {
		return nil
	}
	from, to := m.keys, m.other
	index, moved := m.index, m.moved
	if m.passes%2 == 1 {
		from, to = to, from
		index, moved = moved, index
	}
	if err := m.sortParts(from, index); err != nil {
		return err
	}
	width := m.part
	for range m.passes {
		if err := m.merge(width, from, from, to, index, moved); err != nil {
			return err
		}
		from, to, index, moved, width = to, from, moved, index, 2*width
	}
	return nil
}

// sortParts sorts the parts of the keys. The result is in to.
func (m *merger[T]) sortParts(to *gpu.Buffer[T], index *gpu.Buffer[uint32]) error {
	n := m.keys.Len()
	if m.paths == nil {
		k := m.Kernels.SortParts
		if index != nil {
			k = m.Kernels.SortPairParts
		}
		l, err := begin(m.s, k, m.Bind, hostGrid(n, m.part))
		if err != nil {
			return err
		}
		gpu.Arg(l, m.part)
		gpu.Arg(l, to != m.keys)
		gpu.SliceArg(l, m.keys)
		gpu.SliceArg(l, m.other)
		if index != nil {
			gpu.SliceArg(l, m.index)
			gpu.SliceArg(l, m.moved)
		}
		return l.End()
	}
	k := m.Kernels.SortTiles
	if index != nil {
		k = m.Kernels.SortPairTiles
	}
	l, err := begin(m.s, k, m.Bind, tiles[T](n))
	if err != nil {
		return err
	}
	gpu.SliceArg(l, m.keys)
	gpu.SliceArg(l, to)
	if index != nil {
		gpu.SliceArg(l, index)
	}
	return l.End()
}

// merge merges lists of width elements of a, or, if width is 0, a and b. Unless moved is nil, it
// moves the elements of index to it, or, if that is empty, writes where the elements were.
func (m *merger[T]) merge(width int, a, b, to *gpu.Buffer[T], index, moved *gpu.Buffer[uint32]) error {
	n := to.Len()
	k, grid := m.Kernels.MergeTiles, tiles[T](n)
	if moved != nil {
		k = m.Kernels.MergePairTiles
	}
	if m.paths == nil {
		k, grid = m.Kernels.MergeParts, hostGrid(n, m.part)
		if moved != nil {
			k = m.Kernels.MergePairParts
		}
	} else {
		l, err := begin(m.s, m.Kernels.MergePaths, m.Bind, gpu.Linear(m.paths.Len()))
		if err != nil {
			return err
		}
		gpu.Arg(l, m.part)
		gpu.Arg(l, width)
		gpu.SliceArg(l, a)
		gpu.SliceArg(l, b)
		gpu.SliceArg(l, m.paths)
		if err := l.End(); err != nil {
			return err
		}
	}
	l, err := begin(m.s, k, m.Bind, grid)
	if err != nil {
		return err
	}
	if m.paths == nil {
		gpu.Arg(l, m.part)
	}
	gpu.Arg(l, width)
	if m.paths != nil {
		gpu.SliceArg(l, m.paths)
	}
	gpu.SliceArg(l, a)
	gpu.SliceArg(l, b)
	gpu.SliceArg(l, to)
	if moved != nil {
		gpu.SliceArg(l, index)
		gpu.SliceArg(l, moved)
	}
	return l.End()
}
