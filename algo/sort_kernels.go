package algo

import (
	"math/bits"
	"unsafe"

	"quern.dev/kernel"
)

// Sorting is by digits of up to 8 bits, from the lowest to the highest.
const (
	digitBits = 8
	digits    = 1 << digitBits
)

// word is a key, as its bits. Shorter keys are sorted as words of 32 bits.
type word interface{ uint32 | uint64 }

// digitOrder says how the bits of a key order it, and which of them are the digit of a pass.
type digitOrder[K word] struct {
	Sign     K // the sign bit of floating-point keys
	Infinity K // of floating-point keys, otherwise 0
	Flip     K // the bits that are inverted last
	Shift    uint32
	Mask     uint32
}

// ordered returns bits that order a key as an unsigned integer. All NaNs are the largest key, in
// descending order too, and both zeros are equal.
func (o *digitOrder[K]) ordered(k K) K {
	if o.Infinity == 0 {
		return k ^ o.Flip
	}
	v := k | o.Sign
	if k&o.Sign != 0 {
		v = ^k
	}
	if k == o.Sign {
		v = k
	}
	v ^= o.Flip
	if k&^o.Sign > o.Infinity {
		v = ^K(0)
	}
	return v
}

// digit returns the digit of a key.
func (o *digitOrder[K]) digit(k K) uint32 { return uint32(o.ordered(k)>>o.Shift) & o.Mask }

// digits returns the digits of the first items keys.
//
//quern:unchecked
func (o *digitOrder[K]) digits(items int, keys *[mostSortItems]K) (digit [mostSortItems]uint32) {
	if o.Infinity == 0 {
		//quern:unroll
		for k := range items {
			digit[k] = uint32((keys[k]^o.Flip)>>o.Shift) & o.Mask
		}
		return digit
	}
	//quern:unroll
	for k := range items {
		digit[k] = o.digit(keys[k])
	}
	return digit
}

// A pass has blocks of sortThreads, at least one thread per digit. Each thread has some keys of a
// tile, up to mostSortItems. Those of a warp are consecutive.
const (
	sortThreads   = 384
	sortWarps     = sortThreads / 32
	mostSortItems = 20

	// longSortItems is how many keys a thread has if they or their values have 8 bytes. The
	// shared memory of a block stays below 48 KiB.
	longSortItems = 11
)

// sortItems returns how many keys a thread has.
func sortItems[K word, V uint32 | uint64]() int {
	var k K
	var v V
	if int(unsafe.Sizeof(k))+int(unsafe.Sizeof(v)) > 8 {
		return longSortItems
	}
	return mostSortItems
}

// A word of the look-back of a pass is a count with a state. The state in which a pass leaves all
// words is pending for the next pass.
const (
	countBits  = 30
	countMask  = 1<<countBits - 1
	countLocal = 1 << countBits // of the tile
	countEven  = 2 << countBits // of all tiles so far, in even passes
	countOdd   = 3 << countBits // and in odd ones
)

// sortLaunch describes a launch of a pass.
type sortLaunch struct {
	Begin, Count uint32 // the keys
	Bases        uint32 // the position in bases of where the keys with each digit begin
	Ticket       uint32 // the position in status of the number of tiles taken
	Taken        uint32 // this number when the launch begins
	Status       uint32 // the position in status of the words of the first tile
	All          uint32 // countEven or countOdd
	More         bool   // whether the same pass has another launch
}

