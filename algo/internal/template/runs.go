package template

import (
	"math/bits"
	"unsafe"

	"quern.dev/kernel"
)

// runs describes the runs of equal elements of a part: how many begin in it, and where the last
// one of these begins.
type runs = struct{ N, Start uint32 }

// RunsSize is the size of the sum of a tile of [RunTiles].
const RunsSize = 8

func joinRuns(a, b runs) runs {
	if b.N == 0 {
		return a
	}
	return runs{a.N + b.N, b.Start}
}

// RunTiles finds the runs of neighbouring equal elements. It writes the first element of each run
// to values, the length of each run to lengths, their number to count[0], and to heads whether a
// run begins at each element. Slices without elements are not written. The grid has one block
// per tile.
//
//quern:template Equal block=256 only=gpu
//quern:unchecked
func RunTiles[T any](t kernel.Thread, same func(a, b T) bool, in, values []T, lengths []int, heads []uint8, count []int, status []uint64) {
	outside := kernel.Shared[[2]runs](t) // the runs before the tile, and up to its end
	tile := nextTile(t, status)
	v := loadTile(t, tile, rows, in)
	base := tile*Tile + Vector*t.ThreadIdx.X
	mask := headsOf(t, same, rows, base, in, &v)
	var sum [wideRows]runs
	for r := range rows {
		at := base + r*Threads*Vector
		sum[r] = runs{uint32(bits.OnesCount32(mask[r])), uint32(at + bits.Len32(mask[r]) - 1)}
	}
	before := prefixes(t, joinRuns, tile, true, runs{}, status, rows, sum)
	if t.ThreadIdx.X == 0 {
		outside[0] = before[0]
	}
	if t.ThreadIdx.X == Threads-1 {
		all := joinRuns(before[rows-1], sum[rows-1])
		outside[1] = all
		if tile == t.GridDim.X-1 {
			if len(lengths) > 0 {
				lengths[all.N-1] = len(in) - int(all.Start)
			}
			if len(count) > 0 {
				count[0] = int(all.N)
			}
		}
	}
	if len(heads) > 0 {
		for r := range rows {
			var head [Vector]uint8
			for k := range Vector {
				head[k] = uint8(mask[r] >> k & 1)
			}
			if (tile+1)*Tile <= len(heads) {
				storeVector(heads, tile*(Tile/Vector)+t.ThreadIdx.X+r*Threads, head)
				continue
			}
			for k := range Vector {
				if at := base + r*Threads*Vector + k; at < len(heads) {
					heads[at] = head[k]
				}
			}
		}
	}
	t.Sync()
	first, n := outside[0].N, outside[1].N-outside[0].N
	if len(values) > 0 {
		if staged[T]() {
			stage := kernel.Dynamic[T](t)
			for r := range rows {
				at := before[r].N - first
				for k := range Vector {
					if mask[r]>>k&1 != 0 {
						stage[at] = v[r][k]
						at++
					}
				}
			}
			t.Sync()
			to := values[first:]
			for j := uint32(t.ThreadIdx.X); j < n; j += Threads {
				to[j] = stage[j]
			}
			t.Sync()
		} else {
			for r := range rows {
				at := before[r].N
				for k := range Vector {
					if mask[r]>>k&1 != 0 {
						values[at] = v[r][k]
						at++
					}
				}
			}
		}
	}
	if len(lengths) > 0 {
		starts := kernel.Dynamic[uint32](t)
		for r := range rows {
			at := before[r].N - first
			for k := range Vector {
				if mask[r]>>k&1 != 0 {
					starts[at] = uint32(base + r*Threads*Vector + k)
					at++
				}
			}
		}
		t.Sync()
		// A run ends where the next one begins.
		for j := uint32(t.ThreadIdx.X); j < n; j += Threads {
			start := outside[0].Start
			if j > 0 {
				start = starts[j-1]
			}
			if first+j > 0 {
				lengths[first+j-1] = int(starts[j] - start)
			}
		}
	}
}

// headsOf returns where runs begin in the thread's n vectors v of a tile, the first of which begins at
// base.
//
//quern:unchecked
func headsOf[T any](t kernel.Thread, same func(a, b T) bool, n, base int, in []T, v *[wideRows][Vector]T) (mask [wideRows]uint32) {
	var before [wideRows]T // the elements before the vectors of the warp's first thread
	if t.Lane() == 0 {
		for r := range n {
			before[r] = in[max(min(base+r*Threads*Vector, len(in))-1, 0)]
		}
	}
	for r := range n {
		at := base + r*Threads*Vector
		prior := kernel.ShuffleUp(t, v[r][Vector-1], 1)
		if t.Lane() == 0 {
			prior = before[r]
		}
		for k := range Vector {
			if at+k < len(in) && (at+k == 0 || !same(prior, v[r][k])) {
				mask[r] |= 1 << k
			}
			prior = v[r][k]
		}
	}
	return mask
}

