package crs

import (
	"math"

	"quern.dev/geo/crs/internal/epsg"
	"quern.dev/geo/tiff"
)

// conversion is a projection as its definition has it.
type conversion struct {
	method int // of EPSG, or one of this package
	values values
}

// writtenKey is a key for a parameter.
type writtenKey struct {
	key  tiff.GeoKey
	role role
}

// natural, center and falseOrigin are the keys of a method's origin.
var (
	natural     = []writtenKey{{tiff.ProjNatOriginLat, lat0}, {tiff.ProjNatOriginLong, lon0}, {tiff.ProjFalseEasting, easting}, {tiff.ProjFalseNorthing, northing}}
	center      = []writtenKey{{tiff.ProjCenterLat, lat0}, {tiff.ProjCenterLong, lon0}, {tiff.ProjFalseEasting, easting}, {tiff.ProjFalseNorthing, northing}}
	falseOrigin = []writtenKey{{tiff.ProjFalseOriginLat, lat0}, {tiff.ProjFalseOriginLong, lon0}, {3086, easting}, {3087, northing}}
	scaled      = writtenKey{tiff.ProjScaleAtNatOrigin, scale}
	first       = writtenKey{tiff.ProjStdParallel1, parallel1}
	second      = writtenKey{tiff.ProjStdParallel2, parallel2}
	oblique3    = []writtenKey{{tiff.ProjAzimuthAngle, azimuth}, {3096, gridAngle}, {3093, scale}}
	pole        = []writtenKey{{tiff.ProjNatOriginLat, lat0}, {3095, lon0}, {tiff.ProjFalseEasting, easting}, {tiff.ProjFalseNorthing, northing}, scaled}
)

func keys(of []writtenKey, more ...writtenKey) []writtenKey {
	return append(of[:len(of):len(of)], more...)
}

// writtenMethods are the methods that GeoTIFF has: its code and the keys of the parameters.
var writtenMethods = map[int]struct {
	code uint16
	keys []writtenKey
}{
	9807:          {1, keys(natural, scaled)},
	9812:          {3, keys(center, oblique3...)},
	9815:          {9815, keys(center, oblique3...)},
	9804:          {7, keys(natural, scaled)},
	9805:          {7, keys(natural, first)},
	9802:          {8, keys(falseOrigin, first, second)},
	9801:          {9, keys(natural, scaled)},
	9820:          {10, center},
	9822:          {11, keys(natural, first, second)},
	stereographic: {14, keys(center, scaled)},
	9810:          {15, pole},
	9809:          {16, keys(natural, scaled)},
	1028:          {17, keys(center, first)},
	sinusoidal:    {24, center},
	9835:          {28, keys(natural, first)},
	1125:          {12, center},
	1119:          {13, keys(center, first, second)},
	9806:          {18, natural},
	9840:          {21, center},
	9818:          {22, natural},
	9811:          {26, natural},
}

// GeoKeys returns the keys by which a GeoTIFF file names the system: with its EPSG code, or with a definition. A system
// without a code whose method GeoTIFF does not have is cited, see [CRS.Cited], or is an error that matches [ErrUnsupported]. Heights are
// left out.
func (c *CRS) GeoKeys() (tiff.GeoKeys, error) {
	const op = "GeoKeys"
	var k tiff.GeoKeys
	model := map[Kind]uint16{Geographic: tiff.ModelGeographic, Projected: tiff.ModelProjected, Geocentric: tiff.ModelGeocentric}[c.kind]
	k.Set(tiff.GeoValue{Key: tiff.GTModelType, Code: model})
	k.Set(tiff.GeoValue{Key: tiff.GTRasterType, Code: tiff.RasterPixelIsArea})
	code := c.code
	if code == 0 {
		code = c.knownCode()
	}
	named := code > 0 && code < tiff.UserDefined
	if c.kind != Projected {
		if named {
			k.Set(tiff.GeoValue{Key: tiff.GeodeticCRS, Code: uint16(code)})
			k.Set(tiff.GeoValue{Key: tiff.GeodeticCitation, Text: c.name})
			return k, nil
		}
		return c.geodeticDefinition(k), nil
	}
	if named {
		k.Set(tiff.GeoValue{Key: tiff.ProjectedCRS, Code: uint16(code)})
		k.Set(tiff.GeoValue{Key: tiff.GTCitation, Text: c.name})
		return k, nil
	}
	method, v := c.conversion.method, c.conversion.values
	switch {
	case method == conicFlexible && v.given[parallel2]:
		method = 9802
	case method == 1102 || method == conicFlexible && v.given[parallel1]: // a cone that touches a parallel is one that cuts it twice
		method = 1102
		if !v.given[scale] || v.value[scale] == 1 {
			method = 9802
			v.set(parallel2, v.value[parallel1])
		}
	case method == conicFlexible:
		method = 9801
	case method == polarFlexible || method == 9829:
		method = 9810
		if v.given[parallel1] {
			v.set(lat0, v.value[parallel1])
		}
	}
	m, ok := writtenMethods[method]
	if !ok && c.cited != "" {
		return c.citation(k), nil
	}
	if !ok || c.axes[:2] != "EN" && c.axes[:2] != "NE" {
		return nil, failure(ErrUnsupported, op, c.name, "GeoTIFF has no keys for its projection; give the EPSG code, or another system")
	}
	k = c.geodeticDefinition(k)
	k.Set(tiff.GeoValue{Key: tiff.ProjectedCRS, Code: tiff.UserDefined})
	k.Set(tiff.GeoValue{Key: tiff.GTCitation, Text: c.name})
	k.Set(tiff.GeoValue{Key: tiff.ProjectedCitation, Text: c.name})
	k.Set(tiff.GeoValue{Key: tiff.Projection, Code: tiff.UserDefined})
	k.Set(tiff.GeoValue{Key: tiff.ProjMethod, Code: m.code})
	if c.unit == 1 {
		k.Set(tiff.GeoValue{Key: tiff.ProjLinearUnits, Code: 9001})
	} else {
		k.Set(tiff.GeoValue{Key: tiff.ProjLinearUnits, Code: tiff.UserDefined})
		k.Set(tiff.GeoValue{Key: tiff.ProjLinearUnitSize, Numbers: []float64{c.unit}})
	}
	if !v.given[scale] {
		v.value[scale] = 1
	}
	for _, w := range m.keys {
		x := v.value[w.role]
		if w.role == easting || w.role == northing {
			x /= c.unit
		}
		k.Set(tiff.GeoValue{Key: w.key, Numbers: []float64{x}})
	}
	return k, nil
}

