package translate

import (
	"math"
	"slices"
	"strings"

	"quern.dev/geo/crs"
	"quern.dev/geo/internal/resize"
	"quern.dev/geo/tiff"
)

// Window is a part of an image in pixels, counted from its upper left corner. It may begin and end within pixels.
type Window = resize.Window

// Extent is a part of the Earth, in coordinates.
type Extent struct{ Left, Top, Right, Bottom float64 }

// Resampling is how pixels are made that have another size.
type Resampling = resize.Filter

// Resamplings. Kernels are as wide as pixels of the result, if these are larger than those of the source. Samples without data, and the
// other bands of pixels whose alpha is 0, do not count.
const (
	Near        = resize.Near
	Bilinear    = resize.Bilinear
	Cubic       = resize.Cubic
	CubicSpline = resize.CubicSpline
	Lanczos     = resize.Lanczos
	Average     = resize.Average
)

// Resamplings are the names of the resamplings, which are GDAL's.
func Resamplings() []string { return slices.Clone(resize.Names) }

// ParseResampling returns the resampling of a name.
func ParseResampling(name string) (Resampling, bool) {
	name = strings.ToLower(name)
	if name == "nearest" {
		return Near, true
	}
	i := slices.Index(resize.Names, name)
	return Resampling(max(0, i)), i >= 0
}

// Expansion is what is made of a palette.
type Expansion uint8

// Expansions. The color of NoData becomes transparent black, and the result has no NoData.
const (
	KeepPalette Expansion = iota
	Gray                  // one band; an error if a color is not gray
	RGB
	RGBA
)

// Scale maps values linearly, also those beyond the ranges.
type Scale struct {
	// From is the range of the source, or nil for the least and the greatest value of each band.
	From *[2]float64
	// To is the range of the result.
	To [2]float64
}

// Options says what is copied, and how it changes. The zero value copies the image.
type Options struct {
	// Bands are those to copy, from 0. All are by default.
	Bands []int
	// NoMask leaves out the mask.
	NoMask bool

	// Window is the part to copy. What is outside of the image has no data.
	Window *Window
	// Extent is the part instead of Window, in ExtentCRS or the image's own system. With Near, it is made of whole pixels. The image must not be rotated.
	Extent    *Extent
	ExtentCRS *crs.CRS

	// Width and Height are the size of the result. If one is 0, it follows from the other and the shape of the pixels. By default, pixels keep their size.
	Width, Height int
	// XShare and YShare are the size in shares of the part's size, instead of Width or Height.
	XShare, YShare float64
	// Resolution is the size of pixels of the result, in coordinates, instead of a size in pixels.
	Resolution [2]float64
	Resampling Resampling

	// Expand makes colors of a palette.
	Expand Expansion
	// Type is that of samples; 0 is that of the image. Numbers are rounded to nearest, halves away from zero, and limited to the values of
	// the type. NaN becomes 0, and a complex number its real part. NoData becomes another value in the same way.
	Type tiff.Type
	// Scale maps values. Samples without data get the NoData of the result, or 0 if it has none.
	Scale *Scale
	// Unscale applies the scale and the offset of bands, in their metadata.
	Unscale bool

	// NoData is assigned, or removed if it is "". It becomes a value of the result's type, with a warning. Samples do not change, except with
	// Scale and Unscale.
	NoData *string
	// CRS is assigned, or NoCRS removes that of the image. Coordinates do not change.
	CRS   *crs.CRS
	NoCRS bool
	// Corners are assigned: those of the result.
	Corners *Extent
}

func finite(values ...float64) bool {
	return !slices.ContainsFunc(values, func(v float64) bool { return v-v != 0 })
}

func (e *Extent) finite() bool { return e == nil || finite(e.Left, e.Top, e.Right, e.Bottom) }

func (o *Options) check() error {
	share := func(v float64) bool { return v >= 0 && finite(v) }
	switch w := o.Window; {
	case w != nil && o.Extent != nil:
		return failf(ErrArgument, "options: a window and an extent; give one of them")
	case w != nil && !(finite(w.X, w.Y, w.Width, w.Height) && w.Width > 0 && w.Height > 0):
		return failf(ErrArgument, "options: the window %v; the width and the height must be positive", *w)
	case !o.Extent.finite() || !o.Corners.finite():
		return failf(ErrArgument, "options: an extent that is not finite")
	case o.Corners != nil && (o.Corners.Left == o.Corners.Right || o.Corners.Top == o.Corners.Bottom):
		return failf(ErrArgument, "options: the corners %v have no area between them", *o.Corners)
	case o.ExtentCRS != nil && o.Extent == nil:
		return failf(ErrArgument, "options: ExtentCRS needs an extent")
	case o.Width < 0 || o.Height < 0 || o.Width > math.MaxInt32 || o.Height > math.MaxInt32 || !share(o.XShare) || !share(o.YShare) || o.Width > 0 && o.XShare > 0 || o.Height > 0 && o.YShare > 0:
		return failf(ErrArgument, "options: the size %d x %d, or %g x %g of the part; each is one positive number", o.Width, o.Height, o.XShare, o.YShare)
	case o.Resolution != [2]float64{} && !(o.Resolution[0] > 0 && o.Resolution[1] > 0 && finite(o.Resolution[:]...)):
		return failf(ErrArgument, "options: the resolution %v; both numbers must be positive", o.Resolution)
	case o.Resolution != [2]float64{} && (o.Width > 0 || o.Height > 0 || o.XShare > 0 || o.YShare > 0):
		return failf(ErrArgument, "options: a resolution and a size; give one of them")
	case int(o.Resampling) >= len(resize.Names):
		return failf(ErrArgument, "options: resampling %d is not defined", o.Resampling)
	case o.Expand > RGBA:
		return failf(ErrArgument, "options: expansion %d is not defined", o.Expand)
	case o.Type != 0 && o.Type.Size() == 0:
		return failf(ErrArgument, "options: the type %v is not defined", o.Type)
	case o.Scale != nil && o.Unscale:
		return failf(ErrArgument, "options: Scale and Unscale; give one of them")
	case o.Scale != nil && (!finite(o.Scale.To[:]...) || o.Scale.From != nil && !finite(o.Scale.From[:]...)):
		return failf(ErrArgument, "options: a range of the scale is not finite")
	case o.CRS != nil && o.NoCRS:
		return failf(ErrArgument, "options: CRS and NoCRS; give one of them")
	}
	return nil
}
