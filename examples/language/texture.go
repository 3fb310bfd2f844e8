package language

import "quern.dev/kernel"

// zoom magnifies the center of an image.
//
//quern:kernel
func zoom(t kernel.Thread, factor float32, image kernel.Texture2D[float32], w, h int, out []float32) {
	x, y := t.Global2()
	if x >= w || y >= h {
		return
	}
	u := float32(image.Width())/2 + (float32(x)+0.5-float32(w)/2)/factor
	v := float32(image.Height())/2 + (float32(y)+0.5-float32(h)/2)/factor
	out[y*w+x] = image.Sample(u, v)
}

// edges subtracts the left neighbor from the right one, even beyond the image.
//
//quern:kernel
func edges(t kernel.Thread, image kernel.Texture2D[float32], out []float32) {
	x, y := t.Global2()
	if x < image.Width() && y < image.Height() {
		out[y*image.Width()+x] = image.Fetch(x+1, y) - image.Fetch(x-1, y)
	}
}
