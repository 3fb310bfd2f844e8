package kernels

import "quern.dev/kernel"

// Float is the element types of most functions.
type Float interface{ float32 | float64 }

// GemmDepth is the elements of k that the kernels for products have in shared memory at a time.
const GemmDepth = 8

// The flags of a product's kernel.
const (
	TransA = 1 << iota
	TransB
	QuadsA // quads of A are aligned: its stride, step and offset are multiples of 4
	QuadsB
	QuadsC
	Lower // only the triangle on and below the diagonal of C is computed
	Upper // only the triangle on and above it
)

// quad is four adjacent elements, which move together.
type quad[T Float] [4]T

// gemmLarge computes tiles of 128x128 elements of C, one per block, and 16x8 elements per
// thread, for whole tiles of aligned matrices: m and n are multiples of 128, k and part of
// GemmDepth. See gemmTile.
//
//quern:kernel block=128 minblocks=2 unchecked only=gpu
func gemmLarge(t kernel.Thread, m, n, k, part, flags, offA, offB, offC, lda, ldb, ldc, stepA, stepB, stepC int, alpha, beta float32, a, b, c []float32, post, ldr, stepR int, bias, residual []float32) {
	const side = 128
	sa := kernel.Shared[[2 * GemmDepth * (side/4 + 1)]quad[float32]](t)
	sb := kernel.Shared[[2 * GemmDepth * (side/4 + 1)]quad[float32]](t)
	gemmTile(t, side, 4, true, sa[:], sb[:], m, n, k, part, flags, offA, offB, offC, lda, ldb, ldc, stepA, stepB, stepC, alpha, beta, a, b, c, post, ldr, stepR, bias, residual)
}

// gemmDouble computes tiles of 64x64 elements of C in float64, and 4x8 elements per thread.
//
//quern:kernel block=128 minblocks=3 unchecked only=gpu
func gemmDouble(t kernel.Thread, m, n, k, part, flags, offA, offB, offC, lda, ldb, ldc, stepA, stepB, stepC int, alpha, beta float64, a, b, c []float64, post, ldr, stepR int, bias, residual []float64) {
	const side = 64
	sa := kernel.Shared[[2 * GemmDepth * (side/4 + 1)]quad[float64]](t)
	sb := kernel.Shared[[2 * GemmDepth * (side/4 + 1)]quad[float64]](t)
	gemmTile(t, side, 1, false, sa[:], sb[:], m, n, k, part, flags, offA, offB, offC, lda, ldb, ldc, stepA, stepB, stepC, alpha, beta, a, b, c, post, ldr, stepR, bias, residual)
}

