package projection

import "math"

// Method is a map projection, without its parameters.
type Method int

const (
	Geographic Method = iota // longitude and latitude
	Geocentric               // Cartesian coordinates from the center of the Earth
	Mercator
	TransverseMercator
	Conic // Lambert conformal conic
	Albers
	PolarStereographic
	Stereographic
	DoubleStereographic // of the Gauss sphere, which EPSG calls oblique stereographic
	AzimuthalEqualArea
	CylindricalEqualArea
	Cylindrical // equidistant cylindrical
	Sinusoidal
	Mollweide
	EqualEarth
	ObliqueMercator
	Krovak
	NearConformal // Lambert conic near-conformal
	EquidistantConic
	Bonne
	CassiniSphere // which New makes of Cassini
	Orthographic
	// The inverses of the following have no auxiliary latitude.
	Cassini
	Polyconic
	NewZealand
	AzimuthalEquidistant
)

// Projection is a projection with all its constants, ready for [Projection.Forward] and
// [Projection.Inverse]. What K means is the method's matter. The series lead to the auxiliary latitude and
// back; those of Plane belong to transverse Mercator.
type Projection struct {
	Method   Method
	E        Ellipsoid
	Lon0     float64 // central meridian in radians
	X0, Y0   float64 // false easting and northing in meters
	K        [12]float64
	Latitude Latitudes
	Plane    Latitudes
}

// domain is how far beyond a pole a latitude may be because of rounding.
const domain = halfPi + 1e-10

func outside() (x, y float64) { return math.NaN(), math.NaN() }

// Forward returns the easting and northing in meters of a longitude and latitude in radians.
func (p *Projection) Forward(lon, lat float64) (x, y float64) {
	if !(math.Abs(lat) <= domain) || !(math.Abs(lon) < 1e4) {
		return outside()
	}
	lat = min(max(lat, -halfPi), halfPi)
	dlon := wrap(lon - p.Lon0)
	sin, cos := sincos(lat)
	aux := p.Latitude.To.at(lat, sin, cos)
	s, c := sincos(aux)
	c = max(c, 0) // rounding at the poles
	if p.Method == DoubleStereographic || p.Method == Krovak {
		s, c = p.gauss(s, c)
		dlon = float64(dlon * p.K[10])
	}
	if p.Method == Krovak {
		dlon, s, c = p.turned(dlon, s, c)
	}
	// The angle whose sine and cosine the method needs. There is one call, because kernels have a copy of each.
	angle, turns := dlon, true
	switch p.Method {
	case Mercator, CylindricalEqualArea, Cylindrical, Sinusoidal, Mollweide, EqualEarth, Cassini, NewZealand, AzimuthalEquidistant:
		turns = false
	case Conic, Krovak:
		angle = fma(p.K[0], dlon, -p.K[3])
	case Albers, ObliqueMercator:
		angle = float64(p.K[0] * dlon)
	case NearConformal, EquidistantConic:
		angle = float64(p.K[3] * dlon)
	case Bonne:
		angle = p.bonneAngle(dlon, aux, sin, cos)
	case Polyconic:
		angle = float64(dlon*sin) / 2
	}
	sl, cl := 0.0, 1.0
	if turns {
		sl, cl = sincos(angle)
	}
	var power float64 // of the tangent of half the distance from the pole
	switch p.Method {
	case Conic, Krovak, ObliqueMercator:
		power = p.power(s, c)
	}
	switch p.Method {
	case Mercator:
		x, y = p.mercator(dlon, s, c)
	case TransverseMercator:
		x, y = p.transverse(sl, cl, s, c)
	case Conic, Krovak:
		x, y = p.conic(sl, cl, power)
	case Albers:
		x, y = p.albers(sl, cl, s)
	case PolarStereographic:
		x, y = p.polar(sl, cl, s, c)
	case Stereographic, DoubleStereographic:
		x, y = p.stereographic(sl, cl, s, c)
	case AzimuthalEqualArea:
		x, y = p.azimuthal(sl, cl, s, c)
	case CylindricalEqualArea:
		x, y = float64(p.K[0]*dlon), float64(p.K[1]*s)
	case Cylindrical:
		x, y = float64(p.K[0]*dlon), float64(p.K[1]*aux)
	case Sinusoidal:
		w := float64(p.E.E2 * float64(sin*sin))
		x, y = p.E.A*dlon*cos/math.Sqrt(1-w), float64(p.K[1]*aux)
	case Mollweide:
		x, y = p.mollweide(dlon, s, c)
	case EqualEarth:
		x, y = p.equalEarth(dlon, s)
	case ObliqueMercator:
		x, y = p.oblique(sl, cl, power)
	case NearConformal, EquidistantConic, Bonne:
		x, y = p.arcs(sl, cl, aux)
	case CassiniSphere:
		x, y = p.cassiniSphere(sl, cl, s, c)
	case Cassini:
		x, y = p.cassini(dlon, aux, sin, cos)
	case Polyconic:
		x, y = p.polyconic(dlon, sl, cl, aux, sin, cos)
	case NewZealand:
		x, y = p.zealand(dlon, lat)
	case AzimuthalEquidistant:
		x, y = p.equidistant(dlon, sin, cos)
	case Orthographic:
		x, y = p.orthographic(sl, cl, sin, cos)
	}
	if p.Method == Krovak {
		dx, dy := p.krovakShift(x, y)
		x, y = x+dx, y+dy
	}
	x, y = x+p.X0, y+p.Y0
	if !(math.Abs(x) < 1e12 && math.Abs(y) < 1e12) {
		return outside()
	}
	return x, y
}

