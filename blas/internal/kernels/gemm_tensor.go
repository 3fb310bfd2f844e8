package kernels

import (
	"math"

	"quern.dev/kernel"
)

// doubleLarge computes tiles of 128x128 elements of C in float64 on tensor cores, and 64x32
// elements per warp. See doubleTile.
//
//quern:kernel block=256 unchecked only=gpu
func doubleLarge(t kernel.Thread, m, n, k, part, flags, offA, offB, offC, lda, ldb, ldc, stepA, stepB, stepC int, alpha, beta float64, a, b, c []float64, post, ldr, stepR int, bias, residual []float64) {
	const side = 128
	sa := kernel.Shared[[2 * GemmDepth * (side/4 + 1)]quad[float64]](t)
	sb := kernel.Shared[[2 * GemmDepth * (side/4 + 1)]quad[float64]](t)
	doubleTile(t, side, 4, sa[:], sb[:], m, n, k, part, flags, offA, offB, offC, lda, ldb, ldc, stepA, stepB, stepC, alpha, beta, a, b, c, post, ldr, stepR, bias, residual)
}

// doubleSmall computes tiles of 64x64 elements of C, and 32x32 elements per warp.
//
//quern:kernel block=128 minblocks=4 unchecked only=gpu
func doubleSmall(t kernel.Thread, m, n, k, part, flags, offA, offB, offC, lda, ldb, ldc, stepA, stepB, stepC int, alpha, beta float64, a, b, c []float64, post, ldr, stepR int, bias, residual []float64) {
	const side = 64
	sa := kernel.Shared[[2 * GemmDepth * (side/4 + 1)]quad[float64]](t)
	sb := kernel.Shared[[2 * GemmDepth * (side/4 + 1)]quad[float64]](t)
	doubleTile(t, side, 2, sa[:], sb[:], m, n, k, part, flags, offA, offB, offC, lda, ldb, ldc, stepA, stepB, stepC, alpha, beta, a, b, c, post, ldr, stepR, bias, residual)
}

// doubleTile is gemmTile with tensor cores: a warp computes rows x 4 fragments. The grid is the same, and so is the path of the factors to shared memory.
//
//quern:unchecked
func doubleTile(t kernel.Thread, side, rows int, sa, sb []quad[float64], m, n, k, part, flags, offA, offB, offC, lda, ldb, ldc, stepA, stepB, stepC int, alpha, beta float64, a, b, c []float64, post, ldr, stepR int, bias, residual []float64) {
	pitch := side/4 + 1
	tilesM, tilesN, parts := (m+side-1)/side, (n+side-1)/side, max((k+part-1)/part, 1)
	tileRow, tileColumn := tileOf(t.BlockIdx.X%(tilesM*tilesN), tilesM, tilesN)
	row, column := tileRow*side, tileColumn*side
	if flags&Lower != 0 && column >= row+side || flags&Upper != 0 && row >= column+side {
		return
	}
	rest := t.BlockIdx.X / (tilesM * tilesN)
	first, batch := rest%parts*part, rest/parts
	length := int32(min(part, k-first))
	count := (length + GemmDepth - 1) / GemmDepth

	warp, lane := t.Warp(), t.Lane()
	y, x := warp*32/side*16*rows, warp*32%side
	fromA := newSource(t, side, flags&TransA == 0, flags&QuadsA != 0, offA+batch*stepA, lda, row, m, first)
	fromB := newSource(t, side, flags&TransB != 0, flags&QuadsB != 0, offB+batch*stepB, ldb, column, n, first)

	// The lane's first elements of the fragments.
	from := lane%4*pitch + lane/16
	within := lane / 4 % 4
	var sum [4][4]kernel.Accumulator[float64]
	for step := int32(-1); step < count; step++ {
		depth := min(length-(step+1)*GemmDepth, GemmDepth)
		nextA, nextB := readTile(&fromA, side, 1, a, step+1, depth), readTile(&fromB, side, 1, b, step+1, depth)
		if step >= 0 {
			stage := int(step)&1*GemmDepth*pitch + from
			//quern:unroll
			for p := range GemmDepth / 4 {
				var fa [4]kernel.MatrixA[float64]
				var fb [4]kernel.MatrixB[float64]
				for i := range rows {
					at := stage + y/4 + p*4*pitch + i*4
					fa[i] = doubleA(sa[at][within], sa[at+2][within])
				}
				for j := range 4 {
					fb[j] = doubleB(sb[stage+x/4+p*4*pitch+j*2][within])
				}
				for i := range rows {
					for j := range 4 {
						sum[i][j] = kernel.MMA(t, fa[i], fb[j], sum[i][j])
					}
				}
			}
		}
		stage := int(step+1) & 1 * GemmDepth * pitch
		writeTile(&fromA, side, 1, stage, sa, nextA)
		writeTile(&fromB, side, 1, stage, sb, nextB)
		t.Sync()
	}

	base := offC + rest*stepC
	var place kernel.Accumulator[float64]
	top, left := row+y+place.Row(t, 0), column+x+place.Column(t, 0)
	if post == 0 && flags&QuadsC != 0 && (flags&(Lower|Upper) == 0 || row != column) && row+side <= m && column+side <= n {
		for i := range 2 * rows {
			for j := range 4 {
				at := (base/2 + (top+i*8)*(ldc/2) + left/2 + j*4) * 2
				v, w := alpha*sum[i/2][j][i%2*2], alpha*sum[i/2][j][i%2*2+1]
				if beta != 0 {
					v += beta * c[at]
					w += beta * c[at+1]
				}
				c[at], c[at+1] = v, w
			}
		}
		return
	}
	// One fragment at a time: the code for an element is large.
	//quern:nounroll
	for f := range 4 * rows {
		for e := range 4 {
			r, q := top+f/4*16+e/2*8, left+f%4*8+e%2
			if r < m && q < n && inTriangle(flags, r, q) {
				at := base + r*ldc + q
				v := alpha * sum[0][0][e]
				if beta != 0 {
					v += beta * c[at]
				}
				c[at] = finish(v, r, q, post, rest*stepR+r*ldr+q, bias, residual)
			}
		}
		for i := range 4*rows - 1 {
			sum[i/4][i%4] = sum[(i+1)/4][(i+1)%4]
		}
	}
}

// doubleA returns the fragment of A with two elements: the upper one is in the upper 8 rows.
func doubleA(upper, lower float64) kernel.MatrixA[float64] {
	u, l := math.Float64bits(upper), math.Float64bits(lower)
	return kernel.MatrixA[float64]{uint32(u), uint32(l), uint32(u >> 32), uint32(l >> 32)}
}

// doubleB returns the fragment of B with one element.
func doubleB(x float64) kernel.MatrixB[float64] {
	b := math.Float64bits(x)
	return kernel.MatrixB[float64]{uint32(b), uint32(b >> 32)}
}
