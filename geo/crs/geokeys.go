package crs

import (
	"errors"
	"strings"

	"quern.dev/geo/crs/internal/epsg"
	"quern.dev/geo/tiff"
)

// Coordinate transformations of GeoTIFF (ProjMethod) as EPSG's methods.
var geoTIFFMethods = map[int]int{
	1: 9807, 3: 9812, 7: 9804, 8: 9802, 9: 9801, 10: 9820, 11: 9822, 14: stereographic, 15: polarFlexible, 16: 9809, 17: 1028, 24: sinusoidal,
	12: 1125, 13: 1119, 18: 9806, 21: 9840, 22: 9818, 26: 9811, 27: 9808, 28: 9835, 30: mollweide, 9815: 9815,
}

// FromGeoKeys returns the system of a GeoTIFF image: by its code, or as its keys define it.
func FromGeoKeys(k tiff.GeoKeys) (*CRS, error) {
	const op = "GeoKeys"
	if len(k) == 0 {
		return nil, failure(ErrFormat, op, "", "the image has no GeoKeys")
	}
	model, _ := k.Code(tiff.GTModelType)
	if code, ok := k.Code(tiff.ProjectedCRS); ok && code != 0 && code != tiff.UserDefined && model != tiff.ModelGeographic {
		return EPSG(code)
	}
	if text, ok := citedDefinition(k); ok {
		c, err := Parse(text)
		if err == nil {
			c.cited = text
		}
		return c, err
	}
	if model == tiff.UserDefined {
		name, _ := k.Text(tiff.GTCitation)
		return nil, failure(ErrUnsupported, "GeoKeys", name, "GTModelType is user-defined, and no citation has a definition of the system")
	}
	base, err := geodeticKeys(k)
	if err != nil {
		return nil, err
	}
	if model != tiff.ModelProjected {
		if _, ok := k.Code(tiff.ProjMethod); !ok || model != 0 {
			return base, nil
		}
	}
	if base.kind != Geographic {
		return nil, failure(ErrFormat, op, base.name, "a projected system is based on geocentric coordinates")
	}
	return projectedKeys(k, base)
}

// citationPrefix is before the definition in a citation.
const citationPrefix = "ESRI PE String = "

// citedDefinition returns the definition, in Esri's form of WKT, that GDAL writes to a citation if GeoTIFF has no keys for the system.
func citedDefinition(k tiff.GeoKeys) (string, bool) {
	for _, key := range []tiff.GeoKey{tiff.ProjectedCitation, tiff.GeodeticCitation, tiff.GTCitation} {
		text, _ := k.Text(key)
		if _, definition, ok := strings.Cut(text, citationPrefix); ok {
			return strings.TrimRight(definition, "| "), true
		}
	}
	return "", false
}

// geodeticKeys returns the geographic or geocentric system.
func geodeticKeys(k tiff.GeoKeys) (*CRS, error) {
	const op = "GeoKeys"
	if code, ok := k.Code(tiff.GeodeticCRS); ok && code != 0 && code != tiff.UserDefined {
		c, err := EPSG(code)
		if _, defined := k.Number(tiff.EllipsoidSemiMajorAxis); !defined || !errors.Is(err, ErrUnknown) {
			return c, err
		}
		// A code that is newer than the table.
	}
	t := epsg.Load()
	d := &definition{kind: Geographic}
	if model, _ := k.Code(tiff.GTModelType); model == tiff.ModelGeocentric {
		d.kind = Geocentric
	}
	d.name, _ = k.Text(tiff.GeodeticCitation)
	d.datum = d.name
	if code, ok := k.Code(tiff.GeodeticDatum); ok && code != tiff.UserDefined {
		known := datumOf(t, code)
		d.datumCode, d.datum, d.ellipsoid, d.meridian = code, known.name, known.ellipsoid, known.meridian
	}
	if code, ok := k.Code(tiff.Ellipsoid); ok && code != tiff.UserDefined {
		if r, ok := t.Row("ellipsoid", code); ok {
			d.ellipsoid = Ellipsoid{r.Number(0), r.Number(1)}
		}
	}
	if a, ok := k.Number(tiff.EllipsoidSemiMajorAxis); ok {
		d.ellipsoid.SemiMajorAxis = a
		if f, ok := k.Number(tiff.EllipsoidInvFlattening); ok {
			d.ellipsoid.InverseFlattening = f
		} else if b, ok := k.Number(tiff.EllipsoidSemiMinorAxis); ok {
			d.ellipsoid.InverseFlattening = 0
			if a != b {
				d.ellipsoid.InverseFlattening = a / (a - b)
			}
		}
	}
	if d.ellipsoid.SemiMajorAxis == 0 {
		return nil, failure(ErrFormat, op, d.name, "the keys name neither a system nor a datum or an ellipsoid")
	}
	angle := keyUnit(k, tiff.GeogAngularUnits, tiff.GeogAngularUnitSize, degree)
	// The meridian of a known datum is known. GDAL writes the one of Paris wrongly.
	if lon, ok := k.Number(tiff.PrimeMeridianLongitude); ok && d.datumCode == 0 {
		d.meridian = lon * (angle / degree)
	}
	if d.kind == Geographic {
		d.axes = []axis{{"longitude", "east", angle}, {"latitude", "north", angle}}
	}
	if v, ok := k.Numbers(tiff.GeogToWGS84); ok && (len(v) == 3 || len(v) == 7) {
		p := make([]float64, 7)
		copy(p, v)
		p[6] *= 1e-6
		d.toWGS84 = p
	}
	return d.build(op)
}

