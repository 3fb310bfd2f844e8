package terrain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"

	"quern.dev/geo/crs"
	"quern.dev/geo/internal/failure"
	"quern.dev/geo/internal/heights"
	shape "quern.dev/geo/internal/relief"
	"quern.dev/geo/internal/strips"
	"quern.dev/geo/terrain/internal/kernels"
	"quern.dev/geo/tiff"
	"quern.dev/gpu"
)

// Errors match one of these, or one of the packages tiff, crs and gpu.
var (
	// ErrArgument is an option or a surface that cannot be used.
	ErrArgument = errors.New("bad argument")
	// ErrNoCRS is a surface that does not say where its pixels are.
	ErrNoCRS = errors.New("no coordinate reference system")
)

func failf(kind error, format string, args ...any) error {
	return failure.New(kind, "terrain: "+format, args...)
}

// Derivative is what is derived: a [Hillshade], a [Slope] or an [Aspect].
type Derivative interface {
	header(h *tiff.Header)
	check() error
	launch(s *gpu.Stream, r *relief, y, n int) error
}

// Hillshade is the brightness of a surface from 1 to 255, as bytes. 0 has no data.
type Hillshade struct {
	// Azimuth is the direction of the light in degrees from the north, clockwise: 315 by default; set NorthLight for 0.
	Azimuth    float64
	NorthLight bool
	// Altitude is the angle of the light above the horizon in degrees: 45 by default.
	Altitude float64
	// ZFactor multiplies heights: 1 by default.
	ZFactor float64
	// Scale is how many units of height a unit of coordinates has: 1 by default, 111120 for degrees and meters.
	Scale float64
}

// Slope is the angle of a surface, as float32. -9999 has no data.
type Slope struct {
	// Percent is 100 times the tangent instead of degrees.
	Percent bool
	// Scale is how many units of height a unit of coordinates has: 1 by default, 111120 for degrees and meters.
	Scale float64
}

// Aspect is the direction in which a surface goes down, in degrees from the north, clockwise, as float32. -9999 has no data.
type Aspect struct {
	// Trigonometric counts degrees from the east, counterclockwise.
	Trigonometric bool
	// ZeroForFlat returns 0 where the surface is level, and where there is no data, as gdaldem does. Without it, both are -9999.
	ZeroForFlat bool
}

// Options says how an output is computed and stored.
type Options struct {
	// Band of the surface, from 0.
	Band int
	// ComputeEdges continues heights at the edges, and next to pixels without data.
	ComputeEdges bool
	// File says how the output is stored.
	File tiff.Options
	// Progress is called after rows were written.
	Progress func(done, total int)
}

const noData = -9999

// File derives an image from a surface and writes a GeoTIFF file, which appears under its name when it is complete.
func File(ctx context.Context, dev *gpu.Device, name string, im *tiff.Image, d Derivative, o Options) error {
	a, ok := im.Geo.Affine()
	switch {
	case o.Band < 0 || o.Band >= im.Bands:
		return failf(ErrArgument, "options: band %d of %d does not exist; they are counted from 0", o.Band, im.Bands)
	case im.Type.Complex():
		return failf(ErrArgument, "%s: heights cannot be %v", im, im.Type)
	case !ok:
		return failf(ErrNoCRS, "%s: the file does not say where its pixels are", im)
	case a[2] != 0 || a[4] != 0:
		return failf(ErrArgument, "%s: the image is rotated; warp it first", im)
	case o.File.Mask:
		return failf(ErrArgument, "options: the output has NoData; a mask is not possible")
	}
	if err := d.check(); err != nil {
		return err
	}
	if s, ok := scaleOf(d); ok && s == 0 {
		if c, err := crs.FromGeoKeys(im.Geo.Keys); err == nil && c.Kind() == crs.Geographic {
			return failf(ErrArgument, "%s: coordinates are degrees and heights are not; set a scale, such as 111120 for meters", im)
		}
	}
	h := tiff.Header{Width: im.Width, Height: im.Height, Bands: 1, Photometric: tiff.MinIsBlack, Geo: im.Geo}
	d.header(&h)
	r := &relief{s: dev.DefaultStream(), reader: heights.New(im, o.Band), affine: a,
		rows: shape.Window{Width: im.Width, Height: im.Height, Columns: im.Width, Edges: o.ComputeEdges}}
	n := (strips.Rows(&h) + 2) * im.Width
	out := strips.Rows(&h) * im.Width
	var err error
	if r.heights, err = gpu.Alloc[float32](dev, n); err != nil {
		return err
	}
	defer r.heights.Close()
	if r.bytes, err = gpu.Alloc[uint8](dev, out*h.Type.Size()); err != nil {
		return err
	}
	defer r.bytes.Close()
	return strips.Write(ctx, name, h, o.File, r.read, func(ctx context.Context, y, n int, rows window, pixels []byte) error {
		r.rows.Top = rows.y
		if err := gpu.CopyIn(r.s, r.heights.Slice(0, len(rows.heights)), rows.heights); err != nil {
			return err
		}
		if err := d.launch(r.s, r, y, n); err != nil {
			return err
		}
		return gpu.Download(ctx, r.s, pixels, r.bytes.Slice(0, len(pixels)))
	}, o.Progress)
}

