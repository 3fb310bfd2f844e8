//fuzz:launch seed=410000791 grid=2x2x1 block=5x4x1 atomicXor=1 h=8 in0=64 in1=64 in2=65 out0=64 out1=64 sums=64 w=8

package main

import (
	"quern.dev/kernel"
)

//quern:kernel block=5x4
func kernelP0(t kernel.Thread, w int, h int, p [2][2]float64, in0 []bool, in1 []uint, in2 []float32, out0 []uint16, out1 []int16) {
	x, y := t.Global2()

	{

		v8 := &p
		v8[0][0] = p[0][6+int32(out1[y*w+x])]

	}

}

// sim narrow: out-of-bounds access: local load of 8 bytes: byte 4294967304 of 16
