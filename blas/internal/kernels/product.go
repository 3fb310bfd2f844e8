package kernels

import "quern.dev/kernel"

// productDepth is the elements of k that a slice of a block multiplies between two barriers.
const productDepth = 8

// product128 computes tiles of 128x128 elements of C, one per block, and 16x8 elements per
// thread. See productTile.
//
//quern:kernel block=128 minblocks=2 unchecked only=gpu
func product128(t kernel.Thread, m, n, k, whole, parts, part, flags, offA, offB, offC, lda, ldb, ldc, stepA, stepB, stepC int, alpha, beta float32, a, b, c []float32, post, ldr, stepR int, bias, residual, partial []float32) {
	const stages = 3
	tiles := kernel.Shared[[stages * productDepth * (128/4 + 1 + 128/4 + 1)]quad[float32]](t)
	productTile(t, 128, 128, 4, 1, stages, tiles[:], m, n, k, whole, parts, part, flags, offA, offB, offC, lda, ldb, ldc, stepA, stepB, stepC, alpha, beta, a, b, c, post, ldr, stepR, bias, residual, partial)
}

// product128x64 computes tiles of 128x64 elements of C, and 8x8 elements per thread.
//
//quern:kernel block=128 minblocks=3 unchecked only=gpu
func product128x64(t kernel.Thread, m, n, k, whole, parts, part, flags, offA, offB, offC, lda, ldb, ldc, stepA, stepB, stepC int, alpha, beta float32, a, b, c []float32, post, ldr, stepR int, bias, residual, partial []float32) {
	const stages = 3
	tiles := kernel.Shared[[stages * productDepth * (128/4 + 1 + 64/4 + 1)]quad[float32]](t)
	productTile(t, 128, 64, 2, 1, stages, tiles[:], m, n, k, whole, parts, part, flags, offA, offB, offC, lda, ldb, ldc, stepA, stepB, stepC, alpha, beta, a, b, c, post, ldr, stepR, bias, residual, partial)
}

// product64 computes tiles of 64x64 elements of C, and 8x8 elements per thread.
//
//quern:kernel block=64 minblocks=6 unchecked only=gpu
func product64(t kernel.Thread, m, n, k, whole, parts, part, flags, offA, offB, offC, lda, ldb, ldc, stepA, stepB, stepC int, alpha, beta float32, a, b, c []float32, post, ldr, stepR int, bias, residual, partial []float32) {
	const stages = 3
	tiles := kernel.Shared[[stages * productDepth * (64/4 + 1 + 64/4 + 1)]quad[float32]](t)
	productTile(t, 64, 64, 2, 1, stages, tiles[:], m, n, k, whole, parts, part, flags, offA, offB, offC, lda, ldb, ldc, stepA, stepB, stepC, alpha, beta, a, b, c, post, ldr, stepR, bias, residual, partial)
}

// product64x4 is product64 with four slices.
//
//quern:kernel block=256 minblocks=2 unchecked only=gpu
func product64x4(t kernel.Thread, m, n, k, whole, parts, part, flags, offA, offB, offC, lda, ldb, ldc, stepA, stepB, stepC int, alpha, beta float32, a, b, c []float32, post, ldr, stepR int, bias, residual, partial []float32) {
	const stages = 2
	tiles := kernel.Shared[[stages * 4 * productDepth * (64/4 + 1 + 64/4 + 1)]quad[float32]](t)
	productTile(t, 64, 64, 2, 4, stages, tiles[:], m, n, k, whole, parts, part, flags, offA, offB, offC, lda, ldb, ldc, stepA, stepB, stepC, alpha, beta, a, b, c, post, ldr, stepR, bias, residual, partial)
}

// product32x4 computes tiles of 32x64 elements of C with four slices, and 4x8 elements per
// thread.
//
//quern:kernel block=256 minblocks=3 unchecked only=gpu
func product32x4(t kernel.Thread, m, n, k, whole, parts, part, flags, offA, offB, offC, lda, ldb, ldc, stepA, stepB, stepC int, alpha, beta float32, a, b, c []float32, post, ldr, stepR int, bias, residual, partial []float32) {
	const stages = 3
	tiles := kernel.Shared[[stages * 4 * productDepth * (32/4 + 1 + 64/4 + 1)]quad[float32]](t)
	productTile(t, 32, 64, 1, 4, stages, tiles[:], m, n, k, whole, parts, part, flags, offA, offB, offC, lda, ldb, ldc, stepA, stepB, stepC, alpha, beta, a, b, c, post, ldr, stepR, bias, residual, partial)
}

