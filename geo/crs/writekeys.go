package crs

import (
	"math"

	"quern.dev/geo/tiff"
)

// projectedMethods are EPSG's methods as coordinate transformations of GeoTIFF, with the keys of the origin.
var projectedMethods = map[int]struct {
	code     uint16
	lat, lon tiff.GeoKey
}{
	9807: {1, tiff.ProjNatOriginLat, tiff.ProjNatOriginLong}, 9808: {27, tiff.ProjNatOriginLat, tiff.ProjNatOriginLong},
	9804: {7, tiff.ProjNatOriginLat, tiff.ProjNatOriginLong}, 9805: {7, tiff.ProjNatOriginLat, tiff.ProjNatOriginLong},
	9802: {8, tiff.ProjFalseOriginLat, tiff.ProjFalseOriginLong}, conicFlexible: {8, tiff.ProjFalseOriginLat, tiff.ProjFalseOriginLong},
	9801: {9, tiff.ProjNatOriginLat, tiff.ProjNatOriginLong},
	9820: {10, tiff.ProjCenterLat, tiff.ProjCenterLong}, 9822: {11, tiff.ProjNatOriginLat, tiff.ProjNatOriginLong},
	stereographic: {14, tiff.ProjCenterLat, tiff.ProjCenterLong}, 9809: {16, tiff.ProjNatOriginLat, tiff.ProjNatOriginLong},
	9810: {15, tiff.ProjNatOriginLat, straightLongitude}, 1028: {17, tiff.ProjCenterLat, tiff.ProjCenterLong},
	sinusoidal: {24, 0, tiff.ProjCenterLong}, 9835: {28, 0, tiff.ProjNatOriginLong},
	9812: {3, tiff.ProjCenterLat, tiff.ProjCenterLong},
}

const (
	straightLongitude  tiff.GeoKey = 3095 // ProjStraightVertPoleLong
	rectifiedGridAngle tiff.GeoKey = 3096
	scaleAtCenter      tiff.GeoKey = 3093
)

// GeoKeys returns the keys by which a GeoTIFF file names the system: its EPSG code, or without one its definition. A
// definition that keys cannot hold, or not so that [FromGeoKeys] returns the same system, is an error that matches
// [ErrUnsupported].
func (c *CRS) GeoKeys() (tiff.GeoKeys, error) {
	const op = "GeoKeys"
	code := c.Code()
	if code == 0 {
		code = c.knownCode()
	}
	var k tiff.GeoKeys
	set := func(v tiff.GeoValue) { k.Set(v) }
	set(tiff.GeoValue{Key: tiff.GTRasterType, Code: tiff.RasterPixelIsArea})
	model, key, citation := uint16(tiff.ModelProjected), tiff.ProjectedCRS, tiff.GTCitation
	switch c.kind {
	case Geographic:
		model, key, citation = tiff.ModelGeographic, tiff.GeodeticCRS, tiff.GeodeticCitation
	case Geocentric:
		return nil, failure(ErrUnsupported, op, c.name, "geocentric coordinates are not those of an image")
	}
	set(tiff.GeoValue{Key: tiff.GTModelType, Code: model})
	set(tiff.GeoValue{Key: citation, Text: c.name})
	if code > 0 && code < tiff.UserDefined {
		set(tiff.GeoValue{Key: key, Code: uint16(code)})
		return k, nil
	}
	set(tiff.GeoValue{Key: key, Code: tiff.UserDefined})
	c.setGeodetic(set)
	if c.kind == Projected {
		if err := c.setProjection(set); err != nil {
			return nil, err
		}
	}
	same, err := FromGeoKeys(k)
	if err != nil || same.projection != c.projection || !same.datum.same(c.datum) && same.datum.ellipsoid != c.datum.ellipsoid || same.unit != c.unit || same.datum.meridian != c.datum.meridian {
		return nil, failure(ErrUnsupported, op, c.name, "the keys of GeoTIFF cannot define the system")
	}
	return k, nil
}

