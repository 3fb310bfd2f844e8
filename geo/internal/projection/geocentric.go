package projection

import "math"

// Geocentric returns the Cartesian coordinates of a point, in meters.
func (e *Ellipsoid) Geocentric(lon, lat, h float64) (x, y, z float64) {
	sl, cl := sincos(lon)
	s, c := sincos(lat)
	n := e.A / math.Sqrt(1-float64(e.E2*float64(s*s)))
	r := float64((n + h) * c)
	return float64(r * cl), float64(r * sl), float64(fma(1-e.E2, n, h) * s)
}

// Geodetic is the inverse of Geocentric: three steps of Bowring's iteration, which are exact to the rounding error from
// the core to the Moon.
func (e *Ellipsoid) Geodetic(x, y, z float64) (lon, lat, h float64) {
	p := hypot(x, y)
	r := math.Sqrt(1 - e.E2) // semi-minor axis divided by semi-major axis
	ep := float64(e.E2 * e.A)
	su, cu := z, float64(p*r)
	for range 3 {
		d := hypot(su, cu)
		if d > 0 {
			su, cu = su/d, cu/d
		}
		// Sine and cosine of the geodetic latitude, not normalized; then those of the parametric one.
		s, c := fma(ep/r, su*su*su, z), fma(-ep, cu*cu*cu, p)
		su, cu = float64(s*r), c
		lat = atan2(s, c)
	}
	s, c := sincos(lat)
	h = fma(p, c, float64(z*s)) - float64(e.A*math.Sqrt(1-float64(e.E2*float64(s*s))))
	return atan2(y, x), lat, h
}
