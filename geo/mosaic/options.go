package mosaic

import (
	"math"
	"strconv"

	"quern.dev/geo/crs"
	"quern.dev/geo/tiff"
	"quern.dev/geo/warp"
)

// Order says which image a pixel is taken from, of those that have data there.
type Order uint8

const (
	// Last is the last one in the list, as in gdalwarp.
	Last Order = iota
	// First is the first one in the list.
	First
	// Nearest is the one whose center is nearest: with images that were taken from above, the one with the steepest view.
	Nearest
)

// Blend says what happens where images meet.
type Blend uint8

const (
	// None leaves pixels as they are.
	None Blend = iota
	// Feather fades from one image to the other, across Options.Radius pixels on both sides.
	Feather
	// Multiband joins the levels of Laplacian pyramids: coarse shades fade across a wide strip and details across a narrow
	// one (Burt and Adelson, A Multiresolution Spline with Application to Image Mosaics, 1983).
	Multiband
)

// Balance says which differences of brightness between images are evened out.
type Balance uint8

const (
	// Unbalanced keeps values.
	Unbalanced Balance = iota
	// Gain multiplies each band of each image by a number.
	Gain
	// GainOffset multiplies each band of each image by a number and adds another one.
	GainOffset
)

// names of the values of options.
var (
	orders   = []string{Last: "last", First: "first", Nearest: "nearest"}
	blends   = []string{None: "none", Feather: "feather", Multiband: "multiband"}
	balances = []string{Unbalanced: "none", Gain: "gain", GainOffset: "gain-offset"}
)

func name[T ~uint8](v T, names []string, kind string) string {
	if int(v) < len(names) {
		return names[v]
	}
	return kind + "(" + strconv.Itoa(int(v)) + ")"
}

func parse[T ~uint8](text string, names []string) (T, bool) {
	for i, n := range names {
		if n == text {
			return T(i), true
		}
	}
	return 0, false
}

// String returns the name: last, first or nearest.
func (o Order) String() string { return name(o, orders, "Order") }

// String returns the name: none, feather or multiband.
func (b Blend) String() string { return name(b, blends, "Blend") }

// String returns the name: none, gain or gain-offset.
func (b Balance) String() string { return name(b, balances, "Balance") }

// ParseOrder returns the order with a name.
func ParseOrder(text string) (Order, bool) { return parse[Order](text, orders) }

// ParseBlend returns the blending with a name.
func ParseBlend(text string) (Blend, bool) { return parse[Blend](text, blends) }

// ParseBalance returns the balancing with a name.
func ParseBalance(text string) (Balance, bool) { return parse[Balance](text, balances) }

// Source is an image of a mosaic. It must stay open.
type Source struct {
	Image *tiff.Image
	// Center is the point, in coordinates of the output, from which Nearest counts distances: below the camera, for example. By default
	// it is the middle of the image.
	Center *[2]float64
}

// Options says what the output is. The zero value lays later sources over earlier ones.
type Options struct {
	// Target, SourceCRS, Shift, Converter, Extent, Resolution, AlignPixels, Resampling and SourceNoData are those of [warp.Options].
	Target       *crs.CRS
	SourceCRS    *crs.CRS
	Shift        []crs.Option
	Converter    func(from, to *crs.CRS) (crs.Converter, error)
	Extent       *warp.Extent
	Resolution   [2]float64
	AlignPixels  bool
	Resampling   warp.Resampling
	SourceNoData []float64

	Order Order
	// Seams moves the borders between images to where they differ least, by minimum cuts of reduced images, so that they go
	// around what has moved.
	Seams bool
	Blend Blend
	// Radius of Feather in pixels: 32 by default.
	Radius int
	// Levels of the pyramids of Multiband: 5 by default, and at most 8. The strip in which shades fade is about 2^Levels pixels wide.
	Levels  int
	Balance Balance

	// NoData is the value of output pixels without data. Without it they have alpha 0, or the value of the sources if
	// they have one.
	NoData *float64

	// Memory is roughly how much host memory, and device memory, to use: 512 MiB by default. It does not change the output.
	Memory int64
	// TileSize is the width and height of what is computed at a time, a multiple of the file's blocks: by default about 1024, or 512
	// for pixels of more than 8 bytes. It does
	// not change the output.
	TileSize int
	// File says how the output is stored: in tiles, with all bands side by side or band by band. Blocks without data are not
	// written.
	File tiff.Options
	// Work is the name of the file that keeps finished tiles until the output is complete: by default that of the output with
	// .work appended. After a failure it stays, and the same call continues. It is removed in the end.
	Work string
	// Progress is called after parts of the work, by one goroutine at a time. total is the same in all calls.
	Progress func(done, total int)
}

func (o *Options) withDefaults() (Options, error) {
	d := *o
	if d.Radius == 0 {
		d.Radius = 32
	}
	if d.Levels == 0 {
		d.Levels = 5
	}
	if d.Memory == 0 {
		d.Memory = 512 << 20
	}
	switch {
	case d.Order > Nearest || d.Blend > Multiband || d.Balance > GainOffset:
		return d, failf(ErrArgument, "options: %v, %v or %v is not defined", d.Order, d.Blend, d.Balance)
	case d.Radius < 1 || d.Radius > 1024:
		return d, failf(ErrArgument, "options: radius %d; 1 to 1024 pixels are possible", d.Radius)
	case d.Levels < 1 || d.Levels > 8:
		return d, failf(ErrArgument, "options: %d levels; 1 to 8 are possible", d.Levels)
	case d.Memory < 0 || d.TileSize < 0:
		return d, failf(ErrArgument, "options: memory of %d bytes and tiles of %d pixels; none may be negative", d.Memory, d.TileSize)
	case d.NoData != nil && math.IsInf(*d.NoData, 0):
		return d, failf(ErrArgument, "options: NoData %v is not finite", *d.NoData)
	case d.File.Strips || d.File.Mask:
		return d, failf(ErrArgument, "options: a mosaic has tiles, and alpha or NoData, but no strips and no mask")
	}
	return d, nil
}

// margin returns how far the pixels are that may have an influence on one.
func (o *Options) margin() int {
	switch o.Blend {
	case Feather:
		return o.Radius
	case Multiband:
		return 6 << o.Levels
	}
	return 0
}