// gemmTile computes the block's tile of C = alpha*op(A)*op(B) + beta*C and applies the
// epilogue. The tile is a square. A thread has quads x 2 squares of 4x4 elements, a warp
// 16*quads x 64 elements.
//
// The grid is linear: the tiles of one product, then the parts of k, then the matrices of
// the batch. A part has part elements of k. If there are several, c has a matrix for each,
// and the caller adds them up, so that there is no epilogue.
//
// Each factor has two tiles in shared memory, as rows of quads for each element of k. While
// one is multiplied, the next one is on its way to registers. If all tiles are whole, there is
// nothing to check.
//
//quern:unchecked
func gemmTile[T Float](t kernel.Thread, side, quads int, whole bool, sa, sb []quad[T], m, n, k, part, flags, offA, offB, offC, lda, ldb, ldc, stepA, stepB, stepC int, alpha, beta T, a, b, c []T, post, ldr, stepR int, bias, residual []T) {
	pitch, warpsM, reads := side/4+1, side/(16*quads), 64*quads/side
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

	// Pairs of lanes, and pairs of these, read the same quads, which takes half the time.
	warp, lane := t.Warp(), t.Lane()
	y := warp%warpsM*4*quads + lane/16*2 + lane%2
	x := warp/warpsM*16 + lane/2%8
	fromA := newSource(t, side, flags&TransA == 0, flags&QuadsA != 0, offA+batch*stepA, lda, row, m, first)
	fromB := newSource(t, side, flags&TransB != 0, flags&QuadsB != 0, offB+batch*stepB, ldb, column, n, first)
	var sum [16][8]T
	for step := int32(-1); step < count; step++ {
		depth := min(length-(step+1)*GemmDepth, GemmDepth)
		var nextA, nextB [2]quad[T]
		if !whole {
			nextA, nextB = readTile(&fromA, side, reads, a, step+1, depth), readTile(&fromB, side, reads, b, step+1, depth)
		} else if step+1 < count {
			nextA, nextB = readQuads(&fromA, reads, a, step+1), readQuads(&fromB, reads, b, step+1)
		}
		if step >= 0 {
			stage := int(step) & 1 * GemmDepth * pitch
			//quern:unroll
			for p := range GemmDepth {
				var ra [16]T
				var rb [8]T
				for i := range quads {
					q := sa[stage+y+i*4+p*pitch]
					for j := range 4 {
						ra[i*4+j] = q[j]
					}
				}
				for i := range 2 {
					q := sb[stage+x+i*8+p*pitch]
					for j := range 4 {
						rb[i*4+j] = q[j]
					}
				}
				// Back and forth, so that adjacent products share an element of A or B, which
				// the processor then reads once.
				for i := range 4 * quads {
					for turn := range 8 {
						j := turn + (i+1)%2*(7-2*turn)
						sum[i][j] += ra[i] * rb[j]
					}
				}
			}
		}
		stage := int(step+1) & 1 * GemmDepth * pitch
		writeTile(&fromA, side, reads, stage, sa, nextA)
		writeTile(&fromB, side, reads, stage, sb, nextB)
		t.Sync()
	}

	base := offC + rest*stepC
	top, left := row+y*4, column+x*4
	if post == 0 && flags&QuadsC != 0 && (flags&(Lower|Upper) == 0 || row != column) && row+side <= m && column+side <= n {
		for i := range 4 * quads {
			for j := range 2 {
				at := (base/4 + (top+i/4*16+i%4)*(ldc/4) + left/4 + j*8) * 4
				var v quad[T]
				for l := range 4 {
					v[l] = alpha * sum[i][j*4+l]
				}
				if beta != 0 {
					for l := range 4 {
						v[l] += beta * c[at+l]
					}
				}
				for l := range 4 {
					c[at+l] = v[l]
				}
			}
		}
		return
	}
	// One row at a time: the code for an element is large.
	//quern:nounroll
	for i := range 4 * quads {
		if r := top + i/4*16 + i%4; r < m {
			for j := range 8 {
				if q := left + j/4*32 + j%4; q < n && inTriangle(flags, r, q) {
					at := base + r*ldc + q
					v := alpha * sum[0][j]
					if beta != 0 {
						v += beta * c[at]
					}
					c[at] = finish(v, r, q, post, rest*stepR+r*ldr+q, bias, residual)
				}
			}
		}
		for i := range 4*quads - 1 {
			sum[i] = sum[i+1]
		}
	}
}

// tileOf returns the row and column of a tile. Tiles that are computed at the same time
// form squares, because these need the fewest rows of A and columns of B.
func tileOf(i, tilesM, tilesN int) (row, column int) {
	const group = 8
	first := i / (group * tilesN) * group
	rows := min(group, tilesM-first)
	i -= first * tilesN
	return first + i%rows, i / rows
}

// source describes the quads of a factor's tile that a thread brings to shared memory. The
// tile has side lines (rows of op(A), columns of op(B)) with GemmDepth elements of k. A thread
// has one or two quads, of adjacent elements in memory.
type source struct {
	along bool // quads of a line; otherwise of adjacent lines, with the same k
	whole bool // the quads are aligned, and the factor has all lines

	line, depth int32 // of the first quad, in the tile
	lines       int32 // of the tile that the factor has

	// Elements in memory: the index of the first tile's first quad, the distance to the other
	// quad, and to the next tile.
	at, next, tile int
}

//quern:unchecked
func newSource(t kernel.Thread, side int, along, aligned bool, base, stride, line, lines, first int) source {
	s := source{along: along, whole: aligned && lines-line >= side, lines: int32(min(lines-line, side))}
	thread := t.ThreadIdx.X
	l, depth := thread%(side/4)*4, thread/(side/4)
	s.at, s.next, s.tile = base+(first+depth)*stride+line+l, 4*stride, GemmDepth*stride
	if along {
		l, depth = thread/2, thread%2*4
		s.at, s.next, s.tile = base+(line+l)*stride+first+depth, side/2*stride, GemmDepth
	}
	s.line, s.depth = int32(l), int32(depth)
	return s
}

