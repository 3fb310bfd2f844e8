//fuzz:launch seed=200000656 grid=2x1x1 block=8x1x1 n=16 sums=16

package main

import (
	"quern.dev/kernel"
)

//quern:kernel
func kernelP0(t kernel.Thread, n int, sums []uint64) {
	i := t.Global()
	acc := uint64(t.Lane())
	for range 7 {
		acc = acc*31 + acc
	}
	acc = acc*31 + 1
	high := uint64(i) * 7001 * uint64(i+3) << 30
	acc ^= high*100 + high
	acc ^= uint64(int64(high)*-9 - 31)
	sums[i] = acc
}

// cuda wide: sums[1] = 34359738369, want 1065151889409
