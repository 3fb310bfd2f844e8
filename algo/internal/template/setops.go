package template

import (
	"math/bits"

	"quern.dev/kernel"
)

// Sets of elements that an operation on sorted lists keeps, as bits. If an element occurs m times
// in the first list and n times in the second one, its first min(m, n) occurrences are in both
// lists, and the others are only in one.
const (
	OnlyFirst = 1 << iota
	OnlySecond
	Both // elements of the first list
)

// setPath divides two sorted lists such that the i-th of several equal elements of the first list
// is on the same side as the i-th of the equal elements of the second one. It returns how many
// elements of a and of b are on the first side: d together, or d+1. This is the balanced path of
// Baxter's moderngpu (2013).
//
//quern:unchecked
func setPath[T any](less func(a, b T) bool, a, b []T, d int) (int, int) {
	i := mergePath(less, a, b, d)
	j := d - i
	if j >= len(b) {
		return i, j
	}
	// Of the d elements, those that equal b[j] are to come from the lists in turn.
	x := b[j]
	firstA, firstB := lowerBound(less, a[:i], x), lowerBound(less, b[:j], x)
	equal := i - firstA + j - firstB
	fromA := min((equal+1)/2, i-firstA)
	fromB := equal - fromA
	most := upperBound(less, b[firstB:min(firstB+fromB+1, len(b))], x)
	if fromB > most {
		fromB = most
		fromA = equal - most
	}
	if fromA == fromB+1 && most > fromB {
		fromB++ // the other one of a pair
	}
	return firstA + fromA, firstB + fromB
}

// setStep compares the first elements of two lists that are not both at their ends. It reports
// from which of them an element is taken, and whether the operation keeps it.
func setStep[T any](less func(a, b T) bool, operation uint32, endA, endB bool, x, y T) (fromA, fromB, keep bool) {
	fromA = endB || !endA && !less(y, x)
	fromB = endA || !endB && !less(x, y)
	set := uint32(OnlyFirst)
	if fromB {
		set = OnlySecond
		if fromA {
			set = Both
		}
	}
	return fromA, fromB, operation&set != 0
}

// SetPaths writes to paths[2*i] and paths[2*i+1] how many elements of a and of b precede tile i.
//
//quern:template Less only=gpu
//quern:unchecked
func SetPaths[T any](t kernel.Thread, less func(a, b T) bool, tile int, a, b []T, paths []int) {
	i := t.Global()
	if 2*i >= len(paths) {
		return
	}
	paths[2*i], paths[2*i+1] = setPath(less, a, b, min(i*tile, len(a)+len(b)))
}

// SetTiles writes the elements that are in the sets of operation to out, in order, and their
// number to count[0]. paths are the results of [SetPaths]. The grid has one block per tile. The
// launch provides the shared memory for a tile and one element.
//
//quern:template Less block=256 only=gpu
//quern:unchecked
func SetTiles[T any](t kernel.Thread, less func(a, b T) bool, operation uint32, paths []int, a, b, out []T, count []int, status []uint64) {
	starts := kernel.Shared[[Threads + 1][2]int32](t)
	items, i := itemsOf[T](), t.ThreadIdx.X
	block := nextTile(t, status)
	a0, b0 := paths[2*block], paths[2*block+1]
	second := paths[2*block+2] - a0
	total := second + paths[2*block+3] - b0
	tile := kernel.Dynamic[T](t)
	for k := range items + 1 {
		j := i + k*Threads
		if j < second {
			tile[j] = a[a0+j]
		} else if j < total {
			tile[j] = b[b0+j-second]
		}
	}
	t.Sync()
	x, y := tile[:second], tile[second:total]
	fromX, fromY := setPath(less, x, y, min(i*items, total))
	starts[i] = [2]int32{int32(fromX), int32(fromY)}
	if i == 0 {
		starts[Threads] = [2]int32{int32(second), int32(total - second)}
	}
	t.Sync()

	p, q := fromX, second+fromY
	endP, endQ := int(starts[i+1][0]), second+int(starts[i+1][1])
	var kept [mostItems + 1]T
	mask := uint32(0)
	for k := range items + 1 {
		if p < endP || q < endQ {
			x, y := tile[min(p, total-1)], tile[min(q, total-1)]
			fromA, fromB, keep := setStep(less, operation, p >= endP, q >= endQ, x, y)
			kept[k] = y
			if fromA {
				kept[k] = x
				p++
			}
			if fromB {
				q++
			}
			if keep {
				mask |= 1 << k
			}
		}
	}

	before, all := countBlock(t, bits.OnesCount32(mask))
	prior := countTiles(t, block, all, status)
	for k := range items + 1 {
		if mask>>k&1 != 0 {
			tile[before] = kept[k]
			before++
		}
	}
	t.Sync()
	for j := i; j < all; j += Threads {
		out[prior+j] = tile[j]
	}
	if block == t.GridDim.X-1 && i == 0 {
		count[0] = prior + all
	}
}

