package tensor

import "quern.dev/kernel"

// The kernels of this file add a product of tiles to c, which has 128 rows. Each of the two
// groups of the block computes half of them. a has 128 rows and b as many as c has columns,
// of steps*8 lines. Two stages of tiles are in shared memory.

const groupStages = 2

// groups64 computes 64 columns.
//
//quern:kernel block=256 instantiate=[8]kernel.Float16:[8]kernel.Float16:float32,[8]kernel.BFloat16:[8]kernel.BFloat16:float32,[4]float32:[4]float32:float32,[16]kernel.Float8E4M3:[16]kernel.Float8E4M3:float32,[16]kernel.Float8E4M3:[16]kernel.Float8E5M2:float32,[16]kernel.Float8E5M2:[16]kernel.Float8E4M3:float32,[16]kernel.Float8E5M2:[16]kernel.Float8E5M2:float32,[16]int8:[16]int8:int32,[16]int8:[16]uint8:int32,[16]uint8:[16]int8:int32,[16]uint8:[16]uint8:int32
func groups64[A, B kernel.MatrixLine, C float32 | int32](t kernel.Thread, steps int, a []A, b []B, c []C) {
	ta := kernel.Shared[[groupStages * 128 * 8]A](t)
	tb := kernel.Shared[[groupStages * 64 * 8]B](t)
	var sum [8]kernel.Accumulator[C]
	for j := range sum {
		for e := range sum[j] {
			sum[j][e] = c[sumAt(t, sum[j], j, e, 64)]
		}
	}
	for step := range steps {
		stage := step % groupStages
		for i := t.ThreadIdx.X; i < 128*8; i += 256 {
			ta[stage*128*8+kernel.TileLine(i/8, i%8)] = a[(i/8*steps+step)*8+i%8]
		}
		for i := t.ThreadIdx.X; i < 64*8; i += 256 {
			tb[stage*64*8+kernel.TileLine(i/8, i%8)] = b[(i/8*steps+step)*8+i%8]
		}
		t.Sync()
		kernel.GroupMMA(t, &ta[stage*128*8+t.Warp()/4*64*8], &tb[stage*64*8], sum[:])
		kernel.GroupWait(t, 0)
	}
	for j := range sum {
		for e := range sum[j] {
			c[sumAt(t, sum[j], j, e, 64)] = sum[j][e]
		}
	}
}

// groups256 computes 256 columns. Of two products, one is waited for.
//
//quern:kernel block=256
func groups256(t kernel.Thread, steps int, a, b [][8]kernel.BFloat16, c []float32) {
	ta := kernel.Shared[[groupStages * 128 * 8][8]kernel.BFloat16](t)
	tb := kernel.Shared[[groupStages * 256 * 8][8]kernel.BFloat16](t)
	var sum [32]kernel.Accumulator[float32]
	for step := range steps {
		stage := step % groupStages
		kernel.GroupWait(t, 1)
		t.Sync()
		for i := t.ThreadIdx.X; i < 128*8; i += 256 {
			kernel.AsyncCopy(t, &ta[stage*128*8+kernel.TileLine(i/8, i%8)], &a[(i/8*steps+step)*8+i%8])
		}
		for i := t.ThreadIdx.X; i < 256*8; i += 256 {
			kernel.AsyncCopy(t, &tb[stage*256*8+kernel.TileLine(i/8, i%8)], &b[(i/8*steps+step)*8+i%8])
		}
		kernel.AsyncCommit(t)
		kernel.AsyncWait(t, 0)
		t.Sync()
		kernel.GroupMMA(t, &ta[stage*128*8+t.Warp()/4*64*8], &tb[stage*256*8], sum[:])
	}
	kernel.GroupWait(t, 0)
	for j := range sum {
		for e := range sum[j] {
			at := sumAt(t, sum[j], j, e, 256)
			c[at] += sum[j][e]
		}
	}
}

// sumAt returns the index in c, which has n columns, of element e of the thread's sum j.
func sumAt[C float32 | int32](t kernel.Thread, sum kernel.Accumulator[C], j, e, n int) int {
	return (t.Warp()*16+sum.Row(t, e))*n + j*8 + sum.Column(t, e)
}
