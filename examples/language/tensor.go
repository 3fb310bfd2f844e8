package language

import "quern.dev/kernel"

// Eight is 16 bytes of a row of a matrix of bfloat16.
type Eight = [8]kernel.BFloat16

// tensorProduct computes c = a*b, where a has k chunks of eight elements in a row
// and b has n. Each warp computes 16 rows and 16 columns of c; the four warps of a
// block are side by side. Tiles of a and b go through shared memory.
//
//quern:kernel block=128
func tensorProduct(t kernel.Thread, n, k int, a, b []Eight, c []float32) {
	tileA := kernel.Shared[[4][16][2]Eight](t)
	tileB := kernel.Shared[[4][16][2]Eight](t)
	warp, line, half := t.Warp(), t.Lane()%16, t.Lane()/16
	row, column := t.BlockIdx.Y*16, t.BlockIdx.X*64+warp*16

	var sums [2]kernel.Accumulator[float32] // columns 0 to 7, and 8 to 15
	for step := range k / 2 {
		kernel.AsyncCopy(t, &tileA[warp][line][half], &a[(row+line)*k+step*2+half])
		kernel.AsyncCopy(t, &tileB[warp][line][half], &b[(step*16+line)*n+column/8+half])
		kernel.AsyncCommit(t)
		kernel.AsyncWait(t, 0)
		t.SyncWarp()
		fa := kernel.LoadMatrixA[kernel.BFloat16](t, &tileA[warp][line][half])
		left, right := kernel.LoadMatrixB[kernel.BFloat16](t, &tileB[warp][line][half])
		sums[0] = kernel.MMA(t, fa, left, sums[0])
		sums[1] = kernel.MMA(t, fa, right, sums[1])
		t.SyncWarp()
	}
	for j, sum := range sums {
		for i, v := range sum {
			c[(row+sum.Row(t, i))*n*8+column+j*8+sum.Column(t, i)] = v
		}
	}
}

// similarities computes the products of all pairs of 16 vectors of int8:
// c = v * vᵀ. A vector's bytes are contiguous, so v is read as A, and as the
// transpose of B.
//
//quern:kernel block=32
func similarities(t kernel.Thread, vectors [][16]int8, c []int32) {
	tile := kernel.Shared[[16][2][16]int8](t)
	line, half := t.Lane()%16, t.Lane()/16
	var left, right kernel.Accumulator[int32]
	chunks := len(vectors) / 16
	for at := 0; at < chunks; at += 2 {
		tile[line][half] = vectors[line*chunks+at+half]
		t.SyncWarp()
		a := kernel.LoadMatrixA[int8](t, &tile[line][half])
		bLeft, bRight := kernel.LoadMatrixBTransposed[int8](t, &tile[line][half])
		left, right = kernel.MMA(t, a, bLeft, left), kernel.MMA(t, a, bRight, right)
		t.SyncWarp()
	}
	for i := range left {
		at := left.Row(t, i)*16 + left.Column(t, i)
		c[at], c[at+8] = left[i], right[i]
	}
}

// moments computes xᵀ * x for samples of 16 numbers: the sums of the products of
// all pairs of numbers. A sample's numbers are contiguous, so x is read as the
// transpose of A, and as B.
//
//quern:kernel block=32
func moments(t kernel.Thread, samples [][2][8]kernel.Float16, c []float32) {
	tile := kernel.Shared[[16][2][8]kernel.Float16](t)
	line, half := t.Lane()%16, t.Lane()/16
	var left, right kernel.Accumulator[float32]
	for at := 0; at < len(samples); at += 16 {
		tile[line][half] = samples[at+line][half]
		t.SyncWarp()
		a := kernel.LoadMatrixATransposed[kernel.Float16](t, &tile[line][half])
		bLeft, bRight := kernel.LoadMatrixB[kernel.Float16](t, &tile[line][half])
		left, right = kernel.MMA(t, a, bLeft, left), kernel.MMA(t, a, bRight, right)
		t.SyncWarp()
	}
	for i := range left {
		at := left.Row(t, i)*16 + left.Column(t, i)
		c[at], c[at+8] = left[i], right[i]
	}
}

// smallProduct multiplies a 16xK matrix by a Kx8 matrix, directly from global
// memory, in TF32.
//
//quern:kernel block=32
func smallProduct(t kernel.Thread, a, b, c []float32) {
	var sum kernel.Accumulator[float32]
	k := len(a) / 16
	for at := 0; at < k; at += kernel.MatrixColumns[float32]() {
		fa := kernel.ReadMatrixA(t, a[at:], k, 1)
		fb := kernel.ReadMatrixB(t, b[at*8:], 8, 1)
		sum = kernel.MMA(t, fa, fb, sum)
	}
	for i, v := range sum {
		c[sum.Row(t, i)*8+sum.Column(t, i)] = v
	}
}

// groupTiles computes c = a*bᵀ for matrices with k columns. a has m rows and b has n.
// Each block computes 128 rows and 64 columns of c.
//
//quern:kernel block=256
func groupTiles(t kernel.Thread, m, n, k int, maps []kernel.TileMap, a, b []kernel.BFloat16, c []float32) {
	arrived := kernel.Shared[kernel.CopyBarrier](t)
	tileA := kernel.Shared[[128 * 8]Eight](t)
	tileB := kernel.Shared[[64 * 8]Eight](t)
	block := t.BlockIdx.Y*t.GridDim.X + t.BlockIdx.X
	row, column := t.BlockIdx.Y*128, t.BlockIdx.X*64
	kernel.MapTiles(t, &maps[2*block], a, m, k, k, 128)
	kernel.MapTiles(t, &maps[2*block+1], b, n, k, k, 64)

	var sum [8]kernel.Accumulator[float32]
	for at := 0; at < k; at += 64 {
		kernel.BulkCopyTile(t, arrived, tileA[:], &maps[2*block], a, m, k, k, row, at)
		kernel.BulkCopyTile(t, arrived, tileB[:], &maps[2*block+1], b, n, k, k, column, at)
		kernel.BulkWait(t, arrived)
		kernel.GroupMMA(t, &tileA[t.Warp()/4*64*8], &tileB[0], sum[:])
		kernel.GroupWait(t, 0)
		t.Sync() // before the next copies
	}
	for j := range sum {
		for i, v := range sum[j] {
			y, x := row+t.Warp()*16+sum[j].Row(t, i), column+j*8+sum[j].Column(t, i)
			if y < m && x < n {
				c[y*n+x] = v
			}
		}
	}
}
