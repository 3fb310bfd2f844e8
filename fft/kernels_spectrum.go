package fft

import "quern.dev/kernel"

// power computes scale times the squared magnitude of each number.
//
//quern:kernel instantiate=float32,float64
func power[T kernel.Float](t kernel.Thread, scale T, in []kernel.Vec2[T], out []T) {
	if i := t.Global(); i < len(in) && i < len(out) {
		out[i] = scale * in[i].Dot(in[i])
	}
}

// polar computes the magnitude and the angle of each number.
//
//quern:kernel instantiate=float32,float64
func polar[T kernel.Float](t kernel.Thread, in []kernel.Vec2[T], magnitude, phase []T) {
	if i := t.Global(); i < len(in) && i < len(magnitude) && i < len(phase) {
		v := in[i]
		magnitude[i], phase[i] = kernel.Hypot(v.X, v.Y), kernel.Atan2(v.Y, v.X)
	}
}

// rotation is the shape of arrays, and by how many elements each dimension rotates.
type rotation struct{ Shape, By [3]int }

// rotate rotates the dimensions of arrays of 4-, 8- or 16-byte elements.
//
//quern:kernel instantiate=uint32,uint64,[2]uint64
func rotate[E any](t kernel.Thread, r rotation, total int, in, out []E) {
	i := t.Global()
	if i >= total || i >= len(out) {
		return
	}
	rest, from, size := i, 0, 1
	//quern:unroll
	for d := 2; d >= 0; d-- {
		n := r.Shape[d]
		at := rest%n + r.By[d]
		if at >= n {
			at -= n
		}
		from, size, rest = from+at*size, size*n, rest/n
	}
	out[i] = in[from+rest*size]
}
