package crs

import (
	"fmt"
	"math"
	"strings"

	"quern.dev/geo/crs/internal/epsg"
	"quern.dev/geo/internal/projection"
)

// Kind is what the coordinates of a system are.
type Kind int

const (
	Geographic Kind = iota // latitude and longitude
	Projected              // easting and northing
	Geocentric             // Cartesian coordinates from the center of the Earth
)

// String returns the name of the kind, such as "projected".
func (k Kind) String() string {
	names := [...]string{Geographic: "geographic", Projected: "projected", Geocentric: "geocentric"}
	if k < 0 || int(k) >= len(names) {
		return fmt.Sprintf("Kind(%d)", int(k))
	}
	return names[k]
}

// Axis is the direction of an axis, and its unit.
type Axis struct {
	Direction string  // "north", "east", "south", "west", "up", "down", "X", "Y" or "Z"
	Unit      float64 // radians or meters
}

// Extent is an area in degrees. West is greater than East if the area crosses the antimeridian.
type Extent struct{ West, South, East, North float64 }

// Ellipsoid is the figure of the Earth that a datum uses. InverseFlattening is 0 for a sphere.
type Ellipsoid struct {
	SemiMajorAxis, InverseFlattening float64
}

func (e Ellipsoid) math() projection.Ellipsoid {
	if e.InverseFlattening == 0 {
		return projection.Ellipsoid{A: e.SemiMajorAxis}
	}
	f := 1 / e.InverseFlattening
	return projection.Ellipsoid{A: e.SemiMajorAxis, E2: f * (2 - f)}
}

func (e Ellipsoid) check() error {
	switch f := e.InverseFlattening; {
	case !(e.SemiMajorAxis > 1e-3 && e.SemiMajorAxis < 1e9):
		return fmt.Errorf("the ellipsoid has a semi-major axis of %g m", e.SemiMajorAxis)
	case f != 0 && !(f > 100 && f < 1e20):
		return fmt.Errorf("the ellipsoid has an inverse flattening of %g; at least 100 is supported", f)
	}
	return nil
}

// datum is a geodetic datum. Those without a code are known by their name and ellipsoid only.
type datum struct {
	code      int
	name      string
	ellipsoid Ellipsoid
	meridian  float64 // degrees
}

func (d datum) same(o datum) bool {
	if d.code != 0 && o.code != 0 {
		t := epsg.Load()
		return t.Greenwich(d.code) == t.Greenwich(o.code) // longitudes are counted from Greenwich in between
	}
	return d.name != "" && epsg.Normal(d.name) == epsg.Normal(o.name) && d.ellipsoid == o.ellipsoid
}

// CRS is a coordinate reference system. It does not change, and may be used concurrently.
type CRS struct {
	name       string
	kind       Kind
	code       int
	datum      datum
	axes       string  // directions: a letter each, as in package epsg
	unit       float64 // of horizontal axes: radians or meters
	heightUnit float64 // meters
	vertical   vertical
	extents    []Extent
	projection projection.Projection
	conversion conversion // of a projected system
	toWGS84    []float64  // Helmert parameters as in package epsg, where the definition has its own
	text       string     // from which it was read, if it has no code
	cited      string     // Esri's definition, or ""
	foreign    error      // why this package does not compute its coordinates, or nil
}

// vertical is the surface to which heights refer: none for the ellipsoid.
type vertical struct {
	code int // of the datum
	name string
}

// Name returns the name.
func (c *CRS) Name() string { return c.name }

// Code returns the EPSG code, or 0.
func (c *CRS) Code() int { return c.code }

// Kind returns what the coordinates are.
func (c *CRS) Kind() Kind { return c.kind }

// Datum returns the name of the geodetic datum.
func (c *CRS) Datum() string { return c.datum.name }

// Ellipsoid returns the ellipsoid.
func (c *CRS) Ellipsoid() Ellipsoid { return c.datum.ellipsoid }

// Extents returns where the system may be used according to EPSG, as areas that belong together; none if
// that is unknown.
func (c *CRS) Extents() []Extent { return append([]Extent(nil), c.extents...) }

// Axes returns the axes in the order of the authority that defines the system, which [AuthorityOrder] keeps.
func (c *CRS) Axes() []Axis {
	var axes []Axis
	for _, d := range c.axes {
		a := Axis{Unit: c.unit}
		switch d {
		case 'N':
			a.Direction = "north"
		case 'E':
			a.Direction = "east"
		case 'S':
			a.Direction = "south"
		case 'W':
			a.Direction = "west"
		case 'U':
			a.Direction, a.Unit = "up", c.heightUnit
		case 'D':
			a.Direction, a.Unit = "down", c.heightUnit
		default:
			a.Direction = string(d)
		}
		axes = append(axes, a)
	}
	return axes
}

// String returns the name, with the code if there is one.
func (c *CRS) String() string {
	if c.code != 0 {
		return fmt.Sprintf("EPSG:%d (%s)", c.code, c.name)
	}
	return c.name
}

// check completes a system that was read.
func (c *CRS) check(op string) error {
	if err := c.datum.ellipsoid.check(); err != nil {
		return failure(ErrParameter, op, c.name, "%v", err)
	}
	if !(math.Abs(c.datum.meridian) <= 360) {
		return failure(ErrParameter, op, c.name, "the prime meridian is at %g degrees", c.datum.meridian)
	}
	for _, u := range []float64{c.unit, c.heightUnit} {
		if !(u > 1e-12 && u < 1e12) {
			return failure(ErrParameter, op, c.name, "a unit of %g", u)
		}
	}
	if c.kind == Geocentric {
		if c.axes != "XYZ" {
			return failure(ErrUnsupported, op, c.name, "geocentric axes %s are not supported", c.axes)
		}
		return nil
	}
	switch c.axes {
	case "EN", "NE", "WN", "NW", "ES", "SE", "WS", "SW", "ENU", "NEU", "END", "NED":
		return nil
	}
	return failure(ErrUnsupported, op, c.name, "axes in the directions %s are not supported", strings.ReplaceAll(c.axes, "?", "(other)"))
}

// system returns the system for the kernels.
func (c *CRS) system(authority bool) projection.System {
	s := projection.System{Projection: c.projection, UX: c.unit, UY: c.unit, UZ: c.heightUnit, Meridian: c.datum.meridian * degree}
	if c.kind == Geocentric {
		return s
	}
	northFirst := c.axes[0] == 'N' || c.axes[0] == 'S'
	// Axes to the south or the west keep their order, as in other software.
	s.Swap = northFirst && (authority || !strings.HasPrefix(c.axes, "NE"))
	if strings.ContainsRune(c.axes, 'W') {
		s.UX = -s.UX
	}
	if strings.ContainsRune(c.axes, 'S') {
		s.UY = -s.UY
	}
	if strings.ContainsRune(c.axes, 'D') {
		s.UZ = -s.UZ
	}
	return s
}

// epsg returns the code as text.
func (c *CRS) epsg() string { return fmt.Sprintf("EPSG:%d", c.code) }
