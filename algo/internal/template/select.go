package template

import "quern.dev/kernel"

func addCounts(a, b uint32) uint32 { return a + b }

// selectTile finds the elements of a tile for which keep returns true. It calls write for each of
// them, and drop for the others, with the element's index and the number of elements before it
// that are kept. The last tile writes their number to count[0].
//
//quern:unchecked
func selectTile[T any](t kernel.Thread, keep func(i int, x T) bool, in []T, count []int, status []uint64, write, drop func(i, kept int, x T)) {
	tile := nextTile(t, status)
	v := loadTile(t, tile, in)
	base := tile*Tile + Vector*t.ThreadIdx.X
	var kept [rows][Vector]bool
	var sum [rows]uint32
	for r := range rows {
		for k := range Vector {
			if i := base + r*Threads*Vector + k; i < len(in) && keep(i, v[r][k]) {
				kept[r][k] = true
				sum[r]++
			}
		}
	}
	before := prefixes(t, addCounts, tile, true, 0, status, sum)
	for r := range rows {
		n := int(before[r])
		for k := range Vector {
			i := base + r*Threads*Vector + k
			if kept[r][k] {
				write(i, n, v[r][k])
				n++
			} else if i < len(in) {
				drop(i, n, v[r][k])
			}
		}
	}
	if tile == t.GridDim.X-1 && t.ThreadIdx.X == Threads-1 {
		count[0] = int(before[rows-1] + sum[rows-1])
	}
}

// KeepTiles copies the elements for which keep returns true to kept, in their order, and if
// rejects is set, the others to rejected. The grid has one block per tile.
//
//quern:template Predicate block=256 only=gpu
//quern:unchecked
func KeepTiles[T any](t kernel.Thread, keep func(x T) bool, rejects bool, in, kept, rejected []T, count []int, status []uint64) {
	selectTile(t, func(_ int, x T) bool { return keep(x) }, in, count, status,
		func(_, n int, x T) { kept[n] = x },
		func(i, n int, x T) {
			if rejects {
				rejected[i-n] = x
			}
		})
}

// IndexTiles writes the indices of the elements for which keep returns true, in ascending order.
//
//quern:template Predicate block=256 only=gpu
//quern:unchecked
func IndexTiles[T any](t kernel.Thread, keep func(x T) bool, in []T, index []uint32, count []int, status []uint64) {
	selectTile(t, func(_ int, x T) bool { return keep(x) }, in, count, status,
		func(i, n int, _ T) { index[n] = uint32(i) },
		func(_, _ int, _ T) {})
}

// KeepFlagged is KeepTiles for the elements whose flag is not zero. It is for kernels.
//
//quern:unchecked
func KeepFlagged[T any](t kernel.Thread, flags []uint8, in, kept []T, count []int, status []uint64) {
	selectTile(t, func(i int, _ T) bool { return flags[i] != 0 }, in, count, status,
		func(_, n int, x T) { kept[n] = x },
		func(_, _ int, _ T) {})
}

// CountMatches adds the number of elements for which match returns true to count[0].
//
//quern:template Predicate block=256
//quern:unchecked
func CountMatches[T any](t kernel.Thread, match func(x T) bool, in []T, count []int) {
	n := uint32(0)
	for i := t.Global(); i < len(in); i += t.Stride() {
		if match(in[i]) {
			n++
		}
	}
	n = kernel.WarpReduceAdd(t, n)
	if t.Lane() == 0 && n > 0 {
		kernel.AtomicAdd(&count[0], int(n))
	}
}

// CountParts writes to before[p+1] how many elements of part p match. A thread has a part.
//
//quern:template Predicate only=cpu
func CountParts[T any](t kernel.Thread, match func(x T) bool, part int, in []T, before []uint32) {
	p := t.Global()
	if p+1 >= len(before) {
		return
	}
	n := uint32(0)
	for _, x := range in[min(p*part, len(in)):min((p+1)*part, len(in))] {
		if match(x) {
			n++
		}
	}
	before[p+1] = n
}

// KeepParts is KeepTiles for one thread per part, given how many elements before each part are
// kept.
//
//quern:template Predicate only=cpu
func KeepParts[T any](t kernel.Thread, keep func(x T) bool, rejects bool, part int, before []uint32, in, kept, rejected []T) {
	p := t.Global()
	if p+1 >= len(before) {
		return
	}
	first := min(p*part, len(in))
	n := int(before[p])
	dropped := first - n
	for _, x := range in[first:min((p+1)*part, len(in))] {
		if keep(x) {
			kept[n] = x
			n++
		} else if rejects {
			rejected[dropped] = x
			dropped++
		}
	}
}

// IndexParts is IndexTiles for one thread per part.
//
//quern:template Predicate only=cpu
func IndexParts[T any](t kernel.Thread, keep func(x T) bool, part int, before []uint32, in []T, index []uint32) {
	p := t.Global()
	if p+1 >= len(before) {
		return
	}
	first := min(p*part, len(in))
	n := int(before[p])
	for i, x := range in[first:min((p+1)*part, len(in))] {
		if keep(x) {
			index[n] = uint32(first + i)
			n++
		}
	}
}
