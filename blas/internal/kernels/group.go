package kernels

import (
	"math"

	"quern.dev/kernel"
)

// The group kernels compute what the kernels for tensor cores do, by groups of 128 threads: each
// computes 64 rows and GroupColumns columns. The blocks of the tall kernels have three groups,
// which need less of the bandwidth of the memory and its caches, those of the others two. Of the
// four stages, two are being multiplied while two are on their way.
const (
	GroupColumns = 256

	GroupRows     = 2 * groupRows
	GroupTallRows = 3 * groupRows

	GroupThreads     = 2 * groupThreads
	GroupTallThreads = 3 * groupThreads

	// The sizes of the shared memory.
	GroupShared     = groupStages * groupLines * 16
	GroupTallShared = groupStages * groupTallLines * 16

	groupThreads = 128
	groupRows    = 64
	groupStages  = 4
	groupAhead   = groupStages - 2

	groupLines     = (GroupRows + GroupColumns) * tensorChunks // of a stage
	groupTallLines = (GroupTallRows + GroupColumns) * tensorChunks
)

// groupF16 multiplies matrices of Float16.
//
//quern:kernel unchecked block=GroupThreads only=gpu
func groupF16(t kernel.Thread, m, n, k, part, lda, ldb, ldc, stepA, stepB, stepC int, alpha, beta float32, a, b []kernel.Float16, c []float32, post, ldr, stepR int, bias, residual []float32) {
	tiles := kernel.Shared[[groupStages * groupLines]lineF16](t)
	x := newTensorTile(t, 8, GroupRows, GroupColumns, m, n, k, part)
	groupProduct(t, GroupThreads, GroupRows, 8, x, tiles[:], stepA, lda, stepB, ldb,
		func(to, at int) { kernel.AsyncCopy(t, &tiles[to], (*lineF16)(a[at:])) },
		func(to, at int) { kernel.AsyncCopy(t, &tiles[to], (*lineF16)(b[at:])) },
		func(to, at, n int) { partOf(tiles[to][:], a, at, n) },
		func(to, at, n int) { partOf(tiles[to][:], b, at, n) },
		func(row, column int, v float32) {
			putFloat(x, row, column, v, ldc, stepC, alpha, beta, c, post, ldr, stepR, bias, residual)
		},
		func() bool { return beta == 0 && post == 0 && n%2+ldc%2+stepC%2 == 0 }, stepC, ldc, func(pair int, v, w float32) { c[2*pair], c[2*pair+1] = alpha*v, alpha*w })
}

// groupBF16 multiplies matrices of BFloat16.
//
//quern:kernel unchecked block=GroupThreads only=gpu
func groupBF16(t kernel.Thread, m, n, k, part, lda, ldb, ldc, stepA, stepB, stepC int, alpha, beta float32, a, b []kernel.BFloat16, c []float32, post, ldr, stepR int, bias, residual []float32) {
	tiles := kernel.Shared[[groupStages * groupLines]lineBF16](t)
	x := newTensorTile(t, 8, GroupRows, GroupColumns, m, n, k, part)
	groupProduct(t, GroupThreads, GroupRows, 8, x, tiles[:], stepA, lda, stepB, ldb,
		func(to, at int) { kernel.AsyncCopy(t, &tiles[to], (*lineBF16)(a[at:])) },
		func(to, at int) { kernel.AsyncCopy(t, &tiles[to], (*lineBF16)(b[at:])) },
		func(to, at, n int) { partOf(tiles[to][:], a, at, n) },
		func(to, at, n int) { partOf(tiles[to][:], b, at, n) },
		func(row, column int, v float32) {
			putFloat(x, row, column, v, ldc, stepC, alpha, beta, c, post, ldr, stepR, bias, residual)
		},
		func() bool { return beta == 0 && post == 0 && n%2+ldc%2+stepC%2 == 0 }, stepC, ldc, func(pair int, v, w float32) { c[2*pair], c[2*pair+1] = alpha*v, alpha*w })
}

