//fuzz:launch seed=5 grid=4x1x1 block=64x1x1 n=256 in0=256 in1=256 out0=256 out1=256 sums=256

package main

import "quern.dev/kernel"

//quern:kernel
func kernelP0(t kernel.Thread, n int, in0 []int, in1 []int, out0 []int, out1 []int, sums []uint64) {
	i := t.Global()
	cells := kernel.Shared[[64]int64](t)
	cells[t.ThreadIdx.X] = int64(in0[i]) / int64(in1[i]|1)
	t.Sync()
	out0[i] = in0[i] * in1[(i+7)%256] / (in1[i] | 1)
	out1[i] = in0[i] * in0[i] % (in1[i]*in1[(i+3)%256] | 1)
	a := uint64(in0[i]) * 0x9e3779b97f4a7c15
	b := uint64(in1[i])*0xbf58476d1ce4e5b9>>(uint(i)%64) | 1
	sums[i] = a/b ^ a%b ^ uint64(cells[63-t.ThreadIdx.X])
}
