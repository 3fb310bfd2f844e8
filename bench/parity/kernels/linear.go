package kernels

import "quern.dev/kernel"

const (
	// GemmTile is the side of the square of elements that a block of gemm64 computes, 4x4
	// per thread. The size of the matrices is a multiple of it.
	GemmTile = 64

	gemmDepth = 16 // columns of a and rows of b in shared memory at a time

	// LUDTile is the side of lud's tiles.
	LUDTile = 16

	// InverseSize is the size of the matrices that inv8 inverts.
	InverseSize = 8
)

// atax1 computes y = a*x for a matrix of rows x cols elements, one row per thread
// (PolyBench, atax).
//
//quern:kernel block=256 also=unchecked
func atax1(t kernel.Thread, rows, cols int, a, x, y []float32) {
	r := t.Global()
	if r >= rows {
		return
	}
	sum := float32(0)
	for c := range cols {
		sum += a[r*cols+c] * x[c]
	}
	y[r] = sum
}

// atax2 multiplies the transpose of a by x, one column per thread (PolyBench, atax).
//
//quern:kernel block=256 also=unchecked
func atax2(t kernel.Thread, rows, cols int, a, x, y []float32) {
	c := t.Global()
	if c >= cols {
		return
	}
	sum := float32(0)
	for r := range rows {
		sum += a[r*cols+c] * x[r]
	}
	y[c] = sum
}

// gemm64 computes c = alpha*a*b + beta*c for matrices of n x n elements.
//
//quern:kernel block=16x16 also=unchecked
func gemm64(t kernel.Thread, n int, alpha, beta float32, a, b, c []float32) {
	tileA := kernel.Shared[[gemmDepth][GemmTile + 4]float32](t)
	tileB := kernel.Shared[[gemmDepth][GemmTile]float32](t)
	tx, ty := t.ThreadIdx.X, t.ThreadIdx.Y
	id := ty*16 + tx
	row, col := t.BlockIdx.Y*GemmTile, t.BlockIdx.X*GemmTile
	var sum [4][4]float32
	for k0 := 0; k0 < n; k0 += gemmDepth {
		for j := range 4 {
			e := id + 256*j
			tileA[e%16][e/16] = a[(row+e/16)*n+k0+e%16]
			tileB[e/64][e%64] = b[(k0+e/64)*n+col+e%64]
		}
		t.Sync()
		for k := range gemmDepth {
			var x, y [4]float32
			for j := range 4 {
				x[j] = tileA[k][ty*4+j]
				y[j] = tileB[k][tx*4+j]
			}
			for i := range 4 {
				for j := range 4 {
					sum[i][j] += x[i] * y[j]
				}
			}
		}
		t.Sync()
	}
	for i := range 4 {
		for j := range 4 {
			at := (row+ty*4+i)*n + col + tx*4 + j
			c[at] = alpha*sum[i][j] + beta*c[at]
		}
	}
}

// dgemm computes c = a*b for matrices of n x n float64, one element per thread.
//
//quern:kernel block=16x16 also=unchecked
func dgemm(t kernel.Thread, n int, a, b, c []float64) {
	x, y := t.Global2()
	if x >= n || y >= n {
		return
	}
	sum := 0.0
	for k := range n {
		sum += a[y*n+k] * b[k*n+x]
	}
	c[y*n+x] = sum
}

// lud computes one step of an LU decomposition of an n x n matrix (Rodinia, lud). It
// subtracts from each tile below and to the right of (offset, offset) the product of the
// tile at the left of its row and the tile at the top of its column.
//
//quern:kernel block=16x16 also=unchecked
func lud(t kernel.Thread, n, offset int, m []float32) {
	row := kernel.Shared[[LUDTile][LUDTile]float32](t)
	col := kernel.Shared[[LUDTile][LUDTile]float32](t)
	tx, ty := t.ThreadIdx.X, t.ThreadIdx.Y
	x := offset + (t.BlockIdx.X+1)*LUDTile + tx
	y := offset + (t.BlockIdx.Y+1)*LUDTile + ty
	row[ty][tx] = m[(offset+ty)*n+x]
	col[ty][tx] = m[y*n+offset+tx]
	t.Sync()
	sum := float32(0)
	for i := range LUDTile {
		sum += col[ty][i] * row[i][tx]
	}
	m[y*n+x] -= sum
}

// inv8 inverts n matrices of 8x8 elements in registers, by Gauss-Jordan elimination without
// pivoting. Element e of matrix i is at e*n+i.
//
//quern:kernel block=128 also=unchecked
func inv8(t kernel.Thread, n int, in, out []float32) {
	i := t.Global()
	if i >= n {
		return
	}
	var m [InverseSize][InverseSize]float32
	//quern:unroll
	for r := range InverseSize {
		//quern:unroll
		for c := range InverseSize {
			m[r][c] = in[(r*InverseSize+c)*n+i]
		}
	}
	//quern:unroll
	for k := range InverseSize {
		p := 1 / m[k][k]
		m[k][k] = 1
		//quern:unroll
		for c := range InverseSize {
			m[k][c] *= p
		}
		//quern:unroll
		for r := range InverseSize {
			if r == k {
				continue
			}
			f := m[r][k]
			m[r][k] = 0
			//quern:unroll
			for c := range InverseSize {
				m[r][c] -= f * m[k][c]
			}
		}
	}
	//quern:unroll
	for r := range InverseSize {
		//quern:unroll
		for c := range InverseSize {
			out[(r*InverseSize+c)*n+i] = m[r][c]
		}
	}
}

// lu4 solves a*x = b for systems of four equations, one per thread, by Gaussian elimination
// with partial pivoting. Matrices are stored by row.
//
//quern:kernel block=128 also=unchecked
func lu4(t kernel.Thread, a [][16]float64, b, x [][4]float64) {
	i := t.Global()
	if i >= len(a) || i >= len(b) || i >= len(x) {
		return
	}
	m, v := a[i], b[i]
	//quern:unroll
	for k := range 4 {
		//quern:unroll
		for r := k + 1; r < 4; r++ {
			if kernel.Abs(m[r*4+k]) > kernel.Abs(m[k*4+k]) {
				//quern:unroll
				for c := range 4 {
					m[r*4+c], m[k*4+c] = m[k*4+c], m[r*4+c]
				}
				v[r], v[k] = v[k], v[r]
			}
		}
		p := 1 / m[k*4+k]
		//quern:unroll
		for r := k + 1; r < 4; r++ {
			f := m[r*4+k] * p
			//quern:unroll
			for c := k + 1; c < 4; c++ {
				m[r*4+c] -= f * m[k*4+c]
			}
			v[r] -= f * v[k]
		}
	}
	//quern:unroll
	for r := 3; r >= 0; r-- {
		//quern:unroll
		for c := r + 1; c < 4; c++ {
			v[r] -= m[r*4+c] * v[c]
		}
		v[r] /= m[r*4+r]
	}
	x[i] = v
}

// spmvWarp computes what spmv does with one row per warp.
//
//quern:kernel block=128 also=unchecked
func spmvWarp(t kernel.Thread, rows int, starts, columns []int32, values, x, y []float32) {
	row := t.BlockIdx.X*4 + t.Warp()
	if row >= rows {
		return
	}
	sum := float32(0)
	for e := starts[row] + int32(t.Lane()); e < starts[row+1]; e += 32 {
		sum += values[e] * x[columns[e]]
	}
	sum = kernel.WarpReduceAdd(t, sum)
	if t.Lane() == 0 {
		y[row] = sum
	}
}
