package wms

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"os"
	"slices"
	"sort"
	"sync"
	"time"

	"quern.dev/geo/crs"
	"quern.dev/geo/tiff"
	"quern.dev/geo/wms/internal/render"
)

// layer is a layer that is served.
type layer struct {
	Layer
	renderer *render.Renderer
	frames   []*frame // by time; one without a time dimension
	timed    bool
	bands    int
	kind     tiff.Type
	palette  bool
	low      []float64 // of each band: the range that is shown by default
	high     []float64
	own      *crs.CRS   // the system of the first file, or nil if it has no EPSG code
	bounds   [4]float64 // degrees: west, south, east, north
	finest   float64    // meters per pixel, about
	version  uint64

	mu       sync.Mutex
	looks    map[string]*look
	requests int // of a look
}

// frame has the images of a point in time.
type frame struct {
	time   time.Time
	images []*raster
}

// raster is a file that is open.
type raster struct {
	file *tiff.File
	im   *tiff.Image
	crs  *crs.CRS
}

// look is a layer in a rendering: what its images are drawn with.
type look struct {
	key    string
	layer  *layer
	style  render.Style
	ramp   string
	mu     sync.Mutex
	source map[*raster]*render.Source
	views  map[viewID]*render.View
	maps   int  // that are being drawn
	gone   bool // another rendering has its place: its memory is freed after the last map
	last   int  // request of the layer
}

type viewID struct {
	image *raster
	code  int
}

// openLayer opens the files of a layer. Errors of files go to unusable. The layer is nil if no file is left.
func openLayer(l Layer, open func(name string) (*tiff.File, error), unusable func(l Layer, err error) error) (*layer, error) {
	if err := checkName(l.Name); err != nil {
		return nil, err
	}
	if (len(l.Files) == 0) == (len(l.Times) == 0) {
		return nil, failf(ErrConfig, "layer %s: it needs files, or times", l.Name)
	}
	l.Title = cmp.Or(l.Title, l.Name)
	out := &layer{Layer: l, looks: map[string]*look{}, timed: len(l.Times) > 0}
	frames := l.Times
	if !out.timed {
		frames = []TimeFiles{{Files: l.Files}}
	}
	for _, t := range frames {
		f := &frame{time: t.Time.UTC()}
		for _, name := range t.Files {
			im, err := openImage(name, open)
			if err != nil {
				if err := unusable(l, fmt.Errorf("wms: layer %s: %w", l.Name, err)); err != nil {
					return out, err
				}
				continue
			}
			if f.images == nil {
				out.frames = append(out.frames, f)
			}
			f.images = append(f.images, im)
		}
	}
	if len(out.frames) == 0 {
		return nil, nil
	}
	sort.Slice(out.frames, func(i, j int) bool { return out.frames[i].time.Before(out.frames[j].time) })
	first := out.frames[0].images[0]
	out.bands, out.kind, out.palette = first.im.Bands, first.im.Type, first.im.Photometric == tiff.Palette
	for _, f := range out.frames {
		for _, im := range f.images {
			if im.im.Bands != out.bands || im.im.Type != out.kind {
				return out, failf(ErrConfig, "layer %s: %s has %d bands of %v, and %s %d of %v", l.Name, first.im, out.bands, out.kind, im.im, im.im.Bands, im.im.Type)
			}
		}
	}
	if first.crs.Code() > 0 {
		out.own = first.crs
	}
	if err := out.setRange(); err != nil {
		return out, err
	}
	out.setVersion()
	_, err := out.look(l.Default)
	if err != nil {
		return out, err
	}
	return out, out.setBounds()
}

func openImage(name string, open func(name string) (*tiff.File, error)) (*raster, error) {
	f, err := open(name)
	if err != nil {
		return nil, err
	}
	im := f.Image()
	fail := func(err error) (*raster, error) { return nil, errors.Join(fmt.Errorf("%s: %w", name, err), f.Close()) }
	if _, ok := im.Geo.Affine(); !ok || len(im.Geo.Keys) == 0 {
		return fail(errors.New("the file does not say where its pixels are"))
	}
	c, err := crs.FromGeoKeys(im.Geo.Keys)
	if err != nil {
		return fail(err)
	}
	if c.Kind() == crs.Geocentric {
		return fail(errors.New("geocentric coordinates are not those of an image"))
	}
	return &raster{f, im, c}, nil
}

