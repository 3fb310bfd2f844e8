package language

import (
	"math"

	"quern.dev/kernel"
)

// addHalves adds 16-bit floats. Each sum is rounded once.
//
//quern:kernel
func addHalves(t kernel.Thread, x, y []kernel.Float16) {
	if i := t.Global(); i < len(x) && i < len(y) {
		y[i] = x[i].Add(y[i])
	}
}

// norm accumulates many products in float32 and rounds the result.
//
//quern:kernel
func norm(t kernel.Thread, rows [][64]kernel.BFloat16, out []kernel.BFloat16) {
	if i := t.Global(); i < len(rows) && i < len(out) {
		var sum float32
		for _, x := range rows[i] {
			sum += x.Float32() * x.Float32()
		}
		out[i] = kernel.ToBFloat16(kernel.Sqrt(sum))
	}
}

// limitHalves compares with methods, because Go's operators do not apply.
//
//quern:kernel
func limitHalves(t kernel.Thread, limit kernel.Float16, x []kernel.Float16) {
	i := t.Global()
	if i >= len(x) {
		return
	}
	switch {
	case x[i].IsNaN():
		x[i] = kernel.Float16{}
	case limit.Less(x[i].Abs()):
		x[i] = kernel.ToFloat16(kernel.Copysign(limit.Float32(), x[i].Float32()))
	}
}

// scaled returns a*x for any number type, computed in float32.
func scaled[T kernel.Scalar](a float32, x T) T {
	return kernel.FromFloat32[T](a * kernel.ToFloat32(x))
}

// scaleAny is compiled for each type that its directive lists.
//
//quern:kernel instantiate=float32,kernel.Float16,kernel.BFloat16
func scaleAny[T kernel.Scalar](t kernel.Thread, a float32, x []T) {
	if i := t.Global(); i < len(x) {
		x[i] = scaled(a, x[i])
	}
}

// julia counts how long z*z + c stays near 0.
//
//quern:kernel
func julia(t kernel.Thread, c complex128, z []complex128, steps []int32) {
	i := t.Global()
	if i >= len(z) || i >= len(steps) {
		return
	}
	for v := z[i]; steps[i] < 100 && real(v)*real(v)+imag(v)*imag(v) <= 4; steps[i]++ {
		v = v*v + c
	}
}

// impedance divides complex numbers, with Go's rules for zeros and infinities.
//
//quern:kernel
func impedance(t kernel.Thread, omega float32, z []complex64) {
	if i := t.Global(); i < len(z) {
		z[i] = 1 / (1/z[i] + complex(0, omega))
	}
}

// push moves particles. It accesses each slice 16 bytes at a time.
//
//quern:kernel
func push(t kernel.Thread, dt float32, position, velocity []kernel.Vec4[float32]) {
	if i := t.Global(); i < len(position) && i < len(velocity) {
		position[i] = position[i].AddScaled(dt, velocity[i])
	}
}

// shade computes the light on surfaces with the given normals.
//
//quern:kernel
func shade(t kernel.Thread, light kernel.Vec3[float32], normals []kernel.Vec3[float32], out []float32) {
	if i := t.Global(); i < len(normals) && i < len(out) {
		n := normals[i]
		length := kernel.Sqrt(n.Dot(n))
		out[i] = max(0, n.Scale(1/length).Dot(light))
	}
}

// sample has Go's layout, on the host and on the device.
type sample struct {
	Valid  bool
	Counts [3]uint16
	Range  struct{ Low, High float64 }
}

// width is a method; pointers to elements work as in Go.
func (s *sample) width() float64 { return s.Range.High - s.Range.Low }

// widest finds the widest range of each row.
//
//quern:kernel
func widest(t kernel.Thread, rows [][4]sample, out []sample) {
	i := t.Global()
	if i >= len(rows) || i >= len(out) {
		return
	}
	best := &rows[i][0]
	for k := 1; k < 4; k++ {
		if s := &rows[i][k]; s.Valid && s.width() > best.width() {
			best = s
		}
	}
	out[i] = *best
	out[i].Counts[2]++
}

// taps is in constant memory, because all threads of a warp read the same element
// at a time.
var taps = [5]float32{1. / 16, 4. / 16, 6. / 16, 4. / 16, 1. / 16}

// levels is a table of structs.
var levels = [...]struct {
	From float32
	Gain kernel.Float16
}{
	{0, kernel.ToFloat16(1)},
	{0.5, kernel.ToFloat16(math.Sqrt2)},
	{2, kernel.ToFloat16(0.1)},
}

// filter smooths the input and weights it by level.
//
//quern:kernel
func filter(t kernel.Thread, radius int, in, out []float32) {
	i := t.Global()
	if i < radius || i >= len(in)-radius || i >= len(out) {
		return
	}
	var sum float32
	for k := -radius; k <= radius; k++ {
		sum += taps[k+2] * in[i+k]
	}
	gain := float32(1)
	for _, l := range levels {
		if sum >= l.From {
			gain = l.Gain.Float32()
		}
	}
	out[i] = gain * sum
}

// quantize stores numbers in 8 bits, divided by a scale.
//
//quern:kernel
func quantize(t kernel.Thread, scale float32, x []float32, out []kernel.Float8E4M3) {
	if i := t.Global(); i < len(x) && i < len(out) {
		out[i] = kernel.ToFloat8E4M3(x[i] / scale)
	}
}
