package kernels

import (
	"math"
	"unsafe"

	"quern.dev/kernel"
)

// The group kernels compute what the kernels for tensor cores do, by two groups of 128 threads:
// each computes 64 rows and GroupColumns columns. Of the four stages, two are being multiplied
// while two are on their way.
//
// A block computes several tiles of one matrix, one after another. The copies for the next tile
// start while the last steps of this one are multiplied.
const (
	GroupThreads = 256
	GroupRows    = 2 * groupRows
	GroupColumns = 256

	// GroupShared is the size of the shared memory.
	GroupShared = (groupLinesA+groupLinesB)*16 + 1024

	groupRows   = 64
	groupStages = 4
	groupAhead  = groupStages - 2

	// The lines of all stages.
	groupLinesA = groupStages * GroupRows * tensorChunks
	groupLinesB = groupStages * GroupColumns * tensorChunks
)

// GroupFloat is the floats that the kernels for groups multiply.
type GroupFloat interface {
	kernel.Float16 | kernel.BFloat16 | float32 | Float8
}

// GroupFloatLine is the lines of these floats.
type GroupFloatLine interface {
	[8]kernel.Float16 | [8]kernel.BFloat16 | [4]float32 | [16]kernel.Float8E4M3 | [16]kernel.Float8E5M2
}

// groupFloat multiplies matrices of floats, those of float32 cut off to the TF32 format.
//
//quern:kernel unchecked block=GroupThreads only=gpu instantiate=kernel.Float16:kernel.Float16:[8]kernel.Float16:[8]kernel.Float16,kernel.BFloat16:kernel.BFloat16:[8]kernel.BFloat16:[8]kernel.BFloat16,float32:float32:[4]float32:[4]float32,kernel.Float8E4M3:kernel.Float8E4M3:[16]kernel.Float8E4M3:[16]kernel.Float8E4M3,kernel.Float8E4M3:kernel.Float8E5M2:[16]kernel.Float8E4M3:[16]kernel.Float8E5M2,kernel.Float8E5M2:kernel.Float8E4M3:[16]kernel.Float8E5M2:[16]kernel.Float8E4M3,kernel.Float8E5M2:kernel.Float8E5M2:[16]kernel.Float8E5M2:[16]kernel.Float8E5M2
func groupFloat[A, B any, LA, LB kernel.MatrixLine](t kernel.Thread, blocks, m, n, k, part, lda, ldb, ldc, stepA, stepB, stepC int, alpha, beta float32, maps []kernel.TileMap, a []A, b []B, c []float32, post, ldr, stepR int, bias, residual []float32) {
	tilesA := kernel.Shared[[groupLinesA]LA](t)
	tilesB := kernel.Shared[[groupLinesB]LB](t)
	groupProduct(t, blocks, m, n, k, part, lda, ldb, ldc, stepA, stepB, stepC, tilesA[:], tilesB[:], maps, a, b,
		func(x tensorTile, row, column int, v float32) {
			putFloat(x, row, column, v, ldc, stepC, alpha, beta, c, post, ldr, stepR, bias, residual)
		},
		func() bool { return beta == 0 && post == 0 && n%2+ldc%2+stepC%2 == 0 }, func(pair int, v, w float32) { c[2*pair], c[2*pair+1] = alpha*v, alpha*w })
}

// groupInteger multiplies matrices of integers.
//
//quern:kernel unchecked block=GroupThreads only=gpu instantiate=int8:int8:[16]int8:[16]int8,uint8:uint8:[16]uint8:[16]uint8
func groupInteger[A, B any, LA, LB kernel.MatrixLine](t kernel.Thread, blocks, m, n, k, part, lda, ldb, ldc, stepA, stepB, stepC int, alpha, beta int32, maps []kernel.TileMap, a []A, b []B, c []int32) {
	tilesA := kernel.Shared[[groupLinesA]LA](t)
	tilesB := kernel.Shared[[groupLinesB]LB](t)
	groupProduct(t, blocks, m, n, k, part, lda, ldb, ldc, stepA, stepB, stepC, tilesA[:], tilesB[:], maps, a, b,
		func(x tensorTile, row, column int, v int32) {
			putInteger(x, row, column, v, ldc, stepC, alpha, beta, c)
		},
		func() bool { return beta == 0 && n%2+ldc%2+stepC%2 == 0 }, func(pair int, v, w int32) { c[2*pair], c[2*pair+1] = alpha*v, alpha*w })
}

