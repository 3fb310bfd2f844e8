package projection

import "math"

// K: scale (radius of the parallel of true scale).
func (p *Projection) mercator(dlon, s, c float64) (x, y float64) {
	if c < 1e-16 {
		return outside() // a pole
	}
	return float64(p.K[0] * dlon), float64(p.K[0] * asinh(s/c))
}

// curl returns the sum of a series at a complex argument, given the sine and cosine of twice the real part, and the
// hyperbolic ones of twice the imaginary part. It is Clenshaw's recurrence.
func (c *Series) curl(sin, cos, sinh, cosh float64) (re, im float64) {
	tr, ti := 2*float64(cos*cosh), float64(-2*float64(sin*sinh)) // 2 cos(2z)
	ur, ui, vr, vi := c[terms-1], 0.0, 0.0, 0.0
	//quern:unroll
	for k := terms - 2; k >= 0; k-- {
		nr := fma(tr, ur, fma(-ti, ui, c[k]-vr))
		ni := fma(tr, ui, fma(ti, ur, -vi))
		ur, ui, vr, vi = nr, ni, ur, ui
	}
	sr, si := float64(sin*cosh), float64(cos*sinh)
	return fma(sr, ur, float64(-si*ui)), fma(sr, ui, float64(si*ur))
}

// farthest is the conformal easting, in radians, where the series of transverse Mercator end to be accurate: 150
// degrees. On a sphere there are none.
const farthest = 2.6233951627785

// transverse is Krüger's series of sixth order. K: the rectifying radius times scale, and the northing of the
// latitude of origin.
func (p *Projection) transverse(sl, cl, s, c float64) (x, y float64) {
	e, n := float64(c*sl), float64(c*cl)
	r2 := fma(s, s, float64(n*n))
	r := math.Sqrt(r2)
	t := e / r // sinh of eta
	cosh := fma(2*t, t, 1)
	re, im := p.Plane.To.curl(2*s*n/r2, (n-s)*(n+s)/r2, 2*float64(t*math.Sqrt(fma(t, t, 1))), cosh)
	eta := asinh(t)
	if !(math.Abs(eta) < farthest || p.E.E2 == 0) {
		return outside()
	}
	return float64(p.K[0] * (eta + im)), float64(p.K[0]*(atan2(s, n)+re)) - p.K[1]
}

// transverseInverse returns the direction of the point of the conformal sphere.
func (p *Projection) transverseInverse(x, y float64) (up, east, north float64) {
	eta, xi := x/p.K[0], (y+p.K[1])/p.K[0]
	if math.Abs(eta) > farthest && p.E.E2 != 0 || math.Abs(xi) > 2*math.Pi {
		return math.NaN(), 0, 0
	}
	sin, cos := sincos(2 * xi)
	e := exp(2 * eta)
	re, im := p.Plane.From.curl(sin, cos, 0.5*(e-1/e), 0.5*(e+1/e))
	s, n := sincos(xi + re)
	t := sinh(eta + im)
	return n, t, s
}

// Mollweide's projection of the sphere with the semi-major axis. K: A times 2 sqrt(2)/Pi and sqrt(2).
func (p *Projection) mollweide(dlon, s, c float64) (x, y float64) {
	// u is the solution of u - sin u = Pi (1 - |sin lat|), and Pi - u twice the parametric angle.
	h := math.Pi * c * c / (1 + math.Abs(s))
	u := exp(log(6*h) / 3)
	for range 6 {
		su, cu := sincos(u)
		if cu > 1-1e-12 {
			break
		}
		u -= (u - su - h) / (1 - cu)
	}
	su, cu := sincos(u / 2)
	return float64(p.K[0] * float64(dlon*su)), float64(p.K[1] * math.Copysign(cu, s))
}

// mollweideInverse returns the sine of the latitude.
func (p *Projection) mollweideInverse(x, y float64) (dlon, sin float64) {
	t := asin(y / p.K[1])
	st, ct := sincos(t)
	return x / (p.K[0] * ct), (2*t + 2*float64(st*ct)) / math.Pi
}

// Constants of the Equal Earth projection: Šavrič, Patterson and Jenny, 2018.
const (
	earth1 = 1.340264
	earth2 = -0.081106
	earth3 = 0.000893
	earth4 = 0.003796
)

// earth returns the ordinate of a parametric latitude, and its derivative.
func earth(t float64) (y, slope float64) {
	t2 := float64(t * t)
	t6 := float64(t2 * t2 * t2)
	y = float64(t * fma(t6, fma(earth4, t2, earth3), fma(earth2, t2, earth1)))
	return float64(y), fma(t6, fma(9*earth4, t2, 7*earth3), fma(3*earth2, t2, earth1))
}

// K: authalic radius.
func (p *Projection) equalEarth(dlon, s float64) (x, y float64) {
	t := asin(float64(math.Sqrt(3) / 2 * s))
	_, c := sincos(t)
	y, slope := earth(t)
	return p.K[0] * dlon * c * (2 / math.Sqrt(3)) / slope, float64(p.K[0] * y)
}

// equalEarthInverse returns the sine of the authalic latitude.
func (p *Projection) equalEarthInverse(x, y float64) (dlon, sin float64) {
	y /= p.K[0]
	t := y
	for range 8 {
		f, slope := earth(t)
		t -= (f - y) / slope
	}
	s, c := sincos(t)
	_, slope := earth(t)
	return x * slope * (math.Sqrt(3) / 2) / (p.K[0] * c), clip(float64(s * (2 / math.Sqrt(3))))
}
