package ortho

import (
	"math"

	"quern.dev/geo/crs"
	"quern.dev/geo/ortho/internal/kernels"
	"quern.dev/geo/tiff"
)

// Model is how a camera maps angles to distances from its axis.
type Model uint8

const (
	// Perspective is a pinhole camera with the distortion of Brown and Conrady.
	Perspective Model = iota
	// Fisheye maps angles to distances, as in OpenCV's module fisheye.
	Fisheye
)

// Camera is the interior orientation of a frame camera, as in OpenCV: lengths are pixels, and (0, 0) is the center of the
// first one.
type Camera struct {
	Model         Model
	Width, Height int
	FX, FY        float64 // focal length
	CX, CY        float64 // principal point
	// K are the coefficients of radial distortion. Perspective has three, k1 to k3:
	//
	//	x' = x (1 + k1 r^2 + k2 r^4 + k3 r^6) + 2 p1 x y + p2 (r^2 + 2 x^2)
	//	y' = y (1 + k1 r^2 + k2 r^4 + k3 r^6) + 2 p2 x y + p1 (r^2 + 2 y^2)
	//
	// Fisheye has four: the distance from the axis is a (1 + k1 a^2 + k2 a^4 + k3 a^6 + k4 a^8) for the angle a.
	K [4]float64
	// P1 and P2 are the coefficients of tangential distortion.
	P1, P2 float64
}

func finite(v ...float64) bool {
	for _, x := range v {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return false
		}
	}
	return true
}

func (c *Camera) check() error {
	switch {
	case c.Width <= 0 || c.Height <= 0:
		return failf(ErrArgument, "camera: an image of %d x %d pixels; both must be positive", c.Width, c.Height)
	case !(c.FX > 0 && c.FY > 0) || !finite(c.FX, c.FY):
		return failf(ErrArgument, "camera: focal lengths of %v and %v pixels; they must be positive", c.FX, c.FY)
	case !finite(c.CX, c.CY, c.K[0], c.K[1], c.K[2], c.K[3], c.P1, c.P2):
		return failf(ErrArgument, "camera: a parameter is not finite")
	case c.Model > Fisheye:
		return failf(ErrArgument, "camera: model %d is not defined", c.Model)
	case c.Model == Perspective && c.K[3] != 0:
		return failf(ErrArgument, "camera: k4 is %v, but a perspective camera has only k1 to k3", c.K[3])
	case c.Model == Fisheye && (c.P1 != 0 || c.P2 != 0):
		return failf(ErrArgument, "camera: a fisheye has no tangential distortion")
	}
	return nil
}

// kernel returns the camera as kernels have it.
func (c *Camera) kernel() kernels.Camera {
	k := kernels.Camera{Model: kernels.Pinhole, FX: c.FX, FY: c.FY, CX: c.CX + 0.5, CY: c.CY + 0.5, K: c.K, P1: c.P1, P2: c.P2}
	if c.Model == Fisheye {
		k.Model = kernels.Fisheye
	}
	k.Limit = c.limit()
	return k
}

// limit returns where the distance from the axis in the image stops growing: a square of the distance for a perspective
// camera, an angle for a fisheye.
func (c *Camera) limit() float64 {
	k := c.K
	most := 100.0 // tan of 89.4 degrees
	if c.Model == Fisheye {
		most = math.Pi
	}
	const steps = 20000
	for i := 1; i <= steps; i++ {
		r := most * float64(i) / steps
		r2 := r * r
		if 1+r2*(3*k[0]+r2*(5*k[1]+r2*(7*k[2]+r2*9*k[3]))) <= 0 {
			most = most * float64(i-1) / steps
			break
		}
	}
	if c.Model == Fisheye {
		return most
	}
	return most * most
}

// Pose is the exterior orientation of a frame camera.
type Pose struct {
	// CRS is the coordinate system of Center: a projected one, whose coordinates and heights are taken for Cartesian ones, or a
	// geocentric one, which is exact.
	CRS    *crs.CRS
	Center [3]float64
	// Rotation leads from the axes of CRS to those of the camera, row by row: x to the right, y down, z forward.
	Rotation [9]float64
}

