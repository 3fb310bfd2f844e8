package algo

import (
	"math/bits"

	"quern.dev/kernel"
)

// Sorting is by digits of up to 8 bits, from the lowest to the highest.
const (
	digitBits = 8
	digits    = 1 << digitBits
)

// word is a key, as its bits.
type word interface {
	uint8 | uint16 | uint32 | uint64
}

// digitOrder says how the bits of a key order it, and which of them are the digit of a pass.
type digitOrder[K word] struct {
	Sign       K // the sign bit of signed and floating-point keys
	Infinity   K // of floating-point keys, otherwise 0
	Descending bool
	Shift      uint32
	Mask       uint32
}

// ordered returns bits that order a key as an unsigned integer. All NaNs are the largest key, in
// descending order too, and both zeros are equal.
func (o *digitOrder[K]) ordered(k K) K {
	if o.Infinity == 0 {
		k ^= o.Sign
	} else {
		switch {
		case k&^o.Sign > o.Infinity:
			return ^K(0)
		case k == o.Sign || k&o.Sign == 0:
			k |= o.Sign
		default:
			k = ^k
		}
	}
	if o.Descending {
		k = ^k
	}
	return k
}

// digit returns the digit of a key.
func (o *digitOrder[K]) digit(k K) uint32 { return uint32(o.ordered(k)>>o.Shift) & o.Mask }

// Each thread of a pass has sortItems keys of a tile. Those of a warp are consecutive.
const (
	sortThreads = digits // one per digit
	sortItems   = 16
	sortTile    = sortThreads * sortItems
	sortWarps   = sortThreads / 32
)

// A word of the look-back of a pass is a count with a state.
const (
	countBits  = 30
	countMask  = 1<<countBits - 1
	countLocal = 1 << countBits // of the tile
	countAll   = 2 << countBits // of all tiles so far
)

// sortHistogram adds the number of keys with each digit to counts, for all passes. o is for the
// first pass, and last is the mask of the last one.
//
//quern:kernel unchecked block=sortThreads only=gpu instantiate=uint8,uint16,uint32,uint64
func sortHistogram[K word](t kernel.Thread, o digitOrder[K], passes int, last uint32, keys []K, counts []uint32) {
	local := kernel.Shared[[8 * digits]uint32](t)
	for i := t.ThreadIdx.X; i < passes*digits; i += sortThreads {
		local[i] = 0
	}
	t.Sync()
	for i := t.Global(); i < len(keys); i += t.Stride() {
		k, next := o.ordered(keys[i])>>o.Shift, digitBits
		for p := range passes - 1 {
			kernel.AtomicAdd(&local[p*digits+int(uint32(k)%digits)], 1, kernel.BlockScope)
			k >>= next
		}
		kernel.AtomicAdd(&local[(passes-1)*digits+int(uint32(k)&last)], 1, kernel.BlockScope)
	}
	t.Sync()
	for i := t.ThreadIdx.X; i < passes*digits; i += sortThreads {
		if n := local[i]; n > 0 {
			kernel.AtomicAdd(&counts[i], n)
		}
	}
}

// sortBases writes where the keys with each digit begin. The grid has a block per pass. bases has
// digits words for each of portions launches of a pass.
//
//quern:kernel unchecked block=sortThreads only=gpu
func sortBases(t kernel.Thread, portions int, counts, bases []uint32) {
	i := t.ThreadIdx.X
	v := counts[t.BlockIdx.X*digits+i]
	bases[t.BlockIdx.X*portions*digits+i] = beforeInBlock(t, v)
}

// beforeInBlock returns the sum of the values of the threads before this one, in a block of
// sortThreads.
//
//quern:unchecked
func beforeInBlock(t kernel.Thread, v uint32) uint32 {
	sums := kernel.Shared[[sortWarps]uint32](t)
	before := kernel.WarpScanExclusiveAdd(t, v)
	if t.Lane() == 31 {
		sums[t.Warp()] = before + v
	}
	t.Sync()
	for w := range sortWarps {
		if w < t.Warp() {
			before += sums[w]
		}
	}
	return before
}

// rankTile returns how many keys of the warp with the same digit are before each key of the
// thread, and counts the digits of each warp.
//
//quern:unchecked
func rankTile(t kernel.Thread, digit *[sortItems]uint32, counts *[sortWarps][digits]uint32) (ranks [sortItems]uint32) {
	own := &counts[t.Warp()]
	for i := t.Lane(); i < digits; i += 32 {
		own[i] = 0
	}
	t.SyncWarp()
	for k := range sortItems {
		d := digit[k]
		same := ^uint32(0)
		for b := range digitBits {
			set := d>>b&1 != 0
			votes := kernel.Ballot(t, set)
			if !set {
				votes = ^votes
			}
			same &= votes
		}
		first := bits.TrailingZeros32(same)
		before := uint32(0)
		if t.Lane() == first {
			before = own[d]
			own[d] = before + uint32(bits.OnesCount32(same))
		}
		before = kernel.Shuffle(t, before, first)
		ranks[k] = before + uint32(bits.OnesCount32(same&(1<<t.Lane()-1)))
		t.SyncWarp()
	}
	return ranks
}

