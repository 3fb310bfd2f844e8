package projection

import "math"

// terms is the length of series.
const terms = 6

// Series is a trigonometric series: f(x) = x + sum c[k] sin(2(k+1)x).
type Series [terms]float64

// at returns the series for x, with the sine and cosine of x.
func (c *Series) at(x, sin, cos float64) float64 {
	return fma(2*float64(sin*cos), c.sum(float64((cos-sin)*(cos+sin))), x)
}

// sum evaluates the series without x, divided by sin 2x, by Clenshaw's recurrence.
func (c *Series) sum(cos2 float64) float64 {
	t := 2 * cos2
	b5 := fma(t, c[5], c[4])
	b4 := fma(t, b5, c[3]-c[5])
	b3 := fma(t, b4, c[2]-b5)
	b2 := fma(t, b3, c[1]-b4)
	return fma(t, b2, c[0]-b3)
}

// of returns the series for x.
func (c *Series) of(x float64) float64 {
	s, cos := sincos(x)
	return c.at(x, s, cos)
}

// Ellipsoid is an ellipsoid of revolution, oblate or a sphere.
type Ellipsoid struct {
	A  float64 // semi-major axis in meters
	E2 float64 // squared eccentricity
}

// isometric returns the isometric latitude of a geodetic latitude.
func (e Ellipsoid) isometric(lat float64) float64 {
	sin, cos := sincos(lat)
	ecc := math.Sqrt(e.E2)
	return asinh(sin/cos) - float64(ecc*atanh(float64(ecc*sin)))
}

// conformal returns the conformal latitude of a geodetic latitude.
func (e Ellipsoid) conformal(lat float64) float64 {
	return atan2(sinh(e.isometric(lat)), 1)
}

// slope is dM/dphi/a, where M is the length of the meridian.
func (e Ellipsoid) slope(lat float64) float64 {
	sin, _ := sincos(lat)
	w := 1 - float64(e.E2*float64(sin*sin))
	return (1 - e.E2) / (w * math.Sqrt(w))
}

// q is the function of which the sine of the authalic latitude is q(lat)/q(Pi/2).
func (e Ellipsoid) q(sin float64) float64 {
	if e.E2 == 0 {
		return 2 * sin
	}
	ecc := math.Sqrt(e.E2)
	s := float64(ecc * sin)
	return float64((1 - e.E2) * (sin/(1-float64(s*s)) + atanh(s)/ecc))
}

func (e Ellipsoid) authalic(lat float64) float64 {
	sin, _ := sincos(lat)
	return asin(e.q(sin) / e.q(1))
}

// points is the number of points in a quarter of the meridian. Coefficients fall by a factor of 1000 from one
// to the next, so aliases of the first six are far below the rounding error.
const points = 32

// fit returns the series of f, by the midpoint rule.
func fit(f func(x float64) float64) Series {
	var c Series
	for j := range points {
		x := float64((float64(j) + 0.5) * (math.Pi / (2 * points)))
		d := f(x) - x
		for k := range c {
			s, _ := sincos(float64(2*(k+1)) * x)
			c[k] = fma(d*(2.0/points), s, c[k])
		}
	}
	return c
}

// invert solves f(x) = y by iterating x += y - f(x), since f is nearly the identity.
func invert(f func(x float64) float64, y float64) float64 {
	x := y
	for range 12 {
		x += y - f(x)
	}
	return x
}

// both returns the series of a latitude and of its inverse.
func both(f func(lat float64) float64) (to, from Series) {
	return fit(f), fit(func(y float64) float64 { return invert(f, y) })
}

// rectifying returns the series of the rectifying latitude, and the rectifying radius divided by the
// semi-major axis.
func (e Ellipsoid) rectifying() (to Series, radius float64) {
	for j := range points {
		x := float64((float64(j) + 0.5) * (math.Pi / (2 * points)))
		d := e.slope(x)
		radius += d / points
		for k := range to {
			_, c := sincos(float64(2*(k+1)) * x)
			to[k] = fma(d*(2.0/points), c/float64(2*(k+1)), to[k])
		}
	}
	for k := range to {
		to[k] /= radius
	}
	return to, radius
}

// Latitudes are the series that projections use, to and from an auxiliary latitude.
type Latitudes struct{ To, From Series }

func (e Ellipsoid) conformals() Latitudes {
	to, from := both(e.conformal)
	return Latitudes{to, from}
}

func (e Ellipsoid) authalics() Latitudes {
	to, from := both(e.authalic)
	return Latitudes{to, from}
}

func (e Ellipsoid) rectifyings() (l Latitudes, radius float64) {
	l.To, radius = e.rectifying()
	l.From = fit(func(y float64) float64 { return invert(l.To.of, y) })
	return l, radius
}