// groupTF32 multiplies matrices of float32, cut off to the TF32 format.
//
//quern:kernel unchecked block=GroupThreads only=gpu
func groupTF32(t kernel.Thread, m, n, k, part, lda, ldb, ldc, stepA, stepB, stepC int, alpha, beta float32, a, b []float32, c []float32, post, ldr, stepR int, bias, residual []float32) {
	tiles := kernel.Shared[[groupStages * groupLines]lineTF32](t)
	x := newTensorTile(t, 4, GroupRows, GroupColumns, m, n, k, part)
	groupProduct(t, GroupThreads, GroupRows, 4, x, tiles[:], stepA, lda, stepB, ldb,
		func(to, at int) { kernel.AsyncCopy(t, &tiles[to], (*lineTF32)(a[at:])) },
		func(to, at int) { kernel.AsyncCopy(t, &tiles[to], (*lineTF32)(b[at:])) },
		func(to, at, n int) { partOf(tiles[to][:], a, at, n) },
		func(to, at, n int) { partOf(tiles[to][:], b, at, n) },
		func(row, column int, v float32) {
			putFloat(x, row, column, v, ldc, stepC, alpha, beta, c, post, ldr, stepR, bias, residual)
		},
		func() bool { return beta == 0 && post == 0 && n%2+ldc%2+stepC%2 == 0 }, stepC, ldc, func(pair int, v, w float32) { c[2*pair], c[2*pair+1] = alpha*v, alpha*w })
}

// groupS8 multiplies matrices of int8.
//
//quern:kernel unchecked block=GroupThreads only=gpu
func groupS8(t kernel.Thread, m, n, k, part, lda, ldb, ldc, stepA, stepB, stepC int, alpha, beta int32, a, b []int8, c []int32) {
	tiles := kernel.Shared[[groupStages * groupLines]lineS8](t)
	x := newTensorTile(t, 16, GroupRows, GroupColumns, m, n, k, part)
	groupProduct(t, GroupThreads, GroupRows, 16, x, tiles[:], stepA, lda, stepB, ldb,
		func(to, at int) { kernel.AsyncCopy(t, &tiles[to], (*lineS8)(a[at:])) },
		func(to, at int) { kernel.AsyncCopy(t, &tiles[to], (*lineS8)(b[at:])) },
		func(to, at, n int) { partOf(tiles[to][:], a, at, n) },
		func(to, at, n int) { partOf(tiles[to][:], b, at, n) },
		func(row, column int, v int32) { putInteger(x, row, column, v, ldc, stepC, alpha, beta, c) },
		func() bool { return beta == 0 && n%2+ldc%2+stepC%2 == 0 }, stepC, ldc, func(pair int, v, w int32) { c[2*pair], c[2*pair+1] = alpha*v, alpha*w })
}

// groupU8 multiplies matrices of uint8.
//
//quern:kernel unchecked block=GroupThreads only=gpu
func groupU8(t kernel.Thread, m, n, k, part, lda, ldb, ldc, stepA, stepB, stepC int, alpha, beta int32, a, b []uint8, c []int32) {
	tiles := kernel.Shared[[groupStages * groupLines]lineU8](t)
	x := newTensorTile(t, 16, GroupRows, GroupColumns, m, n, k, part)
	groupProduct(t, GroupThreads, GroupRows, 16, x, tiles[:], stepA, lda, stepB, ldb,
		func(to, at int) { kernel.AsyncCopy(t, &tiles[to], (*lineU8)(a[at:])) },
		func(to, at int) { kernel.AsyncCopy(t, &tiles[to], (*lineU8)(b[at:])) },
		func(to, at, n int) { partOf(tiles[to][:], a, at, n) },
		func(to, at, n int) { partOf(tiles[to][:], b, at, n) },
		func(row, column int, v int32) { putInteger(x, row, column, v, ldc, stepC, alpha, beta, c) },
		func() bool { return beta == 0 && n%2+ldc%2+stepC%2 == 0 }, stepC, ldc, func(pair int, v, w int32) { c[2*pair], c[2*pair+1] = alpha*v, alpha*w })
}

// groupF16Tall multiplies matrices of Float16.
//
//quern:kernel unchecked block=GroupTallThreads only=gpu
func groupF16Tall(t kernel.Thread, m, n, k, part, lda, ldb, ldc, stepA, stepB, stepC int, alpha, beta float32, a, b []kernel.Float16, c []float32, post, ldr, stepR int, bias, residual []float32) {
	tiles := kernel.Shared[[groupStages * groupTallLines]lineF16](t)
	x := newTensorTile(t, 8, GroupTallRows, GroupColumns, m, n, k, part)
	groupProduct(t, GroupTallThreads, GroupTallRows, 8, x, tiles[:], stepA, lda, stepB, ldb,
		func(to, at int) { kernel.AsyncCopy(t, &tiles[to], (*lineF16)(a[at:])) },
		func(to, at int) { kernel.AsyncCopy(t, &tiles[to], (*lineF16)(b[at:])) },
		func(to, at, n int) { partOf(tiles[to][:], a, at, n) },
		func(to, at, n int) { partOf(tiles[to][:], b, at, n) },
		func(row, column int, v float32) {
			putFloat(x, row, column, v, ldc, stepC, alpha, beta, c, post, ldr, stepR, bias, residual)
		},
		func() bool { return beta == 0 && post == 0 && n%2+ldc%2+stepC%2 == 0 }, stepC, ldc, func(pair int, v, w float32) { c[2*pair], c[2*pair+1] = alpha*v, alpha*w })
}

