// Package worldfile reads and writes PNG and JPEG images with world files.
//
//	f, err := worldfile.Open("scene.png")
//	defer f.Close()
//	err = warp.File(ctx, dev, "result.tif", []*tiff.Image{f.Image()}, warp.Options{SourceCRS: system})
//
// The result of [Open] is a virtual [tiff.File]: packages tiff, warp, mosaic, ortho and terrain read it as they read a
// TIFF file.
//
// # Files
//
//	scene.pgw, scene.pngw, scene.wld     the place of a PNG image; .jgw, .jpgw, .jpegw, .wld of a JPEG image
//	scene.png.aux.xml                    GDAL's: coordinate system, place, NoData, metadata
//	scene.prj                            the coordinate system in WKT, if the .aux.xml has none
//
// The place in an .aux.xml counts before that of a world file, as it does in GDAL. Names in upper case are found too. Without
// these files, an image has no place.
//
// # Pixels
//
// PNG: gray, palette, RGB and alpha, with 1 to 16 bits, interlaced or not. Samples are read as they are stored: those of fewer than 8
// bits are not scaled, and colors of a palette stay numbers. A transparent gray value is NoData. JPEG: gray and color, baseline and
// progressive, 8 bits. Four colors (CMYK), 12 bits and arithmetic coding match [ErrUnsupported].
//
// An image is decoded as a whole when its first pixel is read, and kept: in memory, or above 256 MiB in a temporary
// file. Interlaced PNG and JPEG take up to 4 GiB of memory.
//
// # Writing
//
// [Create] takes rows from the top to the bottom and writes PNG or JPEG, and beside it a world file and an .aux.xml, if they are
// asked for. A file appears under its name when it is complete.
package worldfile
