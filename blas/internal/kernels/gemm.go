package kernels

import "quern.dev/kernel"

// Float is the element types of most functions.
type Float interface{ float32 | float64 }

const (
	GemmThreads = 256
	GemmDepth   = 16 // elements of k in shared memory at a time
)

// The flags of a product's kernel.
const (
	TransA = 1 << iota
	TransB
	QuadsA // quads of A are aligned: its stride and its step are multiples of 4
	QuadsB
	QuadsC
	Lower // only the triangle on and below the diagonal of C is computed
	Upper // only the triangle on and above it
)

// quad is four adjacent elements, which move together.
type quad[T Float] [4]T

// gemmLarge computes tiles of 128x128 elements of C, one per block, and 8x8 elements per
// thread. See gemmTile.
//
//quern:kernel block=GemmThreads instantiate=float32
func gemmLarge[T Float](t kernel.Thread, m, n, k, part, flags, offA, offB, offC, lda, ldb, ldc, stepA, stepB, stepC int, alpha, beta T, a, b, c []T, post, ldr, stepR int, bias, residual []T) {
	const quads = 2
	sa := kernel.Shared[[2 * GemmDepth * (16*quads + 1)]quad[T]](t)
	sb := kernel.Shared[[2 * GemmDepth * (16*quads + 1)]quad[T]](t)
	gemmTile(t, quads, sa[:], sb[:], m, n, k, part, flags, offA, offB, offC, lda, ldb, ldc, stepA, stepB, stepC, alpha, beta, a, b, c, post, ldr, stepR, bias, residual)
}

// gemmSmall computes tiles of 64x64 elements of C, and 4x4 elements per thread.
//
//quern:kernel block=GemmThreads instantiate=float32,float64
func gemmSmall[T Float](t kernel.Thread, m, n, k, part, flags, offA, offB, offC, lda, ldb, ldc, stepA, stepB, stepC int, alpha, beta T, a, b, c []T, post, ldr, stepR int, bias, residual []T) {
	const quads = 1
	sa := kernel.Shared[[2 * GemmDepth * (16*quads + 1)]quad[T]](t)
	sb := kernel.Shared[[2 * GemmDepth * (16*quads + 1)]quad[T]](t)
	gemmTile(t, quads, sa[:], sb[:], m, n, k, part, flags, offA, offB, offC, lda, ldb, ldc, stepA, stepB, stepC, alpha, beta, a, b, c, post, ldr, stepR, bias, residual)
}

