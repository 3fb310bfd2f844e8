package kernel

import (
	"math"
	"unsafe"
)

// In float32 the functions compute in float64 and round once more. This is exact
// for Sqrt and the rounding functions. Rsqrt divides in float32. For the others, the error exceeds half an
// ULP only if the float64 result is within its own error of the midpoint between
// two neighboring values.

// Sqrt returns the square root of x.
//
// The subtraction changes nothing. It computes the operand in a fresh register, which Go
// then uses for the result: on amd64, SQRTSS and SQRTSD wait for the last value of their
// destination register, which may be the result of the previous iteration of a loop.
func Sqrt[T Float](x T) T { return T(math.Sqrt(float64(x - 0))) }

// Rsqrt returns 1/Sqrt(x).
func Rsqrt[T Float](x T) T { return 1 / Sqrt(x) }

// Cbrt returns the cube root of x.
func Cbrt[T Float](x T) T { return T(math.Cbrt(float64(x))) }

// Hypot returns Sqrt(x*x + y*y) without undue overflow or underflow.
func Hypot[T Float](x, y T) T { return T(math.Hypot(float64(x), float64(y))) }

// Exp returns e**x.
func Exp[T Float](x T) T { return T(math.Exp(float64(x))) }

// Exp2 returns 2**x.
func Exp2[T Float](x T) T { return T(math.Exp2(float64(x))) }

// Expm1 returns e**x - 1. It is accurate for x near zero.
func Expm1[T Float](x T) T { return T(math.Expm1(float64(x))) }

// Log returns the natural logarithm of x.
func Log[T Float](x T) T { return T(math.Log(float64(x))) }

// Log2 returns the binary logarithm of x.
func Log2[T Float](x T) T { return T(math.Log2(float64(x))) }

// Log10 returns the decimal logarithm of x.
func Log10[T Float](x T) T { return T(math.Log10(float64(x))) }

// Log1p returns the natural logarithm of 1 + x. It is accurate for x near zero.
func Log1p[T Float](x T) T { return T(math.Log1p(float64(x))) }

// Pow returns x**y.
func Pow[T Float](x, y T) T { return T(math.Pow(float64(x), float64(y))) }

// Sin returns the sine of x radians.
func Sin[T Float](x T) T { return T(math.Sin(float64(x))) }

// Cos returns the cosine of x radians.
func Cos[T Float](x T) T { return T(math.Cos(float64(x))) }

// SinCos returns Sin(x) and Cos(x).
func SinCos[T Float](x T) (sin, cos T) { return Sin(x), Cos(x) }

// Tan returns the tangent of x radians.
func Tan[T Float](x T) T { return T(math.Tan(float64(x))) }

// Asin returns the arcsine of x in radians.
func Asin[T Float](x T) T { return T(math.Asin(float64(x))) }

// Acos returns the arccosine of x in radians.
func Acos[T Float](x T) T { return T(math.Acos(float64(x))) }

// Atan returns the arctangent of x in radians.
func Atan[T Float](x T) T { return T(math.Atan(float64(x))) }

// Atan2 returns the arctangent of y/x in radians, in the quadrant of (x, y).
func Atan2[T Float](y, x T) T { return T(math.Atan2(float64(y), float64(x))) }

// Sinh returns the hyperbolic sine of x.
func Sinh[T Float](x T) T { return T(math.Sinh(float64(x))) }

// Cosh returns the hyperbolic cosine of x.
func Cosh[T Float](x T) T { return T(math.Cosh(float64(x))) }

// Tanh returns the hyperbolic tangent of x.
func Tanh[T Float](x T) T { return T(math.Tanh(float64(x))) }

// Floor returns the greatest integer value that is at most x.
func Floor[T Float](x T) T { return T(math.Floor(float64(x))) }

// Ceil returns the least integer value that is at least x.
func Ceil[T Float](x T) T { return T(math.Ceil(float64(x))) }

// Trunc returns the integer value of x, rounded toward zero.
func Trunc[T Float](x T) T { return T(math.Trunc(float64(x))) }

// Round returns the nearest integer value, rounding half away from zero.
func Round[T Float](x T) T { return T(math.Round(float64(x))) }

// RoundToEven returns the nearest integer value, rounding half to even. It is the
// fastest of the rounding functions on every device.
func RoundToEven[T Float](x T) T { return T(math.RoundToEven(float64(x))) }

// Mod returns the exact remainder of x/y, with the sign of x.
func Mod[T Float](x, y T) T { return T(math.Mod(float64(x), float64(y))) }

// Abs returns the absolute value of x.
func Abs[T Float](x T) T { return T(math.Abs(float64(x))) }

// Copysign returns the magnitude of x with the sign of sign.
func Copysign[T Float](x, sign T) T { return T(math.Copysign(float64(x), float64(sign))) }

// Min returns the smaller of x and y, like Go's min: the result is NaN if either
// is NaN, and -0 is smaller than 0.
func Min[T Float](x, y T) T { return min(x, y) }

// Max returns the larger of x and y, like Go's max: the result is NaN if either
// is NaN, and 0 is larger than -0.
func Max[T Float](x, y T) T { return max(x, y) }

// FMA returns x*y + z, rounded once.
func FMA[T Float](x, y, z T) T {
	if unsafe.Sizeof(x) == 8 {
		return T(math.FMA(float64(x), float64(y), float64(z)))
	}
	return T(fma32(float64(x), float64(y), float64(z)))
}

// fma32 returns x*y + z rounded to odd, for x, y and z that are float32 values.
// Rounding the result to float32 then gives the same value as a single rounding
// (Boldo and Melquiond, Emulation of FMA and correctly rounded sums, 2008).
func fma32(x, y, z float64) float64 {
	p := float64(x * y) // exact
	s := p + z
	// The error of the sum, exactly (Knuth's TwoSum).
	b := s - p
	e := (p - (s - b)) + (z - b)
	if e == 0 || e != e {
		return s
	}
	bits := math.Float64bits(s)
	if bits&1 == 0 {
		if (e > 0) == (s > 0) {
			bits++
		} else {
			bits--
		}
	}
	return math.Float64frombits(bits)
}

// Fract returns x - Floor(x).
func Fract[T Float](x T) T { return x - Floor(x) }

// Clamp returns x limited to the range from low to high.
func Clamp[T Number](x, low, high T) T { return min(max(x, low), high) }

// Saturate returns x limited to the range from 0 to 1.
func Saturate[T Float](x T) T { return min(max(x, 0), 1) }

// Lerp interpolates linearly: it returns a for t = 0 and b for t = 1.
func Lerp[T Float](a, b, t T) T { return a + t*(b-a) }
