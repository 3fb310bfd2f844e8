//fuzz:launch seed=60034912 grid=2x1x1 block=8x1x1 n=8 in0=16 out0=16

package main

import (
	"quern.dev/kernel"
)

//quern:kernel block=8
func kernelP0(t kernel.Thread, n int, in0 []uint64, out0 []uint64) {
	all := kernel.Shared[[6720]uint64](t)
	tid := t.ThreadIdx.X
	i := t.BlockIdx.X*n + tid
	segment := all[tid*840 : tid*840+840]
	for k := range segment {
		segment[k] = in0[i] + uint64(k)
	}
	t.Sync()
	sum := uint64(0)
	for k := range 840 {
		sum = sum*3 + all[(n-1-tid)*840+k]
	}
	out0[i] = sum
}
