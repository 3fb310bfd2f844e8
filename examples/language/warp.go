package language

import (
	"math/bits"

	"quern.dev/kernel"
)

// warpSums gives every thread the sum over its warp, and the sum up to itself.
//
//quern:kernel
func warpSums(t kernel.Thread, x, all, upTo []float32) {
	i := t.Global()
	v := float32(0) // what a thread beyond the end adds
	if i < len(x) {
		v = x[i]
	}
	sum, prefix := kernel.WarpReduceAdd(t, v), kernel.WarpScanAdd(t, v)
	if i < len(x) {
		all[i], upTo[i] = sum, prefix
	}
}

// blockSum adds the elements of x to sum[0]. Each warp reduces its own elements,
// then the first warp reduces the sums of all warps.
//
//quern:kernel block=256
func blockSum(t kernel.Thread, x, sum []float32) {
	partial := kernel.Shared[[256 / 32]float32](t)
	var s float32
	for i := t.Global(); i < len(x); i += t.Stride() {
		s += x[i]
	}
	s = kernel.WarpReduceAdd(t, s)
	if t.Lane() == 0 {
		partial[t.Warp()] = s
	}
	t.Sync()
	if t.Warp() == 0 {
		var p float32
		if t.Lane() < len(partial) {
			p = partial[t.Lane()]
		}
		p = kernel.WarpReduceAdd(t, p)
		if t.Lane() == 0 {
			kernel.AtomicAdd(&sum[0], p)
		}
	}
}

// compact writes the nonnegative elements of x to out, in any order, and their
// number to count[0]. Each warp reserves space with one atomic operation.
//
//quern:kernel
func compact(t kernel.Thread, x, out, count []int32) {
	i := t.Global()
	keep := i < len(x) && x[i] >= 0
	mask := kernel.Ballot(t, keep)
	var base int32
	if t.Lane() == 0 {
		base = kernel.AtomicAdd(&count[0], int32(bits.OnesCount32(mask)))
	}
	base = kernel.Shuffle(t, base, 0)
	if keep {
		below := mask & (1<<t.Lane() - 1)
		out[int(base)+bits.OnesCount32(below)] = x[i]
	}
}

// shuffles exchanges values within each warp.
//
//quern:kernel block=32
func shuffles(t kernel.Thread, x, out []int32) {
	v, o := x[t.ThreadIdx.X], out[5*t.ThreadIdx.X:]
	o[0] = kernel.Shuffle(t, v, 5)         // of lane 5
	o[1] = kernel.ShuffleUp(t, v, 1)       // of the lane below
	o[2] = kernel.ShuffleDown(t, v, 2)     // of the lane 2 above
	o[3] = kernel.ShuffleXor(t, v, 1)      // of the other lane of the pair
	o[4] = kernel.Shuffle(t, v, int(v)%32) // of a lane of the thread's choice
}

// agreements counts how often each key occurs in a warp, and records which warps
// have a single key and which have some zero keys.
//
//quern:kernel block=64
func agreements(t kernel.Thread, keys []uint32, count []int32, single, zero []bool) {
	i := t.Global()
	count[i] = int32(bits.OnesCount32(kernel.MatchAny(t, keys[i])))
	_, single[i] = kernel.MatchAll(t, keys[i])
	zero[i] = kernel.Any(t, keys[i] == 0) && !kernel.All(t, keys[i] == 0)
}

// bounds uses the other reductions and the exclusive scan.
//
//quern:kernel block=32
func bounds(t kernel.Thread, x []uint32, out []uint32) {
	v := x[t.ThreadIdx.X]
	low, high := kernel.WarpReduceMin(t, v), kernel.WarpReduceMax(t, v)
	and, or, xor := kernel.WarpReduceAnd(t, v), kernel.WarpReduceOr(t, v), kernel.WarpReduceXor(t, v)
	before := kernel.WarpScanExclusiveAdd(t, v)
	if t.Lane() == 31 {
		out[0], out[1], out[2], out[3], out[4], out[5] = low, high, and, or, xor, before
	}
}

// reversed reverses each warp's elements through shared memory.
//
//quern:kernel block=128
func reversed(t kernel.Thread, x []int32) {
	tile := kernel.Shared[[128]int32](t)
	i := t.Global()
	tile[t.ThreadIdx.X] = x[i]
	t.SyncWarp()
	x[i] = tile[t.ThreadIdx.X^31]
}
