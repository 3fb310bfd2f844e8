package kernels

import "quern.dev/kernel"

// The kernels for products of a matrix and a vector divide the sum that is an element of y
// into parts: blocks numbered by part and tile. With one part, to is y. With several, to has a
// vector for each, alpha is 1, beta is 0, and sumVectors completes y.

const (
	GemvThreads = 256
	GemvColumns = 128 // columns of a block of gemvColumns
	GemvRows    = GemvThreads / 32
)

// gemvRows computes sums over rows of A, one row per warp: to = alpha*A*x + beta*to.
//
//quern:kernel block=GemvThreads maxregs=96 specialise=incX:1 instantiate=float32,float64 unchecked only=gpu
func gemvRows[T Float](t kernel.Thread, rows, columns, part, quads, lda, incX, incTo int, alpha, beta T, a, x, to []T) {
	tiles := (rows + GemvRows - 1) / GemvRows
	row := t.BlockIdx.X%tiles*GemvRows + t.Warp()
	first := t.BlockIdx.X / tiles * part
	end := min(first+part, columns)
	var sum [4]T
	if row < rows {
		rest := first
		if quads != 0 {
			for q := first/4 + t.Lane(); q < end/4; q += 32 {
				at, j := (row*(lda/4)+q)*4, q*4
				for i := range 4 {
					sum[i] += a[at+i] * x[place(j+i, columns, incX)]
				}
			}
			rest = end / 4 * 4
		}
		for j := rest + t.Lane(); j < end; j += 32 {
			sum[0] += a[row*lda+j] * x[place(j, columns, incX)]
		}
	}
	total := kernel.WarpReduceAdd(t, (sum[0]+sum[1])+(sum[2]+sum[3]))
	if row < rows && t.Lane() == 0 {
		put(to, t.BlockIdx.X/tiles*rows+place(row, rows, incTo), alpha, beta, total)
	}
}

// gemvColumns computes sums over columns of A: to = alpha*Aᵀ*x + beta*to. A block has
// GemvColumns columns, four per lane; its warps take turns with the rows.
//
//quern:kernel block=GemvThreads maxregs=96 instantiate=float32,float64 unchecked only=gpu
func gemvColumns[T Float](t kernel.Thread, rows, columns, part, quads, lda, incX, incTo int, alpha, beta T, a, x, to []T) {
	warps := kernel.Shared[[GemvThreads / 32][GemvColumns]T](t)
	tiles := (columns + GemvColumns - 1) / GemvColumns
	column := t.BlockIdx.X%tiles*GemvColumns + t.Lane()*4
	first := t.BlockIdx.X / tiles * part
	end := min(first+part, rows)
	var sum [4]T
	if quads != 0 && column+4 <= columns {
		//quern:unroll 8
		for i := first + t.Warp(); i < end; i += GemvThreads / 32 {
			v, at := x[place(i, rows, incX)], (i*(lda/4)+column/4)*4
			for j := range 4 {
				sum[j] += v * a[at+j]
			}
		}
	} else {
		for i := first + t.Warp(); i < end; i += GemvThreads / 32 {
			v := x[place(i, rows, incX)]
			for j := range 4 {
				if column+j < columns {
					sum[j] += v * a[i*lda+column+j]
				}
			}
		}
	}
	for j := range 4 {
		warps[t.Warp()][t.Lane()*4+j] = sum[j]
	}
	t.Sync()
	if i := t.ThreadIdx.X; i < GemvColumns {
		if j := t.BlockIdx.X%tiles*GemvColumns + i; j < columns {
			var total T
			for w := range GemvThreads / 32 {
				total += warps[w][i]
			}
			put(to, t.BlockIdx.X/tiles*columns+place(j, columns, incTo), alpha, beta, total)
		}
	}
}

// put writes alpha*v + beta*to[at]. If beta is 0, to is not read.
func put[T Float](to []T, at int, alpha, beta, v T) {
	v *= alpha
	if beta != 0 {
		v += beta * to[at]
	}
	to[at] = v
}

