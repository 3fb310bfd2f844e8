// Package algebra computes images from bands of images on devices: indices such as NDVI, and other expressions.
//
//	nir, red := algebra.Band(3), algebra.Band(0)
//	err := algebra.File(ctx, dev, "ndvi.tif", []*tiff.Image{scene.Image()}, algebra.NDVI(nir, red), algebra.Options{})
//
// Bands of several images of the same size are numbered one after the other, from 0. Values are read as float32; expressions are evaluated in
// float64, and the result is float32. Pixels whose result is not finite, and those where a band of the expression has no data, have the value
// Options.NoData. Results have the same bits on every device.
//
// [Parse] reads expressions as text: (b4-b1)/(b4+b1), where b1 is the first band.
package algebra
