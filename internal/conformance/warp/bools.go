package warp

import "quern.dev/kernel"

// flag is a defined bool type, pair a struct, and code a number.
type (
	flag bool
	pair struct {
		N    int16
		Here flag
		At   [2]float64
	}
	code uint16
)

//quern:kernel
func bools(t kernel.Thread, in []bool, lanes []int32, out []bool, masks []uint32) {
	i := linear(t)
	v, lane := in[i], int(lanes[i])
	o := out[i*10:][:10]
	o[0] = kernel.Shuffle(t, v, lane)
	o[1] = kernel.ShuffleUp(t, v, 2)
	o[2] = kernel.ShuffleDown(t, v, 3)
	o[3] = kernel.ShuffleXor(t, v, lane)
	o[4] = kernel.Any(t, v)
	o[5] = kernel.All(t, v)
	o[6] = kernel.All(t, v || t.Lane() > 0) && kernel.Any(t, !v)
	o[7] = !kernel.Any(t, t.Lane() == lane)
	masks[4*i] = kernel.Ballot(t, v)
	masks[4*i+1] = kernel.MatchAny(t, v)
	masks[4*i+2], o[8] = kernel.MatchAll(t, v)
	masks[4*i+3] = kernel.Ballot(t, true)
	kernel.Ballot(t, v)
	_, o[9] = kernel.MatchAll(t, true)
}

//quern:kernel
func structs(t kernel.Thread, in []pair, lanes []int32, out []pair, codes []code) {
	i := linear(t)
	p := kernel.Shuffle(t, in[i], int(lanes[i]))
	q := kernel.ShuffleXor(t, in[i].At, 1)
	p.At[0] += q[1]
	out[i] = p
	c := kernel.ShuffleDown(t, codes[i], 1)
	codes[i] = kernel.WarpReduceMax(t, c) - kernel.WarpScanExclusiveAdd(t, codes[i])
}
