package accuracy

import (
	"math"

	"quern.dev/kernel"
)

// worst is the largest error that a thread has found, in 1/1024 units in the last place,
// with the bits of the argument in the low half.
type worst uint64

// see records the error of a float32 result if it is the largest. want is the exact
// result.
func (w *worst) see(bits uint32, got float32, want float64) {
	e := uint64(min(ulps(got, want)*1024, 1<<31))
	*w = max(*w, worst(e<<32)|worst(bits))
}

// ulps returns the distance between got and want in units in the last place of a float32
// near want.
func ulps(got float32, want float64) float64 {
	g := float64(got)
	switch {
	case math.IsNaN(want) || math.IsNaN(g):
		if math.IsNaN(want) && math.IsNaN(g) {
			return 0
		}
		return 1 << 20
	case g == want, float32(want) == got:
		return 0
	case math.IsInf(g, 0):
		g = math.Copysign(0x1p128, g)
	case math.IsInf(want, 0):
		want = math.Copysign(0x1p128, want)
	}
	exponent := int((math.Float64bits(want)>>52)&0x7ff) - 1023
	unit := math.Float64frombits(uint64(max(exponent, -126)-23+1023) << 52)
	return math.Abs(g-want) / unit
}

//quern:kernel
func errorExp(t kernel.Thread, from uint32, step, count int, out []uint64) {
	var w worst
	for i := t.Global(); i < count; i += t.Stride() {
		bits := from + uint32(i*step)
		x := math.Float32frombits(bits)
		w.see(bits, kernel.Exp(x), math.Exp(float64(x)))
	}
	kernel.AtomicMax(&out[0], uint64(w))
}

//quern:kernel
func errorExp2(t kernel.Thread, from uint32, step, count int, out []uint64) {
	var w worst
	for i := t.Global(); i < count; i += t.Stride() {
		bits := from + uint32(i*step)
		x := math.Float32frombits(bits)
		w.see(bits, kernel.Exp2(x), math.Exp2(float64(x)))
	}
	kernel.AtomicMax(&out[0], uint64(w))
}

//quern:kernel
func errorExpm1(t kernel.Thread, from uint32, step, count int, out []uint64) {
	var w worst
	for i := t.Global(); i < count; i += t.Stride() {
		bits := from + uint32(i*step)
		x := math.Float32frombits(bits)
		w.see(bits, kernel.Expm1(x), math.Expm1(float64(x)))
	}
	kernel.AtomicMax(&out[0], uint64(w))
}

//quern:kernel
func errorLog(t kernel.Thread, from uint32, step, count int, out []uint64) {
	var w worst
	for i := t.Global(); i < count; i += t.Stride() {
		bits := from + uint32(i*step)
		x := math.Float32frombits(bits)
		w.see(bits, kernel.Log(x), math.Log(float64(x)))
	}
	kernel.AtomicMax(&out[0], uint64(w))
}

//quern:kernel
func errorLog2(t kernel.Thread, from uint32, step, count int, out []uint64) {
	var w worst
	for i := t.Global(); i < count; i += t.Stride() {
		bits := from + uint32(i*step)
		x := math.Float32frombits(bits)
		w.see(bits, kernel.Log2(x), math.Log2(float64(x)))
	}
	kernel.AtomicMax(&out[0], uint64(w))
}

//quern:kernel
func errorLog10(t kernel.Thread, from uint32, step, count int, out []uint64) {
	var w worst
	for i := t.Global(); i < count; i += t.Stride() {
		bits := from + uint32(i*step)
		x := math.Float32frombits(bits)
		w.see(bits, kernel.Log10(x), math.Log10(float64(x)))
	}
	kernel.AtomicMax(&out[0], uint64(w))
}

//quern:kernel
func errorLog1p(t kernel.Thread, from uint32, step, count int, out []uint64) {
	var w worst
	for i := t.Global(); i < count; i += t.Stride() {
		bits := from + uint32(i*step)
		x := math.Float32frombits(bits)
		w.see(bits, kernel.Log1p(x), math.Log1p(float64(x)))
	}
	kernel.AtomicMax(&out[0], uint64(w))
}

//quern:kernel
func errorSin(t kernel.Thread, from uint32, step, count int, out []uint64) {
	var w worst
	for i := t.Global(); i < count; i += t.Stride() {
		bits := from + uint32(i*step)
		x := math.Float32frombits(bits)
		w.see(bits, kernel.Sin(x), math.Sin(float64(x)))
	}
	kernel.AtomicMax(&out[0], uint64(w))
}

//quern:kernel
func errorCos(t kernel.Thread, from uint32, step, count int, out []uint64) {
	var w worst
	for i := t.Global(); i < count; i += t.Stride() {
		bits := from + uint32(i*step)
		x := math.Float32frombits(bits)
		w.see(bits, kernel.Cos(x), math.Cos(float64(x)))
	}
	kernel.AtomicMax(&out[0], uint64(w))
}

//quern:kernel
func errorTan(t kernel.Thread, from uint32, step, count int, out []uint64) {
	var w worst
	for i := t.Global(); i < count; i += t.Stride() {
		bits := from + uint32(i*step)
		x := math.Float32frombits(bits)
		w.see(bits, kernel.Tan(x), math.Tan(float64(x)))
	}
	kernel.AtomicMax(&out[0], uint64(w))
}

