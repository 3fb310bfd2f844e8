// Package device reads GeoTIFF images to device memory and writes them from there. The host
// compresses and decompresses on all cores; the device undoes and applies the predictor and the byte
// order, converts between bands side by side and one after the other, and averages pixels for overviews.
//
//	f, err := tiff.Open("image.tif")
//	pixels, err := device.Read[uint16](ctx, s, f.Image(), f.Image().All())
//	...
//	w, err := tiff.Create("result.tif", header, tiff.Options{COG: true})
//	err = device.Write(ctx, s, w, pixels)
//	err = w.Close()
//
// Results are those of package tiff, bit for bit, on every device. What the kernels do not do (samples that
// have other widths in the file, masks, and averages of 64-bit integers) is done on the host.
package device
