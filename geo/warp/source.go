package warp

import (
	"errors"
	"math"

	"quern.dev/geo/crs"
	"quern.dev/geo/internal/blocks"
	"quern.dev/geo/internal/projection"
	"quern.dev/geo/tiff"
	"quern.dev/geo/warp/internal/kernels"
)

// source is an image and how it gets to the output.
type source struct {
	im     *tiff.Image
	h      tiff.Header // of the bands that are warped
	name   string
	crs    *crs.CRS
	target *crs.CRS
	affine tiff.Affine // if outward is empty

	outward       kernels.Fit // from pixels to coordinates, or empty; place.Fit leads back
	outwardSpline []float64
	spline        []float64 // of place.Fit

	locator   Locator // instead of all that follows up to same, or nil
	transform *crs.Transform
	converter crs.Converter // instead of transform, or nil
	grids     projection.Grids
	place     kernels.Place
	same      bool // the coordinate systems are equal

	bands   int // without alpha
	alpha   int // band, or -1
	noData  []float64
	unified bool // the mask has noData: a pixel has none if all bands have none
	cut     *cut
	reader  *blocks.Reader
	shape   kernels.Source
	filter  kernels.Filter
	point   int
	pointed bool // kernel point is used

	// Pixels of the output around the source: exact but for what is between points that are tried, and with a margin
	// for it.
	core, footprint rectangle
}

// rectangle is a rectangle of pixels.
type rectangle struct{ x, y, w, h int }

func (r rectangle) meets(o rectangle) bool {
	return r.x < o.x+o.w && o.x < r.x+r.w && r.y < o.y+o.h && o.y < r.y+r.h
}

// newSource prepares a source for a target system, which is the source's own if it is nil.
func newSource(im *tiff.Image, o *Options, target *crs.CRS, cache *blocks.Cache) (*source, error) {
	s := &source{im: im, h: im.Header, name: im.String(), crs: o.SourceCRS}
	if err := s.setPlace(o.Fit); err != nil {
		return nil, err
	}
	if s.crs == nil {
		if len(im.Geo.Keys) == 0 {
			return nil, failf(ErrNoCRS, "%s: the file has no coordinate system; set the source's", s.name)
		}
		var err error
		read := crs.FromGeoKeys
		if o.Converter != nil {
			read = crs.DescribeGeoKeys
		}
		if s.crs, err = read(im.Geo.Keys); err != nil {
			return nil, err
		}
	}
	if s.target = target; target == nil {
		s.target = s.crs
	}
	if s.crs.Kind() == crs.Geocentric || s.target.Kind() == crs.Geocentric {
		return nil, failf(ErrArgument, "%s: geocentric coordinates are not those of an image", s.name)
	}
	if err := s.setTransform(o); err != nil {
		return nil, err
	}
	return s, s.setBands(o, cache)
}

// setBands chooses bands, and finds alpha and the values without data.
func (s *source) setBands(o *Options, cache *blocks.Cache) error {
	s.reader = &blocks.Reader{Image: s.im, Cache: cache}
	if o.Bands != nil {
		if err := s.choose(o.Bands, o.SourceAlpha); err != nil {
			return err
		}
	} else if o.SourceAlpha != AlphaAuto {
		s.setAlpha(o.SourceAlpha == AlphaLast)
	}
	s.alpha, s.bands = -1, s.h.Bands
	for i, e := range s.h.Extra {
		if e == tiff.StraightAlpha || e == tiff.AssociatedAlpha {
			s.alpha = s.h.Bands - len(s.h.Extra) + i
		}
	}
	if s.alpha >= 0 {
		if s.alpha != s.h.Bands-1 {
			return failf(ErrArgument, "%s: alpha is band %d of %d; it must be the last one", s.name, s.alpha+1, s.h.Bands)
		}
		s.bands--
	}
	return s.setNoData(o)
}

// choose takes some bands of the file, and its alpha.
func (s *source) choose(bands []int, alpha SourceAlpha) error {
	for _, b := range bands {
		if b < 0 || b >= s.im.Bands {
			return failf(ErrArgument, "options: band %d of %s, which has %d; they are counted from 0", b, s.name, s.im.Bands)
		}
	}
	last := s.im.Bands - 1
	if e := s.im.Extra; alpha == AlphaLast || alpha == AlphaAuto && len(e) > 0 && (e[len(e)-1] == tiff.StraightAlpha || e[len(e)-1] == tiff.AssociatedAlpha) {
		bands, alpha = append(bands[:len(bands):len(bands)], last), AlphaLast
	}
	s.h = s.h.Region(tiff.Region{Width: s.h.Width, Height: s.h.Height, Bands: bands})
	s.reader.Bands = bands
	s.setAlpha(alpha == AlphaLast)
	return nil
}

// setAlpha says whether the last band is alpha.
func (s *source) setAlpha(alpha bool) {
	colors := 1
	if s.h.Photometric == tiff.RGB && s.h.Bands >= 3 {
		colors = 3
	}
	extra := make([]tiff.ExtraSample, max(s.h.Bands-colors, 0))
	copy(extra, s.h.Extra)
	for i, e := range extra {
		if e == tiff.StraightAlpha || e == tiff.AssociatedAlpha {
			extra[i] = tiff.Unspecified
		}
	}
	if alpha && len(extra) > 0 {
		extra[len(extra)-1] = tiff.StraightAlpha
	}
	s.h.Extra = extra
}

