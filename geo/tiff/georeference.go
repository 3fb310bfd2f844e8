package tiff

import "slices"

// Georeference says where pixels are: as a scale and a tie point, a matrix, or several
// tie points, in the coordinate system that Keys describes.
type Georeference struct {
	Keys GeoKeys
	// Tiepoints are pixels whose coordinates are known. Several of them without Scale and
	// Matrix are ground control points.
	Tiepoints []Tiepoint
	// Scale is the size of a pixel in x, y and z, or nil. A positive y means that rows go south.
	Scale []float64
	// Matrix has the 16 numbers of a 4 x 4 matrix in rows, from pixel to coordinates, or nil.
	Matrix []float64
}

// Tiepoint is a point of the image (column, row, 0) and its coordinates.
type Tiepoint struct{ Column, Row, Level, X, Y, Z float64 }

// Affine maps pixels to coordinates, in GDAL's order:
//
//	x = a[0] + column*a[1] + row*a[2]
//	y = a[3] + column*a[4] + row*a[5]
//
// The upper left corner of the image is (0, 0), and the centre of its first pixel (0.5, 0.5).
type Affine [6]float64

// PixelIsPoint reports whether coordinates in the file are those of the centres of pixels.
// [Georeference.Affine] and [Georeference.ControlPoints] have taken it into account.
func (g *Georeference) PixelIsPoint() bool {
	code, ok := g.Keys.Code(GTRasterType)
	return ok && code == RasterPixelIsPoint
}

// Affine returns the map from pixels to coordinates. It is false if there is none.
func (g *Georeference) Affine() (Affine, bool) {
	var a Affine
	switch {
	case len(g.Matrix) == 16:
		m := g.Matrix
		a = Affine{m[3], m[0], m[1], m[7], m[4], m[5]}
	case len(g.Scale) >= 2 && g.Scale[0] != 0 && g.Scale[1] != 0 && len(g.Tiepoints) >= 1:
		t, sx, sy := g.Tiepoints[0], g.Scale[0], g.Scale[1]
		a = Affine{t.X - t.Column*sx, sx, 0, t.Y + t.Row*sy, 0, -sy}
	default:
		return a, false
	}
	if g.PixelIsPoint() {
		a[0] -= a[1]/2 + a[2]/2
		a[3] -= a[4]/2 + a[5]/2
	}
	return a, true
}

// SetAffine replaces the map from pixels to coordinates. Set the keys first: they say
// whether pixels are points.
func (g *Georeference) SetAffine(a Affine) {
	if g.PixelIsPoint() {
		a[0] += a[1]/2 + a[2]/2
		a[3] += a[4]/2 + a[5]/2
	}
	g.Tiepoints, g.Scale, g.Matrix = nil, nil, nil
	if a[2] == 0 && a[4] == 0 && a[1] > 0 && a[5] < 0 {
		g.Scale = []float64{a[1], -a[5], 0}
		g.Tiepoints = []Tiepoint{{X: a[0], Y: a[3]}}
		return
	}
	g.Matrix = []float64{a[1], a[2], 0, a[0], a[4], a[5], 0, a[3], 0, 0, 0, 0, 0, 0, 0, 1}
}

// ControlPoints returns the ground control points: tie points that are not part of an affine map,
// with columns and rows counted from the corner of the image. It is nil if there are none.
func (g *Georeference) ControlPoints() []Tiepoint {
	if _, ok := g.Affine(); ok || len(g.Tiepoints) == 0 {
		return nil
	}
	points := slices.Clone(g.Tiepoints)
	if g.PixelIsPoint() {
		for i := range points {
			points[i].Column += 0.5
			points[i].Row += 0.5
		}
	}
	return points
}

func readGeoreference(d *directory) (Georeference, error) {
	var g Georeference
	var err error
	if g.Scale, err = d.floats(ModelPixelScale); err != nil {
		return g, err
	}
	if g.Matrix, err = d.floats(ModelTransformation); err != nil {
		return g, err
	}
	if g.Matrix != nil && len(g.Matrix) != 16 {
		return g, d.damaged(ModelTransformation, d.entries[ModelTransformation].at, "%d values instead of 16", len(g.Matrix))
	}
	points, err := d.floats(ModelTiepoint)
	if err != nil {
		return g, err
	}
	if len(points)%6 != 0 {
		return g, d.damaged(ModelTiepoint, d.entries[ModelTiepoint].at, "%d values, which is not a multiple of 6", len(points))
	}
	for p := range slices.Chunk(points, 6) {
		g.Tiepoints = append(g.Tiepoints, Tiepoint{p[0], p[1], p[2], p[3], p[4], p[5]})
	}
	g.Keys, err = readGeoKeys(d)
	return g, err
}
