package kernels

import "quern.dev/kernel"

// The kernels for tensor cores compute C = alpha*A*Bᵀ + beta*C: in both factors the elements
// of k are adjacent. A block computes tensorRows rows and tensorRows columns of C, or twice as
// many columns in the wide kernels. It reads 128 bytes of each line at a time, in chunks of 16
// bytes, and holds those of three steps: one is being multiplied while two are on their way.
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
//quern:kernel block=TensorThreads
func tensorF16(t kernel.Thread, m, n, k, part, lda, ldb, ldc, stepA, stepB, stepC int, alpha, beta float32, a, b []kernel.Float16, c []float32, post, ldr, stepR int, bias, residual []float32) {
	lines := kernel.Shared[[tensorStages * 2 * TensorRows * tensorChunks]lineF16](t)
	x := newTensorTile(t, 1, m, n, k, part)
	tensorProduct[kernel.Float16](t, 1, 8, x, lines[:], stepA, lda, stepB, ldb,
		func(to *lineF16, at int) { kernel.AsyncCopy(t, to, (*lineF16)(a[at:])) },
		func(to *lineF16, at int) { kernel.AsyncCopy(t, to, (*lineF16)(b[at:])) },
		func(to *lineF16, at, n int) { partOf(to[:], a, at, n) },
		func(to *lineF16, at, n int) { partOf(to[:], b, at, n) },
		func(row, column int, v float32) {
			putFloat(x, row, column, v, ldc, stepC, alpha, beta, c, post, ldr, stepR, bias, residual)
		})
}

// tensorF16Wide multiplies matrices of Float16.
//
//quern:kernel block=TensorThreads
func tensorF16Wide(t kernel.Thread, m, n, k, part, lda, ldb, ldc, stepA, stepB, stepC int, alpha, beta float32, a, b []kernel.Float16, c []float32, post, ldr, stepR int, bias, residual []float32) {
	lines := kernel.Shared[[tensorStages * 3 * TensorRows * tensorChunks]lineF16](t)
	x := newTensorTile(t, 2, m, n, k, part)
	tensorProduct[kernel.Float16](t, 2, 8, x, lines[:], stepA, lda, stepB, ldb,
		func(to *lineF16, at int) { kernel.AsyncCopy(t, to, (*lineF16)(a[at:])) },
		func(to *lineF16, at int) { kernel.AsyncCopy(t, to, (*lineF16)(b[at:])) },
		func(to *lineF16, at, n int) { partOf(to[:], a, at, n) },
		func(to *lineF16, at, n int) { partOf(to[:], b, at, n) },
		func(row, column int, v float32) {
			putFloat(x, row, column, v, ldc, stepC, alpha, beta, c, post, ldr, stepR, bias, residual)
		})
}

// tensorBF16 multiplies matrices of BFloat16.
//
//quern:kernel block=TensorThreads
func tensorBF16(t kernel.Thread, m, n, k, part, lda, ldb, ldc, stepA, stepB, stepC int, alpha, beta float32, a, b []kernel.BFloat16, c []float32, post, ldr, stepR int, bias, residual []float32) {
	lines := kernel.Shared[[tensorStages * 2 * TensorRows * tensorChunks]lineBF16](t)
	x := newTensorTile(t, 1, m, n, k, part)
	tensorProduct[kernel.BFloat16](t, 1, 8, x, lines[:], stepA, lda, stepB, ldb,
		func(to *lineBF16, at int) { kernel.AsyncCopy(t, to, (*lineBF16)(a[at:])) },
		func(to *lineBF16, at int) { kernel.AsyncCopy(t, to, (*lineBF16)(b[at:])) },
		func(to *lineBF16, at, n int) { partOf(to[:], a, at, n) },
		func(to *lineBF16, at, n int) { partOf(to[:], b, at, n) },
		func(row, column int, v float32) {
			putFloat(x, row, column, v, ldc, stepC, alpha, beta, c, post, ldr, stepR, bias, residual)
		})
}

