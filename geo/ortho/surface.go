package ortho

import (
	"context"
	"math"
	"strconv"

	"quern.dev/geo/crs"
	"quern.dev/geo/internal/heights"
	"quern.dev/geo/ortho/internal/kernels"
	"quern.dev/geo/tiff"
)

// Surface has the heights of the ground, or of what is on it: a digital elevation or surface model, or a constant. It may
// be used concurrently.
type Surface struct {
	im            *tiff.Image // nil for a constant
	crs           *crs.CRS
	affine        tiff.Affine
	scale, offset float64
	reader        *heights.Reader
	least, most   float64 // of all heights
}

// SurfaceOptions change heights, which have to be meters in the sense of the camera's heights: above the ellipsoid for
// RPC and reconstructions with reference_lla.
type SurfaceOptions struct {
	// Scale and Offset make heights of values: value*Scale + Offset. A Scale of 0 means 1. Without them, a scale and an
	// offset in the metadata of the file count.
	Scale, Offset float64
	// CRS replaces the coordinate system of the file.
	CRS *crs.CRS
}

// Flat returns a surface of one height.
func Flat(height float64) *Surface { return &Surface{least: height, most: height} }

// NewSurface returns the surface of the first band of an image, which must stay open. It reads all of it once, for the
// extreme heights.
func NewSurface(ctx context.Context, im *tiff.Image, o SurfaceOptions) (*Surface, error) {
	s := &Surface{im: im, crs: o.CRS, scale: o.Scale, offset: o.Offset}
	var ok bool
	if s.affine, ok = im.Geo.Affine(); !ok {
		return nil, failf(ErrNoCRS, "%s: the file does not say where its pixels are", im)
	}
	if s.affine[1]*s.affine[5]-s.affine[2]*s.affine[4] == 0 {
		return nil, failf(ErrArgument, "%s: its pixels have no area", im)
	}
	if s.crs == nil {
		if len(im.Geo.Keys) == 0 {
			return nil, failf(ErrNoCRS, "%s: the surface has no coordinate system; set it", im)
		}
		var err error
		if s.crs, err = crs.FromGeoKeys(im.Geo.Keys); err != nil {
			return nil, err
		}
	}
	switch {
	case s.crs.Kind() == crs.Geocentric:
		return nil, failf(ErrArgument, "%s: geocentric coordinates are not those of a surface", im)
	case im.Type.Complex():
		return nil, failf(ErrArgument, "%s: heights cannot be %v", im, im.Type)
	case !finite(o.Scale, o.Offset):
		return nil, failf(ErrArgument, "surface: the scale %v and the offset %v must be finite", o.Scale, o.Offset)
	}
	if o.Scale == 0 && o.Offset == 0 {
		s.fromMetadata()
	}
	if s.scale == 0 {
		s.scale = 1
	}
	s.reader = heights.New(im, 0)
	var err error
	if s.least, s.most, err = s.extremes(ctx, kernels.Window{W: im.Width, H: im.Height}, nil); err != nil {
		return nil, err
	}
	if s.least > s.most {
		return nil, failf(ErrOutside, "%s: the surface has no heights", im)
	}
	return s, nil
}

// CRS returns the coordinate system, which is nil for a flat surface.
func (s *Surface) CRS() *crs.CRS { return s.crs }

// fromMetadata takes GDAL's scale and offset of the first band.
func (s *Surface) fromMetadata() {
	for _, item := range s.im.Metadata {
		if item.Band != 0 {
			continue
		}
		if v, err := strconv.ParseFloat(item.Value, 64); err == nil && finite(v) {
			switch item.Role {
			case "scale":
				s.scale = v
			case "offset":
				s.offset = v
			}
		}
	}
}

// read fills dst with the values of a window, NaN where there are none.
func (s *Surface) read(ctx context.Context, w kernels.Window, dst []float32) error {
	return s.reader.Read(ctx, w.X, w.Y, w.W, w.H, dst)
}

