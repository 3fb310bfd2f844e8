package template

import (
	"unsafe"

	"quern.dev/kernel"
)

// SortItems returns how many elements of size bytes a thread of the merging kernels has. The
// number is odd, so that neighbouring threads use different banks of shared memory.
func SortItems(size int) int { return min(mostItems, max(minItemBytes/max(size, 1), 1)) | 1 }

const (
	mostItems    = 11
	minItemBytes = 64
)

// itemsOf is [SortItems] for a type. It is constant in a kernel.
func itemsOf[T any]() int {
	var v T
	return min(mostItems, max(minItemBytes/max(int(unsafe.Sizeof(v)), 1), 1)) | 1
}

// mergePath returns how many of the first d elements of the merge of a and b come from a.
// Elements of a come before equal ones of b. Both are sorted.
//
//quern:unchecked
func mergePath[T any](less func(a, b T) bool, a, b []T, d int) int {
	lo, hi := max(d-len(b), 0), min(d, len(a))
	for lo < hi {
		m := int(uint(lo+hi) / 2)
		if less(b[d-1-m], a[m]) {
			hi = m
		} else {
			lo = m + 1
		}
	}
	return lo
}

// lowerBound returns the position of the first element of sorted that is not less than v.
//
//quern:unchecked
func lowerBound[T any](less func(a, b T) bool, sorted []T, v T) int {
	lo, hi := 0, len(sorted)
	for lo < hi {
		m := int(uint(lo+hi) / 2)
		if less(sorted[m], v) {
			lo = m + 1
		} else {
			hi = m
		}
	}
	return lo
}

// upperBound returns the position of the first element of sorted that v is less than.
//
//quern:unchecked
func upperBound[T any](less func(a, b T) bool, sorted []T, v T) int {
	lo, hi := 0, len(sorted)
	for lo < hi {
		m := int(uint(lo+hi) / 2)
		if less(v, sorted[m]) {
			hi = m
		} else {
			lo = m + 1
		}
	}
	return lo
}

// run returns where the merge that has output position at begins, where its second list begins,
// and where it ends. Lists of width elements are merged in pairs. If width is 0, there is one
// merge, of two separate lists with n elements altogether.
func run(at, width, n int) (first, second, last int) {
	if width == 0 {
		return 0, 0, n
	}
	first = at - at%(2*width)
	return first, min(first+width, n), min(first+2*width, n)
}

// lists returns the two lists of the merge that has output position at, and where the merge
// begins. See [run] for width.
//
//quern:unchecked
func lists[T any](at, width int, a, b []T) (x, y []T, first int) {
	if width == 0 {
		return a, b, 0
	}
	first, second, last := run(at, width, len(a))
	return a[first:second], a[second:last], first
}

// MergePaths writes to paths[i] how many elements of its merge's first list precede tile i of
// the output. Tiles have tile elements. width is 0, or a multiple of tile; see [run].
//
//quern:template Less only=gpu
//quern:unchecked
func MergePaths[T any](t kernel.Thread, less func(a, b T) bool, tile, width int, a, b []T, paths []int) {
	i := t.Global()
	if i >= len(paths) {
		return
	}
	x, y, first := lists(i*tile, width, a, b)
	paths[i] = mergePath(less, x, y, min(i*tile-first, len(x)+len(y)))
}

// SortTiles sorts each tile of in, and writes it to out, which may be in. The launch provides
// the shared memory for a tile of Threads*SortItems elements.
//
//quern:template Less block=256 only=gpu
//quern:unchecked
func SortTiles[T any](t kernel.Thread, less func(a, b T) bool, in, out []T) {
	sortTile(t, less, false, in, out, kernel.Dynamic[uint32](t))
}

// SortPairTiles is [SortTiles], and writes to index where the elements were.
//
//quern:template Less block=256 only=gpu
//quern:unchecked
func SortPairTiles[T any](t kernel.Thread, less func(a, b T) bool, in, out []T, index []uint32) {
	sortTile(t, less, true, in, out, index)
}

