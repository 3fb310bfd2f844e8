package warp

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"unsafe"

	"quern.dev/geo/internal/blocks"
	"quern.dev/geo/internal/projection"
	"quern.dev/geo/internal/recode"
	"quern.dev/geo/tiff"
	"quern.dev/geo/warp/internal/kernels"
	"quern.dev/gpu"
)

// Warper is an image that is computed from sources when it is read. It is safe for concurrent use, except Close.
type Warper struct {
	dev     *gpu.Device
	opt     Options
	grid    Grid
	header  tiff.Header
	working tiff.Type // of samples while they are computed
	sources []*source
	output  kernels.Output
	table   [][]kernels.Table // of each source
	lanes   chan lane
	all     []lane
	engine  engine
}

// New prepares the warp of sources. Later sources lie over earlier ones. The images must stay open. They must have the
// same type and number of bands, alpha not counted.
func New(dev *gpu.Device, sources []*tiff.Image, o Options) (*Warper, error) {
	return newWarper(dev, o, func(w *Warper) (err error) {
		if err := w.addImages(sources); err != nil || len(sources) == 0 {
			return err
		}
		if w.opt.Grid != nil {
			w.grid = *w.opt.Grid
		} else if w.grid, err = w.opt.resolve(w.sources); err != nil {
			return err
		}
		if w.opt.Overview == 0 {
			return nil
		}
		for _, s := range w.sources {
			if err := s.reduce(w.opt.Overview, &w.grid); err != nil {
				return err
			}
		}
		return nil
	})
}

// newWarper prepares a warp. place adds the sources and sets the grid.
func newWarper(dev *gpu.Device, o Options, place func(w *Warper) error) (*Warper, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	if o.Memory == 0 {
		o.Memory = defaultMemory
	}
	width, height := tileSize(dev.Backend())
	o.TileWidth, o.TileHeight = cmp.Or(o.TileWidth, width), cmp.Or(o.TileHeight, height)
	w := &Warper{dev: dev, opt: o}
	if err := place(w); err != nil {
		return nil, err
	}
	if len(w.sources) == 0 {
		return nil, failf(ErrArgument, "a source is required")
	}
	reached := false
	for _, s := range w.sources {
		if err := s.fit(&w.grid, &o); err != nil {
			return nil, err
		}
		reached = reached || s.footprint.w > 0
	}
	if !reached {
		return nil, failf(ErrOutside, "the extent %v of the output meets no source", w.grid.extent())
	}
	if err := w.describe(); err != nil {
		return nil, err
	}
	var err error
	if w.engine, err = newEngine(w); err != nil {
		return nil, err
	}
	w.lanes = make(chan lane, laneCount)
	for range laneCount {
		l, err := w.engine.newLane()
		if err != nil {
			w.Close()
			return nil, err
		}
		w.all = append(w.all, l)
		w.lanes <- l
	}
	return w, nil
}

// laneCount is how many tiles are under way at a time: one is read while another is computed and others are written.
const laneCount = 4

func (w *Warper) addImages(images []*tiff.Image) error {
	cache := blocks.New(w.opt.Memory / 4)
	target := w.opt.Target
	if w.opt.Grid != nil {
		target = w.opt.Grid.CRS
	}
	for _, im := range images {
		s, err := newSource(im, &w.opt, target, cache)
		if err != nil {
			return err
		}
		target = s.target
		if err := w.add(s); err != nil {
			return err
		}
	}
	return nil
}