// chunk is how many pixels are read at a time where heights are scanned.
const chunk = 4 << 20

// parts divides a window into parts of at most chunk pixels that consist of whole blocks of the file, where these are
// not larger than a chunk.
func (s *Surface) parts(w kernels.Window) []kernels.Window {
	columns, rows := min(s.im.BlockWidth, s.im.Width), min(s.im.BlockHeight, s.im.Height)
	if columns > chunk {
		columns = chunk
	}
	rows = min(rows, max(chunk/columns, 1))
	if n := chunk / rows; n > columns {
		columns = n - n%columns
	}
	if columns >= w.X+w.W {
		if n := chunk / (w.X + w.W); n > rows {
			rows = n - n%rows
		}
	}
	var all []kernels.Window
	for y := w.Y; y < w.Y+w.H; {
		h := min(rows-y%rows, w.Y+w.H-y)
		for x := w.X; x < w.X+w.W; {
			n := min(columns-x%columns, w.X+w.W-x)
			all = append(all, kernels.Window{X: x, Y: y, W: n, H: h})
			x += n
		}
		y += h
	}
	return all
}

// extremes returns the least and the greatest height in a window. They are +Inf and -Inf without any. keep, if it is not
// nil, gets the values of one part at a time.
func (s *Surface) extremes(ctx context.Context, w kernels.Window, keep func(part kernels.Window, values []float32)) (least, most float64, err error) {
	low, high := float32(math.Inf(1)), float32(math.Inf(-1))
	var values []float32
	for _, part := range s.parts(w) {
		n := part.W * part.H
		if cap(values) < n {
			values = make([]float32, n)
		}
		values = values[:n]
		if err := s.read(ctx, part, values); err != nil {
			return 0, 0, err
		}
		for _, v := range values {
			if v < low {
				low = v
			}
			if v > high {
				high = v
			}
		}
		if keep != nil {
			keep(part, values)
		}
	}
	if low > high {
		return math.Inf(1), math.Inf(-1), nil
	}
	least, most = float64(low)*s.scale+s.offset, float64(high)*s.scale+s.offset
	if s.scale < 0 {
		least, most = most, least
	}
	return least, most, nil
}

// sketch is a reduced copy of a window of a surface in host memory.
type sketch struct {
	s      *Surface
	w      kernels.Window
	step   int
	across int
	values []float32
}

// sketchSize is the most columns and rows of a sketch.
const sketchSize = 1024

// sketch reads a window: its extreme heights, and one value of several.
func (s *Surface) sketch(ctx context.Context, w kernels.Window) (k *sketch, least, most float64, err error) {
	k = &sketch{s: s, w: w, step: max(1, (max(w.W, w.H)+sketchSize-1)/sketchSize)}
	k.across = (w.W + k.step - 1) / k.step
	k.values = make([]float32, k.across*((w.H+k.step-1)/k.step))
	least, most, err = s.extremes(ctx, w, func(part kernels.Window, values []float32) {
		left, top := part.X-w.X, part.Y-w.Y
		for y := range part.H {
			if (top+y)%k.step != 0 {
				continue
			}
			to := k.values[(top+y)/k.step*k.across:]
			for x := (k.step - left%k.step) % k.step; x < part.W; x += k.step {
				to[(left+x)/k.step] = values[y*part.W+x]
			}
		}
	})
	return k, least, most, err
}

// at returns the height near a position in the surface, or NaN.
func (k *sketch) at(x, y float64) float64 {
	if !(x >= float64(k.w.X) && y >= float64(k.w.Y) && x <= float64(k.w.X+k.w.W) && y <= float64(k.w.Y+k.w.H)) {
		return math.NaN()
	}
	column, row := min(int(x)-k.w.X, k.w.W-1)/k.step, min(int(y)-k.w.Y, k.w.H-1)/k.step
	return float64(k.values[row*k.across+column])*k.s.scale + k.s.offset
}
