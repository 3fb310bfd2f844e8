package projection

import "math"

// Projections that use the length of the meridian. K[0] is the rectifying radius, by which the rectifying latitude becomes a
// length, and K[1] the length from the equator to the origin.

// radii returns the radii of curvature in the prime vertical and in the meridian, given the sine of the latitude.
func (e *Ellipsoid) radii(s float64) (prime, meridian float64) {
	w := 1 - float64(e.E2*float64(s*s))
	prime = e.A / math.Sqrt(w)
	return prime, prime * (1 - e.E2) / w
}

// cassiniSphere is the exact projection of a sphere. K: radius, 0 and 1 for the frame of the equator, length to the origin.
func (p *Projection) cassiniSphere(sl, cl, s, c float64) (x, y float64) {
	return float64(p.K[0] * asin(float64(c*sl))), fma(p.K[0], atan2(s, float64(c*cl)), -p.K[3])
}

// cassiniSphereInverse returns the point of the unit sphere.
func (p *Projection) cassiniSphereInverse(x, y float64) (up, east, north float64) {
	sx, cx := sincos(x / p.K[0])
	sy, cy := sincos((y + p.K[3]) / p.K[0])
	return float64(cx * cy), sx, float64(cx * sy)
}

// cassini is the series of IOGP 373-7-2, section 3.2.2. K[2] is 1 for the hyperbolic form.
func (p *Projection) cassini(dlon, aux, s, c float64) (x, y float64) {
	n, m := p.E.radii(s)
	a := float64(dlon * c)
	a2, t, t2 := float64(a*a), s/c, float64(s/c*(s/c))
	d := p.E.E2 * float64(c*c) / (1 - p.E.E2)
	x = float64(n * a * (1 - float64(a2*t2*fma(a2*(1./120), 8-t2+float64(8*d), 1./6))))
	y = fma(p.K[0], aux, -p.K[1]) + float64(n*t*a2*fma(a2*(1./24), 5-t2+float64(6*d), 0.5))
	if p.K[2] != 0 {
		y -= y * y * y / (6 * m * n)
	}
	return x, y
}

// cassiniInverse is Newton's method, with the first terms of the derivatives.
func (p *Projection) cassiniInverse(x, y float64) (dlon, lat float64) {
	lat = min(max((p.K[1]+y)/p.K[0], -1.57), 1.57)
	for range 30 {
		s, c := sincos(lat)
		n, m := p.E.radii(s)
		u, v := p.cassini(dlon, p.Latitude.To.at(lat, s, c), s, c)
		u, v = x-u, y-v
		a := float64(dlon * c)
		east, turn := float64(n*c), float64(a*s)
		det := float64(east * (m + float64(m*turn*turn)))
		dlon, lat = dlon+(float64(u*m)+float64(v*m*turn/n*n))/det, lat+(float64(v*east)-float64(u*n*c*turn))/det
		if math.Abs(u)+math.Abs(v) < float64(1e-15*p.E.A) {
			break
		}
	}
	return dlon, lat
}

// polyconic is the American polyconic projection. sh and ch are the sine and cosine of half the angle on the parallel's circle.
func (p *Projection) polyconic(dlon, sh, ch, aux, s, c float64) (x, y float64) {
	n, _ := p.E.radii(s)
	nc := float64(n * c)
	y = fma(p.K[0], aux, -p.K[1])
	if math.Abs(s) < 1e-9 {
		return float64(nc * dlon), fma(nc*s, dlon*dlon/2, y)
	}
	return nc * (2 * sh * ch) / s, fma(nc/s, 2*float64(sh*sh), y)
}

func (p *Projection) polyconicInverse(x, y float64) (dlon, lat float64) {
	y += p.K[1]
	if math.Abs(y) < float64(1e-9*p.E.A) {
		dlon = x / p.E.A
		return dlon, y / p.E.A / (1 - p.E.E2 + float64(dlon*dlon*0.5))
	}
	a, b := y/p.E.A, x/p.E.A
	// A point of a parallel has a distance of n cot(lat) from its center, which is n cot(lat) above the meridian's point.
	b = fma(a, a, float64(b*b))
	lat = y / p.K[0]
	var sin, t float64
	for range 20 {
		s, c := sincos(lat)
		w := math.Sqrt(1 - float64(p.E.E2*float64(s*s)))
		sin, t = s, w*s/c // n cot(lat) is 1/t times A
		m := p.K[0] * p.Latitude.To.at(lat, s, c) / p.E.A
		slope := (1 - p.E.E2) / (w * w * w)
		q := fma(m, m, b)
		f := float64(a*fma(t, m, 1)) - m - float64(t*q/2)
		// The derivative by the latitude.
		dt := w/(c*c) - p.E.E2*float64(s*s)/w
		df := float64(a*fma(dt, m, float64(t*slope))) - slope - float64(dt*q/2) - float64(t*m*slope)
		step := f / df
		lat -= min(max(step, -0.5), 0.5)
		if math.Abs(step) < 1e-15 {
			break
		}
	}
	return asin(clip(float64(x*t)/p.E.A)) / sin, lat
}

// arcs has parallels that are arcs of circles, with radii that follow from the length of the meridian: the equidistant conic
// projection, Bonne's, and Lambert's near-conformal conic one. K[2] is the radius of the origin's parallel, K[3] the cone
// constant (of Bonne 1, or -1 in the south), K[4] the coefficient of the cubic term of radii, K[5] the scale.
func (p *Projection) arcs(st, ct, aux float64) (x, y float64) {
	rho := p.rho(aux)
	return float64(p.K[5] * rho * st), float64(p.K[5] * fma(-rho, ct, p.K[2]))
}

// rho returns the radius of a parallel.
func (p *Projection) rho(aux float64) float64 {
	m := fma(p.K[0], aux, -p.K[1])
	return p.K[2] - float64(m*fma(float64(m*m), p.K[4], 1))
}

// bonneAngle is the angle on the circle of a parallel.
func (p *Projection) bonneAngle(dlon, aux, s, c float64) float64 {
	rho := p.rho(aux)
	if math.Abs(rho) < float64(1e-10*p.E.A) {
		return 0
	}
	n, _ := p.E.radii(s)
	return n * c * dlon / rho
}

// arcsInverse returns the point on the circle of the parallel.
func (p *Projection) arcsInverse(x, y float64) (east, north, aux float64) {
	sign := math.Copysign(1, p.K[3])
	x, y = x/p.K[5], p.K[2]-y/p.K[5]
	m := p.K[2] - float64(sign*hypot(x, y))
	arc := m
	for range 10 {
		a2 := float64(arc * arc)
		arc -= (float64(arc*fma(a2, p.K[4], 1)) - m) / fma(float64(3*a2), p.K[4], 1)
	}
	return float64(sign * x), float64(sign * y), (arc + p.K[1]) / p.K[0]
}
