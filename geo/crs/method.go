package crs

import (
	"fmt"
	"math"

	"quern.dev/geo/crs/internal/epsg"
	"quern.dev/geo/internal/projection"
)

const degree = math.Pi / 180

// role is what a parameter of a projection is for. Formats and methods have several names for each.
type role int

const (
	lat0 role = iota // natural origin, false origin or center
	lon0
	parallel1
	parallel2
	scale
	easting // false
	northing
	azimuth
	gridAngle
	ellipsoidScale
	coneAxis
	roles
)

var roleNames = [roles]string{"latitude of origin", "longitude of origin", "first standard parallel", "second standard parallel",
	"scale factor", "false easting", "false northing", "azimuth", "rectified grid angle", "ellipsoid scaling factor", "co-latitude of the cone's axis"}

// angular reports whether a role's unit is degrees; those of easting and northing are meters.
func (r role) angular() bool {
	return r <= parallel2 || r == azimuth || r == gridAngle || r == coneAxis
}

// values are the parameters of a projection in degrees, meters and unity.
type values struct {
	value [roles]float64
	given [roles]bool
}

func (v *values) set(r role, x float64) { v.value[r], v.given[r] = x, true }

// parameterRoles are the roles of EPSG's parameters.
var parameterRoles = map[int]role{
	8801: lat0, 8821: lat0, 8811: lat0,
	8802: lon0, 8822: lon0, 8812: lon0, 8833: lon0,
	8823: parallel1, 8832: parallel1, 8824: parallel2,
	8805: scale, 8815: scale, 1038: ellipsoidScale,
	8806: easting, 8826: easting, 8816: easting,
	8807: northing, 8827: northing, 8817: northing,
	8813: azimuth, 8814: gridAngle, 1036: coneAxis, 8818: parallel1, 8819: scale,
}

// parameterNames are the roles of the parameters of WKT and PROJJSON, as epsg.Normal returns them.
var parameterNames = map[string]role{
	"latitudeoforigin": lat0, "latitudeofcenter": lat0, "latitudeofcentre": lat0, "latitudeofnaturalorigin": lat0,
	"latitudeoffalseorigin": lat0, "latitudeofprojectioncentre": lat0, "centrallatitude": lat0, "centralparallel": lat0,
	"centralmeridian": lon0, "longitudeoforigin": lon0, "longitudeofcenter": lon0, "longitudeofcentre": lon0,
	"longitudeofnaturalorigin": lon0, "longitudeoffalseorigin": lon0, "longitudeofprojectioncentre": lon0,
	"standardparallel1": parallel1, "latitudeof1ststandardparallel": parallel1, "latitudeofstandardparallel": parallel1,
	"standardparallel2": parallel2, "latitudeof2ndstandardparallel": parallel2,
	"scalefactor": scale, "scalefactoratnaturalorigin": scale, "scalefactoratprojectioncentre": scale, "scalefactoroninitialline": scale,
	"scalefactoratthepseudostandardparallel": scale,
	"falseeasting":                           easting, "eastingatfalseorigin": easting, "eastingatprojectioncentre": easting,
	"falsenorthing": northing, "northingatfalseorigin": northing, "northingatprojectioncentre": northing,
	"azimuth": azimuth, "azimuthofinitialline": azimuth, "azimuthatprojectioncentre": azimuth,
	"rectifiedgridangle": gridAngle, "xyplanerotation": gridAngle, "anglefromrectifiedtoskewgrid": gridAngle,
	"ellipsoidscalingfactor": ellipsoidScale,
	"colatitudeofconeaxis":   coneAxis, "latitudeofpseudostandardparallel": parallel1, "pseudostandardparallel1": parallel1,
	"scalefactoronpseudostandardparallel": scale,
}

// Codes of methods. Those below zero are not EPSG's.
const (
	pseudoMercator = 1024
	sinusoidal     = -1
	mollweide      = -2
	stereographic  = -3
	conicFlexible  = -4 // with one or two parallels, depending on the parameters
	polarFlexible  = -5 // variant A or B, depending on the latitude
)

// method is how a projection method is built.
type method struct {
	required []role
	kind     projection.Method
	sphere   bool // of the semi-major axis
	authalic bool // sphere of the area of the ellipsoid
	negate   bool // false coordinates belong to axes that point to the west or the south
	west     bool // the false easting belongs to an axis that points to the west
	adjust   func(p *projection.Parameters, v *values) error
}