// add adds a source that fits the first one.
func (w *Warper) add(s *source) error {
	w.sources = append(w.sources, s)
	first, im := w.sources[0].h, s.h
	_, parts := im.Type.Parts()
	switch {
	case im.Type != first.Type:
		return failf(ErrArgument, "%s has samples of %v and %s of %v; convert one of them", w.sources[0].name, first.Type, s.name, im.Type)
	case s.bands != w.sources[0].bands:
		return failf(ErrArgument, "%s has %d bands and %s %d", w.sources[0].name, w.sources[0].bands, s.name, s.bands)
	case s.bands == 0:
		return failf(ErrArgument, "%s has only alpha", s.name)
	case im.Photometric == tiff.Palette && w.opt.Resampling != Nearest && w.opt.Resampling != Mode:
		return failf(ErrArgument, "%s has a palette, whose indices cannot be mixed; use near or mode", s.name)
	case parts > 1 && (resamplings[w.opt.Resampling].boxed || s.alpha >= 0 || w.opt.Alpha):
		return failf(errors.ErrUnsupported, "%s has complex samples: they are not ordered, and have no alpha; use near, bilinear, cubic, cubicspline or lanczos", s.name)
	}
	return nil
}

// describe makes the header of the output and the tables of values.
func (w *Warper) describe() error {
	first := w.sources[0]
	h := first.h
	h.Width, h.Height, h.Bits = w.grid.Width, w.grid.Height, 0
	h.RPC = nil
	h.Metadata = slices.DeleteFunc(slices.Clone(h.Metadata), func(i tiff.Item) bool { return strings.HasPrefix(i.Name, "STATISTICS_") })
	if w.opt.Type != 0 {
		if (first.h.Type.Complex()) != w.opt.Type.Complex() {
			return failf(errors.ErrUnsupported, "options: %s has samples of %v, which do not become %v", first.name, h.Type, w.opt.Type)
		}
		h.Type = w.opt.Type
		if h.Photometric == tiff.Palette {
			h.Photometric, h.Palette = tiff.MinIsBlack, nil
		}
	}
	of, parts := first.h.Type.Parts()
	to, _ := h.Type.Parts()
	w.working = working(of, to)
	alpha := w.opt.Alpha
	masked := false
	for _, s := range w.sources {
		alpha = alpha || s.alpha >= 0 && w.opt.SourceAlpha == AlphaAuto
		masked = masked || s.shape.Masked
	}
	noData := w.opt.NoData
	if noData == nil && !alpha && first.noData != nil {
		noData = first.noData
	}
	start := make([]float64, first.bands)
	if w.opt.Start != nil {
		var err error
		if start, err = perBand(w.opt.Start, first.bands, "Start"); err != nil {
			return err
		}
		least, most := h.Type.Limits()
		for _, v := range start {
			if !h.Type.Float() && !h.Type.Complex() && !(v >= least && v <= most && v == math.Floor(v)) {
				return failf(ErrArgument, "options: Start %v is not a value of %v", v, h.Type)
			}
		}
	}
	h.NoData = ""
	var values []float64
	if noData != nil {
		var err error
		if values, err = perBand(noData, first.bands, "NoData"); err != nil {
			return err
		}
		least, most := h.Type.Limits()
		for _, v := range values {
			if !h.Type.Float() && !(v >= least && v <= most && v == math.Floor(v)) {
				return failf(ErrArgument, "options: NoData %v is not a value of %v", v, h.Type)
			}
		}
		h.NoData = recode.Text(h.Type, values[0])
	}
	o := kernels.Output{Alpha: -1, AlphaMax: alphaMax(h.Type), NoData: values != nil, Whole: w.opt.UnifiedNoData && w.opt.Resampling == Nearest, Integer: !w.working.Float()}
	o.Least, o.Most = w.working.Limits()
	h.Bands = first.bands
	if first.alpha >= 0 {
		h.Extra = h.Extra[:len(h.Extra)-1]
	}
	if alpha {
		o.Alpha = h.Bands
		h.Extra = append(h.Extra[:len(h.Extra):len(h.Extra)], tiff.StraightAlpha)
		h.Bands++
	}
	o.Bands = h.Bands * parts
	o.Masked = masked && !alpha && values == nil
	o.Solid = o.Masked && w.opt.CutlineBlend > 0 // sources fade into Start, as in GDAL
	w.output = o
	for _, s := range w.sources {
		table := make([]kernels.Table, first.bands*parts)
		for band := range table {
			t := &table[band]
			t.Source, t.Output = math.NaN(), math.NaN()
			if s.noData != nil {
				t.Source = rounded(s.noData[band], w.working)
			}
			if values != nil {
				t.Output = rounded(values[band/parts], w.working)
				t.Start = t.Output
			}
			if w.opt.Start != nil {
				t.Start = start[band/parts]
			}
		}
		w.table = append(w.table, table)
	}
	w.header = h
	return w.place()
}

