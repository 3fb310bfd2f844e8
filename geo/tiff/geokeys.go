package tiff

import (
	"cmp"
	"slices"
	"strings"
)

// GeoKey is the number of a key of GeoTIFF.
type GeoKey uint16

// Keys of GeoTIFF 1.1. Others are read and written too.
const (
	GTModelType            GeoKey = 1024
	GTRasterType           GeoKey = 1025
	GTCitation             GeoKey = 1026
	GeodeticCRS            GeoKey = 2048 // GeographicType in GeoTIFF 1.0
	GeodeticCitation       GeoKey = 2049
	GeodeticDatum          GeoKey = 2050
	PrimeMeridian          GeoKey = 2051
	GeogLinearUnits        GeoKey = 2052
	GeogAngularUnits       GeoKey = 2054
	GeogAngularUnitSize    GeoKey = 2055
	Ellipsoid              GeoKey = 2056
	EllipsoidSemiMajorAxis GeoKey = 2057
	EllipsoidSemiMinorAxis GeoKey = 2058
	EllipsoidInvFlattening GeoKey = 2059
	PrimeMeridianLongitude GeoKey = 2061
	GeogToWGS84            GeoKey = 2062
	ProjectedCRS           GeoKey = 3072
	ProjectedCitation      GeoKey = 3073
	Projection             GeoKey = 3074
	ProjMethod             GeoKey = 3075
	ProjLinearUnits        GeoKey = 3076
	ProjLinearUnitSize     GeoKey = 3077
	ProjStdParallel1       GeoKey = 3078
	ProjStdParallel2       GeoKey = 3079
	ProjNatOriginLong      GeoKey = 3080
	ProjNatOriginLat       GeoKey = 3081
	ProjFalseEasting       GeoKey = 3082
	ProjFalseNorthing      GeoKey = 3083
	ProjFalseOriginLong    GeoKey = 3084
	ProjFalseOriginLat     GeoKey = 3085
	ProjCenterLong         GeoKey = 3088
	ProjCenterLat          GeoKey = 3089
	ProjScaleAtNatOrigin   GeoKey = 3092
	ProjAzimuthAngle       GeoKey = 3094
	VerticalCRS            GeoKey = 4096
	VerticalCitation       GeoKey = 4097
	VerticalDatum          GeoKey = 4098
	VerticalUnits          GeoKey = 4099
)

// Values of keys.
const (
	ModelProjected     = 1
	ModelGeographic    = 2
	ModelGeocentric    = 3
	RasterPixelIsArea  = 1
	RasterPixelIsPoint = 2
	UserDefined        = 32767 // the other keys define the system, not a code
)

// GeoValue is a key and its value: Text if it is a citation, Numbers if it has any, and Code
// otherwise.
type GeoValue struct {
	Key     GeoKey
	Code    uint16
	Numbers []float64
	Text    string
}

// GeoKeys are the keys of an image in increasing order.
type GeoKeys []GeoValue

func (k GeoKeys) find(key GeoKey) (*GeoValue, bool) {
	i, ok := slices.BinarySearchFunc(k, key, func(v GeoValue, key GeoKey) int { return cmp.Compare(v.Key, key) })
	if !ok {
		return nil, false
	}
	return &k[i], true
}

// Code returns the value of a key that has a code, such as one of EPSG.
func (k GeoKeys) Code(key GeoKey) (int, bool) {
	v, ok := k.find(key)
	if !ok || v.Numbers != nil || v.Text != "" {
		return 0, false
	}
	return int(v.Code), true
}

// Number returns the first value of a key that has numbers.
func (k GeoKeys) Number(key GeoKey) (float64, bool) {
	v, ok := k.find(key)
	if !ok || len(v.Numbers) == 0 {
		return 0, false
	}
	return v.Numbers[0], true
}

// Text returns the value of a key that has text.
func (k GeoKeys) Text(key GeoKey) (string, bool) {
	v, ok := k.find(key)
	if !ok || v.Text == "" {
		return "", false
	}
	return v.Text, true
}

// EPSG returns the EPSG code of the projected or, without one, geographic or geocentric system. It is
// false if the file defines the system itself, or has none.
func (k GeoKeys) EPSG() (int, bool) {
	if model, ok := k.Code(GTModelType); ok && model == UserDefined {
		return 0, false // GeodeticCRS is that of the geographic system behind a projected one
	}
	for _, key := range []GeoKey{ProjectedCRS, GeodeticCRS} {
		if code, ok := k.Code(key); ok && code != 0 {
			return code, code != UserDefined
		}
	}
	return 0, false
}

