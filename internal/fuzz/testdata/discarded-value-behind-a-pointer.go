//fuzz:launch seed=300030480 grid=1x1x1 block=4x1x1 in0=4 n=4 sums=4

package main

import (
	"quern.dev/kernel"
)

//quern:kernel block=4
func kernelP0(t kernel.Thread, n int, in0 []uint64, sums []uint64) {
	acc := uint64(n)
	v1 := uint64(2)
	v2 := uint64(3)
	v3 := &v2
	if in0[t.ThreadIdx.X] > 4 {
		v3 = &v1
	}
	*v3 += 4
	acc = acc*31 + uint64(*v3)
	sums[t.ThreadIdx.X] = v1 + v2
}

// cpu build: undefined: acc: the analysis of reads and the printer disagreed about which
// expressions may fail.
