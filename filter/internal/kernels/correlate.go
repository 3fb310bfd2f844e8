package kernels

import "quern.dev/kernel"

// ChunkWeights is the number of weights that a launch of storeWeights stores.
const ChunkWeights = 256

// storeWeights stores weights that are part of the launch, from index at on.
//
//quern:kernel block=ChunkWeights
func storeWeights(t kernel.Thread, chunk [ChunkWeights]float32, at int, weights []float32) {
	if i := t.ThreadIdx.X; at+i < len(weights) {
		weights[at+i] = chunk[i]
	}
}

// Sizes of the tiles. Filters of any radius are computed in chunks of their taps, so that a
// tile and its halo have a fixed size.
const (
	RowWarps = 4  // warps of a block of correlateRows, each with its own row
	RowEach  = 4  // adjacent pixels, of one channel, per thread
	rowHalo  = 64 // elements, at most

	ColumnTile    = 64 // rows of a block of correlateColumns
	ColumnThreads = 8  // threads along a column
	columnEach    = ColumnTile / ColumnThreads
	columnChunk   = 32 // taps

	TileWidth   = 32 // elements of a row of a block of correlateTiles
	TileHeight  = 32
	TileThreads = 8
	tileEach    = TileHeight / TileThreads
	tileHalo    = 64 // elements to the right of a tile, at most
	tileChunk   = 16 // taps along a column
)

// padded spreads elements that are four apart over the banks.
func padded(e int) int { return e + e>>5 }

// correlateRows correlates rows. A warp computes RowEach adjacent pixels per lane, of which
// each weight is applied to a window of values in registers that moves by one pixel per tap.
//
// Unchecked, because the tile is read at indices that depend on the channels of the image: at
// most 32/c*c threads of a warp take part, which read pixels below RowEach*(32/c)+chunk, with
// chunk*c <= rowHalo. Rows of src are read at indices of inside, and rows of dst are written
// below w*c.
//
//quern:kernel block=32*RowWarps unchecked only=gpu instantiate=uint8,uint16,float32
func correlateRows[In kernel.Number](t kernel.Thread, mode int, value float32, center, w, h, c, srcStride, srcPlane, dstStride, dstPlane int, weights []float32, src []In, dst []float32) {
	tiles := kernel.Shared[[RowWarps][(32*RowEach + rowHalo) * 33 / 32]float32](t)
	weight := kernel.Shared[[rowHalo]float32](t)
	lane := t.Lane()
	tile := &tiles[t.Warp()]
	lanes := 32 / c // pixels groups of a warp
	pixels := lanes * RowEach
	x0 := t.BlockIdx.X * pixels
	y := min(t.BlockIdx.Y*RowWarps+t.Warp(), h-1)
	row := src[t.BlockIdx.Z*srcPlane+y*srcStride:]
	group, channel := lane/c, lane%c
	var s0, s1, s2, s3 float32
	chunk := rowHalo / c
	for k0 := 0; k0 < len(weights); k0 += chunk {
		n := min(chunk, len(weights)-k0)
		if t.ThreadIdx.X < n {
			weight[t.ThreadIdx.X] = weights[k0+t.ThreadIdx.X]
		}
		first := x0 + k0 - center // pixel
		count := pixels + n - 1
		if first >= 0 && first+count <= w {
			for e := lane; e < count*c; e += 32 {
				tile[padded(e)] = float32(row[first*c+e])
			}
		} else {
			for e := lane; e < count*c; e += 32 {
				p := e / c
				v := value
				if x := inside(mode, first+p, w); x >= 0 {
					v = float32(row[x*c+e-p*c])
				}
				tile[padded(e)] = v
			}
		}
		t.Sync()
		if group < lanes {
			e := group*RowEach*c + channel
			a0, a1, a2 := tile[padded(e)], tile[padded(e+c)], tile[padded(e+2*c)]
			e += 3 * c
			//quern:unroll 4
			for k := 0; k < n; k++ {
				a3 := tile[padded(e)]
				e += c
				wt := weight[k]
				s0 += wt * a0
				s1 += wt * a1
				s2 += wt * a2
				s3 += wt * a3
				a0, a1, a2 = a1, a2, a3
			}
		}
		t.Sync()
	}
	x := x0 + group*RowEach
	if group >= lanes || t.BlockIdx.Y*RowWarps+t.Warp() >= h {
		return
	}
	out := dst[t.BlockIdx.Z*dstPlane+y*dstStride:]
	if x < w {
		out[x*c+channel] = s0
	}
	if x+1 < w {
		out[(x+1)*c+channel] = s1
	}
	if x+2 < w {
		out[(x+2)*c+channel] = s2
	}
	if x+3 < w {
		out[(x+3)*c+channel] = s3
	}
}

