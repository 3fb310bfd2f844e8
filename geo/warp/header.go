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

// geoKeys returns the keys of a system.
func geoKeys(c *crs.CRS) (tiff.GeoKeys, error) {
	k, err := c.GeoKeys()
	if err != nil {
		return nil, failf(ErrArgument, "a file cannot name the target %v: %v", c, err)
	}
	return k, nil
}
