package kernels

import (
	"math"

	"quern.dev/kernel"
)

// Terrain is a field of heights. The sample in column i of row j is at (i, j). A cell lies between four samples and has
// the height of their bilinear interpolation. A cell with a NaN has no surface.
type Terrain struct {
	Width, Height int // in samples
	Top           int // the highest level of the pyramid
}

// Level is the place of a level of a pyramid in its array.
type Level struct {
	Offset        int // of the first element
	Stride        int // elements from row to row
	Width, Height int
}

// Eye is where rays start.
type Eye[F kernel.Float] struct {
	CellX, CellY int // a cell, and the position in it
	FracX, FracY F
	Z            F    // meters
	Cells        [4]F // cells per meter: column by x and y, row by x and y
}

// Hit is a point of the surface.
type Hit[F kernel.Float] struct {
	T      F // the distance in meters
	X, Y   int
	U, V   F // the position in the cell
	SX, SY F // slopes of the surface to the east and the north
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

// floor returns the integer below a number of moderate size.
func floor[F kernel.Float](x F) int { return int(math.Floor(float64(x))) }

// axis is one of the two directions of the grid, as a ray sees it.
type axis[F kernel.Float] struct {
	origin   int // the cell of the eye
	frac     F
	speed    F // cells per meter of the ray
	inverse  F
	ahead    int // 1 if the index increases along the ray
	cells    int
	from, to F // distances at which the ray is inside
}

func newAxis[F kernel.Float](origin int, frac, speed F, cells int) axis[F] {
	a := axis[F]{origin: origin, frac: frac, speed: nonzero(speed), cells: cells}
	a.inverse = 1 / a.speed
	a.from, a.to = a.at(cells), a.at(0)
	if a.speed > 0 {
		a.ahead = 1
		a.from, a.to = a.to, a.from
	}
	return a
}

// offset returns the distance in cells from the eye to a line of the grid.
func (a *axis[F]) offset(line int) F { return F(line-a.origin) - a.frac }

// at returns the distance in meters at which the ray meets a line of the grid.
func (a *axis[F]) at(line int) F { return mul(a.offset(line), a.inverse) }

// cell returns the index of the cell at a distance, which rounding keeps between two bounds.
func (a *axis[F]) cell(t F, low, high int) int {
	return min(max(a.origin+floor(mul(t, a.speed)+a.frac), low), high)
}

// march returns the first point of the surface on a ray. tops has the highest sample of each node of 2^level cells
// squared, for levels from 1: where the ray is above it, the node is passed in one step.
func march[F kernel.Float](g *Terrain, eye *Eye[F], d kernel.Vec3[F], far F, heights, tops []float32, levels []Level) (hit Hit[F], ok bool) {
	x := newAxis(eye.CellX, eye.FracX, dot2(eye.Cells[0], d.X, eye.Cells[1], d.Y), g.Width-1)
	y := newAxis(eye.CellY, eye.FracY, dot2(eye.Cells[2], d.X, eye.Cells[3], d.Y), g.Height-1)
	t, end := max(x.from, y.from, 0), min(x.to, y.to, far)
	if !(t < end) {
		return hit, false
	}
	ix, iy := x.cell(t, 0, x.cells-1), y.cell(t, 0, y.cells-1)
	level := g.Top
	for {
		nx, ny := ix>>level, iy>>level
		lineX, lineY := (nx+x.ahead)<<level, (ny+y.ahead)<<level
		outX, outY := x.at(lineX), y.at(lineY)
		out := max(min(outX, outY, end), t)
		if level == 0 {
			if patch(g, eye, d, &x, &y, ix, iy, t, out, heights, &hit) {
				return hit, true
			}
		} else {
			l := levels[level]
			if low := eye.Z + min(mul(t, d.Z), mul(out, d.Z)); low <= F(tops[l.Offset+ny*l.Stride+nx]) {
				level--
				continue
			}
		}
		if out >= end {
			return hit, false
		}
		if outX <= outY {
			ix = lineX - 1 + x.ahead
			iy = y.cell(out, ny<<level, (ny+1)<<level-1)
		} else {
			iy = lineY - 1 + y.ahead
			ix = x.cell(out, nx<<level, (nx+1)<<level-1)
		}
		if uint(ix) >= uint(x.cells) || uint(iy) >= uint(y.cells) {
			return hit, false
		}
		t = out
		if level < g.Top && (ix>>(level+1) != nx>>1 || iy>>(level+1) != ny>>1) {
			level++
		}
	}
}

// patch finds the first point of a cell's surface on a ray between the distances t and out.
func patch[F kernel.Float](g *Terrain, eye *Eye[F], d kernel.Vec3[F], x, y *axis[F], ix, iy int, t, out F, heights []float32, hit *Hit[F]) bool {
	at := iy*g.Width + ix
	h00, h10 := F(heights[at]), F(heights[at+1])
	h01, h11 := F(heights[at+g.Width]), F(heights[at+g.Width+1])
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
