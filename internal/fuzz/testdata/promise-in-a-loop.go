//fuzz:launch seed=1000083 grid=1x1x1 block=6x1x1 h=1 in0=6 in1=5 in2=5 out0=16 out1=12 out2=4 sums=4 w=4

package main

import (
	"quern.dev/kernel"
)

//quern:kernel block=6x1
func kernelP0(t kernel.Thread, w int, h int, p uint32, q bool, r int, in0 []uint16, in1 []uint32, in2 []bool, out0 []uint32, out1 []int) {
	x, _ := t.Global2()
	wout1 := out1[3:3:3]
	for v7, v8 := 0, 5; v7 < v8; v7, v8 = 1, 1 {
		switch x {
		case 0:
			p = uint32(t.Stride()) &^ uint32(wout1[0])
		}
	}
}

// compile: the analysis of the loop did not terminate: uint32(t.Stride()) fits because of
// a launch condition, which its range does not reflect.
