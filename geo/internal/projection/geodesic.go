package projection

import "math"

// The azimuthal equidistant projection of the ellipsoid, by Vincenty's formulas (Survey Review, 1975) with Helmert's
// expansion: within 0.1 mm. K: sine and cosine of the center's parametric latitude, semi-minor axis, flattening.

// arc has the terms of a geodesic: A and B are those of its length, c that of longitudes.
type arc struct{ sinAlpha, cos2, a, b, c float64 }

func (p *Projection) arc(sinAlpha float64) arc {
	f := p.K[3]
	cos2 := max(1-float64(sinAlpha*sinAlpha), 0)
	root := math.Sqrt(1 + p.E.E2*cos2/(1-p.E.E2))
	k := (root - 1) / (root + 1)
	k2 := float64(k * k)
	return arc{sinAlpha, cos2, (1 + float64(k2*fma(k2, 1./64, 0.25))) / (1 - k), float64(k * (1 - float64(0.375*k2))),
		float64(f * (1. / 16) * cos2 * (4 + float64(f*(4-float64(3*cos2)))))}
}

// bend returns the difference between the arcs on the sphere and on the ellipsoid. m is the cosine of twice the middle.
func (g *arc) bend(s, c, m float64) float64 {
	m2 := fma(2*m, m, -1)
	third := float64(g.b * (1. / 6) * m * float64((4*float64(s*s)-3)*(4*float64(m*m)-3)))
	return float64(g.b * s * (m + float64(0.25*g.b*(float64(c*m2)-third))))
}

// turn returns how much less the longitude is than that on the sphere.
func (p *Projection) turn(g *arc, sigma, s, c, m float64) float64 {
	return float64((1 - g.c) * p.K[3] * g.sinAlpha * (sigma + float64(g.c*s*(m+float64(g.c*c*fma(2*m, m, -1))))))
}

func (p *Projection) equidistant(dlon, s, c float64) (x, y float64) {
	s = float64(s * (1 - p.K[3]))
	d := hypot(s, c)
	s, c = s/d, c/d
	s1, c1 := p.K[0], p.K[1]
	lon := dlon
	var east, north, sin, cos, sigma, m float64
	var g arc
	for range 60 {
		sl, cl := sincos(lon)
		east, north = float64(c*sl), fma(c1, s, float64(-s1*c*cl))
		sin, cos = hypot(east, north), fma(s1, s, float64(c1*c*cl))
		if sin < 1e-15 {
			if cos < 0 {
				return outside() // the antipode is a circle
			}
			return 0, 0
		}
		sigma = atan2(sin, cos)
		g = p.arc(c1 * east / sin)
		m = 0
		if g.cos2 > 1e-15 {
			m = cos - 2*s1*s/g.cos2
		}
		next := dlon + p.turn(&g, sigma, sin, cos, m)
		change := math.Abs(next - lon)
		lon = next
		if change < 1e-15 {
			break
		}
		if !(math.Abs(lon) < 3.3) {
			return outside()
		}
	}
	length := p.K[2] * g.a * (sigma - g.bend(sin, cos, m)) / sin
	return float64(length * east), float64(length * north)
}

func (p *Projection) equidistantInverse(x, y float64) (dlon, lat float64) {
	length := hypot(x, y)
	s1, c1 := p.K[0], p.K[1]
	sa, ca := 0.0, 1.0
	if length > float64(1e-12*p.E.A) {
		sa, ca = x/length, y/length
	}
	g := p.arc(float64(c1 * sa))
	// Twice the arc from the node to the center.
	n := float64(c1 * ca)
	h := max(fma(s1, s1, float64(n*n)), 1e-300) // 0 along the equator, where it does not count
	first, node := (n-s1)*(n+s1)/h, 2*s1*n/h
	straight := length / (p.K[2] * g.a)
	sigma := straight
	var s, c, m float64
	for range 14 {
		s, c = sincos(min(sigma, 4))
		m = fma(first, c, float64(-node*s))
		sigma = straight + g.bend(s, c, m)
	}
	if sigma > math.Pi+1e-12 {
		return outside()
	}
	north := fma(s1, s, float64(-n*c))
	lat = atan2(fma(s1, c, float64(n*s)), float64((1-p.K[3])*hypot(g.sinAlpha, north)))
	dlon = atan2(float64(s*sa), fma(c1, c, float64(-s1*s*ca)))
	return wrap(dlon - p.turn(&g, sigma, s, c, m)), lat
}
