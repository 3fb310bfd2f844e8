//fuzz:launch seed=3003165 grid=1x1x1 block=4x1x1 in0=4 sums=4

package main

import "quern.dev/kernel"

//quern:kernel block=4
func kernelP0(t kernel.Thread, in0 []int, sums []uint64) {
	i := t.Global()
	var count int32 = -1
	if in0[i] != 12345 {
		sums[i] = uint64(in0[i]) >> count
	}
}

// sim narrow: no fault, want shift: the check of a constant count was omitted.
