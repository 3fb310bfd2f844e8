package projection

import "math"

// oblique is Hotine's oblique Mercator projection. K: B, A, H, sine and cosine of gamma0, sine and cosine of the
// rectified grid's angle, u of the center. Lon0 is where the initial line crosses the equator of the aposphere.
func (p *Projection) oblique(sl, cl, power float64) (x, y float64) {
	b := p.K[0]
	q := p.K[2] / power
	sh, ch := 0.5*(q-1/q), 0.5*(q+1/q)
	w := fma(-sl, p.K[4], float64(sh*p.K[3])) / ch
	if !(math.Abs(w) < 1) {
		return outside()
	}
	v := p.K[1] * log((1-w)/(1+w)) / (2 * b)
	u := p.K[1] * atan2(fma(sh, p.K[4], float64(sl*p.K[3])), cl) / b
	u -= p.K[7]
	return fma(v, p.K[6], float64(u*p.K[5])), fma(u, p.K[6], float64(-v*p.K[5]))
}

// obliqueInverse returns the direction from the pole of the aposphere, and a power of the tangent of half the distance from the Earth's.
func (p *Projection) obliqueInverse(x, y float64) (east, north, t float64) {
	b := p.K[0]
	v := fma(x, p.K[6], float64(-y*p.K[5]))
	u := fma(y, p.K[6], float64(x*p.K[5])) + p.K[7]
	q := exp(-b * v / p.K[1])
	sh, ch := 0.5*(q-1/q), 0.5*(q+1/q)
	su, cu := sincos(b * u / p.K[1])
	w := fma(su, p.K[4], float64(sh*p.K[3])) / ch
	return fma(sh, p.K[4], float64(-su*p.K[3])), cu, p.K[2] / math.Sqrt((1+w)/(1-w))
}
