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
	QuadsA // quads of A are aligned: its stride, step and offset are multiples of 4
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
//quern:kernel block=GemmThreads minblocks=2 only=gpu
func gemmLarge(t kernel.Thread, m, n, k, part, flags, offA, offB, offC, lda, ldb, ldc, stepA, stepB, stepC int, alpha, beta float32, a, b, c []float32, post, ldr, stepR int, bias, residual []float32) {
	const quads = 2
	sa := kernel.Shared[[2 * GemmDepth * (16*quads + 1)]quad[float32]](t)
	sb := kernel.Shared[[2 * GemmDepth * (16*quads + 1)]quad[float32]](t)
	copyQuad := func(to *quad[float32], from []float32, at int) { kernel.AsyncCopy(t, to, (*quad[float32])(from[at:])) }
	gemmTile(t, quads, sa[:], sb[:], copyQuad, m, n, k, part, flags, offA, offB, offC, lda, ldb, ldc, stepA, stepB, stepC, alpha, beta, a, b, c, post, ldr, stepR, bias, residual)
}

// gemmSmall computes tiles of 64x64 elements of C, and 4x4 elements per thread.
//
//quern:kernel block=GemmThreads minblocks=3 only=gpu
func gemmSmall(t kernel.Thread, m, n, k, part, flags, offA, offB, offC, lda, ldb, ldc, stepA, stepB, stepC int, alpha, beta float32, a, b, c []float32, post, ldr, stepR int, bias, residual []float32) {
	const quads = 1
	sa := kernel.Shared[[2 * GemmDepth * (16*quads + 1)]quad[float32]](t)
	sb := kernel.Shared[[2 * GemmDepth * (16*quads + 1)]quad[float32]](t)
	copyQuad := func(to *quad[float32], from []float32, at int) { kernel.AsyncCopy(t, to, (*quad[float32])(from[at:])) }
	gemmTile(t, quads, sa[:], sb[:], copyQuad, m, n, k, part, flags, offA, offB, offC, lda, ldb, ldc, stepA, stepB, stepC, alpha, beta, a, b, c, post, ldr, stepR, bias, residual)
}

