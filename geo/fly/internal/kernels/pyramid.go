package kernels

import "quern.dev/kernel"

// lowest is below all heights.
const lowest = -3e38

// firstTops computes level 0 of the pyramid of heights: the highest sample of each cell. Cells without a surface are
// below all heights.
//
//quern:kernel
func firstTops(t kernel.Thread, g Terrain, l Level, heights, tops []float32) {
	x, y := t.Global2()
	if x >= int(l.Width) || y >= int(l.Height) {
		return
	}
	at := y*int(g.Width) + x
	below := at + int(g.Width)
	a, b, c, d := heights[at], heights[at+1], heights[below], heights[below+1]
	top := max(a, b, c, d)
	if top != top {
		top = lowest
	}
	tops[l.Offset+y*int(l.Stride)+x] = top
}

// nextTops computes a level from the one below.
//
//quern:kernel
func nextTops(t kernel.Thread, from, to Level, tops []float32) {
	x, y := t.Global2()
	if x >= int(to.Width) || y >= int(to.Height) {
		return
	}
	top := float32(lowest)
	for row := 2 * y; row < min(2*y+2, int(from.Height)); row++ {
		for column := 2 * x; column < min(2*x+2, int(from.Width)); column++ {
			top = max(top, tops[from.Offset+row*int(from.Stride)+column])
		}
	}
	tops[to.Offset+y*int(to.Stride)+x] = top
}

// halve computes a level of a pyramid of colors: the average of 2 x 2 texels, rounded to nearest with halves up. At an
// odd edge it is that of the texels that exist. Colors are multiplied by alpha.
//
//quern:kernel
func halve(t kernel.Thread, from, to Level, texels []uint32) {
	x, y := t.Global2()
	if x >= int(to.Width) || y >= int(to.Height) {
		return
	}
	var sum [4]uint32
	n := uint32(0)
	for row := 2 * y; row < min(2*y+2, int(from.Height)); row++ {
		for column := 2 * x; column < min(2*x+2, int(from.Width)); column++ {
			c := texels[from.Offset+row*int(from.Stride)+column]
			for i := range sum {
				sum[i] += c >> (8 * i) & 255
			}
			n++
		}
	}
	result := uint32(0)
	for i := range sum {
		result |= (sum[i] + n/2) / n << (8 * i)
	}
	texels[to.Offset+y*int(to.Stride)+x] = result
}

// Sun lights the terrain.
type Sun struct {
	Direction kernel.Vec3[float32] // to the sun, of length 1
	Ambient   float32              // light of surfaces that the sun does not reach; flat ones in the sun have 1
	Shadows   bool
	Offset    float32 // meters above the ground at which rays to the sun start
}

// shade computes the light at each sample. cells is that of Eye.
//
//quern:kernel
func shade(t kernel.Thread, g Terrain, sun Sun, cells [4]float32, heights, tops []float32, levels []Level, light []float32) {
	x, y := t.Global2()
	width, height := int(g.Width), int(g.Height)
	if x >= width || y >= height {
		return
	}
	at := y*width + x
	light[at] = 1
	h := heights[at]
	if h != h {
		return
	}
	gu := difference(heights, at, 1, x > 0, x+1 < width)
	gv := difference(heights, at, width, y > 0, y+1 < height)
	n, _ := unit(kernel.V3(-dot2(gu, cells[0], gv, cells[2]), -dot2(gu, cells[1], gv, cells[3]), 1))
	direct := max(dot3(n, sun.Direction)/max(sun.Direction.Z, 0.05), 0)
	if sun.Shadows && direct > 0 {
		eye := Eye[float32]{CellX: int32(x), CellY: int32(y), Z: h + sun.Offset, Cells: cells}
		if _, hit := march(&g, &eye, sun.Direction, Start{}, 1e30, heights, tops, levels); hit {
			direct = 0
		}
	}
	light[at] = min(sun.Ambient+mul(1-sun.Ambient, direct), 1.25)
}

// difference returns the slope per sample along an axis, from the neighbors that have a height.
func difference(heights []float32, at, step int, before, after bool) float32 {
	low, high := heights[at], heights[at]
	n := float32(0)
	if before && heights[at-step] == heights[at-step] {
		low = heights[at-step]
		n++
	}
	if after && heights[at+step] == heights[at+step] {
		high = heights[at+step]
		n++
	}
	if n == 0 {
		return 0
	}
	return (high - low) / n
}
