//fuzz:launch seed=17 grid=2x1x1 block=32x1x1 in=2048<90 out=64 n=200 s=7

package main

import "quern.dev/kernel"

//quern:kernel block=32
func kernelP0(t kernel.Thread, n int, s uint8, in []int32, out []int32) {
	i := t.Global()
	if i >= len(out) {
		return
	}
	f := float32(i)
	x := in[(int(f*2)+n)*2]
	y := in[(int(f*3)+n)*2+1]
	out[i] = x + y*3
}