func (l *layer) close() error {
	var errs []error
	for _, f := range l.frames {
		for _, im := range f.images {
			errs = append(errs, im.file.Close())
		}
	}
	return errors.Join(errs...)
}

// setVersion makes a number that changes with the files.
func (l *layer) setVersion() {
	h := fnv.New64a()
	add := func(names []string) {
		for _, name := range names {
			if info, err := os.Stat(name); err == nil {
				fmt.Fprintf(h, "%s %d %d\n", name, info.Size(), info.ModTime().UnixNano())
			}
		}
	}
	add(l.Files)
	for _, t := range l.Times {
		fmt.Fprintln(h, t.Time)
		add(t.Files)
	}
	l.version = h.Sum64()
}

// colorBands returns how many bands are not alpha.
func (l *layer) colorBands() int {
	n := l.bands
	for _, e := range l.frames[0].images[0].im.Extra {
		if e == tiff.StraightAlpha || e == tiff.AssociatedAlpha {
			n--
		}
	}
	return max(n, 1)
}

// setRange finds the values that are shown: those of 8 bits, or between the 2nd and the 98th of 100 of the smallest
// overview, or of blocks over the image.
func (l *layer) setRange() error {
	l.low, l.high = make([]float64, l.bands), make([]float64, l.bands)
	if l.kind == tiff.Uint8 {
		for i := range l.high {
			l.high[i] = 255
		}
		return nil
	}
	im := l.frames[0].images[0].im
	if o := im.Overviews(); len(o) > 0 {
		im = o[len(o)-1]
	}
	values := make([][]float64, l.bands)
	for _, r := range probes(im) {
		if err := sampleRegion(context.Background(), im, r, func(band int, v float64) { values[band] = append(values[band], v) }); err != nil {
			return fmt.Errorf("wms: layer %s: %w", l.Name, err)
		}
	}
	for b, v := range values {
		if len(v) == 0 {
			l.high[b] = 1
			continue
		}
		slices.Sort(v)
		l.low[b], l.high[b] = v[len(v)*2/100], v[len(v)*98/100]
		if l.low[b] == l.high[b] {
			l.low[b], l.high[b] = v[0], max(v[len(v)-1], v[0]+1, v[0]+math.Abs(v[0])*1e-6)
		}
	}
	return nil
}

// probes returns parts of an image that together have at most some million pixels.
func probes(im *tiff.Image) []tiff.Region {
	const side, parts = 256, 4
	if im.Width <= side*parts && im.Height <= side*parts {
		return []tiff.Region{im.All()}
	}
	var all []tiff.Region
	for j := range parts {
		for i := range parts {
			w, h := min(side, im.Width), min(side, im.Height)
			all = append(all, tiff.Region{X: (im.Width - w) * i / (parts - 1), Y: (im.Height - h) * j / (parts - 1), Width: w, Height: h})
		}
	}
	return all
}

// sampleRegion calls f with the values of a region that have data.
func sampleRegion(ctx context.Context, im *tiff.Image, r tiff.Region, f func(band int, v float64)) error {
	values, err := readFloat(ctx, im, r)
	if err != nil {
		return err
	}
	var mask []byte
	if m := im.Mask(); m != nil {
		mask = make([]byte, r.Width*r.Height)
		if err := m.ReadRegion(ctx, mask, r); err != nil {
			return err
		}
	}
	none, has := im.NoDataValue()
	for i, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) || has && v == none || mask != nil && mask[i/im.Bands] == 0 {
			continue
		}
		f(i%im.Bands, v)
	}
	return nil
}

// readFloat reads a region, all bands of a pixel side by side.
func readFloat(ctx context.Context, im *tiff.Image, r tiff.Region) ([]float64, error) {
	switch im.Type {
	case tiff.Uint8:
		return readAs[uint8](ctx, im, r)
	case tiff.Int8:
		return readAs[int8](ctx, im, r)
	case tiff.Uint16:
		return readAs[uint16](ctx, im, r)
	case tiff.Int16:
		return readAs[int16](ctx, im, r)
	case tiff.Uint32:
		return readAs[uint32](ctx, im, r)
	case tiff.Int32:
		return readAs[int32](ctx, im, r)
	case tiff.Float32:
		return readAs[float32](ctx, im, r)
	case tiff.Float64:
		return readAs[float64](ctx, im, r)
	}
	return nil, failf(errors.ErrUnsupported, "samples of %v cannot be shown", im.Type)
}

