package projection

import "math"

// half returns the tangent of half the distance from the north pole.
func half(s, c float64) float64 {
	if s < 0 {
		return (1 - s) / c
	}
	return c / (1 + s)
}

// K: cone constant, radius factor, radius of the origin, rotation.
func (p *Projection) conic(dlon, s, c float64) (x, y float64) {
	n := p.K[0]
	if c < 1e-16 {
		c = 0 // the pole is a point, also of a cone that is nearly a cylinder
	}
	rho := float64(p.K[1] * exp(n*log(half(s, c))))
	st, ct := sincos(fma(n, dlon, -p.K[3]))
	return float64(rho * st), fma(-rho, ct, p.K[2])
}

func (p *Projection) conicInverse(x, y float64) (dlon, aux float64) {
	n := p.K[0]
	sign := math.Copysign(1, n)
	y = p.K[2] - y
	rho := hypot(x, y)
	dlon = (atan2(float64(sign*x), float64(sign*y)) + p.K[3]) / n
	return dlon, halfPi - 2*atan2(exp(log(rho/math.Abs(p.K[1]))/n), 1)
}

// K: cone constant, C, radius of the origin, A divided by the cone constant, q of the pole.
func (p *Projection) albers(dlon, s float64) (x, y float64) {
	n := p.K[0]
	w := fma(-float64(n*p.K[4]), s, p.K[1])
	if w < 0 && w > -1e-12 {
		w = 0
	}
	rho := float64(p.K[3] * math.Sqrt(w))
	st, ct := sincos(n * dlon)
	return float64(rho * st), fma(-rho, ct, p.K[2])
}

func (p *Projection) albersInverse(x, y float64) (dlon, aux float64) {
	n := p.K[0]
	sign := math.Copysign(1, n)
	y = p.K[2] - y
	rho := hypot(x, y) / p.K[3]
	s := fma(-rho, rho, p.K[1]) / (n * p.K[4])
	return atan2(float64(sign*x), float64(sign*y)) / n, asin(clip(s))
}

// clip removes a rounding error beyond 1.
func clip(s float64) float64 {
	if math.Abs(s) > 1 && math.Abs(s) < 1+1e-9 {
		return math.Copysign(1, s)
	}
	return s
}
