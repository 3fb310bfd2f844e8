package kernels

import "quern.dev/kernel"

// Terrain is a field of heights. The sample in column i of row j is at (i, j). A cell lies between four samples and has
// the height of their bilinear interpolation. A cell with a NaN has no surface.
type Terrain struct {
	Width, Height int32 // in samples
	Top           int32 // the highest level of the pyramid
}

// Level is the place of a level of a pyramid in its array.
type Level struct {
	Offset        int   // of the first element
	Stride        int32 // elements from row to row
	Width, Height int32
	Left, Above   int32 // where the first element is, in an array that is an image
}

// Eye is where rays start.
type Eye[F kernel.Float] struct {
	CellX, CellY int32 // a cell, and the position in it
	FracX, FracY F
	Z            F    // meters
	Cells        [4]F // cells per meter: column by x and y, row by x and y
}

// Hit is a point of the surface.
type Hit[F kernel.Float] struct {
	T      F // the distance in meters
	X, Y   int32
	U, V   F // the position in the cell
	SX, SY F // slopes of the surface to the east and the north
}

// Start is where a ray may be followed from: the surface is farther away than T meters. Level is the one to begin with.
type Start struct {
	T     float32
	Level int32
}

// mul is a product that is not fused with a sum.
func mul[F kernel.Float](a, b F) F { return F(a * b) }

// dot2 is a*x + b*y.
func dot2[F kernel.Float](a, x, b, y F) F { return mul(a, x) + mul(b, y) }

func dot3[F kernel.Float](a, b kernel.Vec3[F]) F {
	return mul(a.X, b.X) + mul(a.Y, b.Y) + mul(a.Z, b.Z)
}

// unit returns a vector of length 1, and the length that it had.
func unit[F kernel.Float](a kernel.Vec3[F]) (kernel.Vec3[F], F) {
	length := kernel.Sqrt(dot3(a, a))
	return kernel.V3(a.X/length, a.Y/length, a.Z/length), length
}

// slightest is less than any component of a direction that matters. It replaces zero, which has no reciprocal.
const slightest = 1e-12

func nonzero[F kernel.Float](x F) F {
	if x < slightest && x > -slightest {
		return slightest
	}
	return x
}

// floor returns the integer below a number of less than 2^31.
func floor[F kernel.Float](x F) int32 {
	n := int32(x)
	return n - pick(F(n) > x, int32(1), 0)
}

// pick is a choice without a branch, which would separate the threads of a warp.
func pick[T any](first bool, a, b T) T {
	if first {
		return a
	}
	return b
}

// axis is one of the two directions of the grid, as a ray sees it.
type axis[F kernel.Float] struct {
	origin   int32 // the cell of the eye
	frac     F
	speed    F // cells per meter of the ray
	inverse  F
	ahead    int32 // 1 if the index increases along the ray
	cells    int32
	from, to F // distances at which the ray is inside
}

func newAxis[F kernel.Float](origin int32, frac, speed F, cells int32) axis[F] {
	a := axis[F]{origin: origin, frac: frac, speed: nonzero(speed), cells: cells}
	a.inverse = 1 / a.speed
	low, high := a.at(0), a.at(cells)
	a.ahead = pick(a.speed > 0, int32(1), 0)
	a.from, a.to = min(low, high), max(low, high)
	return a
}

// offset returns the distance in cells from the eye to a line of the grid.
func (a *axis[F]) offset(line int32) F { return F(line-a.origin) - a.frac }

// at returns the distance in meters at which the ray meets a line of the grid.
func (a *axis[F]) at(line int32) F { return mul(a.offset(line), a.inverse) }

// cell returns the index of the cell at a distance.
func (a *axis[F]) cell(t F) int32 {
	return min(max(a.origin+floor(mul(t, a.speed)+a.frac), 0), a.cells-1)
}

// axes returns the two directions of the grid for a ray.
func axes[F kernel.Float](g *Terrain, eye *Eye[F], d kernel.Vec3[F]) (x, y axis[F]) {
	x = newAxis(eye.CellX, eye.FracX, dot2(eye.Cells[0], d.X, eye.Cells[1], d.Y), g.Width-1)
	y = newAxis(eye.CellY, eye.FracY, dot2(eye.Cells[2], d.X, eye.Cells[3], d.Y), g.Height-1)
	return x, y
}

// node is a square of 2^level cells that a ray is in, and the distances at which the ray meets its far lines.
type node[F kernel.Float] struct {
	x, y       int32
	outX, outY F
}

func nodeAt[F kernel.Float](x, y *axis[F], ix, iy int32, level uint32) node[F] {
	nx, ny := ix>>level, iy>>level
	return node[F]{nx, ny, x.at((nx + x.ahead) << level), y.at((ny + y.ahead) << level)}
}

