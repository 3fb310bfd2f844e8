package kernels

import "quern.dev/kernel"

// The kernels for tensor cores compute C = alpha*A*Bᵀ + beta*C: in both factors the elements
// of k are adjacent, and rows start at multiples of 16 bytes. Strides and steps of A and B, and
// parts of k, are in chunks of 16 bytes. A block computes TensorRows rows and TensorRows columns
// of C, or twice as many columns in the wide kernels. It reads 128 bytes of each line at a time,
// and holds those of three steps: one is being multiplied while two are on their way.
const (
	TensorThreads = 256
	TensorRows    = 128

	// TensorWideShared is the size of the shared memory of the wide kernels.
	TensorWideShared = tensorStages * 3 * TensorRows * tensorChunks * 16

	tensorStages = 3
	tensorChunks = 8 // of a line
)

// The elements of a chunk.
type (
	lineF16  = [8]kernel.Float16
	lineBF16 = [8]kernel.BFloat16
	lineTF32 = [4]float32
	lineS8   = [16]int8
	lineU8   = [16]uint8
)

// tensorF16 multiplies matrices of Float16.
//
//quern:kernel unchecked block=TensorThreads only=gpu
func tensorF16(t kernel.Thread, m, n, k, part, lda, ldb, ldc, stepA, stepB, stepC int, alpha, beta float32, a, b []kernel.Float16, c []float32, post, ldr, stepR int, bias, residual []float32) {
	tiles := kernel.Shared[[tensorStages * 2 * TensorRows * tensorChunks]lineF16](t)
	x := newTensorTile(t, 8, TensorRows, TensorRows*1, m, n, k, part)
	tensorProduct[kernel.Float16, kernel.Float16, kernel.Float16](t, 1, 8, x, tiles[:], stepA, lda, stepB, ldb,
		func(to, at int) { kernel.AsyncCopy(t, &tiles[to], (*lineF16)(a[at:])) },
		func(to, at int) { kernel.AsyncCopy(t, &tiles[to], (*lineF16)(b[at:])) },
		func(to, at, n int) { partOf(tiles[to][:], a, at, n) },
		func(to, at, n int) { partOf(tiles[to][:], b, at, n) },
		func(row, column int, v float32) {
			putFloat(x, row, column, v, ldc, stepC, alpha, beta, c, post, ldr, stepR, bias, residual)
		},
		func() bool { return beta == 0 && post == 0 && n%2+ldc%2+stepC%2 == 0 }, stepC, ldc, func(pair int, v, w float32) { c[2*pair], c[2*pair+1] = alpha*v, alpha*w })
}

// tensorF16Wide multiplies matrices of Float16.
//
//quern:kernel unchecked block=TensorThreads only=gpu
func tensorF16Wide(t kernel.Thread, m, n, k, part, lda, ldb, ldc, stepA, stepB, stepC int, alpha, beta float32, a, b []kernel.Float16, c []float32, post, ldr, stepR int, bias, residual []float32) {
	tiles := kernel.Shared[[tensorStages * 3 * TensorRows * tensorChunks]lineF16](t)
	x := newTensorTile(t, 8, TensorRows, TensorRows*2, m, n, k, part)
	tensorProduct[kernel.Float16, kernel.Float16, kernel.Float16](t, 2, 8, x, tiles[:], stepA, lda, stepB, ldb,
		func(to, at int) { kernel.AsyncCopy(t, &tiles[to], (*lineF16)(a[at:])) },
		func(to, at int) { kernel.AsyncCopy(t, &tiles[to], (*lineF16)(b[at:])) },
		func(to, at, n int) { partOf(tiles[to][:], a, at, n) },
		func(to, at, n int) { partOf(tiles[to][:], b, at, n) },
		func(row, column int, v float32) {
			putFloat(x, row, column, v, ldc, stepC, alpha, beta, c, post, ldr, stepR, bias, residual)
		},
		func() bool { return beta == 0 && post == 0 && n%2+ldc%2+stepC%2 == 0 }, stepC, ldc, func(pair int, v, w float32) { c[2*pair], c[2*pair+1] = alpha*v, alpha*w })
}