// product256 computes tiles of 256x128 elements of C, and 16x8 elements per thread.
//
//quern:kernel block=256 minblocks=1 unchecked only=gpu
func product256(t kernel.Thread, m, n, k, whole, parts, part, flags, offA, offB, offC, lda, ldb, ldc, stepA, stepB, stepC int, alpha, beta float32, a, b, c []float32, post, ldr, stepR int, bias, residual, partial []float32) {
	const stages = 3
	tiles := kernel.Shared[[stages * productDepth * (256/4 + 1 + 128/4 + 1)]quad[float32]](t)
	productTile(t, 256, 128, 4, 1, stages, tiles[:], m, n, k, whole, parts, part, flags, offA, offB, offC, lda, ldb, ldc, stepA, stepB, stepC, alpha, beta, a, b, c, post, ldr, stepR, bias, residual, partial)
}

// productTile computes the block's tile of C = alpha*op(A)*op(B) + beta*C and applies the
// epilogue. A tile has sideM x sideN elements of C, a warp 16*quads x 64, and a thread
// quads x 2 squares of 4x4.
//
// The grid is linear: a block for each of the first whole tiles, and then parts blocks for each
// of the others, which divide k: each has part elements. They write their sums to partial,
// one tile after another, and sumTiles completes C.
//
// The threads form groups, the slices: each multiplies productDepth elements of k of a step,
// and in the end the slices' sums are added up.
//
// The factors come to shared memory by asynchronous copies of single elements, for which a
// matrix needs no alignment, a few stages ahead. Lines of the tile that the factor does not have are
// copies of its last one, so that only the last step needs checks.
//
//quern:unchecked
func productTile(t kernel.Thread, sideM, sideN, quads, slices, stages int, tiles []quad[float32], m, n, k, whole, parts, part, flags, offA, offB, offC, lda, ldb, ldc, stepA, stepB, stepC int, alpha, beta float32, a, b, c []float32, post, ldr, stepR int, bias, residual, partial []float32) {
	pitchA, pitchB, depth := sideM/4+1, sideN/4+1, productDepth*slices
	warps := sideM / (16 * quads) * (sideN / 64)
	threads := 32 * warps * slices

	tilesM, tilesN := int32((m+sideM-1)/sideM), int32((n+sideN-1)/sideN)
	block := int32(t.BlockIdx.X)
	tile, first, length := block, 0, k
	if block >= int32(whole) {
		block -= int32(whole)
		tile = int32(whole) + block/int32(parts)
		first = int(block%int32(parts)) * part
		length = min(part, k-first)
	}
	batch := int(tile / (tilesM * tilesN))
	tileRow, tileColumn := placeOf(tile%(tilesM*tilesN), tilesM, tilesN)
	row, column := int(tileRow)*sideM, int(tileColumn)*sideN
	if flags&Lower != 0 && column >= row+sideM || flags&Upper != 0 && row >= column+sideN {
		return // with nothing to compute
	}
	count := (length + depth - 1) / depth

	fromA := newStrip(t, sideM, threads, flags&TransA == 0, offA+batch*stepA, lda, row, m, first)
	fromB := newStrip(t, sideN, threads, flags&TransB != 0, offB+batch*stepB, ldb, column, n, first)
	stageB := stages * depth * pitchA
	for stage := range stages - 1 {
		if stage < count {
			left := length - stage*depth
			fromA.copy(t, sideM, threads, depth, tiles[stage*depth*pitchA:], a, left)
			fromB.copy(t, sideN, threads, depth, tiles[stageB+stage*depth*pitchB:], b, left)
		}
		kernel.AsyncCommit(t)
	}
	arrive(t, stages)

	// Pairs of lanes, and pairs of these, read the same quads, which takes half the time.
	slice, warp, lane := t.Warp()/warps, t.Warp()%warps, t.Lane()
	warpsM := sideM / (16 * quads)
	y := warp%warpsM*4*quads + lane/16*2 + lane%2
	x := warp/warpsM*16 + lane/2%8
	atA, atB := slice*productDepth*pitchA+y, stageB+slice*productDepth*pitchB+x

	read := func(p, stage int) (ra [16]float32, rb [8]float32) {
		for i := range quads {
			q := tiles[atA+stage*depth*pitchA+i*4+p*pitchA]
			for j := range 4 {
				ra[i*4+j] = q[j]
			}
		}
		for i := range 2 {
			q := tiles[atB+stage*depth*pitchB+i*8+p*pitchB]
			for j := range 4 {
				rb[i*4+j] = q[j]
			}
		}
		return ra, rb
	}
	// The elements of the first k of the next step.
	var nextA [16]float32
	var nextB [8]float32
	var sum [16][8]float32
	if count > 0 {
		nextA, nextB = read(0, 0)
	}
	stage, free := 0, stages-1
	for step := range count {
		//quern:unroll
		for p := range productDepth {
			ra, rb := nextA, nextB
			if p > 0 {
				ra, rb = read(p, stage)
			}
			if p == productDepth-1 {
				// The last time, this step's elements are read again.
				if step+1 < count {
					stage++
					if stage == stages {
						stage = 0
					}
				}
				arrive(t, stages)
				nextA, nextB = read(0, stage)
			}
			if p == 0 {
				if next := step + stages - 1; next < count {
					left := length - next*depth
					fromA.copy(t, sideM, threads, depth, tiles[free*depth*pitchA:], a, left)
					fromB.copy(t, sideN, threads, depth, tiles[stageB+free*depth*pitchB:], b, left)
				}
				kernel.AsyncCommit(t)
				free++
				if free == stages {
					free = 0
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

	if slices == 4 {
		// Halves add up halves, in memory that is no longer read.
		t.Sync()
		thread := t.ThreadIdx.X % (32 * warps)
		for half := 2; half > 0; half /= 2 {
			at := thread + slice%half*(32*warps*32*quads)
			if slice >= half && slice < 2*half {
				for i := range 32 * quads {
					tiles[(at+i*32*warps)/4][at%4] = sum[i/8][i%8]
				}
			}
			t.Sync()
			if slice < half {
				for i := range 32 * quads {
					sum[i/8][i%8] += tiles[(at+i*32*warps)/4][at%4]
				}
			}
			t.Sync()
		}
		if slice > 0 {
			return
		}
	}

	base := offC + batch*stepC
	top, left := row+y*4, column+x*4
	plain := post == 0 && (flags&(Lower|Upper) == 0 || row != column && sideM == sideN)
	// Sums are multiplied before they are written, also those of a part: vectors of sums would
	// have places in registers that conflict with those of the factors.
	to, at, stride := c, base+top*ldc+left, ldc
	divided := tile >= int32(whole)
	if divided {
		to, at, stride = partial, int(block)*(sideM*sideN)+y*4*sideN+x*4, sideN
		alpha, beta = 1, 0
	}
	if divided || plain && flags&QuadsC != 0 && row+sideM <= m && column+sideN <= n {
		at, stride = at/4, stride/4
		for i := range 4 * quads {
			for j := range 2 {
				at := (at + (i/4*16+i%4)*stride + j*8) * 4
				var v quad[float32]
				for l := range 4 {
					v[l] = alpha * sum[i][j*4+l]
				}
				if beta != 0 {
					for l := range 4 {
						v[l] += beta * to[at+l]
					}
				}
				for l := range 4 {
					to[at+l] = v[l]
				}
			}
		}
		return
	}
	if plain {
		height, width := m-top, n-left
		for i := range quads {
			var old [4][8]float32
			at := base + (top+i*16)*ldc + left
			if beta != 0 {
				for l := range 4 {
					for j := range 8 {
						if l < height-i*16 && j/4*32+j%4 < width {
							old[l][j] = beta * c[at+l*ldc+j/4*32+j%4]
						}
					}
				}
			}
			for l := range 4 {
				for j := range 8 {
					if l < height-i*16 && j/4*32+j%4 < width {
						c[at+l*ldc+j/4*32+j%4] = alpha*sum[i*4+l][j] + old[l][j]
					}
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
					c[at] = finish(v, r, q, post, batch*stepR+r*ldr+q, bias, residual)
				}
			}
		}
		for i := range 4*quads - 1 {
			sum[i] = sum[i+1]
		}
	}
}

// arrive waits until the next stage has arrived.
func arrive(t kernel.Thread, stages int) {
	if stages == 2 {
		kernel.AsyncWait(t, 0)
	} else {
		kernel.AsyncWait(t, 1)
	}
	t.Sync()
}

// placeOf returns the row and column of a tile. Tiles that are computed at the same time
// form squares, because these need the fewest rows of A and columns of B.
func placeOf(i, tilesM, tilesN int32) (row, column int32) {
	const group = 8
	first := i / (group * tilesN) * group
	rows := min(group, tilesM-first)
	i -= first * tilesN
	return first + i%rows, i / rows
}

// strip describes the elements of a factor's tiles that a thread copies to shared memory. A
// tile has side lines (rows of op(A), columns of op(B)).
type strip struct {
	along bool // adjacent threads copy adjacent k; otherwise adjacent lines
	whole bool // the factor has all lines

	line, last int32 // of the first element, and the last one of the factor, in the tile
	depth      int32 // of the first element

	// The index of the next tile, and the distances between lines or k, and to the tile after.
	at, stride, tile int
}

//quern:unchecked
func newStrip(t kernel.Thread, side, threads int, along bool, base, stride, line, lines, first int) strip {
	s := strip{along: along, whole: lines-line >= side, last: int32(lines - 1 - line), stride: stride}
	thread := int32(t.ThreadIdx.X)
	if along {
		s.line, s.depth, s.tile = thread/8, thread%8, 1
		s.at = base + line*stride + first + int(s.depth)
	} else {
		s.line, s.depth, s.tile = thread%int32(side), thread/int32(side), stride
		s.at = base + line + int(min(s.line, s.last)) + (first+int(s.depth))*stride
	}
	return s
}

// copy starts the copies of the next tile, which has left elements of k or more.
//
//quern:unchecked
func (s *strip) copy(t kernel.Thread, side, threads, depth int, to []quad[float32], from []float32, left int) {
	pitch, copies := side/4+1, side*depth/threads
	from = from[s.at:]
	s.at += depth * s.tile
	place, within := int(s.depth)*pitch+int(s.line)/4, s.line%4
	switch {
	case left < depth:
		for i := range copies {
			k, l := i*(threads/side), 0
			at := k * s.stride
			if s.along {
				k, l = i*(threads/8)/side*8, i*(threads/8)%side
				at = k + int(min(s.line+int32(l), s.last))*s.stride
			}
			if int(s.depth)+k < left {
				kernel.AsyncCopy(t, &to[place+k*pitch+l/4][within], &from[at])
			} else {
				to[place+k*pitch+l/4][within] = 0
			}
		}
	case !s.along:
		for i := range copies {
			k := i * (threads / side)
			kernel.AsyncCopy(t, &to[place+k*pitch][within], &from[k*s.stride])
		}
	case s.whole:
		for i := range copies {
			k, l := i*(threads/8)/side*8, i*(threads/8)%side
			kernel.AsyncCopy(t, &to[place+k*pitch+l/4][within], &from[k+int(s.line)*s.stride+l*s.stride])
		}
	default:
		for i := range copies {
			k, l := i*(threads/8)/side*8, i*(threads/8)%side
			kernel.AsyncCopy(t, &to[place+k*pitch+l/4][within], &from[k+int(min(s.line+int32(l), s.last))*s.stride])
		}
	}
}

// sumTiles adds up the parts of the tiles that productTile has not completed, in order, and
// completes them. The grid is linear over the quads of these tiles.
//
//quern:kernel block=256 unchecked instantiate=float32,float64
func sumTiles[T Float](t kernel.Thread, m, n, whole, tiles, parts, sideM, sideN, flags, offC, ldc, stepC int, alpha, beta T, c []T, post, ldr, stepR int, bias, residual, partial []T) {
	quads := int32(sideM * sideN / 4)
	i := int32(t.Global())
	tile, at := i/quads, i%quads
	if tile >= int32(tiles) {
		return
	}
	first := int(tile)*parts*int(quads) + int(at)
	tilesM, tilesN := int32((m+sideM-1)/sideM), int32((n+sideN-1)/sideN)
	tile += int32(whole)
	batch := int(tile / (tilesM * tilesN))
	tileRow, tileColumn := placeOf(tile%(tilesM*tilesN), tilesM, tilesN)
	row, column := int(tileRow)*sideM+int(at/int32(sideN/4)), int(tileColumn)*sideN+int(at%int32(sideN/4))*4
	if row >= m || column >= n || flags&Lower != 0 && column > row || flags&Upper != 0 && row >= column+4 {
		return
	}
	var sum quad[T]
	//quern:unroll 8
	for p := range parts {
		from := (first + p*int(quads)) * 4
		for j := range 4 {
			sum[j] += partial[from+j]
		}
	}
	if post == 0 && flags&(Lower|Upper) == 0 && flags&QuadsC != 0 && column+4 <= n {
		to := (offC/4+batch*(stepC/4)+row*(ldc/4))*4 + column
		for j := range 4 {
			sum[j] *= alpha
		}
		if beta != 0 {
			for j := range 4 {
				sum[j] += beta * c[to+j]
			}
		}
		for j := range 4 {
			c[to+j] = sum[j]
		}
		return
	}
	base := offC + batch*stepC + row*ldc + column
	for j := range 4 {
		if column+j < n && inTriangle(flags, row, column+j) {
			v := alpha * sum[j]
			if beta != 0 {
				v += beta * c[base+j]
			}
			c[base+j] = finish(v, row, column+j, post, batch*stepR+row*ldr+column+j, bias, residual)
		}
	}
}
