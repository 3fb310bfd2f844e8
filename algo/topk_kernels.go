package algo

import (
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

// copyFirst copies the first elements of in.
//
//quern:kernel only=cpu
func copyFirst(t kernel.Thread, in, out []uint32) {
	if i := t.Global(); i < len(out) && i < len(in) {
		out[i] = in[i]
	}
}

// firstOfLines copies the first k elements of lines of n elements, which are inner apart, in an
// order that is given by their positions: those of a line are one after another, or, if inPlace is
// set, inner apart. It writes their indices in the lines to index, unless that is empty.
//
//quern:kernel instantiate=uint8,uint16,uint32,uint64
func firstOfLines[W chunk](t kernel.Thread, n, k, inner uint32, inPlace bool, positions []uint32, in, out []W, index []uint32) {
	i := t.Global()
	if i >= len(out) {
		return
	}
	row := uint32(i) / inner
	column := uint32(i) - row*inner
	plane := row / k
	at := (plane*inner+column)*n + row - plane*k
	if inPlace {
		at = (plane*n+row-plane*k)*inner + column
	}
	from := positions[at]
	out[i] = in[from]
	if i < len(index) {
		index[i] = from / inner % n
	}
}
