package kernel

import "unsafe"

// The operations of this file work on a warp: 32 threads with consecutive indices
// in a block, X varying fastest, that the hardware runs in lockstep. All threads
// of the warp must call them together: never under a condition or in a loop that
// differs between these threads. The last warp of a block may have fewer threads;
// the operations then apply to the threads that exist.
//
// These conditions are the same for a whole warp: those on [Thread.Warp], on
// values that are the same for the block, and on the results of votes, reductions
// and Shuffle from one lane.

// Shuffle returns the v of the thread in the given lane. The lane is taken modulo
// 32. If the lane does not exist, the result is the caller's own v.
//
// T is a number, a bool, or an array or struct of these.
func Shuffle[T any](t Thread, v T, lane int) T {
	return shuffle(t, "Shuffle", v, lane&(warpSize-1))
}

// ShuffleUp returns the value from the lane delta below the caller's own. Delta
// is taken modulo 32. If there is no such lane, the result is v.
func ShuffleUp[T any](t Thread, v T, delta int) T {
	return shuffle(t, "ShuffleUp", v, t.Lane()-delta&(warpSize-1))
}

// ShuffleDown returns the value from the lane delta above the caller's own. Delta
// is taken modulo 32. If there is no such lane, the result is v.
func ShuffleDown[T any](t Thread, v T, delta int) T {
	return shuffle(t, "ShuffleDown", v, t.Lane()+delta&(warpSize-1))
}

// ShuffleXor returns the value from the lane whose number is the caller's own
// with the bits of mask flipped. Mask is taken modulo 32. If there is no such
// lane, the result is v.
func ShuffleXor[T any](t Thread, v T, mask int) T {
	return shuffle(t, "ShuffleXor", v, t.Lane()^mask&(warpSize-1))
}

// Ballot returns a mask in which bit i is set if p is true in lane i.
func Ballot(t Thread, p bool) uint32 {
	var mask uint32
	for lane, q := range gather(t, "Ballot", p) {
		if q {
			mask |= 1 << lane
		}
	}
	return mask
}

// Any reports whether p is true in any lane.
func Any(t Thread, p bool) bool {
	any := false
	for _, q := range gather(t, "Any", p) {
		any = any || q
	}
	return any
}

// All reports whether p is true in all lanes.
func All(t Thread, p bool) bool {
	all := true
	for _, q := range gather(t, "All", p) {
		all = all && q
	}
	return all
}

// MatchAny returns a mask of the lanes in which v has the same bits as in the
// caller's lane. It takes one step per distinct value in the warp.
func MatchAny[T Number | ~bool](t Thread, v T) uint32 {
	return matching(gather(t, "MatchAny", v), v)
}

// MatchAll reports whether v has the same bits in all lanes. The mask contains
// all lanes if it does, and is 0 otherwise.
func MatchAll[T Number | ~bool](t Thread, v T) (mask uint32, all bool) {
	values := gather(t, "MatchAll", v)
	mask = matching(values, v)
	if mask != uint32(1<<len(values)-1) {
		return 0, false
	}
	return mask, true
}

// WarpReduceAdd returns the sum of v over all lanes. The order of the additions
// is fixed: lane i adds the value of lane i+16, then of i+8, i+4, i+2 and i+1.
func WarpReduceAdd[T Number](t Thread, v T) T {
	return reduce(gather(t, "WarpReduceAdd", v), func(x, y T) T { return x + y })
}

// WarpReduceMin returns the smallest v, like Go's min: NaN if any v is NaN.
func WarpReduceMin[T Number](t Thread, v T) T {
	return reduce(gather(t, "WarpReduceMin", v), func(x, y T) T { return min(x, y) })
}

// WarpReduceMax returns the largest v, like Go's max: NaN if any v is NaN.
func WarpReduceMax[T Number](t Thread, v T) T {
	return reduce(gather(t, "WarpReduceMax", v), func(x, y T) T { return max(x, y) })
}

// WarpReduceAnd returns the bitwise and of v over all lanes.
func WarpReduceAnd[T Integer](t Thread, v T) T {
	return reduce(gather(t, "WarpReduceAnd", v), func(x, y T) T { return x & y })
}

// WarpReduceOr returns the bitwise or of v over all lanes.
func WarpReduceOr[T Integer](t Thread, v T) T {
	return reduce(gather(t, "WarpReduceOr", v), func(x, y T) T { return x | y })
}

// WarpReduceXor returns the bitwise exclusive or of v over all lanes.
func WarpReduceXor[T Integer](t Thread, v T) T {
	return reduce(gather(t, "WarpReduceXor", v), func(x, y T) T { return x ^ y })
}

// WarpScanAdd returns the sum of v over the lanes up to and including the
// caller's own. The order of the additions is fixed: each lane adds the value of
// the lane 1 below, then 2, 4, 8 and 16 below.
func WarpScanAdd[T Number](t Thread, v T) T {
	return scan(gather(t, "WarpScanAdd", v))[t.Lane()]
}

// WarpScanExclusiveAdd returns the sum of v over the lanes below the caller's
// own: the result of WarpScanAdd in the lane below, and zero in lane 0.
func WarpScanExclusiveAdd[T Number](t Thread, v T) T {
	sums := scan(gather(t, "WarpScanExclusiveAdd", v))
	if t.Lane() == 0 {
		return 0
	}
	return sums[t.Lane()-1]
}

// SyncWarp waits until every thread of the warp has called it. Writes that a
// thread made before the call are visible to the other threads of the warp after
// it.
func (t Thread) SyncWarp() {
	gather(t, "SyncWarp", struct{}{})
}

func shuffle[T any](t Thread, operation string, v T, from int) T {
	values := gather(t, operation, v)
	if from < 0 || from >= len(values) {
		return v
	}
	return values[from]
}

// reduce combines values in the order in which a full warp's butterfly reduction
// does in lane 0.
func reduce[T any](values []T, combine func(x, y T) T) T {
	for d := warpSize / 2; d > 0; d /= 2 {
		for i := 0; i < d && i+d < len(values); i++ {
			values[i] = combine(values[i], values[i+d])
		}
	}
	return values[0]
}

func scan[T Number](values []T) []T {
	for d := 1; d < warpSize; d *= 2 {
		for i := len(values) - 1; i >= d; i-- {
			values[i] += values[i-d]
		}
	}
	return values
}

// matching returns a mask of the values that have the same bits as v.
func matching[T Number | ~bool](values []T, v T) uint32 {
	var mask uint32
	for lane := range values {
		if sameBits(&values[lane], &v) {
			mask |= 1 << lane
		}
	}
	return mask
}

// sameBits compares the bytes of two numbers, which have no pointers and no
// padding.
func sameBits[T any](x, y *T) bool {
	size := unsafe.Sizeof(*x)
	return string(unsafe.Slice((*byte)(unsafe.Pointer(x)), size)) == string(unsafe.Slice((*byte)(unsafe.Pointer(y)), size))
}
