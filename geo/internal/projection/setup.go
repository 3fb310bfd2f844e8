package projection

import "math"

// Parameters of a projection, in radians, meters and scale. Which ones count depends on the method.
type Parameters struct {
	Lon0, Lat0 float64 // natural origin, false origin or center
	Lat1, Lat2 float64 // standard parallels
	Scale      float64
	X0, Y0     float64 // false easting and northing
	Azimuth    float64 // of the initial line
	Grid       float64 // angle from the rectified to the skew grid
	Rotation   float64 // of the bearings of a conic projection
	Axis       float64 // co-latitude of the axis of an oblique cone
	Modified   bool    // the modified form of Krovak, the hyperbolic one of Cassini
	Center     bool    // X0 and Y0 are those of the center, not of the natural origin
}

func sin(x float64) float64 { s, _ := sincos(x); return s }
func cos(x float64) float64 { _, c := sincos(x); return c }

// parallel is the radius of a parallel divided by the semi-major axis.
func (e Ellipsoid) parallel(lat float64) float64 {
	s, c := sincos(lat)
	return c / math.Sqrt(1-float64(e.E2*float64(s*s)))
}

// Authalic returns the sphere that has the area of the ellipsoid.
func (e Ellipsoid) Authalic() Ellipsoid {
	return Ellipsoid{A: float64(e.A * math.Sqrt(e.q(1)/2))}
}

// New returns a projection. The caller has checked the parameters.
func New(m Method, e Ellipsoid, a Parameters) Projection {
	p := Projection{Method: m, E: e, Lon0: a.Lon0, X0: a.X0, Y0: a.Y0}
	setup[m](&p, a)
	return p
}

