package kernels

import "quern.dev/kernel"

// Camera is a perspective camera. The ray through the image position (x, y), in pixels, has the direction
// Forward + (x - Width/2)*Right + (Height/2 - y)*Up.
type Camera[F kernel.Float] struct {
	Eye                Eye[F]
	Forward, Right, Up kernel.Vec3[F]
	Width, Height      int32
	Samples            int32 // rays per pixel, in x and in y
	Far                F     // meters

	TexelX, TexelY int32 // the texel below the camera, and the position in it
	FracX, FracY   F
	Texels         [4]F  // texels per meter: column by x and y, row by x and y
	Probes         int32 // the most samples of the mosaic per ray
}

// Look is the appearance of what is not the mosaic. Colors are from 0 to 255.
type Look struct {
	Haze, Zenith, Ground kernel.Vec3[float32]
	Visibility           float32 // meters; 0 means that there is no haze
	Floor                float32 // the height of the ground beyond the terrain
}

// color is red, green, blue and alpha from 0 to 255, the first three multiplied by alpha/255.
type color[F kernel.Float] = kernel.Vec4[F]

// Tile is the width and the height of the squares of pixels that have a common Start.
const Tile = 8

// render draws the terrain with weights that are computed in F. A warp has 8 x 4 pixels. out has a pixel per element, red
// in the lowest byte.
//
//quern:kernel block=8x16 unchecked instantiate=float32,float64
func render[F kernel.Float](t kernel.Thread, c Camera[F], g Terrain, look Look, heights, tops []float32, levels []Level, light []float32, texels []uint32, mips []Level, starts []Start, out []uint32) {
	x, y := t.Global2()
	if x >= int(c.Width) || y >= int(c.Height) {
		return
	}
	start := starts[y/Tile*tiles(c.Width)+x/Tile]
	out[y*int(c.Width)+x] = pixel(&c, &g, &look, int32(x), int32(y), start, heights, tops, levels, light, mips, func(l Level, level int32, scale, x, y, weight F) color[F] {
		return bilinear(&c, l, level, scale, x, y, weight, texels)
	})
}

// preview draws the terrain with colors that the texture units interpolate. The atlas has the levels at the places that
// mips has, with transparent texels between them.
//
//quern:kernel block=8x16 unchecked
func preview(t kernel.Thread, c Camera[float32], g Terrain, look Look, heights, tops []float32, levels []Level, light []float32, atlas kernel.Texture2D[kernel.Vec4[float32]], mips []Level, starts []Start, out []uint32) {
	x, y := t.Global2()
	if x >= int(c.Width) || y >= int(c.Height) {
		return
	}
	start := starts[y/Tile*tiles(c.Width)+x/Tile]
	out[y*int(c.Width)+x] = pixel(&c, &g, &look, int32(x), int32(y), start, heights, tops, levels, light, mips, func(l Level, level int32, scale, x, y, weight float32) color[float32] {
		column, u := place(c.TexelX, level, scale, c.FracX+x)
		row, v := place(c.TexelY, level, scale, c.FracY+y)
		column, row = min(max(column, -2), l.Width), min(max(row, -2), l.Height)
		return atlas.Sample(float32(l.Left+column)+0.5+u, float32(l.Above+row)+0.5+v).Scale(mul(255, weight))
	})
}

func tiles(pixels int32) int { return (int(pixels) + Tile - 1) / Tile }

// beams finds for each square of pixels the distance to which its rays may be followed together (Laine and Karras 2010,
// "beam optimization"): all of them are in a cone around the one in the middle.
//
//quern:kernel block=8x8 unchecked instantiate=float32,float64
func beams[F kernel.Float](t kernel.Thread, c Camera[F], g Terrain, tops []float32, levels []Level, starts []Start) {
	x, y := t.Global2()
	if x >= tiles(c.Width) || y >= tiles(c.Height) {
		return
	}
	left, upper := F(Tile*x)-mul(0.5, F(c.Width)), mul(0.5, F(c.Height))-F(Tile*y)
	d, _ := unit(direction(&c, left+Tile/2, upper-Tile/2))
	// The radius of the cone at a distance of 1: no ray is farther from the one in the middle than those in the corners.
	spread := F(0)
	for i := range 4 {
		corner, _ := unit(direction(&c, left+F(i&1*Tile), upper-F(i>>1*Tile)))
		away := kernel.V3(corner.X-d.X, corner.Y-d.Y, corner.Z-d.Z)
		spread = max(spread, dot3(away, away))
	}
	spread = mul(kernel.Sqrt(spread), 1.01) + 1e-6
	starts[y*tiles(c.Width)+x] = beam(&g, &c.Eye, d, spread, c.Far, tops, levels)
}