// readTile returns the thread's quads of a tile that has depth elements of k. Elements beyond
// the factor are zero.
//
//quern:unchecked
func readTile[T Float](s *source, side, quads int, from []T, step, depth int32) (q [2]quad[T]) {
	if s.whole && depth == GemmDepth {
		return readQuads(s, quads, from, step)
	}
	at := s.at + int(step)*s.tile
	for i := range quads {
		near, far := s.lines-s.line, depth-s.depth-int32(i)*4
		if s.along {
			near, far = depth-s.depth, s.lines-s.line-int32(i*(side/2))
		}
		for j := range 4 {
			if far > 0 && int32(j) < near {
				q[i][j] = from[at+i*s.next+j]
			}
		}
	}
	return q
}

// readQuads is readTile for a whole tile of an aligned factor.
//
//quern:unchecked
func readQuads[T Float](s *source, quads int, from []T, step int32) (q [2]quad[T]) {
	at := s.at>>2 + int(step)*(s.tile>>2)
	for i := range quads {
		at := (at + i*(s.next>>2)) * 4
		for j := range 4 {
			q[i][j] = from[at+j]
		}
	}
	return q
}

// writeTile writes the thread's quads of a tile to shared memory.
//
//quern:unchecked
func writeTile[T Float](s *source, side, quads, stage int, to []quad[T], q [2]quad[T]) {
	pitch := side/4 + 1
	place := stage + int(s.depth)*pitch + int(s.line)/4
	if !s.along {
		for i := range quads {
			to[place+i*4*pitch] = q[i]
		}
		return
	}
	for i := range quads {
		for j := range 4 {
			to[place+j*pitch+i*(side/8)][s.line%4] = q[i][j]
		}
	}
}

// sumParts adds up the parts that gemmTile has computed, m rows of ldp elements each, in
// order, and completes C. ldp is a multiple of 4. The grid is linear over the quads of all
// matrices of the batch.
//
//quern:kernel block=256 unchecked instantiate=float32,float64
func sumParts[T Float](t kernel.Thread, m, n, parts, batch, flags, ldp, offC, ldc, stepC int, alpha, beta T, partial, c []T, post, ldr, stepR int, bias, residual []T) {
	i, quads := t.Global(), ldp/4
	if i >= batch*m*quads {
		return
	}
	r, left := i/quads, i%quads*4
	r, matrix := r%m, r/m
	var sum quad[T]
	base := (matrix*parts*m+r)*quads*4 + left
	whole := flags&(Lower|Upper) == 0 && left+4 <= n
	if whole {
		//quern:unroll 4
		for p := range parts {
			at := (base/4 + p*m*quads) * 4
			for j := range 4 {
				sum[j] += partial[at+j]
			}
		}
	} else {
		for j := range 4 {
			if left+j < n && inTriangle(flags, r, left+j) {
				for p := range parts {
					sum[j] += partial[base+p*m*ldp+j]
				}
			}
		}
	}
	if whole && post == 0 && flags&QuadsC != 0 {
		at := (offC/4+matrix*(stepC/4)+r*(ldc/4))*4 + left
		for j := range 4 {
			sum[j] *= alpha
		}
		if beta != 0 {
			for j := range 4 {
				sum[j] += beta * c[at+j]
			}
		}
		for j := range 4 {
			c[at+j] = sum[j]
		}
		return
	}
	for j := range 4 {
		if q := left + j; q < n && inTriangle(flags, r, q) {
			at := offC + matrix*stepC + r*ldc + q
			v := alpha * sum[j]
			if beta != 0 {
				v += beta * c[at]
			}
			c[at] = finish(v, r, q, post, matrix*stepR+r*ldr+q, bias, residual)
		}
	}
}

// inTriangle reports whether an element of C is to be computed.
func inTriangle(flags, row, column int) bool {
	return flags&(Lower|Upper) == 0 || flags&Lower != 0 && column <= row || flags&Upper != 0 && column >= row
}