var setup = map[Method]func(p *Projection, a Parameters){
	Geographic: func(*Projection, Parameters) {},
	Geocentric: func(*Projection, Parameters) {},
	// Scale is that of the equator, or Lat1 the parallel of true scale.
	Mercator: func(p *Projection, a Parameters) {
		p.Latitude = p.E.conformals()
		p.K[0] = float64(p.E.A * a.Scale * p.E.parallel(a.Lat1))
	},
	TransverseMercator: func(p *Projection, a Parameters) {
		p.Latitude = p.E.conformals()
		meridian, radius := p.E.rectifying()
		// The series between the conformal and the rectifying latitude, which hold for complex arguments too.
		p.Plane.To = fit(func(y float64) float64 { return meridian.of(invert(p.E.conformal, y)) })
		p.Plane.From = fit(func(y float64) float64 { return p.E.conformal(invert(meridian.of, y)) })
		if p.E.E2 == 0 {
			p.Plane = Latitudes{} // exactly, because points may be far away
		}
		p.K[0] = float64(p.E.A * radius * a.Scale)
		p.K[1] = float64(p.K[0] * meridian.of(a.Lat0))
	},
	Conic: setupConic,
	Albers: func(p *Projection, a Parameters) {
		p.Latitude = p.E.authalics()
		m1, m2 := p.E.parallel(a.Lat1), p.E.parallel(a.Lat2)
		q1, q2 := p.E.q(sin(a.Lat1)), p.E.q(sin(a.Lat2))
		n := sin(a.Lat1)
		if math.Abs(a.Lat1-a.Lat2) > 1e-10 {
			n = (m1 - m2) * (m1 + m2) / (q2 - q1)
		}
		c := fma(m1, m1, n*q1)
		p.K = [12]float64{n, c, p.E.A * math.Sqrt(c-float64(n*p.E.q(sin(a.Lat0)))) / n, p.E.A / n, p.E.q(1)}
	},
	PolarStereographic: func(p *Projection, a Parameters) {
		p.Latitude = p.E.conformals()
		p.K[1] = math.Copysign(1, a.Lat0)
		if lat := math.Abs(a.Lat1); math.Abs(lat-halfPi) > 1e-10 {
			s, c := sincos(p.E.conformal(lat))
			p.K[0] = p.E.A * p.E.parallel(lat) / half(s, c)
		} else {
			// The limit of the above at the pole.
			ecc := math.Sqrt(p.E.E2)
			p.K[0] = float64(2 * p.E.A * a.Scale / math.Sqrt(1-p.E.E2) * exp(-ecc*atanh(ecc)))
		}
	},
	Stereographic: func(p *Projection, a Parameters) {
		p.Latitude = p.E.conformals()
		s, c := sincos(p.E.conformal(a.Lat0))
		p.K = [12]float64{2 * p.E.A * a.Scale * p.E.parallel(a.Lat0) / c, s, c}
	},
	DoubleStereographic: func(p *Projection, a Parameters) {
		p.Latitude = p.E.conformals()
		radius, sg, cg, n, constant := p.E.gaussSphere(a.Lat0)
		p.K = [12]float64{0: float64(2 * radius * a.Scale), 1: sg, 2: cg, 10: n, 11: constant}
		if math.Abs(a.Lat0) > halfPi-1e-10 {
			ecc := math.Sqrt(p.E.E2)
			p.K[1], p.K[2], p.K[11] = math.Copysign(1, a.Lat0), 0, math.Copysign(float64(ecc*atanh(ecc)), a.Lat0)
		}
	},
	AzimuthalEqualArea: func(p *Projection, a Parameters) {
		p.Latitude = p.E.authalics()
		radius := float64(p.E.A * math.Sqrt(p.E.q(1)/2))
		s, c, d := math.Copysign(1, a.Lat0), 0.0, 1.0
		if math.Abs(math.Abs(a.Lat0)-halfPi) > 1e-10 {
			s, c = sincos(p.E.authalic(a.Lat0))
			d = p.E.A * p.E.parallel(a.Lat0) / (radius * c)
		}
		p.K = [12]float64{radius, s, c, d}
	},
	CylindricalEqualArea: func(p *Projection, a Parameters) {
		p.Latitude = p.E.authalics()
		k := float64(a.Scale * p.E.parallel(a.Lat1))
		p.K = [12]float64{float64(p.E.A * k), p.E.A * p.E.q(1) / (2 * k)}
	},
	Cylindrical: func(p *Projection, a Parameters) {
		var radius float64
		p.Latitude, radius = p.E.rectifyings()
		p.K = [12]float64{float64(p.E.A * p.E.parallel(a.Lat1)), float64(p.E.A * radius)}
		p.Y0 -= float64(p.K[1] * p.Latitude.To.of(a.Lat0))
	},
	Sinusoidal: func(p *Projection, a Parameters) {
		var radius float64
		p.Latitude, radius = p.E.rectifyings()
		p.K = [12]float64{p.E.A, float64(p.E.A * radius)}
	},
	Mollweide: func(p *Projection, a Parameters) {
		p.K = [12]float64{p.E.A * 2 * math.Sqrt2 / math.Pi, float64(p.E.A * math.Sqrt2)}
	},
	EqualEarth: func(p *Projection, a Parameters) {
		p.Latitude = p.E.authalics()
		p.K[0] = float64(p.E.A * math.Sqrt(p.E.q(1)/2))
	},
	ObliqueMercator: setupOblique,
	// Lat1 is the pseudo standard parallel.
	Krovak: func(p *Projection, a Parameters) {
		p.Latitude = p.E.conformals()
		radius, _, _, n, constant := p.E.gaussSphere(a.Lat0)
		s, c := sincos(a.Lat1)
		ad, cd := sincos(a.Axis)
		p.K = [12]float64{0: s, 1: float64(radius * a.Scale * c / s * exp(-s*log(half(s, c)))), 4: cd, 5: ad, 10: n, 11: constant}
		if a.Modified {
			p.K[6] = 1
		}
	},
	NearConformal: func(p *Projection, a Parameters) {
		p.meridians(a.Lat0)
		s, c := sincos(a.Lat0)
		n, m := p.E.radii(s)
		p.K[2], p.K[3], p.K[4], p.K[5] = n*c/s, s, 1/(6*n*m), a.Scale
	},
	EquidistantConic: func(p *Projection, a Parameters) {
		p.meridians(a.Lat0)
		n := sin(a.Lat1)
		m1 := float64(p.E.A * p.E.parallel(a.Lat1))
		at := func(lat float64) float64 { return float64(p.K[0] * p.Latitude.To.of(lat)) }
		if math.Abs(a.Lat1-a.Lat2) > 1e-10 {
			n = (m1 - float64(p.E.A*p.E.parallel(a.Lat2))) / (at(a.Lat2) - at(a.Lat1))
		}
		p.K[2], p.K[3], p.K[5] = at(a.Lat1)+m1/n-p.K[1], n, 1
	},
	Cassini: func(p *Projection, a Parameters) {
		p.meridians(a.Lat0)
		if a.Modified {
			p.K[2] = 1
		}
		if p.E.E2 == 0 {
			p.Method, p.K = CassiniSphere, [12]float64{p.E.A, 0, 1, p.K[1]}
		}
	},
	Polyconic: func(p *Projection, a Parameters) { p.meridians(a.Lat0) },
	Bonne: func(p *Projection, a Parameters) {
		p.meridians(a.Lat0)
		s, c := sincos(a.Lat0)
		n, _ := p.E.radii(s)
		p.K[2], p.K[3], p.K[5] = n*c/s, math.Copysign(1, a.Lat0), 1
		if math.Abs(a.Lat0) > halfPi-1e-10 {
			p.K[2] = 0
		}
	},
	NewZealand: func(p *Projection, a Parameters) { p.K[0] = a.Lat0 },
	AzimuthalEquidistant: func(p *Projection, a Parameters) {
		r := math.Sqrt(1 - p.E.E2)
		s, c := sincos(a.Lat0)
		s = float64(s * r)
		d := hypot(s, c)
		p.K = [12]float64{s / d, c / d, float64(p.E.A * r), p.E.E2 / (1 + r)}
		if math.Abs(a.Lat0) > halfPi-1e-10 {
			p.K[0], p.K[1] = math.Copysign(1, a.Lat0), 0
		}
	},
	Orthographic: func(p *Projection, a Parameters) {
		s, c := sincos(a.Lat0)
		if math.Abs(a.Lat0) > halfPi-1e-10 {
			s, c = math.Copysign(1, a.Lat0), 0
		}
		n, _ := p.E.radii(s)
		p.K = [12]float64{1: 0, 2: 1, 3: float64(p.E.E2 * n * s), 4: s, 5: c, 6: n}
	},
}