// citation adds the definition as text, as GDAL does.
func (c *CRS) citation(k tiff.GeoKeys) tiff.GeoKeys {
	if c.datum.ellipsoid.SemiMajorAxis != 0 {
		k = c.geodeticDefinition(k)
	}
	k.Set(tiff.GeoValue{Key: tiff.GTModelType, Code: tiff.UserDefined})
	k.Set(tiff.GeoValue{Key: tiff.GTCitation, Text: c.name})
	k.Set(tiff.GeoValue{Key: tiff.ProjectedCitation, Text: citationPrefix + c.cited})
	if c.unit == 1 {
		k.Set(tiff.GeoValue{Key: tiff.ProjLinearUnits, Code: 9001})
	}
	return k
}

// geodeticDefinition adds the geographic system: by its code if EPSG has one with this datum, else by the ellipsoid.
func (c *CRS) geodeticDefinition(k tiff.GeoKeys) tiff.GeoKeys {
	if code := c.geographicCode(); code != 0 {
		k.Set(tiff.GeoValue{Key: tiff.GeodeticCRS, Code: uint16(code)})
		return k
	}
	name := c.datum.name
	if c.kind != Projected || name == "" {
		name = c.name
	}
	e := c.datum.ellipsoid
	k.Set(tiff.GeoValue{Key: tiff.GeodeticCRS, Code: tiff.UserDefined})
	k.Set(tiff.GeoValue{Key: tiff.GeodeticCitation, Text: name})
	datum := uint16(tiff.UserDefined)
	if c.datum.code > 0 && c.datum.code < tiff.UserDefined {
		datum = uint16(c.datum.code)
	}
	k.Set(tiff.GeoValue{Key: tiff.GeodeticDatum, Code: datum})
	k.Set(tiff.GeoValue{Key: tiff.GeogAngularUnits, Code: 9102})
	k.Set(tiff.GeoValue{Key: tiff.Ellipsoid, Code: tiff.UserDefined})
	k.Set(tiff.GeoValue{Key: tiff.EllipsoidSemiMajorAxis, Numbers: []float64{e.SemiMajorAxis}})
	if e.InverseFlattening == 0 {
		k.Set(tiff.GeoValue{Key: tiff.EllipsoidSemiMinorAxis, Numbers: []float64{e.SemiMajorAxis}})
	} else {
		k.Set(tiff.GeoValue{Key: tiff.EllipsoidInvFlattening, Numbers: []float64{e.InverseFlattening}})
	}
	k.Set(tiff.GeoValue{Key: tiff.PrimeMeridianLongitude, Numbers: []float64{c.datum.meridian}})
	if len(c.toWGS84) >= 7 {
		p := append([]float64(nil), c.toWGS84[:7]...)
		p[6] *= 1e6
		k.Set(tiff.GeoValue{Key: tiff.GeogToWGS84, Numbers: p})
	}
	return k
}

// geographicCode returns the least code of a geographic system in degrees with the datum, or 0.
func (c *CRS) geographicCode() int {
	t := epsg.Load()
	if c.kind == Geocentric || c.datum.code == 0 || c.toWGS84 != nil || c.kind == Geographic && math.Abs(c.unit-degree) > 1e-12 {
		return 0
	}
	found := 0
	for _, code := range t.Codes("geodetic") {
		r, _ := t.Row("geodetic", code)
		if r.Int(0) == c.datum.code && r.Text(1) == "NE" && math.Abs(unit(t, r.Int(2))-degree) < 1e-12 && code < tiff.UserDefined && (found == 0 || code < found) {
			found = code
		}
	}
	if found != 0 && datumOf(t, c.datum.code).ellipsoid != c.datum.ellipsoid {
		return 0
	}
	return found
}

// knownCode returns the EPSG code of a system that is defined without one, if it is
// geographic on a known datum, of web maps, or UTM on WGS 84; otherwise 0.
func (c *CRS) knownCode() int {
	codes := []int{c.datum.code - 2000, 3857}
	if c.projection.Lon0 != 0 {
		zone := int(math.Round(c.projection.Lon0/degree+183)) / 6
		codes = append(codes, 32600+zone, 32700+zone)
	}
	for _, code := range codes {
		if code < 2000 {
			continue
		}
		o, err := EPSG(code)
		if err == nil && o.kind == c.kind && o.datum.same(c.datum) && o.projection == c.projection && o.unit == c.unit && c.toWGS84 == nil {
			return code
		}
	}
	return 0
}