// correlateColumns correlates along a direction other than that of the rows: lines of n
// elements that are srcStep apart, inner of them beside each other, outer times. A thread
// computes columnEach adjacent elements of a line.
//
// Unchecked, because inside returns the rows that are read: 0 to n-1, or -1, which is not read.
//
//quern:kernel block=32,ColumnThreads unchecked only=gpu instantiate=uint8,uint16,float32
func correlateColumns[Out kernel.Number](t kernel.Thread, mode int, value float32, center, inner, n, outer, srcStep, srcOuter, dstStep, dstOuter int, weights, src []float32, dst []Out) {
	tile := kernel.Shared[[ColumnTile + columnChunk - 1][32]float32](t)
	weight := kernel.Shared[[columnChunk]float32](t)
	lane, ty := t.ThreadIdx.X, t.ThreadIdx.Y
	e := t.BlockIdx.X*32 + lane
	from := min(e, inner-1)
	i0 := t.BlockIdx.Y * ColumnTile
	for o := t.BlockIdx.Z; o < outer; o += t.GridDim.Z {
		in := src[o*srcOuter+from:]
		var sum [columnEach]float32
		for k0 := 0; k0 < len(weights); k0 += columnChunk {
			taps := min(columnChunk, len(weights)-k0)
			if ty == 0 && lane < taps {
				weight[lane] = weights[k0+lane]
			}
			first := i0 + k0 - center
			for i := ty; i < ColumnTile+taps-1; i += ColumnThreads {
				v := value
				if at := inside(mode, first+i, n); at >= 0 {
					v = in[at*srcStep]
				}
				tile[i][lane] = v
			}
			t.Sync()
			var a [columnEach]float32
			//quern:unroll
			for j := 0; j < columnEach-1; j++ {
				a[j] = tile[ty*columnEach+j][lane]
			}
			//quern:unroll 4
			for k := 0; k < taps; k++ {
				a[columnEach-1] = tile[ty*columnEach+columnEach-1+k][lane]
				wt := weight[k]
				//quern:unroll
				for j := range sum {
					sum[j] += wt * a[j]
				}
				//quern:unroll
				for j := 0; j < columnEach-1; j++ {
					a[j] = a[j+1]
				}
			}
			t.Sync()
		}
		if e < inner {
			out := dst[o*dstOuter+e:]
			//quern:unroll
			for j := range sum {
				if i := i0 + ty*columnEach + j; i < n {
					out[i*dstStep] = round[Out](sum[j])
				}
			}
		}
	}
}