var methods = map[int]method{
	9807: {required: []role{lat0, lon0, scale}, kind: projection.TransverseMercator},
	1111: {required: []role{lat0, lon0, scale}, kind: projection.TransverseMercator},
	9808: {required: []role{lat0, lon0, scale}, kind: projection.TransverseMercator, negate: true},
	9804: {required: []role{lon0, scale}, kind: projection.Mercator, adjust: fromEquator},
	9805: {required: []role{parallel1, lon0}, kind: projection.Mercator, adjust: fromEquator},
	1026: {required: []role{lon0}, kind: projection.Mercator, sphere: true},
	9841: {required: []role{lon0}, kind: projection.Mercator, sphere: true},
	1024: {required: []role{lon0}, kind: projection.Mercator, sphere: true},
	9801: {required: []role{lat0, lon0, scale}, kind: projection.Conic, adjust: oneParallel},
	1102: {required: []role{lat0, parallel1, lon0, scale}, kind: projection.Conic, adjust: secondParallel},
	9802: {required: []role{lat0, lon0, parallel1, parallel2}, kind: projection.Conic, adjust: twoParallels},
	1051: {required: []role{lat0, lon0, parallel1, parallel2, ellipsoidScale}, kind: projection.Conic, adjust: michigan},
	9803: {required: []role{lat0, lon0, parallel1, parallel2}, kind: projection.Conic, adjust: belgium},
	9822: {required: []role{lat0, lon0, parallel1, parallel2}, kind: projection.Albers, adjust: anyParallels},
	9810: {required: []role{lat0, lon0, scale}, kind: projection.PolarStereographic, adjust: polarA},
	9829: {required: []role{parallel1, lon0}, kind: projection.PolarStereographic, adjust: polarB},
	9830: {required: []role{parallel1, lon0}, kind: projection.PolarStereographic, adjust: polarB},
	9809: {required: []role{lat0, lon0, scale}, kind: projection.DoubleStereographic},
	9820: {required: []role{lat0, lon0}, kind: projection.AzimuthalEqualArea},
	1027: {required: []role{lat0, lon0}, kind: projection.AzimuthalEqualArea, authalic: true},
	9834: {required: []role{parallel1, lon0}, kind: projection.CylindricalEqualArea, authalic: true},
	9835: {required: []role{parallel1, lon0}, kind: projection.CylindricalEqualArea},
	1028: {required: []role{parallel1, lon0}, kind: projection.Cylindrical, sphere: true},
	1029: {required: []role{parallel1, lon0}, kind: projection.Cylindrical, sphere: true},
	9842: {required: []role{lat0, lon0}, kind: projection.Cylindrical, sphere: true, adjust: originIsParallel},
	9823: {required: []role{lat0, lon0}, kind: projection.Cylindrical, sphere: true, adjust: originIsParallel},
	1078: {required: []role{lon0}, kind: projection.EqualEarth},
	9812: {required: []role{lat0, lon0, azimuth, gridAngle, scale}, kind: projection.ObliqueMercator, adjust: oblique},
	9815: {required: []role{lat0, lon0, azimuth, gridAngle, scale}, kind: projection.ObliqueMercator, adjust: obliqueCenter},

	9819: {required: krovakRoles, kind: projection.Krovak, negate: true, adjust: notPole},
	1041: {required: krovakRoles, kind: projection.Krovak, negate: true, adjust: notPole},
	1042: {required: krovakRoles, kind: projection.Krovak, negate: true, adjust: modified},
	1043: {required: krovakRoles, kind: projection.Krovak, negate: true, adjust: modified},
	9806: {required: []role{lat0, lon0}, kind: projection.Cassini},
	9833: {required: []role{lat0, lon0}, kind: projection.Cassini, adjust: modified},
	9811: {required: []role{lat0, lon0}, kind: projection.NewZealand, adjust: zealand},
	9818: {required: []role{lat0, lon0}, kind: projection.Polyconic},
	9827: {required: []role{lat0, lon0}, kind: projection.Bonne, adjust: notEquator},
	9828: {required: []role{lat0, lon0}, kind: projection.Bonne, adjust: notEquator, negate: true},
	9832: {required: []role{lat0, lon0}, kind: projection.AzimuthalEquidistant}, // for islands, where the methods are the same
	1125: {required: []role{lat0, lon0}, kind: projection.AzimuthalEquidistant},
	9840: {required: []role{lat0, lon0}, kind: projection.Orthographic},
	9826: {required: []role{lat0, lon0, scale}, kind: projection.Conic, adjust: oneParallel, west: true},
	9817: {required: []role{lat0, lon0, scale}, kind: projection.NearConformal, adjust: notEquator},
	1119: {required: []role{lat0, lon0, parallel1, parallel2}, kind: projection.EquidistantConic, adjust: anyParallels},

	sinusoidal:    {required: []role{lon0}, kind: projection.Sinusoidal},
	mollweide:     {required: []role{lon0}, kind: projection.Mollweide, sphere: true},
	stereographic: {required: []role{lat0, lon0}, kind: projection.Stereographic, adjust: polarOrOblique},
}