// keyUnit returns a unit in radians or meters.
func keyUnit(k tiff.GeoKeys, code, size tiff.GeoKey, otherwise float64) float64 {
	if c, ok := k.Code(code); ok && c != tiff.UserDefined {
		if u := unit(epsg.Load(), c); u != 0 {
			return u
		}
	}
	if f, ok := k.Number(size); ok && f > 0 {
		return f
	}
	return otherwise
}

// projectionKeys are the roles of keys; the first one that is there counts.
var projectionKeys = []struct {
	role role
	keys []tiff.GeoKey
}{
	{lat0, []tiff.GeoKey{tiff.ProjNatOriginLat, tiff.ProjFalseOriginLat, tiff.ProjCenterLat}},
	{lon0, []tiff.GeoKey{tiff.ProjNatOriginLong, tiff.ProjFalseOriginLong, tiff.ProjCenterLong, 3095}}, // 3095: ProjStraightVertPoleLong
	{parallel1, []tiff.GeoKey{tiff.ProjStdParallel1}},
	{parallel2, []tiff.GeoKey{tiff.ProjStdParallel2}},
	{scale, []tiff.GeoKey{tiff.ProjScaleAtNatOrigin, 3093}}, // 3093: ProjScaleAtCenter
	{easting, []tiff.GeoKey{tiff.ProjFalseEasting, 3086, 3090}},
	{northing, []tiff.GeoKey{tiff.ProjFalseNorthing, 3087, 3091}},
	{azimuth, []tiff.GeoKey{tiff.ProjAzimuthAngle}},
	{gridAngle, []tiff.GeoKey{3096}}, // ProjRectifiedGridAngle
}

func projectedKeys(k tiff.GeoKeys, base *CRS) (*CRS, error) {
	const op = "GeoKeys"
	c := *base
	c.kind, c.code, c.axes, c.extents = Projected, 0, "EN", nil
	if name, ok := k.Text(tiff.ProjectedCitation); ok {
		c.name = name
	} else if name, ok := k.Text(tiff.GTCitation); ok {
		c.name = name
	}
	c.unit = keyUnit(k, tiff.ProjLinearUnits, tiff.ProjLinearUnitSize, 1)
	if code, ok := k.Code(tiff.Projection); ok && code != tiff.UserDefined {
		return c.convertedBy(op, code)
	}
	n, ok := k.Code(tiff.ProjMethod)
	if !ok {
		return nil, failure(ErrFormat, op, c.name, "a projected system has no ProjMethod (GeoKey %d)", tiff.ProjMethod)
	}
	code, ok := geoTIFFMethods[n]
	if !ok {
		return nil, failure(ErrUnsupported, op, c.name, "the method %d of GeoTIFF is not supported", n)
	}
	angle := keyUnit(k, tiff.GeogAngularUnits, tiff.GeogAngularUnitSize, degree)
	d := &definition{method: "GeoTIFF"}
	var v values
	for _, x := range projectionKeys {
		for _, key := range x.keys {
			f, ok := k.Number(key)
			if !ok {
				continue
			}
			switch {
			case x.role.angular():
				f *= angle / degree
			case x.role == easting || x.role == northing:
				f *= c.unit
			}
			v.set(x.role, f)
			break
		}
	}
	if code == 9804 && v.given[parallel1] {
		code = 9805
	}
	if code == 9801 && !v.given[lat0] && v.given[parallel1] {
		v.set(lat0, v.value[parallel1])
	}
	d.complete(code, "", &v)
	if err := c.check(op); err != nil {
		return nil, err
	}
	c.conversion = conversion{code, v}
	var err error
	c.projection, err = project(op, c.name, code, c.datum.ellipsoid.math(), v)
	return &c, err
}

// convertedBy takes the projection of a conversion of EPSG.
func (c *CRS) convertedBy(op string, code int) (*CRS, error) {
	t := epsg.Load()
	row, ok := t.Row("conversion", code)
	if !ok {
		return nil, failure(ErrUnknown, op, c.name, "the projection is the conversion %d of EPSG, which the table does not have", code)
	}
	r, _ := t.Row("projected", row.Int(0))
	if err := c.check(op); err != nil {
		return nil, err
	}
	c.conversion = conversion{r.Int(1), parametersOf(r)}
	var err error
	c.projection, err = project(op, c.name, r.Int(1), c.datum.ellipsoid.math(), parametersOf(r))
	return c, err
}