//quern:unchecked
func sortTile[T any](t kernel.Thread, less func(a, b T) bool, pairs bool, in, out []T, index []uint32) {
	items, i := itemsOf[T](), t.ThreadIdx.X
	base := t.BlockIdx.X * (Threads * items)
	count := min(len(in)-base, Threads*items)
	tile := kernel.Dynamic[T](t)
	for k := range items {
		if j := i + k*Threads; j < count {
			tile[j] = in[base+j]
		}
	}
	t.Sync()

	// A thread sorts its elements. Beyond the end it has copies of its largest one, which stay
	// behind.
	own := min(max(count-i*items, 0), items)
	var v [mostItems]T
	var at [mostItems]uint32
	if own > 0 {
		v[0] = tile[i*items]
		most := v[0]
		for k := range items {
			if k > 0 && k < own {
				v[k] = tile[i*items+k]
				if less(most, v[k]) {
					most = v[k]
				}
			}
			if k >= own {
				v[k] = most
			}
			at[k] = uint32(base + i*items + k)
		}
		// A network of odd-even transpositions keeps the order of equal elements.
		//quern:nounroll
		for round := 0; round < items; round += 2 {
			for first := range 2 {
				for k := first; k+1 < items; k += 2 {
					if less(v[k+1], v[k]) {
						v[k], v[k+1] = v[k+1], v[k]
						if pairs {
							at[k], at[k+1] = at[k+1], at[k]
						}
					}
				}
			}
		}
	}

	// Sorted lists of neighbouring threads are merged in pairs.
	//quern:nounroll
	for width := 1; width < Threads; width *= 2 {
		t.Sync()
		for k := range items {
			if k < own {
				tile[i*items+k] = v[k]
			}
		}
		t.Sync()
		first := i &^ (2*width - 1) * items
		second := min(first+width*items, count)
		last := min(first+2*width*items, count)
		var from [mostItems]uint32
		if own > 0 {
			v, from = mergeItems(less, items, i*items-first, tile[first:last], second-first)
		}
		if pairs {
			t.Sync()
			moved := kernel.Dynamic[uint32](t)
			for k := range items {
				if k < own {
					moved[i*items+k] = at[k]
				}
			}
			t.Sync()
			for k := range items {
				if k < own {
					at[k] = moved[first+int(from[k])]
				}
			}
		}
	}
	storeTile(t, items, own, count, v, tile, out[base:])
	if pairs {
		storeTile(t, items, own, count, at, kernel.Dynamic[uint32](t), index[base:])
	}
}

// storeTile writes the elements of the threads of a block, which have items elements each, to
// out. own is how many elements of this thread, and count how many of the block exist.
//
//quern:unchecked
func storeTile[T any](t kernel.Thread, items, own, count int, v [mostItems]T, tile, out []T) {
	i := t.ThreadIdx.X
	t.Sync()
	for k := range items {
		if k < own {
			tile[i*items+k] = v[k]
		}
	}
	t.Sync()
	for k := range items {
		if j := i + k*Threads; j < count {
			out[j] = tile[j]
		}
	}
}

// mergeItems returns the elements at positions d to d+items-1 of the merge of two lists, and
// where they were in tile. The lists are the parts of tile before and after second. Position d
// exists.
//
//quern:unchecked
func mergeItems[T any](less func(a, b T) bool, items, d int, tile []T, second int) (v [mostItems]T, from [mostItems]uint32) {
	a := mergePath(less, tile[:second], tile[second:], d)
	b := second + d - a
	end := len(tile)
	x, y := tile[min(a, end-1)], tile[min(b, end-1)]
	for k := range items {
		if b >= end || a < second && !less(y, x) {
			v[k], from[k] = x, uint32(a)
			a++
			x = tile[min(a, end-1)]
		} else {
			v[k], from[k] = y, uint32(b)
			b++
			y = tile[min(b, end-1)]
		}
	}
	return v, from
}

// MergeTiles merges sorted lists; see [run]. paths are the results of [MergePaths]. The launch
// provides the shared memory for a tile.
//
//quern:template Less block=256 only=gpu
//quern:unchecked
func MergeTiles[T any](t kernel.Thread, less func(a, b T) bool, width int, paths []int, a, b, out []T) {
	unused := kernel.Dynamic[uint32](t)
	mergeTile(t, less, false, width, paths, a, b, out, unused, unused)
}

// MergePairTiles is [MergeTiles], and moves the indices with the elements. Without indices, it
// writes where the elements were: those of b are behind those of a.
//
//quern:template Less block=256 only=gpu
//quern:unchecked
func MergePairTiles[T any](t kernel.Thread, less func(a, b T) bool, width int, paths []int, a, b, out []T, index, outIndex []uint32) {
	mergeTile(t, less, true, width, paths, a, b, out, index, outIndex)
}

