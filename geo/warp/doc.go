// Package warp reprojects and resamples images on devices: from one coordinate system, extent and resolution to another.
//
//	scene, err := tiff.Open("scene.tif")
//	mercator, err := crs.EPSG(3857)
//	images := []*tiff.Image{scene.Image()}
//	err := warp.File(ctx, dev, "web.tif", images, warp.Options{Target: mercator, Resampling: warp.Bilinear})
//
// [File] writes a file. [New] returns a [Warper], an image that is computed where it is read.
//
// # What an output pixel is
//
// The center of each output pixel is transformed to the source in float64, exactly unless Options.Tolerance is set, and the
// source is resampled there with the meaning of gdalwarp:
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
//   - Filters become wider by the same amount in the whole output. In gdalwarp, it depends on the chunks, and
//     -of COG has different chunks: compare with results of -of GTiff.
//   - A datum shift that is not known is an error, which option [crs.Ballpark] permits to skip.
//
// # Memory
//
// Tiles of the output are computed four at a time: one is read while another is resampled and others are written. A tile
// whose window of a source is too large is divided. Decoded blocks of sources are kept in a cache, so that each is decoded
// about once. Options.Memory bounds all of it, except the writer's rows of blocks.
//
// # Control points
//
// A source without an affine map is placed by its control points: by polynomials of order 1 to 3, or a thin plate spline; see
// [Fit]. The polynomials are those of GDAL, pixel by pixel. Splines agree with GDAL 3.10 within
// 0.1 pixels. Images with RPC are those of package ortho.
//
// # Approximate positions
//
// With Options.Tolerance, positions are computed at every 16th column and row of the output, and interpolated between them.
// In a cell, this is done if at none of its corners the second differences of the positions in both directions, of x and y
// together, are more than the tolerance. Other cells are exact: those at seams and poles, and all if the pixels are large.
//
// The error is an eighth of a second difference that does not change, and at most half of one where the transform has a
// kink, as at the nodes of a grid of shifts. So it is below the tolerance, and usually below an eighth of it. What is
// between the nodes without a trace at them would be missed: a tear in the projection that enters a cell and leaves it
// between two nodes, or a grid of shifts that is finer than the cells. Tests compare positions in thousands of random
// places and systems. Cells are counted from the output's first pixel, so that the output does not depend on tiles.
//
// # Not supported
//
// Geolocation arrays; alpha that is not the last band; complex samples with a value for no data; an
// output in a system that neither EPSG nor GeoTIFF's keys describe.
package warp