// gemmDouble is gemmSmall for float64.
//
//quern:kernel block=GemmThreads minblocks=2 only=gpu
func gemmDouble(t kernel.Thread, m, n, k, part, flags, offA, offB, offC, lda, ldb, ldc, stepA, stepB, stepC int, alpha, beta float64, a, b, c []float64, post, ldr, stepR int, bias, residual []float64) {
	const quads = 1
	sa := kernel.Shared[[2 * GemmDepth * (16*quads + 1)]quad[float64]](t)
	sb := kernel.Shared[[2 * GemmDepth * (16*quads + 1)]quad[float64]](t)
	copyQuad := func(to *quad[float64], from []float64, at int) {
		kernel.AsyncCopy(t, (*[2]float64)(to[:2]), (*[2]float64)(from[at:]))
		kernel.AsyncCopy(t, (*[2]float64)(to[2:]), (*[2]float64)(from[at+2:]))
	}
	gemmTile(t, quads, sa[:], sb[:], copyQuad, m, n, k, part, flags, offA, offB, offC, lda, ldb, ldc, stepA, stepB, stepC, alpha, beta, a, b, c, post, ldr, stepR, bias, residual)
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
// is multiplied while the other is being copied.
func gemmTile[T Float](t kernel.Thread, quads int, sa, sb []quad[T], copyQuad func(to *quad[T], from []T, at int), m, n, k, part, flags, offA, offB, offC, lda, ldb, ldc, stepA, stepB, stepC int, alpha, beta T, a, b, c []T, post, ldr, stepR int, bias, residual []T) {
	side, pitch := 64*quads, 16*quads+1
	tilesM, tilesN, parts := (m+side-1)/side, (n+side-1)/side, max((k+part-1)/part, 1)
	tileRow, tileColumn := tileOf(t.BlockIdx.X%(tilesM*tilesN), tilesM, tilesN)
	row, column := tileRow*side, tileColumn*side
	if flags&Lower != 0 && column >= row+side || flags&Upper != 0 && row >= column+side {
		return
	}
	rest := t.BlockIdx.X / (tilesM * tilesN)
	first, batch := rest%parts*part, rest/parts
	count := (min(first+part, k) - first + GemmDepth - 1) / GemmDepth

	thread := t.ThreadIdx.X
	y, x := thread/128*8*quads+thread%32/4, thread/32%4*4*quads+thread%4
	fromA := newSource(quads, thread, flags&TransA == 0, flags&QuadsA != 0, offA+batch*stepA, lda, row, m, first, min(first+part, k))
	fromB := newSource(quads, thread, flags&TransB != 0, flags&QuadsB != 0, offB+batch*stepB, ldb, column, n, first, min(first+part, k))
	var sum [8][8]T
	for step := -1; step < count; step++ {
		if step >= 0 {
			kernel.AsyncWait(t, 0)
			t.Sync()
		}
		if step+1 < count {
			copyTile(t, &fromA, sa, a, copyQuad, quads, step+1)
			copyTile(t, &fromB, sb, b, copyQuad, quads, step+1)
		}
		kernel.AsyncCommit(t)
		if step >= 0 {
			stage := step & 1 * GemmDepth * pitch
			//quern:unroll
			for p := range GemmDepth {
				var ra, rb [8]T
				for i := range quads {
					qa, qb := sa[stage+y+i*8+p*pitch], sb[stage+x+i*4+p*pitch]
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

// source describes which elements of a factor's tile a thread copies. The tile has 64*quads
// lines (rows of op(A), columns of op(B)) with GemmDepth elements of k.
type source struct {
	lines, end  int // the ends of the factor, or of the part
	line, depth int // of the first element
	at          int // of the first element in memory

	// What the next element is away: lines and elements of k, and elements in memory.
	nextLine, nextDepth, next int
	nextTile                  int // elements in memory

	whole bool // copies quads
}

func newSource(quads, thread int, along, aligned bool, base, stride, line, lines, first, end int) source {
	switch {
	case along: // the elements of a line are adjacent
		l, p := line+thread/GemmDepth, first+thread%GemmDepth
		return source{lines, end, l, p, base + l*stride + p, 16, 0, 16 * stride, GemmDepth, false}
	case aligned:
		l, p := line+thread%(16*quads)*4, first+thread/(16*quads)
		return source{lines, end, l, p, base + p*stride + l, 0, 16 / quads, 16 / quads * stride, GemmDepth * stride, true}
	default:
		l, p := line+thread%(64*quads), first+thread/(64*quads)
		return source{lines, end, l, p, base + p*stride + l, 0, 4 / quads, 4 / quads * stride, GemmDepth * stride, false}
	}
}

// copyTile starts copying the thread's elements of a tile. Elements beyond the factor are
// zero.
func copyTile[T Float](t kernel.Thread, s *source, to []quad[T], from []T, copyQuad func(to *quad[T], from []T, at int), quads, step int) {
	pitch := 16*quads + 1
	stage := step & 1 * GemmDepth * pitch
	thread := t.ThreadIdx.X
	if s.whole {
		for i := range quads {
			p := thread/(16*quads) + i*(16/quads)
			place := &to[stage+p*pitch+thread%(16*quads)]
			k, at := s.depth+step*GemmDepth+i*s.nextDepth, s.at+step*s.nextTile+i*s.next
			if k < s.end && s.line+4 <= s.lines {
				copyQuad(place, from, at)
				continue
			}
			for j := range 4 {
				place[j] = 0
				if k < s.end && s.line+j < s.lines {
					place[j] = from[at+j]
				}
			}
		}
		return
	}
	// The first element of the thread in the tile.
	l, p := thread/GemmDepth, thread%GemmDepth
	if s.nextLine == 0 {
		l, p = thread%(64*quads), thread/(64*quads)
	}
	for i := range 4 * quads {
		l, p := l+i*s.nextLine, p+i*s.nextDepth
		place := &to[stage+p*pitch+l/4][l%4]
		if s.line+i*s.nextLine < s.lines && s.depth+step*GemmDepth+i*s.nextDepth < s.end {
			kernel.AsyncCopy(t, place, &from[s.at+step*s.nextTile+i*s.next])
		} else {
			*place = 0
		}
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