//quern:unchecked
func mergeTile[T any](t kernel.Thread, less func(a, b T) bool, pairs bool, width int, paths []int, a, b, out []T, index, outIndex []uint32) {
	items, i := itemsOf[T](), t.ThreadIdx.X
	block := t.BlockIdx.X
	base := block * (Threads * items)
	count := min(len(out)-base, Threads*items)
	x, y, first := lists(base, width, a, b)
	x0, x1 := paths[block], len(x)
	if end := base + count - first; end < len(x)+len(y) {
		x1 = paths[block+1]
	}
	y0 := base - first - x0
	second := x1 - x0
	tile := kernel.Dynamic[T](t)
	for k := range items {
		j := i + k*Threads
		if j < second {
			tile[j] = x[x0+j]
		} else if j < count {
			tile[j] = y[y0+j-second]
		}
	}
	t.Sync()
	own := min(max(count-i*items, 0), items)
	var v [mostItems]T
	var from [mostItems]uint32
	if own > 0 {
		v, from = mergeItems(less, items, i*items, tile[:count], second)
	}
	storeTile(t, items, own, count, v, tile, out[base:])
	if pairs {
		t.Sync()
		moved := kernel.Dynamic[uint32](t)
		for k := range items {
			j := i + k*Threads
			at := first + x0 + j
			if j >= second {
				at = first + len(x) + y0 + j - second
			}
			if j < count {
				moved[j] = uint32(at)
				if len(index) > 0 {
					moved[j] = index[at]
				}
			}
		}
		t.Sync()
		for k := range items {
			if k < own {
				from[k] = moved[from[k]]
			}
		}
		storeTile(t, items, own, count, from, moved, outIndex[base:])
	}
}

// shortRun is how many elements the kernels for the CPU sort by insertion.
const shortRun = 16

// SortParts sorts the parts of a. A part has part elements, shortRun times a power of two. The
// result is in b if swapped is set, otherwise in a; the other one is overwritten, too.
//
//quern:template Less only=cpu
func SortParts[T any](t kernel.Thread, less func(a, b T) bool, part int, swapped bool, a, b []T) {
	nowhere := func(to, from int) {}
	sortPart(t, less, false, part, swapped, a, b, nowhere, nowhere, nowhere, nowhere)
}

// SortPairParts is [SortParts], and writes to index, or to other if swapped is set, where the
// elements were.
//
//quern:template Less only=cpu
func SortPairParts[T any](t kernel.Thread, less func(a, b T) bool, part int, swapped bool, a, b []T, index, other []uint32) {
	sortPart(t, less, true, part, swapped, a, b,
		func(to, from int) { index[to] = uint32(from) },
		func(to, from int) { other[to] = uint32(from) },
		func(to, from int) { other[to] = index[from] },
		func(to, from int) { index[to] = other[from] })
}

// sortPart is [SortParts]. If pairs is set, it calls placeA or placeB for each element of a run
// that it has sorted into a or b, and aToB or bToA for each element that it moves.
func sortPart[T any](t kernel.Thread, less func(a, b T) bool, pairs bool, part int, swapped bool, a, b []T, placeA, placeB, aToB, bToA func(to, from int)) {
	base := t.Global() * part
	if base >= len(a) {
		return
	}
	last := min(base+part, len(a))
	for width := shortRun; width < part; width *= 2 {
		swapped = !swapped
	}
	for first := base; first < last; first += shortRun {
		end := min(first+shortRun, last)
		if swapped {
			insertionSort(less, pairs, first, end, a, b, placeB)
		} else {
			insertionSort(less, pairs, first, end, a, a, placeA)
		}
	}
	for width := shortRun; width < part; width *= 2 {
		for first := base; first < last; first += 2 * width {
			second, end := min(first+width, last), min(first+2*width, last)
			if swapped {
				mergeRuns(less, first, second, second, end, first, end, b, b, a, bToA, bToA)
			} else {
				mergeRuns(less, first, second, second, end, first, end, a, a, b, aToB, aToB)
			}
		}
		swapped = !swapped
	}
}

// polled is how many elements a loop handles before the kernel checks whether it shall end.
const polled = 1 << 12

