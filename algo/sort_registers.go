package algo

import (
	"math/bits"

	"quern.dev/gpu"
	"quern.dev/kernel"
)

// A warp sorts lines of up to mostInWarp keys in registers: a lane has laneKeys keys.
const (
	laneKeys        = 32
	mostInWarp      = 32 * laneKeys
	registerThreads = 128
	registerWarps   = registerThreads / 32
)

// whole reports whether all bits of the words order them.
func (p *radixPlan[W, V]) whole() bool {
	return p.order.Shift == 0 && p.passes == sizeOf[W]() && p.last == digits-1
}

// inRegisters sorts each line in the registers of neighbouring lanes of a warp.
func (p *radixPlan[W, V]) inRegisters(s *gpu.Stream) error {
	shift := bits.Len(uint((p.axis.N+laneKeys-1)/laneKeys - 1)) // lanes per line: 1<<shift
	grid := gpu.Linear(p.axis.Outer * p.axis.Inner << shift)
	return LaunchSortRegisters(s, grid, p.order, uint32(p.axis.N), uint32(p.axis.Inner), uint32(shift), p.keys)
}

// key returns the key with the given ordered bits. If several keys have them, it is one of them.
func (o *digitOrder[K]) key(v K) K {
	v ^= o.Flip
	if o.Infinity == 0 {
		return v
	}
	if v&o.Sign != 0 {
		return v &^ o.Sign
	}
	return ^v
}

// sortRegisters sorts lines of n keys, each in the registers of 1<<shift lanes, which have laneKeys
// keys each. The keys of a line are inner apart, as in sortLines. All bits of keys count.
//
// The order in which a network of comparisons leaves equal keys does not matter, unless their bits
// differ: zeros and NaNs are then written again, in their old order.
//
//quern:kernel unchecked block=registerThreads only=gpu instantiate=uint32,uint64
func sortRegisters[K word](t kernel.Thread, o digitOrder[K], n, inner, shift uint32, keys []K) {
	moved := &kernel.Shared[[registerWarps][32 * (laneKeys + 1)]K](t)[t.Warp()]
	lane := uint32(t.Lane()) & (1<<shift - 1)
	line := uint32(t.Global() >> shift)
	plane := line / inner
	first := int(plane)*int(n)*int(inner) + int(line-plane*inner)
	if first >= len(keys) {
		n, first = 0, 0 // a warp's lanes sort together
	}
	from := keys[first:]
	last := max(n, 1) - 1
	var key [laneKeys]K
	if n > 0 {
		//quern:unroll
		for k := range uint32(laneKeys) {
			key[k] = from[min(lane+k<<shift, last)*inner]
		}
	}
	differ := o.orderLane(lane, n, shift, &key)
	sortLane(&key)
	for run := 1; run < 1<<shift; run *= 2 {
		mergeLanes(t, run, &key)
	}
	// Neighbouring lanes write neighbouring keys. A lane's keys are laneKeys+1 apart from the next
	// lane's, in different banks of the memory.
	own := uint32(t.Lane()) * (laneKeys + 1)
	//quern:unroll
	for k := range uint32(laneKeys) {
		moved[own+k] = o.key(key[k])
	}
	t.SyncWarp()
	if kernel.Any(t, differ) {
		restoreEqual(t, &o, o.ordered(0), n, inner, shift, from, &key, moved)
		restoreEqual(t, &o, ^K(0), n, inner, shift, from, &key, moved)
		t.SyncWarp()
	}
	begin := (uint32(t.Lane()) - lane) * (laneKeys + 1)
	//quern:unroll
	for k := range uint32(laneKeys) {
		i := lane + k<<shift
		key[k] = moved[begin+i+i/laneKeys]
	}
	//quern:unroll
	for k := range uint32(laneKeys) {
		if i := lane + k<<shift; i < n {
			from[i*inner] = key[k]
		}
	}
}

