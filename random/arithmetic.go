package random

import "math"

// The functions of this file return the same bits on every device and processor:
// they consist of operations that IEEE 754 rounds correctly, and explicit
// conversions prevent the compiler from fusing products and sums. The polynomials
// interpolate at Chebyshev nodes; their errors are below a tenth of an ULP.

const (
	ln2High32 = 0.693145751953125 // 16 bits: products with exponents are exact
	ln2Low32  = 1.428606820309417e-06
	ln2High64 = 6.93147180369123816490e-01 // 32 bits
	ln2Low64  = 1.90821492927058770002e-10

	sqrtHalf32 = 0x3f3504f3 // the bits of float32(math.Sqrt2/2)
	sqrtHalf64 = 0x3fe6a09e667f3bcd
)

// log1p32 returns log(1+f) + k*log(2) for 1+f in [√½, √2).
//
// With s = f/(2+f), log(1+f) = 2*atanh(s) = f - s*(f - s*s*p(s*s)).
func log1p32(f, k float32) float32 {
	s := f / (2 + f)
	z := float32(s * s)
	p := float32(z*0.29579949391972784709) + 0.39988780566021981899
	p = float32(z*p) + 0.66666685039575855022
	r := float32(s * (f - float32(z*p)))
	return float32(k*ln2High32) - ((r - float32(k*ln2Low32)) - f)
}

// log1p64 is log1p32 in float64.
func log1p64(f, k float64) float64 {
	s := f / (2 + f)
	z := float64(s * s)
	p := float64(z*0.13086626147840102138) + 0.13268773138656885185
	p = float64(z*p) + 0.15386239702814658188
	p = float64(z*p) + 0.18181795640132906276
	p = float64(z*p) + 0.22222222391713917442
	p = float64(z*p) + 0.28571428570803611811
	p = float64(z*p) + 0.40000000000000876983
	p = float64(z*p) + 0.66666666666666666465
	r := float64(s * (f - float64(z*p)))
	return float64(k*ln2High64) - ((r - float64(k*ln2Low64)) - f)
}

// log64 returns log(x), for a positive, finite and normal x.
func log64(x float64) float64 {
	b := math.Float64bits(x) + (0x3ff<<52 - sqrtHalf64)
	k := float64(int64(b>>52) - 1023)
	m := math.Float64frombits(b&(1<<52-1) + sqrtHalf64)
	return log1p64(m-1, k)
}

// exponential32 maps a word to -log((w + ½)/2^32), which is between 2^-33 and
// 22.9: a number from the exponential distribution with mean 1.
func exponential32(w uint32) float32 {
	if w >= 0xb504f334 { // 2^32*√½: near 1, 1+f is less precise than f
		return -log1p32(-((float32(^w) + 0.5) * 0x1p-32), 0)
	}
	b := math.Float32bits(float32(w)+0.5) + (0x3f800000 - sqrtHalf32)
	k := float32(int32(b>>23) - (127 + 32))
	m := math.Float32frombits(b&(1<<23-1) + sqrtHalf32)
	return -log1p32(m-1, k)
}

// exponential64 maps a word to -log((w + ½)/2^64), which is between 2^-65 and 45.1.
func exponential64(w uint64) float64 {
	if w >= 0xb504f333f9de6485 {
		return -log1p64(-((float64(^w) + 0.5) * 0x1p-64), 0)
	}
	b := math.Float64bits(float64(w)+0.5) + (0x3ff<<52 - sqrtHalf64)
	k := float64(int64(b>>52) - (1023 + 64))
	m := math.Float64frombits(b&(1<<52-1) + sqrtHalf64)
	return -log1p64(m-1, k)
}

// sinCos32 returns the sine and cosine of w/2^32 turns.
func sinCos32(w uint32) (sin, cos float32) {
	quarter := (w + 1<<29) >> 30
	x := float32(int32(w-quarter<<30)) * 0x1p-32 // in [-1/8, 1/8], exact but for one rounding
	z := float32(x * x)
	p := float32(z*-75.401612702747458455) + 81.592542871301543294
	p = float32(z*p) - 41.341662570547954912
	p = float32(z*p) + 6.2831852878129467414
	sin = float32(x * p)
	q := float32(z*59.424105981756473913) - 85.448820089651071299
	q = float32(z*q) + 64.939369051419775696
	q = float32(z*q) - 19.739208789987509716
	cos = float32(z*q) + 1
	return turned(quarter, sin, cos)
}

// sinCos64 returns the sine and cosine of w/2^64 turns.
func sinCos64(w uint64) (sin, cos float64) {
	quarter := (w + 1<<61) >> 62
	x := float64(int64(w-quarter<<62)) * 0x1p-64
	z := float64(x * x)
	p := float64(z*-0.71163580907816659965) + 3.8197881201632114229
	p = float64(z*p) - 15.094640403891545649
	p = float64(z*p) + 42.058693928988783438
	p = float64(z*p) - 76.70585975299812673
	p = float64(z*p) + 81.605249276074930668
	p = float64(z*p) - 41.341702240399760142
	p = float64(z*p) + 6.2831853071795864769
	sin = float64(x * p)
	q := float64(z*-1.6990343940660636356) + 7.9032069115696784291
	q = float64(z*q) - 26.426253275854721364
	q = float64(z*q) + 60.244641352702008933
	q = float64(z*q) - 85.456817206643804246
	q = float64(z*q) + 64.939394022668242743
	q = float64(z*q) - 19.73920880217871723
	cos = float64(z*q) + 1
	return turned(uint32(quarter), sin, cos)
}

// turned adds a number of quarter turns to an angle.
func turned[T Float](quarter uint32, sin, cos T) (T, T) {
	if quarter&1 != 0 {
		sin, cos = cos, -sin
	}
	if quarter&2 != 0 {
		sin, cos = -sin, -cos
	}
	return sin, cos
}

// exp64 returns e**x. It is +Inf above 709.78 and 0 below -708.39.
func exp64(x float64) float64 {
	if x > 709.782712893384 {
		return math.Inf(1)
	}
	if !(x >= -708.3964185322641) {
		return 0
	}
	k := math.RoundToEven(float64(x * math.Log2E))
	r := (x - float64(k*ln2High64)) - float64(k*ln2Low64)
	p := float64(r*2.5100375832561233664e-8) + 2.7620075879983366586e-7
	p = float64(r*p) + 2.7557268480310025526e-6
	p = float64(r*p) + 0.000024801521322368693266
	p = float64(r*p) + 0.00019841269863040545271
	p = float64(r*p) + 0.0013888888917196719077
	p = float64(r*p) + 0.0083333333333300644495
	p = float64(r*p) + 0.041666666666624161903
	p = float64(r*p) + 0.16666666666666667452
	p = float64(r*p) + 0.50000000000000010211
	y := 1 + (r + float64(float64(r*r)*p))
	// 2^k in two factors, because k may be 1024.
	half := int64(k) >> 1
	y *= math.Float64frombits(uint64(half+1023) << 52)
	return y * math.Float64frombits(uint64(int64(k)-half+1023)<<52)
}
