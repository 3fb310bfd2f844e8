// Package raster opens images of any format.
//
//	f, err := raster.Open("scene.jp2")
//	defer f.Close()
//	err = warp.File(ctx, dev, "result.tif", []*tiff.Image{f.Image()}, warp.Options{Target: target})
//
// TIFF is read by package tiff, PNG and JPEG by package worldfile, and everything else, with those TIFF, PNG and JPEG files that these packages do
// not support, by package gdal through an installed GDAL. A name that is no file but has a colon, such as
// NETCDF:"file.nc":temperature, is one of GDAL's.
//
// Without GDAL, the error says what the file is and what to install, and matches gdal.ErrMissing. A program that reads TIFF only should
// import package tiff instead: this one links the code that calls libraries.
package raster