// UniqueTiles is [RunTiles] for the values and their number only, with the tiles of [ScanTile].
//
//quern:template Equal block=256 maxregs=64 only=gpu
//quern:unchecked
func UniqueTiles[T any](t kernel.Thread, same func(a, b T) bool, in, values []T, count []int, status []uint64) {
	var zero T
	ends := kernel.Shared[[2]uint32](t) // how many runs begin before the tile, and up to its end
	size := ScanTile(int(unsafe.Sizeof(zero)))
	n := size / (Threads * Vector)
	tile := nextTile(t, status)
	v := loadTile(t, tile, n, in)
	mask := headsOf(t, same, n, tile*size+Vector*t.ThreadIdx.X, in, &v)
	var sum [wideRows]uint32
	for r := range n {
		sum[r] = uint32(bits.OnesCount32(mask[r]))
	}
	before := prefixes(t, addCounts, tile, true, 0, status, n, sum)
	if t.ThreadIdx.X == 0 {
		ends[0] = before[0]
	}
	if t.ThreadIdx.X == Threads-1 {
		ends[1] = before[n-1] + sum[n-1]
		if tile == t.GridDim.X-1 {
			count[0] = int(ends[1])
		}
	}
	if !staged[T]() {
		for r := range n {
			at := before[r]
			for k := range Vector {
				if mask[r]>>k&1 != 0 {
					values[at] = v[r][k]
					at++
				}
			}
		}
		return
	}
	t.Sync()
	first, all := ends[0], ends[1]-ends[0]
	stage := kernel.Dynamic[T](t)
	for r := range n {
		at := before[r] - first
		for k := range Vector {
			if mask[r]>>k&1 != 0 {
				stage[at] = v[r][k]
				at++
			}
		}
	}
	t.Sync()
	to := values[first:]
	for j := uint32(t.ThreadIdx.X); j < all; j += Threads {
		to[j] = stage[j]
	}
}

// RunParts is [RunTiles] with one thread per part, in three launches: the first one finds the
// number of runs of each part, the second one, of one thread, adds them up, and the third one
// writes the results.
//
//quern:template Equal only=cpu
func RunParts[T any](t kernel.Thread, same func(a, b T) bool, launch, part int, in, values []T, lengths []int, heads []uint8, count []int, sums [][2]uint32) {
	p := t.Global()
	if launch == 1 {
		if p > 0 {
			return
		}
		var all runs
		for i := range sums {
			own := runs{sums[i][0], sums[i][1]}
			sums[i] = [2]uint32{all.N, all.Start}
			all = joinRuns(all, own)
		}
		if len(count) > 0 {
			count[0] = int(all.N)
		}
		return
	}
	first := p * part
	if p >= len(sums) || first >= len(in) {
		return
	}
	var so runs
	if launch == 2 {
		so = runs{sums[p][0], sums[p][1]}
	}
	x := in[first:min(first+part, len(in))]
	prior := in[max(first-1, 0)]
	begins := first == 0
	for from := 0; from < len(x); from += polled {
		for k := range min(len(x)-from, polled) {
			i := first + from + k
			v := x[from+k]
			begins = begins || !same(prior, v)
			if begins {
				if launch == 2 {
					if len(values) > 0 {
						values[so.N] = v
					}
					if len(lengths) > 0 && so.N > 0 {
						lengths[so.N-1] = i - int(so.Start)
					}
				}
				so = runs{so.N + 1, uint32(i)}
			}
			if launch == 2 && len(heads) > 0 {
				heads[i] = 0
				if begins {
					heads[i] = 1
				}
			}
			begins = false
			prior = v
		}
	}
	if launch == 0 {
		sums[p] = [2]uint32{so.N, so.Start}
	} else if len(lengths) > 0 && first+len(x) == len(in) {
		lengths[so.N-1] = len(in) - int(so.Start)
	}
}

// TallySize returns the size of the sum of a tile of [ScanRuns], for elements of type T.
func TallySize[T any]() int { return int(unsafe.Sizeof(tally[T]{})) }

// tally is the combination of the elements since the last beginning of a run, and the number of
// these beginnings.
type tally[T any] = struct {
	N uint32
	V T
}

