package template

import (
	"math/bits"
	"unsafe"

	"quern.dev/kernel"
)

// Each thread of a scan has several vectors of a tile, one per row of the tile, so that
// neighbouring threads access neighbouring memory. A wide tile has twice the rows: the more bytes
// a block moves, the less it matters that it waits for others.
const (
	rows     = 4
	wideRows = 2 * rows

	// Tile is the number of elements that a block scans at a time.
	Tile = rows * Threads * Vector
)

// ScanTile returns the number of elements of a tile of [ScanTiles], for elements of size bytes.
func ScanTile(size int) int {
	if size > 4 {
		return Tile
	}
	return 2 * Tile
}

const totals = rows * warps // of warps, in a tile: as many as a warp has lanes

// A block waits for some cycles before it looks at the sums of earlier tiles, unless there are only
// few of them: whoever looks too early delays those who write them.
const (
	lookBackDelay = 2500
	crowd         = 1024 // tiles
)

// Tags of the sum of a tile, in the words of status that belong to it. Until a tile has one, these
// are zero.
const (
	aggregate = 1 << 32 // of the tile
	inclusive = 2 << 32 // of the tile and all earlier ones
)

// StatusWords returns how many words of status belong to a tile whose sum has size bytes. Another
// word has the number of tiles taken.
func StatusWords(size int) int { return (size + 3) / 4 }

// statusOf returns the position in status of the words of a tile.
func statusOf[T any](tile int) int {
	var v T
	return 1 + tile*((int(unsafe.Sizeof(v))+3)/4)
}

// nextTile returns the number of the tile that the block works on. Blocks take tiles in the
// order in which they start, so all earlier tiles are being worked on.
//
//quern:unchecked
func nextTile(t kernel.Thread, status []uint64) int {
	tile := kernel.Shared[uint32](t)
	if t.ThreadIdx.X == 0 {
		*tile = uint32(kernel.AtomicAdd(&status[0], 1))
	}
	t.Sync()
	return int(*tile)
}

// prefixes returns the sums of everything before each of the thread's n vectors, given the sums
// of the vectors, of a tile or a wide one. There is nothing before the first vector of the first
// tile, unless start is set: then first comes before it. status is zero at first.
//
//quern:unchecked
func prefixes[T any](t kernel.Thread, combine func(a, b T) T, tile int, start bool, first T, status []uint64, n int, sum [wideRows]T) (before [wideRows]T) {
	prior := kernel.Shared[T](t)             // to the tile
	above := kernel.Shared[[2 * totals]T](t) // of warps, then of those before
	lane, warp := t.Lane(), t.Warp()
	for r := range n {
		sum[r] = scanWarp(t, combine, sum[r])
		if lane == warpSize-1 {
			above[r*warps+warp] = sum[r]
		}
	}
	t.Sync()
	if warp == 0 {
		wide := n > rows // two sums per lane
		at := lane
		if wide {
			at = 2 * lane
		}
		left := above[at]
		own := left
		if wide {
			own = combine(left, above[at+1])
		}
		all := scanWarp(t, combine, own)
		total := kernel.Shuffle(t, all, warpSize-1)
		if tile == 0 && start {
			total = combine(first, total)
		}
		outside := first
		if tile > 0 {
			if lane == 0 {
				kernel.PutWords(status, statusOf[T](tile), aggregate, &total)
			}
			outside = lookBack(t, combine, tile, status)
			total = combine(outside, total)
		}
		if lane == 0 {
			kernel.PutWords(status, statusOf[T](tile), inclusive, &total)
			*prior = outside
		}
		earlier := kernel.ShuffleUp(t, all, 1)
		if lane > 0 {
			above[at] = earlier
			left = combine(earlier, left)
		}
		if wide {
			above[at+1] = left
		}
	}
	t.Sync()
	for r := range n {
		v := kernel.ShuffleUp(t, sum[r], 1)
		at := r*warps + warp
		switch {
		case lane == 0 && at == 0:
			v = *prior // or nothing
		case lane == 0:
			v = above[at]
		case at > 0:
			v = combine(above[at], v)
		}
		if (lane > 0 || at > 0) && (tile > 0 || start) {
			v = combine(*prior, v)
		}
		before[r] = v
	}
	return before
}

