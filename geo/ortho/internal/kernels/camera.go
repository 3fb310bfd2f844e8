package kernels

import (
	"math"

	"quern.dev/geo/internal/projection"
)

func fma(x, y, z float64) float64 { return math.FMA(x, y, z) }

// Affine maps a point, in GDAL's order.
type Affine [6]float64

// Apply maps a point.
func (a *Affine) Apply(x, y float64) (float64, float64) {
	return fma(y, a[2], fma(x, a[1], a[0])), fma(y, a[5], fma(x, a[4], a[3]))
}

// The models of cameras.
const (
	Pinhole  = iota // with Brown's distortion
	Fisheye         // equidistant
	Rational        // RPC
)

// Camera is the interior orientation of a frame: FX, FY, CX and CY in pixels, (0, 0) being the corner of the first one.
type Camera struct {
	Model          int
	FX, FY, CX, CY float64
	K              [4]float64 // radial distortion
	P1, P2         float64    // tangential distortion
	// Limit is the square of the distance from the axis, in focal lengths, or the angle of a fisheye, beyond which the
	// distortion folds back.
	Limit float64
}

// Image returns where the camera sees a point. z is along the axis, x to the right and y down. It is NaN behind the camera
// and beyond the limit.
func (c *Camera) Image(x, y, z float64) (float64, float64) {
	if c.Model == Fisheye {
		r := math.Sqrt(fma(x, x, float64(y*y)))
		angle := projection.Angle(r, z)
		if !(angle <= c.Limit) {
			return math.NaN(), math.NaN()
		}
		scale := 1.0
		if r > 0 {
			a2 := float64(angle * angle)
			scale = float64(angle*fma(fma(fma(fma(c.K[3], a2, c.K[2]), a2, c.K[1]), a2, c.K[0]), a2, 1)) / r
		} else if z < 0 {
			return math.NaN(), math.NaN()
		}
		return fma(c.FX, float64(x*scale), c.CX), fma(c.FY, float64(y*scale), c.CY)
	}
	if !(z > 0) {
		return math.NaN(), math.NaN()
	}
	x, y = x/z, y/z
	x2, y2, xy := float64(x*x), float64(y*y), float64(x*y)
	r2 := x2 + y2
	if !(r2 <= c.Limit) {
		return math.NaN(), math.NaN()
	}
	radial := fma(fma(fma(c.K[2], r2, c.K[1]), r2, c.K[0]), r2, 1)
	u := fma(x, radial, fma(2*c.P1, xy, float64(c.P2*fma(2, x2, r2))))
	v := fma(y, radial, fma(2*c.P2, xy, float64(c.P1*fma(2, y2, r2))))
	return fma(c.FX, u, c.CX), fma(c.FY, v, c.CY)
}

// RPC is a camera of rational polynomials: see tiff.RPC. Offsets of lines and samples are those of the corner of the first
// pixel.
type RPC struct {
	LineOff, SampOff, LatOff, LongOff, HeightOff           float64
	LineScale, SampScale, LatScale, LongScale, HeightScale float64
	Coefficients                                           [4][20]float64 // LineNum, LineDen, SampNum, SampDen
}

// farthest is how far outside of their range normalized coordinates of an RPC may be.
const farthest = 1.5

// Image returns where the camera sees a point in degrees and meters; NaN far outside of the polynomials' range.
func (c *RPC) Image(lon, lat, height float64) (float64, float64) {
	l, p, h := lon-c.LongOff, (lat-c.LatOff)/c.LatScale, (height-c.HeightOff)/c.HeightScale
	if l > 270 {
		l -= 360
	} else if l < -270 {
		l += 360
	}
	l /= c.LongScale
	if !(math.Abs(l) <= farthest && math.Abs(p) <= farthest && math.Abs(h) <= 10) {
		return math.NaN(), math.NaN()
	}
	line := c.polynomial(0, l, p, h) / c.polynomial(1, l, p, h)
	samp := c.polynomial(2, l, p, h) / c.polynomial(3, l, p, h)
	return fma(samp, c.SampScale, c.SampOff), fma(line, c.LineScale, c.LineOff)
}