// tensorBF16Wide multiplies matrices of BFloat16.
//
//quern:kernel block=TensorThreads
func tensorBF16Wide(t kernel.Thread, m, n, k, part, lda, ldb, ldc, stepA, stepB, stepC int, alpha, beta float32, a, b []kernel.BFloat16, c []float32, post, ldr, stepR int, bias, residual []float32) {
	lines := kernel.Shared[[tensorStages * 3 * TensorRows * tensorChunks]lineBF16](t)
	x := newTensorTile(t, 2, m, n, k, part)
	tensorProduct[kernel.BFloat16](t, 2, 8, x, lines[:], stepA, lda, stepB, ldb,
		func(to *lineBF16, at int) { kernel.AsyncCopy(t, to, (*lineBF16)(a[at:])) },
		func(to *lineBF16, at int) { kernel.AsyncCopy(t, to, (*lineBF16)(b[at:])) },
		func(to *lineBF16, at, n int) { partOf(to[:], a, at, n) },
		func(to *lineBF16, at, n int) { partOf(to[:], b, at, n) },
		func(row, column int, v float32) {
			putFloat(x, row, column, v, ldc, stepC, alpha, beta, c, post, ldr, stepR, bias, residual)
		})
}

// tensorTF32 multiplies matrices of float32, rounded to the TF32 format.
//
//quern:kernel block=TensorThreads
func tensorTF32(t kernel.Thread, m, n, k, part, lda, ldb, ldc, stepA, stepB, stepC int, alpha, beta float32, a, b []float32, c []float32, post, ldr, stepR int, bias, residual []float32) {
	lines := kernel.Shared[[tensorStages * 2 * TensorRows * tensorChunks]lineTF32](t)
	x := newTensorTile(t, 1, m, n, k, part)
	tensorProduct[float32](t, 1, 4, x, lines[:], stepA, lda, stepB, ldb,
		func(to *lineTF32, at int) { kernel.AsyncCopy(t, to, (*lineTF32)(a[at:])) },
		func(to *lineTF32, at int) { kernel.AsyncCopy(t, to, (*lineTF32)(b[at:])) },
		func(to *lineTF32, at, n int) { partOf(to[:], a, at, n) },
		func(to *lineTF32, at, n int) { partOf(to[:], b, at, n) },
		func(row, column int, v float32) {
			putFloat(x, row, column, v, ldc, stepC, alpha, beta, c, post, ldr, stepR, bias, residual)
		})
}

// tensorS8 multiplies matrices of int8.
//
//quern:kernel block=TensorThreads
func tensorS8(t kernel.Thread, m, n, k, part, lda, ldb, ldc, stepA, stepB, stepC int, alpha, beta int32, a, b []int8, c []int32) {
	lines := kernel.Shared[[tensorStages * 2 * TensorRows * tensorChunks]lineS8](t)
	x := newTensorTile(t, 1, m, n, k, part)
	tensorProduct[int8](t, 1, 16, x, lines[:], stepA, lda, stepB, ldb,
		func(to *lineS8, at int) { kernel.AsyncCopy(t, to, (*lineS8)(a[at:])) },
		func(to *lineS8, at int) { kernel.AsyncCopy(t, to, (*lineS8)(b[at:])) },
		func(to *lineS8, at, n int) { partOf(to[:], a, at, n) },
		func(to *lineS8, at, n int) { partOf(to[:], b, at, n) },
		func(row, column int, v int32) { putInteger(x, row, column, v, ldc, stepC, alpha, beta, c) })
}

