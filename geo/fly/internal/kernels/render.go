package kernels

import "quern.dev/kernel"

// Camera is a perspective camera. The ray through the image position (x, y), in pixels, has the direction
// Forward + (x - Width/2)*Right + (Height/2 - y)*Up.
type Camera[F kernel.Float] struct {
	Eye                Eye[F]
	Forward, Right, Up kernel.Vec3[F]
	Width, Height      int
	Samples            int // rays per pixel, in x and in y
	Far                F   // meters

	TexelX, TexelY int // the texel below the camera, and the position in it
	FracX, FracY   F
	Texels         [4]F // texels per meter: column by x and y, row by x and y
	Probes         int  // the most samples of the mosaic per ray
}

// Look is the appearance of what is not the mosaic. Colors are from 0 to 255.
type Look struct {
	Haze, Zenith, Ground kernel.Vec3[float32]
	Visibility           float32 // meters; 0 means that there is no haze
	Floor                float32 // the height of the ground beyond the terrain
}

// color is red, green, blue and alpha from 0 to 255, the first three multiplied by alpha/255.
type color = kernel.Vec4[float32]

// render draws the terrain with weights that are computed in F. out has four bytes per pixel.
//
//quern:kernel instantiate=float32,float64
func render[F kernel.Float](t kernel.Thread, c Camera[F], g Terrain, look Look, heights, tops []float32, levels []Level, light []float32, texels []uint32, mips []Level, out []uint8) {
	x, y := t.Global2()
	if x >= c.Width || y >= c.Height {
		return
	}
	pixel(&c, &g, &look, x, y, heights, tops, levels, light, mips, out, func(level int, x, y F) color {
		return bilinear(&c, mips[level], level, x, y, texels)
	})
}

// preview draws the terrain with colors that the texture units interpolate. The atlas has the levels at the places that
// mips has, with transparent texels between them.
//
//quern:kernel
func preview(t kernel.Thread, c Camera[float32], g Terrain, look Look, heights, tops []float32, levels []Level, light []float32, atlas kernel.Texture2D[kernel.Vec4[float32]], mips []Level, out []uint8) {
	x, y := t.Global2()
	if x >= c.Width || y >= c.Height {
		return
	}
	pixel(&c, &g, &look, x, y, heights, tops, levels, light, mips, out, func(level int, x, y float32) color {
		l := mips[level]
		column, u := place(c.TexelX, level, c.FracX+x)
		row, v := place(c.TexelY, level, c.FracY+y)
		if column < -1 || row < -1 || column >= l.Width || row >= l.Height {
			return color{}
		}
		left, top := l.Offset%l.Stride, l.Offset/l.Stride
		return atlas.Sample(float32(left+column)+0.5+u, float32(top+row)+0.5+v).Scale(255)
	})
}

// pixel draws a pixel: the average of the colors of its rays.
func pixel[F kernel.Float](c *Camera[F], g *Terrain, look *Look, x, y int, heights, tops []float32, levels []Level, light []float32, mips []Level, out []uint8, sample func(level int, x, y F) color) {
	var sum kernel.Vec3[float32]
	for j := range c.Samples {
		for i := range c.Samples {
			sx := F(x) + (F(i)+0.5)/F(c.Samples) - mul(0.5, F(c.Width))
			sy := mul(0.5, F(c.Height)) - F(y) - (F(j)+0.5)/F(c.Samples)
			r := ray(c, g, look, sx, sy, heights, tops, levels, light, mips, sample)
			sum.X, sum.Y, sum.Z = sum.X+r.X, sum.Y+r.Y, sum.Z+r.Z
		}
	}
	n := float32(c.Samples * c.Samples)
	at := 4 * (y*c.Width + x)
	out[at], out[at+1], out[at+2], out[at+3] = toByte(sum.X/n), toByte(sum.Y/n), toByte(sum.Z/n), 255
}

// toByte rounds to nearest, halves up.
func toByte(x float32) uint8 { return uint8(int32(kernel.Clamp(x, 0, 255) + 0.5)) }

// ray returns the color of a ray.
func ray[F kernel.Float](c *Camera[F], g *Terrain, look *Look, sx, sy F, heights, tops []float32, levels []Level, light []float32, mips []Level, sample func(level int, x, y F) color) kernel.Vec3[float32] {
	raw := kernel.V3(
		c.Forward.X+dot2(sx, c.Right.X, sy, c.Up.X),
		c.Forward.Y+dot2(sx, c.Right.Y, sy, c.Up.Y),
		c.Forward.Z+dot2(sx, c.Right.Z, sy, c.Up.Z))
	d, length := unit(raw)
	hit, ok := march(g, &c.Eye, d, c.Far, heights, tops, levels)
	if !ok {
		return background(look, float32(d.Z), float32(c.Eye.Z))
	}
	tint := mosaic(c, raw, d, length, &hit, mips, sample)
	// What the mosaic does not cover has the color of the ground.
	rest := 1 - tint.W/255
	at := hit.Y*g.Width + hit.X
	u, v := float32(hit.U), float32(hit.V)
	upper := light[at] + mul(u, light[at+1]-light[at])
	lower := light[at+g.Width] + mul(u, light[at+g.Width+1]-light[at+g.Width])
	lit := upper + mul(v, lower-upper)
	surface := kernel.V3(
		mul(lit, tint.X+mul(rest, look.Ground.X)),
		mul(lit, tint.Y+mul(rest, look.Ground.Y)),
		mul(lit, tint.Z+mul(rest, look.Ground.Z)))
	return hazy(look, surface, float32(hit.T))
}

