//fuzz:launch seed=1 grid=1x1x1 block=4x1x1 count=2 data=6 sums=4

package main

import (
	"quern.dev/kernel"
)

//quern:kernel
func kernelP0(t kernel.Thread, count int32, data []int32, sums []uint64) {
	i := t.Global()
	if i >= len(sums) {
		return
	}
	s := int32(0)
	for j := int32(-2147483648); j <= -2147483648+count; j += 3 {
		s += data[2*(int64(j) - -2147483648)+1]
	}
	sums[i] = uint64(s)
}
