package devicemath

import "math"

// Rsqrt returns 1/Sqrt(x).
func Rsqrt(x float32) float32 { return ApproxRsqrt(x) }

// Cbrt returns the cube root of x.
func Cbrt(x float32) float32 {
	a := Abs(x)
	unscale := float32(1)
	if a < smallestNormal {
		a *= 0x1p24
		unscale = 0x1p-8
	}
	// The inverse of the root: dividing the exponent by -3 in the bits is right
	// to 4 %, and a step of Householder's iteration of the fourth order takes
	// that to 2**-18.
	r := math.Float32frombits(0x54a21d2a - math.Float32bits(a)/3)
	h := FMA(-(a*r)*r, r, 1)
	p := FMA(14.0/81, h, 2.0/9)
	p = FMA(p, h, 1.0/3)
	r = FMA(p*h, r, r)
	// The root, and a step of Newton's iteration with the exact remainder of
	// its square.
	y := a * r * r
	s := float32(y * y)
	sl := FMA(y, y, -s)
	e := FMA(-sl, y, FMA(-s, y, a))
	y = FMA(e*(1.0/3), r*r, y) * unscale
	if x == 0 || !(a <= maxFloat) {
		return x
	}
	return Copysign(y, x)
}

// Hypot returns Sqrt(x*x + y*y).
func Hypot(x, y float32) float32 {
	a, b := Abs(x), Abs(y)
	if a < b {
		a, b = b, a
	}
	// Squares that overflow or lose bits are taken of scaled numbers.
	up, down := float32(1), float32(1)
	if a > 0x1p60 {
		up, down = 0x1p-80, 0x1p80
	}
	if a < 0x1p-40 {
		up, down = 0x1p100, 0x1p-100
	}
	p, q := a*up, b*up
	r := Sqrt(FMA(p, p, q*q)) * down
	if Abs(x) > maxFloat || Abs(y) > maxFloat {
		r = Abs(x) + Abs(y)
		if x == x && y == y || Abs(x) == infinity() || Abs(y) == infinity() {
			r = infinity()
		}
	}
	return r
}
