package warp

import (
	"math"
	"strconv"

	"quern.dev/geo/crs"
	"quern.dev/geo/tiff"
)

// limits returns the least and the greatest value of an integer type.
func limits(t tiff.Type) (least, most float64) {
	switch t {
	case tiff.Uint8:
		return 0, math.MaxUint8
	case tiff.Int8:
		return math.MinInt8, math.MaxInt8
	case tiff.Uint16:
		return 0, math.MaxUint16
	case tiff.Int16:
		return math.MinInt16, math.MaxInt16
	case tiff.Uint32:
		return 0, math.MaxUint32
	case tiff.Int32:
		return math.MinInt32, math.MaxInt32
	case tiff.Uint64:
		return 0, math.MaxUint64
	case tiff.Int64:
		return math.MinInt64, math.MaxInt64
	}
	return math.Inf(-1), math.Inf(1)
}

// rounded returns a value as samples have it.
func rounded(v float64, t tiff.Type) float64 {
	if t == tiff.Float32 {
		return float64(float32(v))
	}
	return v
}

func formatNoData(v float64) string {
	if math.IsNaN(v) {
		return "nan"
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// geoKeys returns the keys of a system with an EPSG code.
func geoKeys(c *crs.CRS) (tiff.GeoKeys, error) {
	code := c.Code()
	if code <= 0 || code >= tiff.UserDefined {
		return nil, failf(ErrArgument, "the target %v has no EPSG code by which a file can name it", c)
	}
	var k tiff.GeoKeys
	model, key, citation := uint16(tiff.ModelProjected), tiff.ProjectedCRS, tiff.GTCitation
	if c.Kind() == crs.Geographic {
		model, key, citation = tiff.ModelGeographic, tiff.GeodeticCRS, tiff.GeodeticCitation
	}
	k.Set(tiff.GeoValue{Key: tiff.GTModelType, Code: model})
	k.Set(tiff.GeoValue{Key: tiff.GTRasterType, Code: tiff.RasterPixelIsArea})
	k.Set(tiff.GeoValue{Key: key, Code: uint16(code)})
	k.Set(tiff.GeoValue{Key: citation, Text: c.Name()})
	return k, nil
}
