// Package mosaic joins many georeferenced images to one, on devices, in bounded memory.
//
//	sources := []mosaic.Source{{Image: a.Image()}, {Image: b.Image()}}
//	o := mosaic.Options{Order: mosaic.Nearest, Seams: true, Balance: mosaic.Gain, Blend: mosaic.Multiband}
//	err := mosaic.File(ctx, dev, "mosaic.tif", sources, o)
//
// # What an output pixel is
//
// Every image is warped to the grid of the output with the meaning of package warp. Where several have data:
//
//   - Options.Order chooses one: the last or the first of the list, or the one whose center is nearest.
//   - Options.Seams moves the borders between two images to where they differ least: to a minimum cut of the images, reduced to
//     some hundred cells, near the border. What is in one of them only, such as a car, is not cut.
//   - Options.Balance makes images equal where they overlap, by a gain, or a gain and an offset, per band: by least squares over all overlaps. The mean brightness stays.
//   - Options.Blend fades from one image to the other. Pixels far from all borders keep their values.
//
// A pixel without data has alpha 0, or the value NoData.
//
// # Memory and failures
//
// The output is computed in tiles, and only what a tile needs of the images that touch it is read. Options.Memory bounds what
// images, their reduced copies and their blocks take. A mosaic of 100,000 x 100,000 pixels takes less than 2 GiB of host memory;
// bench/mosaic measures it. Blocks without data are not computed and not written.
//
// Reduced copies are read from overviews of the images, if they have them.
//
// Finished tiles are in the work file. When a call fails, is canceled, or when the process is killed, the same call continues from
// them, with the same result bit for bit. The work file belongs to its sources and options; if they differ, it is begun again. It is
// locked: a second call that needs it, in this process or another one, gets ErrBusy. A file of its name that is no work file is an
// error, and is not changed. The output appears under its name when it is complete. Work file and output together need
// disk space for the compressed pixels two or three times.
//
// # Invariants
//
// The output has the same bits on every device, with any number of cores, size of tiles and amount of memory.
//
// # Not supported
//
// Masks and strips in the output; alpha of the sources is kept but not blended.
package mosaic