// Set adds a key, or replaces its value.
func (k *GeoKeys) Set(v GeoValue) {
	i, ok := slices.BinarySearchFunc(*k, v.Key, func(v GeoValue, key GeoKey) int { return cmp.Compare(v.Key, key) })
	if ok {
		(*k)[i] = v
		return
	}
	*k = slices.Insert(*k, i, v)
}

func readGeoKeys(d *directory) (GeoKeys, error) {
	words, err := d.uints(GeoKeyDirectory)
	if err != nil || words == nil {
		return nil, err
	}
	numbers, err := d.floats(GeoDoubleParams)
	if err != nil {
		return nil, err
	}
	text, err := d.text(GeoASCIIParams)
	if err != nil {
		return nil, err
	}
	keys, problem := parseGeoKeys(words, numbers, text)
	if problem != nil {
		problem.Op, problem.Directory, problem.Offset = d.op, d.place.directory, d.entries[problem.Tag].offset
		return nil, problem
	}
	return keys, nil
}

// parseGeoKeys reads the three tags of GeoKeys.
func parseGeoKeys(words []uint64, numbers []float64, text string) (GeoKeys, *Error) {
	if len(words) < 4 || words[0] != 1 {
		return nil, opening.damaged(GeoKeyDirectory, -1, "the directory of GeoKeys has %d values and does not begin with version 1", len(words))
	}
	n := int(min(words[3], 65536))
	if len(words) < 4+4*n {
		return nil, opening.damaged(GeoKeyDirectory, -1, "%d GeoKeys, but values for %d", n, len(words)/4-1)
	}
	var keys GeoKeys
	for i := range n {
		w := words[4+4*i:]
		v := GeoValue{Key: GeoKey(w[0])}
		tag, count, at := Tag(w[1]), w[2], w[3]
		switch tag {
		case 0:
			v.Code = uint16(at)
		case GeoKeyDirectory:
			if count != 1 || at >= uint64(len(words)) {
				return nil, opening.damaged(GeoKeyDirectory, -1, "GeoKey %d has %d values at index %d of %d", v.Key, count, at, len(words))
			}
			v.Code = uint16(words[at])
		case GeoDoubleParams:
			if at > uint64(len(numbers)) || count > uint64(len(numbers))-at || count == 0 {
				return nil, opening.damaged(GeoDoubleParams, -1, "GeoKey %d has %d values at index %d of %d", v.Key, count, at, len(numbers))
			}
			v.Numbers = numbers[at : at+count : at+count]
		case GeoASCIIParams:
			if at > uint64(len(text)) {
				return nil, opening.damaged(GeoASCIIParams, -1, "GeoKey %d has text at index %d of %d", v.Key, at, len(text))
			}
			part := text[at:min(at+count, uint64(len(text)))] // the last one may lack its end
			v.Text = strings.TrimRight(part, "|\x00")
		default:
			return nil, opening.damaged(GeoKeyDirectory, -1, "GeoKey %d has its value in tag %d", v.Key, tag)
		}
		keys = append(keys, v)
	}
	slices.SortStableFunc(keys, func(a, b GeoValue) int { return cmp.Compare(a.Key, b.Key) })
	return slices.CompactFunc(keys, func(a, b GeoValue) bool { return a.Key == b.Key }), nil
}

// tags returns the values of the three tags of GeoKeys.
func (k GeoKeys) tags() (words []uint16, numbers []float64, text string) {
	if len(k) == 0 {
		return nil, nil, ""
	}
	words = []uint16{1, 1, 0, uint16(len(k))}
	for _, v := range k {
		switch {
		case v.Text != "":
			words = append(words, uint16(v.Key), uint16(GeoASCIIParams), uint16(len(v.Text)+1), uint16(len(text)))
			text += v.Text + "|"
		case v.Numbers != nil:
			words = append(words, uint16(v.Key), uint16(GeoDoubleParams), uint16(len(v.Numbers)), uint16(len(numbers)))
			numbers = append(numbers, v.Numbers...)
		default:
			words = append(words, uint16(v.Key), 0, 1, v.Code)
		}
	}
	return words, numbers, text
}

// Numbers returns the values of a key that has numbers.
func (k GeoKeys) Numbers(key GeoKey) ([]float64, bool) {
	v, ok := k.find(key)
	if !ok || len(v.Numbers) == 0 {
		return nil, false
	}
	return slices.Clone(v.Numbers), true
}