// tensorBF16 multiplies matrices of BFloat16.
//
//quern:kernel unchecked block=TensorThreads only=gpu
func tensorBF16(t kernel.Thread, m, n, k, part, lda, ldb, ldc, stepA, stepB, stepC int, alpha, beta float32, a, b []kernel.BFloat16, c []float32, post, ldr, stepR int, bias, residual []float32) {
	tiles := kernel.Shared[[tensorStages * 2 * TensorRows * tensorChunks]lineBF16](t)
	x := newTensorTile(t, 8, TensorRows, TensorRows*1, m, n, k, part)
	tensorProduct[kernel.BFloat16, kernel.BFloat16, kernel.BFloat16](t, 1, 8, x, tiles[:], stepA, lda, stepB, ldb,
		func(to, at int) { kernel.AsyncCopy(t, &tiles[to], (*lineBF16)(a[at:])) },
		func(to, at int) { kernel.AsyncCopy(t, &tiles[to], (*lineBF16)(b[at:])) },
		func(to, at, n int) { partOf(tiles[to][:], a, at, n) },
		func(to, at, n int) { partOf(tiles[to][:], b, at, n) },
		func(row, column int, v float32) {
			putFloat(x, row, column, v, ldc, stepC, alpha, beta, c, post, ldr, stepR, bias, residual)
		},
		func() bool { return beta == 0 && post == 0 && n%2+ldc%2+stepC%2 == 0 }, stepC, ldc, func(pair int, v, w float32) { c[2*pair], c[2*pair+1] = alpha*v, alpha*w })
}

// tensorBF16Wide multiplies matrices of BFloat16.
//
//quern:kernel unchecked block=TensorThreads only=gpu
func tensorBF16Wide(t kernel.Thread, m, n, k, part, lda, ldb, ldc, stepA, stepB, stepC int, alpha, beta float32, a, b []kernel.BFloat16, c []float32, post, ldr, stepR int, bias, residual []float32) {
	tiles := kernel.Shared[[tensorStages * 3 * TensorRows * tensorChunks]lineBF16](t)
	x := newTensorTile(t, 8, TensorRows, TensorRows*2, m, n, k, part)
	tensorProduct[kernel.BFloat16, kernel.BFloat16, kernel.BFloat16](t, 2, 8, x, tiles[:], stepA, lda, stepB, ldb,
		func(to, at int) { kernel.AsyncCopy(t, &tiles[to], (*lineBF16)(a[at:])) },
		func(to, at int) { kernel.AsyncCopy(t, &tiles[to], (*lineBF16)(b[at:])) },
		func(to, at, n int) { partOf(tiles[to][:], a, at, n) },
		func(to, at, n int) { partOf(tiles[to][:], b, at, n) },
		func(row, column int, v float32) {
			putFloat(x, row, column, v, ldc, stepC, alpha, beta, c, post, ldr, stepR, bias, residual)
		},
		func() bool { return beta == 0 && post == 0 && n%2+ldc%2+stepC%2 == 0 }, stepC, ldc, func(pair int, v, w float32) { c[2*pair], c[2*pair+1] = alpha*v, alpha*w })
}

// tensorTF32 multiplies matrices of float32, rounded to the TF32 format.
//
//quern:kernel unchecked block=TensorThreads only=gpu
func tensorTF32(t kernel.Thread, m, n, k, part, lda, ldb, ldc, stepA, stepB, stepC int, alpha, beta float32, a, b []float32, c []float32, post, ldr, stepR int, bias, residual []float32) {
	tiles := kernel.Shared[[tensorStages * 2 * TensorRows * tensorChunks]lineTF32](t)
	x := newTensorTile(t, 4, TensorRows, TensorRows*1, m, n, k, part)
	tensorProduct[float32, float32, float32](t, 1, 4, x, tiles[:], stepA, lda, stepB, ldb,
		func(to, at int) { kernel.AsyncCopy(t, &tiles[to], (*lineTF32)(a[at:])) },
		func(to, at int) { kernel.AsyncCopy(t, &tiles[to], (*lineTF32)(b[at:])) },
		func(to, at, n int) { partOf(tiles[to][:], a, at, n) },
		func(to, at, n int) { partOf(tiles[to][:], b, at, n) },
		func(row, column int, v float32) {
			putFloat(x, row, column, v, ldc, stepC, alpha, beta, c, post, ldr, stepR, bias, residual)
		},
		func() bool { return beta == 0 && post == 0 && n%2+ldc%2+stepC%2 == 0 }, stepC, ldc, func(pair int, v, w float32) { c[2*pair], c[2*pair+1] = alpha*v, alpha*w })
}