var krovakRoles = []role{lat0, lon0, coneAxis, parallel1, scale}

// modified is for the modified form of Krovak, and the hyperbolic one of Cassini.
func modified(p *projection.Parameters, v *values) error {
	p.Modified = true
	return notPole(p, v)
}

func notPole(p *projection.Parameters, v *values) error {
	if math.Abs(p.Lat0) > math.Pi/2-1e-9 {
		return fmt.Errorf("the latitude of origin is a pole")
	}
	return nil
}

func notEquator(p *projection.Parameters, v *values) error {
	if math.Abs(p.Lat0) < 1e-9 {
		return fmt.Errorf("the latitude of origin is the equator")
	}
	return nil
}

// zealand refuses origins for which the coefficients do not hold.
func zealand(p *projection.Parameters, v *values) error {
	if math.Abs(p.Lat0+41*degree) > 1e-9 || math.Abs(p.Lon0-173*degree) > 1e-9 {
		return fmt.Errorf("the origin of the New Zealand Map Grid is 41 degrees south and 173 degrees east, not %g and %g", p.Lat0/degree, p.Lon0/degree)
	}
	return nil
}

// fromEquator refuses other origins, which no two programs take for the same.
func fromEquator(p *projection.Parameters, v *values) error {
	if p.Lat0 != 0 {
		return fmt.Errorf("the latitude of origin of a Mercator projection is %g; only the equator is supported", p.Lat0/degree)
	}
	return nil
}

// originIsParallel is for the deprecated methods whose latitude of origin is the parallel of true scale.
func originIsParallel(p *projection.Parameters, v *values) error {
	p.Lat0, p.Lat1 = 0, p.Lat0
	return nil
}

func oneParallel(p *projection.Parameters, v *values) error {
	p.Lat1, p.Lat2 = p.Lat0, p.Lat0
	return cone(p)
}

func secondParallel(p *projection.Parameters, v *values) error {
	p.Lat2 = p.Lat1
	return cone(p)
}

func twoParallels(p *projection.Parameters, v *values) error { return cone(p) }

func michigan(p *projection.Parameters, v *values) error {
	p.Scale = v.value[ellipsoidScale]
	return cone(p)
}

// belgium turns the grid by 29.2985 seconds of arc.
func belgium(p *projection.Parameters, v *values) error {
	p.Rotation = 29.2985 / 3600 * degree
	return cone(p)
}

// anyParallels permits one of the standard parallels to be a pole.
func anyParallels(p *projection.Parameters, v *values) error {
	if math.Abs(p.Lat1+p.Lat2) < 1e-9 {
		return fmt.Errorf("the standard parallels %g and %g have no cone between them", p.Lat1/degree, p.Lat2/degree)
	}
	return nil
}

func cone(p *projection.Parameters) error {
	switch {
	case math.Abs(p.Lat1+p.Lat2) < 1e-9:
		return fmt.Errorf("the standard parallels %g and %g have no cone between them", p.Lat1/degree, p.Lat2/degree)
	case math.Abs(p.Lat1) > math.Pi/2-1e-9 || math.Abs(p.Lat2) > math.Pi/2-1e-9:
		return fmt.Errorf("a standard parallel is a pole")
	}
	return nil
}

