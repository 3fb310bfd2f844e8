package ortho

import (
	"cmp"
	"context"
	"errors"
	"math"

	"quern.dev/geo/crs"
	"quern.dev/geo/internal/projection"
	"quern.dev/geo/ortho/internal/kernels"
	"quern.dev/geo/tiff"
	"quern.dev/geo/warp"
	"quern.dev/gpu"
)

// Options says what the output is. The zero value is the nearest pixel of the image, in the coordinate system of the
// surface, at the resolution of the image, with alpha unless the image has a value without data.
type Options struct {
	// Target is the coordinate system of the output, or nil for that of the surface.
	Target *crs.CRS
	// Shift chooses the datum shift between the output and the sensor; see [crs.NewTransform]. [crs.Geoids] leads from
	// heights above a geoid to those above the ellipsoid.
	Shift []crs.Option

	// Extent of the output, or nil for what the image shows.
	Extent *warp.Extent
	// Resolution is the size of an output pixel in x and y, or 0 for that of the pixel in the middle of the image.
	Resolution [2]float64
	// AlignPixels makes the extent a multiple of Resolution.
	AlignPixels bool

	Resampling warp.Resampling
	// SeeThrough leaves out the test whether the surface hides a point from the camera. Points that are hidden have the colors of
	// what hides them then.
	SeeThrough bool
	// Tolerance is by how many meters the surface may be above a line of sight without hiding the point. It keeps noise in
	// a surface model from making holes.
	Tolerance float64

	// SourceNoData, NoData and Alpha are those of [warp.Options].
	SourceNoData []float64
	NoData       []float64
	Alpha        bool
	// Opaque leaves alpha out if Alpha is not set. Pixels without data are 0 then.
	Opaque bool

	// Memory is roughly how much host memory, and device memory, to use: 512 MiB by default. It does not change the output.
	Memory int64
	// TileWidth and TileHeight are the size of what is computed at a time. They do not change the output.
	TileWidth, TileHeight int
	// File says how the output is stored.
	File tiff.Options
	// Progress is called after rows were written, by one goroutine at a time.
	Progress func(done, total int)
}

func (o *Options) check() error {
	r := o.Resolution
	switch {
	case !finite(r[:]...) || r[0] < 0 || r[1] < 0 || (r[0] == 0) != (r[1] == 0):
		return failf(ErrArgument, "options: resolution %v: both numbers must be positive", r)
	case o.AlignPixels && r[0] == 0:
		return failf(ErrArgument, "options: AlignPixels needs a resolution")
	case o.Extent != nil && !(finite(o.Extent.MinX, o.Extent.MinY, o.Extent.MaxX, o.Extent.MaxY) && o.Extent.MinX < o.Extent.MaxX && o.Extent.MinY < o.Extent.MaxY):
		return failf(ErrArgument, "options: extent %v: the minimum must be less than the maximum", *o.Extent)
	case !finite(o.Tolerance) || o.Tolerance < 0:
		return failf(ErrArgument, "options: the tolerance %v must be 0 or more", o.Tolerance)
	case o.Memory < 0 || o.TileWidth < 0 || o.TileHeight < 0:
		return failf(ErrArgument, "options: memory of %d bytes and tiles of %d x %d pixels; none may be negative", o.Memory, o.TileWidth, o.TileHeight)
	}
	return nil
}

// Image is an orthorectified image, which is computed where it is read. It is safe for concurrent use, except Close.
type Image struct {
	*warp.Warper
	locator *locator
}

// Close frees the memory on the device. Nothing else may be under way.
func (m *Image) Close() error { return errors.Join(m.Warper.Close(), m.locator.close()) }

// File orthorectifies an image and writes a GeoTIFF file; see [New]. The file appears under its name when it is complete.
func File(ctx context.Context, dev *gpu.Device, name string, im *tiff.Image, s *Sensor, surface *Surface, o Options) error {
	m, err := New(ctx, dev, im, s, surface, o)
	if err != nil {
		return err
	}
	err = m.WriteFile(ctx, name)
	if closeErr := m.Close(); err == nil {
		err = closeErr
	}
	return err
}

// New prepares the orthorectification of an image. The image and that of the surface must stay open.
func New(ctx context.Context, dev *gpu.Device, im *tiff.Image, s *Sensor, surface *Surface, o Options) (*Image, error) {
	p, err := newPlan(ctx, im, s, surface, o)
	if err != nil {
		return nil, err
	}
	return p.open(dev, &p.grid, &p.opt)
}

// plan is an orthorectification, without what it takes on a device.
type plan struct {
	im        *tiff.Image
	scene     *scene
	surface   *Surface
	place     kernels.Place // from coordinates to the surface
	grids     projection.Grids
	footprint *footprint
	grid      warp.Grid
	opt       Options
}

func newPlan(ctx context.Context, im *tiff.Image, s *Sensor, surface *Surface, o Options) (*plan, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	target := o.Target
	if target == nil {
		target = surface.crs
	}
	switch {
	case target == nil:
		return nil, failf(ErrArgument, "options: Target is required with a flat surface")
	case target.Kind() == crs.Geocentric:
		return nil, failf(ErrArgument, "options: geocentric coordinates are not those of an image")
	case s.view.Width != im.Width || s.view.Height != im.Height:
		return nil, failf(ErrArgument, "%s has %d x %d pixels and its camera %d x %d", im, im.Width, im.Height, s.view.Width, s.view.Height)
	}
	o.Memory = cmp.Or(o.Memory, defaultMemory)
	p := &plan{im: im, surface: surface, opt: o}
	var err error
	if p.scene, err = newScene(s, target, o.Shift); err != nil {
		return nil, err
	}
	if err := p.put(target); err != nil {
		return nil, err
	}
	p.place.Output = kernels.Affine{0, 1, 0, 0, 0, 1}
	if p.footprint, err = p.scene.footprint(ctx, surface, &p.place, p.grids); err != nil {
		return nil, err
	}
	p.grid, err = o.grid(target, p.footprint)
	return p, err
}