// polynomial evaluates one of the four cubic polynomials, whose terms are in the order of RPC00B.
func (c *RPC) polynomial(i int, l, p, h float64) float64 {
	k := &c.Coefficients[i]
	lp, lh, ph, l2, p2, h2 := float64(l*p), float64(l*h), float64(p*h), float64(l*l), float64(p*p), float64(h*h)
	s := fma(k[3], h, fma(k[2], p, fma(k[1], l, k[0])))
	s = fma(k[6], ph, fma(k[5], lh, fma(k[4], lp, s)))
	s = fma(k[9], h2, fma(k[8], p2, fma(k[7], l2, s)))
	s = fma(k[12], float64(l*p2), fma(k[11], float64(l2*l), fma(k[10], float64(lp*h), s)))
	s = fma(k[15], float64(p2*p), fma(k[14], float64(l2*p), fma(k[13], float64(l*h2), s)))
	s = fma(k[18], float64(p2*h), fma(k[17], float64(l2*h), fma(k[16], float64(p*h2), s)))
	return fma(k[19], float64(h2*h), s)
}

// View leads from points of an output, with heights, to an image.
type View struct {
	Output        Affine // from pixels of the output to coordinates
	Same          bool   // the output has the coordinate system of the camera
	Operation     projection.Operation
	Width, Height int // of the image
	Camera        Camera
	RPC           RPC
	Center        [3]float64 // of the camera, in its coordinate system
	Rotation      [9]float64 // from there to the camera's axes, row by row
	Eye           [3]float64 // the center in pixels of the output, and its height
}

// Image returns where the camera sees a point in its own coordinate system. It is NaN where it does not.
func (v *View) Image(x, y, z float64) (float64, float64) {
	if v.Camera.Model == Rational {
		return v.RPC.Image(x, y, z)
	}
	x, y, z = x-v.Center[0], y-v.Center[1], z-v.Center[2]
	r := &v.Rotation
	return v.Camera.Image(
		fma(r[2], z, fma(r[1], y, float64(r[0]*x))),
		fma(r[5], z, fma(r[4], y, float64(r[3]*x))),
		fma(r[8], z, fma(r[7], y, float64(r[6]*x))))
}

// Inside reports whether a position is in the image.
func (v *View) Inside(x, y float64) bool {
	return x >= 0 && y >= 0 && x <= float64(v.Width) && y <= float64(v.Height)
}

// Sight collects where an image shows a point and, for an RPC, points near it: how positions change with columns,
// rows and height.
type Sight struct {
	X, Y   float64 // of the point itself
	dx, dy [3]float64
}

// Points returns how many points a Sight needs.
func (v *View) Points() int {
	if v.Camera.Model == Rational {
		return 7
	}
	return 1
}

// near is the distance of points from the first one, in pixels and meters.
const near = 4

// Point returns the k-th point: the first is the given one.
func Point(k int, column, row, height float64) (float64, float64, float64) {
	d := float64(2*near*(k&1) - near)
	switch {
	case k == 0:
	case k <= 2:
		column += d
	case k <= 4:
		row += d
	default:
		height += d
	}
	return column, row, height
}

// Add adds the position of the k-th point.
func (s *Sight) Add(k int, x, y float64) {
	switch {
	case k == 0:
		s.X, s.Y = x, y
	case k&1 == 1:
		s.dx[(k-1)/2], s.dy[(k-1)/2] = x, y
	default:
		s.dx[(k-1)/2], s.dy[(k-1)/2] = s.dx[(k-1)/2]-x, s.dy[(k-1)/2]-y
	}
}

// Slope returns by how many columns and rows of the output the line of sight moves per meter of height: exactly for frames,
// where it leads to the center, and the tangent for an RPC.
func (v *View) Slope(s *Sight, column, row, height float64) (float64, float64) {
	if v.Camera.Model != Rational {
		d := v.Eye[2] - height
		return (v.Eye[0] - column) / d, (v.Eye[1] - row) / d
	}
	// The image does not move: dx . (column, row, height) = 0 and dy . (column, row, height) = 0.
	dx, dy := &s.dx, &s.dy
	det := fma(dx[0], dy[1], -float64(dx[1]*dy[0]))
	return fma(dx[1], dy[2], -float64(dy[1]*dx[2])) / det, fma(dy[0], dx[2], -float64(dx[0]*dy[2])) / det
}