// sortHistogram adds the number of keys with each digit to counts, for all passes. o is for the
// first pass, and last is the mask of the last one.
//
//quern:kernel unchecked block=sortThreads only=gpu instantiate=uint32,uint64
func sortHistogram[K word](t kernel.Thread, o digitOrder[K], passes int32, last uint32, keys []K, counts []uint32) {
	local := kernel.Shared[[8 * digits]uint32](t)
	for i := int32(t.ThreadIdx.X); i < passes*digits; i += sortThreads {
		local[i] = 0
	}
	t.Sync()
	for i := t.Global(); i < len(keys); i += t.Stride() {
		k := o.ordered(keys[i]) >> o.Shift
		for p := range passes - 1 {
			kernel.AtomicAdd(&local[p*digits+int32(uint32(k)%digits)], 1, kernel.BlockScope)
			k >>= digitBits
		}
		kernel.AtomicAdd(&local[(passes-1)*digits+int32(uint32(k)&last)], 1, kernel.BlockScope)
	}
	t.Sync()
	for i := int32(t.ThreadIdx.X); i < passes*digits; i += sortThreads {
		if n := local[i]; n > 0 {
			kernel.AtomicAdd(&counts[i], n)
		}
	}
}

// sortBases writes where the keys with each digit begin. The grid has a block per pass. bases has
// digits words for each of portions launches of a pass.
//
//quern:kernel unchecked block=sortThreads only=gpu
func sortBases(t kernel.Thread, portions int32, counts, bases []uint32) {
	i, pass := int32(t.ThreadIdx.X), int32(t.BlockIdx.X)
	v := uint32(0)
	if i < digits {
		v = counts[pass*digits+i]
	}
	v = beforeInBlock(t, v, kernel.Shared[[sortWarps]uint32](t))
	if i < digits {
		bases[pass*portions*digits+i] = v
	}
}

// beforeInBlock returns the sum of the values of the threads before this one, in a block of
// sortThreads.
//
//quern:unchecked
func beforeInBlock(t kernel.Thread, v uint32, sums *[sortWarps]uint32) uint32 {
	before := kernel.WarpScanExclusiveAdd(t, v)
	if t.Lane() == 31 {
		sums[t.Warp()] = before + v
	}
	t.Sync()
	//quern:unroll
	for w := range sortWarps - 1 {
		if w < t.Warp() {
			before += sums[w]
		}
	}
	return before
}

// loadSortItems loads the elements of a thread, beginning with in[own]. n is the number of
// elements in the tile.
//
//quern:unchecked
func loadSortItems[T uint32 | uint64](items int, in []T, own, n uint32) (v [mostSortItems]T) {
	src := in[own:]
	//quern:unroll
	for k := range items {
		if own+uint32(32*k) < n {
			v[k] = src[32*k]
		}
	}
	return v
}

// matchDigit returns the lanes of the warp that have the same digit.
func matchDigit(t kernel.Thread, d uint32) uint32 {
	same := ^uint32(0)
	//quern:unroll
	for b := range digitBits {
		set := d&(1<<b) != 0
		votes := kernel.Ballot(t, set)
		if !set {
			votes = ^votes
		}
		same &= votes
	}
	return same
}

// tileCounts are the numbers of keys with each digit, by warp.
type tileCounts = [sortWarps][digits]uint32

// countTile counts the digits of a tile, in which threads have items keys, at most most. It returns the number of keys that have the digit of the
// thread, which is its number in the block.
//
//quern:unchecked
func countTile(t kernel.Thread, most, items int, digit *[mostSortItems]uint32, counts *tileCounts) (total uint32) {
	own := &counts[t.Warp()]
	for i := t.Lane(); i < digits; i += 32 {
		own[i] = 0
	}
	t.SyncWarp()
	//quern:unroll
	for k := range most {
		if k < items {
			kernel.AtomicAdd(&own[digit[k]], 1, kernel.BlockScope)
		}
	}
	t.Sync()
	if i := t.ThreadIdx.X; i < digits {
		//quern:unroll
		for w := range sortWarps {
			total += counts[w][i]
		}
	}
	return total
}

