package byhand

import (
	"math"

	"quern.dev/bench/parity/kernels"
)

// ATAX1 computes y = a*x for a matrix with cols columns.
func ATAX1(cols int, a, x, y []float32) {
	x = x[:cols]
	parallel(len(y), func(lo, hi int) {
		for r := lo; r < hi; r++ {
			row := a[r*cols:][:len(x)]
			var s0, s1, s2, s3 float32
			c := 0
			for ; c+4 <= len(x); c += 4 {
				u, v := row[c:c+4:c+4], x[c:c+4:c+4]
				s0 += u[0] * v[0]
				s1 += u[1] * v[1]
				s2 += u[2] * v[2]
				s3 += u[3] * v[3]
			}
			for ; c < len(x); c++ {
				s0 += row[c] * x[c]
			}
			y[r] = s0 + s1 + (s2 + s3)
		}
	})
}

// ATAX2 multiplies the transpose of a matrix with cols columns by x. It adds four rows at a
// time to the sums.
func ATAX2(cols int, a, x, y []float32) {
	rows := len(x)
	parallel(cols, func(lo, hi int) {
		sums := y[lo:hi]
		clear(sums)
		row := func(r int) []float32 { return a[r*cols+lo:][:len(sums)] }
		r := 0
		for ; r+4 <= rows; r += 4 {
			r0, r1, r2, r3 := row(r), row(r+1), row(r+2), row(r+3)
			x0, x1, x2, x3 := x[r], x[r+1], x[r+2], x[r+3]
			for c := range sums {
				sums[c] += x0*r0[c] + x1*r1[c] + (x2*r2[c] + x3*r3[c])
			}
		}
		for ; r < rows; r++ {
			for c, v := range row(r) {
				sums[c] += x[r] * v
			}
		}
	})
}

// GEMM computes c = alpha*a*b + beta*c for matrices of n x n elements.
func GEMM(n int, alpha, beta float32, a, b, c []float32) {
	product := make([]float32, n*n)
	Matmul(n, n, n, a, b, product)
	parallel(n*n, func(lo, hi int) {
		product, c := product[lo:hi], c[lo:hi]
		for i, p := range product {
			c[i] = alpha*p + beta*c[i]
		}
	})
}

// LUD computes the step of an LU decomposition of an n x n matrix that kernel lud computes.
// It subtracts four rows at a time.
func LUD(n, offset int, m []float32) {
	const tile = kernels.LUDTile
	first := offset + tile
	parallel(n-first, func(lo, hi int) {
		for y := first + lo; y < first+hi; y++ {
			to := m[y*n+first:][:n-first]
			factors := (*[tile]float32)(m[y*n+offset:])
			for i := 0; i < tile; i += 4 {
				top := func(k int) []float32 { return m[(offset+i+k)*n+first:][:len(to)] }
				r0, r1, r2, r3 := top(0), top(1), top(2), top(3)
				f0, f1, f2, f3 := factors[i], factors[i+1], factors[i+2], factors[i+3]
				for x := range to {
					to[x] -= f0*r0[x] + f1*r1[x] + (f2*r2[x] + f3*r3[x])
				}
			}
		}
	})
}

// Inv8 inverts n matrices of 8x8 elements. Element e of matrix i is at e*n+i. It
// reads and writes the elements of several matrices together, which are neighbors.
func Inv8(n int, in, out []float32) {
	const size, batch = kernels.InverseSize, 64
	parallel((n+batch-1)/batch, func(lo, hi int) {
		var matrices [batch][size][size]float32
		for first := lo * batch; first < min(hi*batch, n); first += batch {
			count := min(batch, n-first)
			for e := range size * size {
				for k, v := range in[e*n+first:][:count] {
					matrices[k][e/size][e%size] = v
				}
			}
			for k := range count {
				invert(&matrices[k])
			}
			for e := range size * size {
				to := out[e*n+first:][:count]
				for k := range to {
					to[k] = matrices[k][e/size][e%size]
				}
			}
		}
	})
}

// invert replaces a matrix by its inverse (Gauss and Jordan, without pivoting).
func invert(m *[kernels.InverseSize][kernels.InverseSize]float32) {
	for k := range m {
		pivot := &m[k]
		p := 1 / pivot[k]
		pivot[k] = 1
		for c := range pivot {
			pivot[c] *= p
		}
		for r := range m {
			if r == k {
				continue
			}
			row := &m[r]
			f := row[k]
			row[k] = 0
			row[0] -= f * pivot[0]
			row[1] -= f * pivot[1]
			row[2] -= f * pivot[2]
			row[3] -= f * pivot[3]
			row[4] -= f * pivot[4]
			row[5] -= f * pivot[5]
			row[6] -= f * pivot[6]
			row[7] -= f * pivot[7]
		}
	}
}

// LU4 solves a*x = b for systems of four equations.
func LU4(a [][16]float64, b, x [][4]float64) {
	parallel(len(x), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			var rows [4][5]float64 // the equations with their right sides
			for r := range rows {
				copy(rows[r][:], a[i][4*r:4*r+4])
				rows[r][4] = b[i][r]
			}
			for k := range rows {
				most := k
				for r := k + 1; r < 4; r++ {
					if math.Abs(rows[r][k]) > math.Abs(rows[most][k]) {
						most = r
					}
				}
				rows[k], rows[most] = rows[most], rows[k]
				inverse := 1 / rows[k][k]
				for r := k + 1; r < 4; r++ {
					f := rows[r][k] * inverse
					for c := k + 1; c < 5; c++ {
						rows[r][c] -= f * rows[k][c]
					}
				}
			}
			m, v := &rows, &x[i]
			v[3] = m[3][4] / m[3][3]
			v[2] = (m[2][4] - m[2][3]*v[3]) / m[2][2]
			v[1] = (m[1][4] - m[1][2]*v[2] - m[1][3]*v[3]) / m[1][1]
			v[0] = (m[0][4] - m[0][1]*v[1] - m[0][2]*v[2] - m[0][3]*v[3]) / m[0][0]
		}
	})
}
