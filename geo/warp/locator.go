package warp

import (
	"context"

	"quern.dev/geo/internal/blocks"
	"quern.dev/geo/tiff"
	"quern.dev/gpu"
)

// Locator finds where points of an output are in a source that no affine map and coordinate system place, such as the
// frame of a camera. Its methods are called by several goroutines at a time.
type Locator interface {
	// Locate computes, on s, where the points of r.Width x r.Height pixels of the output are in the source. half is 0.5
	// for the centers of pixels and 0 for their upper left corners. xs and ys get columns and rows, (0, 0) being the
	// corner of the source's first pixel, or NaN where the source does not show the point. A position must depend on
	// nothing but the point. The call may return before the computation has ended. After an error that matches
	// ErrTooLarge, the parts of the region are asked for, down to 16 x 16 pixels.
	Locate(ctx context.Context, s *gpu.Stream, r tiff.Region, half float64, xs, ys *gpu.Buffer[float64]) error
}

// Located is a source and the locator that places it.
type Located struct {
	Image   *tiff.Image
	Locator Locator
	// Reach has all pixels of the output that the source may have a pixel for.
	Reach tiff.Region
	// XScale and YScale are how many pixels of the output a pixel of the source has; see Options.XScale. 0 means 1.
	XScale, YScale float64
}

// NewLocated is like [New] for sources that locators place. Options.Grid is required; a coordinate system of the sources, a
// datum shift, a converter, a cutline and an overview are errors.
func NewLocated(dev *gpu.Device, sources []Located, o Options) (*Warper, error) {
	switch {
	case o.SourceCRS != nil || o.Shift != nil || o.Converter != nil || o.Cutline != nil || o.Overview != 0:
		return nil, failf(ErrArgument, "options: sources that locators place take no coordinate system, datum shift, converter, cutline or overview")
	case o.Grid == nil:
		return nil, failf(ErrArgument, "options: Grid is required for sources that locators place")
	}
	return newWarper(dev, o, func(w *Warper) error {
		g := *o.Grid
		w.grid = g
		cache := blocks.New(w.opt.Memory / 4)
		for _, l := range sources {
			if l.Locator == nil {
				return failf(ErrArgument, "%s has no locator", l.Image)
			}
			s := &source{im: l.Image, name: l.Image.String(), crs: g.CRS, target: g.CRS, h: l.Image.Header, locator: l.Locator}
			if err := s.setBands(&w.opt, cache); err != nil {
				return err
			}
			if err := w.add(s); err != nil {
				return err
			}
			s.place.Same = true
			s.shape.XScale, s.shape.YScale = 1, 1
			if l.XScale > 0 && l.YScale > 0 {
				s.shape.XScale, s.shape.YScale = l.XScale, l.YScale
			}
			r := l.Reach
			s.footprint = g.clip(float64(r.X), float64(r.Y), float64(r.X+r.Width), float64(r.Y+r.Height))
		}
		return nil
	})
}
