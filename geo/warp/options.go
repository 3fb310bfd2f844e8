package warp

import (
	"math"
	"slices"
	"strconv"

	"quern.dev/geo/crs"
	"quern.dev/geo/tiff"
	"quern.dev/geo/warp/internal/kernels"
	"quern.dev/gpu"
)

// Resampling is how the value of an output pixel is found.
type Resampling uint8

// Resamplings, with gdalwarp's meaning.
const (
	Nearest Resampling = iota
	Bilinear
	Cubic
	CubicSpline
	Lanczos
	Average
	Mode
	Minimum
	Maximum
	Median
	FirstQuartile
	ThirdQuartile
	// GDALCubicSpline is CubicSpline as gdalwarp computes it where the source is reduced: pixels to the right of the
	// kernel and below it have small negative weights. Elsewhere it is CubicSpline.
	GDALCubicSpline
)

// resamplings has the names of gdalwarp's option -r, and the kernels.
var resamplings = [...]struct {
	name   string
	radius int // of the filter, in pixels of the source that are not reduced
	filter int
	boxed  bool
	box    int
	rank   float64 // of a quantile
}{
	Nearest:         {name: "near"},
	Bilinear:        {name: "bilinear", radius: 1, filter: kernels.Triangle},
	Cubic:           {name: "cubic", radius: 2, filter: kernels.Convolution},
	CubicSpline:     {name: "cubicspline", radius: 2, filter: kernels.Spline},
	Lanczos:         {name: "lanczos", radius: 3, filter: kernels.Lanczos},
	Average:         {name: "average", boxed: true, box: kernels.Average},
	Mode:            {name: "mode", boxed: true, box: kernels.Mode},
	Minimum:         {name: "min", boxed: true, box: kernels.Minimum},
	Maximum:         {name: "max", boxed: true, box: kernels.Maximum},
	Median:          {name: "med", boxed: true, box: kernels.Quantile, rank: 0.5},
	FirstQuartile:   {name: "q1", boxed: true, box: kernels.Quantile, rank: 0.25},
	ThirdQuartile:   {name: "q3", boxed: true, box: kernels.Quantile, rank: 0.75},
	GDALCubicSpline: {name: "gdal-cubicspline", radius: 2, filter: kernels.SplineGDAL},
}

// String returns the name of gdalwarp's option -r.
func (r Resampling) String() string {
	if int(r) >= len(resamplings) {
		return "Resampling(" + strconv.Itoa(int(r)) + ")"
	}
	return resamplings[r].name
}

// ParseResampling returns the resampling with a name of gdalwarp's option -r: near, bilinear, cubic, cubicspline,
// lanczos, average, mode, min, max, med, q1, q3; and gdal-cubicspline.
func ParseResampling(name string) (Resampling, bool) {
	for i := range resamplings {
		if resamplings[i].name == name || name == "nearest" && i == int(Nearest) {
			return Resampling(i), true
		}
	}
	return 0, false
}

// Extent is a rectangle in the coordinates of the output.
type Extent struct{ MinX, MinY, MaxX, MaxY float64 }

// OverviewAuto reads the smallest overview of a source that is not coarser than the output, as gdalwarp does by default.
const OverviewAuto = -1

// SourceAlpha says whether the last band of a source is alpha.
type SourceAlpha uint8

const (
	AlphaAuto SourceAlpha = iota // as the file says
	AlphaLast                    // it is
	AlphaNone                    // no band is
)

