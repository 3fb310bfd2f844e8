package projection

import "math"

// half returns the tangent of half the distance from the north pole.
func half(s, c float64) float64 {
	if s < 0 {
		return (1 - s) / c
	}
	return c / (1 + s)
}

// power returns the tangent of half the distance from the north pole, to the power of the cone constant.
func (p *Projection) power(s, c float64) float64 {
	if c < 1e-16 && p.Method != ObliqueMercator {
		c = 0 // the pole is a point, also of a cone that is nearly a cylinder
	}
	return exp(p.K[0] * log(half(s, c)))
}

// K: cone constant, radius factor, radius of the origin, rotation.
func (p *Projection) conic(st, ct, power float64) (x, y float64) {
	rho := float64(p.K[1] * power)
	return float64(rho * st), fma(-rho, ct, p.K[2])
}

// conicInverse returns the direction from the apex, and a power of the tangent of half the distance from the pole.
func (p *Projection) conicInverse(x, y float64) (east, north, t float64) {
	sign := math.Copysign(1, p.K[0])
	y = p.K[2] - y
	rho := hypot(x, y)
	return float64(sign * x), float64(sign * y), rho / math.Abs(p.K[1])
}

// K: cone constant, C, radius of the origin, A divided by the cone constant, q of the pole.
func (p *Projection) albers(st, ct, s float64) (x, y float64) {
	n := p.K[0]
	w := fma(-float64(n*p.K[4]), s, p.K[1])
	if w < 0 && w > -1e-12 {
		w = 0
	}
	rho := float64(p.K[3] * math.Sqrt(w))
	return float64(rho * st), fma(-rho, ct, p.K[2])
}

// albersInverse returns the direction from the apex, and the sine of the authalic latitude.
func (p *Projection) albersInverse(x, y float64) (east, north, s float64) {
	n := p.K[0]
	sign := math.Copysign(1, n)
	y = p.K[2] - y
	rho := hypot(x, y) / p.K[3]
	return float64(sign * x), float64(sign * y), clip(fma(-rho, rho, p.K[1]) / (n * p.K[4]))
}

// clip removes a rounding error beyond 1.
func clip(s float64) float64 {
	if math.Abs(s) > 1 && math.Abs(s) < 1+1e-9 {
		return math.Copysign(1, s)
	}
	return s
}
