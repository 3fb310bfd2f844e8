package kernel

import "math"

// divideComplex returns n/m with the result of Go's complex128 division. It uses
// Smith's method (Algorithm 116: Complex division, Communications of the ACM 5,
// 1962). If both parts of the result are NaN, it applies the rules for infinities
// and zeros of ISO C, annex G. The compiler calls it for complex division in
// kernels. The explicit conversions keep products from being fused with sums.
func divideComplex(n, m complex128) complex128 {
	a, b, c, d := real(n), imag(n), real(m), imag(m)
	var re, im float64
	if math.Abs(c) >= math.Abs(d) {
		ratio := d / c
		scale := c + float64(ratio*d)
		re = (a + float64(b*ratio)) / scale
		im = (b - float64(a*ratio)) / scale
	} else {
		ratio := c / d
		scale := d + float64(ratio*c)
		re = (float64(a*ratio) + b) / scale
		im = (float64(b*ratio) - a) / scale
	}
	if re == re || im == im {
		return complex(re, im)
	}
	infinity := math.Float64frombits(0x7ff << 52)
	switch {
	case c == 0 && d == 0 && (a == a || b == b):
		infinity = math.Copysign(infinity, c)
		return complex(infinity*a, infinity*b)
	case (isInfinite(a) || isInfinite(b)) && isFinite(c) && isFinite(d):
		a, b = unitOfInfinity(a), unitOfInfinity(b)
		return complex(infinity*(float64(a*c)+float64(b*d)), infinity*(float64(b*c)-float64(a*d)))
	case (isInfinite(c) || isInfinite(d)) && isFinite(a) && isFinite(b):
		c, d = unitOfInfinity(c), unitOfInfinity(d)
		return complex(0*(float64(a*c)+float64(b*d)), 0*(float64(b*c)-float64(a*d)))
	}
	return complex(re, im)
}

func isInfinite(x float64) bool { return math.Abs(x) > math.MaxFloat64 }
func isFinite(x float64) bool   { return math.Abs(x) <= math.MaxFloat64 }

// unitOfInfinity returns 1 for an infinity and 0 for any other value, with the
// sign of x.
func unitOfInfinity(x float64) float64 {
	if isInfinite(x) {
		return math.Copysign(1, x)
	}
	return math.Copysign(0, x)
}
