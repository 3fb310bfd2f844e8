package projection

import "math"

// K: radius factor, 1 for the north pole and -1 for the south pole.
func (p *Projection) polar(sl, cl, s, c float64) (x, y float64) {
	sign := p.K[1]
	rho := float64(p.K[0] * half(float64(sign*s), c))
	return float64(rho * sl), float64(-sign * rho * cl)
}

// polarInverse returns the direction from the pole, and the tangent of half the distance from it.
func (p *Projection) polarInverse(x, y float64) (east, north, t float64) {
	return x, float64(-p.K[1] * y), hypot(x, y) / p.K[0]
}

// point turns a point of the unit sphere from the frame of a center, with its sine and cosine of latitude, to longitude
// and latitude. Coordinates point to the center, to the east and to the north.
func point(up, east, north, s0, c0 float64) (dlon, lat float64) {
	equator := fma(up, c0, float64(-north*s0))
	return atan2(east, equator), atan2(fma(up, s0, float64(north*c0)), hypot(equator, east))
}

// gauss turns a conformal latitude to that of the Gauss sphere: sine and cosine. K[10] and K[11] are the exponent and the
// constant of the sphere.
func (p *Projection) gauss(s, c float64) (s2, c2 float64) {
	t := sinh(fma(p.K[10], asinh(s/c), p.K[11]))
	if math.Abs(t) > 1e100 {
		return math.Copysign(1, t), 0
	}
	c2 = 1 / math.Sqrt(fma(t, t, 1))
	return float64(t * c2), c2
}

// isometric returns the isometric latitude of Mercator's northing, or that of a latitude on the Gauss sphere.
func (p *Projection) isometric(lat, y float64) float64 {
	if p.Method == Mercator {
		return min(max(y/p.K[0], -600), 600)
	}
	s, c := sincos(lat)
	return (asinh(s/max(c, 0)) - p.K[11]) / p.K[10]
}

// K: diameter times scale, sine and cosine of the center's latitude.
func (p *Projection) stereographic(sl, cl, s, c float64) (x, y float64) {
	s0, c0 := p.K[1], p.K[2]
	n := float64(c * cl)
	b := 1 + fma(s0, s, float64(c0*n))
	if !(b > 1e-10) {
		return outside()
	}
	return p.K[0] * c * sl / b, p.K[0] * fma(c0, s, float64(-s0*n)) / b
}

// stereographicInverse returns the point of the unit sphere in the frame of the center.
func (p *Projection) stereographicInverse(x, y float64) (up, east, north float64) {
	x, y = x/p.K[0], y/p.K[0]
	z := fma(x, x, float64(y*y))
	d := 1 + z
	return (1 - z) / d, 2 * x / d, 2 * y / d
}

// K: authalic radius, sine and cosine of the center's latitude, ratio of scales.
func (p *Projection) azimuthal(sl, cl, s, c float64) (x, y float64) {
	s0, c0 := p.K[1], p.K[2]
	n := float64(c * cl)
	b := 1 + fma(s0, s, float64(c0*n))
	if !(b > 1e-10) {
		return outside()
	}
	b = float64(p.K[0] * math.Sqrt(2/b))
	return float64(b * p.K[3] * c * sl), float64(b / p.K[3] * fma(c0, s, float64(-s0*n)))
}

// azimuthalInverse returns the point of the authalic unit sphere in the frame of the center.
func (p *Projection) azimuthalInverse(x, y float64) (up, east, north float64) {
	x, y = x/(p.K[3]*p.K[0]), y*p.K[3]/p.K[0]
	z := fma(x, x, float64(y*y)) / 4 // squared sine of half the distance
	w := math.Sqrt(1 - z)            // NaN outside of the disk
	return 1 - 2*z, float64(x * w), float64(y * w)
}

// orthographic is the view from infinity. K[4] and K[5] are the sine and cosine of the center's latitude, K[6] the radius of
// curvature there in the prime vertical, K[3] its product with the squared eccentricity and the sine of the latitude, and K[1]
// and K[2] are 0 and 1 for the frame of the equator.
func (p *Projection) orthographic(sl, cl, s, c float64) (x, y float64) {
	s0, c0 := p.K[4], p.K[5]
	if fma(s0, s, float64(c0*c*cl)) < -1e-10 {
		return outside() // on the far side
	}
	n, _ := p.E.radii(s)
	return float64(n * c * sl), fma(n, fma(c0, s, float64(-s0*c*cl)), float64((p.K[3]-float64(p.E.E2*n*s))*c0))
}

// orthographicInverse finds where the line of sight meets the ellipsoid, and returns the direction of the normal there.
func (p *Projection) orthographicInverse(x, y float64) (up, east, north float64) {
	s0, c0 := p.K[4], p.K[5]
	// In the meridian plane of the center: the distance from the axis, and the height above the equator scaled by 1/r, so that
	// the ellipsoid is a sphere. The line of sight has the direction (c0, s0).
	r := math.Sqrt(1 - p.E.E2)
	px := fma(-y, s0, float64(p.K[6]*c0))
	pz := fma(y, c0, float64(p.K[6]*(1-p.E.E2)*s0)) / r
	dz := s0 / r
	a := fma(c0, c0, float64(dz*dz))
	b := fma(px, c0, float64(pz*dz)) / a
	k := (fma(px, px, float64(pz*pz)) + fma(x, x, -float64(p.E.A*p.E.A))) / a
	root := fma(b, b, -k)
	if edge := float64(1e-15 * p.E.A * p.E.A); root < 4*edge && root > -float64(15000*edge) {
		root = 0 // within 0.05 mm of the edge of the disk
	}
	u := math.Sqrt(root) - b // NaN outside of the disk
	px, pz = fma(u, c0, px), fma(u, dz, pz)
	return px, x, pz / r
}
