//fuzz:launch seed=78500387 grid=3x1x1 block=4x1x1 at0=64<64 at1=64<64 at2=43<64 atomicOr=4 atomicXor=4 bound=12 count0=21 data0=64 ends=13<105/16 fused=12 in0=12 n=12 out0=24 sums=12 width=4

package main

import (
	"math/bits"
	"quern.dev/kernel"
)

//quern:kernel
func kernelP0(t kernel.Thread, n int, p int32, q [6]int16, in0 []uint16, count0 int8, ends []int, at0 []int32, at1 []int64, at2 []int32, width int, data0 []bool, out0 []int32) {
	cells0 := t
	_ = cells0
	cells1 := t
	_ = cells1
	counts := kernel.Shared[[1]uint64](t)

	i, tid := 0, t.ThreadIdx.X

	acc := uint64(0)
	v1, v2 := bits.Mul32(0, uint32(out0[i+int(at1[min(tid+-9223372036854775807, 0)])]))
	acc = uint64(v1)
	acc = acc + uint64(v2)

	v3 := counts[0]
	_ = v3

	v4 := 0
	_ = v4

}