// scaleOf returns the scale of what has one.
func scaleOf(d Derivative) (float64, bool) {
	switch d := d.(type) {
	case Hillshade:
		return d.Scale, true
	case Slope:
		return d.Scale, true
	}
	return 0, false
}

// relief is a surface while images are derived from it.
type relief struct {
	s       *gpu.Stream
	reader  *heights.Reader
	affine  tiff.Affine
	rows    shape.Window
	heights *gpu.Buffer[float32]
	bytes   *gpu.Buffer[uint8]
}

// window has rows of a surface.
type window struct {
	y, n    int
	heights []float32
}

// read reads rows, and those above and below.
func (r *relief) read(ctx context.Context, y, n int) (window, error) {
	first, end := max(y-1, 0), min(y+n+1, r.rows.Height)
	w := window{first, end - first, make([]float32, (end-first)*r.rows.Width)}
	return w, r.reader.Read(ctx, 0, w.y, r.rows.Width, w.n, w.heights)
}

func finite(v ...float64) bool {
	for _, x := range v {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return false
		}
	}
	return true
}

func (d Hillshade) check() error {
	if !finite(d.Azimuth, d.Altitude, d.ZFactor, d.Scale) || d.Altitude < 0 || d.Altitude > 90 || d.Scale < 0 {
		return failf(ErrArgument, "hillshade: %+v is not possible; the altitude is from 0 to 90, and the scale is positive", d)
	}
	return nil
}

func (d Hillshade) header(h *tiff.Header) { h.Type, h.NoData = tiff.Uint8, "0" }

func (d Hillshade) launch(s *gpu.Stream, r *relief, y, n int) error {
	azimuth := cmp.Or(d.Azimuth, 315)
	if d.NorthLight {
		azimuth = 0
	}
	l := shape.NewLight(azimuth, cmp.Or(d.Altitude, 45), cmp.Or(d.ZFactor, 1)/cmp.Or(d.Scale, 1))
	l.X, l.Y = 1/r.affine[1], 1/r.affine[5]
	return kernels.LaunchShade(s, gpu.Plane(r.rows.Width, n), r.rows, y, n, l, r.heights, r.bytes)
}

func (d Slope) check() error {
	if !finite(d.Scale) || d.Scale < 0 {
		return failf(ErrArgument, "slope: the scale %v must be positive", d.Scale)
	}
	return nil
}

func (d Slope) header(h *tiff.Header) { h.Type, h.NoData = tiff.Float32, fmt.Sprint(noData) }

func (d Slope) launch(s *gpu.Stream, r *relief, y, n int) error {
	kind := kernels.SlopeDegrees
	if d.Percent {
		kind = kernels.SlopePercent
	}
	return r.derive(s, y, n, kind, cmp.Or(d.Scale, 1), noData)
}

func (d Aspect) check() error { return nil }

func (d Aspect) header(h *tiff.Header) {
	h.Type = tiff.Float32
	if !d.ZeroForFlat {
		h.NoData = fmt.Sprint(noData)
	}
}

func (d Aspect) launch(s *gpu.Stream, r *relief, y, n int) error {
	kind, none := kernels.Aspect, float32(noData)
	if d.Trigonometric {
		kind = kernels.AspectTrigonometric
	}
	if d.ZeroForFlat {
		none = 0
	}
	return r.derive(s, y, n, kind, 1, none)
}

func (r *relief) derive(s *gpu.Stream, y, n, kind int, scale float64, none float32) error {
	return kernels.LaunchDerive(s, gpu.Plane(r.rows.Width, n), r.rows, y, n, kind, 1/r.affine[1], 1/r.affine[5], scale, none, r.heights, gpu.Reinterpret[float32](r.bytes))
}
