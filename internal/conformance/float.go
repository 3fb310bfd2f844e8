package conformance

import (
	"math"

	"quern.dev/kernel"
)

//quern:kernel
func float32Arithmetic(t kernel.Thread, in []float32, out []float32) {
	i := t.Global()
	if i+1 >= len(in) {
		return
	}
	x, y := in[i], in[i+1]
	o := out[i*16 : i*16+16]
	o[0], o[1], o[2], o[3] = x+y, x-y, float32(x*y), x/y
	o[4] = kernel.FMA(x, y, 1)
	o[5], o[6] = min(x, y), max(x, y)
	o[7], o[8] = kernel.Floor(x), kernel.Ceil(y)
	o[9], o[10] = kernel.Trunc(x), kernel.RoundToEven(y)
	o[11] = kernel.Sqrt(kernel.Abs(x))
	o[12] = kernel.Copysign(x, y)
	o[13] = -x
	if x < y || x != x {
		o[14] = 1
	}
	if !(x > y) && x != y {
		o[15] = 2
	}
}

//quern:kernel
func float64Arithmetic(t kernel.Thread, in []float64, out []float64) {
	i := t.Global()
	if i+1 >= len(in) {
		return
	}
	x, y := in[i], in[i+1]
	o := out[i*16 : i*16+16]
	o[0], o[1], o[2], o[3] = x+y, x-y, float64(x*y), x/y
	o[4] = math.FMA(x, y, 1)
	o[5], o[6] = min(x, y), max(x, y)
	o[7], o[8] = math.Floor(x), math.Ceil(y)
	o[9], o[10] = math.Trunc(x), math.RoundToEven(y)
	o[11] = math.Sqrt(math.Abs(x))
	o[12] = math.Copysign(x, y)
	o[13] = float64(float32(x))
	o[14] = math.Float64frombits(math.Float64bits(x) ^ 1<<63)
	o[15] = math.Max(x, y) + math.Min(x, y)
}

// float64Math calls functions that are compiled from the standard library's Go source.
//
//quern:kernel
func float64Math(t kernel.Thread, in []float64, out []float64) {
	i := t.Global()
	if i >= len(in) {
		return
	}
	x := in[i]
	o := out[i*16 : i*16+16]
	o[0], o[1], o[2] = math.Exp(x), math.Log(math.Abs(x)), math.Pow(math.Abs(x), 1.7)
	o[3], o[4], o[5] = math.Sin(x), math.Cos(x), math.Tan(x)
	o[6], o[7] = math.Atan(x), math.Atan2(x, 2)
	o[8], o[9] = math.Tanh(x), math.Cbrt(x)
	o[10] = math.Mod(x, 3)
	o[11] = math.Hypot(x, 3)
	o[12] = math.Log1p(math.Abs(x))
	o[13] = math.Expm1(x)
	frac, exp := math.Frexp(x)
	o[14] = math.Ldexp(frac, exp+1)
	o[15] = math.Erf(x)
}

//quern:kernel
func float32Math(t kernel.Thread, in []float32, out []float32) {
	i := t.Global()
	if i >= len(in) {
		return
	}
	x := in[i]
	o := out[i*16 : i*16+16]
	o[0], o[1], o[2] = kernel.Exp(x), kernel.Log(kernel.Abs(x)), kernel.Pow(kernel.Abs(x), 1.7)
	o[3], o[4], o[5] = kernel.Sin(x), kernel.Cos(x), kernel.Tan(x)
	o[6], o[7] = kernel.Atan(x), kernel.Atan2(x, 2)
	o[8], o[9] = kernel.Tanh(x), kernel.Cbrt(x)
	o[10] = kernel.Mod(x, 3)
	o[11] = kernel.Hypot(x, 3)
	o[12] = kernel.Log2(kernel.Abs(x))
	o[13] = kernel.Rsqrt(kernel.Abs(x))
	o[14] = kernel.Clamp(x, -1, 1)
	o[15] = kernel.Lerp(x, 2, 0.25)
}

//quern:kernel
func dot(t kernel.Thread, n int, in []float32, out []float32) {
	i := t.Global()
	if i >= len(out) {
		return
	}
	sum := float32(0)
	for k := range n {
		sum += in[(i+k)%len(in)] * in[k]
	}
	out[i] = sum
}

//quern:kernel
func nanComparisons(t kernel.Thread, in []float64, out []int64) {
	i := t.Global()
	if i+1 >= len(in) {
		return
	}
	x, y := in[i], in[i+1]
	if i%5 == 0 {
		y = math.NaN()
	}
	if i%7 == 0 {
		x = math.Inf(1 - 2*(i&1))
	}
	r := func1(x < y, 1) + func1(x <= y, 2) + func1(x > y, 4) + func1(x >= y, 8) + func1(x == y, 16) + func1(x != y, 32)
	r += func1(!(x < y), 64) + func1(!(x == y), 128) + func1(!(x >= y), 256)
	r += func1(math.IsNaN(y), 512) + func1(math.IsInf(x, 0), 1024) + func1(math.Signbit(x), 2048)
	r += func1(math.IsNaN(min(x, y)), 4096) + func1(math.IsNaN(max(x, y)), 8192)
	out[i] = r
}

// specialFunctions calls functions of package math that use tables and gotos.
//
//quern:kernel
func specialFunctions(t kernel.Thread, in []float64, out []float64) {
	i := t.Global()
	if i >= len(in) {
		return
	}
	x := in[i]
	o := out[i*8 : i*8+8]
	o[0] = math.Gamma(x)
	o[1], _ = math.Lgamma(x)
	o[2], o[3] = math.J0(x), math.J1(x)
	o[4], o[5] = math.Y0(math.Abs(x)), math.Jn(3, x)
	o[6] = math.Erfinv(x / 200)
	o[7] = math.Remainder(x, 0.3)
}

//quern:kernel
func forwardGotos(t kernel.Thread, in []int32, out []int32) {
	i := t.Global()
	if i >= len(in) {
		return
	}
	x, r := in[i], int32(0)
	for k := range int32(9) {
		if x&7 == k {
			goto small
		}
		if x>>3&7 == k {
			goto done
		}
		r += k * x
	}
	r ^= 5
small:
	r += 100
	if r&1 == 0 {
		goto done
	}
	r -= 3
done:
	out[i] = r
}