// OmegaPhiKappa returns the pose of a camera at a point of a projected system. The angles, in degrees, are those of
// photogrammetry: the rotation from axes of the camera that look right, up and backward to the map is
// Rx(omega) Ry(phi) Rz(kappa).
func OmegaPhiKappa(system *crs.CRS, x, y, z, omega, phi, kappa float64) Pose {
	so, co := math.Sincos(omega * math.Pi / 180)
	sp, cp := math.Sincos(phi * math.Pi / 180)
	sk, ck := math.Sincos(kappa * math.Pi / 180)
	return Pose{system, [3]float64{x, y, z}, [9]float64{
		cp * ck, co*sk + so*sp*ck, so*sk - co*sp*ck,
		cp * sk, -co*ck + so*sp*sk, -so*ck - co*sp*sk,
		-sp, so * cp, -co * cp,
	}}
}

// Topocentric is a system of axes to the east, the north and up at a point of the ellipsoid WGS 84.
type Topocentric struct{ Latitude, Longitude, Altitude float64 }

// axes returns the geocentric coordinates of the origin, and the rotation from geocentric axes to the local ones.
func (t Topocentric) axes() (origin [3]float64, r [9]float64) {
	sl, cl := math.Sincos(t.Longitude * math.Pi / 180)
	sp, cp := math.Sincos(t.Latitude * math.Pi / 180)
	const a, f = 6378137, 1 / 298.257223563
	e2 := f * (2 - f)
	n := a / math.Sqrt(1-e2*sp*sp)
	origin = [3]float64{(n + t.Altitude) * cp * cl, (n + t.Altitude) * cp * sl, (n*(1-e2) + t.Altitude) * sp}
	return origin, [9]float64{-sl, cl, 0, -sp * cl, -sp * sl, cp, cp * cl, cp * sl, sp}
}

// Pose returns the pose of a camera that is described as in OpenSfM: a point X of the local system is at R X + translation from
// the camera, and rotation is the axis of R times its angle in radians.
func (t Topocentric) Pose(rotation, translation [3]float64) (Pose, error) {
	geocentric, err := crs.EPSG(4978)
	if err != nil {
		return Pose{}, err
	}
	r := axisAngle(rotation)
	origin, local := t.axes()
	p := Pose{CRS: geocentric, Rotation: product(r, local)}
	for i := range 3 {
		p.Center[i] = origin[i]
		for j := range 3 {
			p.Center[i] -= p.Rotation[j*3+i] * translation[j]
		}
	}
	return p, nil
}

// axisAngle returns the matrix of a rotation vector, by Rodrigues' formula.
func axisAngle(v [3]float64) [9]float64 {
	angle := math.Sqrt(v[0]*v[0] + v[1]*v[1] + v[2]*v[2])
	if angle == 0 {
		return [9]float64{1, 0, 0, 0, 1, 0, 0, 0, 1}
	}
	x, y, z := v[0]/angle, v[1]/angle, v[2]/angle
	s, c := math.Sincos(angle)
	d := 1 - c
	return [9]float64{
		c + d*x*x, d*x*y - s*z, d*x*z + s*y,
		d*x*y + s*z, c + d*y*y, d*y*z - s*x,
		d*x*z - s*y, d*y*z + s*x, c + d*z*z,
	}
}

func product(a, b [9]float64) (c [9]float64) {
	for i := range 3 {
		for j := range 3 {
			c[i*3+j] = a[i*3]*b[j] + a[i*3+1]*b[3+j] + a[i*3+2]*b[6+j]
		}
	}
	return c
}

// Sensor is where the pixels of an image were seen from: a frame camera or rational polynomials.
type Sensor struct {
	crs  *crs.CRS
	view kernels.View // without what depends on the output
}

// Frame returns the sensor of a frame camera.
func Frame(c Camera, p Pose) (*Sensor, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	switch {
	case p.CRS == nil:
		return nil, failf(ErrArgument, "pose: it has no coordinate system")
	case p.CRS.Kind() == crs.Geographic:
		return nil, failf(ErrArgument, "pose: %v has degrees, in which there are no angles of a camera; use a projected or a geocentric system", p.CRS)
	case !finite(p.Center[:]...):
		return nil, failf(ErrArgument, "pose: the center %v is not finite", p.Center)
	}
	for i, row := range [][]float64{p.Rotation[:3], p.Rotation[3:6], p.Rotation[6:]} {
		for j := range 3 {
			other := p.Rotation[3*j : 3*j+3]
			dot := row[0]*other[0] + row[1]*other[1] + row[2]*other[2]
			if i == j {
				dot--
			}
			if !(math.Abs(dot) < 1e-6) {
				return nil, failf(ErrArgument, "pose: %v is not a rotation", p.Rotation)
			}
		}
	}
	return &Sensor{p.CRS, kernels.View{Width: c.Width, Height: c.Height, Camera: c.kernel(), Center: p.Center, Rotation: p.Rotation}}, nil
}