// Options says what the output is. The zero value copies the sources, nearest pixel by nearest pixel, to the coordinate
// system of the first one.
type Options struct {
	// Target is the coordinate system of the output, or nil for that of the first source.
	Target *crs.CRS
	// SourceCRS replaces the coordinate systems of the sources.
	SourceCRS *crs.CRS
	// Shift chooses the datum shift; see [crs.NewTransform].
	Shift []crs.Option

	// Converter makes the transforms between coordinate systems, instead of [crs.NewTransform]: by another library, for systems
	// and shifts that package crs does not have; see geo/proj. Positions are computed on the host then, exactly and for each
	// pixel. The function is called once per source, and for a cutline. Shift is not used.
	Converter func(from, to *crs.CRS) (crs.Converter, error)

	// Grid is where the output's pixels are, instead of Target, Extent, Resolution, AlignPixels, Width and Height.
	Grid *Grid
	// Extent of the output, or nil for that of the sources.
	Extent *Extent
	// ExtentCRS is the coordinate system of Extent, or nil for Target. The lower left and the upper right corner are
	// transformed, as in gdalwarp.
	ExtentCRS *crs.CRS
	// CropToCutline makes the extent that of the cutline's points. Without a resolution, a size and a change of the coordinate
	// system, it has whole pixels of the first source.
	CropToCutline bool
	// Resolution is the size of an output pixel in x and y, or 0 to keep that of the sources.
	Resolution [2]float64
	// AlignPixels makes the extent a multiple of Resolution.
	AlignPixels bool
	// Width and Height of the output in pixels, instead of Resolution. One of them may be 0.
	Width, Height int

	// Tolerance permits to interpolate positions between every 16th pixel, where the error that second differences show is
	// below it, in pixels of the source. 0 computes all positions exactly. It does not concern locators. The output still
	// does not depend on tiles, memory or the device. See the package's documentation.
	Tolerance float64
	// Fit is how the pixels of sources get coordinates.
	Fit Fit

	Resampling Resampling
	// Overview is the overview of the sources that is read: 1 for the first one, 0 for the full resolution, or OverviewAuto.
	Overview int
	// XScale and YScale are how many output pixels a source pixel has in x and y, which widens filters if it is below 1.
	// By default they follow from the sizes of what source and output have in common, as in gdalwarp.
	XScale, YScale float64

	// Bands are the bands of the sources that are warped, counted from 0; all if it is nil. Alpha need not be among them.
	Bands []int
	// SourceAlpha says whether the last band of the sources is alpha. If it does, the output has alpha only with Alpha.
	SourceAlpha SourceAlpha
	// Type of the output's samples, or 0 for that of the sources. Samples are computed in a type that has the values of
	// both, then rounded and clamped.
	Type tiff.Type

	// SourceNoData is the value of pixels without data: one for all bands, or one per band. By default it is that of the
	// file.
	SourceNoData []float64
	// IgnoreNoData takes all values of the sources as data.
	IgnoreNoData bool
	// UnifiedNoData makes a pixel of a source one without data only if all of its bands have SourceNoData. By default, bands
	// are resampled without the samples that have it.
	UnifiedNoData bool
	// NoData is the value of output pixels without data: one for all bands, or one per band. By default it is that of the
	// sources, or without one, or with Alpha, 0.
	NoData []float64
	// Start is the value of output pixels before a source is written: one for all bands, or one per band. By default it is
	// NoData, or 0.
	Start []float64
	// Alpha adds a band of straight alpha. It is added too if a source has one, and SourceAlpha is AlphaAuto.
	Alpha bool
	// Cutline restricts the sources to polygons.
	Cutline *Cutline
	// CutlineBlend is a distance in pixels of the sources on both sides of the cutline's edges, in which sources fade into what is
	// below them: from all at the distance inside, by half at the edge, to nothing at the distance outside. Without alpha and NoData of
	// the output, they fade into Start. As in GDAL, average and the resamplings below it do not fade: their pixels have data or not.
	CutlineBlend float64

	// Memory is roughly how much host memory, and device memory, to use: 512 MiB by default. It does not change the output.
	Memory int64
	// TileWidth and TileHeight are the size of what is computed at a time. They do not change the output.
	TileWidth, TileHeight int
	// File says how the output is stored.
	File tiff.Options
	// Progress is called after rows were written, by one goroutine at a time.
	Progress func(done, total int)
}

const defaultMemory = 512 << 20

// tileSize returns the default size of tiles: on the CPU they stay in its caches, a GPU needs many threads.
func tileSize(b gpu.Backend) (width, height int) {
	if b == gpu.CPU || b == gpu.Sim {
		return 512, 512
	}
	return 2048, 1024
}

