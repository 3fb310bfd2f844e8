package projection

import "math"

// K: radius factor, 1 for the north pole and -1 for the south pole.
func (p *Projection) polar(dlon, s, c float64) (x, y float64) {
	sign := p.K[1]
	rho := float64(p.K[0] * half(float64(sign*s), c))
	sl, cl := sincos(dlon)
	return float64(rho * sl), float64(-sign * rho * cl)
}

func (p *Projection) polarInverse(x, y float64) (dlon, aux float64) {
	sign := p.K[1]
	rho := hypot(x, y)
	return atan2(x, float64(-sign*y)), float64(sign * (halfPi - 2*atan2(rho/p.K[0], 1)))
}

// point turns a point of the unit sphere from the frame of a center, with its sine and cosine of latitude, to longitude
// and latitude. Coordinates point to the center, to the east and to the north.
func point(up, east, north, s0, c0 float64) (dlon, lat float64) {
	equator := fma(up, c0, float64(-north*s0))
	return atan2(east, equator), atan2(fma(up, s0, float64(north*c0)), hypot(equator, east))
}

// gauss turns a conformal latitude to that of the Gauss sphere: sine and cosine.
func (p *Projection) gauss(s, c float64) (s2, c2 float64) {
	t := sinh(fma(p.K[3], asinh(s/c), p.K[4]))
	if math.Abs(t) > 1e100 {
		return math.Copysign(1, t), 0
	}
	c2 = 1 / math.Sqrt(fma(t, t, 1))
	return float64(t * c2), c2
}

// degauss is the inverse of gauss, for angles.
func (p *Projection) degauss(lat float64) float64 {
	s, c := sincos(lat)
	return atan2(sinh((asinh(s/max(c, 0))-p.K[4])/p.K[3]), 1)
}

// K: diameter times scale, sine and cosine of the center's latitude; exponent and constant of the Gauss sphere.
func (p *Projection) stereographic(dlon, s, c float64) (x, y float64) {
	if p.Method == DoubleStereographic {
		s, c = p.gauss(s, c)
		dlon = float64(dlon * p.K[3])
	}
	s0, c0 := p.K[1], p.K[2]
	sl, cl := sincos(dlon)
	n := float64(c * cl)
	b := 1 + fma(s0, s, float64(c0*n))
	if !(b > 1e-10) {
		return outside()
	}
	return p.K[0] * c * sl / b, p.K[0] * fma(c0, s, float64(-s0*n)) / b
}

func (p *Projection) stereographicInverse(x, y float64) (dlon, aux float64) {
	x, y = x/p.K[0], y/p.K[0]
	z := fma(x, x, float64(y*y))
	d := 1 + z
	dlon, aux = point((1-z)/d, 2*x/d, 2*y/d, p.K[1], p.K[2])
	if p.Method == DoubleStereographic {
		return dlon / p.K[3], p.degauss(aux)
	}
	return dlon, aux
}

// K: authalic radius, sine and cosine of the center's latitude, ratio of scales.
func (p *Projection) azimuthal(dlon, s, c float64) (x, y float64) {
	s0, c0 := p.K[1], p.K[2]
	sl, cl := sincos(dlon)
	n := float64(c * cl)
	b := 1 + fma(s0, s, float64(c0*n))
	if !(b > 1e-10) {
		return outside()
	}
	b = float64(p.K[0] * math.Sqrt(2/b))
	return float64(b * p.K[3] * c * sl), float64(b / p.K[3] * fma(c0, s, float64(-s0*n)))
}

func (p *Projection) azimuthalInverse(x, y float64) (dlon, aux float64) {
	x, y = x/(p.K[3]*p.K[0]), y*p.K[3]/p.K[0]
	z := fma(x, x, float64(y*y)) / 4 // squared sine of half the distance
	w := math.Sqrt(1 - z)            // NaN outside of the disk
	return point(1-2*z, float64(x*w), float64(y*w), p.K[1], p.K[2])
}