//quern:kernel
func errorAsin(t kernel.Thread, from uint32, step, count int, out []uint64) {
	var w worst
	for i := t.Global(); i < count; i += t.Stride() {
		bits := from + uint32(i*step)
		x := math.Float32frombits(bits)
		w.see(bits, kernel.Asin(x), math.Asin(float64(x)))
	}
	kernel.AtomicMax(&out[0], uint64(w))
}

//quern:kernel
func errorAcos(t kernel.Thread, from uint32, step, count int, out []uint64) {
	var w worst
	for i := t.Global(); i < count; i += t.Stride() {
		bits := from + uint32(i*step)
		x := math.Float32frombits(bits)
		w.see(bits, kernel.Acos(x), math.Acos(float64(x)))
	}
	kernel.AtomicMax(&out[0], uint64(w))
}

//quern:kernel
func errorAtan(t kernel.Thread, from uint32, step, count int, out []uint64) {
	var w worst
	for i := t.Global(); i < count; i += t.Stride() {
		bits := from + uint32(i*step)
		x := math.Float32frombits(bits)
		w.see(bits, kernel.Atan(x), math.Atan(float64(x)))
	}
	kernel.AtomicMax(&out[0], uint64(w))
}

//quern:kernel
func errorSinh(t kernel.Thread, from uint32, step, count int, out []uint64) {
	var w worst
	for i := t.Global(); i < count; i += t.Stride() {
		bits := from + uint32(i*step)
		x := math.Float32frombits(bits)
		w.see(bits, kernel.Sinh(x), math.Sinh(float64(x)))
	}
	kernel.AtomicMax(&out[0], uint64(w))
}

//quern:kernel
func errorCosh(t kernel.Thread, from uint32, step, count int, out []uint64) {
	var w worst
	for i := t.Global(); i < count; i += t.Stride() {
		bits := from + uint32(i*step)
		x := math.Float32frombits(bits)
		w.see(bits, kernel.Cosh(x), math.Cosh(float64(x)))
	}
	kernel.AtomicMax(&out[0], uint64(w))
}

//quern:kernel
func errorTanh(t kernel.Thread, from uint32, step, count int, out []uint64) {
	var w worst
	for i := t.Global(); i < count; i += t.Stride() {
		bits := from + uint32(i*step)
		x := math.Float32frombits(bits)
		w.see(bits, kernel.Tanh(x), math.Tanh(float64(x)))
	}
	kernel.AtomicMax(&out[0], uint64(w))
}

//quern:kernel
func errorCbrt(t kernel.Thread, from uint32, step, count int, out []uint64) {
	var w worst
	for i := t.Global(); i < count; i += t.Stride() {
		bits := from + uint32(i*step)
		x := math.Float32frombits(bits)
		w.see(bits, kernel.Cbrt(x), math.Cbrt(float64(x)))
	}
	kernel.AtomicMax(&out[0], uint64(w))
}

//quern:kernel
func errorRsqrt(t kernel.Thread, from uint32, step, count int, out []uint64) {
	var w worst
	for i := t.Global(); i < count; i += t.Stride() {
		bits := from + uint32(i*step)
		x := math.Float32frombits(bits)
		w.see(bits, kernel.Rsqrt(x), 1/math.Sqrt(float64(x)))
	}
	kernel.AtomicMax(&out[0], uint64(w))
}

// Functions of two arguments, on pairs from a counter-based generator.

// pair returns two floats whose exponents differ from 0 by at most spread. One in 16 has
// random bits.
func pair(n uint64, spread uint32) (x, y float32) {
	z := n*0x9E3779B97F4A7C15 + 0x632BE59BD9B4E019
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	z ^= z >> 31
	a, b := uint32(z), uint32(z>>32)
	if n&15 != 0 {
		a = a&0x807fffff | (127-spread+(a>>23&0xff)%(2*spread+1))<<23
		b = b&0x807fffff | (127-spread+(b>>23&0xff)%(2*spread+1))<<23
	}
	return math.Float32frombits(a), math.Float32frombits(b)
}

//quern:kernel
func errorPow(t kernel.Thread, from uint32, step, count int, out []uint64) {
	var w worst
	for i := t.Global(); i < count; i += t.Stride() {
		x, y := pair(uint64(from)<<32|uint64(i), 6)
		w.see(uint32(i), kernel.Pow(x, y), math.Pow(float64(x), float64(y)))
	}
	kernel.AtomicMax(&out[0], uint64(w))
}

//quern:kernel
func errorAtan2(t kernel.Thread, from uint32, step, count int, out []uint64) {
	var w worst
	for i := t.Global(); i < count; i += t.Stride() {
		x, y := pair(uint64(from)<<32|uint64(i), 20)
		w.see(uint32(i), kernel.Atan2(x, y), math.Atan2(float64(x), float64(y)))
	}
	kernel.AtomicMax(&out[0], uint64(w))
}

//quern:kernel
func errorHypot(t kernel.Thread, from uint32, step, count int, out []uint64) {
	var w worst
	for i := t.Global(); i < count; i += t.Stride() {
		x, y := pair(uint64(from)<<32|uint64(i), 20)
		w.see(uint32(i), kernel.Hypot(x, y), math.Hypot(float64(x), float64(y)))
	}
	kernel.AtomicMax(&out[0], uint64(w))
}

//quern:kernel
func errorMod(t kernel.Thread, from uint32, step, count int, out []uint64) {
	var w worst
	for i := t.Global(); i < count; i += t.Stride() {
		x, y := pair(uint64(from)<<32|uint64(i), 20)
		w.see(uint32(i), kernel.Mod(x, y), math.Mod(float64(x), float64(y)))
	}
	kernel.AtomicMax(&out[0], uint64(w))
}