// placeTile finds where the thread's keys belong in the tile, and for each digit, the
// difference between the position in the output and in the tile. It replaces the counts.
//
//quern:unchecked
func placeTile(t kernel.Thread, tile, tiles, base int, more bool, digit *[sortItems]uint32, status, bases []uint32, shift *[digits]uint32) (at [sortItems]uint32) {
	counts := kernel.Shared[[sortWarps][digits]uint32](t)
	ranks := rankTile(t, digit, counts)
	t.Sync()
	own := t.ThreadIdx.X // the digit of this thread
	total := uint32(0)
	for w := range sortWarps {
		n := counts[w][own]
		counts[w][own] = total
		total += n
	}
	state := uint32(countLocal)
	if tile == 0 {
		state = countAll
	}
	kernel.StoreRelaxed(&status[1+tile*digits+own], total|state)
	local := beforeInBlock(t, total)
	earlier := uint32(0)
	for i := tile - 1; i >= 0; i-- {
		v := kernel.LoadRelaxed(&status[1+i*digits+own])
		for v&^countMask == 0 {
			v = kernel.LoadRelaxed(&status[1+i*digits+own])
		}
		earlier += v & countMask
		if v&countAll != 0 {
			break
		}
	}
	if tile > 0 {
		kernel.StoreRelaxed(&status[1+tile*digits+own], (earlier+total)|countAll)
	}
	first := bases[base+own] + earlier
	if tile == tiles-1 && more {
		bases[base+digits+own] = first + total
	}
	shift[own] = first - local
	for w := range sortWarps {
		counts[w][own] += local
	}
	t.Sync()
	for k := range sortItems {
		at[k] = counts[t.Warp()][digit[k]] + ranks[k]
	}
	return at
}

// sortKeys moves n keys, from position begin on, to their places for one digit. bases[base:] has
// where those with each digit begin. If more is set, more keys follow, and the next digits words
// get where these begin.
//
//quern:kernel unchecked block=sortThreads only=gpu instantiate=uint8,uint16,uint32,uint64
func sortKeys[K word](t kernel.Thread, o digitOrder[K], begin, count, base int, more bool, status, bases []uint32, in, out []K) {
	shift := kernel.Shared[[digits]uint32](t)
	moved := kernel.Dynamic[K](t)
	tile := takeTile(t, status)
	first := begin + tile*sortTile
	n := min(count-tile*sortTile, sortTile)
	var keys [sortItems]K
	var digit [sortItems]uint32
	own := t.Warp()*32*sortItems + t.Lane()
	for k := range sortItems {
		digit[k] = o.Mask
		if i := own + 32*k; i < n {
			keys[k] = in[first+i]
			digit[k] = o.digit(keys[k])
		}
	}
	at := placeTile(t, tile, t.GridDim.X, base, more, &digit, status, bases, shift)
	for k := range sortItems {
		moved[at[k]] = keys[k]
	}
	t.Sync()
	for k := range sortItems {
		if i := sortThreads*k + t.ThreadIdx.X; i < n {
			key := moved[i]
			out[shift[o.digit(key)]+uint32(i)] = key
		}
	}
}

// sortPairs is sortKeys with values that move with the keys.
//
//quern:kernel unchecked block=sortThreads only=gpu instantiate=uint8:uint32,uint16:uint32,uint32:uint32,uint32:uint64,uint64:uint32,uint64:uint64
func sortPairs[K word, V uint32 | uint64](t kernel.Thread, o digitOrder[K], begin, count, base int, more bool, status, bases []uint32, in, out []K, values, outValues []V) {
	shift := kernel.Shared[[digits]uint32](t)
	moved := kernel.Dynamic[K](t)
	movedValues := kernel.Dynamic[V](t)
	tile := takeTile(t, status)
	first := begin + tile*sortTile
	n := min(count-tile*sortTile, sortTile)
	var keys [sortItems]K
	var digit [sortItems]uint32
	own := t.Warp()*32*sortItems + t.Lane()
	for k := range sortItems {
		digit[k] = o.Mask
		if i := own + 32*k; i < n {
			keys[k] = in[first+i]
			digit[k] = o.digit(keys[k])
		}
	}
	at := placeTile(t, tile, t.GridDim.X, base, more, &digit, status, bases, shift)
	for k := range sortItems {
		moved[at[k]] = keys[k]
	}
	t.Sync()
	var to [sortItems]uint32
	for k := range sortItems {
		if i := sortThreads*k + t.ThreadIdx.X; i < n {
			key := moved[i]
			to[k] = shift[o.digit(key)] + uint32(i)
			out[to[k]] = key
		}
	}
	t.Sync()
	for k := range sortItems {
		if i := own + 32*k; i < n {
			movedValues[at[k]] = values[first+i]
		}
	}
	t.Sync()
	for k := range sortItems {
		if i := sortThreads*k + t.ThreadIdx.X; i < n {
			outValues[to[k]] = movedValues[i]
		}
	}
}