// correlateTiles correlates with a stencil of any size in up to three dimensions. A thread
// computes tileEach adjacent elements of a column.
//
// Unchecked, because inside returns the rows and columns that are read, and the tile is read
// at most tileHalo elements right of and tileChunk rows below the block's elements.
//
//quern:kernel block=TileWidth,TileThreads unchecked only=gpu instantiate=uint8:uint8,uint16:uint16,float32:float32,float32:uint8,float32:uint16
func correlateTiles[Out, In kernel.Number](t kernel.Thread, mode int, value float32, kw, kh, kd, cx, cy, cz, w, h, d, c, srcStride, srcPlane, dstStride, dstPlane int, weights []float32, src []In, dst []Out) {
	tile := kernel.Shared[[TileHeight + tileChunk - 1][TileWidth + tileHalo]float32](t)
	lane, ty := t.ThreadIdx.X, t.ThreadIdx.Y
	e0, y0, z := t.BlockIdx.X*TileWidth, t.BlockIdx.Y*TileHeight, t.BlockIdx.Z
	var s0, s1, s2, s3 float32
	chunk := tileHalo/c + 1
	for kz := range kd {
		zz := inside(mode, z+kz-cz, d)
		for j0 := 0; j0 < kh; j0 += tileChunk {
			rows := min(tileChunk, kh-j0)
			for i0 := 0; i0 < kw; i0 += chunk {
				columns := min(chunk, kw-i0)
				first := e0 + (i0-cx)*c
				for j := ty; j < TileHeight+rows-1; j += TileThreads {
					yy := inside(mode, y0+j+j0-cy, h)
					var base int
					if zz >= 0 && yy >= 0 {
						base = zz*srcPlane + yy*srcStride
					}
					for i := lane; i < TileWidth+(columns-1)*c; i += TileWidth {
						e := first + i
						if e < 0 || e >= w*c {
							channel := modulo(e, c)
							x := inside(mode, (e-channel)/c, w)
							e = -1
							if x >= 0 {
								e = x*c + channel
							}
						}
						v := value
						if zz >= 0 && yy >= 0 && e >= 0 {
							v = float32(src[base+e])
						}
						tile[j][i] = v
					}
				}
				t.Sync()
				for i := range columns {
					column := lane + i*c
					wt := (kz*kh+j0)*kw + i0 + i
					a0, a1, a2 := tile[ty*tileEach][column], tile[ty*tileEach+1][column], tile[ty*tileEach+2][column]
					for j := range rows {
						a3 := tile[ty*tileEach+3+j][column]
						k := weights[wt]
						wt += kw
						s0 += k * a0
						s1 += k * a1
						s2 += k * a2
						s3 += k * a3
						a0, a1, a2 = a1, a2, a3
					}
				}
				t.Sync()
			}
		}
	}
	e, y := e0+lane, y0+ty*tileEach
	if e >= w*c {
		return
	}
	out := dst[z*dstPlane+e:]
	if y < h {
		out[y*dstStride] = round[Out](s0)
	}
	if y+1 < h {
		out[(y+1)*dstStride] = round[Out](s1)
	}
	if y+2 < h {
		out[(y+2)*dstStride] = round[Out](s2)
	}
	if y+3 < h {
		out[(y+3)*dstStride] = round[Out](s3)
	}
}

// strip is the number of elements that kernels for processors compute at a time.
const strip = 256

// correlateLines is the form of correlateTiles for processors. A block of one thread computes
// a row, a strip at a time.
//
//quern:kernel block=1 unchecked only=cpu instantiate=uint8:uint8,uint16:uint16,float32:float32,float32:uint8,float32:uint16,uint8:float32,uint16:float32
func correlateLines[Out, In kernel.Number](t kernel.Thread, mode int, value float32, kw, kh, kd, cx, cy, cz, w, h, d, c, srcStride, srcPlane, dstStride, dstPlane int, weights []float32, src []In, dst []Out) {
	y, z := t.BlockIdx.Y, t.BlockIdx.Z
	var sum [strip]float32
	for e0 := 0; e0 < w*c; e0 += strip {
		n := min(strip, w*c-e0)
		acc := sum[:n]
		clear(acc)
		for kz := range kd {
			zz := inside(mode, z+kz-cz, d)
			for ky := range kh {
				yy := inside(mode, y+ky-cy, h)
				line := weights[(kz*kh+ky)*kw:][:kw]
				if zz < 0 || yy < 0 {
					total := float32(0)
					//quern:nounroll
					for _, wt := range line {
						total += wt
					}
					//quern:nounroll
					for i := range acc {
						acc[i] += total * value
					}
					continue
				}
				row := src[zz*srcPlane+yy*srcStride:][:w*c]
				for kx, wt := range line {
					first := e0 + (kx-cx)*c
					if first >= 0 && first+n <= len(row) {
						in := row[first:][:len(acc)]
						//quern:nounroll
						for i := range acc {
							acc[i] += wt * float32(in[i])
						}
						continue
					}
					//quern:nounroll
					for i := range acc {
						e := first + i
						if e < 0 || e >= len(row) {
							channel := modulo(e, c)
							x := inside(mode, (e-channel)/c, w)
							if x < 0 {
								acc[i] += wt * value
								continue
							}
							e = x*c + channel
						}
						acc[i] += wt * float32(row[e])
					}
				}
			}
		}
		out := dst[z*dstPlane+y*dstStride+e0:][:n]
		//quern:nounroll
		for i, v := range acc {
			out[i] = round[Out](v)
		}
	}
}