// sumVectors computes y = alpha*(the sum of parts vectors) + beta*y.
//
//quern:kernel instantiate=float32,float64
func sumVectors[T Float](t kernel.Thread, n, parts, incY int, alpha, beta T, partial, y []T) {
	if i := t.Global(); i < n {
		var total T
		for p := range parts {
			total += partial[p*n+i]
		}
		put(y, place(i, n, incY), alpha, beta, total)
	}
}

// ger computes A += alpha*x*yᵀ. The threads of a column take turns with its rows.
//
//quern:kernel instantiate=float32,float64
func ger[T Float](t kernel.Thread, rows, columns, lda, incX, incY int, alpha T, x, y, a []T) {
	j, first := t.Global2()
	if j >= columns {
		return
	}
	v := alpha * y[place(j, columns, incY)]
	for i := first; i < rows; i += t.GridDim.Y * t.BlockDim.Y {
		a[i*lda+j] += v * x[place(i, rows, incX)]
	}
}

// The kernels for the CPU device have one thread per block.

// Rows, and columns, of a block on the CPU device.
const (
	GemvRowsCPU    = 16
	GemvColumnsCPU = 512
)

// gemvRowsCPU is gemvRows for the CPU device; x has an increment of 1.
//
//quern:kernel block=1 instantiate=float32,float64 only=cpu
func gemvRowsCPU[T Float](t kernel.Thread, rows, columns, part, lda, incTo int, alpha, beta T, a, x, to []T) {
	tiles := (rows + GemvRowsCPU - 1) / GemvRowsCPU
	row := t.BlockIdx.X % tiles * GemvRowsCPU
	first := t.BlockIdx.X / tiles * part
	end := min(first+part, columns)
	base := t.BlockIdx.X / tiles * rows
	last, i := min(row+GemvRowsCPU, rows), row
	for ; i+2 <= last; i += 2 {
		s, u := dotsOf(a[i*lda+first:i*lda+end], a[(i+1)*lda+first:(i+1)*lda+end], x[first:end])
		put(to, base+place(i, rows, incTo), alpha, beta, s)
		put(to, base+place(i+1, rows, incTo), alpha, beta, u)
	}
	if i < last {
		put(to, base+place(i, rows, incTo), alpha, beta, dotOf(a[i*lda+first:i*lda+end], x[first:end]))
	}
}

// gemvColumnsCPU is gemvColumns for the CPU device.
//
//quern:kernel block=1 instantiate=float32,float64 only=cpu
func gemvColumnsCPU[T Float](t kernel.Thread, rows, columns, part, lda, incX, incTo int, alpha, beta T, a, x, to []T) {
	sums := kernel.Shared[[GemvColumnsCPU]T](t)
	tiles := (columns + GemvColumnsCPU - 1) / GemvColumnsCPU
	column := t.BlockIdx.X % tiles * GemvColumnsCPU
	first := t.BlockIdx.X / tiles * part
	end := min(first+part, rows)
	n := min(GemvColumnsCPU, columns-column)
	clear(sums[:])
	i := first
	for ; i+4 <= end; i += 4 {
		at := i*lda + column
		addRows(sums[:n], a[at:at+n], a[at+lda:at+lda+n], a[at+2*lda:at+2*lda+n], a[at+3*lda:at+3*lda+n],
			x[place(i, rows, incX)], x[place(i+1, rows, incX)], x[place(i+2, rows, incX)], x[place(i+3, rows, incX)])
	}
	for ; i < end; i++ {
		v := x[place(i, rows, incX)]
		for j, w := range a[i*lda+column : i*lda+column+n] {
			sums[j] += v * w
		}
	}
	base := t.BlockIdx.X / tiles * columns
	for j := range n {
		put(to, base+place(column+j, columns, incTo), alpha, beta, sums[j])
	}
}