// groupProduct multiplies by groups. The grid has a number of blocks for each part of each
// matrix, and maps two elements for each block. put writes a sum. If pairs returns true,
// the rows of C and their number of columns are even, and putPair writes two adjacent sums.
func groupProduct[A, B any, LA, LB kernel.MatrixLine, C float32 | int32](t kernel.Thread, blocks, m, n, k, part, lda, ldb, ldc, stepA, stepB, stepC int, tilesA []LA, tilesB []LB, maps []kernel.TileMap, a []A, b []B,
	put func(x tensorTile, row, column int, v C), pairs func() bool, putPair func(pair int, v, w C)) {
	arrived := kernel.Shared[[groupStages]kernel.CopyBarrier](t)
	elements := 16 / int(unsafe.Sizeof(a[0])) // of a line
	depth := tensorChunks * elements          // of a step
	tilesM, tilesN, parts := (m+GroupRows-1)/GroupRows, (n+GroupColumns-1)/GroupColumns, max((k+part*elements-1)/(part*elements), 1)
	tiles := tilesM * tilesN
	rest := t.BlockIdx.X / blocks
	first, batch := rest%parts*part*elements, rest/parts
	end := min(first+part*elements, k)
	count := int32((end - first + depth - 1) / depth)

	a, b = a[batch*stepA*elements:], b[batch*stepB*elements:]
	mapA, mapB := &maps[2*t.BlockIdx.X], &maps[2*t.BlockIdx.X+1]
	kernel.MapTiles(t, mapA, a, m, end, lda*elements, GroupRows)
	kernel.MapTiles(t, mapB, b, n, end, ldb*elements, GroupColumns)

	// The next step to copy.
	next := t.BlockIdx.X % blocks
	nextRow, nextColumn := tileOf(next, tilesM, tilesN)
	nextStep := int32(0)
	load := func(stage int32) {
		if next >= tiles || count == 0 {
			return
		}
		s, from := int(stage%groupStages), first+int(nextStep)*depth
		kernel.BulkCopyTile(t, &arrived[s], tilesA[s*GroupRows*tensorChunks:][:GroupRows*tensorChunks], mapA, a, m, end, lda*elements, nextRow*GroupRows, from)
		kernel.BulkCopyTile(t, &arrived[s], tilesB[s*GroupColumns*tensorChunks:][:GroupColumns*tensorChunks], mapB, b, n, end, ldb*elements, nextColumn*GroupColumns, from)
		nextStep++
		if nextStep == count {
			nextStep, next = 0, next+blocks
			if next < tiles { // tileOf divides by the rows that are left
				nextRow, nextColumn = tileOf(next, tilesM, tilesN)
			}
		}
	}
	for step := range int32(groupAhead) {
		load(step)
	}

	group := t.Warp() / 4
	stage := int32(0)
	for tile := t.BlockIdx.X % blocks; tile < tiles; tile += blocks {
		row, column := tileOf(tile, tilesM, tilesN)
		var sum [GroupColumns / 8]kernel.Accumulator[C]
		for range count {
			s := int(stage % groupStages)
			kernel.BulkWait(t, &arrived[s])
			kernel.GroupMMA(t, &tilesA[(s*GroupRows+group*groupRows)*tensorChunks], &tilesB[s*GroupColumns*tensorChunks], sum[:])
			load(stage + groupAhead)
			kernel.GroupWait(t, 1)
			stage++
		}
		kernel.GroupWait(t, 0)

		x := tensorTile{m, n, end, row * GroupRows, column * GroupColumns, first, batch, rest}
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
			continue
		}
		//quern:nounroll
		for range len(sum) / some {
			for j := range some {
				for e := range 4 {
					put(x, top+at.Row(t, e), left+j*8+at.Column(t, e), sum[j][e])
				}
			}
			for j := range len(sum) - some {
				sum[j] = sum[j+some]
			}
			left += some * 8
		}
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