// lookBack returns the sum of all tiles before tile, which is not the first. All threads of the
// warp get it.
//
//quern:unchecked
func lookBack[T any](t kernel.Thread, combine func(a, b T) T, tile int, status []uint64) T {
	lane := t.Lane()
	if tile > crowd {
		for begin := kernel.Clock(); kernel.Clock()-begin < lookBackDelay; {
		}
	}
	var sum T
	for last, more := tile-1, true; more; last -= warpSize {
		at := statusOf[T](max(last-lane, 0)) // tile 0 ends the search
		var v T
		tag := kernel.GetWords(status, at, &v)
		ends := kernel.Ballot(t, tag == inclusive)
		for kernel.Ballot(t, tag == 0)&upTo(ends) != 0 {
			if tag != inclusive {
				tag = kernel.GetWords(status, at, &v)
			}
			ends = kernel.Ballot(t, tag == inclusive)
		}
		lanes := bits.OnesCount32(upTo(ends))
		for d := 1; d < warpSize; d *= 2 {
			earlier := kernel.ShuffleDown(t, v, d)
			if lane+d < lanes {
				v = combine(earlier, v)
			}
		}
		v = kernel.Shuffle(t, v, 0)
		if last == tile-1 {
			sum = v
		} else {
			sum = combine(v, sum)
		}
		more = ends == 0
	}
	return sum
}

// upTo returns the bits up to the lowest one of mask, or all bits if mask is zero.
func upTo(mask uint32) uint32 { return mask ^ (mask - 1) }

// scanWarp returns the sums of the values of the lanes of a warp up to the thread's own.
func scanWarp[T any](t kernel.Thread, combine func(a, b T) T, v T) T {
	for d := 1; d < warpSize; d *= 2 {
		other := kernel.ShuffleUp(t, v, d)
		if t.Lane() >= d {
			v = combine(other, v)
		}
	}
	return v
}

// loadTile loads the thread's n vectors of a tile, or of a wide one. Beyond the end they have
// copies of the last element.
//
//quern:unchecked
func loadTile[T any](t kernel.Thread, tile, n int, in []T) (v [wideRows][Vector]T) {
	size := n * Threads * Vector
	first := tile*(size/Vector) + t.ThreadIdx.X
	if (tile+1)*size <= len(in) {
		for r := range n {
			v[r] = loadVector(in, first+r*Threads)
		}
		return v
	}
	for r := range n {
		for k := range Vector {
			v[r][k] = in[min(Vector*(first+r*Threads)+k, len(in)-1)]
		}
	}
	return v
}

// ScanTiles writes to out[i] the combination of in[0] to in[i], or, if exclusive is set, of
// those before in[i], after first. If start is set, first comes before in[0] in either case. The
// grid has one block per tile.
//
//quern:template Combine block=256 only=gpu
//quern:unchecked
func ScanTiles[T any](t kernel.Thread, combine func(a, b T) T, exclusive, start bool, first T, in, out []T, status []uint64) {
	n := ScanTile(int(unsafe.Sizeof(first))) / (Threads * Vector)
	tile := nextTile(t, status)
	v := loadTile(t, tile, n, in)
	var sum [wideRows]T
	for r := range n {
		sum[r] = v[r][0]
		for k := 1; k < Vector; k++ {
			sum[r] = combine(sum[r], v[r][k])
		}
	}
	before := prefixes(t, combine, tile, start, first, status, n, sum)
	size := n * Threads * Vector
	vector := tile*(size/Vector) + t.ThreadIdx.X
	for r := range n {
		w := v[r]
		if tile > 0 || t.ThreadIdx.X > 0 || r > 0 || start {
			w[0] = combine(before[r], w[0])
		}
		for k := 1; k < Vector; k++ {
			w[k] = combine(w[k-1], w[k])
		}
		if exclusive {
			w = [Vector]T{before[r], w[0], w[1], w[2]}
		}
		if (tile+1)*size <= len(out) {
			storeVector(out, vector+r*Threads, w)
			continue
		}
		for k := range Vector {
			if at := Vector*(vector+r*Threads) + k; at < len(out) {
				out[at] = w[k]
			}
		}
	}
}

// Ways is how many parts a thread of the kernels for the CPU works on at a time, so that their
// operations overlap.
const Ways = 4

// TotalParts writes to before[p+1] the combination of the elements of part p, which has part
// elements, the last part fewer. A thread has [Ways] parts.
//
//quern:template Combine only=cpu
func TotalParts[T any](t kernel.Thread, combine func(a, b T) T, part int, in, before []T) {
	p := t.Global() * Ways
	if at := p * part; at+Ways*part <= len(in) && p+Ways < len(before) {
		a, b, c, d := in[at:at+part], in[at+part:at+2*part], in[at+2*part:at+3*part], in[at+3*part:at+4*part]
		sa, sb, sc, sd := a[0], b[0], c[0], d[0]
		for i := 1; i < part; i++ {
			sa, sb, sc, sd = combine(sa, a[i]), combine(sb, b[i]), combine(sc, c[i]), combine(sd, d[i])
		}
		before[p+1], before[p+2], before[p+3], before[p+4] = sa, sb, sc, sd
		return
	}
	for k := range Ways {
		at := (p + k) * part
		if at >= len(in) || p+k+1 >= len(before) {
			return
		}
		last := min(at+part, len(in))
		sum := in[at]
		for i := at + 1; i < last; i++ {
			sum = combine(sum, in[i])
		}
		before[p+k+1] = sum
	}
}