// tensorS8 multiplies matrices of int8.
//
//quern:kernel unchecked block=TensorThreads minblocks=2 only=gpu
func tensorS8(t kernel.Thread, m, n, k, part, lda, ldb, ldc, stepA, stepB, stepC int, alpha, beta int32, a, b []int8, c []int32) {
	tiles := kernel.Shared[[tensorStages * 2 * TensorRows * tensorChunks]lineS8](t)
	x := newTensorTile(t, 16, TensorRows, TensorRows*1, m, n, k, part)
	tensorProduct[int8, int8, int8](t, 1, 16, x, tiles[:], stepA, lda, stepB, ldb,
		func(to, at int) { kernel.AsyncCopy(t, &tiles[to], (*lineS8)(a[at:])) },
		func(to, at int) { kernel.AsyncCopy(t, &tiles[to], (*lineS8)(b[at:])) },
		func(to, at, n int) { partOf(tiles[to][:], a, at, n) },
		func(to, at, n int) { partOf(tiles[to][:], b, at, n) },
		func(row, column int, v int32) { putInteger(x, row, column, v, ldc, stepC, alpha, beta, c) },
		func() bool { return beta == 0 && n%2+ldc%2+stepC%2 == 0 }, stepC, ldc, func(pair int, v, w int32) { c[2*pair], c[2*pair+1] = alpha*v, alpha*w })
}

// tensorU8 multiplies matrices of uint8.
//
//quern:kernel unchecked block=TensorThreads minblocks=2 only=gpu
func tensorU8(t kernel.Thread, m, n, k, part, lda, ldb, ldc, stepA, stepB, stepC int, alpha, beta int32, a, b []uint8, c []int32) {
	tiles := kernel.Shared[[tensorStages * 2 * TensorRows * tensorChunks]lineU8](t)
	x := newTensorTile(t, 16, TensorRows, TensorRows*1, m, n, k, part)
	tensorProduct[uint8, uint8, uint8](t, 1, 16, x, tiles[:], stepA, lda, stepB, ldb,
		func(to, at int) { kernel.AsyncCopy(t, &tiles[to], (*lineU8)(a[at:])) },
		func(to, at int) { kernel.AsyncCopy(t, &tiles[to], (*lineU8)(b[at:])) },
		func(to, at, n int) { partOf(tiles[to][:], a, at, n) },
		func(to, at, n int) { partOf(tiles[to][:], b, at, n) },
		func(row, column int, v int32) { putInteger(x, row, column, v, ldc, stepC, alpha, beta, c) },
		func() bool { return beta == 0 && n%2+ldc%2+stepC%2 == 0 }, stepC, ldc, func(pair int, v, w int32) { c[2*pair], c[2*pair+1] = alpha*v, alpha*w })
}

// Float8 is the 8-bit floats.
type Float8 interface {
	kernel.Float8E4M3 | kernel.Float8E5M2
}

// tensorFloat8 multiplies matrices of 8-bit floats, given by their bits.
//
//quern:kernel unchecked block=TensorThreads only=gpu instantiate=kernel.Float8E4M3:kernel.Float8E4M3,kernel.Float8E4M3:kernel.Float8E5M2,kernel.Float8E5M2:kernel.Float8E4M3,kernel.Float8E5M2:kernel.Float8E5M2
func tensorFloat8[A, B Float8](t kernel.Thread, m, n, k, part, lda, ldb, ldc, stepA, stepB, stepC int, alpha, beta float32, a, b []uint8, c []float32, post, ldr, stepR int, bias, residual []float32) {
	tiles := kernel.Shared[[tensorStages * 2 * TensorRows * tensorChunks]lineU8](t)
	x := newTensorTile(t, 16, TensorRows, TensorRows*1, m, n, k, part)
	tensorProduct[A, B, uint8](t, 1, 16, x, tiles[:], stepA, lda, stepB, ldb,
		func(to, at int) { kernel.AsyncCopy(t, &tiles[to], (*lineU8)(a[at:])) },
		func(to, at int) { kernel.AsyncCopy(t, &tiles[to], (*lineU8)(b[at:])) },
		func(to, at, n int) { partOf(tiles[to][:], a, at, n) },
		func(to, at, n int) { partOf(tiles[to][:], b, at, n) },
		func(row, column int, v float32) {
			putFloat(x, row, column, v, ldc, stepC, alpha, beta, c, post, ldr, stepR, bias, residual)
		},
		func() bool { return beta == 0 && post == 0 && n%2+ldc%2+stepC%2 == 0 }, stepC, ldc, func(pair int, v, w float32) { c[2*pair], c[2*pair+1] = alpha*v, alpha*w })
}

// partOf copies n elements, at most those of a chunk, and sets the others to zero.
func partOf[T any](to, from []T, at, n int) {
	for i := range to {
		var v T
		if i < n {
			v = from[at+i]
		}
		to[i] = v
	}
}