// meridians sets what projections with lengths of meridians have in common.
func (p *Projection) meridians(origin float64) {
	var radius float64
	p.Latitude, radius = p.E.rectifyings()
	p.K[0] = float64(p.E.A * radius)
	p.K[1] = float64(p.K[0] * p.Latitude.To.of(origin))
}

// gaussSphere returns the radius of the Gauss sphere of a latitude, the sine and cosine of the latitude on it, and the
// exponent and the constant between the isometric latitudes.
func (e Ellipsoid) gaussSphere(lat float64) (radius, sg, cg, n, constant float64) {
	s, c := sincos(lat)
	w := 1 - float64(e.E2*float64(s*s))
	radius = e.A * math.Sqrt(1-e.E2) / w // geometric mean of the radii of curvature
	c2 := float64(c * c)
	n = math.Sqrt(1 + e.E2*float64(c2*c2)/(1-e.E2))
	sg, cg = sincos(asin(s / n))
	return radius, sg, cg, n, asinh(sg/cg) - float64(n*e.isometric(lat))
}

// setupConic takes one standard parallel with a scale (Lat1 equal to Lat2) or two.
func setupConic(p *Projection, a Parameters) {
	p.Latitude = p.E.conformals()
	t := func(lat float64) float64 {
		if math.Abs(lat) > halfPi-1e-10 {
			return float64(math.Inf(1) * -lat) // log(half)
		}
		return -p.E.isometric(lat)
	}
	n := sin(a.Lat1)
	m1 := p.E.parallel(a.Lat1)
	if math.Abs(a.Lat1-a.Lat2) > 1e-10 {
		n = (log(m1) - log(p.E.parallel(a.Lat2))) / (t(a.Lat1) - t(a.Lat2))
	}
	k := float64(p.E.A * a.Scale * m1 / n * exp(-n*t(a.Lat1)))
	p.K = [12]float64{n, k, float64(k * exp(n*t(a.Lat0))), a.Rotation}
}

// setupOblique follows IOGP 373-7-2, section 3.2.4, in terms of the conformal latitude.
func setupOblique(p *Projection, a Parameters) {
	p.Latitude = p.E.conformals()
	e2 := p.E.E2
	s, c := sincos(a.Lat0)
	c2 := float64(c * c)
	b := math.Sqrt(1 + e2*float64(c2*c2)/(1-e2))
	w := 1 - float64(e2*float64(s*s))
	radius := p.E.A * b * a.Scale * math.Sqrt(1-e2) / w
	d := b * math.Sqrt(1-e2) / (c * math.Sqrt(w))
	root := math.Copysign(math.Sqrt(max(float64(d*d)-1, 0)), a.Lat0)
	f := d + root
	h := float64(f * exp(-b*p.E.isometric(a.Lat0)))
	sg := sin(a.Azimuth) / d
	gamma := asin(sg)
	cg := cos(gamma)
	// The longitude where the initial line crosses the equator, and the distance from there, without the arc sines
	// of the standard, which are inaccurate for an azimuth of 90 degrees.
	sa, ca := sincos(a.Azimuth)
	lon := a.Lon0 - atan2(float64(root*sa), float64(d*math.Abs(ca)))/b
	var u float64
	if a.Center {
		u = math.Copysign(radius/b*atan2(math.Abs(root), math.Abs(ca)), a.Lat0)
	}
	p.K = [12]float64{b, radius, h, sg, cg, sin(a.Grid), cos(a.Grid), u}
	p.Lon0 = lon
}
