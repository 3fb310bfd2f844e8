package warp

import "quern.dev/kernel"

// divided folds ranges that the lanes of a warp divide. Ranges may be empty, start below
// zero, or end where a counter of int32 wraps.
//
//quern:kernel block=64
func divided(t kernel.Thread, ranges []int32, in, out []int32) {
	row := t.BlockIdx.X*2 + t.Warp()
	var sum, last int32
	for e := ranges[2*row] + int32(t.Lane()); e < ranges[2*row+1]; e += 32 {
		if e >= 0 && int(e) < len(in) {
			sum = sum*3 + in[e]
		} else {
			sum ^= e
		}
		last = e
	}
	all := kernel.WarpReduceAdd(t, sum)
	out[t.Global()] = all ^ sum ^ last
}

// dividedOften folds the same range in a loop, by steps of fewer elements than lanes, from
// the thread's number in its warp.
//
//quern:kernel block=96
func dividedOften(t kernel.Thread, times, n int, in, out []int32) {
	lane := t.ThreadIdx.X % 32
	var sum int32
	for k := range times {
		for i := k*t.Warp() + lane; i < n; i += 20 {
			sum = sum*5 + in[i] - int32(i)
		}
		sum = kernel.ShuffleXor(t, sum, 1)
	}
	out[t.Global()] = sum
}

// dividedAmong reads past the end of in if the range does.
//
//quern:kernel block=32
func dividedAmong(t kernel.Thread, from, to int, in, out []int32) {
	var sum int32
	for i := from + t.Lane(); i < to; i += 32 {
		sum += in[i]
	}
	out[t.Lane()] = kernel.WarpReduceAdd(t, sum)
}

// dividedWhole sums all elements in every warp.
//
//quern:kernel block=64
func dividedWhole(t kernel.Thread, in []int32, out []int32) {
	var sum int32
	for i := t.Lane(); i < len(in); i += 32 {
		sum += in[i] * int32(i)
	}
	out[t.ThreadIdx.X] = kernel.WarpScanAdd(t, sum)
}