// rankTile finds where the thread's keys belong in the tile if it is sorted by digit, and where
// the keys with the digit of the thread begin.
//
//quern:unchecked
func rankTile(t kernel.Thread, most, items int, total uint32, digit *[mostSortItems]uint32, counts *tileCounts, sums *[sortWarps]uint32) (at [mostSortItems]uint32, local uint32) {
	local = beforeInBlock(t, total, sums)
	if i := t.ThreadIdx.X; i < digits {
		at := local
		//quern:unroll
		for w := range sortWarps {
			n := counts[w][i]
			counts[w][i] = at
			at += n
		}
	}
	t.Sync()
	own := &counts[t.Warp()]
	lower := uint32(1)<<t.Lane() - 1
	//quern:unroll
	for k := range most {
		if k < items {
			same := matchDigit(t, digit[k])
			next := &own[digit[k]]
			at[k] = *next + uint32(bits.OnesCount32(same&lower))
			t.SyncWarp()
			if same&^lower == lower+1 { // the last one of these lanes
				*next = at[k] + 1
			}
			t.SyncWarp()
		}
	}
	return at, local
}

// placeTile finds where the thread's keys belong in the tile if it is sorted by digit, and local,
// which for the first threads of the block is where the keys with their digit begin. It publishes
// the number of keys with each digit.
//
//quern:unchecked
func placeTile(t kernel.Thread, items int, tile uint32, l *sortLaunch, digit *[mostSortItems]uint32, status []uint32) (at [mostSortItems]uint32, local, total uint32) {
	counts, sums := kernel.Shared[tileCounts](t), kernel.Shared[[sortWarps]uint32](t)
	total = countTile(t, items, items, digit, counts)
	if i := uint32(t.ThreadIdx.X); i < digits {
		state := uint32(countLocal)
		if tile == 0 {
			state = l.All
		}
		kernel.StoreRelaxed(&status[l.Status+tile*digits+i], total|state)
	}
	at, local = rankTile(t, items, items, total, digit, counts, sums)
	return at, local, total
}

// lookBack returns the number of keys of earlier tiles that have the thread's digit, and
// publishes the number including those of the tile.
//
//quern:unchecked
func lookBack(t kernel.Thread, tile, total uint32, l *sortLaunch, status []uint32) uint32 {
	const ahead = 4 // words that are loaded at once
	words := status[l.Status+uint32(t.ThreadIdx.X):]
	earlier := uint32(0)
	for at := int32(tile) - 1; at >= 0; at -= ahead {
		var v [ahead]uint32
		for j := range ahead {
			v[j] = kernel.LoadRelaxed(&words[max(at-int32(j), 0)*digits])
		}
		done := false
		for j := range ahead {
			if !done {
				for v[j]&^countMask != countLocal && v[j]&^countMask != l.All {
					v[j] = kernel.LoadRelaxed(&words[max(at-int32(j), 0)*digits])
				}
				earlier += v[j] & countMask
				done = v[j]&^countMask == l.All // at tile 0 at the latest
			}
		}
		if done {
			break
		}
	}
	if tile > 0 {
		kernel.StoreRelaxed(&words[tile*digits], (earlier+total)|l.All)
	}
	return earlier
}

// shiftOf returns the difference between the position in the output and in the tile of keys with
// the thread's digit.
//
//quern:unchecked
func shiftOf(t kernel.Thread, tile, local, total uint32, l *sortLaunch, status, bases []uint32) uint32 {
	at := l.Bases + uint32(t.ThreadIdx.X)
	first := kernel.LoadRelaxed(&bases[at]) // before the thread waits
	first += lookBack(t, tile, total, l, status)
	if l.More && tile == uint32(t.GridDim.X)-1 {
		bases[at+digits] = first + total
	}
	return first - local
}