// mosaic returns the color of the mosaic at a point. The pixel's footprint there is spanned by two vectors: it is
// sampled at several points along the longer one, each as wide as the shorter one.
func mosaic[F kernel.Float](c *Camera[F], raw, d kernel.Vec3[F], length F, hit *Hit[F], mips []Level, sample func(level int, x, y F) color) color {
	n := kernel.V3(-hit.SX, -hit.SY, 1)
	facing := dot3(raw, n)
	if facing > -F(1e-4)*length {
		facing = -F(1e-4) * length
	}
	scale := hit.T / mul(length, F(c.Samples))
	ax, ay := footprint(c, c.Right, raw, scale, dot3(c.Right, n)/facing)
	bx, by := footprint(c, c.Up, raw, scale, dot3(c.Up, n)/facing)
	a, b := kernel.Sqrt(dot2(ax, ax, ay, ay)), kernel.Sqrt(dot2(bx, bx, by, by))
	if a < b {
		ax, ay, a, b = bx, by, b, a
	}
	probes := 1
	for probes < c.Probes && mul(F(probes), b) < a {
		probes++
	}
	level, part := 0, F(0)
	for width := max(b, a/F(probes)); width > 1; width = mul(width, 0.5) {
		if level+1 >= len(mips) {
			part = 0
			break
		}
		if width <= 2 {
			part = width - 1
			break
		}
		level++
	}
	px, py := mul(hit.T, d.X), mul(hit.T, d.Y)
	x, y := dot2(c.Texels[0], px, c.Texels[1], py), dot2(c.Texels[2], px, c.Texels[3], py)
	var sum color
	for i := range probes {
		shift := (F(i)+0.5)/F(probes) - 0.5
		sx, sy := x+mul(shift, ax), y+mul(shift, ay)
		s := sample(level, sx, sy)
		if part > 0 {
			s = mix(s, sample(level+1, sx, sy), float32(part))
		}
		sum = color{X: sum.X + s.X, Y: sum.Y + s.Y, Z: sum.Z + s.Z, W: sum.W + s.W}
	}
	k := float32(probes)
	return color{X: sum.X / k, Y: sum.Y / k, Z: sum.Z / k, W: sum.W / k}
}

// footprint returns, in texels, how far the point of the surface moves from one ray to the next.
func footprint[F kernel.Float](c *Camera[F], step, raw kernel.Vec3[F], scale, slide F) (x, y F) {
	mx, my := mul(scale, step.X-mul(slide, raw.X)), mul(scale, step.Y-mul(slide, raw.Y))
	return dot2(c.Texels[0], mx, c.Texels[1], my), dot2(c.Texels[2], mx, c.Texels[3], my)
}

// place returns the texel of a level whose center is before a position, which is relative to a texel of level 0, and the
// distance from that center.
func place[F kernel.Float](origin, level int, x F) (int, F) {
	size := 1 << level
	whole := origin >> level
	p := (F(origin-whole<<level)+x)/F(size) - 0.5
	n := floor(p)
	return whole + n, p - F(n)
}

// bilinear interpolates between four texels. Texels outside of the mosaic are transparent.
func bilinear[F kernel.Float](c *Camera[F], l Level, level int, x, y F, texels []uint32) color {
	column, u := place(c.TexelX, level, c.FracX+x)
	row, v := place(c.TexelY, level, c.FracY+y)
	top := mixF(texel(l, column, row, texels), texel(l, column+1, row, texels), u)
	bottom := mixF(texel(l, column, row+1, texels), texel(l, column+1, row+1, texels), u)
	return mixF(top, bottom, v)
}

func texel(l Level, column, row int, texels []uint32) color {
	if uint(column) >= uint(l.Width) || uint(row) >= uint(l.Height) {
		return color{}
	}
	c := texels[l.Offset+row*l.Stride+column]
	return color{X: float32(c & 255), Y: float32(c >> 8 & 255), Z: float32(c >> 16 & 255), W: float32(c >> 24)}
}

func mix(a, b color, t float32) color {
	return color{X: a.X + mul(t, b.X-a.X), Y: a.Y + mul(t, b.Y-a.Y), Z: a.Z + mul(t, b.Z-a.Z), W: a.W + mul(t, b.W-a.W)}
}

// mixF mixes in F.
func mixF[F kernel.Float](a, b color, t F) color {
	return color{X: lerp(a.X, b.X, t), Y: lerp(a.Y, b.Y, t), Z: lerp(a.Z, b.Z, t), W: lerp(a.W, b.W, t)}
}

func lerp[F kernel.Float](a, b float32, t F) float32 { return float32(F(a) + mul(t, F(b)-F(a))) }

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
