package projection

import (
	"encoding/json"
	"math"
	"os"
	"testing"
)

const degree = math.Pi / 180

func ellipsoid(a, inverseFlattening float64) Ellipsoid {
	f := 0.0
	if inverseFlattening != 0 {
		f = 1 / inverseFlattening
	}
	return Ellipsoid{a, f * (2 - f)}
}

var (
	wgs84  = ellipsoid(6378137, 298.257223563)
	grs80  = ellipsoid(6378137, 298.257222101)
	bessel = ellipsoid(6377397.155, 299.1528128)
	krass  = ellipsoid(6378245, 298.3)
	clrk66 = Ellipsoid{6378206.4, 1 - (6356583.8/6378206.4)*(6356583.8/6378206.4)}
	airy   = Ellipsoid{6377563.396, 1 - (6356256.909237285/6377563.396)*(6356256.909237285/6377563.396)}
)

// cases have the names and parameters of those in testdata/judge.py of package crs; angles are in degrees.
var cases = map[string]struct {
	method Method
	e      Ellipsoid
	p      Parameters
}{
	"utm33":         {TransverseMercator, wgs84, Parameters{Lon0: 15, Scale: .9996, X0: 500000}},
	"tm wide":       {TransverseMercator, airy, Parameters{Lon0: -2, Lat0: 49, Scale: .9996012717, X0: 400000, Y0: -100000}},
	"tm sphere":     {TransverseMercator, ellipsoid(6371000, 0), Parameters{Lon0: 10, Scale: 1}},
	"merc":          {Mercator, bessel, Parameters{Lon0: 110, Scale: .997, X0: 3900000, Y0: 900000}},
	"merc ts":       {Mercator, krass, Parameters{Lon0: 51, Lat1: 42, Scale: 1}},
	"webmerc":       {Mercator, ellipsoid(6378137, 0), Parameters{Scale: 1}},
	"lcc2":          {Conic, grs80, Parameters{Lon0: 3, Lat0: 46.5, Lat1: 49, Lat2: 44, Scale: 1, X0: 700000, Y0: 6600000}},
	"lcc1":          {Conic, clrk66, Parameters{Lon0: -77, Lat0: 18, Lat1: 18, Lat2: 18, Scale: .99995, X0: 250000, Y0: 150000}},
	"lcc south":     {Conic, grs80, Parameters{Lon0: 145, Lat0: -37, Lat1: -36, Lat2: -38, Scale: 1, X0: 2500000, Y0: 2500000}},
	"aea":           {Albers, grs80, Parameters{Lon0: -96, Lat0: 23, Lat1: 29.5, Lat2: 45.5}},
	"aea south":     {Albers, grs80, Parameters{Lon0: 132, Lat1: -18, Lat2: -36}},
	"stere north":   {PolarStereographic, wgs84, Parameters{Lon0: -45, Lat0: 90, Lat1: 70}},
	"stere south":   {PolarStereographic, wgs84, Parameters{Lat0: -90, Lat1: -71}},
	"ups":           {PolarStereographic, wgs84, Parameters{Lat0: 90, Lat1: 90, Scale: .994, X0: 2000000, Y0: 2000000}},
	"sterea":        {DoubleStereographic, bessel, Parameters{Lon0: 5.38763888888889, Lat0: 52.1561605555556, Scale: .9999079, X0: 155000, Y0: 463000}},
	"stere":         {Stereographic, krass, Parameters{Lon0: 25, Lat0: 47.25, Scale: .9997}},
	"stere equator": {Stereographic, grs80, Parameters{Lon0: 25, Scale: 1}},
	"laea":          {AzimuthalEqualArea, grs80, Parameters{Lon0: 10, Lat0: 52, X0: 4321000, Y0: 3210000}},
	"laea north":    {AzimuthalEqualArea, wgs84, Parameters{Lat0: 90}},
	"laea south":    {AzimuthalEqualArea, wgs84, Parameters{Lat0: -90}},
	"laea equator":  {AzimuthalEqualArea, wgs84, Parameters{Lon0: 20}},
	"cea":           {CylindricalEqualArea, wgs84, Parameters{Lat1: 30, Scale: 1}},
	"eqc":           {Cylindrical, ellipsoid(6371007, 0), Parameters{Lon0: 5, Lat1: 30}},
	"sinu":          {Sinusoidal, wgs84, Parameters{Lon0: 7}},
	"moll":          {Mollweide, wgs84, Parameters{Lon0: -30}},
	"eqearth":       {EqualEarth, wgs84, Parameters{Lon0: 150}},
	"krovak":        {Krovak, bessel, Parameters{Lon0: 24 + 50./60, Lat0: 49.5, Lat1: 78.5, Axis: 30 + 17/60. + 17.30311/3600, Scale: .9999}},
	"cass":          {Cassini, ellipsoid(6377276.345, 300.8017), Parameters{Lon0: 100, Lat0: 5, X0: 1000, Y0: -2000}},
	"cass sphere":   {Cassini, ellipsoid(6371000, 0), Parameters{Lon0: 10, Lat0: 40}},
	"nzmg":          {NewZealand, ellipsoid(6378388, 297), Parameters{Lon0: 173, Lat0: -41, X0: 2510000, Y0: 6023150}},
	"poly":          {Polyconic, grs80, Parameters{Lon0: -54, X0: 5000000, Y0: 10000000}},
	"bonne":         {Bonne, bessel, Parameters{Lon0: 10, Lat0: 40}},
	"aeqd":          {AzimuthalEquidistant, wgs84, Parameters{Lon0: 21.5, Lat0: 8.5, X0: 5621452, Y0: 5990638}},
	"aeqd north":    {AzimuthalEquidistant, wgs84, Parameters{Lon0: 10, Lat0: 90}},
	"aeqd sphere":   {AzimuthalEquidistant, ellipsoid(6371000, 0), Parameters{Lon0: 10, Lat0: -30}},
	"ortho":         {Orthographic, wgs84, Parameters{Lon0: 10, Lat0: 40}},
	"eqdc":          {EquidistantConic, grs80, Parameters{Lon0: -96, Lat0: 39, Lat1: 33, Lat2: 45}},
	"lcca":          {NearConformal, ellipsoid(6378249.2, 293.4660212936269), Parameters{Lon0: 37.35, Lat0: 34.65, Scale: .9996256, X0: 300000, Y0: 300000}},
	"omerc a":       {ObliqueMercator, wgs84, Parameters{Lon0: 102.25, Lat0: 4, Azimuth: 323.0257905, Grid: 323.130102361111, Scale: .99984, X0: 804670.24}},
	"omerc b":       {ObliqueMercator, grs80, Parameters{Lon0: -133.6666666666667, Lat0: 57, Azimuth: 323.1301023611111, Grid: 323.1301023611111, Scale: .9999, X0: 5000000, Y0: -5000000, Center: true}},
	"omerc 90":      {ObliqueMercator, bessel, Parameters{Lon0: 7.43958333333333, Lat0: 46.9524055555556, Azimuth: 90, Grid: 90, Scale: 1, X0: 2600000, Y0: 1200000, Center: true}},
}