// beam follows a cone until it may meet the surface, or is wider than the nodes in its way.
func beam[F kernel.Float](g *Terrain, eye *Eye[F], d kernel.Vec3[F], spread, far F, tops []float32, levels []Level) Start {
	x, y := axes(g, eye, d)
	end := min(x.to, y.to, far)
	if x.from > 0 || y.from > 0 || !(end > 0) {
		return Start{Level: g.Top} // some of the rays may come to the terrain before the one in the middle
	}
	cells := mul(spread, max(abs(eye.Cells[0])+abs(eye.Cells[1]), abs(eye.Cells[2])+abs(eye.Cells[3])))
	t, ix, iy, level := F(0), x.cell(0), y.cell(0), uint32(g.Top)
	for {
		n := nodeAt(&x, &y, ix, iy, level)
		out := max(min(n.outX, n.outY, end), t)
		low := eye.Z + min(mul(t, d.Z), mul(out, d.Z)) - mul(spread, out)
		radius, size := mul(cells, out), F(int32(1)<<level)
		if radius <= size && low > around(n, levels[level], tops) {
			ix, iy = beyond(&x, &y, n, level, out)
			if out >= end || uint32(ix) >= uint32(x.cells) || uint32(iy) >= uint32(y.cells) {
				break
			}
			t = out
			level = above(n, ix, iy, level, uint32(g.Top))
		} else if level > 0 && mul(2, radius) <= size {
			level--
		} else {
			break
		}
	}
	// Rounding does not make it too far.
	return Start{T: mul(float32(t), 1-1e-5), Level: int32(level)}
}

// around returns the highest sample of a node and its neighbors.
func around[F kernel.Float](n node[F], l Level, tops []float32) F {
	top := float32(lowest)
	for y := max(n.y-1, 0); y < min(n.y+2, l.Height); y++ {
		for x := max(n.x-1, 0); x < min(n.x+2, l.Width); x++ {
			top = max(top, tops[l.Offset+int(y)*int(l.Stride)+int(x)])
		}
	}
	return F(top)
}

func abs[F kernel.Float](x F) F { return max(x, -x) }

// direction returns the direction of the ray through an image position, which is relative to the center.
func direction[F kernel.Float](c *Camera[F], sx, sy F) kernel.Vec3[F] {
	return kernel.V3(
		c.Forward.X+dot2(sx, c.Right.X, sy, c.Up.X),
		c.Forward.Y+dot2(sx, c.Right.Y, sy, c.Up.Y),
		c.Forward.Z+dot2(sx, c.Right.Z, sy, c.Up.Z))
}

// pixel returns a pixel: the average of the colors of its rays.
func pixel[F kernel.Float](c *Camera[F], g *Terrain, look *Look, x, y int32, start Start, heights, tops []float32, levels []Level, light []float32, mips []Level, sample func(l Level, level int32, scale, x, y, weight F) color[F]) uint32 {
	var sum kernel.Vec3[float32]
	step := 1 / F(c.Samples)
	for j := range c.Samples {
		for i := range c.Samples {
			sx := F(x) + mul(F(i)+0.5, step) - mul(0.5, F(c.Width))
			sy := mul(0.5, F(c.Height)) - F(y) - mul(F(j)+0.5, step)
			r := ray(c, g, look, sx, sy, step, start, heights, tops, levels, light, mips, sample)
			sum.X, sum.Y, sum.Z = sum.X+r.X, sum.Y+r.Y, sum.Z+r.Z
		}
	}
	n := 1 / float32(c.Samples*c.Samples)
	return toByte(mul(sum.X, n)) | toByte(mul(sum.Y, n))<<8 | toByte(mul(sum.Z, n))<<16 | 255<<24
}

