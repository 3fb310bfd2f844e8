package algo

import (
	"unsafe"

	"quern.dev/algo/internal/template"
	"quern.dev/kernel"
)

// The last of the first elements is found by digits of up to limitBits bits, from the highest to
// the lowest.
const (
	limitBits   = 11
	limitDigits = 1 << limitBits
)

// limitLevel describes the search by one digit.
type limitLevel struct {
	Shift, Bits uint32 // of the digit
}

// limitCount adds the number of keys with each digit to counts. It counts the keys whose higher
// bits are those of the limit, which are in limit[0].
//
//quern:kernel unchecked block=sortThreads only=gpu instantiate=uint32,uint64
func limitCount[K word](t kernel.Thread, o digitOrder[K], bits K, l limitLevel, keys []K, limit []uint64, counts []uint32) {
	local := kernel.Shared[[limitDigits]uint32](t)
	for i := t.ThreadIdx.X; i < limitDigits; i += sortThreads {
		local[i] = 0
	}
	t.Sync()
	high, mask := K(limit[0]), uint32(1)<<l.Bits-1
	for i := t.Global(); i < len(keys); i += t.Stride() {
		v := o.ordered(keys[i]) >> o.Shift & bits >> l.Shift
		if v>>l.Bits == high {
			kernel.AtomicAdd(&local[uint32(v)&mask], 1, kernel.BlockScope)
		}
	}
	t.Sync()
	for i := t.ThreadIdx.X; i < limitDigits; i += sortThreads {
		if n := local[i]; n > 0 {
			kernel.AtomicAdd(&counts[i], n)
		}
	}
}

// limitDigit appends a digit to the bits of the limit in limit[0]. limit[1] is the rank of the
// limit, from 1 on, among the keys with the same higher bits.
//
//quern:kernel unchecked block=sortThreads only=gpu
func limitDigit(t kernel.Thread, bits uint32, counts []uint32, limit []uint64) {
	const each = (limitDigits + sortThreads - 1) / sortThreads
	high, rank := limit[0], uint32(limit[1])
	var n [each]uint32
	sum := uint32(0)
	for k := range each {
		if i := each*t.ThreadIdx.X + k; i < limitDigits {
			n[k] = counts[i]
		}
		sum += n[k]
	}
	before := beforeInBlock(t, sum, kernel.Shared[[sortWarps]uint32](t))
	t.Sync()
	for k := range each {
		if before < rank && rank <= before+n[k] {
			limit[0] = high<<bits | uint64(each*t.ThreadIdx.X+k)
			limit[1] = uint64(rank - before)
		}
		before += n[k]
	}
}

// keepFirst copies the keys up to the limit, and their positions.
//
//quern:kernel block=256 only=gpu instantiate=uint32,uint64
//quern:unchecked
func keepFirst[K word](t kernel.Thread, o digitOrder[K], bits K, limit []uint64, in, kept []K, index []uint32, status []uint64) {
	last, equals := K(limit[0]), uint32(limit[1])
	template.KeepFirst(t, func(x K) int32 {
		switch v := o.ordered(x) >> o.Shift & bits; {
		case v < last:
			return -1
		case v == last:
			return 0
		}
		return 1
	}, equals, in, kept, index, status)
}

// setRank begins the search for the limit.
//
//quern:kernel only=gpu
func setRank(t kernel.Thread, rank uint32, limit []uint64) {
	if i := t.Global(); i < len(limit) {
		limit[i] = uint64(rank) * uint64(i)
	}
}

// firstOfParts finds the first k keys of parts of part keys, one thread per part, and writes them to
// out, in the order in which they are in the part. The keys of a part are inner apart, as are the
// results; see Axis. The last part of a single axis has the rest of the keys. The positions of the
// keys are at, or, if that is empty, where they are. A thread has memory for 2*k keys in kept: a key
// that comes before the k first ones of those so far is kept, and as often as the memory is full, k
// of them stay.
//
//quern:kernel only=cpu instantiate=uint32,uint64
func firstOfParts[K word](t kernel.Thread, o digitOrder[K], bits, k, part, inner int, keys []K, at []uint32, kept []K, keptAt []uint32, out []K, outAt []uint32) {
	line := t.Global()
	if k <= 0 || (line+1)*k > len(out) || 2*(line+1)*k > len(kept) {
		return
	}
	plane := line / inner
	column := line - plane*inner
	first := plane*part*inner + column
	end := first + part*inner
	if (line+1)*k == len(out) {
		end = len(keys)
	}
	mine, mineAt := kept[2*line*k:2*(line+1)*k], keptAt[2*line*k:2*(line+1)*k]
	mask := ^K(0) >> (8*int(unsafe.Sizeof(o.Flip)) - bits)
	n, limit, limited := 0, K(0), false
	for i := first; i < end; i += inner {
		v := o.ordered(keys[i]) >> o.Shift & mask
		if limited && v >= limit {
			continue
		}
		if n == len(mine) {
			limit = keepFirstOf(&o, mask, bits, k, mine, mineAt)
			n, limited = k, true
			if v >= limit {
				continue
			}
		}
		mine[n], mineAt[n] = keys[i], uint32(i)
		if i < len(at) {
			mineAt[n] = at[i]
		}
		n++
	}
	if n > k {
		keepFirstOf(&o, mask, bits, k, mine[:n], mineAt[:n])
	}
	for i := range min(n, k) {
		out[(plane*k+i)*inner+column], outAt[(plane*k+i)*inner+column] = mine[i], mineAt[i]
	}
}

// keepFirstOf moves the first k of the keys to the front, in the order in which they are, and
// returns the last of them in their order. There are more than k.
func keepFirstOf[K word](o *digitOrder[K], mask K, bits, k int, keys []K, at []uint32) K {
	limit, rank := K(0), uint32(k) // rank is from 1 on, among the keys whose higher bits are limit
	for shift := bits; shift > 0; {
		width := min(shift, digitBits)
		shift -= width
		var count [digits]uint32
		for _, key := range keys {
			if v := o.ordered(key) >> o.Shift & mask >> shift; v>>width == limit {
				count[uint8(v)&uint8(1<<width-1)]++
			}
		}
		digit := 0
		for digit < digits-1 && rank > count[digit] {
			rank -= count[digit]
			digit++
		}
		limit = limit<<width | K(digit)
	}
	n := 0
	for i, key := range keys {
		v := o.ordered(key) >> o.Shift & mask
		if v > limit || v == limit && rank == 0 {
			continue
		}
		if v == limit {
			rank--
		}
		keys[n], at[n] = key, at[i]
		n++
	}
	return limit
}

// firstOfLines copies the first k positions of lines of n positions, which are inner apart.
//
//quern:kernel
func firstOfLines(t kernel.Thread, n, k, inner uint32, positions, first []uint32) {
	i := t.Global()
	if i >= len(first) {
		return
	}
	row := uint32(i) / inner
	plane := row / k
	first[i] = positions[(plane*n+row-plane*k)*inner+uint32(i)-row*inner]
}

// indicesInLines writes which elements of their lines the positions at are to index.
//
//quern:kernel
func indicesInLines(t kernel.Thread, n, inner uint32, at, index []uint32) {
	if i := t.Global(); i < len(index) && i < len(at) {
		index[i] = at[i] / inner % n
	}
}