// sortKeys moves the keys of a launch to their places for one digit. If l.More is set, it writes
// where those of the next launch begin to the next words of bases.
//
//quern:kernel unchecked block=sortThreads minblocks=2 only=gpu instantiate=uint32,uint64
func sortKeys[K word](t kernel.Thread, o digitOrder[K], l sortLaunch, status, bases []uint32, in, out []K) {
	shift := kernel.Shared[[digits]uint32](t)
	moved := kernel.Dynamic[K](t)
	items := sortItems[K, uint32]()
	size := uint32(sortThreads * items)
	tile := takeTile(t, &l, status)
	n := min(l.Count-tile*size, size)
	own := uint32(t.Warp()*32*items + t.Lane())
	keys := loadSortItems(items, in[l.Begin+tile*size:], own, n)
	digit := o.digits(items, &keys)
	padDigits(items, own, n, o.Mask, &digit)
	at, local, total := placeTile(t, items, tile, &l, &digit, status)
	for k := range items {
		moved[at[k]] = keys[k]
	}
	i := uint32(t.ThreadIdx.X)
	if i < digits {
		shift[i] = shiftOf(t, tile, local, total, &l, status, bases)
	}
	t.Sync()
	for k := range items {
		keys[k] = moved[i+uint32(sortThreads*k)]
	}
	digit = o.digits(items, &keys)
	for k := range items {
		if j := i + uint32(sortThreads*k); j < n {
			out[shift[digit[k]]+j] = keys[k]
		}
	}
}

// sortPairs is sortKeys with values that move with the keys.
//
//quern:kernel unchecked block=sortThreads minblocks=2 only=gpu instantiate=uint32:uint32,uint32:uint64,uint64:uint32,uint64:uint64
func sortPairs[K word, V uint32 | uint64](t kernel.Thread, o digitOrder[K], l sortLaunch, status, bases []uint32, in, out []K, values, outValues []V) {
	shift := kernel.Shared[[digits]uint32](t)
	moved, movedValues := kernel.Dynamic[K](t), kernel.Dynamic[V](t)
	items := sortItems[K, V]()
	size := uint32(sortThreads * items)
	tile := takeTile(t, &l, status)
	n := min(l.Count-tile*size, size)
	own := uint32(t.Warp()*32*items + t.Lane())
	keys := loadSortItems(items, in[l.Begin+tile*size:], own, n)
	digit := o.digits(items, &keys)
	padDigits(items, own, n, o.Mask, &digit)
	at, local, total := placeTile(t, items, tile, &l, &digit, status)
	for k := range items {
		moved[at[k]] = keys[k]
	}
	v := loadSortItems(items, values[l.Begin+tile*size:], own, n)
	i := uint32(t.ThreadIdx.X)
	if i < digits {
		shift[i] = shiftOf(t, tile, local, total, &l, status, bases)
	}
	t.Sync()
	for k := range items {
		keys[k] = moved[i+uint32(sortThreads*k)]
	}
	to := o.digits(items, &keys)
	for k := range items {
		j := i + uint32(sortThreads*k)
		to[k] = shift[to[k]] + j
		if j < n {
			out[to[k]] = keys[k]
		}
	}
	t.Sync()
	for k := range items {
		movedValues[at[k]] = v[k]
	}
	t.Sync()
	for k := range items {
		if j := i + uint32(sortThreads*k); j < n {
			outValues[to[k]] = movedValues[j]
		}
	}
}

// padDigits gives the places behind the n keys of a tile the last digit.
//
//quern:unchecked
func padDigits(items int, own, n, last uint32, digit *[mostSortItems]uint32) {
	if n == uint32(sortThreads*items) {
		return
	}
	for k := range items {
		if own+uint32(32*k) >= n {
			digit[k] = last
		}
	}
}

// mostInLine is the length of the longest line that a block sorts.
const mostInLine = sortThreads * longSortItems

