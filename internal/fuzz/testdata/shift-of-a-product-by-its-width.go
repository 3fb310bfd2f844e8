//fuzz:launch seed=715001067 grid=3x1x1 block=16x1x1 in1=48 n=48 out0=48 out1=48

package main

import (
	"quern.dev/kernel"
)

//quern:kernel
func kernelP0(t kernel.Thread, n int, in1 []int32, out0 []uint, out1 []int64) {
	if i := t.Global(); i < n {
		out0[i] = 255*uint(in1[i])<<66 + 3
		out1[i] = int64(in1[i])*-1<<64>>70 + int64(in1[i])*5>>64
	}
}

// cuda proven: out0[0] = 765, want 0
