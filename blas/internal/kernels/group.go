package kernels

import "quern.dev/kernel"

// The group kernels compute what the tensor kernels do, where rows of A and B start at
// multiples of 16 bytes: strides and steps of A and B, and parts of k, are in chunks. A block computes
// GroupRows rows and GroupColumns columns of C, each of its groups of 128 threads half of
// the rows. Of the four stages, two are being multiplied while two are on their way.
const (
	GroupRows    = 128
	GroupColumns = 256

	// GroupShared is the size of the shared memory of the group kernels.
	GroupShared = groupStages * groupLines * 16

	groupStages = 4
	groupAhead  = groupStages - 2
	groupLines  = (GroupRows + GroupColumns) * tensorChunks
)

// groupF16 multiplies matrices of Float16.
//
//quern:kernel unchecked block=TensorThreads only=gpu
func groupF16(t kernel.Thread, m, n, k, part, lda, ldb, ldc, stepA, stepB, stepC int, alpha, beta float32, a, b []kernel.Float16, c []float32, post, ldr, stepR int, bias, residual []float32) {
	tiles := kernel.Shared[[groupStages * groupLines]lineF16](t)
	x := newGroupTile(t, 8, m, n, k, part)
	groupProduct(t, 8, x, tiles[:], stepA, lda, stepB, ldb,
		func(to, at int) { kernel.AsyncCopy(t, &tiles[to], (*lineF16)(a[at:])) },
		func(to, at int) { kernel.AsyncCopy(t, &tiles[to], (*lineF16)(b[at:])) },
		func(to, at, n int) { partOf(tiles[to][:], a, at, n) },
		func(to, at, n int) { partOf(tiles[to][:], b, at, n) },
		func(row, column int, v float32) {
			putFloat(x, row, column, v, ldc, stepC, alpha, beta, c, post, ldr, stepR, bias, residual)
		})
}

// groupBF16 multiplies matrices of BFloat16.
//
//quern:kernel unchecked block=TensorThreads only=gpu
func groupBF16(t kernel.Thread, m, n, k, part, lda, ldb, ldc, stepA, stepB, stepC int, alpha, beta float32, a, b []kernel.BFloat16, c []float32, post, ldr, stepR int, bias, residual []float32) {
	tiles := kernel.Shared[[groupStages * groupLines]lineBF16](t)
	x := newGroupTile(t, 8, m, n, k, part)
	groupProduct(t, 8, x, tiles[:], stepA, lda, stepB, ldb,
		func(to, at int) { kernel.AsyncCopy(t, &tiles[to], (*lineBF16)(a[at:])) },
		func(to, at int) { kernel.AsyncCopy(t, &tiles[to], (*lineBF16)(b[at:])) },
		func(to, at, n int) { partOf(tiles[to][:], a, at, n) },
		func(to, at, n int) { partOf(tiles[to][:], b, at, n) },
		func(row, column int, v float32) {
			putFloat(x, row, column, v, ldc, stepC, alpha, beta, c, post, ldr, stepR, bias, residual)
		})
}

// groupS8 multiplies matrices of int8.
//
//quern:kernel unchecked block=TensorThreads only=gpu
func groupS8(t kernel.Thread, m, n, k, part, lda, ldb, ldc, stepA, stepB, stepC int, alpha, beta int32, a, b []int8, c []int32) {
	tiles := kernel.Shared[[groupStages * groupLines]lineS8](t)
	x := newGroupTile(t, 16, m, n, k, part)
	groupProduct(t, 16, x, tiles[:], stepA, lda, stepB, ldb,
		func(to, at int) { kernel.AsyncCopy(t, &tiles[to], (*lineS8)(a[at:])) },
		func(to, at int) { kernel.AsyncCopy(t, &tiles[to], (*lineS8)(b[at:])) },
		func(to, at, n int) { partOf(tiles[to][:], a, at, n) },
		func(to, at, n int) { partOf(tiles[to][:], b, at, n) },
		func(row, column int, v int32) { putInteger(x, row, column, v, ldc, stepC, alpha, beta, c) })
}