func polarA(p *projection.Parameters, v *values) error {
	if math.Abs(math.Abs(p.Lat0)-math.Pi/2) > 1e-9 {
		return fmt.Errorf("the latitude of origin, %g, is not a pole", p.Lat0/degree)
	}
	p.Lat1 = p.Lat0
	return nil
}

func polarB(p *projection.Parameters, v *values) error {
	if p.Lat1 == 0 {
		return fmt.Errorf("the standard parallel is the equator, which does not say which pole is meant")
	}
	p.Lat0 = math.Copysign(math.Pi/2, p.Lat1)
	return nil
}

func polarOrOblique(p *projection.Parameters, v *values) error {
	p.Lat1 = p.Lat0 // of no effect unless the center is a pole
	return nil
}

func oblique(p *projection.Parameters, v *values) error {
	return notPole(p, v)
}

func obliqueCenter(p *projection.Parameters, v *values) error {
	p.Center = true
	return oblique(p, v)
}

// project returns the projection of a method.
func project(op, name string, code int, e projection.Ellipsoid, v values) (projection.Projection, error) {
	var none projection.Projection
	switch code {
	case conicFlexible:
		code = 9801
		if v.given[parallel2] {
			code = 9802
		} else if v.given[parallel1] {
			code = 1102
			if !v.given[scale] {
				v.set(scale, 1)
			}
		}
	case polarFlexible:
		code = 9810
		if !v.given[parallel1] && math.Abs(math.Abs(v.value[lat0])-90) > 1e-9 {
			v.set(parallel1, v.value[lat0])
		}
		if v.given[parallel1] {
			code = 9829
		}
	}
	m, ok := methods[code]
	if !ok {
		text := fmt.Sprintf("method %d", code)
		if r, ok := epsg.Load().Row("method", code); ok {
			text = r.Text(0)
		}
		return none, failure(ErrUnsupported, op, name, "the projection %s is not supported", text)
	}
	for _, r := range m.required {
		if !v.given[r] {
			return none, failure(ErrParameter, op, name, "the projection has no %s", roleNames[r])
		}
	}
	if !v.given[scale] {
		v.value[scale] = 1
	}
	if err := v.check(); err != nil {
		return none, failure(ErrParameter, op, name, "%v", err)
	}
	p := projection.Parameters{Lat0: v.value[lat0] * degree, Lon0: v.value[lon0] * degree, Lat1: v.value[parallel1] * degree,
		Lat2: v.value[parallel2] * degree, Scale: v.value[scale], X0: v.value[easting], Y0: v.value[northing],
		Azimuth: v.value[azimuth] * degree, Grid: v.value[gridAngle] * degree, Axis: v.value[coneAxis] * degree}
	if m.adjust != nil {
		if err := m.adjust(&p, &v); err != nil {
			return none, failure(ErrParameter, op, name, "%v", err)
		}
	}
	if m.negate {
		p.X0, p.Y0 = -p.X0, -p.Y0
	}
	if m.west {
		p.X0 = -p.X0
	}
	if m.sphere {
		e.E2 = 0
	}
	if m.authalic {
		e = e.Authalic()
	}
	kind := m.kind
	if kind == projection.Stereographic && math.Abs(p.Lat0) > math.Pi/2-1e-9 {
		kind = projection.PolarStereographic
	}
	made := projection.New(kind, e, p)
	if code == 9830 { // the false origin is on the standard parallel
		_, y := made.Forward(p.Lon0, p.Lat1)
		made.Y0 += p.Y0 - y
	}
	for _, k := range made.K {
		if math.IsNaN(k) || math.IsInf(k, 0) {
			return none, failure(ErrParameter, op, name, "the parameters of the projection contradict each other")
		}
	}
	return made, nil
}

func (v *values) check() error {
	for r, x := range v.value {
		limit := 1e9
		switch {
		case role(r) == lat0 || role(r) == parallel1 || role(r) == parallel2:
			limit = 90
		case role(r).angular():
			limit = 720
		}
		if !(math.Abs(x) <= limit*(1+1e-12)) {
			return fmt.Errorf("the %s is %g", roleNames[r], x)
		}
	}
	for _, r := range []role{scale, ellipsoidScale} {
		if x := v.value[r]; v.given[r] && !(x > 1e-3 && x < 1e3) {
			return fmt.Errorf("the %s is %g", roleNames[r], x)
		}
	}
	return nil
}