func readAs[T uint8 | int8 | uint16 | int16 | uint32 | int32 | float32 | float64](ctx context.Context, im *tiff.Image, r tiff.Region) ([]float64, error) {
	samples, err := tiff.Read[T](ctx, im, r)
	if err != nil {
		return nil, err
	}
	out := make([]float64, len(samples))
	for i, v := range samples {
		out[i] = float64(v)
	}
	return out, nil
}

// rotated reports whether a row of an image does not run along an axis of its system.
func (l *layer) rotated() bool {
	for _, f := range l.frames {
		for _, im := range f.images {
			if a, _ := im.im.Geo.Affine(); a[2] != 0 || a[4] != 0 {
				return true
			}
		}
	}
	return false
}

// mostLooks is how many renderings of a layer keep their memory: those of the last requests, and those that are being drawn.
const mostLooks = 64

// look returns the layer in a rendering.
func (l *layer) look(r Rendering) (*look, error) {
	style, ramp, err := l.resolve(r)
	if err != nil {
		return nil, err
	}
	key := fmt.Sprint(style.Bands, style.Low, style.High, ramp, style.Nearest, style.Shading, style.Light)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.requests++
	if k := l.looks[key]; k != nil {
		k.last = l.requests
		return k, nil
	}
	if len(l.looks) >= mostLooks {
		oldest := slices.MinFunc(slices.Collect(maps.Values(l.looks)), func(a, b *look) int { return cmp.Compare(a.last, b.last) })
		delete(l.looks, oldest.key)
		if err := oldest.replaced(); err != nil {
			return nil, err
		}
	}
	k := &look{key: key, layer: l, style: style, ramp: ramp, source: map[*raster]*render.Source{}, views: map[viewID]*render.View{}, last: l.requests}
	l.looks[key] = k
	return k, nil
}

// replaced frees the memory of a rendering, as soon as no map is drawn with it.
func (k *look) replaced() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.gone = true
	return k.free()
}

// drawn ends what viewsOf began.
func (k *look) drawn() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.maps--
	return k.free()
}

// free frees the memory if nothing needs it. The caller has the lock.
func (k *look) free() error {
	if !k.gone || k.maps > 0 {
		return nil
	}
	var errs []error
	for _, v := range k.views {
		errs = append(errs, v.Close())
	}
	for _, s := range k.source {
		errs = append(errs, s.Close())
	}
	clear(k.views)
	clear(k.source)
	return errors.Join(errs...)
}

// resolve completes a rendering.
func (l *layer) resolve(r Rendering) (s render.Style, ramp string, err error) {
	colors := l.colorBands()
	bands := r.Bands
	if bands == nil {
		bands = l.Default.Bands
	}
	if bands == nil {
		bands = []int{1}
		if colors >= 3 && r.Ramp == "" {
			bands = []int{1, 2, 3}
		}
	}
	if len(bands) != 1 && len(bands) != 3 {
		return s, "", exceptf(codeInvalid, "BANDS", "%d bands; one or three are shown", len(bands))
	}
	for _, b := range bands {
		if b < 1 || b > l.bands {
			return s, "", exceptf(codeInvalid, "BANDS", "layer %s has the bands 1 to %d", l.Name, l.bands)
		}
	}
	s.Nearest = r.Nearest || l.palette
	name := r.Shading
	if name == "" && r.Ramp == "" && (r.Bands == nil || len(bands) == 1) {
		name = l.Default.Shading
	}
	shade, shaded := shadings[name]
	switch {
	case name == "":
	case !shaded:
		return s, "", exceptf(codeStyle, "STYLES", "there is no shading %.80q", name)
	case len(bands) != 1 || l.palette || l.rotated():
		return s, "", exceptf(codeStyle, "STYLES", "layer %s is not a surface of heights that could be shaded", l.Name)
	default:
		var e *Exception
		if s.Light, e = lightOf(r.Light, l.Default.Light); e != nil {
			return s, "", e
		}
		s.Shading = shade.Shading
	}
	ramp, low, high := r.Ramp, r.Low, r.High
	if d := &l.Default; shadings[d.Shading].quantity == shade.quantity { // otherwise those of the default have another meaning
		if len(bands) == 1 {
			ramp = cmp.Or(ramp, d.Ramp)
		}
		if low == nil {
			low, high = d.Low, d.High
		}
	}
	if low == nil && shade.quantity != heights {
		low, high = []float64{0}, []float64{shade.high}
	}
	if len(bands) == 1 {
		ramp = cmp.Or(ramp, shade.ramp, "gray")
	}
	if len(bands) == 3 && ramp != "" {
		return s, "", exceptf(codeStyle, "STYLES", "a color ramp shows one band; choose it with BANDS")
	}
	if ramp != "" && ramps[ramp] == nil {
		return s, "", exceptf(codeStyle, "STYLES", "there is no color ramp %q", ramp)
	}
	if len(low) != len(high) || len(low) > 1 && len(low) != len(bands) {
		return s, "", exceptf(codeInvalid, "RESCALE", "%d and %d values for %d bands", len(low), len(high), len(bands))
	}
	for i := range 3 {
		b := bands[min(i, len(bands)-1)] - 1
		s.Bands[i], s.Low[i], s.High[i] = b, l.low[b], l.high[b]
		if len(low) > 0 {
			k := min(i, len(low)-1)
			s.Low[i], s.High[i] = low[k], high[k]
		}
		if s.Low[i] == s.High[i] {
			return s, "", exceptf(codeInvalid, "RESCALE", "the lowest and the highest value are %v", s.Low[i])
		}
	}
	if l.palette && r.Ramp == "" && len(bands) == 1 {
		palette := l.frames[0].images[0].im.Palette
		s.Ramp, s.Indexed = make([]uint32, max(len(palette), 1)), true
		for i, c := range palette {
			s.Ramp[i] = uint32(c.R>>8) | uint32(c.G>>8)<<8 | uint32(c.B>>8)<<16 | 0xff000000
		}
		return s, "palette", nil
	}
	if ramp != "" {
		s.Ramp = rampColors(ramp)
	}
	return s, ramp, nil
}