const defaultMemory = 512 << 20

// open prepares the computation of a grid.
func (p *plan) open(dev *gpu.Device, g *warp.Grid, o *Options) (*Image, error) {
	l := &locator{dev: dev, scene: p.scene, surface: p.surface, place: p.place, grids: p.grids, memory: o.Memory / 2, scratchs: map[*gpu.Stream]*scratch{}}
	f, a := p.footprint, g.Affine
	l.fit(g, f, o)
	if err := l.upload(); err != nil {
		return nil, errors.Join(err, l.close())
	}
	reach := tiff.Region{X: int(math.Floor((f.all.minX - a[0]) / a[1])), Y: int(math.Floor((f.all.maxY - a[3]) / a[5]))}
	reach.Width = int(math.Ceil((f.all.maxX-a[0])/a[1])) - reach.X
	reach.Height = int(math.Ceil((f.all.minY-a[3])/a[5])) - reach.Y
	source := warp.Located{Image: p.im, Locator: l, Reach: reach, XScale: f.size / a[1], YScale: f.size / -a[5]}
	w, err := warp.NewLocated(dev, []warp.Located{source}, o.warp(p.im, g))
	if err != nil {
		return nil, errors.Join(err, l.close())
	}
	return &Image{w, l}, nil
}

// put leads from the output to the surface.
func (p *plan) put(target *crs.CRS) error {
	s := p.surface
	if s.im == nil {
		return nil
	}
	t, err := crs.NewTransform(target, s.crs)
	if err != nil {
		return err
	}
	p.place.Operation, p.grids = t.Operation(false)
	p.place.Same = same(&p.place.Operation)
	a := s.affine
	d := 1 / (a[1]*a[5] - a[2]*a[4])
	p.place.Source = kernels.Affine{
		(a[2]*a[3] - a[0]*a[5]) * d, a[5] * d, -a[2] * d,
		(a[0]*a[4] - a[1]*a[3]) * d, -a[4] * d, a[1] * d,
	}
	return nil
}

// fit takes the grid of the output.
func (l *locator) fit(g *warp.Grid, f *footprint, o *Options) {
	l.place.Output = kernels.Affine(g.Affine)
	l.view = l.scene.sensor.view
	l.view.Output = kernels.Affine(g.Affine)
	l.view.Same, l.view.Operation = l.scene.same, l.scene.forward
	l.least, l.most = f.least, f.most
	l.occlusion = kernels.Occlusion{Test: !o.SeeThrough && l.surface.im != nil, Peak: f.most, Tolerance: o.Tolerance}
	if l.scene.sensor.frame() {
		eye, a := l.scene.eye(), g.Affine
		l.view.Eye = [3]float64{(eye[0] - a[0]) / a[1], (eye[1] - a[3]) / a[5], eye[2]}
	}
}

// grid returns the grid of the output.
func (o *Options) grid(target *crs.CRS, f *footprint) (warp.Grid, error) {
	e := warp.Extent{MinX: f.exact.minX, MinY: f.exact.minY, MaxX: f.exact.maxX, MaxY: f.exact.maxY}
	if o.Extent != nil {
		e = *o.Extent
	}
	rx, ry := o.Resolution[0], o.Resolution[1]
	if rx == 0 {
		rx, ry = f.size, f.size
	}
	if o.AlignPixels {
		e = warp.Extent{MinX: math.Floor(e.MinX/rx) * rx, MinY: math.Floor(e.MinY/ry) * ry, MaxX: math.Ceil(e.MaxX/rx) * rx, MaxY: math.Ceil(e.MaxY/ry) * ry}
	}
	g := warp.Grid{CRS: target, Affine: tiff.Affine{e.MinX, rx, 0, e.MaxY, 0, -ry}}
	round := math.Ceil
	if o.Extent != nil || o.AlignPixels {
		round = math.Round
	}
	w, h := max(round((e.MaxX-e.MinX)/rx), 1), max(round((e.MaxY-e.MinY)/ry), 1)
	if !(w < math.MaxInt32 && h < math.MaxInt32) {
		return g, failf(ErrArgument, "the output would have %.0f x %.0f pixels; set a resolution", w, h)
	}
	g.Width, g.Height = int(w), int(h)
	return g, nil
}

// warp returns the options of the resampling.
func (o *Options) warp(im *tiff.Image, g *warp.Grid) warp.Options {
	w := warp.Options{Grid: g, Resampling: o.Resampling, SourceNoData: o.SourceNoData, NoData: o.NoData, Alpha: o.Alpha,
		Memory: o.Memory / 2, TileWidth: o.TileWidth, TileHeight: o.TileHeight, File: o.File, Progress: o.Progress}
	if o.TileWidth == 0 && o.TileHeight == 0 {
		w.TileWidth, w.TileHeight = 1024, 1024 // the surface around a tile is computed with it
	}
	_, has := im.NoDataValue()
	if o.NoData == nil && o.SourceNoData == nil && !has && !o.Opaque {
		w.Alpha = true
	}
	return w
}
