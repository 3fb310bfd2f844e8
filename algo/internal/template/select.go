package template

import (
	"math/bits"
	"unsafe"

	"quern.dev/kernel"
)

func addCounts(a, b uint32) uint32 { return a + b }

// mostStaged is the largest element, in bytes, that is collected in shared memory, so that
// neighbouring threads write neighbouring memory.
const mostStaged = 8

// StageBytes returns how much shared memory the launches of the kernels of this file need, which
// write elements of size bytes.
func StageBytes(size int) int {
	if size > mostStaged {
		return 0
	}
	return Tile * size
}

// UniqueBytes is [StageBytes] for [UniqueTiles].
func UniqueBytes(size int) int {
	if size > mostStaged {
		return 0
	}
	return ScanTile(size) * size
}

// staged reports whether elements are collected in shared memory. It is constant in a kernel.
func staged[T any]() bool {
	var v T
	return int(unsafe.Sizeof(v)) <= mostStaged
}

// selectTile finds the elements of a tile for which keep returns true. It writes the values of
// these to kept and, if rejects is set, those of the others to rejected. The last tile writes the
// number of selected elements to count[0].
//
//quern:unchecked
func selectTile[T, U any](t kernel.Thread, keep func(i int, x T) bool, value func(i int, x T) U, rejects bool, in []T, kept, rejected []U, count []int, status []uint64) {
	ends := kernel.Shared[[2]uint32](t) // how many elements are selected before the tile, and up to it
	tile := nextTile(t, status)
	v := loadTile(t, tile, rows, in)
	base := tile*Tile + Vector*t.ThreadIdx.X
	var mask [rows]uint32
	var sum [wideRows]uint32
	for r := range rows {
		for k := range Vector {
			if i := base + r*Threads*Vector + k; i < len(in) && keep(i, v[r][k]) {
				mask[r] |= 1 << k
			}
		}
		sum[r] = uint32(bits.OnesCount32(mask[r]))
	}
	before := prefixes(t, addCounts, tile, true, 0, status, rows, sum)
	if t.ThreadIdx.X == 0 {
		ends[0] = before[0]
	}
	if t.ThreadIdx.X == Threads-1 {
		ends[1] = before[rows-1] + sum[rows-1]
		if tile == t.GridDim.X-1 {
			count[0] = int(ends[1])
		}
	}
	if !staged[U]() {
		for r := range rows {
			n := int(before[r])
			for k := range Vector {
				i := base + r*Threads*Vector + k
				if mask[r]>>k&1 != 0 {
					kept[n] = value(i, v[r][k])
					n++
				} else if rejects && i < len(in) {
					rejected[i-n] = value(i, v[r][k])
				}
			}
		}
		return
	}
	t.Sync()
	first, all := ends[0], ends[1]-ends[0]
	stage := kernel.Dynamic[U](t)
	for r := range rows {
		n := before[r] - first
		for k := range Vector {
			own := uint32(Vector*(t.ThreadIdx.X+r*Threads) + k)
			if mask[r]>>k&1 != 0 {
				stage[n] = value(base+r*Threads*Vector+k, v[r][k])
				n++
			} else if rejects {
				stage[all+own-n] = value(base+r*Threads*Vector+k, v[r][k])
			}
		}
	}
	t.Sync()
	to := kept[first:]
	for j := uint32(t.ThreadIdx.X); j < all; j += Threads {
		to[j] = stage[j]
	}
	if rejects {
		others := uint32(min(len(in)-tile*Tile, Tile)) - all
		from, to := stage[all:], rejected[tile*Tile-int(first):]
		for j := uint32(t.ThreadIdx.X); j < others; j += Threads {
			to[j] = from[j]
		}
	}
}

func elementOf[T any](_ int, x T) T { return x }

// KeepTiles copies the elements for which keep returns true to kept, in their order, and if
// rejects is set, the others to rejected. The grid has one block per tile.
//
//quern:template Predicate block=256 only=gpu
//quern:unchecked
func KeepTiles[T any](t kernel.Thread, keep func(x T) bool, rejects bool, in, kept, rejected []T, count []int, status []uint64) {
	selectTile(t, func(_ int, x T) bool { return keep(x) }, elementOf[T], rejects, in, kept, rejected, count, status)
}

// IndexTiles writes the indices of the elements for which keep returns true, in ascending order.
//
//quern:template Predicate block=256 only=gpu
//quern:unchecked
func IndexTiles[T any](t kernel.Thread, keep func(x T) bool, in []T, index []uint32, count []int, status []uint64) {
	selectTile(t, func(_ int, x T) bool { return keep(x) }, func(i int, _ T) uint32 { return uint32(i) }, false, in, index, index, count, status)
}

// KeepFlagged is KeepTiles for the elements whose flag is not zero. It is for kernels.
//
//quern:unchecked
func KeepFlagged[T any](t kernel.Thread, flags []uint8, in, kept []T, count []int, status []uint64) {
	selectTile(t, func(i int, _ T) bool { return flags[i] != 0 }, elementOf[T], false, in, kept, kept, count, status)
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