// toByte rounds to nearest, halves up.
func toByte(x float32) uint32 { return uint32(int32(kernel.Clamp(x, 0, 255) + 0.5)) }

// ray returns the color of a ray. step is the distance of rays in pixels.
func ray[F kernel.Float](c *Camera[F], g *Terrain, look *Look, sx, sy, step F, start Start, heights, tops []float32, levels []Level, light []float32, mips []Level, sample func(l Level, level int32, scale, x, y, weight F) color[F]) kernel.Vec3[float32] {
	raw := direction(c, sx, sy)
	d, length := unit(raw)
	hit, ok := march(g, &c.Eye, d, start, c.Far, heights, tops, levels)
	if !ok {
		return background(look, float32(d.Z), float32(c.Eye.Z))
	}
	tint := mosaic(c, raw, d, length, step, &hit, mips, sample)
	// What the mosaic does not cover has the color of the ground.
	rest := 1 - mul(float32(tint.W), 1.0/255)
	at := int(hit.Y)*int(g.Width) + int(hit.X)
	below := at + int(g.Width)
	u, v := float32(hit.U), float32(hit.V)
	upper := light[at] + mul(u, light[at+1]-light[at])
	lower := light[below] + mul(u, light[below+1]-light[below])
	lit := upper + mul(v, lower-upper)
	surface := kernel.V3(
		mul(lit, float32(tint.X)+mul(rest, look.Ground.X)),
		mul(lit, float32(tint.Y)+mul(rest, look.Ground.Y)),
		mul(lit, float32(tint.Z)+mul(rest, look.Ground.Z)))
	return hazy(look, surface, float32(hit.T))
}

// mosaic returns the color of the mosaic at a point. The pixel's footprint there is spanned by two vectors: it is
// sampled at several points along the longer one, each as wide as the shorter one.
func mosaic[F kernel.Float](c *Camera[F], raw, d kernel.Vec3[F], length, step F, hit *Hit[F], mips []Level, sample func(l Level, level int32, scale, x, y, weight F) color[F]) color[F] {
	n := kernel.V3(-hit.SX, -hit.SY, 1)
	facing := min(dot3(raw, n), -F(1e-4)*length)
	inverse := 1 / facing
	scale := mul(hit.T, step) / length
	ax, ay := footprint(c, c.Right, raw, scale, mul(dot3(c.Right, n), inverse))
	bx, by := footprint(c, c.Up, raw, scale, mul(dot3(c.Up, n), inverse))
	a, b := dot2(ax, ax, ay, ay), dot2(bx, bx, by, by)
	ax, ay = pick(a < b, bx, ax), pick(a < b, by, ay)
	a, b = kernel.Sqrt(max(a, b)), kernel.Sqrt(min(a, b))
	probes := int32(1)
	for probes < c.Probes && mul(F(probes), b) < a {
		probes++
	}
	level, part, size := int32(0), F(0), F(1)
	last := int32(len(mips)) - 1
	width := max(b, a/F(probes))
	for width > 2 && level < last {
		level++
		width, size = mul(width, 0.5), mul(size, 0.5)
	}
	if level < last {
		part = max(width-1, 0)
	}
	px, py := mul(hit.T, d.X), mul(hit.T, d.Y)
	x, y := dot2(c.Texels[0], px, c.Texels[1], py), dot2(c.Texels[2], px, c.Texels[3], py)
	sum := along(mips[level], level, probes, size, x, y, ax, ay, 1-part, sample)
	if part > 0 {
		// Half as many are as close, for the texels are twice as large.
		sum = plus(sum, along(mips[level+1], level+1, (probes+1)/2, mul(size, 0.5), x, y, ax, ay, part, sample))
	}
	return sum
}

// along returns the sum of some samples of a level on a line.
func along[F kernel.Float](l Level, level, probes int32, size, x, y, ax, ay, weight F, sample func(l Level, level int32, scale, x, y, weight F) color[F]) color[F] {
	var sum color[F]
	step := 1 / F(probes)
	for i := range probes {
		shift := mul(F(i)+0.5, step) - 0.5
		sum = plus(sum, sample(l, level, size, x+mul(shift, ax), y+mul(shift, ay), mul(weight, step)))
	}
	return sum
}

