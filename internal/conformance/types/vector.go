package types

import "quern.dev/kernel"

// vec4Scale moves whole elements.
//
//quern:kernel
func vec4Scale(t kernel.Thread, a float32, x, y []kernel.Vec4[float32]) {
	if i := t.Global(); i < len(x) && i < len(y) {
		y[i] = x[i].Scale(a)
	}
}

// vec4Add reads the element that it writes.
//
//quern:kernel
func vec4Add(t kernel.Thread, x, y []kernel.Vec4[float32]) {
	if i := t.Global(); i < len(x) && i < len(y) {
		y[i] = y[i].AddScaled(2, x[i])
	}
}

// vec2Fields reads fields and writes one.
//
//quern:kernel
func vec2Fields(t kernel.Thread, x []kernel.Vec2[float64], out []float64) {
	if i := t.Global(); i < len(x) && i < len(out) {
		v := x[i]
		out[i] = v.Dot(v)
		x[i].Y = v.X
	}
}
