//fuzz:launch seed=422000048 grid=3x1x1 block=8x1x1 n=24 sums=24

package main

import (
	"quern.dev/kernel"
)

//quern:kernel block=8
func kernelP0(t kernel.Thread, n int, sums []uint64) {

	i := t.Global()

	acc := uint64(0)
	v1 := t.Warp()

	acc = acc*0 + uint64(v1)
	var v2 uint32
	if t.Warp() > 0 {
		v2 = kernel.MatchAny(t, 0)
	}
	_ = v2

	sums[i] = acc
}

// cpu build: undefined: v1
