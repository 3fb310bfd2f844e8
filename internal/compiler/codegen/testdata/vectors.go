package testdata

import "quern.dev/kernel"

// Whole elements of two or four numbers are moved by one access.
//
//quern:kernel
func scaleVec4(t kernel.Thread, a float32, x, y []kernel.Vec4[float32]) {
	if i := t.Global(); i < len(x) && i < len(y) {
		// ptx:"ld.global.v4.f32"
		// ptx:"st.global.v4.f32"
		y[i] = x[i].Scale(a)
	}
}

//quern:kernel
func addVec2(t kernel.Thread, x, y []kernel.Vec2[float64]) {
	if i := t.Global(); i < len(x) && i < len(y) {
		y[i] = y[i].Add(x[i]) // ptx:"ld.global.v2.f64" "ld.global.v2.f64" "st.global.v2.f64"
	}
}