func plus[F kernel.Float](a, b color[F]) color[F] {
	return color[F]{X: a.X + b.X, Y: a.Y + b.Y, Z: a.Z + b.Z, W: a.W + b.W}
}

// footprint returns, in texels, how far the point of the surface moves from one ray to the next.
func footprint[F kernel.Float](c *Camera[F], step, raw kernel.Vec3[F], scale, slide F) (x, y F) {
	mx, my := mul(scale, step.X-mul(slide, raw.X)), mul(scale, step.Y-mul(slide, raw.Y))
	return dot2(c.Texels[0], mx, c.Texels[1], my), dot2(c.Texels[2], mx, c.Texels[3], my)
}

// place returns the texel of a level whose center is before a position, which is relative to a texel of level 0, and the
// distance from that center. scale is 2^-level.
func place[F kernel.Float](origin, level int32, scale, x F) (int32, F) {
	whole := origin >> uint32(level)
	p := kernel.Clamp(mul(F(origin-whole<<uint32(level))+x, scale)-0.5, -1<<29, 1<<29)
	n := floor(p)
	return whole + n, p - F(n)
}

// bilinear interpolates between four texels, and multiplies by a weight. The mosaic has two transparent texels on each
// side. Integers of 24 bits as weights are as precise as float32, and their sum is exact.
func bilinear[F kernel.Float](c *Camera[F], l Level, level int32, scale, x, y, weight F, texels []uint32) color[F] {
	column, u := place(c.TexelX, level, scale, c.FracX+x)
	row, v := place(c.TexelY, level, scale, c.FracY+y)
	column, row = min(max(column, -2), l.Width), min(max(row, -2), l.Height)
	at := l.Offset + int(row)*int(l.Stride) + int(column)
	below := at + int(l.Stride)
	right, lower := uint32(int32(mul(u, one))), uint32(int32(mul(v, one)))
	wd := uint32(uint64(right) * uint64(lower) >> 24)
	wb, wc := right-wd, lower-wd
	wa := one - right - wc
	p, q, r, s := texels[at], texels[at+1], texels[below], texels[below+1]
	k := mul(weight, 1.0/one)
	return color[F]{
		X: mul(k, F(wa*(p&255)+wb*(q&255)+wc*(r&255)+wd*(s&255))),
		Y: mul(k, F(wa*(p>>8&255)+wb*(q>>8&255)+wc*(r>>8&255)+wd*(s>>8&255))),
		Z: mul(k, F(wa*(p>>16&255)+wb*(q>>16&255)+wc*(r>>16&255)+wd*(s>>16&255))),
		W: mul(k, F(wa*(p>>24)+wb*(q>>24)+wc*(r>>24)+wd*(s>>24)))}
}

// one is the sum of four weights.
const one = 1 << 24

// hazy returns a color as it is seen from a distance. Of the light, 1/(1+x+x*x/2+x*x*x/6) remains for x = distance over
// Visibility, which is nearly exp(-x).
func hazy(look *Look, c kernel.Vec3[float32], distance float32) kernel.Vec3[float32] {
	if !(look.Visibility > 0) {
		return c
	}
	x := min(distance/look.Visibility, 100)
	k := 1 / (1 + mul(x, 1+mul(x/2, 1+x/3)))
	return blend(look.Haze, c, k)
}

func blend(a, b kernel.Vec3[float32], t float32) kernel.Vec3[float32] {
	return kernel.V3(a.X+mul(t, b.X-a.X), a.Y+mul(t, b.Y-a.Y), a.Z+mul(t, b.Z-a.Z))
}

// background returns the color of the sky, or of the ground beyond the terrain. rise is the height of the direction.
func background(look *Look, rise, height float32) kernel.Vec3[float32] {
	if rise < 0 && height > look.Floor && look.Visibility > 0 {
		return hazy(look, look.Ground, (height-look.Floor)/-rise)
	}
	low := 1 - max(rise, 0)
	return blend(look.Zenith, look.Haze, mul(low, mul(low, low)))
}
