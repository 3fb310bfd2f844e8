//fuzz:launch seed=12 grid=2x1x1 block=4x1x1 in=512 out=1024

package main

import "quern.dev/kernel"

//quern:kernel
func kernelP0(t kernel.Thread, in []int32, out []int32) {
	tile := kernel.Shared[[512]int32](t)
	big := kernel.Shared[[4][120]int32](t)
	id := t.ThreadIdx.X
	for j := id; j < 512; j += t.BlockDim.X {
		tile[j] = in[j] % 1000
	}
	for j := range 120 {
		big[id][j] = in[4*j+id]
	}
	t.Sync()
	own := tile[128*id : 128*id+128]
	*(*[6]int32)(own[1:]) = *(*[6]int32)(own[0:])
	k := int(uint32(own[50]) % 4)
	*(*[6]int32)(own[10+k:]) = *(*[6]int32)(own[12:])
	*(*[100]int32)(own[20:]) = *(*[100]int32)(own[20+k:])
	*(*[100]int32)(own[k+4:]) = *(*[100]int32)(own[4:])
	row := big[id][:]
	*(*[90]int32)(row[7:]) = *(*[90]int32)(row[5:])
	*(*[90]int32)(own[2:]) = *(*[90]int32)(row[1:])
	p, q := (*[80]int32)(own[k:]), (*[80]int32)(own[2:])
	if k > 1 {
		q = (*[80]int32)(row[k:])
	}
	*p = *q
	*p, *q = *q, *p
	t.Sync()
	for j := range 128 {
		out[(4*t.BlockIdx.X+id)*128+j] = own[j] + row[j%120]
	}
}
