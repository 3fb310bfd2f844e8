// Package tiff reads and writes GeoTIFF, BigTIFF and Cloud Optimized GeoTIFF (COG) files.
//
//	f, err := tiff.Open("image.tif")
//	image := f.Image()
//	pixels, err := tiff.Read[uint16](ctx, image, tiff.Region{X: 512, Width: 256, Height: 256})
//
//	w, err := tiff.Create("result.tif", header, tiff.Options{COG: true})
//	defer w.Abort()
//	err = w.WriteRows(ctx, tiff.Rows{Pixels: tiff.Bytes(pixels)})
//	err = w.Close()
//
// # What a file has
//
// A [File] has full images. An [Image] has a [Header], which says what its pixels are and where they are on
// the Earth, a [Storage], and possibly overviews and a mask, which are images too. Pixels are in
// blocks: tiles, or strips of the full width.
//
//	samples       integers of 1 to 64 bits, floating-point numbers of 16, 32 and 64 bits, complex numbers of
//	              16- and 32-bit integers and of 32- and 64-bit floats; see [Type]
//	layouts       bands side by side or one after the other, either byte order, 32- or 64-bit offsets
//	compressions  none, LZW, Deflate, ZSTD, PackBits, JPEG of 8 bits
//	predictors    2 (horizontal) and 3 (floating point)
//	meaning       palettes, straight and associated alpha, masks, GDAL's NoData
//	place         GeoKeys, tie points, scale, matrix, ground control points, RPC; PixelIsArea and PixelIsPoint
//	metadata      GDAL's items, with scale, offset, unit and description of bands
//
// Coordinate systems are not interpreted: [GeoKeys] returns codes, numbers and citations. Not supported are
// CCITT fax, old JPEG (compression 6), JPEG of 12 bits, LERC, WebP, LZMA, and YCbCr outside of JPEG. Such a first image is
// an error that matches [ErrUnsupported]; such a later directory is passed over.
//
// # Reading
//
// [Image.ReadRegion] decodes the blocks that a region touches on all cores. [NewFile] reads from any [io.ReaderAt];
// package remote has one for HTTP. Memory in use is the destination and a block per core. Nothing is
// cached: a program that reads small regions of large strips decodes them again and again.
//
// Results are exact, and agree with GDAL's bit for bit, except for JPEG: decoders differ in the last bits.
//
// [NewVirtual] makes a File of an image that is stored elsewhere, or computed: a function supplies its blocks.
//
// # Writing
//
// [Writer.WriteRows] takes rows from the top to the bottom. It filters and compresses blocks on all cores, and writes them
// in order: the file does not depend on the number of cores, nor on how many rows come at a time. Memory in use is
// about two rows of blocks, and as much again for all overviews together. Overviews are made on
// the way; see [Resampling]. With them, compressed blocks are collected in temporary files beside the result, because
// those of the smallest overview come first in a COG.
//
// A file appears under its name when it is complete. After an error there is none, and a file that
// had the name before is unchanged. A killed process leaves files whose names end in ".partial".
//
// # Damaged files
//
// An [Error] names the directory, the tag, the block and the byte of the file, and matches one of [ErrFormat],
// [ErrUnsupported], [ErrLimit] and [ErrIO]. Sizes are compared with the file and with [Limits] before memory is
// allocated, a block never decompresses to more than its size, and loops of directories are found. Blocks
// that share bytes of the file are allowed: some writers store equal blocks once.
//
// # Devices
//
// Package device does what is between compression and pixels by kernels. It uses [Image.ReadStored] and
// [Writer.WriteStored], which leave out the predictor and the byte order. This package does not import
// package gpu.
package tiff