// viewsOf returns what to draw of a frame in a coordinate system. It stays until drawn is called, also after an error.
func (k *look) viewsOf(f *frame, to *system) ([]*render.View, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.maps++
	var all []*render.View
	for _, im := range f.images {
		id := viewID{im, to.crs.Code()}
		v := k.views[id]
		if v == nil {
			s := k.source[im]
			var err error
			if s == nil {
				style := k.style
				if style.Shading != 0 {
					style.Ground = groundOf(im.crs)
				}
				if s, err = k.layer.renderer.NewSource(im.im, style); err != nil {
					return nil, err
				}
				k.source[im] = s
			}
			t, err := crs.NewTransform(im.crs, to.crs)
			if err != nil {
				return nil, err
			}
			if v, err = s.View(t); err != nil {
				return nil, err
			}
			k.views[id] = v
		}
		all = append(all, v)
	}
	return all, nil
}

// setBounds finds the extent in degrees.
func (l *layer) setBounds() error {
	geographic, err := crs.EPSG(4326)
	if err != nil {
		return err
	}
	inf := math.Inf(1)
	l.bounds = [4]float64{inf, inf, -inf, -inf}
	l.finest = inf
	for _, f := range l.frames {
		for _, im := range f.images {
			t, err := crs.NewTransform(im.crs, geographic)
			if err != nil {
				return fmt.Errorf("wms: layer %s: %s: %w", l.Name, im.im, err)
			}
			a, _ := im.im.Geo.Affine()
			const steps = 32
			for j := range steps + 1 {
				for i := range steps + 1 {
					px, py := float64(i)/steps*float64(im.im.Width), float64(j)/steps*float64(im.im.Height)
					lon, lat, err := t.Forward(a[0]+px*a[1]+py*a[2], a[3]+px*a[4]+py*a[5])
					if err != nil {
						continue
					}
					b := &l.bounds
					b[0], b[1], b[2], b[3] = min(b[0], lon), min(b[1], lat), max(b[2], lon), max(b[3], lat)
				}
			}
			size := math.Sqrt(math.Abs(a[1]*a[5] - a[2]*a[4]))
			unit := im.crs.Axes()[0].Unit
			if im.crs.Kind() == crs.Geographic {
				unit *= 6378137
			}
			l.finest = min(l.finest, size*unit)
		}
	}
	if l.bounds[0] > l.bounds[2] {
		return failf(ErrConfig, "layer %s: its place cannot be expressed in degrees", l.Name)
	}
	return nil
}

// at returns the frame of a time: the last one for a zero time.
func (l *layer) at(t time.Time) *frame {
	if t.IsZero() || !l.timed {
		return l.frames[len(l.frames)-1]
	}
	for _, f := range l.frames {
		if f.time.Equal(t) {
			return f
		}
	}
	return nil
}