// orderLane replaces the keys of a lane by their ordered bits, and those behind the end of the
// line by the largest ones. It reports whether a key cannot be told from its ordered bits.
func (o *digitOrder[K]) orderLane(lane, n, shift uint32, key *[laneKeys]K) (differ bool) {
	if o.Infinity == 0 {
		//quern:unroll
		for k := range laneKeys {
			key[k] ^= o.Flip
		}
	} else {
		//quern:unroll
		for k := range laneKeys {
			v := key[k]
			key[k] = o.ordered(v)
			differ = differ || o.key(key[k]) != v
		}
	}
	if n < laneKeys<<shift {
		//quern:unroll
		for k := range uint32(laneKeys) {
			if lane+k<<shift >= n {
				key[k] = ^K(0)
			}
		}
	}
	return differ
}

// restoreEqual writes the keys of a line with the given ordered bits to their places in moved, in
// the order that they have in the line.
//
//quern:unchecked
func restoreEqual[K word](t kernel.Thread, o *digitOrder[K], class K, n, inner, shift uint32, line []K, key *[laneKeys]K, moved *[32 * (laneKeys + 1)]K) {
	lanes := uint32(1) << shift
	lane := uint32(t.Lane()) & (lanes - 1)
	begin := uint32(t.Lane()) - lane
	group := ^uint32(0) >> (32 - lanes) << begin
	at := uint32(0) // where the keys begin
	//quern:unroll
	for k := range laneKeys {
		if key[k] < class {
			at++
		}
	}
	for d := int(lanes / 2); d > 0; d /= 2 {
		at += kernel.ShuffleXor(t, at, d)
	}
	//quern:nounroll
	for k := range uint32(laneKeys) {
		i := lane + k<<shift
		var v K
		if i < n {
			v = line[i*inner]
		}
		is := i < n && o.ordered(v) == class
		votes := kernel.Ballot(t, is) & group
		if is {
			to := at + uint32(bits.OnesCount32(votes&(1<<t.Lane()-1)))
			moved[begin*(laneKeys+1)+to+to/laneKeys] = v
		}
		at += uint32(bits.OnesCount32(votes))
	}
}

// sortLane sorts the keys of a lane by the odd-even merge sort (Batcher, 1968).
func sortLane[K word](key *[laneKeys]K) {
	//quern:unroll
	for s := range 5 { // runs of 1<<s keys are merged
		//quern:unroll
		for e := range 5 {
			if e > s {
				continue
			}
			d := 1 << (s - e)
			skipped := d % (1 << s)
			//quern:unroll
			for lo := range laneKeys {
				if hi := lo + d; lo >= skipped && (lo-skipped)/d%2 == 0 && hi < laneKeys && lo>>(s+1) == hi>>(s+1) {
					key[lo], key[hi] = min(key[lo], key[hi]), max(key[lo], key[hi])
				}
			}
		}
	}
}

// mergeLanes merges neighbouring runs of run lanes: it compares each key with the one at the
// mirrored place, after which each half of the result is bitonic.
func mergeLanes[K word](t kernel.Thread, run int, key *[laneKeys]K) {
	upper := t.Lane()&run != 0
	//quern:unroll
	for k := range laneKeys / 2 {
		a := kernel.ShuffleXor(t, key[laneKeys-1-k], 2*run-1)
		b := kernel.ShuffleXor(t, key[k], 2*run-1)
		key[k], key[laneKeys-1-k] = oneOf(upper, key[k], a), oneOf(upper, key[laneKeys-1-k], b)
	}
	//quern:nounroll
	for d := run / 2; d > 0; d /= 2 {
		upper := t.Lane()&d != 0
		//quern:unroll
		for k := range laneKeys {
			key[k] = oneOf(upper, key[k], kernel.ShuffleXor(t, key[k], d))
		}
	}
	//quern:unroll
	for s := range 5 {
		d := laneKeys / 2 >> s
		//quern:unroll
		for k := range laneKeys {
			if k&d == 0 {
				key[k], key[k+d] = min(key[k], key[k+d]), max(key[k], key[k+d])
			}
		}
	}
}

// oneOf returns the greater of two keys if upper is set, and otherwise the lesser.
func oneOf[K word](upper bool, a, b K) K {
	if b < a != upper {
		return b
	}
	return a
}