func (o *Options) check() error {
	finite := func(v ...float64) bool {
		return !slices.ContainsFunc(v, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
	}
	g := o.Grid
	switch {
	case g != nil && (o.Target != nil || o.Extent != nil || o.Resolution != [2]float64{} || o.AlignPixels || o.CropToCutline || o.Width != 0 || o.Height != 0):
		return failf(ErrArgument, "options: a grid excludes a target, an extent and a size")
	case g != nil && (g.CRS == nil || g.Width <= 0 || g.Height <= 0 || g.Width > mostPixels || g.Height > mostPixels || g.Affine[1]*g.Affine[5]-g.Affine[2]*g.Affine[4] == 0):
		return failf(ErrArgument, "options: a grid of %d x %d pixels with the transform %v in %v; it needs pixels with an area and a coordinate system", g.Width, g.Height, g.Affine, g.CRS)
	case o.Converter != nil && o.Shift != nil:
		return failf(ErrArgument, "options: a converter excludes a datum shift; the converter chooses it")
	case int(o.Resampling) >= len(resamplings):
		return failf(ErrArgument, "options: resampling %d is not defined", o.Resampling)
	case o.Extent != nil && !(finite(o.Extent.MinX, o.Extent.MinY, o.Extent.MaxX, o.Extent.MaxY) && o.Extent.MinX < o.Extent.MaxX && o.Extent.MinY < o.Extent.MaxY):
		return failf(ErrArgument, "options: extent %v: the minimum must be less than the maximum", *o.Extent)
	case !finite(o.Resolution[:]...) || o.Resolution[0] < 0 || o.Resolution[1] < 0 || (o.Resolution[0] == 0) != (o.Resolution[1] == 0):
		return failf(ErrArgument, "options: resolution %v: both numbers must be positive", o.Resolution)
	case o.ExtentCRS != nil && o.Extent == nil:
		return failf(ErrArgument, "options: ExtentCRS needs an extent")
	case !finite(o.CutlineBlend) || o.CutlineBlend < 0 || o.CutlineBlend > 0 && o.Cutline == nil:
		return failf(ErrArgument, "options: CutlineBlend %v needs a cutline, and must be 0 or more", o.CutlineBlend)
	case o.CropToCutline && (o.Cutline == nil || o.Extent != nil):
		return failf(ErrArgument, "options: CropToCutline needs a cutline, and no extent")
	case o.Width < 0 || o.Height < 0:
		return failf(ErrArgument, "options: the size %d x %d; a width or a height must be positive", o.Width, o.Height)
	case o.Resolution[0] != 0 && (o.Width != 0 || o.Height != 0):
		return failf(ErrArgument, "options: a resolution and a size; give one of them")
	case o.AlignPixels && o.Resolution[0] == 0:
		return failf(ErrArgument, "options: AlignPixels needs a resolution")
	case !finite(o.XScale, o.YScale) || o.XScale < 0 || o.YScale < 0:
		return failf(ErrArgument, "options: the scale %v, %v; both numbers must be positive", o.XScale, o.YScale)
	case !finite(o.Tolerance) || o.Tolerance < 0:
		return failf(ErrArgument, "options: the tolerance %v must be 0 or more", o.Tolerance)
	case o.Fit > FitSpline:
		return failf(ErrArgument, "options: fit %d is not defined", o.Fit)
	case o.Bands != nil && len(o.Bands) == 0:
		return failf(ErrArgument, "options: the list of bands is empty")
	case o.Overview < OverviewAuto:
		return failf(ErrArgument, "options: overview %d is not defined", o.Overview)
	case o.SourceAlpha > AlphaNone:
		return failf(ErrArgument, "options: source alpha %d is not defined", o.SourceAlpha)
	case o.Type != 0 && o.Type.Size() == 0:
		return failf(ErrArgument, "options: the type %v is not defined", o.Type)
	case o.Memory < 0 || o.TileWidth < 0 || o.TileHeight < 0:
		return failf(ErrArgument, "options: memory of %d bytes and tiles of %d x %d pixels; none may be negative", o.Memory, o.TileWidth, o.TileHeight)
	}
	return nil
}