// beyond returns the cell behind a node that the ray leaves at a distance. It may be outside of the terrain.
func beyond[F kernel.Float](x, y *axis[F], n node[F], level uint32, out F) (ix, iy int32) {
	first := n.outX <= n.outY
	origin, along := pick(first, y.origin, x.origin), pick(first, n.y, n.x)
	speed, frac := pick(first, y.speed, x.speed), pick(first, y.frac, x.frac)
	// Rounding does not lead out of the node along the line.
	cell := min(max(origin+floor(mul(out, speed)+frac), along<<level), (along+1)<<level-1)
	ix, iy = (n.x+x.ahead)<<level-1+x.ahead, (n.y+y.ahead)<<level-1+y.ahead
	return pick(first, ix, cell), pick(first, cell, iy)
}

// above returns the level at which a ray continues in the cell behind a node: the next one up to top, if the cell is in
// another node of it.
func above[F kernel.Float](n node[F], ix, iy int32, level, top uint32) uint32 {
	other := ix>>(level+1) ^ n.x>>1 | iy>>(level+1) ^ n.y>>1
	return level + pick(other != 0 && level < top, uint32(1), 0)
}

// march returns the first point of the surface on a ray. tops has the highest sample of each node of 2^level cells
// squared: where the ray is above it, the node is passed in one step.
//
// The inner loop leads each thread of a warp to a cell that its ray may hit, and then all of them try their cells (Aila
// and Laine 2009, "while-while"). Its steps have one end, where the threads come together.
func march[F kernel.Float](g *Terrain, eye *Eye[F], d kernel.Vec3[F], start Start, far F, heights, tops []float32, levels []Level) (hit Hit[F], ok bool) {
	x, y := axes(g, eye, d)
	t, end := max(x.from, y.from, F(start.T)), min(x.to, y.to, far)
	if !(t < end) {
		return hit, false
	}
	ix, iy, level := x.cell(t), y.cell(t), uint32(start.Level)
	tried := false // the cell
	for {
		var out F
		miss, leaf := false, false
		for !miss && !leaf {
			n := nodeAt(&x, &y, ix, iy, level)
			out = max(min(n.outX, n.outY, end), t)
			l := levels[level]
			low := eye.Z + min(mul(t, d.Z), mul(out, d.Z))
			if tried || low > F(tops[l.Offset+int(n.y)*int(l.Stride)+int(n.x)]) {
				tried = false
				ix, iy = beyond(&x, &y, n, level, out)
				miss = out >= end || uint32(ix) >= uint32(x.cells) || uint32(iy) >= uint32(y.cells)
				t = out
				level = above(n, ix, iy, level, uint32(g.Top))
			} else if level > 0 {
				level--
			} else {
				leaf = true
			}
		}
		if miss {
			return hit, false
		}
		if patch(g, eye, d, &x, &y, ix, iy, t, out, heights, &hit) {
			return hit, true
		}
		tried = true
	}
}

// patch finds the first point of a cell's surface on a ray between the distances t and out.
func patch[F kernel.Float](g *Terrain, eye *Eye[F], d kernel.Vec3[F], x, y *axis[F], ix, iy int32, t, out F, heights []float32, hit *Hit[F]) bool {
	at := int(iy)*int(g.Width) + int(ix)
	below := at + int(g.Width)
	h00, h10 := F(heights[at]), F(heights[at+1])
	h01, h11 := F(heights[below]), F(heights[below+1])
	b, c := h10-h00, h01-h00
	e := h11 - h10 - c
	if e != e {
		return false // NaN: there is no surface
	}
	u := kernel.Clamp(mul(t, x.speed)-x.offset(ix), 0, 1)
	v := kernel.Clamp(mul(t, y.speed)-y.offset(iy), 0, 1)
	// The height of the ray above the surface is p*s*s + q*s + r at the distance t+s.
	r := eye.Z - h00 + mul(t, d.Z) - dot2(b, u, c, v) - mul(e, mul(u, v))
	s := F(0)
	if r > 0 {
		q := d.Z - dot2(b, x.speed, c, y.speed) - mul(e, dot2(u, y.speed, v, x.speed))
		p := -mul(e, mul(x.speed, y.speed))
		var ok bool
		if s, ok = firstRoot(p, q, r); !ok || s > out-t {
			return false
		}
		u, v = kernel.Clamp(u+mul(s, x.speed), 0, 1), kernel.Clamp(v+mul(s, y.speed), 0, 1)
	}
	hit.T, hit.X, hit.Y, hit.U, hit.V = t+s, ix, iy, u, v
	gu, gv := b+mul(e, v), c+mul(e, u)
	hit.SX, hit.SY = dot2(gu, eye.Cells[0], gv, eye.Cells[2]), dot2(gu, eye.Cells[1], gv, eye.Cells[3])
	return true
}

// firstRoot returns the least positive root of p*s*s + q*s + r for positive r.
func firstRoot[F kernel.Float](p, q, r F) (F, bool) {
	disc := mul(q, q) - mul(4, mul(p, r))
	if disc < 0 {
		return 0, false
	}
	root := kernel.Sqrt(disc)
	if q < 0 {
		// Both roots are positive if p is; r over the larger sum is the smaller one.
		return mul(2, r) / (root - q), true
	}
	if p >= 0 {
		return 0, false // it rises
	}
	return mul(-F(0.5), q+root) / p, true
}