// PrefixParts combines each of the results of [TotalParts] with those before, and if start is
// set, with first, which becomes before[0].
//
//quern:template Combine only=cpu
func PrefixParts[T any](t kernel.Thread, combine func(a, b T) T, start bool, first T, before []T) {
	if t.Global() > 0 || len(before) < 2 {
		return
	}
	sum := before[1]
	if start {
		before[0] = first
		sum = combine(first, sum)
		before[1] = sum
	}
	for i := 2; i < len(before); i++ {
		sum = combine(sum, before[i])
		before[i] = sum
	}
}

// ScanParts is [ScanTiles] with the results of [PrefixParts]. A thread has [Ways] parts.
//
//quern:template Combine only=cpu
func ScanParts[T any](t kernel.Thread, combine func(a, b T) T, exclusive, start bool, part int, before, in, out []T) {
	p := t.Global() * Ways
	if at := p * part; at+Ways*part <= len(in) && p+Ways <= len(before) && len(out) == len(in) && (p > 0 || start) {
		a, b, c, d := in[at:at+part], in[at+part:at+2*part], in[at+2*part:at+3*part], in[at+3*part:at+4*part]
		u, v, w, x := out[at:at+part], out[at+part:at+2*part], out[at+2*part:at+3*part], out[at+3*part:at+4*part]
		sa, sb, sc, sd := before[p], before[p+1], before[p+2], before[p+3]
		if exclusive {
			for i := range part {
				ea, eb, ec, ed := a[i], b[i], c[i], d[i]
				u[i], v[i], w[i], x[i] = sa, sb, sc, sd
				sa, sb, sc, sd = combine(sa, ea), combine(sb, eb), combine(sc, ec), combine(sd, ed)
			}
			return
		}
		for i := range part {
			sa, sb, sc, sd = combine(sa, a[i]), combine(sb, b[i]), combine(sc, c[i]), combine(sd, d[i])
			u[i], v[i], w[i], x[i] = sa, sb, sc, sd
		}
		return
	}
	for k := range Ways {
		i := (p + k) * part
		if i >= len(in) || p+k >= len(before) {
			return
		}
		last := min(i+part, len(in))
		sum := before[p+k]
		if p+k == 0 && !start {
			sum = in[i]
			out[i] = sum
			i++
		}
		for ; i < last; i++ {
			v := in[i]
			if exclusive {
				out[i] = sum
			}
			sum = combine(sum, v)
			if !exclusive {
				out[i] = sum
			}
		}
	}
}

// ScanRows is [ScanTiles] for rows of n elements, each by itself. A warp scans a row.
//
//quern:template Combine block=256 only=gpu
//quern:unchecked
func ScanRows[T any](t kernel.Thread, combine func(a, b T) T, exclusive, start bool, first T, n int, in, out []T) {
	row := t.BlockIdx.X*warps + t.Warp()
	if row*n >= len(in) {
		return
	}
	carry := first
	for i := 0; i < n; i += warpSize {
		at := i + t.Lane()
		v := scanWarp(t, combine, in[row*n+min(at, n-1)])
		if i > 0 || start {
			v = combine(carry, v)
		}
		w := kernel.ShuffleUp(t, v, 1)
		if t.Lane() == 0 {
			w = carry
		}
		if !exclusive {
			w = v
		}
		carry = kernel.Shuffle(t, v, warpSize-1)
		if at < n {
			out[row*n+at] = w
		}
	}
}

// ScanLines is [ScanTiles] for lines of n elements, each by itself. Lines of a plane begin at
// neighbouring elements, and the elements of a line are inner apart. A thread scans a line.
//
//quern:template Combine
//quern:unchecked
func ScanLines[T any](t kernel.Thread, combine func(a, b T) T, exclusive, start bool, first T, n, inner int, in, out []T) {
	line := t.Global()
	plane := line / inner
	at := plane*n*inner + line - plane*inner
	if at >= len(in) || plane*n*inner >= len(in) {
		return
	}
	sum := first
	i := 0
	if !start {
		sum = in[at]
		out[at] = sum
		at += inner
		i = 1
	}
	for ; i < n; i++ {
		v := in[at]
		if exclusive {
			out[at] = sum
		}
		sum = combine(sum, v)
		if !exclusive {
			out[at] = sum
		}
		at += inner
	}
}