// gemmTile computes the block's tile of C = alpha*op(A)*op(B) + beta*C and applies the
// epilogue. The tile is a square of 64*quads elements, and a thread has quads x quads
// squares of 4x4 of them.
//
// The grid is linear: the tiles of one product, then the parts of k, then the matrices of
// the batch. A part has part elements of k. If there are several, c has a matrix for each,
// and the caller adds them up.
//
// Each factor has two tiles in shared memory, as rows of quads for each element of k. One
// is multiplied while the other is being read. A quad's place is exchanged within the row
// for the upper eight elements of k, so that the threads that transpose a factor write to
// different banks.
func gemmTile[T Float](t kernel.Thread, quads int, sa, sb []quad[T], m, n, k, part, flags, offA, offB, offC, lda, ldb, ldc, stepA, stepB, stepC int, alpha, beta T, a, b, c []T, post, ldr, stepR int, bias, residual []T) {
	side, pitch := 64*quads, 16*quads+1
	tilesM, tilesN, parts := (m+side-1)/side, (n+side-1)/side, max((k+part-1)/part, 1)
	tileRow, tileColumn := tileOf(t.BlockIdx.X%(tilesM*tilesN), tilesM, tilesN)
	row, column := tileRow*side, tileColumn*side
	if flags&Lower != 0 && column >= row+side || flags&Upper != 0 && row >= column+side {
		return
	}
	rest := t.BlockIdx.X / (tilesM * tilesN)
	first, batch := rest%parts*part, rest/parts
	end := min(first+part, k)

	thread := t.ThreadIdx.X
	y, x := thread/128*8*quads+thread%32/4, thread/32%4*4*quads+thread%4
	fromA := newSource(quads, thread, flags&TransA == 0, flags&QuadsA != 0, offA+batch*stepA, lda, row, m, first)
	fromB := newSource(quads, thread, flags&TransB != 0, flags&QuadsB != 0, offB+batch*stepB, ldb, column, n, first)
	var sum [8][8]T
	stage := 0
	for at := first - GemmDepth; at < end; at += GemmDepth {
		var va, vb [8]T
		if at+GemmDepth < end {
			va = readTile(&fromA, a, quads, at+GemmDepth-first, end)
			vb = readTile(&fromB, b, quads, at+GemmDepth-first, end)
		}
		if at >= first {
			//quern:unroll
			for p := range GemmDepth {
				var ra, rb [8]T
				for i := range quads {
					qa := sa[(stage*GemmDepth+p)*pitch+((y+i*8)^(p/8*2))]
					qb := sb[(stage*GemmDepth+p)*pitch+((x+i*4)^(p/8*2))]
					for j := range 4 {
						ra[i*4+j], rb[i*4+j] = qa[j], qb[j]
					}
				}
				for i := range 4 * quads {
					for j := range 4 * quads {
						sum[i][j] += ra[i] * rb[j]
					}
				}
			}
		}
		if at+GemmDepth < end {
			stage = 1 - stage
			storeTile(sa[stage*GemmDepth*pitch:], quads, thread, flags&TransA == 0, va)
			storeTile(sb[stage*GemmDepth*pitch:], quads, thread, flags&TransB != 0, vb)
			t.Sync()
		}
	}

	base := offC + (batch*parts+first/part)*stepC
	top, left := row+y*4, column+x*4
	if post == 0 && flags&QuadsC != 0 && (flags&(Lower|Upper) == 0 || row != column) && top+32*quads-28 <= m && left+16*quads-12 <= n {
		for i := range 4 * quads {
			for j := range quads {
				at := (base/4 + (top+i/4*32+i%4)*(ldc/4) + left/4 + j*4) * 4
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
		if r := top + i/4*32 + i%4; r < m {
			for j := range 4 * quads {
				if q := left + j/4*16 + j%4; q < n && inTriangle(flags, r, q) {
					at := base + r*ldc + q
					v := alpha * sum[0][j]
					if beta != 0 {
						v += beta * c[at]
					}
					c[at] = finish(v, r, q, post, batch*stepR+r*ldr+q, bias, residual)
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

// source describes which elements of a factor's tile a thread reads. The tile has 64*quads
// lines (rows of op(A), columns of op(B)) with GemmDepth elements of k. A thread reads quads
// quads, whose elements are adjacent in memory.
type source struct {
	base, lines            int
	line, depth            int // of the first element
	lineStride, strideK    int // of elements in memory
	nextLine, nextDepth    int // from a quad to the next one
	acrossLine, acrossDeep int // from an element of a quad to the next one

	aligned             bool
	quad                int // the first quad
	nextQuad, nextDeep4 int // from a quad to the next one, and for an element of k
}

func newSource(quads, thread int, along, aligned bool, base, stride, line, lines, first int) source {
	if along { // the elements of a line are adjacent
		line, depth := line+thread/4, first+thread%4*4
		return source{
			base, lines, line, depth,
			stride, 1, 64, 0, 0, 1,
			aligned, base/4 + line*(stride/4) + depth/4, 64 * (stride / 4), 1,
		}
	}
	line, depth := line+thread%(16*quads)*4, first+thread/(16*quads)
	return source{
		base, lines, line, depth,
		1, stride, 0, 8, 1, 0,
		aligned, base/4 + depth*(stride/4) + line/4, 8 * (stride / 4), stride,
	}
}

// read reads the thread's elements of the tile that starts at the element depth of k, counted
// from the first one. Elements beyond the matrix or beyond end are zero.
func readTile[T Float](s *source, from []T, quads, depth, end int) (v [8]T) {
	for i := range quads {
		line, k := s.line+i*s.nextLine, s.depth+depth+i*s.nextDepth
		if s.aligned && line+3*s.acrossLine < s.lines && k+3*s.acrossDeep < end {
			at := (s.quad + i*s.nextQuad + depth/4*s.nextDeep4) * 4
			for j := range 4 {
				v[i*4+j] = from[at+j]
			}
			continue
		}
		for j := range 4 {
			if l, p := line+j*s.acrossLine, k+j*s.acrossDeep; l < s.lines && p < end {
				v[i*4+j] = from[s.base+l*s.lineStride+p*s.strideK]
			}
		}
	}
	return v
}

// storeTile stores what readTile has read.
func storeTile[T Float](s []quad[T], quads, thread int, along bool, v [8]T) {
	pitch := 16*quads + 1
	if along {
		l, p := thread/4, thread%4*4
		for i := range quads {
			for j := range 4 {
				s[(p+j)*pitch+((l/4+i*16)^(p/8*2))][l%4] = v[i*4+j]
			}
		}
		return
	}
	q, p := thread%(16*quads), thread/(16*quads)
	for i := range quads {
		s[(p+i*8)*pitch+(q^((p+i*8)/8*2))] = quad[T]{v[i*4], v[i*4+1], v[i*4+2], v[i*4+3]}
	}
}

// sumParts adds up the parts that gemmTile has computed, m rows of ldp elements each, in
// order, and completes C. The grid is linear over the elements of all matrices of the batch.
//
//quern:kernel block=256 instantiate=float32,float64
func sumParts[T Float](t kernel.Thread, m, n, parts, batch, flags, ldp, offC, ldc, stepC int, alpha, beta T, partial, c []T, post, ldr, stepR int, bias, residual []T) {
	i := t.Global()
	if i >= batch*m*n {
		return
	}
	r, q := i/n, i%n
	r, matrix := r%m, r/m
	if !inTriangle(flags, r, q) {
		return
	}
	var sum T
	for p := range parts {
		sum += partial[((matrix*parts+p)*m+r)*ldp+q]
	}
	at := offC + matrix*stepC + r*ldc + q
	v := alpha * sum
	if beta != 0 {
		v += beta * c[at]
	}
	c[at] = finish(v, r, q, post, matrix*stepR+r*ldr+q, bias, residual)
}

// inTriangle reports whether an element of C is to be computed.
func inTriangle(flags, row, column int) bool {
	return flags&(Lower|Upper) == 0 || flags&Lower != 0 && column <= row || flags&Upper != 0 && column >= row
}
