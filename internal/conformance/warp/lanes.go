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

// dividedGathers folds rows of elements at the given positions: the sum of their products
// with weights, the greatest at an odd place, and the lanes of those below zero.
//
//quern:kernel block=64
func dividedGathers(t kernel.Thread, starts []int32, at []int16, weights, in, out []int32) {
	row := t.BlockIdx.X*2 + t.Warp()
	var dot, below int32
	greatest := int32(-1 << 31)
	for e := starts[row] + int32(t.Lane()); e < starts[row+1]; e += 32 {
		v := in[at[e]]
		dot += v * weights[e]
		if e&1 == 1 && v > greatest {
			greatest = v
		}
		if v < 0 {
			below += int32(t.Lane())
		}
	}
	dot, greatest = kernel.WarpReduceAdd(t, dot), kernel.WarpReduceMax(t, greatest)
	out[t.Global()] = dot ^ greatest ^ kernel.WarpReduceAdd(t, below)<<8 ^ int32(t.Lane())
}

// dividedBytes folds bytes in the order of each lane.
//
//quern:kernel block=32
func dividedBytes(t kernel.Thread, from, to uint32, limit uint8, in []uint8, table []uint32, out []uint32) {
	product, count := uint32(1), uint32(0)
	for i := from + uint32(t.Lane()); i < to; i += 32 {
		if in[i] > limit {
			count++
		}
		product = product*3 + table[in[i]]
	}
	out[t.Lane()] = product + kernel.WarpReduceAdd(t, count)
}

// dividedRows sums the products of two rows of a matrix, in which each row has one column
// less than the one before.
//
//quern:kernel block=128
func dividedRows(t kernel.Thread, columns int, in, out []float32) {
	row := t.Warp()
	var sum, least float32
	for c := t.Lane(); c < columns-row; c += 32 {
		sum += in[row*columns+c] * in[c]
		least = min(least, in[row*columns+c]-sum)
	}
	out[t.Global()] = sum - 2*least
	sum = kernel.WarpReduceAdd(t, sum)
	if t.Lane() == 3 {
		out[t.Global()] += sum
	}
}
