package tensor

import "quern.dev/kernel"

// product computes c += a*b. Each warp computes 16 rows and 8 columns of c, which has n
// columns; a has k columns. The index of an element is row*k+column in a, and
// row*bRow+column*bColumn in b.
//
//quern:kernel block=64 instantiate=kernel.Float16:kernel.Float16:float32,kernel.BFloat16:kernel.BFloat16:float32,float32:float32:float32,float64:float64:float64,kernel.Float8E4M3:kernel.Float8E4M3:float32,kernel.Float8E4M3:kernel.Float8E5M2:float32,kernel.Float8E5M2:kernel.Float8E4M3:float32,kernel.Float8E5M2:kernel.Float8E5M2:float32,int8:int8:int32,int8:uint8:int32,uint8:int8:int32,uint8:uint8:int32
func product[A, B kernel.MatrixElement, C float32 | float64 | int32](t kernel.Thread, n, k, bRow, bColumn int, a []A, b []B, c []C) {
	tile := t.BlockIdx.X*2 + t.Warp()
	top, left := tile/(n/8)*16, tile%(n/8)*8
	if top*n >= len(c) {
		return
	}
	var sum kernel.Accumulator[C]
	for i := range sum {
		sum[i] = c[(top+sum.Row(t, i))*n+left+sum.Column(t, i)]
	}
	step := kernel.MatrixColumns[A]()
	for at := 0; at < k; at += step {
		fa := kernel.ReadMatrixA(t, a[top*k+at:], k, 1)
		fb := kernel.ReadMatrixB(t, b[at*bRow+left*bColumn:], bRow, bColumn)
		sum = kernel.MMA(t, fa, fb, sum)
	}
	for i := range sum {
		c[(top+sum.Row(t, i))*n+left+sum.Column(t, i)] = sum[i]
	}
}

// load stores the fragments of a 16x16 tile that each warp reads from shared memory: the
// words of A, and of both B with contiguous columns.
//
//quern:kernel block=64 instantiate=kernel.Float16:[8]kernel.Float16,kernel.BFloat16:[8]kernel.BFloat16,float32:[4]float32,kernel.Float8E4M3:[16]kernel.Float8E4M3,int8:[16]int8,uint8:[16]uint8
func load[T kernel.MatrixElement, R kernel.MatrixLine](t kernel.Thread, lines []R, words []uint32) {
	tiles := kernel.Shared[[2][16][2]R](t)
	line, half, warp := t.Lane()%16, t.Lane()/16, t.Warp()
	tiles[warp][line][half] = lines[warp*32+line*2+half]
	t.SyncWarp()
	a := kernel.LoadMatrixA[T](t, &tiles[warp][line][half])
	left, right := kernel.LoadMatrixBTransposed[T](t, &tiles[warp][line][half])
	out := words[t.ThreadIdx.X*8:]
	out[0], out[1], out[2], out[3] = a[0], a[1], a[2], a[3]
	for i := range left {
		out[4+i], out[6+i] = left[i], right[i]
	}
}

// loadTransposed does the same for tiles whose other dimension is contiguous.
//
//quern:kernel block=64 instantiate=kernel.Float16:[8]kernel.Float16,kernel.BFloat16:[8]kernel.BFloat16
func loadTransposed[T kernel.Float16 | kernel.BFloat16, R kernel.MatrixLine](t kernel.Thread, lines []R, words []uint32) {
	tiles := kernel.Dynamic[R](t)
	line, half, warp := t.Lane()%16, t.Lane()/16, t.Warp()
	tiles[warp*32+line*2+half] = lines[warp*32+line*2+half]
	t.SyncWarp()
	a := kernel.LoadMatrixATransposed[T](t, &tiles[warp*32+line*2+half])
	left, right := kernel.LoadMatrixB[T](t, &tiles[warp*32+line*2+half])
	out := words[t.ThreadIdx.X*8:]
	out[0], out[1], out[2], out[3] = a[0], a[1], a[2], a[3]
	for i := range left {
		out[4+i], out[6+i] = left[i], right[i]
	}
}

// outside points one lane past the end of a tile.
//
//quern:kernel block=32
func outside(t kernel.Thread, last int, words []uint32) {
	tile := kernel.Shared[[16][2][8]kernel.BFloat16](t)
	for i := range 8 {
		tile[t.Lane()%16][t.Lane()/16][i] = kernel.ToBFloat16(i)
	}
	t.Sync()
	line := t.Lane() % 16
	if line == 15 {
		line = last
	}
	a := kernel.LoadMatrixA[kernel.BFloat16](t, &tile[line][t.Lane()/16])
	words[t.Lane()] = a[0]
}