// sortLines sorts lines of n keys, at most mostInLine, each in a block. A line of a plane begins at each of inner
// neighbouring keys, and its keys are inner apart. values belong to the keys, unless it is empty.
//
//quern:kernel unchecked block=sortThreads minblocks=2 only=gpu instantiate=uint32,uint64
func sortLines[K word](t kernel.Thread, o digitOrder[K], passes int32, last, n, inner uint32, keys []K, values []uint32) {
	counts, sums := kernel.Shared[tileCounts](t), kernel.Shared[[sortWarps]uint32](t)
	moved, movedValues := kernel.Dynamic[K](t), kernel.Dynamic[uint32](t)
	const most = longSortItems
	line := uint32(t.BlockIdx.X)
	plane := line / inner
	first := uint64(plane)*uint64(n)*uint64(inner) + uint64(line-plane*inner)
	lineKeys, pairs := keys[first:], len(values) > 0
	lineValues := values
	if pairs {
		lineValues = values[first:]
	}
	items := int((n + sortThreads - 1) / sortThreads)
	own := uint32(t.Warp()*32*items + t.Lane())
	var key [mostSortItems]K
	var value [mostSortItems]uint32
	//quern:unroll
	for k := range most {
		if i := own + uint32(32*k); k < items && i < n {
			key[k] = lineKeys[uint64(i)*uint64(inner)]
			if pairs {
				value[k] = lineValues[uint64(i)*uint64(inner)]
			}
		}
	}
	//quern:nounroll
	for pass := range passes {
		if pass == passes-1 {
			o.Mask = last
		}
		digit := o.digits(most, &key)
		//quern:unroll
		for k := range most {
			if own+uint32(32*k) >= n {
				digit[k] = o.Mask // stays behind the keys
			}
		}
		total := countTile(t, most, items, &digit, counts)
		at, _ := rankTile(t, most, items, total, &digit, counts, sums)
		//quern:unroll
		for k := range most {
			if k < items {
				moved[at[k]] = key[k]
			}
		}
		t.Sync()
		//quern:unroll
		for k := range most {
			if k < items {
				key[k] = moved[own+uint32(32*k)]
			}
		}
		t.Sync()
		if pairs {
			//quern:unroll
			for k := range most {
				if k < items {
					movedValues[at[k]] = value[k]
				}
			}
			t.Sync()
			//quern:unroll
			for k := range most {
				if k < items {
					value[k] = movedValues[own+uint32(32*k)]
				}
			}
			t.Sync()
		}
		o.Shift += digitBits
	}
	//quern:unroll
	for k := range most {
		if i := own + uint32(32*k); k < items && i < n {
			lineKeys[uint64(i)*uint64(inner)] = key[k]
			if pairs {
				lineValues[uint64(i)*uint64(inner)] = value[k]
			}
		}
	}
}

// takeTile returns the number of the tile that the block works on. Blocks take tiles in the
// order in which they start, so all earlier tiles are being worked on.
//
//quern:unchecked
func takeTile(t kernel.Thread, l *sortLaunch, status []uint32) uint32 {
	tile := kernel.Shared[uint32](t)
	if t.ThreadIdx.X == 0 {
		*tile = kernel.AtomicAdd(&status[l.Ticket], 1) - l.Taken
	}
	t.Sync()
	return *tile
}

// countParts counts the digits of a part of the keys per thread: counts[part*digits+digit].
//
//quern:kernel only=cpu instantiate=uint32,uint64
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
//quern:kernel only=cpu instantiate=uint32,uint64
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
//quern:kernel only=cpu instantiate=uint32:uint32,uint32:uint64,uint64:uint32,uint64:uint64
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

