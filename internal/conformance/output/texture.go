package output

import "quern.dev/kernel"

// sampled samples an image at the given coordinates.
//
//quern:kernel
func sampled(t kernel.Thread, image kernel.Texture2D[float32], u, v, out []float32) {
	if i := t.Global(); i < len(out) {
		out[i] = image.Sample(u[i], v[i])
	}
}

// blended samples images with two and four numbers per element.
//
//quern:kernel
func blended(t kernel.Thread, two kernel.Texture2D[kernel.Vec2[float32]], four kernel.Texture2D[kernel.Vec4[float32]], u, v []float32, outTwo []kernel.Vec2[float32], outFour []kernel.Vec4[float32]) {
	if i := t.Global(); i < len(u) {
		outTwo[i] = two.Sample(u[i], v[i])
		outFour[i] = four.Sample(u[i], v[i]).Scale(0.5)
	}
}

// fetched copies an image with a border of two elements around it.
//
//quern:kernel
func fetched(t kernel.Thread, image kernel.Texture2D[float32], out []float32) {
	x, y := t.Global2()
	w, h := image.Width()+4, image.Height()+4
	if x < w && y < h {
		out[y*w+x] = corner(image, x, y)
	}
}

func corner(image kernel.Texture2D[float32], x, y int) float32 { return image.Fetch(x-2, y-2) }
