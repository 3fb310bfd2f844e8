package crs

import (
	"errors"

	"quern.dev/geo/tiff"
)

// Converter converts coordinates from one system to another: [Transform], or another library that knows systems and shifts
// that this package does not have, such as package proj. x is to the east and y to the north, as in Transform. It is safe for
// concurrent use, and converts a point in the same way whatever other points are with it.
type Converter interface {
	// ForwardAll converts points in place. Heights, z, may be nil. Points without coordinates in the target become NaN; their
	// number is returned.
	ForwardAll(x, y, z []float64) (failed int, err error)
	// InverseAll is ForwardAll from the target to the source.
	InverseAll(x, y, z []float64) (failed int, err error)
}

// Describe is [Parse] for a system whose coordinates another library is to compute: the projection need not be one of this
// package. It has names, axes and units, but [NewTransform] refuses it; see [CRS.Supported]. Of texts that this package
// does not read at all, such as codes of other authorities, nothing is known but that the system is projected and has meters.
func Describe(text string) (*CRS, error) {
	c, err := Parse(text)
	var e *Error
	switch {
	case err == nil:
		return c, nil
	case errors.As(err, &e) && e.system != nil:
		c = e.system
	case errors.Is(err, ErrUnsupported) || errors.Is(err, ErrFormat) && len(text) > 0 && len(text) <= maxText:
		c = &CRS{name: text, kind: Projected, axes: "EN", unit: 1, heightUnit: 1, datum: datum{name: "unknown, of " + text}}
		if len(text) > 60 {
			c.name = "unnamed"
		}
	default:
		return nil, err
	}
	c.foreign = err
	if c.code == 0 {
		c.text = text
	}
	return c, nil
}

// DescribeEPSG is [EPSG] for a system whose coordinates another library is to compute; see [Describe].
func DescribeEPSG(code int) (*CRS, error) { return describe(EPSG(code)) }

// DescribeGeoKeys is [FromGeoKeys] for a system whose coordinates another library is to compute; see [Describe].
func DescribeGeoKeys(k tiff.GeoKeys) (*CRS, error) {
	c, err := FromGeoKeys(k)
	if text, ok := citedDefinition(k); ok && errors.Is(err, ErrUnsupported) {
		if c, err := Describe(text); err == nil {
			return c.Cited(text), nil
		}
	}
	return describe(c, err)
}

// Cited returns the system with a definition in Esri's form of WKT 1. [CRS.GeoKeys] cites it, as GDAL does, if GeoTIFF has no keys for
// the system.
func (c *CRS) Cited(definition string) *CRS {
	cited := *c
	cited.cited = definition
	return &cited
}

func describe(c *CRS, err error) (*CRS, error) {
	var e *Error
	if err == nil || !errors.As(err, &e) || e.system == nil {
		return c, err
	}
	e.system.foreign = err
	return e.system, nil
}

// Supported returns nil if this package computes the coordinates of the system, and the reason if it does not.
func (c *CRS) Supported() error { return c.foreign }

// Definition returns a text from which other libraries can make the system: a code of EPSG, or the text that it was read
// from; "" if there is none, as for systems of GeoKeys without a code.
func (c *CRS) Definition() string {
	if c.code != 0 {
		return c.epsg()
	}
	return c.text
}