// putFloat completes an element of C and writes it.
func putFloat(x tensorTile, row, column int, v float32, ldc, stepC int, alpha, beta float32, c []float32, post, ldr, stepR int, bias, residual []float32) {
	if row >= x.m || column >= x.n {
		return
	}
	at := x.matrix*stepC + row*ldc + column
	v *= alpha
	if beta != 0 {
		v += beta * c[at]
	}
	c[at] = finish(v, row, column, post, x.batch*stepR+row*ldr+column, bias, residual)
}

// putInteger is putFloat for integers, which wrap around.
func putInteger(x tensorTile, row, column int, v int32, ldc, stepC int, alpha, beta int32, c []int32) {
	if row >= x.m || column >= x.n {
		return
	}
	at := x.matrix*stepC + row*ldc + column
	v *= alpha
	if beta != 0 {
		v += beta * c[at]
	}
	c[at] = v
}

// tensorTile is the part of the product that a block computes.
type tensorTile struct {
	m, n, end          int
	row, column, first int
	batch              int // matrix of A and B
	matrix             int // of C, which has one for each part
}

// newTensorTile returns the block's part of a product in tiles of rows x columns.
func newTensorTile(t kernel.Thread, elements, rows, columns, m, n, k, part int) tensorTile {
	tilesM, tilesN, parts := (m+rows-1)/rows, (n+columns-1)/columns, max((k+part*elements-1)/(part*elements), 1)
	row, column := tileOf(t.BlockIdx.X%(tilesM*tilesN), tilesM, tilesN)
	rest := t.BlockIdx.X / (tilesM * tilesN)
	first := rest % parts * part * elements
	return tensorTile{m, n, min(first+part*elements, k), row * rows, column * columns, first, rest / parts, rest}
}

// loading is a thread's part in the copies of what the steps of a product multiply: chunks in
// the same place of every so many rows. Rows beyond the matrix are copies of its last one.
type loading struct {
	a, b         int   // index of the next chunk in the first row
	lastA, lastB int32 // number of rows after it, as far as it matters
	line, place  int32 // of the first row; of its chunk in a stage
}

// newLoading prepares the copies. A stage has rows of A, then columns, which are rows of B. The
// steps from first to count are to be loaded in order. If k is no multiple of a step's elements,
// step 0 has the rest, and is not: partA and partB copy a number of a chunk's elements at an
// index to a line.
func newLoading(t kernel.Thread, rows, columns, elements int, x tensorTile, stepA, lda, stepB, ldb int, partA, partB func(to, at, n int)) (l loading, first, count int32) {
	line, chunk := t.ThreadIdx.X/tensorChunks, t.ThreadIdx.X%tensorChunks
	across := TensorThreads / tensorChunks // rows that the threads copy at a time
	depth := tensorChunks * elements       // of a step
	whole := (x.end - x.first) / depth
	rest := x.end - x.first - whole*depth
	start := x.first + chunk*elements
	rowA, rowB := min(x.row+line, x.m-1), min(x.column+line, x.n-1)
	l = loading{
		a: (x.batch*stepA+rowA*lda)*elements + start, lastA: int32(min(x.m-1-rowA, rows)),
		b: (x.batch*stepB+rowB*ldb)*elements + start, lastB: int32(min(x.n-1-rowB, columns)),
		line: int32(line), place: int32(kernel.TileLine(line, chunk)),
	}
	if rest > 0 {
		first = 1
		n := rest - chunk*elements
		//quern:nounroll
		for i := 0; line+i < rows; i += across {
			partA(int(l.place)+i*tensorChunks, l.a+min(i, int(l.lastA))*lda*elements+whole*depth, n)
		}
		//quern:nounroll
		for i := 0; line+i < columns; i += across {
			partB(int(l.place)+(rows+i)*tensorChunks, l.b+min(i, int(l.lastB))*ldb*elements+whole*depth, n)
		}
	}
	return l, first, first + int32(whole)
}

// load starts the copies of a step. copyA and copyB copy the chunk at an index to a line.
func (l *loading) load(step int32, rows, columns, elements, lda, ldb int, copyA, copyB func(to, at int)) {
	to := int(step%tensorStages*int32((rows+columns)*tensorChunks) + l.place)
	const across = TensorThreads / tensorChunks
	for i := range rows / across {
		copyA(to+i*across*tensorChunks, l.a+int(min(int32(i*across), l.lastA))*lda*elements)
	}
	for i := range columns / across {
		copyB(to+(rows+i*across)*tensorChunks, l.b+int(min(int32(i*across), l.lastB))*ldb*elements)
	}
	l.a += tensorChunks * elements
	l.b += tensorChunks * elements
}

