//fuzz:launch seed=702000514 grid=1x1x1 block=16x1x1 n=16 sums=16

package main

import (
	"quern.dev/kernel"
)

//quern:kernel block=16
func kernelP0(t kernel.Thread, n int, sums []uint64) {
	i := t.Global()
	v := kernel.WarpReduceAdd(t, uint64(i))
	switch 5 / t.ThreadIdx.Y {
	case 1:
		v++
	}
	sums[i] = v / uint64(t.ThreadIdx.Z)
}

// cpu build: invalid operation: division by zero
