package translate

import (
	"math"

	"quern.dev/geo/crs"
	"quern.dev/geo/tiff"
)

// part returns the part of an image that is copied.
func (o *Options) part(im *tiff.Image) (Window, error) {
	w := Window{Width: float64(im.Width), Height: float64(im.Height)}
	switch {
	case o.Window != nil:
		w = *o.Window
	case o.Extent != nil:
		var err error
		if w, err = o.located(im); err != nil {
			return w, err
		}
	}
	if w.X >= float64(im.Width) || w.Y >= float64(im.Height) || w.X+w.Width <= 0 || w.Y+w.Height <= 0 {
		return w, failf(ErrOutside, "the part of %g x %g pixels from %g, %g on is outside of the image, which has %d x %d pixels", w.Width, w.Height, w.X, w.Y, im.Width, im.Height)
	}
	return w, nil
}

// upright returns the map from pixels to coordinates of an image that is not rotated.
func upright(im *tiff.Image) (tiff.Affine, error) {
	a, ok := im.Geo.Affine()
	switch {
	case !ok:
		return a, failf(ErrArgument, "%s: the file does not say where its pixels are; give the part and the size in pixels", im)
	case a[2] != 0 || a[4] != 0:
		return a, failf(ErrArgument, "%s: the image is rotated; give the part and the size in pixels, or warp it first", im)
	}
	return a, nil
}

// located returns the part that is an extent.
func (o *Options) located(im *tiff.Image) (w Window, err error) {
	a, err := upright(im)
	if err != nil {
		return w, err
	}
	e := *o.Extent
	if o.ExtentCRS != nil {
		own, err := crs.FromGeoKeys(im.Geo.Keys)
		if err != nil {
			return w, failf(ErrArgument, "%s: the system of its coordinates: %w", im, err)
		}
		t, err := crs.NewTransform(o.ExtentCRS, own)
		if err != nil {
			return w, failf(ErrArgument, "the extent %v: %w", e, err)
		}
		if e.Left, e.Top, err = t.Forward(e.Left, e.Top); err == nil {
			e.Right, e.Bottom, err = t.Forward(e.Right, e.Bottom)
		}
		if err != nil {
			return w, failf(ErrArgument, "the extent %v: %w", *o.Extent, err)
		}
	}
	w = Window{X: (e.Left - a[0]) / a[1], Y: (e.Top - a[3]) / a[5], Width: (e.Right - e.Left) / a[1], Height: (e.Bottom - e.Top) / a[5]}
	if o.Resampling == Near { // whole pixels
		w = Window{X: math.Floor(w.X + 0.001), Y: math.Floor(w.Y + 0.001), Width: math.Floor(w.Width + 0.5), Height: math.Floor(w.Height + 0.5)}
	}
	if !(w.Width > 0 && w.Height > 0) {
		return w, failf(ErrArgument, "the extent %v (left, top, right, bottom) has %g x %g pixels", *o.Extent, w.Width, w.Height)
	}
	return w, nil
}

// mostPixels is the greatest width and height.
const mostPixels = math.MaxInt32

// size returns the columns and rows of the result, and the part that they show, which a resolution changes.
func (o *Options) size(im *tiff.Image, w Window) (Window, [2]int, error) {
	if o.Resolution != [2]float64{} {
		a, err := upright(im)
		if err != nil {
			return w, [2]int{}, err
		}
		x, y := o.Resolution[0]/math.Abs(a[1]), o.Resolution[1]/math.Abs(a[5]) // in pixels of the source
		columns, rows := math.Floor(w.Width/x+0.5), math.Floor(w.Height/y+0.5)
		if !(columns >= 1 && rows >= 1 && columns <= mostPixels && rows <= mostPixels) {
			return w, [2]int{}, failf(ErrArgument, "with the resolution %v, the result would have %g x %g pixels", o.Resolution, columns, rows)
		}
		w.Width, w.Height = columns*x, rows*y
		return w, [2]int{int(columns), int(rows)}, nil
	}
	whole := func(v float64) float64 { return max(1, math.Ceil(v-0.001)) }
	columns, rows := float64(o.Width), float64(o.Height)
	if o.XShare > 0 {
		columns = max(1, math.Floor(o.XShare*w.Width))
	}
	if o.YShare > 0 {
		rows = max(1, math.Floor(o.YShare*w.Height))
	}
	switch {
	case columns == 0 && rows == 0:
		columns, rows = whole(w.Width), whole(w.Height)
	case columns == 0:
		columns = max(1, math.Floor(rows*w.Width/w.Height+0.5))
	case rows == 0:
		rows = max(1, math.Floor(columns*w.Height/w.Width+0.5))
	}
	if columns > mostPixels || rows > mostPixels {
		return w, [2]int{}, failf(ErrArgument, "the result would have %.0f x %.0f pixels", columns, rows)
	}
	return w, [2]int{int(columns), int(rows)}, nil
}

// place assigns the system and the corners.
func (o *Options) place(h *tiff.Header) error {
	if o.CRS == nil && !o.NoCRS && o.Corners == nil {
		return nil
	}
	a, placed := h.Geo.Affine()
	if o.CRS != nil || o.NoCRS {
		var keys tiff.GeoKeys
		if o.CRS != nil {
			var err error
			if keys, err = o.CRS.GeoKeys(); err != nil {
				return failf(ErrArgument, "the assigned system: %w", err)
			}
		}
		if h.Geo.PixelIsPoint() {
			keys.Set(tiff.GeoValue{Key: tiff.GTRasterType, Code: tiff.RasterPixelIsPoint})
		}
		h.Geo.Keys = keys
	}
	if e := o.Corners; e != nil {
		a, placed = tiff.Affine{e.Left, (e.Right - e.Left) / float64(h.Width), 0, e.Top, 0, (e.Bottom - e.Top) / float64(h.Height)}, true
	}
	if placed {
		h.Geo.SetAffine(a)
	}
	return nil
}