// insertionSort sorts up to shortRun elements, first to end-1 of a, into b, which may be a.
func insertionSort[T any](less func(a, b T) bool, pairs bool, first, end int, a, b []T, place func(to, from int)) {
	var from [shortRun]int32
	x, y := a[first:end], b[first:end]
	for i := range shortRun {
		if i >= len(x) {
			break
		}
		v := x[i]
		j := i
		for range shortRun - 1 {
			if j == 0 || !less(v, y[j-1]) {
				break
			}
			y[j] = y[j-1]
			if pairs {
				from[j] = from[j-1]
			}
			j--
		}
		y[j] = v
		if pairs {
			from[j] = int32(i)
		}
	}
	if pairs {
		for j := range x {
			place(first+j, first+int(from[j]))
		}
	}
}

// mergeRuns merges a[i:m] and b[j:n] to out[at:end], as far as that goes. It calls moveA or moveB
// for each element.
func mergeRuns[T any](less func(a, b T) bool, i, m, j, n, at, end int, a, b, out []T, moveA, moveB func(to, from int)) {
	// Neither list ends before steps elements are merged.
	for steps := min(m-i, n-j, end-at); steps > 0; steps = min(m-i, n-j, end-at) {
		for range min(steps, polled) {
			if x, y := a[i], b[j]; less(y, x) {
				out[at] = y
				moveB(at, j)
				j++
			} else {
				out[at] = x
				moveA(at, i)
				i++
			}
			at++
		}
	}
	for ; i < m && at < end; i++ {
		out[at] = a[i]
		moveA(at, i)
		at++
	}
	for ; j < n && at < end; j++ {
		out[at] = b[j]
		moveB(at, j)
		at++
	}
}

// MergeParts merges sorted lists; see [run]. A thread writes part elements of the output. If
// width is not 0, it is a multiple of part.
//
//quern:template Less only=cpu
func MergeParts[T any](t kernel.Thread, less func(a, b T) bool, part, width int, a, b, out []T) {
	nowhere := func(to, from int) {}
	mergePart(t, less, part, width, a, b, out, nowhere, nowhere, nowhere)
}

// MergePairParts is [MergeParts], and moves the indices with the elements. If width is 0, there are
// no indices; it writes where the elements were: those of b are behind those of a.
//
//quern:template Less only=cpu
func MergePairParts[T any](t kernel.Thread, less func(a, b T) bool, part, width int, a, b, out []T, index, outIndex []uint32) {
	mergePart(t, less, part, width, a, b, out,
		func(to, from int) { outIndex[to] = uint32(from) },
		func(to, from int) { outIndex[to] = uint32(len(a) + from) },
		func(to, from int) { outIndex[to] = index[from] })
}

// mergePart is [MergeParts]. It calls placeA or placeB for each element of two separate lists, and
// move for each element of lists of width elements.
func mergePart[T any](t kernel.Thread, less func(a, b T) bool, part, width int, a, b, out []T, placeA, placeB, move func(to, from int)) {
	at := t.Global() * part
	if at >= len(out) {
		return
	}
	end := min(at+part, len(out))
	if width == 0 {
		i := mergePath(less, a, b, at)
		mergeRuns(less, i, len(a), at-i, len(b), at, end, a, b, out, placeA, placeB)
		return
	}
	first, second, last := run(at, width, len(a))
	i := mergePath(less, a[first:second], a[second:last], at-first)
	mergeRuns(less, first+i, second, second+at-first-i, last, at, end, a, a, out, move, move)
}

// Bounds writes to at[i] where values[i] belongs in sorted: before elements that are equal, or
// after them if upper is set.
//
//quern:template Less
//quern:unchecked
func Bounds[T any](t kernel.Thread, less func(a, b T) bool, upper bool, sorted, values []T, at []int) {
	i := t.Global()
	if i >= len(at) {
		return
	}
	if upper {
		at[i] = upperBound(less, sorted, values[i])
	} else {
		at[i] = lowerBound(less, sorted, values[i])
	}
}

// Unsorted writes 0 to sorted[0] if an element is less than the one before.
//
//quern:template Less
//quern:unchecked
func Unsorted[T any](t kernel.Thread, less func(a, b T) bool, x []T, sorted []uint32) {
	if i := t.Global() + 1; i < len(x) && less(x[i], x[i-1]) {
		kernel.StoreRelaxed(&sorted[0], 0)
	}
}
