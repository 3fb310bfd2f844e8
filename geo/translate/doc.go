// Package translate copies images with other samples, another size or another place, with the meaning of gdal_translate: a part of an
// image, resampled without a transform between coordinate systems, in another type, with other values, or with colors instead of a palette.
//
//	o := translate.Options{Extent: &translate.Extent{Left: 500000, Top: 5300000, Right: 510000, Bottom: 5290000}, Type: tiff.Uint8}
//	err := translate.File(ctx, "part.tif", scene.Image(), o, tiff.Options{COG: true})
//
// Rows are read, computed and written one after the other, on the host and on all cores, so images may be larger than memory. It
// takes as much as some hundred rows of the source, and of the result. Package warp reprojects images, on devices.
package translate
