package crs

import (
	"fmt"
	"math"
	"strings"

	"quern.dev/geo/crs/internal/epsg"
	"quern.dev/geo/internal/projection"
)

// definition is what a text or GeoKeys say of a system.
type definition struct {
	kind       Kind
	name       string
	code       int // EPSG's
	datum      string
	datumCode  int
	baseCode   int // of the geographic system
	ellipsoid  Ellipsoid
	meridian   float64 // degrees
	method     string
	methodCode int
	parameters []parameter
	axes       []axis
	vertical   vertical
	toWGS84    []float64
	conversion conversion // that was found
	webSphere  bool       // an extension says that Mercator is that of web maps
	anySize    bool       // the ellipsoid may be smaller than a celestial body
}

type parameter struct {
	name string
	code int
	// value is in degrees, meters or unity, whatever the unit in the text.
	value float64
}

type axis struct {
	name, direction string
	unit            float64 // radians or meters; 0 if not given
}

// methodNames are the codes of methods by the names that formats have for them.
var methodNames = map[string]int{
	"transversemercator": 9807, "gausskruger": 9807, "transversemercator3d": 1111,
	"transversemercatorsouthorientated": 9808, "transversemercatorsouthoriented": 9808,
	"mercator1sp": 9804, "mercatorvarianta": 9804, "mercator2sp": 9805, "mercatorvariantb": 9805, "mercator": 9805, "mercatorspherical": 1026, "mercator1spspherical": 1026,
	"mercatorauxiliarysphere": pseudoMercator, "popularvisualisationpseudomercator": pseudoMercator,
	"lambertconformalconic1sp": 9801, "lambertconicconformal1sp": 9801, "lambertconicconformal1spvariantb": 1102,
	"lambertconformalconic2sp": 9802, "lambertconicconformal2sp": 9802, "lambertconformalconic": conicFlexible,
	"lambertconicconformal2spmichigan": 1051, "lambertconicconformal2spbelgium": 9803, "lambertconformalconic2spbelgium": 9803,
	"albersconicequalarea": 9822, "albersequalarea": 9822, "albers": 9822,
	"polarstereographic": polarFlexible, "polarstereographicvarianta": 9810, "polarstereographicvariantb": 9829, "polarstereographicvariantc": 9830,
	"stereographicnorthpole": 9829, "stereographicsouthpole": 9829,
	"obliquestereographic": 9809, "doublestereographic": 9809, "stereographic": stereographic,
	"lambertazimuthalequalarea": 9820, "lambertazimuthalequalareaspherical": 1027,
	"lambertcylindricalequalarea": 9835, "cylindricalequalarea": 9835, "behrmann": 9835, "lambertcylindricalequalareaspherical": 9834,
	"equidistantcylindrical": 1028, "equirectangular": 1028, "equidistantcylindricalspherical": 1029, "platecarree": 1029,
	"equalearth": 1078, "sinusoidal": sinusoidal, "mollweide": mollweide,
	"hotineobliquemercator": 9812, "hotineobliquemercatorvarianta": 9812, "rectifiedskeworthomorphicnaturalorigin": 9812, "hotineobliquemercatorazimuthnaturalorigin": 9812,
	"krovak": 9819, "krovaknorthorientated": 1041, "krovakmodified": 1042, "krovakmodifiednorthorientated": 1043,
	"cassinisoldner": 9806, "cassini": 9806, "hyperboliccassinisoldner": 9833, "newzealandmapgrid": 9811,
	"americanpolyconic": 9818, "polyconic": 9818, "bonne": 9827, "bonnesouthorientated": 9828, "azimuthalequidistant": 1125, "orthographic": 9840,
	"lambertconicconformalwestorientated": 9826, "lambertconicnearconformal": 9817, "equidistantconic": 1119,
	"hotineobliquemercatorvariantb": 9815, "obliquemercator": 9815, "hotineobliquemercatorazimuthcenter": 9815, "rectifiedskeworthomorphiccenter": 9815,
}

// exact replaces a rounded unit of degrees.
func exact(unit float64) float64 {
	if math.Abs(unit/degree-1) < 1e-12 {
		return degree
	}
	return unit
}