// place writes the grid to the header.
func (w *Warper) place() error {
	h := &w.header
	for _, s := range w.sources {
		if s.same && w.opt.SourceCRS == nil { // the same system, in the words of the file
			h.Geo = tiff.Georeference{Keys: slices.Clone(s.h.Geo.Keys)}
			h.Geo.SetAffine(w.grid.Affine)
			return nil
		}
	}
	keys, err := w.grid.CRS.GeoKeys()
	if err != nil {
		return err
	}
	h.Geo = tiff.Georeference{Keys: keys}
	h.Geo.SetAffine(w.grid.Affine)
	return nil
}

// Header describes the output.
func (w *Warper) Header() tiff.Header { return w.header }

// Grid returns where the output's pixels are.
func (w *Warper) Grid() Grid { return w.grid }

// Reach returns the pixels of the output that a source may have pixels for. It is empty if there are none.
func (w *Warper) Reach(source int) tiff.Region {
	r := w.sources[source].footprint
	return tiff.Region{X: r.x, Y: r.y, Width: r.w, Height: r.h}
}

// Center returns the position of the center of a source in the output, in pixels. It is NaN if it has none.
func (w *Warper) Center(source int) (x, y float64) {
	s := w.sources[source]
	if s.locator != nil {
		r := s.footprint
		return float64(r.x) + float64(r.w)/2, float64(r.y) + float64(r.h)/2
	}
	var middle points
	middle.add(float64(s.h.Width)/2, float64(s.h.Height)/2)
	p := s.forward(middle)
	to := kernels.Affine(invert(w.grid.Affine))
	return to.Apply(p.x[0], p.y[0])
}

// Masked reports whether the output has a mask.
func (w *Warper) Masked() bool { return w.output.Masked }

// Close frees the memory on the device. Nothing else may be under way.
func (w *Warper) Close() error {
	var errs []error
	for _, l := range w.all {
		errs = append(errs, l.close())
	}
	w.all = nil
	if w.engine != nil {
		errs = append(errs, w.engine.close())
		w.engine = nil
	}
	return errors.Join(errs...)
}

// Read computes a rectangle of the output: Width*Height pixels with all bands side by side, in the machine's byte order;
// see [tiff.Bytes]. mask gets a byte per pixel if the output has a mask, and is nil otherwise.
func (w *Warper) Read(ctx context.Context, r tiff.Region, pixels, mask []byte) error {
	return w.read(ctx, r, all, pixels, mask)
}

// ReadSource is Read of one source, as if there were no others.
func (w *Warper) ReadSource(ctx context.Context, source int, r tiff.Region, pixels, mask []byte) error {
	if source < 0 || source >= len(w.sources) {
		return failf(ErrArgument, "read: source %d of %d does not exist", source, len(w.sources))
	}
	return w.read(ctx, r, source, pixels, mask)
}

// all stands for all sources.
const all = -1

