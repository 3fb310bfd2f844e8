// Package terrain derives images from surface models on devices: hillshade, slope and aspect, with gdaldem's meaning.
//
//	err := terrain.File(ctx, dev, "shade.tif", dem.Image(), terrain.Hillshade{}, terrain.Options{})
//
// Gradients are Horn's, from the eight neighbors of a pixel. A pixel at the edge of the surface, and one next to a pixel without data, has no
// result, unless Options.ComputeEdges continues heights there.
//
// Results have the same bits on every device. They agree with gdaldem of GDAL 3.10: hillshades to 1 of 255, slopes to
// 2e-4 and aspects to 3e-3 degrees; those of integers to 1e-4. gdaldem adds heights in single precision.
//
// # Not supported
//
// The gradient of Zevenbergen and Thorne; combined, multidirectional and Igor's shading; roughness, TRI and TPI; color relief.
package terrain
