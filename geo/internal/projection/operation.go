package projection

import "math"

// System is one side of an operation: a projection and how its numbers are written.
type System struct {
	Projection Projection
	Swap       bool    // the first number is the northing
	UX, UY, UZ float64 // radians or meters per unit; negative for axes to the west and south
	Meridian   float64 // longitude of the prime meridian in radians
}

// geographic returns the longitude from Greenwich and the latitude of coordinates.
func (s *System) geographic(x, y float64) (lon, lat float64) {
	if s.Swap {
		x, y = y, x
	}
	x, y = float64(x*s.UX), float64(y*s.UY)
	if s.Projection.Method != Geographic {
		x, y = s.Projection.Inverse(x, y)
	} else if !(math.Abs(y) <= domain && math.Abs(x) < 1e4) {
		return outside()
	}
	return x + s.Meridian, y
}

// coordinates is the inverse of geographic. Longitudes are between -180 and 180 degrees of the system's own
// prime meridian; an angle of half a turn keeps its sign.
func (s *System) coordinates(lon, lat float64) (x, y float64) {
	lon -= s.Meridian
	if s.Projection.Method == Geographic {
		x, y = wrap(lon)/s.UX, lat/s.UY
	} else {
		x, y = s.Projection.Forward(lon, lat)
		x, y = x/s.UX, y/s.UY
	}
	if s.Swap {
		x, y = y, x
	}
	return x, y
}

// Operation leads from one system to another. The shift of datums is a grid, a matrix for Cartesian
// coordinates, and another grid, each of which may be missing; geoids shift heights.
type Operation struct {
	From, To         System
	Figure, Next     Ellipsoid // of the datums on both sides of the matrix
	Source, Target   Grid
	Cartesian        bool
	Matrix           Matrix
	Geoid, NextGeoid Grid // heights of the source, and of the target, are above these
}

// Apply converts a point. The result is NaN where the operation has no value. grids are those that the
// operation refers to.
func (o *Operation) Apply(subgrids []Subgrid, nodes []float32, x, y, z float64) (float64, float64, float64) {
	var lon, lat float64
	geocentric := o.From.Projection.Method == Geocentric
	z = float64(z * o.From.UZ)
	if geocentric {
		x, y = float64(x*o.From.UX), float64(y*o.From.UY)
	} else {
		lon, lat = o.From.geographic(x, y)
		lon, lat = o.Source.shift(subgrids, nodes, lon, lat)
		z = o.Geoid.lift(subgrids, nodes, lon, lat, z, 1)
	}
	if o.Cartesian || geocentric || o.To.Projection.Method == Geocentric {
		if !geocentric {
			x, y, z = o.Figure.Geocentric(lon, lat, z)
		}
		if o.Cartesian {
			x, y, z = o.Matrix.apply(x, y, z)
		}
		if o.To.Projection.Method == Geocentric {
			return x / o.To.UX, y / o.To.UY, z / o.To.UZ
		}
		lon, lat, z = o.Next.Geodetic(x, y, z)
	}
	z = o.NextGeoid.lift(subgrids, nodes, lon, lat, z, -1)
	lon, lat = o.Target.shift(subgrids, nodes, lon, lat)
	x, y = o.To.coordinates(lon, lat)
	return x, y, z / o.To.UZ
}

// lift adds the height of a geoid, with a sign.
func (g Grid) lift(subgrids []Subgrid, nodes []float32, lon, lat, z, sign float64) float64 {
	if g.Count == 0 {
		return z
	}
	h, _, ok := g.interpolate(subgrids, nodes, lon, lat)
	if !ok {
		return math.NaN()
	}
	return fma(sign, h, z)
}
