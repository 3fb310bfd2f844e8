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
	switch p.Method {
	case Mercator:
		x, y = p.mercator(dlon, s, c)
	case TransverseMercator:
		x, y = p.transverse(dlon, s, c)
	case Conic:
		x, y = p.conic(dlon, s, c)
	case Albers:
		x, y = p.albers(dlon, s)
	case PolarStereographic:
		x, y = p.polar(dlon, s, c)
	case Stereographic, DoubleStereographic:
		x, y = p.stereographic(dlon, s, c)
	case AzimuthalEqualArea:
		x, y = p.azimuthal(dlon, s, c)
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
		x, y = p.oblique(dlon, s, c)
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
	var aux float64
	switch p.Method {
	case Mercator:
		lon, aux = p.mercatorInverse(x, y)
	case TransverseMercator:
		lon, aux = p.transverseInverse(x, y)
	case Conic:
		lon, aux = p.conicInverse(x, y)
	case Albers:
		lon, aux = p.albersInverse(x, y)
	case PolarStereographic:
		lon, aux = p.polarInverse(x, y)
	case Stereographic, DoubleStereographic:
		lon, aux = p.stereographicInverse(x, y)
	case AzimuthalEqualArea:
		lon, aux = p.azimuthalInverse(x, y)
	case CylindricalEqualArea:
		lon, aux = x/p.K[0], asin(y/p.K[1])
	case Cylindrical, Sinusoidal:
		lon, aux = x/p.K[0], y/p.K[1]
	case Mollweide:
		lon, aux = p.mollweideInverse(x, y)
	case EqualEarth:
		lon, aux = p.equalEarthInverse(x, y)
	case ObliqueMercator:
		lon, aux = p.obliqueInverse(x, y)
	}
	if !(math.Abs(aux) <= domain) {
		return outside()
	}
	sin, cos := sincos(aux)
	lat = min(max(p.Latitude.From.at(aux, sin, cos), -halfPi), halfPi)
	if p.Method == Sinusoidal {
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