// groupBF16Tall multiplies matrices of BFloat16.
//
//quern:kernel unchecked block=GroupTallThreads only=gpu
func groupBF16Tall(t kernel.Thread, m, n, k, part, lda, ldb, ldc, stepA, stepB, stepC int, alpha, beta float32, a, b []kernel.BFloat16, c []float32, post, ldr, stepR int, bias, residual []float32) {
	tiles := kernel.Shared[[groupStages * groupTallLines]lineBF16](t)
	x := newTensorTile(t, 8, GroupTallRows, GroupColumns, m, n, k, part)
	groupProduct(t, GroupTallThreads, GroupTallRows, 8, x, tiles[:], stepA, lda, stepB, ldb,
		func(to, at int) { kernel.AsyncCopy(t, &tiles[to], (*lineBF16)(a[at:])) },
		func(to, at int) { kernel.AsyncCopy(t, &tiles[to], (*lineBF16)(b[at:])) },
		func(to, at, n int) { partOf(tiles[to][:], a, at, n) },
		func(to, at, n int) { partOf(tiles[to][:], b, at, n) },
		func(row, column int, v float32) {
			putFloat(x, row, column, v, ldc, stepC, alpha, beta, c, post, ldr, stepR, bias, residual)
		},
		func() bool { return beta == 0 && post == 0 && n%2+ldc%2+stepC%2 == 0 }, stepC, ldc, func(pair int, v, w float32) { c[2*pair], c[2*pair+1] = alpha*v, alpha*w })
}

// groupTF32Tall multiplies matrices of float32, cut off to the TF32 format.
//
//quern:kernel unchecked block=GroupTallThreads only=gpu
func groupTF32Tall(t kernel.Thread, m, n, k, part, lda, ldb, ldc, stepA, stepB, stepC int, alpha, beta float32, a, b []float32, c []float32, post, ldr, stepR int, bias, residual []float32) {
	tiles := kernel.Shared[[groupStages * groupTallLines]lineTF32](t)
	x := newTensorTile(t, 4, GroupTallRows, GroupColumns, m, n, k, part)
	groupProduct(t, GroupTallThreads, GroupTallRows, 4, x, tiles[:], stepA, lda, stepB, ldb,
		func(to, at int) { kernel.AsyncCopy(t, &tiles[to], (*lineTF32)(a[at:])) },
		func(to, at int) { kernel.AsyncCopy(t, &tiles[to], (*lineTF32)(b[at:])) },
		func(to, at, n int) { partOf(tiles[to][:], a, at, n) },
		func(to, at, n int) { partOf(tiles[to][:], b, at, n) },
		func(row, column int, v float32) {
			putFloat(x, row, column, v, ldc, stepC, alpha, beta, c, post, ldr, stepR, bias, residual)
		},
		func() bool { return beta == 0 && post == 0 && n%2+ldc%2+stepC%2 == 0 }, stepC, ldc, func(pair int, v, w float32) { c[2*pair], c[2*pair+1] = alpha*v, alpha*w })
}

// groupS8Tall multiplies matrices of int8.
//
//quern:kernel unchecked block=GroupTallThreads only=gpu
func groupS8Tall(t kernel.Thread, m, n, k, part, lda, ldb, ldc, stepA, stepB, stepC int, alpha, beta int32, a, b []int8, c []int32) {
	tiles := kernel.Shared[[groupStages * groupTallLines]lineS8](t)
	x := newTensorTile(t, 16, GroupTallRows, GroupColumns, m, n, k, part)
	groupProduct(t, GroupTallThreads, GroupTallRows, 16, x, tiles[:], stepA, lda, stepB, ldb,
		func(to, at int) { kernel.AsyncCopy(t, &tiles[to], (*lineS8)(a[at:])) },
		func(to, at int) { kernel.AsyncCopy(t, &tiles[to], (*lineS8)(b[at:])) },
		func(to, at, n int) { partOf(tiles[to][:], a, at, n) },
		func(to, at, n int) { partOf(tiles[to][:], b, at, n) },
		func(row, column int, v int32) { putInteger(x, row, column, v, ldc, stepC, alpha, beta, c) },
		func() bool { return beta == 0 && n%2+ldc%2+stepC%2 == 0 }, stepC, ldc, func(pair int, v, w int32) { c[2*pair], c[2*pair+1] = alpha*v, alpha*w })
}