func addInts(a, b int) int { return a + b }

// countBlock returns the sum of n over the threads before the thread, and over all threads of the
// block. Afterwards the threads may write to other shared memory that they have read.
//
//quern:unchecked
func countBlock(t kernel.Thread, n int) (before, all int) {
	above := kernel.Shared[[warps]int32](t)
	sum := int32(scanWarp(t, addInts, n))
	if t.Lane() == warpSize-1 {
		above[t.Warp()] = sum
	}
	t.Sync()
	before = int(sum) - n
	for w := range warps {
		if w < t.Warp() {
			before += int(above[w])
		}
		all += int(above[w])
	}
	return before, all
}

// countTiles returns the sum of n over the tiles before tile. All threads pass the same n.
//
//quern:unchecked
func countTiles(t kernel.Thread, tile, n int, status []uint64) int {
	prior := kernel.Shared[int](t)
	if t.Warp() == 0 {
		before := 0
		if tile > 0 {
			if t.Lane() == 0 {
				kernel.PutWords(status, statusOf[int](tile), aggregate, &n)
			}
			before = lookBack(t, addInts, tile, status)
		}
		if t.Lane() == 0 {
			*prior = before
			all := before + n
			kernel.PutWords(status, statusOf[int](tile), inclusive, &all)
		}
	}
	t.Sync()
	return *prior
}

// SetParts is [SetTiles] with one thread per part of the lists, in three launches: the first one
// counts the elements of each part, the second one, of one thread, adds up the counts, and the
// third one writes the elements.
//
//quern:template Less only=cpu
func SetParts[T any](t kernel.Thread, less func(a, b T) bool, launch int, operation uint32, part int, a, b, out []T, count, sums []int) {
	p := t.Global()
	if launch == 1 {
		if p > 0 || len(count) == 0 {
			return
		}
		all := 0
		for i, n := range sums {
			sums[i] = all
			all += n
		}
		count[0] = all
		return
	}
	if p >= len(sums) {
		return
	}
	i, j := setPath(less, a, b, p*part)
	endA, endB := setPath(less, a, b, min((p+1)*part, len(a)+len(b)))
	n := 0
	if launch == 2 {
		n = sums[p]
	}
	for i < endA && j < endB {
		for range min(endA-i, endB-j, polled) {
			x, y := a[i], b[j]
			fromA, fromB, keep := setStep(less, operation, false, false, x, y)
			if fromA {
				i++
				y = x
			}
			if fromB {
				j++
			}
			if keep {
				if launch == 2 {
					out[n] = y
				}
				n++
			}
		}
	}
	if operation&OnlyFirst != 0 {
		for ; i < endA; i++ {
			if launch == 2 {
				out[n] = a[i]
			}
			n++
		}
	}
	if operation&OnlySecond != 0 {
		for ; j < endB; j++ {
			if launch == 2 {
				out[n] = b[j]
			}
			n++
		}
	}
	if launch == 0 {
		sums[p] = n
	}
}