// sortLineParts is sortLines for one thread per line. spare and spareValues have as many elements as
// keys and values.
//
//quern:kernel only=cpu instantiate=uint32,uint64
func sortLineParts[K word](t kernel.Thread, o digitOrder[K], passes int32, last uint32, n, inner int, keys, spare []K, values, spareValues []uint32) {
	line := t.Global()
	plane := line / inner
	first := plane*n*inner + line - plane*inner
	pairs := len(values) > 0
	if n == 0 || first+(n-1)*inner >= len(keys) || len(spare) != len(keys) || pairs && len(values) != len(keys) || len(spareValues) != len(values) {
		return
	}
	if n <= 32 {
		mask := K(1)<<(digitBits*(passes-1))*K(last+1) - 1
		for i := 1; i < n; i++ {
			k := keys[first+i*inner]
			v := o.ordered(k) >> o.Shift & mask
			value := uint32(0)
			if pairs {
				value = values[first+i*inner]
			}
			j := i
			for ; j > 0; j-- {
				before := keys[first+(j-1)*inner]
				if o.ordered(before)>>o.Shift&mask <= v {
					break
				}
				keys[first+j*inner] = before
				if pairs {
					values[first+j*inner] = values[first+(j-1)*inner]
				}
			}
			keys[first+j*inner] = k
			if pairs {
				values[first+j*inner] = value
			}
		}
		return
	}
	for pass := range passes {
		if pass == passes-1 {
			o.Mask = last
		}
		var at [digits]int
		for i := range n {
			at[uint8(o.digit(keys[first+i*inner]))]++
		}
		sum := 0
		for d := range digits {
			count := at[d]
			at[d] = sum
			sum += count
		}
		for i := range n {
			k := keys[first+i*inner]
			d := uint8(o.digit(k))
			spare[first+at[d]*inner] = k
			if pairs {
				spareValues[first+at[d]*inner] = values[first+i*inner]
			}
			at[d]++
		}
		for i := range n {
			keys[first+i*inner] = spare[first+i*inner]
		}
		if pairs {
			for i := range n {
				values[first+i*inner] = spareValues[first+i*inner]
			}
		}
		o.Shift += digitBits
	}
}

// linesOf writes to which line the keys at the positions at belong. A line has n keys, which are
// inner apart.
//
//quern:kernel
func linesOf(t kernel.Thread, n, inner uint32, at, lines []uint32) {
	if i := t.Global(); i < len(at) {
		plane := at[i] / (n * inner)
		lines[i] = plane*inner + (at[i]-plane*n*inner)%inner
	}
}

// placeLines copies the elements of lines, which in has one after another, to their places.
//
//quern:kernel
func placeLines(t kernel.Thread, n, inner uint32, in, out []uint32) {
	if i := t.Global(); i < len(out) && i < len(in) {
		line := uint32(i) / n
		plane := line / inner
		out[plane*n*inner+(uint32(i)-line*n)*inner+line-plane*inner] = in[i]
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

// widen copies keys to words.
//
//quern:kernel instantiate=uint8,uint16
func widen[K uint8 | uint16](t kernel.Thread, keys []K, words []uint32) {
	if i := t.Global(); i < len(keys) {
		words[i] = uint32(keys[i])
	}
}

// narrow copies words to the keys that they stand for.
//
//quern:kernel instantiate=uint8,uint16
func narrow[K uint8 | uint16](t kernel.Thread, words []uint32, keys []K) {
	if i := t.Global(); i < len(keys) {
		keys[i] = K(words[i])
	}
}

// A chunk is a part of an element that is moved.
type chunk interface {
	uint8 | uint16 | uint32 | uint64
}

// gatherFrom copies the elements at the indices at: those of in, and from word split on those of
// more. An element has words words.
//
//quern:kernel instantiate=uint8,uint16,uint32,uint64
func gatherFrom[W chunk](t kernel.Thread, words, split int, at []uint32, in, more, out []W) {
	i := t.Global()
	if i >= len(out) {
		return
	}
	from := int(at[i/words])*words + i%words
	if from >= split {
		out[i] = more[from-split]
	} else {
		out[i] = in[from]
	}
}

// scatter copies the elements of in to the indices at. An element has words words.
//
//quern:kernel instantiate=uint8,uint16,uint32,uint64
func scatter[W chunk](t kernel.Thread, words int, at []uint32, in, out []W) {
	if i := t.Global(); i < len(in) {
		out[int(at[i/words])*words+i%words] = in[i]
	}
}