// groupU8Tall multiplies matrices of uint8.
//
//quern:kernel unchecked block=GroupTallThreads only=gpu
func groupU8Tall(t kernel.Thread, m, n, k, part, lda, ldb, ldc, stepA, stepB, stepC int, alpha, beta int32, a, b []uint8, c []int32) {
	tiles := kernel.Shared[[groupStages * groupTallLines]lineU8](t)
	x := newTensorTile(t, 16, GroupTallRows, GroupColumns, m, n, k, part)
	groupProduct(t, GroupTallThreads, GroupTallRows, 16, x, tiles[:], stepA, lda, stepB, ldb,
		func(to, at int) { kernel.AsyncCopy(t, &tiles[to], (*lineU8)(a[at:])) },
		func(to, at int) { kernel.AsyncCopy(t, &tiles[to], (*lineU8)(b[at:])) },
		func(to, at, n int) { partOf(tiles[to][:], a, at, n) },
		func(to, at, n int) { partOf(tiles[to][:], b, at, n) },
		func(row, column int, v int32) { putInteger(x, row, column, v, ldc, stepC, alpha, beta, c) },
		func() bool { return beta == 0 && n%2+ldc%2+stepC%2 == 0 }, stepC, ldc, func(pair int, v, w int32) { c[2*pair], c[2*pair+1] = alpha*v, alpha*w })
}

// groupProduct is tensorProduct by groups.
func groupProduct[R kernel.MatrixLine, C float32 | int32](t kernel.Thread, threads, rows, elements int, x tensorTile, tiles []R, stepA, lda, stepB, ldb int,
	copyA, copyB func(to, at int), partA, partB func(to, at, n int), put func(row, column int, v C), pairs func() bool, stepC, ldc int, putPair func(pair int, v, w C)) {
	l, first, count := newLoading(t, threads, rows, GroupColumns, elements, x, stepA, lda, stepB, ldb, partA, partB)
	group := t.Warp() / 4
	for step := range int32(groupAhead) {
		if step >= first && step < count {
			l.load(step, groupStages, threads, rows, GroupColumns, elements, lda, ldb, copyA, copyB)
		}
		kernel.AsyncCommit(t)
	}
	var sum [GroupColumns / 8]kernel.Accumulator[C]
	for step := range count {
		kernel.AsyncWait(t, groupAhead-1)
		t.Sync()
		from := int(step%groupStages) * (rows + GroupColumns) * tensorChunks
		kernel.GroupMMA(t, &tiles[from+group*groupRows*tensorChunks], &tiles[from+rows*tensorChunks], sum[:])
		if step+groupAhead < count {
			l.load(step+groupAhead, groupStages, threads, rows, GroupColumns, elements, lda, ldb, copyA, copyB)
		}
		kernel.AsyncCommit(t)
		kernel.GroupWait(t, 1)
	}
	kernel.GroupWait(t, 0)

	const some = 4
	var at kernel.Accumulator[C]
	top, left := x.row+t.Warp()*16, x.column
	if pairs() {
		column := left + at.Column(t, 0)
		for half := range 2 {
			if row := top + at.Row(t, 2*half); row < x.m {
				pair, columns := (x.matrix*stepC+row*ldc+column)/2, x.n-column
				for j := range len(sum) {
					if j*8 < columns {
						putPair(pair+j*4, sum[j][2*half], sum[j][2*half+1])
					}
				}
			}
		}
		return
	}
	//quern:nounroll
	for range len(sum) / some {
		for j := range some {
			for e := range 4 {
				put(top+at.Row(t, e), left+j*8+at.Column(t, e), sum[j][e])
			}
		}
		for j := range len(sum) - some {
			sum[j] = sum[j+some]
		}
		left += some * 8
	}
}

// roundRows copies matrices to rows at other distances, and rounds their elements to the TF32
// format, to nearest and ties away from zero.
//
//quern:kernel
func roundRows(t kernel.Thread, rows, columns, strideFrom, strideTo, stepFrom, stepTo, matrices int, from, to []float32) {
	i := t.Global()
	if i >= matrices*rows*columns {
		return
	}
	row, column := i/columns, i%columns
	const dropped = 1<<13 - 1
	bits := math.Float32bits(from[row/rows*stepFrom+row%rows*strideFrom+column])
	if bits&0x7fffffff <= 0x7f800000 { // a number
		bits = (bits + 1<<12) &^ dropped
	}
	to[row/rows*stepTo+row%rows*strideTo+column] = math.Float32frombits(bits)
}