// setGeodetic adds the keys of the datum.
func (c *CRS) setGeodetic(set func(tiff.GeoValue)) {
	if base := c.datum.code - 2000; c.datum.code > 0 { // EPSG's numbers of old systems and datums
		if g, err := EPSG(base); err == nil && g.kind == Geographic && g.datum == c.datum && (c.kind == Projected || g.unit == c.unit) {
			set(tiff.GeoValue{Key: tiff.GeodeticCRS, Code: uint16(base)})
			return
		}
	}
	set(tiff.GeoValue{Key: tiff.GeodeticCRS, Code: tiff.UserDefined})
	if c.datum.code > 0 {
		set(tiff.GeoValue{Key: tiff.GeodeticDatum, Code: uint16(c.datum.code)})
	} else if c.kind == Projected {
		set(tiff.GeoValue{Key: tiff.GeodeticCitation, Text: c.datum.name})
	}
	set(tiff.GeoValue{Key: tiff.GeogAngularUnits, Code: 9102})
	if c.kind == Geographic && c.unit != degree {
		set(tiff.GeoValue{Key: tiff.GeogAngularUnits, Code: tiff.UserDefined})
		set(tiff.GeoValue{Key: tiff.GeogAngularUnitSize, Numbers: []float64{c.unit}})
	}
	e := c.datum.ellipsoid
	set(tiff.GeoValue{Key: tiff.Ellipsoid, Code: tiff.UserDefined})
	set(tiff.GeoValue{Key: tiff.EllipsoidSemiMajorAxis, Numbers: []float64{e.SemiMajorAxis}})
	if e.InverseFlattening == 0 {
		set(tiff.GeoValue{Key: tiff.EllipsoidSemiMinorAxis, Numbers: []float64{e.SemiMajorAxis}})
	} else {
		set(tiff.GeoValue{Key: tiff.EllipsoidInvFlattening, Numbers: []float64{e.InverseFlattening}})
	}
	if c.datum.meridian != 0 {
		set(tiff.GeoValue{Key: tiff.PrimeMeridianLongitude, Numbers: []float64{c.datum.meridian}})
	}
	if t := c.toWGS84; len(t) == 7 {
		set(tiff.GeoValue{Key: tiff.GeogToWGS84, Numbers: []float64{t[0], t[1], t[2], t[3], t[4], t[5], t[6] * 1e6}})
	}
}

// setProjection adds the keys of the projection.
func (c *CRS) setProjection(set func(tiff.GeoValue)) error {
	method, v := c.method, c.parameters
	switch {
	case method == conicFlexible && !v.given[parallel2]:
		method = 9801
	case method == polarFlexible || method == 9829:
		method = 9810
		if v.given[parallel1] {
			v.set(lat0, v.value[parallel1])
			v.given[parallel1] = false
		}
	}
	m, ok := projectedMethods[method]
	if !ok {
		return failure(ErrUnsupported, "GeoKeys", c.name, "GeoTIFF has no keys for the projection")
	}
	set(tiff.GeoValue{Key: tiff.Projection, Code: tiff.UserDefined})
	set(tiff.GeoValue{Key: tiff.ProjMethod, Code: m.code})
	set(tiff.GeoValue{Key: tiff.ProjectedCitation, Text: c.name})
	if c.unit == 1 {
		set(tiff.GeoValue{Key: tiff.ProjLinearUnits, Code: 9001})
	} else {
		set(tiff.GeoValue{Key: tiff.ProjLinearUnits, Code: tiff.UserDefined})
		set(tiff.GeoValue{Key: tiff.ProjLinearUnitSize, Numbers: []float64{c.unit}})
	}
	number := func(r role, key tiff.GeoKey, unit float64) {
		if v.given[r] && key != 0 {
			set(tiff.GeoValue{Key: key, Numbers: []float64{v.value[r] / unit}})
		}
	}
	scaleKey := tiff.ProjScaleAtNatOrigin
	if method == 9812 {
		scaleKey = scaleAtCenter
	}
	number(lat0, m.lat, 1)
	number(lon0, m.lon, 1)
	number(parallel1, tiff.ProjStdParallel1, 1)
	number(parallel2, tiff.ProjStdParallel2, 1)
	number(scale, scaleKey, 1)
	number(azimuth, tiff.ProjAzimuthAngle, 1)
	number(gridAngle, rectifiedGridAngle, 1)
	number(easting, tiff.ProjFalseEasting, c.unit)
	number(northing, tiff.ProjFalseNorthing, c.unit)
	return nil
}

// knownCode returns the EPSG code of a system that is defined without one, if it is one of those of web maps or of UTM on
// WGS 84, or a geographic system of a datum that is known; otherwise 0.
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
