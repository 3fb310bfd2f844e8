//fuzz:launch seed=73300001 grid=5x1x1 block=64x1x1 in0=400 in1=500 n=320 out0=320 sums=320

package main

import "quern.dev/kernel"

//quern:kernel block=64
func kernelP0(t kernel.Thread, n int, in0 []int64, in1 []uint32, out0 []float32, sums []uint64) {
	from := (t.BlockIdx.X*2 + t.Warp()) * 37
	to := from + n%90 + t.BlockIdx.X*5
	var acc uint64
	least, sum, last := int64(1)<<62, float32(0), uint8(3)
	for i := from + t.Lane(); i < to; i += 32 {
		v := in0[in1[i]%400]
		if v < least && i%3 > 0 {
			least = v
		}
		acc = acc*31 + uint64(v)
	}
	acc ^= kernel.WarpReduceXor(t, acc) + uint64(least)
	for i := from + t.Lane(); i < to; i += 32 {
		sum = sum*0.5 + float32(last)
		last = uint8(in1[i]) ^ uint8(t.Lane())
	}
	acc += kernel.WarpReduceMax(t, acc) + uint64(last)
	for i := uint32(from) + uint32(t.Lane()); i < uint32(to); i += 32 {
		acc += uint64(in1[i]) / uint64(in0[(uint32(acc)+in1[i])%400]|1)
	}
	acc += kernel.WarpReduceAdd(t, acc)
	if t.Global() < n {
		out0[t.Global()] = sum
		sums[t.Global()] = acc
	}
}
