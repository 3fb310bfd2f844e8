package main

import "quern.dev/kernel"

//go:generate go tool quern gen

// An image on the device consists of three float32 planes in one buffer: red,
// green and blue, each with w*h intensities in linear light, row by row. With
// planes, neighboring threads load neighboring elements.

// toLinear decodes packed sRGB pixels and composites them over the background.
// Table holds the intensity of each sRGB value.
//
//quern:kernel
func toLinear(t kernel.Thread, table []float32, background rgb, pixels []uint32, planes []float32) {
	n := len(pixels)
	i := t.Global()
	if i >= n {
		return
	}
	p := pixels[i]
	c := rgb{table[p&0xff], table[p>>8&0xff], table[p>>16&0xff]}
	c = background.mix(c, float32(p>>24)*(1.0/255))
	planes[i] = c.R
	planes[n+i] = c.G
	planes[2*n+i] = c.B
}

// toSRGB encodes planes of linear light as packed sRGB pixels.
//
//quern:kernel
func toSRGB(t kernel.Thread, planes []float32, pixels []uint32) {
	n := len(pixels)
	if i := t.Global(); i < n {
		pixels[i] = pack(rgb{planes[i], planes[n+i], planes[2*n+i]})
	}
}

// sharpen is an unsharp mask: it adds amount times the difference between the
// image and the blurred image.
//
//quern:kernel
func sharpen(t kernel.Thread, amount float32, blurred, planes []float32) {
	if i := t.Global(); i < len(planes) {
		v := planes[i]
		planes[i] = max(0, v+amount*(v-blurred[i]))
	}
}
