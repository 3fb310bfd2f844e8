//fuzz:launch seed=1 grid=2x1x1 block=8x1x1 data0=288 n=14 out0=56

package main

import (
	"quern.dev/kernel"
)

//quern:kernel
func kernelP0(t kernel.Thread, n int, data0 []int, out0 []int8) {
	if i := t.Global(); i < n {
		out0[i*4+1] ^= int8(data0[i]) | 1
		for k, moved := range *(*[3]int8)(out0[i*4:]) {
			out0[i*4+k] = moved
		}
	}
}