func (w *Warper) read(ctx context.Context, r tiff.Region, source int, pixels, mask []byte) error {
	size := w.header.Bands * w.header.Type.Size()
	switch {
	case w.engine == nil:
		return failf(ErrArgument, "read: the warper is closed")
	case r.X < 0 || r.Y < 0 || r.Width <= 0 || r.Height <= 0 || r.X > w.header.Width-r.Width || r.Y > w.header.Height-r.Height:
		return failf(ErrArgument, "read: the region %d,%d,%d,%d is not within the output of %d x %d pixels", r.X, r.Y, r.Width, r.Height, w.header.Width, w.header.Height)
	case len(r.Bands) != 0 || r.Layout != tiff.ByPixel:
		return failf(ErrArgument, "read: all bands are read, side by side")
	case len(pixels) != r.Width*r.Height*size:
		return failf(ErrArgument, "read: %d bytes for pixels of %d bytes", len(pixels), r.Width*r.Height*size)
	case w.output.Masked && len(mask) != r.Width*r.Height || !w.output.Masked && mask != nil:
		return failf(ErrArgument, "read: a mask of %d bytes; it needs one per pixel", len(mask))
	case uintptr(unsafe.Pointer(&pixels[0]))%uintptr(w.header.Type.Size()) != 0:
		return failf(ErrArgument, "read: memory that is not aligned for %v", w.header.Type)
	}
	c := canvas{rectangle{r.X, r.Y, r.Width, r.Height}, pixels, mask}
	for _, t := range w.tiles(c.rectangle) {
		if err := w.tile(ctx, t, source, &c); err != nil {
			return err
		}
	}
	return nil
}

// canvas is host memory for a rectangle of the output.
type canvas struct {
	rectangle
	pixels, mask []byte
}

// tiles divides a rectangle into tiles of the warper's size.
func (w *Warper) tiles(r rectangle) []rectangle { return r.tiles(w.opt.TileWidth, w.opt.TileHeight) }

// tiles divides a rectangle into tiles.
func (r rectangle) tiles(width, height int) []rectangle {
	var all []rectangle
	for y := 0; y < r.h; y += height {
		for x := 0; x < r.w; x += width {
			all = append(all, rectangle{r.x + x, r.y + y, min(width, r.w-x), min(height, r.h-y)})
		}
	}
	return all
}

// tile computes a part of a canvas from a source, or from all. A part whose windows are too large is divided.
func (w *Warper) tile(ctx context.Context, r rectangle, source int, c *canvas) error {
	var l lane
	select {
	case l = <-w.lanes:
	case <-ctx.Done():
		return ctx.Err()
	}
	err := l.warp(ctx, r, source, c)
	w.lanes <- l
	var large *largeWindow
	window := errors.As(err, &large)
	if !window && !errors.Is(err, ErrTooLarge) {
		return err
	}
	if r.w <= 16 && r.h <= 16 {
		if !window {
			return err
		}
		return failf(ErrArgument, "%d x %d pixels of the output take %d bytes of %s; allow more memory, or reduce the source first", r.w, r.h, large.bytes, large.name)
	}
	for _, part := range r.parts() {
		if err := w.tile(ctx, part, source, c); err != nil {
			return err
		}
	}
	return nil
}

// parts divides a rectangle into up to four.
func (r rectangle) parts() []rectangle {
	w, h := (r.w+1)/2, (r.h+1)/2
	var all []rectangle
	for _, p := range []rectangle{{r.x, r.y, w, h}, {r.x + w, r.y, r.w - w, h}, {r.x, r.y + h, w, r.h - h}, {r.x + w, r.y + h, r.w - w, r.h - h}} {
		if p.w > 0 && p.h > 0 {
			all = append(all, p)
		}
	}
	return all
}

// largeWindow is the error of a tile that needs too much of a source at a time.
type largeWindow struct {
	name  string
	bytes int64
}

func (e *largeWindow) Error() string { return "the window of " + e.name + " is too large" }

// samples views bytes as samples.
func samples[T kernels.Sample](b []byte) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(*new(T))))
}

// constants are what a source has on the device.
type constants struct {
	place    *gpu.Buffer[kernels.Place]
	subgrids *gpu.Buffer[projection.Subgrid]
	nodes    *gpu.Buffer[float32]
	spline   *gpu.Buffer[float64]
	table    *gpu.Buffer[kernels.Table]
}
