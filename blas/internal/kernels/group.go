package kernels

import "quern.dev/kernel"

// The group kernels compute what the wide kernels for tensor cores do, by groups of 128
// threads. Each of the two groups of a block computes half of the rows. Of the four stages, two
// are being multiplied while two are on their way.
const (
	// GroupShared is the size of the shared memory of the group kernels.
	GroupShared = groupStages * groupLines * 16

	GroupColumns = 2 * TensorRows

	groupStages = 4
	groupAhead  = groupStages - 2
	groupLines  = (TensorRows + GroupColumns) * tensorChunks
)

// groupF16 multiplies matrices of Float16.
//
//quern:kernel unchecked block=TensorThreads only=gpu
func groupF16(t kernel.Thread, m, n, k, part, lda, ldb, ldc, stepA, stepB, stepC int, alpha, beta float32, a, b []kernel.Float16, c []float32, post, ldr, stepR int, bias, residual []float32) {
	tiles := kernel.Shared[[groupStages * groupLines]lineF16](t)
	x := newTensorTile(t, 8, GroupColumns, m, n, k, part)
	groupProduct(t, 8, x, tiles[:], stepA, lda, stepB, ldb,
		func(to, at int) { kernel.AsyncCopy(t, &tiles[to], (*lineF16)(a[at:])) },
		func(to, at int) { kernel.AsyncCopy(t, &tiles[to], (*lineF16)(b[at:])) },
		func(to, at, n int) { partOf(tiles[to][:], a, at, n) },
		func(to, at, n int) { partOf(tiles[to][:], b, at, n) },
		func(row, column int, v float32) {
			putFloat(x, row, column, v, ldc, stepC, alpha, beta, c, post, ldr, stepR, bias, residual)
		},
		beta == 0 && post == 0 && n%2+ldc%2+stepC%2 == 0, x.matrix*stepC, ldc, func(pair int, v, w float32) { c[2*pair], c[2*pair+1] = alpha*v, alpha*w })
}

// groupBF16 multiplies matrices of BFloat16.
//
//quern:kernel unchecked block=TensorThreads only=gpu
func groupBF16(t kernel.Thread, m, n, k, part, lda, ldb, ldc, stepA, stepB, stepC int, alpha, beta float32, a, b []kernel.BFloat16, c []float32, post, ldr, stepR int, bias, residual []float32) {
	tiles := kernel.Shared[[groupStages * groupLines]lineBF16](t)
	x := newTensorTile(t, 8, GroupColumns, m, n, k, part)
	groupProduct(t, 8, x, tiles[:], stepA, lda, stepB, ldb,
		func(to, at int) { kernel.AsyncCopy(t, &tiles[to], (*lineBF16)(a[at:])) },
		func(to, at int) { kernel.AsyncCopy(t, &tiles[to], (*lineBF16)(b[at:])) },
		func(to, at, n int) { partOf(tiles[to][:], a, at, n) },
		func(to, at, n int) { partOf(tiles[to][:], b, at, n) },
		func(row, column int, v float32) {
			putFloat(x, row, column, v, ldc, stepC, alpha, beta, c, post, ldr, stepR, bias, residual)
		},
		beta == 0 && post == 0 && n%2+ldc%2+stepC%2 == 0, x.matrix*stepC, ldc, func(pair int, v, w float32) { c[2*pair], c[2*pair+1] = alpha*v, alpha*w })
}

// groupS8 multiplies matrices of int8.
//
//quern:kernel unchecked block=TensorThreads only=gpu
func groupS8(t kernel.Thread, m, n, k, part, lda, ldb, ldc, stepA, stepB, stepC int, alpha, beta int32, a, b []int8, c []int32) {
	tiles := kernel.Shared[[groupStages * groupLines]lineS8](t)
	x := newTensorTile(t, 16, GroupColumns, m, n, k, part)
	groupProduct(t, 16, x, tiles[:], stepA, lda, stepB, ldb,
		func(to, at int) { kernel.AsyncCopy(t, &tiles[to], (*lineS8)(a[at:])) },
		func(to, at int) { kernel.AsyncCopy(t, &tiles[to], (*lineS8)(b[at:])) },
		func(to, at, n int) { partOf(tiles[to][:], a, at, n) },
		func(to, at, n int) { partOf(tiles[to][:], b, at, n) },
		func(row, column int, v int32) { putInteger(x, row, column, v, ldc, stepC, alpha, beta, c) },
		beta == 0 && n%2+ldc%2+stepC%2 == 0, x.matrix*stepC, ldc, func(pair int, v, w int32) { c[2*pair], c[2*pair+1] = alpha*v, alpha*w })
}

// groupU8 multiplies matrices of uint8.
//
//quern:kernel unchecked block=TensorThreads only=gpu
func groupU8(t kernel.Thread, m, n, k, part, lda, ldb, ldc, stepA, stepB, stepC int, alpha, beta int32, a, b []uint8, c []int32) {
	tiles := kernel.Shared[[groupStages * groupLines]lineU8](t)
	x := newTensorTile(t, 16, GroupColumns, m, n, k, part)
	groupProduct(t, 16, x, tiles[:], stepA, lda, stepB, ldb,
		func(to, at int) { kernel.AsyncCopy(t, &tiles[to], (*lineU8)(a[at:])) },
		func(to, at int) { kernel.AsyncCopy(t, &tiles[to], (*lineU8)(b[at:])) },
		func(to, at, n int) { partOf(tiles[to][:], a, at, n) },
		func(to, at, n int) { partOf(tiles[to][:], b, at, n) },
		func(row, column int, v int32) { putInteger(x, row, column, v, ldc, stepC, alpha, beta, c) },
		beta == 0 && n%2+ldc%2+stepC%2 == 0, x.matrix*stepC, ldc, func(pair int, v, w int32) { c[2*pair], c[2*pair+1] = alpha*v, alpha*w })
}

// groupProduct is tensorProduct by groups.
func groupProduct[R kernel.MatrixLine, C float32 | int32](t kernel.Thread, elements int, x tensorTile, tiles []R, stepA, lda, stepB, ldb int,
	copyA, copyB func(to, at int), partA, partB func(to, at, n int), put func(row, column int, v C), pairs bool, begin, ldc int, putPair func(pair int, v, w C)) {
	l, first, count := newLoading(t, 2, elements, x, stepA, lda, stepB, ldb, partA, partB)
	group := t.Warp() / 4
	for step := range groupAhead {
		if step >= first && step < count {
			l.load(step, groupStages, 2, copyA, copyB)
		}
		kernel.AsyncCommit(t)
	}
	var sum [GroupColumns / 8]kernel.Accumulator[C]
	for step := range count {
		kernel.AsyncWait(t, groupAhead-1)
		t.Sync()
		from := step % groupStages * groupLines
		kernel.GroupMMA(t, &tiles[from+group*64*tensorChunks], &tiles[from+TensorRows*tensorChunks], sum[:])
		if step+groupAhead < count {
			l.load(step+groupAhead, groupStages, 2, copyA, copyB)
		}
		kernel.AsyncCommit(t)
		kernel.GroupWait(t, 1)
	}
	kernel.GroupWait(t, 0)

	const some = 4
	var at kernel.Accumulator[C]
	top, left := x.row+t.Warp()*16, x.column
	if pairs {
		column := left + at.Column(t, 0)
		for half := range 2 {
			if row := top + at.Row(t, 2*half); row < x.m {
				pair, columns := (begin+row*ldc+column)/2, x.n-column
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