func (s *source) setTransform(o *Options) error {
	if o.Converter != nil {
		return s.setConverter(o)
	}
	var err error
	if s.transform, err = crs.NewTransform(s.crs, s.target, o.Shift...); err != nil {
		return err
	}
	s.place.Operation, s.grids = s.transform.Operation(true)
	s.same = unchanged(&s.place.Operation)
	s.place.Same = s.same
	return nil
}

// unchanged reports whether an operation leaves coordinates as they are, except for rounding.
func unchanged(op *projection.Operation) bool {
	return op.From == op.To && !op.Cartesian && op.Source.Count == 0 && op.Target.Count == 0
}

// setPlace finds how pixels get to coordinates and back.
func (s *source) setPlace(fit Fit) error {
	if a, ok := s.h.Geo.Affine(); ok && fit == FitAuto {
		if a[1]*a[5]-a[2]*a[4] == 0 {
			return failf(ErrArgument, "%s: its pixels have no area", s.name)
		}
		s.affine = a
		s.place.Source = kernels.Affine(invert(a))
		return nil
	}
	return s.setFit(fit)
}

// coordinates maps a pixel to coordinates of the source.
func (s *source) coordinates(x, y float64) (float64, float64) {
	if s.outward.Terms != 0 {
		return s.outward.Apply(s.outwardSpline, x, y)
	}
	a := kernels.Affine(s.affine)
	return a.Apply(x, y)
}

// invert returns the inverse of an affine map.
func invert(a tiff.Affine) tiff.Affine {
	if a[2] == 0 && a[4] == 0 {
		return tiff.Affine{-a[0] / a[1], 1 / a[1], 0, -a[3] / a[5], 0, 1 / a[5]}
	}
	d := 1 / (a[1]*a[5] - a[2]*a[4])
	return tiff.Affine{
		(a[2]*a[3] - a[0]*a[5]) * d, a[5] * d, -a[2] * d,
		(-a[1]*a[3] + a[0]*a[4]) * d, -a[4] * d, a[1] * d,
	}
}

// setNoData finds the values of pixels without data.
func (s *source) setNoData(o *Options) error {
	switch {
	case o.IgnoreNoData:
		return nil
	case o.SourceNoData != nil:
		var err error
		if s.noData, err = perBand(o.SourceNoData, s.bands, "SourceNoData"); err != nil {
			return err
		}
		for i, v := range s.noData {
			s.noData[i] = rounded(v, s.h.Type)
		}
	default:
		if v, ok := s.h.NoDataValue(); ok {
			s.noData, _ = perBand([]float64{v}, s.bands, "")
		}
	}
	if s.noData != nil && s.h.Type.Complex() {
		return failf(errors.ErrUnsupported, "%s: values without data in complex samples; IgnoreNoData takes them as data", s.name)
	}
	s.unified = o.UnifiedNoData && s.noData != nil
	return nil
}

// perBand returns a value for each band.
func perBand(values []float64, bands int, what string) ([]float64, error) {
	if len(values) != 1 && len(values) != bands {
		return nil, failf(ErrArgument, "options: %s has %d values for %d bands", what, len(values), bands)
	}
	all := make([]float64, bands)
	for i := range all {
		all[i] = values[min(i, len(values)-1)]
	}
	return all, nil
}

// forward converts pixels of the source to coordinates of the target; NaN where there are none.
func (s *source) forward(p points) points {
	var q points
	for i := range p.x {
		x, y := s.coordinates(p.x[i], p.y[i])
		if !s.same && s.converter == nil {
			var err error
			if x, y, err = s.transform.Forward(x, y); err != nil {
				x, y = math.NaN(), math.NaN()
			}
		}
		q.add(x, y)
	}
	if s.converter != nil {
		s.convert(q, s.converter.ForwardAll)
	}
	return q
}

// back converts coordinates of the target to pixels of the source.
func (s *source) back(x, y float64) (float64, float64) {
	if math.IsNaN(x) || math.IsNaN(y) {
		return math.NaN(), math.NaN()
	}
	if s.converter != nil {
		p := points{[]float64{x}, []float64{y}}
		s.convert(p, s.converter.InverseAll)
		x, y = p.x[0], p.y[0]
	} else if !s.same {
		x, y, _ = s.place.Operation.Apply(s.grids.Subgrids, s.grids.Nodes, x, y, 0)
	}
	return s.place.Pixel(s.spline, x, y)
}