// tensorU8 multiplies matrices of uint8.
//
//quern:kernel block=TensorThreads
func tensorU8(t kernel.Thread, m, n, k, part, lda, ldb, ldc, stepA, stepB, stepC int, alpha, beta int32, a, b []uint8, c []int32) {
	lines := kernel.Shared[[tensorStages * 2 * TensorRows * tensorChunks]lineU8](t)
	x := newTensorTile(t, 1, m, n, k, part)
	tensorProduct[uint8](t, 1, 16, x, lines[:], stepA, lda, stepB, ldb,
		func(to *lineU8, at int) { kernel.AsyncCopy(t, to, (*lineU8)(a[at:])) },
		func(to *lineU8, at int) { kernel.AsyncCopy(t, to, (*lineU8)(b[at:])) },
		func(to *lineU8, at, n int) { partOf(to[:], a, at, n) },
		func(to *lineU8, at, n int) { partOf(to[:], b, at, n) },
		func(row, column int, v int32) { putInteger(x, row, column, v, ldc, stepC, alpha, beta, c) })
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

func newTensorTile(t kernel.Thread, wide, m, n, k, part int) tensorTile {
	tilesM, tilesN, parts := (m+TensorRows-1)/TensorRows, (n+TensorRows*wide-1)/(TensorRows*wide), max((k+part-1)/part, 1)
	row, column := tileOf(t.BlockIdx.X%(tilesM*tilesN), tilesM, tilesN)
	rest := t.BlockIdx.X / (tilesM * tilesN)
	first := rest % parts * part
	return tensorTile{m, n, min(first+part, k), row * TensorRows, column * TensorRows * wide, first, rest / parts, rest}
}

// tensorProduct multiplies the block's lines of A and B. copyA and copyB start the copy of a
// chunk at an index, partA and partB copy a number of its elements, put writes a sum.
func tensorProduct[T kernel.MatrixElement, R kernel.MatrixLine, C float32 | int32](t kernel.Thread, wide, elements int, x tensorTile, lines []R, stepA, lda, stepB, ldb int,
	copyA, copyB func(to *R, at int), partA, partB func(to *R, at, n int), put func(row, column int, v C)) {
	const steps = tensorChunks / 2 // of MMA in a stage
	size := (1 + wide) * TensorRows * tensorChunks
	count := (x.end - x.first + tensorChunks*elements - 1) / (tensorChunks * elements)
	thread, warp := t.ThreadIdx.X, t.Warp()
	line, half := t.Lane()%16, t.Lane()/16
	top, left := warp/4*64, warp%4*32*wide

	// load copies what a step multiplies.
	load := func(step int) {
		to := lines[step%tensorStages*size:]
		chunk := thread % tensorChunks
		k := x.first + (step*tensorChunks+chunk)*elements
		for i := range TensorRows / 32 {
			l := thread/tensorChunks + i*32
			place := &to[l*tensorChunks+(chunk^l%8)]
			if at := x.batch*stepA + (x.row+l)*lda + k; x.row+l < x.m && k+elements <= x.end {
				copyA(place, at)
			} else {
				n := 0
				if x.row+l < x.m {
					n = x.end - k
				}
				partA(place, at, n)
			}
		}
		for i := range wide * TensorRows / 32 {
			l := thread/tensorChunks + i*32
			place := &to[(TensorRows+l)*tensorChunks+(chunk^l%8)]
			if at := x.batch*stepB + (x.column+l)*ldb + k; x.column+l < x.n && k+elements <= x.end {
				copyB(place, at)
			} else {
				n := 0
				if x.column+l < x.n {
					n = x.end - k
				}
				partB(place, at, n)
			}
		}
	}

	var sum [4][8]kernel.Accumulator[C]
	for step := 1 - tensorStages; step < count; step++ {
		if step >= 0 {
			kernel.AsyncWait(t, tensorStages-2)
			t.Sync()
		}
		if next := step + tensorStages - 1; next < count {
			load(next)
		}
		kernel.AsyncCommit(t)
		if step >= 0 {
			from := lines[step%tensorStages*size:]
			// Two sets of fragments: the reads of a step overlap the products of the last one.
			var fa [2][4]kernel.MatrixA[T]
			var fb [2][8]kernel.MatrixB[T]
			for kk := range steps {
				now := kk % 2
				for i := range 4 {
					fa[now][i] = kernel.LoadMatrixA[T](t, &from[(top+i*16+line)*tensorChunks+((kk*2+half)^line%8)])
				}
				for j := range 2 * wide {
					fb[now][2*j], fb[now][2*j+1] = kernel.LoadMatrixBTransposed[T](t, &from[(TensorRows+left+j*16+line)*tensorChunks+((kk*2+half)^line%8)])
				}
				for i := range 4 {
					for j := range 4 * wide {
						sum[i][j] = kernel.MMA(t, fa[now][i], fb[now][j], sum[i][j])
					}
				}
			}
		}
	}

	var place kernel.Accumulator[C]
	//quern:nounroll
	for i := range 4 {
		for j := range 4 * wide {
			for e := range 4 {
				put(x.row+top+i*16+place.Row(t, e), x.column+left+j*8+place.Column(t, e), sum[0][j][e])
			}
		}
		for i := range 3 {
			sum[i] = sum[i+1]
		}
	}
}