// takeTile returns the number of the tile that the block works on. Blocks take tiles in the
// order in which they start, so all earlier tiles are being worked on.
//
//quern:unchecked
func takeTile(t kernel.Thread, status []uint32) int {
	tile := kernel.Shared[uint32](t)
	if t.ThreadIdx.X == 0 {
		*tile = kernel.AtomicAdd(&status[0], 1)
	}
	t.Sync()
	return int(*tile)
}

// countParts counts the digits of a part of the keys per thread: counts[part*digits+digit].
//
//quern:kernel only=cpu instantiate=uint8,uint16,uint32,uint64
func countParts[K word](t kernel.Thread, o digitOrder[K], part int, keys []K, counts []uint32) {
	p := t.Global()
	if (p+1)*digits > len(counts) {
		return
	}
	var n [digits]uint32
	for _, k := range keys[min(p*part, len(keys)):min((p+1)*part, len(keys))] {
		n[uint8(o.digit(k))]++
	}
	copy(counts[p*digits:(p+1)*digits], n[:])
}

// placeParts replaces the counts of digits by where the keys begin.
//
//quern:kernel only=cpu
func placeParts(t kernel.Thread, parts int, counts []uint32) {
	if t.Global() > 0 {
		return
	}
	at := uint32(0)
	for d := range digits {
		for p := range parts {
			n := counts[p*digits+d]
			counts[p*digits+d] = at
			at += n
		}
	}
}

// moveParts moves the keys of a part per thread to their places.
//
//quern:kernel only=cpu instantiate=uint8,uint16,uint32,uint64
func moveParts[K word](t kernel.Thread, o digitOrder[K], part int, counts []uint32, in, out []K) {
	p := t.Global()
	if (p+1)*digits > len(counts) {
		return
	}
	var at [digits]uint32
	copy(at[:], counts[p*digits:(p+1)*digits])
	for _, k := range in[min(p*part, len(in)):min((p+1)*part, len(in))] {
		d := uint8(o.digit(k))
		out[at[d]] = k
		at[d]++
	}
}

// movePairs is moveParts with values.
//
//quern:kernel only=cpu instantiate=uint8:uint32,uint16:uint32,uint32:uint32,uint32:uint64,uint64:uint32,uint64:uint64
func movePairs[K word, V uint32 | uint64](t kernel.Thread, o digitOrder[K], part int, counts []uint32, in, out []K, values, outValues []V) {
	p := t.Global()
	if (p+1)*digits > len(counts) {
		return
	}
	var at [digits]uint32
	copy(at[:], counts[p*digits:(p+1)*digits])
	first, last := min(p*part, len(in)), min((p+1)*part, len(in))
	v := values[first:last]
	for i, k := range in[first:last] {
		d := uint8(o.digit(k))
		out[at[d]] = k
		outValues[at[d]] = v[i]
		at[d]++
	}
}

// numbers writes 0, 1, 2 and so on.
//
//quern:kernel
func numbers(t kernel.Thread, out []uint32) {
	if i := t.Global(); i < len(out) {
		out[i] = uint32(i)
	}
}

// gather copies the elements of in at the indices at. An element has words words.
//
//quern:kernel instantiate=uint8,uint16,uint32,uint64
func gather[W word](t kernel.Thread, words int, at []uint32, in, out []W) {
	if i := t.Global(); i < len(out) {
		out[i] = in[int(at[i/words])*words+i%words]
	}
}

// scatter copies the elements of in to the indices at. An element has words words.
//
//quern:kernel instantiate=uint8,uint16,uint32,uint64
func scatter[W word](t kernel.Thread, words int, at []uint32, in, out []W) {
	if i := t.Global(); i < len(in) {
		out[int(at[i/words])*words+i%words] = in[i]
	}
}