// joinTallies returns the combination of two neighbouring parts.
func joinTallies[T any](combine func(a, b T) T) func(a, b tally[T]) tally[T] {
	return func(a, b tally[T]) tally[T] {
		if b.N == 0 {
			b.V = combine(a.V, b.V)
		}
		b.N += a.N
		return b
	}
}

// ScanRuns combines the elements of each run of in. A run begins where heads is not zero, and
// at the first element, where it must not be zero. If reduce is set, out[i] is the combination of
// run i. Otherwise out[i] is the combination of the elements of the run up to in[i], or, if
// exclusive is set, of first and those before in[i]. The grid has one block per tile.
//
//quern:template Combine block=256 maxregs=128 only=gpu
//quern:unchecked
func ScanRuns[T any](t kernel.Thread, combine func(a, b T) T, reduce, exclusive bool, first T, heads []uint8, in, out []T, status []uint64) {
	tile := nextTile(t, status)
	x := loadTile(t, tile, rows, in)
	base := tile*Tile + Vector*t.ThreadIdx.X
	join := joinTallies(combine)
	var mask [rows]uint32 // where runs begin, with the element after the vector
	var sum [wideRows]tally[T]
	for r := range rows {
		at := base + r*Threads*Vector
		if (tile+1)*Tile < len(heads) {
			head := loadVector(heads, tile*(Tile/Vector)+t.ThreadIdx.X+r*Threads)
			for k := range Vector {
				mask[r] |= uint32(head[k]) << k
			}
			mask[r] |= uint32(heads[at+Vector]) << Vector
		} else {
			for k := range Vector + 1 {
				if at+k >= len(in) || heads[at+k] != 0 {
					mask[r] |= 1 << k
				}
			}
		}
		sum[r] = tally[T]{mask[r] & 1, x[r][0]}
		for k := 1; k < Vector; k++ {
			sum[r] = join(sum[r], tally[T]{mask[r] >> k & 1, x[r][k]})
		}
	}
	before := prefixes(t, join, tile, true, tally[T]{0, first}, status, rows, sum)
	for r := range rows {
		at := base + r*Threads*Vector
		so := before[r]
		for k := range Vector {
			v, to, writes := so.V, at+k, at+k < len(in)
			so = join(so, tally[T]{mask[r] >> k & 1, x[r][k]})
			switch {
			case !exclusive:
				v = so.V
			case mask[r]>>k&1 != 0:
				v = first
			default:
				v = combine(first, v)
			}
			if reduce {
				to, writes = int(so.N)-1, writes && mask[r]>>(k+1)&1 != 0
			}
			if writes {
				out[to] = v
			}
		}
	}
}

// RunScanParts is [ScanRuns] with one thread per part, in three launches: the first one combines
// each part, the second one, of one thread, the parts, and the third one writes the results.
//
//quern:template Combine only=cpu
func RunScanParts[T any](t kernel.Thread, combine func(a, b T) T, launch, part int, reduce, exclusive bool, first T, heads []uint8, in, out []T, counts []uint32, sums []T) {
	p := t.Global()
	join := joinTallies(combine)
	if launch == 1 {
		if p > 0 || len(sums) == 0 || len(counts) < len(sums) {
			return
		}
		all := tally[T]{counts[0], sums[0]}
		counts[0] = 0
		for i := 1; i < len(sums); i++ {
			own := tally[T]{counts[i], sums[i]}
			counts[i], sums[i] = all.N, all.V
			all = join(all, own)
		}
		return
	}
	at := p * part
	if p >= len(sums) || at >= len(in) || len(heads) != len(in) {
		return
	}
	var so tally[T]
	if launch == 2 {
		so = tally[T]{counts[p], sums[p]}
	} else {
		so = tally[T]{uint32(heads[at]), in[at]}
		at++
	}
	last := min((p+1)*part, len(in))
	for ; at < last; at += polled {
		for k := range min(last-at, polled) {
			i := at + k
			h := uint32(heads[i])
			prior := so.V
			so = join(so, tally[T]{h, in[i]})
			switch {
			case launch == 0:
			case reduce:
				if i+1 == len(in) || heads[i+1] != 0 {
					out[so.N-1] = so.V
				}
			case !exclusive:
				out[i] = so.V
			case h != 0:
				out[i] = first
			default:
				out[i] = combine(first, prior)
			}
		}
	}
	if launch == 0 {
		counts[p], sums[p] = so.N, so.V
	}
}
