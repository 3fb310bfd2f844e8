package codegen

import "quern.dev/kernel"

// Whole elements are moved by one access of 64 or 128 bits where the launch can
// promise that they are aligned.
//
//quern:kernel
func vec4(t kernel.Thread, a float32, x, y []kernel.Vec4[float32]) {
	if i := t.Global(); i < len(x) && i < len(y) {
		y[i] = x[i].Scale(a) // ptx:"st.global.v4.f32" ptx:-"st.global.f32" wide:-"v4"
	}
}

// ptx:"ld.global.v2.f64[^$]*ld.global.v2.f64"
//
//quern:kernel
func vec2(t kernel.Thread, x, y []kernel.Vec2[float64]) {
	if i := t.Global(); i < len(x) && i < len(y) {
		y[i] = y[i].Add(x[i]) // ptx:"st.global.v2.f64"
	}
}

// Three components are never aligned.
//
//quern:kernel
func vec3(t kernel.Thread, x []kernel.Vec3[float32]) {
	if i := t.Global(); i < len(x) {
		x[i] = x[i].Neg() // ptx:-"v[24].f32" ptx:"st.global.f32"
	}
}

// Numbers of one size may differ in type.
//
// ptx:"ld.global.v4.f32" ptx:"st.global.v2.f32"
//
//quern:kernel
func mixed(t kernel.Thread, x []struct {
	A, B float32
	C, D int32
}) {
	if i := t.Global(); i < len(x) {
		v := x[i]
		x[i].A, x[i].B = v.B*float32(v.C), v.A*float32(v.D)
	}
}

// Bytes and 16-bit floats are moved by words.
//
// ptx:"ld.global.u32" ptx:-"ld.global.u8" ptx:"ld.global.v4.u32" ptx:-"ld.global.b16"
//
//quern:kernel
func narrow(t kernel.Thread, x [][4]uint8, y [][8]kernel.Float16, out []float32) {
	if i := t.Global(); i < len(x) && i < len(y) && i < len(out) {
		var sum float32
		for k := range 4 {
			sum += float32(x[i][k])
		}
		for k := range 8 {
			sum += y[i][k].Float32()
		}
		out[i] = sum
	}
}

// A write between may change what is read after it.
//
// ptx:-"v2"
//
//quern:kernel
func aliased(t kernel.Thread, x, y []kernel.Vec2[float32]) {
	if i := t.Global(); i < len(x) && i < len(y) {
		y[i].X = x[i].X
		y[i].Y = x[i].Y
	}
}

// An element is read as a whole before it is written.
//
//quern:kernel
func copied(t kernel.Thread, x, y []kernel.Vec4[float32]) {
	if i := t.Global(); i < len(x) && i < len(y) {
		y[i] = x[i] // ptx:"ld.global.v4.f32" ptx:"st.global.v4.f32"
	}
}

// Arrays in slices may overlap: all is read before anything is written.
//
//quern:kernel
func shifted(t kernel.Thread, x []float32) {
	if i := 8 * t.Global(); i+4 < len(x) {
		*(*[3]float32)(x[i+1:]) = *(*[3]float32)(x[i:]) // ptx:"(ld[^$]*){3}(st[^$]*){3}" ptx:-"st.global[^$]*ld.global"
	}
}

// Four neighbours of a plain slice, in range together.
//
// ptx:"ld.global.v4.f32" ptx:-"ld.global.f32"
//
//quern:kernel
func neighbours(t kernel.Thread, x, out []float32) {
	if i := t.Global(); 4*i+3 < len(x) && i < len(out) {
		out[i] = x[4*i] + x[4*i+1] + x[4*i+2] + x[4*i+3]
	}
}

// 16-bit floats have instructions of their own.
//
//quern:kernel
func half(t kernel.Thread, x, y []kernel.Float16) {
	if i := t.Global(); i < len(x) && i < len(y) {
		y[i] = y[i].Mul(x[i]) // ptx:"mul.rn.f16" ptx:-"cvt"
	}
}

// What is written at one constant offset is not what is read at another: all reads
// come first, and then one write.
//
// ptx:"(ld.global.v4.f32 (?s:.*)){2}st.global.v4.f32" ptx:-"[ds]t?.global.f32"
//
//quern:kernel
func advance(t kernel.Thread, dt float32, bodies []struct{ X, Y, Z, M, VX, VY, VZ, W float32 }) {
	if i := t.Global(); i < len(bodies) {
		bodies[i].X += bodies[i].VX * dt
		bodies[i].Y += bodies[i].VY * dt
		bodies[i].Z += bodies[i].VZ * dt
		bodies[i].M += bodies[i].W * dt
	}
}

// The same address may be read again after the write only.
//
//quern:kernel
func again(t kernel.Thread, x [][2]float32) {
	if i := t.Global(); i < len(x) {
		x[i][0] = x[i][1]  // ptx:"ld.global.f32"
		x[i][1] += x[i][0] // ptx:-"ld.global.v2"
	}
}

// An index that is not constant may be that of what was written.
//
//quern:kernel
func anyOf(t kernel.Thread, k int32, x [][4]float32) {
	if i := t.Global(); i < len(x) && k >= 0 && k < 4 {
		x[i][k] = 1
		x[i][0] += x[i][1] // ptx:"ld.global.v4.f32"
		x[i][k] += x[i][2] // ptx:"ld.global.f32"
	}
}