// build returns the system.
func (d *definition) build(op string) (*CRS, error) {
	c := &CRS{name: d.name, kind: d.kind, code: d.code, heightUnit: 1, vertical: d.vertical, toWGS84: d.toWGS84,
		datum: datum{d.datumCode, d.datum, d.ellipsoid, d.meridian}}
	if c.name == "" {
		c.name = "unnamed"
	}
	if err := d.identify(c); err != nil {
		return nil, failure(ErrParameter, op, c.name, "%v", err)
	}
	if err := d.setAxes(c); err != nil {
		return nil, failure(ErrUnsupported, op, c.name, "%v", err)
	}
	if err := c.check(op); err != nil {
		return nil, err
	}
	if a := c.datum.ellipsoid.SemiMajorAxis; a < 1e5 && !d.anySize {
		return nil, failure(ErrParameter, op, c.name, "the ellipsoid has a semi-major axis of %g m", a)
	}
	e := c.datum.ellipsoid.math()
	c.projection.E = e
	switch d.kind {
	case Geocentric:
		c.projection.Method = projection.Geocentric
	case Projected:
		var err error
		if c.projection, err = d.project(op, c.name, e); err != nil {
			return nil, of(err, c)
		}
	}
	c.conversion = d.conversion
	for _, p := range d.toWGS84 {
		if !(math.Abs(p) < 1e7) {
			return nil, failure(ErrParameter, op, c.name, "a parameter of TOWGS84 is %g", p)
		}
	}
	return c, nil
}

// identify finds the datum and the area in the table, by codes and else by name.
func (d *definition) identify(c *CRS) error {
	t := epsg.Load()
	horizontal := d.code
	if r, ok := t.Row("compound", d.code); ok {
		horizontal = r.Int(0)
	}
	for _, kind := range []string{"projected", "geodetic"} {
		if r, ok := t.Row(kind, horizontal); ok && (kind == "projected") == (d.kind == Projected) {
			c.extents = extents(r.Text(map[string]int{"projected": 4, "geodetic": 3}[kind]))
			if kind == "projected" && d.baseCode == 0 {
				d.baseCode = r.Int(0)
			}
			if kind == "geodetic" && d.baseCode == 0 {
				d.baseCode = horizontal
			}
		}
	}
	if c.datum.code == 0 {
		if r, ok := t.Row("geodetic", d.baseCode); ok {
			c.datum.code = r.Int(0)
		}
	}
	if c.datum.code == 0 {
		name := epsg.Normal(d.datum)
		if full, ok := datumNames[name]; ok {
			name = full
		}
		c.datum.code = t.Datums[name]
	}
	if _, ok := t.Row("datum", c.datum.code); !ok {
		c.datum.code = 0
	}
	if c.datum.code == 0 {
		return nil
	}
	known := datumOf(t, c.datum.code)
	if c.datum.ellipsoid == (Ellipsoid{}) {
		c.datum.ellipsoid, c.datum.meridian = known.ellipsoid, known.meridian
	}
	if c.datum.name == "" {
		c.datum.name = known.name
	}
	// A definition that has another ellipsoid than the datum is another datum.
	a, b := c.datum.ellipsoid, known.ellipsoid
	if math.Abs(a.SemiMajorAxis-b.SemiMajorAxis) > 0.01 || math.Abs(a.math().E2-b.math().E2) > 1e-9 || math.Abs(c.datum.meridian-known.meridian) > 1e-6 {
		c.datum.code, c.code = 0, 0
	}
	return nil
}

// datumNames are names of datums that are not EPSG's.
var datumNames = map[string]string{
	"wgs1984": "worldgeodeticsystem1984", "wgs84": "worldgeodeticsystem1984", "wgs1972": "worldgeodeticsystem1972",
	"northamerican1983": "northamericandatum1983", "northamerican1927": "northamericandatum1927",
	"etrs1989": "europeanterrestrialreferencesystem1989", "osgb1936": "ordnancesurveyofgreatbritain1936",
	"european1950": "europeandatum1950", "pulkovo1942": "pulkovo1942", "gda1994": "geocentricdatumofaustralia1994",
}

