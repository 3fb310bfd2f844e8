package kernels

import "quern.dev/kernel"

// histogram adds the number of pixels of each value of each channel to counts. Blocks count in
// shared memory first. Block (i, y) counts the rows that are congruent to y.
//
// Unchecked, because rows have w*c elements, and values have 8 bits.
//
//quern:kernel block=256 unchecked
func histogram(t kernel.Thread, w, h, c, stride int, src []uint8, counts []uint32) {
	bins := kernel.Shared[[4][256]uint32](t)
	for k := range 4 {
		bins[k][t.ThreadIdx.X] = 0
	}
	t.Sync()
	// The step is a multiple of c, so that a thread stays in its channel.
	step := 256 / c * c
	channel := t.ThreadIdx.X % c
	if t.ThreadIdx.X < step {
		for y := t.BlockIdx.X; y < h; y += t.GridDim.X {
			for e := t.ThreadIdx.X; e < w*c; e += step {
				kernel.AtomicAdd(&bins[channel][src[y*stride+e]], 1, kernel.BlockScope)
			}
		}
	}
	t.Sync()
	for k := range c {
		if n := bins[k][t.ThreadIdx.X]; n > 0 {
			kernel.AtomicAdd(&counts[k*256+t.ThreadIdx.X], n)
		}
	}
}

// equalizeTable computes the table of a channel, per block.
//
//quern:kernel block=256
func equalizeTable(t kernel.Thread, counts []uint32, table []uint8) {
	sums := kernel.Shared[[8]int32](t)
	first := kernel.Shared[int32](t)
	i := t.ThreadIdx.X
	at := t.BlockIdx.X*256 + i
	var n int32
	if at < len(counts) {
		n = int32(counts[at])
	}
	sum := scanBlock(t, sums, n)
	if n > 0 && sum == n { // the lowest value
		*first = n
	}
	t.Sync()
	total := sums[0] + sums[1] + sums[2] + sums[3] + sums[4] + sums[5] + sums[6] + sums[7]
	rest := int64(total - *first)
	v := int64(i)
	if rest > 0 {
		v = max(0, (510*int64(sum-*first)+rest)/(2*rest))
	}
	if at < len(table) {
		table[at] = uint8(v)
	}
}

// lookUp replaces each value by that of its channel's table.
//
// Unchecked, because a value has 8 bits, and each channel has 256 entries.
//
//quern:kernel block=32x8 unchecked
func lookUp(t kernel.Thread, w, h, c, srcStride, dstStride int, table, src, dst []uint8) {
	e, y := t.Global2()
	if e >= w*c || y >= h {
		return
	}
	dst[y*dstStride+e] = table[e%c*256+int(src[y*srcStride+e])]
}

// claheTables computes the table of a tile of a channel, per block. Tiles have tw*th pixels.
// Beyond the image, its pixels are mirrored. A bin keeps at most limit pixels; the others are
// distributed over all bins.
//
// Unchecked, because inside returns the pixels that are read.
//
//quern:kernel block=256 unchecked
func claheTables(t kernel.Thread, limit, tw, th, w, h, c, stride int, src []uint8, tables []uint8) {
	bins := kernel.Shared[[256]int32](t)
	sums := kernel.Shared[[8]int32](t)
	i, channel := t.ThreadIdx.X, t.BlockIdx.Z
	bins[i] = 0
	t.Sync()
	for k := i; k < tw*th; k += 256 {
		j := k / tw
		x := inside(mirror, t.BlockIdx.X*tw+k-j*tw, w)
		y := inside(mirror, t.BlockIdx.Y*th+j, h)
		kernel.AtomicAdd(&bins[src[y*stride+x*c+channel]], 1, kernel.BlockScope)
	}
	t.Sync()
	n := bins[i]
	over := max(0, n-int32(limit))
	scanBlock(t, sums, over)
	excess := sums[0] + sums[1] + sums[2] + sums[3] + sums[4] + sums[5] + sums[6] + sums[7]
	n = n - over + excess/256
	if rest := excess % 256; rest > 0 {
		if step := max(256/rest, 1); int32(i)%step == 0 && int32(i)/step < rest {
			n++
		}
	}
	sum := int64(scanBlock(t, sums, n))
	area := int64(tw * th)
	tile := (channel*t.GridDim.Y+t.BlockIdx.Y)*t.GridDim.X + t.BlockIdx.X
	tables[tile*256+i] = uint8(min(255, (510*sum+area)/(2*area)))
}

// claheWrite interpolates between the tables of the four nearest tiles, exactly.
//
// Unchecked, because tiles are limited to those that there are.
//
//quern:kernel block=32x8 unchecked
func claheWrite(t kernel.Thread, tilesX, tilesY, tw, th, w, h, c, srcStride, dstStride int, tables, src, dst []uint8) {
	e, y := t.Global2()
	if e >= w*c || y >= h {
		return
	}
	x := e / c
	channel := e - x*c
	v := int(src[y*srcStride+e])
	// The position among the centers of the tiles, in units of 1/(2*tw) tiles.
	px, py := 2*x-tw, 2*y-th
	x0, y0 := (px+2*tw)/(2*tw)-1, (py+2*th)/(2*th)-1
	fx, fy := int64(px-x0*2*tw), int64(py-y0*2*th)
	x1, y1 := min(x0+1, tilesX-1), min(y0+1, tilesY-1)
	x0, y0 = max(x0, 0), max(y0, 0)
	at := func(x, y int) int64 {
		return int64(tables[((channel*tilesY+y)*tilesX+x)*256+v])
	}
	gx, gy := int64(2*tw)-fx, int64(2*th)-fy
	sum := (at(x0, y0)*gx+at(x1, y0)*fx)*gy + (at(x0, y1)*gx+at(x1, y1)*fx)*fy
	area := int64(4 * tw * th)
	dst[y*dstStride+e] = uint8((2*sum + area) / (2 * area))
}
