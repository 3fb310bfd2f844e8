package kernels

import "quern.dev/kernel"

// The products are C = A*B of row-major matrices: A is m x k, B is k x n, C is m x n.

// Tile is the side of the tiles of tileMatmul. One thread computes one element.
const Tile = 16

// tileMatmul multiplies matrices of any size with tiles in shared memory.
//
//quern:kernel block=16x16
func tileMatmul(t kernel.Thread, m, n, k int, a, b, c []float32) {
	tileProduct(t, m, n, k, a, b, c)
}

// tileMatmulUnchecked is tileMatmul without bounds checks.
//
//quern:kernel block=16x16 unchecked
func tileMatmulUnchecked(t kernel.Thread, m, n, k int, a, b, c []float32) {
	tileProduct(t, m, n, k, a, b, c)
}

func tileProduct(t kernel.Thread, m, n, k int, a, b, c []float32) {
	tileA := kernel.Shared[[Tile][Tile]float32](t)
	tileB := kernel.Shared[[Tile][Tile]float32](t)
	tx, ty := t.ThreadIdx.X, t.ThreadIdx.Y
	row, column := t.BlockIdx.Y*Tile+ty, t.BlockIdx.X*Tile+tx

	var sum float32
	for k0 := 0; k0 < k; k0 += Tile {
		var va, vb float32
		if row < m && k0+tx < k {
			va = a[row*k+k0+tx]
		}
		if k0+ty < k && column < n {
			vb = b[(k0+ty)*n+column]
		}
		tileA[ty][tx] = va
		tileB[ty][tx] = vb
		t.Sync()
		for i := range Tile {
			sum += tileA[ty][i] * tileB[i][tx]
		}
		t.Sync()
	}
	if row < m && column < n {
		c[row*n+column] = sum
	}
}

const (
	// BlockTile is the side of the part of C that one block of registerMatmul computes. It
	// must divide m and n.
	BlockTile = 128

	// DepthTile is the number of columns of A, and rows of B, in shared memory at a time.
	// It must divide k.
	DepthTile = 16

	perThread = 8 // side of the part of C that a thread holds in registers
	threads   = (BlockTile / perThread) * (BlockTile / perThread)

	// pad prevents bank conflicts between the threads that transpose A into shared memory,
	// and keeps the rows aligned to 16 bytes.
	pad = 4
)

// registerMatmul multiplies with tiles of 128x128x16 in shared memory and 8x8 elements of
// C in the registers of each thread.
//
//quern:kernel block=16x16
func registerMatmul(t kernel.Thread, m, n, k int, a, b, c []float32) {
	registerProduct(t, n, k, a, b, c)
}

// registerMatmulUnchecked is registerMatmul without bounds checks.
//
//quern:kernel block=16x16 unchecked
func registerMatmulUnchecked(t kernel.Thread, m, n, k int, a, b, c []float32) {
	registerProduct(t, n, k, a, b, c)
}

func registerProduct(t kernel.Thread, n, k int, a, b, c []float32) {
	tileA := kernel.Shared[[DepthTile][BlockTile + pad]float32](t) // transposed
	tileB := kernel.Shared[[DepthTile][BlockTile]float32](t)
	tx, ty := t.ThreadIdx.X, t.ThreadIdx.Y
	thread := ty*(BlockTile/perThread) + tx
	row0, column0 := t.BlockIdx.Y*BlockTile, t.BlockIdx.X*BlockTile

	var sums [perThread][perThread]float32
	for k0 := 0; k0 < k; k0 += DepthTile {
		for i := range BlockTile * DepthTile / threads {
			e := thread + i*threads
			tileA[e%DepthTile][e/DepthTile] = a[(row0+e/DepthTile)*k+k0+e%DepthTile]
			tileB[e/BlockTile][e%BlockTile] = b[(k0+e/BlockTile)*n+column0+e%BlockTile]
		}
		t.Sync()
		for p := range DepthTile {
			var va, vb [perThread]float32
			for i := range perThread {
				va[i] = tileA[p][ty*perThread+i]
				vb[i] = tileB[p][tx*perThread+i]
			}
			for i := range perThread {
				for j := range perThread {
					sums[i][j] += va[i] * vb[j]
				}
			}
		}
		t.Sync()
	}
	for i := range perThread {
		for j := range perThread {
			c[(row0+ty*perThread+i)*n+column0+tx*perThread+j] = sums[i][j]
		}
	}
}