// setAxes fills directions and units.
func (d *definition) setAxes(c *CRS) error {
	c.unit = 1
	if d.kind == Geographic {
		c.unit = degree
	}
	if len(d.axes) == 0 {
		c.axes = map[Kind]string{Geographic: "EN", Projected: "EN", Geocentric: "XYZ"}[d.kind]
		return nil
	}
	for i, a := range d.axes {
		letter := strings.ToUpper(a.direction)
		name := strings.ToLower(a.name)
		switch {
		case d.kind == Geocentric:
			c.axes += "XYZ"[min(i, 2) : min(i, 2)+1] // their order is fixed
		case i < 2 && len(d.axes) > 1 && strings.EqualFold(d.axes[0].direction, d.axes[1].direction):
			// About a pole, both axes point to the south or the north.
			if strings.Contains(name, "north") || strings.HasPrefix(name, "y") || strings.HasPrefix(name, "(n") || strings.HasPrefix(name, "(y") {
				c.axes += "N"
			} else {
				c.axes += "E"
			}
		case letter == "NORTH" || letter == "EAST" || letter == "SOUTH" || letter == "WEST" || letter == "UP" || letter == "DOWN":
			c.axes += letter[:1]
		default:
			return fmt.Errorf("an axis in the direction %q is not supported", a.direction)
		}
		switch {
		case a.unit == 0:
		case letter == "UP" || letter == "DOWN":
			c.heightUnit = a.unit
		default:
			if i > 0 && i < 2 && d.axes[0].unit != 0 && a.unit != d.axes[0].unit {
				return fmt.Errorf("axes with different units are not supported")
			}
			c.unit = exact(a.unit)
		}
	}
	if d.kind == Geocentric {
		c.heightUnit = c.unit
	}
	return nil
}

// project resolves the names of method and parameters, and keeps both.
func (d *definition) project(op, name string, e projection.Ellipsoid) (projection.Projection, error) {
	var none projection.Projection
	code := d.methodCode
	normal := epsg.Normal(d.method)
	if _, ok := methods[code]; !ok {
		if n, known := methodNames[normal]; known {
			code = n
		}
	}
	if code == 0 {
		return none, failure(ErrUnsupported, op, name, "the projection %q is not supported", d.method)
	}
	if d.webSphere {
		code = pseudoMercator
	}
	var v values
	for _, p := range d.parameters {
		which, ok := parameterRoles[p.code]
		if !ok {
			which, ok = parameterNames[epsg.Normal(p.name)]
		}
		if !ok {
			name := epsg.Normal(p.name)
			krovak := code == 9819 && (name == "xscale" && math.Abs(p.value) == 1 || name == "yscale" && p.value == 1 || name == "xyplanerotation" && p.value == 90) // Esri's axes
			if p.value == 0 || strings.HasPrefix(normal, "mercatoraux") || krovak {
				continue
			}
			return none, failure(ErrUnsupported, op, name, "the parameter %q of the projection %q is not supported", p.name, d.method)
		}
		if code == 1102 && (p.code == 8801 || epsg.Normal(p.name) == "latitudeofnaturalorigin") {
			which = parallel1
		}
		v.set(which, p.value)
	}
	d.complete(code, normal, &v)
	d.conversion = conversion{code, v}
	return project(op, name, code, e, v)
}

// complete adds what formats leave out because it is the default of the method.
func (d *definition) complete(code int, normal string, v *values) {
	if !v.given[scale] && (code == 9804 || code == 9807 || code == 9801 || code == 9810 || code == 9809 || code == 1102 || code == 9812 || code == 9815 || code == 9808 || code == 9826 || code == 9817) {
		v.set(scale, 1)
	}
	if (code == 1028 || code == 1029 || code == 9835 || code == 9834 || code == 9805) && !v.given[parallel1] {
		v.set(parallel1, 0)
	}
	if !v.given[lon0] && (code == pseudoMercator || d.methodCode == 0 && d.method != "") {
		v.set(lon0, 0)
	}
	if (code == 9819 || code == 1041) && v.given[azimuth] && !v.given[coneAxis] {
		v.set(coneAxis, v.value[azimuth])
	}
	if (code == 9812 || code == 9815) && v.given[azimuth] && !v.given[gridAngle] {
		v.set(gridAngle, v.value[azimuth])
	}
	if normal == "stereographicsouthpole" && v.value[parallel1] > 0 {
		v.value[parallel1] = -v.value[parallel1]
	}
}

func normalName(name string) string { return epsg.Normal(name) }

// verticalCode returns the code of a vertical datum: its own, or that of a vertical system in the table.
func (n *node) verticalCode(system int) int {
	if code := n.epsg(); code != 0 {
		return code
	}
	return verticalDatum(system)
}

func verticalDatum(system int) int {
	r, _ := epsg.Load().Row("vertical", system)
	return r.Int(0)
}
