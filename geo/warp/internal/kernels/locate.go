package kernels

import (
	"math"

	"quern.dev/geo/internal/projection"
	"quern.dev/kernel"
)

// Affine maps a point, in GDAL's order.
type Affine [6]float64

// Apply maps a point.
func (a *Affine) Apply(x, y float64) (float64, float64) {
	return a[0] + float64(x*a[1]) + float64(y*a[2]), a[3] + float64(x*a[4]) + float64(y*a[5])
}

// Place leads from pixels of an output to pixels of a source.
type Place struct {
	Output    Affine // from pixels to coordinates
	Source    Affine // from coordinates of the source to pixels, if Fit is empty
	Fit       Fit    // the same
	Same      bool   // the coordinate systems are equal
	Operation projection.Operation
}

// Position returns where a point of the output is in the source, or NaN.
func (p *Place) Position(subgrids []projection.Subgrid, nodes []float32, spline []float64, x, y float64) (float64, float64) {
	x, y = p.Output.Apply(x, y)
	if !p.Same {
		x, y, _ = p.Operation.Apply(subgrids, nodes, x, y, 0)
	}
	return p.Pixel(spline, x, y)
}

// Pixel maps coordinates of the source to pixels.
func (p *Place) Pixel(spline []float64, x, y float64) (float64, float64) {
	if p.Fit.Terms != 0 {
		return p.Fit.Apply(spline, x, y)
	}
	return p.Source.Apply(x, y)
}

// Separable reports whether longitude depends on the column alone, and latitude on the row: the output has a cylindrical
// projection and is not rotated. Nothing but the projection of the source may follow.
func (p *Place) Separable() bool {
	o := &p.Operation
	if p.Same || p.Fit.Terms != 0 || p.Output[2] != 0 || p.Output[4] != 0 || o.From.Swap || o.Cartesian || o.Source.Count+o.Target.Count+o.Geoid.Count+o.NextGeoid.Count != 0 {
		return false
	}
	from, to := o.From.Projection.Method, o.To.Projection.Method
	return (from == projection.Mercator || from == projection.CylindricalEqualArea || from == projection.Cylindrical) &&
		to != projection.Geographic && to != projection.Geocentric
}

// axes writes the longitudes of the columns of a tile, and after them the latitudes of its rows, if they are
// separable; see locate.
//
//quern:kernel
func axes(t kernel.Thread, x0, y0, width, height int, half float64, places []Place, out []float64) {
	i := t.Global()
	if i >= width+height {
		return
	}
	p := &places[0]
	from := &p.Operation.From
	// The other coordinate is one that is valid everywhere.
	if i < width {
		x := p.Output[0] + float64((float64(x0+i)+half)*p.Output[1])
		lon, _ := from.Projection.Inverse(float64(x*from.UX), from.Projection.Y0)
		out[i] = lon + from.Meridian
	} else {
		y := p.Output[3] + float64((float64(y0+i-width)+half)*p.Output[5])
		_, out[i] = from.Projection.Inverse(from.Projection.X0, float64(y*from.UY))
	}
}

// locate writes the positions of the points of a tile: its pixels, from (x0, y0) on, moved by half, which is 0.5 for
// centers and 0 for corners. places has one element: it is a slice because it is large for a parameter. If separable, the
// longitudes and latitudes are those of axes.
//
//quern:kernel
func locate(t kernel.Thread, x0, y0, width, height int, half float64, separable bool, places []Place, subgrids []projection.Subgrid, nodes []float32, spline, axis, xs, ys []float64) {
	x, y := t.Global2()
	if x >= width || y >= height {
		return
	}
	i := y*width + x
	p := &places[0]
	if !separable {
		xs[i], ys[i] = p.Position(subgrids, nodes, spline, float64(x0+x)+half, float64(y0+y)+half)
		return
	}
	to := &p.Operation.To
	u, v := to.Projection.Forward(axis[x]-to.Meridian, axis[width+y])
	u, v = u/to.UX, v/to.UY
	if to.Swap {
		u, v = v, u
	}
	xs[i], ys[i] = p.Source.Apply(u, v)
}

// RowsPerThread is how many rows of a column a thread of bounds takes.
const RowsPerThread = 16

// bounds finds the pixels of a source of sw x sh pixels that have positions in them: box[0] and box[1] become the
// least column and row, box[2] and box[3] the greatest. Positions further outside than a margin do not count.
//
//quern:kernel
func bounds(t kernel.Thread, width, height, sw, sh, marginX, marginY int, xs, ys []float64, box []int32) {
	x, part := t.Global2()
	if x >= width || part*RowsPerThread >= height {
		return
	}
	left, top, right, bottom := int32(math.MaxInt32), int32(math.MaxInt32), int32(-1), int32(-1)
	for y := part * RowsPerThread; y < min((part+1)*RowsPerThread, height); y++ {
		px, py := xs[y*width+x], ys[y*width+x]
		if !(px >= float64(-marginX) && py >= float64(-marginY) && px <= float64(sw+marginX) && py <= float64(sh+marginY)) {
			continue
		}
		column, row := int32(min(max(int(px), 0), sw-1)), int32(min(max(int(py), 0), sh-1))
		left, top, right, bottom = min(left, column), min(top, row), max(right, column), max(bottom, row)
	}
	if right >= 0 {
		kernel.AtomicMin(&box[0], left)
		kernel.AtomicMin(&box[1], top)
		kernel.AtomicMax(&box[2], right)
		kernel.AtomicMax(&box[3], bottom)
	}
}