// groupU8 multiplies matrices of uint8.
//
//quern:kernel unchecked block=TensorThreads only=gpu
func groupU8(t kernel.Thread, m, n, k, part, lda, ldb, ldc, stepA, stepB, stepC int, alpha, beta int32, a, b []uint8, c []int32) {
	tiles := kernel.Shared[[groupStages * groupLines]lineU8](t)
	x := newGroupTile(t, 16, m, n, k, part)
	groupProduct(t, 16, x, tiles[:], stepA, lda, stepB, ldb,
		func(to, at int) { kernel.AsyncCopy(t, &tiles[to], (*lineU8)(a[at:])) },
		func(to, at int) { kernel.AsyncCopy(t, &tiles[to], (*lineU8)(b[at:])) },
		func(to, at, n int) { partOf(tiles[to][:], a, at, n) },
		func(to, at, n int) { partOf(tiles[to][:], b, at, n) },
		func(row, column int, v int32) { putInteger(x, row, column, v, ldc, stepC, alpha, beta, c) })
}

// newGroupTile is newTensorTile for parts of a number of chunks.
func newGroupTile(t kernel.Thread, elements, m, n, k, part int) tensorTile {
	tilesM, tilesN, parts := (m+GroupRows-1)/GroupRows, (n+GroupColumns-1)/GroupColumns, max((k+part*elements-1)/(part*elements), 1)
	row, column := tileOf(t.BlockIdx.X%(tilesM*tilesN), tilesM, tilesN)
	rest := t.BlockIdx.X / (tilesM * tilesN)
	first := rest % parts * part * elements
	return tensorTile{m, n, min(first+part*elements, k), row * GroupRows, column * GroupColumns, first, rest / parts, rest}
}

// groupProduct multiplies the block's rows of A and B. copyA and copyB start the copy of the
// elements of a chunk at an index to a line of tiles, partA and partB copy a number of its
// elements, put writes a sum. Rows beyond the matrix are copies of its last one. If k is no
// multiple of a step's elements, the first step has the rest.
func groupProduct[R kernel.MatrixLine, C float32 | int32](t kernel.Thread, elements int, x tensorTile, tiles []R, stepA, lda, stepB, ldb int,
	copyA, copyB func(to, at int), partA, partB func(to, at, n int), put func(row, column int, v C)) {
	const (
		threadRows = TensorThreads / tensorChunks // that the threads copy at a time
		rowsA      = GroupRows / threadRows
		rowsB      = GroupColumns / threadRows
	)
	depth := tensorChunks * elements // of a step
	whole := (x.end - x.first) / depth
	rest := x.end - x.first - whole*depth
	count := whole
	thread := t.ThreadIdx.X
	line := thread / tensorChunks
	place := kernel.TileLine(line, thread%tensorChunks)
	first := x.first + thread%tensorChunks*elements
	var fromA [rowsA]int
	for i := range fromA {
		fromA[i] = (x.batch*stepA+min(x.row+line+i*threadRows, x.m-1)*lda)*elements + first
	}
	var fromB [rowsB]int
	for i := range fromB {
		fromB[i] = (x.batch*stepB+min(x.column+line+i*threadRows, x.n-1)*ldb)*elements + first
	}

	// load copies what a step multiplies, and moves on.
	load := func(step int) {
		to := step%groupStages*groupLines + place
		for i, from := range fromA {
			copyA(to+i*threadRows*tensorChunks, from)
			fromA[i] += depth
		}
		for i, from := range fromB {
			copyB(to+(GroupRows+i*threadRows)*tensorChunks, from)
			fromB[i] += depth
		}
	}

	if rest > 0 {
		count++
		n := rest - thread%tensorChunks*elements
		//quern:nounroll
		for i := range rowsA {
			partA(place+i*threadRows*tensorChunks, (x.batch*stepA+min(x.row+line+i*threadRows, x.m-1)*lda)*elements+first+whole*depth, n)
		}
		//quern:nounroll
		for i := range rowsB {
			partB(place+(GroupRows+i*threadRows)*tensorChunks, (x.batch*stepB+min(x.column+line+i*threadRows, x.n-1)*ldb)*elements+first+whole*depth, n)
		}
	}
	group := t.Warp() / 4
	for step := range groupAhead {
		if step >= count-whole && step < count {
			load(step)
		}
		kernel.AsyncCommit(t)
	}
	var sum [GroupColumns / 8]kernel.Accumulator[C]
	for step := range count {
		kernel.AsyncWait(t, groupAhead-1)
		t.Sync()
		from := step % groupStages * groupLines
		kernel.GroupMMA(t, &tiles[from+group*64*tensorChunks], &tiles[from+GroupRows*tensorChunks], sum[:])
		if next := step + groupAhead; next < count {
			load(next)
		}
		kernel.AsyncCommit(t)
		kernel.GroupWait(t, 1)
	}
	kernel.GroupWait(t, 0)

	const some = 4
	var at kernel.Accumulator[C]
	top, left := x.row+t.Warp()*16, x.column
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