func golden(t testing.TB) map[string][][6]float64 {
	b, err := os.ReadFile("testdata/projections.json")
	if err != nil {
		t.Fatal(err)
	}
	var g map[string][][6]float64
	if err := json.Unmarshal(b, &g); err != nil {
		t.Fatal(err)
	}
	return g
}

func projectionOf(name string) Projection {
	c := cases[name]
	p := c.p
	for _, v := range []*float64{&p.Lon0, &p.Lat0, &p.Lat1, &p.Lat2, &p.Azimuth, &p.Grid, &p.Axis} {
		*v *= degree
	}
	return New(c.method, c.e, p)
}

func TestProjectionsAgreeWithPROJ(t *testing.T) {
	g := golden(t)
	for name, c := range cases {
		p := projectionOf(name)
		if len(g[name]) < 40 {
			t.Errorf("%s: %d points", name, len(g[name]))
		}
		var forward, back float64
		for _, q := range g[name] {
			x, y := p.Forward(q[0]*degree, q[1]*degree)
			d := math.Hypot(x-q[3], y-q[4])
			if !(d < 1e-5 || c.method == AzimuthalEquidistant && d < 2e-4) { // a series of geodesics
				t.Errorf("%s: %v is at %v, %v: %g m off", name, q, x, y, d)
				break
			}
			forward = max(forward, d)
			lon, lat := p.Inverse(q[3], q[4])
			d = math.Hypot(wrap(lon-q[0]*degree)*math.Cos(lat), lat-q[1]*degree) * c.e.A
			if !(d < 2e-4) {
				t.Errorf("%s: the inverse of %v is %v, %v: %g m off", name, q, lon/degree, lat/degree, d)
				break
			}
			back = max(back, d)
		}
		t.Logf("%-14s forward %.1e m, inverse %.1e m", name, forward, back)
	}
}

func TestGeocentricCoordinatesAgreeWithPROJ(t *testing.T) {
	for _, q := range golden(t)["geocentric"] {
		x, y, z := grs80.Geocentric(q[0]*degree, q[1]*degree, q[2])
		if d := math.Hypot(math.Hypot(x-q[3], y-q[4]), z-q[5]); !(d < 1e-8) {
			t.Errorf("%v: %v, %v, %v: %g m off", q, x, y, z, d)
		}
		lon, lat, h := grs80.Geodetic(q[3], q[4], q[5])
		if d := math.Hypot(math.Hypot((lon-q[0]*degree)*math.Cos(lat), lat-q[1]*degree)*grs80.A, h-q[2]); !(d < 1e-8) {
			t.Errorf("%v: the inverse is %v, %v, %v: %g m off", q, lon/degree, lat/degree, h, d)
		}
	}
}

// errors of elementary functions, in units of 2.2e-16 of the greater of 1 and the result.
func TestElementaryFunctionsAreAccurate(t *testing.T) {
	check := func(name string, x, got, want float64) {
		t.Helper()
		if d := math.Abs(got-want) / max(1, math.Abs(want)); !(d < 4.5e-16) {
			t.Errorf("%s(%v) = %v, not %v", name, x, got, want)
		}
	}
	for i := -4000; i <= 4000; i++ {
		x := float64(i) / 317
		s, c := sincos(x)
		check("sin", x, s, math.Sin(x))
		check("cos", x, c, math.Cos(x))
		check("atan", x, atan2(x, 1), math.Atan(x))
		check("atan2", x, atan2(1, x), math.Atan2(1, x))
		check("atan2", x, atan2(-x, -3), math.Atan2(-x, -3))
		check("asinh", x, asinh(x), math.Asinh(x))
		check("exp", x, exp(x), math.Exp(x))
		if x > 0 {
			check("log", x, log(x), math.Log(x))
		}
		if math.Abs(x) <= 1 {
			check("asin", x, asin(x), math.Asin(x))
		}
	}
}