// RPC returns the sensor of an image of width x height pixels with rational polynomials. Heights are those above the
// ellipsoid WGS 84.
func RPC(rpc *tiff.RPC, width, height int) (*Sensor, error) {
	if rpc == nil {
		return nil, failf(ErrArgument, "the image has no RPC")
	}
	if !finite(rpc.LineOff, rpc.SampOff, rpc.LatOff, rpc.LongOff, rpc.HeightOff) || !(rpc.LatScale != 0 && rpc.LongScale != 0 && rpc.HeightScale != 0 && rpc.LineScale != 0 && rpc.SampScale != 0) {
		return nil, failf(ErrArgument, "rpc: an offset is not finite, or a scale is 0")
	}
	system, err := crs.EPSG(4326)
	if err != nil {
		return nil, err
	}
	v := kernels.View{Width: width, Height: height, Camera: kernels.Camera{Model: kernels.Rational}}
	v.RPC = kernels.RPC{LineOff: rpc.LineOff + 0.5, SampOff: rpc.SampOff + 0.5, LatOff: rpc.LatOff, LongOff: rpc.LongOff, HeightOff: rpc.HeightOff,
		LineScale: rpc.LineScale, SampScale: rpc.SampScale, LatScale: rpc.LatScale, LongScale: rpc.LongScale, HeightScale: rpc.HeightScale,
		Coefficients: [4][20]float64{rpc.LineNum, rpc.LineDen, rpc.SampNum, rpc.SampDen}}
	return &Sensor{system, v}, nil
}

// frame reports whether the sensor is a frame camera.
func (s *Sensor) frame() bool { return s.view.Camera.Model != kernels.Rational }

// direction returns the direction, in the axes of the pose's system, of a position in a frame, counted from the corner of
// the first pixel. It is false where the camera has no such direction.
func (s *Sensor) direction(u, v float64) (d [3]float64, ok bool) {
	c := &s.view.Camera
	x, y := (u-c.CX)/c.FX, (v-c.CY)/c.FY
	var local [3]float64
	if c.Model == kernels.Fisheye {
		r := math.Hypot(x, y)
		low, high := 0.0, c.Limit
		for range 60 {
			a := (low + high) / 2
			a2 := a * a
			if a*(1+a2*(c.K[0]+a2*(c.K[1]+a2*(c.K[2]+a2*c.K[3])))) < r {
				low = a
			} else {
				high = a
			}
		}
		sin, cos := math.Sincos(low)
		local = [3]float64{0, 0, 1}
		if r > 0 {
			local = [3]float64{sin * x / r, sin * y / r, cos}
		}
	} else {
		local = [3]float64{x, y, 1}
		// Newton's method with numeric derivatives, from the position without distortion.
		for range 20 {
			const h = 1e-6
			iu, iv := c.Image(local[0], local[1], 1)
			au, av := c.Image(local[0]+h, local[1], 1)
			bu, bv := c.Image(local[0], local[1]+h, 1)
			du, dv := u-iu, v-iv
			a, b, e, f := (au-iu)/h, (bu-iu)/h, (av-iv)/h, (bv-iv)/h
			det := a*f - b*e
			local[0] += (du*f - dv*b) / det
			local[1] += (dv*a - du*e) / det
			if math.Hypot(du, dv) < 1e-7 {
				break
			}
		}
	}
	iu, iv := c.Image(local[0], local[1], local[2])
	if !(math.Hypot(iu-u, iv-v) < 0.01) {
		return d, false
	}
	r := &s.view.Rotation
	for i := range 3 {
		d[i] = r[i]*local[0] + r[3+i]*local[1] + r[6+i]*local[2]
	}
	return d, true
}
