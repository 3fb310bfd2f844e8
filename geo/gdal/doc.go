// Package gdal reads images through an installed GDAL: netCDF, HDF, JPEG 2000, ENVI, Erdas Imagine, VRT, GeoPackage
// and whatever else GDAL reads.
//
//	f, err := gdal.Open("scene.jp2", gdal.Options{})
//	defer f.Close()
//	err = warp.File(ctx, dev, "result.tif", []*tiff.Image{f.Image()}, warp.Options{Target: target})
//
// A [File] is a virtual [tiff.File]: packages tiff, warp, mosaic, ortho, terrain and algebra read it as they read a
// TIFF file. Its header has the size, the samples, NoData, palette, alpha, place, coordinate system, control points, RPC,
// scale, offset, units and metadata, and the image its mask and overviews. [File.Warnings] says what a TIFF
// header cannot express, or package crs cannot interpret. A part of a file, such as a variable of netCDF, is
// opened by GDAL's name for it, which [File.Subdatasets] lists: NETCDF:"file.nc":temperature.
//
// # The library
//
// GDAL 3.0 or later is opened when it is first needed, without cgo: the file that the environment variable QUERN_GDAL names,
// or libgdal where the system looks for libraries (on Windows, in the folders of PATH and below OSGEO4W_ROOT). Without it,
// [Open] returns an error that matches [ErrMissing] and says what to install. GDAL's own environment variables (GDAL_DATA,
// PROJ_DATA, GDAL_CACHEMAX, GDAL_DRIVER_PATH and others) hold.
//
// # Concurrency
//
// A File is safe for concurrent use. A dataset of GDAL is not, so a File has up to Options.Handles of them. Each is
// opened, used and closed by one thread of its own. Results do not depend on their number.
//
// # Differences between bands
//
// A TIFF image has one type and one NoData for all bands. If those of the bands differ, the type is the smallest one that
// has all values, and NoData is that of the first band that has one.
//
// # Errors
//
// GDAL's messages are the reasons of an [Error] and are not printed, except by its own threads and some of its libraries. GDAL runs in this
// process: a fault in one of its drivers ends it. Drivers withstand damaged files as a rule. The libraries of netCDF and HDF do not, in
// GDAL's own programs neither, so [Open] and [Subdatasets] first open these files, and read some pixels, in another process: the program is
// started again, and ends before main, in the init of this package, because the environment variable QUERN_GDAL_PROBE is set. That
// takes some tenths of a second. It does not help with files that others refer to, such as those of a VRT, and with
// damage further behind than 64 MiB of pixels.
package gdal
