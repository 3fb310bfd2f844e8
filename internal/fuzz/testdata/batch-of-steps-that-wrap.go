//fuzz:launch seed=17 grid=2x1x1 block=32x1x1 in=2048<90 k=3 out=64

package main

import "quern.dev/kernel"

//quern:kernel block=32
func kernelP0(t kernel.Thread, k int, in []int32, out []int32) {
	i := t.Global()
	if i >= len(out) {
		return
	}
	sum := int32(0)
	for j := i; j < k*700; j += t.GridDim.X * 614891469123651721 { // 15 steps are 14 modulo 1<<64
		sum = sum*31 + in[j]
	}
	out[i] = sum
}
