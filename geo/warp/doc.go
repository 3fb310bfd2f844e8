// Package warp reprojects and resamples images on devices: from one coordinate system, extent and resolution to another.
//
//	images := []*tiff.Image{scene.Image()}
//	err := warp.File(ctx, dev, "web.tif", images, warp.Options{Target: mercator, Resampling: warp.Bilinear})
//
// [File] writes a file. [New] returns a [Warper], an image that is computed where it is read.
//
// # What an output pixel is
//
// The center of each output pixel is transformed to the source exactly, in float64, and the source is resampled there with
// the meaning of gdalwarp:
//
//	near             the pixel at the position
//	bilinear, cubic  2 x 2 or 4 x 4 pixels
//	cubicspline      a cubic B-spline over 4 x 4 pixels
//	lanczos          a windowed sinc over 6 x 6 pixels
//	average          the mean of the pixels in the output pixel, weighted with areas
//	mode             the most frequent of them; of several, the first that was so frequent
//	min, max, med, q1, q3
//
// Filters become wider where the source is reduced; see Options.XScale. The pixels of average and those below are
// the ones between the positions of the output pixel's corners. Interpolation at the edge, and next to pixels without
// data, uses the pixels that there are; cubic becomes bilinear. Integers are rounded to nearest, halves up, and clamped.
//
// A source pixel has no data where its bands have Options.SourceNoData or the file's NoData, where its mask is 0, where
// its alpha is 0, or outside of Options.Cutline. An output pixel has data if the source pixel at its center has, in any
// band. What remains has Options.NoData, alpha 0, or, without both and if a source has a mask or there is a cutline,
// mask 0. A value that happens to be NoData is moved by 1 in integers. Alpha is straight; later sources are blended
// over earlier ones.
//
// # Invariants
//
// The output has the same bits on every device, with any number of cores, size of tiles and amount of memory. It depends
// on nothing but the sources and the other options. Positions are computed from absolute pixel indices, windows of sources
// from these positions, and filters from the whole output.
//
// # Agreement with GDAL
//
// Tests compare with gdalwarp -et 0 of GDAL 3.10, for all resamplings, types, and cases of NoData and alpha, with larger
// and smaller pixels.
//
//	integers   equal, sample by sample
//	float32    within 1.5e-7 of the value: the rounding to float32
//	float64    within 1e-9, because positions differ by about a nanometer; 5e-8 for lanczos next to pixels without data
//
// There are these differences on purpose:
//
//   - CubicSpline has no weights beyond its radius where the source is reduced. gdalwarp has some, to the right and
//     below; GDALCubicSpline reproduces them.
//   - Mode of float32, float64 and 32-bit integers compares and returns exact values. GDAL rounds them to float32.
//   - Alpha of floating-point images keeps its fraction.
//   - Floating-point values that happen to be NoData are not changed.
//   - Filters become wider by the same amount in the whole output. In gdalwarp, it depends on the chunk of memory.
//   - A datum shift that is not known is an error, which option [crs.Ballpark] permits to skip.
//
// # Memory
//
// Tiles of the output are computed three at a time: one is read while another is resampled and a third is written. A tile
// whose window of a source is too large is divided. Decoded blocks of sources are kept in a cache, so that each is decoded
// about once. Options.Memory bounds all of it, except the writer's rows of blocks.
//
// # Not supported
//
// Complex samples and 64-bit integers; control points, RPC and geolocation arrays; alpha that is not the last band; bands
// chosen from a source; an output in a system without an EPSG code, unless it is that of a source.
package warp