// tensorProduct multiplies the block's rows of A and B, which are copied as T; newLoading and load
// describe copyA to partB. put writes a sum. If pairs returns true, the rows of C and their number
// of columns are even, and putPair writes two adjacent sums.
func tensorProduct[A, B, T kernel.MatrixElement, R kernel.MatrixLine, C float32 | int32](t kernel.Thread, wide, elements int, x tensorTile, tiles []R, stepA, lda, stepB, ldb int,
	copyA, copyB func(to, at int), partA, partB func(to, at, n int), put func(row, column int, v C), pairs func() bool, stepC, ldc int, putPair func(pair int, v, w C)) {
	const (
		steps = tensorChunks / 2 // of MMA in a stage
		ahead = tensorStages - 1
	)
	size := (1 + wide) * TensorRows * tensorChunks
	warp, lane := t.Warp(), t.Lane()
	top, left := warp/4*64, warp%4*32*wide
	l, first, count := newLoading(t, TensorRows, wide*TensorRows, elements, x, stepA, lda, stepB, ldb, partA, partB)
	for step := range int32(ahead) {
		if step >= first && step < count {
			l.load(step, TensorRows, wide*TensorRows, elements, lda, ldb, copyA, copyB)
		}
		kernel.AsyncCommit(t)
	}

	var sum [4][8]kernel.Accumulator[C]
	fromA := (top + lane%16) * tensorChunks
	fromB := (TensorRows + left + lane/16*8 + lane%8) * tensorChunks
	for step := range count {
		kernel.AsyncWait(t, ahead-1)
		t.Sync()
		if step+ahead < count {
			l.load(step+ahead, TensorRows, wide*TensorRows, elements, lda, ldb, copyA, copyB)
		}
		kernel.AsyncCommit(t)
		// Two sets of fragments: the reads of a step overlap the products of the last one. Two
		// fragments of B are read like one of A, so that the words of each are adjacent.
		var fa, fb [2][4]kernel.MatrixA[T]
		stage := int(step%tensorStages) * size
		for kk := range steps {
			a := stage + fromA + ((kk*2 + lane/16) ^ lane%8)
			b := stage + fromB + ((kk*2 + lane/8%2) ^ lane%8)
			for i := range 4 {
				fa[kk%2][i] = kernel.LoadMatrixA[T](t, &tiles[a+i*16*tensorChunks])
			}
			for j := range 2 * wide {
				fb[kk%2][j] = kernel.LoadMatrixA[T](t, &tiles[b+j*16*tensorChunks])
			}
			for i := range 4 {
				for j := range 4 * wide {
					b := fb[kk%2][j/2]
					sum[i][j] = kernel.MMA(t, kernel.MatrixA[A](fa[kk%2][i]), kernel.MatrixB[B]{b[j%2*2], b[j%2*2+1]}, sum[i][j])
				}
			}
		}
	}

	var at kernel.Accumulator[C]
	row, column := x.row+top, x.column+left
	if pairs() {
		column += at.Column(t, 0)
		columns := x.n - column
		for i := range 4 {
			for half := range 2 {
				if row := row + i*16 + at.Row(t, 2*half); row < x.m {
					pair := (x.matrix*stepC + row*ldc + column) / 2
					for j := range 4 * wide {
						if j*8 < columns {
							putPair(pair+j*4, sum[i][j][2*half], sum[i][j][2*half+1])
						}
					}
				}
			}
		}
		return
	}
	//quern:nounroll
	for i := range 4 {
		for j := range 4 * wide {
			for e := range 4 {
				put(row+i*16+at.Row(t, e), column+j*8+at.Column(t, e), sum[0][j][e])
			}
		}
		for i := range 3 {
			sum[i] = sum[i+1]
		}
	}
}

// copyRows copies matrices, so that rows begin elsewhere.
//
//quern:kernel instantiate=uint8,uint16,uint32
func copyRows[T Moved](t kernel.Thread, rows, columns, strideFrom, strideTo, stepFrom, stepTo, matrices int, from, to []T) {
	i := t.Global()
	if i >= matrices*rows*columns {
		return
	}
	row, column := i/columns, i%columns
	to[row/rows*stepTo+row%rows*strideTo+column] = from[row/rows*stepFrom+row%rows*strideFrom+column]
}

// Moved is elements of the sizes that copyRows moves.
type Moved interface{ uint8 | uint16 | uint32 }