// fit prepares the source for the output's grid.
func (s *source) fit(g *Grid, o *Options) error {
	scaleX, scaleY := s.shape.XScale, s.shape.YScale // of a locator
	s.place.Output = kernels.Affine(g.Affine)
	_, parts := s.h.Type.Parts()
	s.shape = kernels.Source{Width: s.h.Width, Height: s.h.Height, Bands: s.bands * parts, Stride: s.h.Bands * parts, Alpha: s.alpha, AlphaMax: alphaMax(s.h.Type),
		Masked: s.im.Mask() != nil || o.Cutline != nil || s.unified, NoData: s.noData != nil && !s.unified, XScale: 1, YScale: 1}
	if o.Cutline != nil {
		var err error
		if s.cut, err = o.Cutline.cut(s, o); err != nil {
			return err
		}
	}
	if s.locator == nil {
		s.core, s.footprint = s.reach(g)
	}
	if o.Resampling == Nearest {
		s.pointed, s.point = true, kernels.Nearest
		return nil
	}
	if s.locator == nil {
		scaleX, scaleY = s.scale(g)
	}
	s.shape.XScale, s.shape.YScale = scaleX, scaleY
	if o.XScale > 0 {
		s.shape.XScale = o.XScale
	}
	if o.YScale > 0 {
		s.shape.YScale = o.YScale
	}
	r := &resamplings[o.Resampling]
	if r.boxed {
		return nil
	}
	if s.shape.XScale >= 0.95 && s.shape.YScale >= 0.95 && (o.Resampling == Bilinear || o.Resampling == Cubic) || s.h.Width == 1 || s.h.Height == 1 {
		s.pointed, s.point = true, kernels.Bilinear
		if o.Resampling == Cubic {
			s.point = kernels.Cubic
		}
		return nil
	}
	rx, ry := widened(r.radius, s.shape.XScale), widened(r.radius, s.shape.YScale)
	first := (r.radius + 1) % 2 // filters of odd radius begin one pixel earlier
	s.filter = kernels.Filter{Kernel: r.filter, FirstX: first - rx, LastX: rx, FirstY: first - ry, LastY: ry}
	return nil
}

func widened(radius int, scale float64) int {
	if scale < 1 {
		return int(math.Ceil(float64(radius) / scale))
	}
	return radius
}

// scale returns how many output pixels a source pixel has, from the part of the output that the source reaches and
// the part of the source there.
func (s *source) scale(g *Grid) (x, y float64) {
	f := s.core
	if f.w <= 0 || f.h <= 0 {
		return 1, 1
	}
	left, top, right, bottom := math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)
	p := edge(float64(f.w), float64(f.h), 20)
	for i := range p.x {
		px, py := s.position(float64(f.x)+p.x[i], float64(f.y)+p.y[i])
		if math.IsNaN(px) || math.IsNaN(py) {
			continue
		}
		left, top, right, bottom = min(left, px), min(top, py), max(right, px), max(bottom, py)
	}
	return ratio(f.w, left, right, s.h.Width), ratio(f.h, top, bottom, s.h.Height)
}

// ratio is the scale of n output pixels between two positions in a source, with GDAL's rounding.
func ratio(n int, low, high float64, size int) float64 {
	near := func(v float64) float64 {
		if r := math.Round(v); math.Abs(r-v) < 1e-6 {
			return r
		}
		return v
	}
	low, high = near(low), near(high)
	pixels := min(float64(size)-math.Floor(max(low, 0)), high-low)
	if !(pixels > 0) {
		return 1
	}
	scale := float64(n) / pixels
	if scale < 1 {
		if r := math.Floor(1/scale + 0.5); math.Abs(1/scale-r) < 0.05 {
			scale = 1 / r
		}
	}
	return scale
}

// reach returns the pixels of the output that a source has pixels for, and those that it may have pixels for: between the
// points that are tried, it may go beyond them by a part of a step.
func (s *source) reach(g *Grid) (core, all rectangle) {
	whole := rectangle{0, 0, g.Width, g.Height}
	const steps = 20
	w, h := float64(s.h.Width), float64(s.h.Height)
	p := lattice(w, h, steps)
	q := s.forward(p)
	if s.failed(p, q, w/steps, h/steps) {
		return whole, whole
	}
	to := kernels.Affine(invert(g.Affine))
	left, top, right, bottom := math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)
	for i := range q.x {
		x, y := to.Apply(q.x[i], q.y[i])
		left, top, right, bottom = min(left, x), min(top, y), max(right, x), max(bottom, y)
	}
	dx, dy := 2.0, 2.0
	if !s.same {
		dx, dy = dx+(right-left)/steps, dy+(bottom-top)/steps
	}
	return g.clip(left, top, right, bottom), g.clip(left-dx, top-dy, right+dx, bottom+dy)
}

// clip returns the pixels of a grid between positions.
func (g *Grid) clip(left, top, right, bottom float64) rectangle {
	const e = 1e-6
	x0, y0 := max(math.Floor(left+e), 0), max(math.Floor(top+e), 0)
	x1, y1 := min(math.Ceil(right-e), float64(g.Width)), min(math.Ceil(bottom-e), float64(g.Height))
	if !(x1 > x0 && y1 > y0) {
		return rectangle{}
	}
	return rectangle{int(x0), int(y0), int(x1 - x0), int(y1 - y0)}
}

func alphaMax(t tiff.Type) float64 {
	switch t {
	case tiff.Uint16:
		return math.MaxUint16
	case tiff.Int16:
		return math.MaxInt16
	}
	return 255
}