// Inverse returns the longitude and latitude in radians of an easting and northing in meters.
func (p *Projection) Inverse(x, y float64) (lon, lat float64) {
	if !(math.Abs(x) < 1e12 && math.Abs(y) < 1e12) {
		return outside()
	}
	x, y = x-p.X0, y-p.Y0
	if p.Method == Krovak {
		dx, dy := p.krovakShift(x, y)
		x, y = x-dx, y-dy
	}
	// Directions, tangents and sines that several methods turn to angles in the same way; see below.
	var aux, up, east, north, t, sine float64
	switch p.Method {
	case Mercator:
		lon = x / p.K[0]
	case TransverseMercator:
		up, east, north = p.transverseInverse(x, y)
	case Conic, Krovak:
		east, north, t = p.conicInverse(x, y)
	case Albers:
		east, north, sine = p.albersInverse(x, y)
	case PolarStereographic:
		east, north, t = p.polarInverse(x, y)
	case Stereographic, DoubleStereographic:
		up, east, north = p.stereographicInverse(x, y)
	case AzimuthalEqualArea:
		up, east, north = p.azimuthalInverse(x, y)
	case CylindricalEqualArea:
		lon, sine = x/p.K[0], y/p.K[1]
	case Cylindrical, Sinusoidal:
		lon, aux = x/p.K[0], y/p.K[1]
	case Mollweide:
		lon, sine = p.mollweideInverse(x, y)
	case EqualEarth:
		lon, sine = p.equalEarthInverse(x, y)
	case ObliqueMercator:
		east, north, t = p.obliqueInverse(x, y)
	case NearConformal, EquidistantConic, Bonne:
		east, north, aux = p.arcsInverse(x, y)
	case CassiniSphere:
		up, east, north = p.cassiniSphereInverse(x, y)
	case Cassini:
		lon, lat = p.cassiniInverse(x, y)
	case Polyconic:
		lon, lat = p.polyconicInverse(x, y)
	case NewZealand:
		lon, lat = p.zealandInverse(x, y)
	case AzimuthalEquidistant:
		lon, lat = p.equidistantInverse(x, y)
	case Orthographic:
		up, east, north = p.orthographicInverse(x, y)
	}
	if p.Method >= Cassini {
		if !(math.Abs(lat) <= domain && math.Abs(lon) <= math.Pi+1e-9) {
			return outside()
		}
		return wrap(lon + p.Lon0), min(max(lat, -halfPi), halfPi)
	}
	switch p.Method {
	case Conic, Krovak, ObliqueMercator:
		t = exp(log(t) / p.K[0])
	}
	switch p.Method {
	case Conic, Krovak, PolarStereographic, ObliqueMercator:
		aux = halfPi - 2*atan2(t, 1)
	case Albers, CylindricalEqualArea, Mollweide, EqualEarth:
		aux = asin(sine)
	}
	switch p.Method {
	case Conic, Krovak, PolarStereographic, ObliqueMercator, Albers, NearConformal, EquidistantConic, Bonne:
		lon = atan2(east, north)
	}
	switch p.Method {
	case Conic, Krovak:
		lon = (lon + p.K[3]) / p.K[0]
	case Albers:
		lon /= p.K[0]
	case ObliqueMercator:
		lon /= -p.K[0]
	case PolarStereographic:
		aux = float64(aux * p.K[1])
	case NearConformal, EquidistantConic:
		lon /= p.K[3]
	case Bonne:
		lon = lon * p.rho(aux) / p.E.A
	}
	s0, c0 := p.K[1], p.K[2]
	if p.Method == TransverseMercator {
		s0, c0 = 0, 1
	}
	if p.Method == Krovak { // to the frame of the axis
		s, c := sincos(aux)
		sl, cl := sincos(lon)
		up, east, north = s, float64(c*sl), float64(-c*cl)
		s0, c0 = p.K[4], p.K[5]
	}
	switch p.Method {
	case Stereographic, DoubleStereographic, AzimuthalEqualArea, Krovak, CassiniSphere, TransverseMercator, Orthographic:
		lon, aux = point(up, east, north, s0, c0)
	}
	if p.Method == DoubleStereographic || p.Method == Krovak {
		lon = lon / p.K[10]
	}
	switch p.Method {
	case Mercator, DoubleStereographic, Krovak:
		aux = atan2(sinh(p.isometric(aux, y)), 1)
	}
	if !(math.Abs(aux) <= domain) {
		return outside()
	}
	sin, cos := sincos(aux)
	lat = min(max(p.Latitude.From.at(aux, sin, cos), -halfPi), halfPi)
	if p.Method == Sinusoidal || p.Method == Bonne {
		s, c := sincos(lat)
		if c < 1e-12 {
			lon = 0
		} else {
			lon = lon * math.Sqrt(1-float64(p.E.E2*float64(s*s))) / c
		}
	}
	if !(math.Abs(lon) <= math.Pi+1e-9) {
		return outside()
	}
	return wrap(lon + p.Lon0), lat
}
