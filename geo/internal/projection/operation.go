package projection

import "math"

// System is one side of an operation: a projection and how its numbers are written.
type System struct {
	Projection Projection
	Swap       bool    // the first number is the northing
	UX, UY, UZ float64 // radians or meters per unit; negative for axes to the west and south
	Meridian   float64 // longitude of the prime meridian in radians
}

// read returns coordinates in radians or meters, to the east and the north.
func (s *System) read(x, y float64) (float64, float64) {
	if s.Swap {
		x, y = y, x
	}
	return float64(x * s.UX), float64(y * s.UY)
}

// write is the inverse of read.
func (s *System) write(x, y float64) (float64, float64) {
	x, y = x/s.UX, y/s.UY
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
// operation refers to. It calls Forward and Inverse itself, because each function between them and a kernel has a copy of
// their code while the kernel is compiled.
func (o *Operation) Apply(subgrids []Subgrid, nodes []float32, x, y, z float64) (float64, float64, float64) {
	var lon, lat float64
	geocentric := o.From.Projection.Method == Geocentric
	z = float64(z * o.From.UZ)
	if geocentric {
		x, y = float64(x*o.From.UX), float64(y*o.From.UY)
	} else {
		lon, lat = o.From.read(x, y)
		if o.From.Projection.Method != Geographic {
			lon, lat = o.From.Projection.Inverse(lon, lat)
		} else if !(math.Abs(lat) <= domain && math.Abs(lon) < 1e4) {
			lon, lat = outside()
		}
		lon += o.From.Meridian
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
	// Longitudes are between -180 and 180 degrees of the system's own prime meridian; an angle of half a turn keeps its sign.
	lon -= o.To.Meridian
	if o.To.Projection.Method == Geographic {
		lon = wrap(lon)
	} else {
		lon, lat = o.To.Projection.Forward(lon, lat)
	}
	x, y = o.To.write(lon, lat)
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
