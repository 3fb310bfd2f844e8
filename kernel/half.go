package kernel

import (
	"math"
	"reflect"
	"strconv"
)

// Float16 is a 16-bit floating-point number as defined by IEEE 754 (binary16). It
// has 11 significant bits; its largest value is 65504 and its smallest positive
// value is 2**-24. The zero value is 0.
//
// Go has no operators for it. The methods compute what Go's operators would: each
// result is rounded once, to nearest even. Accumulate long sums in float32. ==
// and switch compare bits, so a NaN equals itself and 0 does not equal -0;
// [Float16.Equal] compares like == on Go's floats.
type Float16 struct{ float16 uint16 }

// BFloat16 is a 16-bit floating-point number with the range of float32 and 8
// significant bits: the upper half of a float32. It has the same methods as
// [Float16].
type BFloat16 struct{ bfloat16 uint16 }

// Scalar is any number type that can be a buffer element. Generic kernels over
// Scalar convert with [ToFloat32] and [FromFloat32] and compute in float32.
type Scalar interface {
	Number | Float16 | BFloat16
}

// halfNaN is the only NaN that rounding to Float16 or BFloat16 produces, as on
// the GPU.
const halfNaN = 0x7fff

// ToFloat16 returns x rounded once to Float16, to nearest even. Values that are
// too large become infinities.
func ToFloat16[T Number](x T) Float16 { return roundFloat16(exactOrOdd(x)) }

// ToBFloat16 returns x rounded once to BFloat16, to nearest even. Values that are
// too large become infinities.
func ToBFloat16[T Number](x T) BFloat16 { return roundBFloat16(exactOrOdd(x)) }

// exactOrOdd returns x as a float64. If x has more than 53 significant bits, it
// returns the neighboring float64 whose last bit is 1, which rounds to 11 bits or
// fewer as x does.
func exactOrOdd[T Number](x T) float64 {
	if T(1)/T(2) != 0 { // a float
		return float64(x)
	}
	negative := x < 0
	u := uint64(x)
	if negative {
		u = -u
	}
	if u>>53 != 0 {
		const below = 1<<11 - 1
		odd := u&below != 0
		u &^= below
		if odd {
			u |= below + 1
		}
	}
	if negative {
		return -float64(u)
	}
	return float64(u)
}

func roundFloat16(x float64) Float16   { return Float16{roundHalf(x, 10, -14)} }
func roundBFloat16(x float64) BFloat16 { return BFloat16{roundHalf(x, 7, -126)} }

// roundHalf rounds x to a 16-bit format with the given number of fraction bits
// and the smallest normal value 2**low.
func roundHalf(x float64, fraction, low int) uint16 {
	const float64Fraction, float64Bias = 52, 1023
	b := math.Float64bits(x)
	sign := uint16(b>>48) & 0x8000
	b &^= 1 << 63
	shift := float64Fraction - fraction
	switch {
	case b > 0x7ff<<float64Fraction:
		return halfNaN
	case b < uint64(low+float64Bias)<<float64Fraction:
		// Adding a power of two whose last bit is the format's smallest value
		// rounds x to a multiple of that value.
		unit := math.Float64frombits(uint64(low-fraction+float64Fraction+float64Bias) << float64Fraction)
		return sign | uint16(math.Float64bits(math.Float64frombits(b)+unit))
	}
	b += 1<<(shift-1) - 1 + b>>shift&1
	b = b>>shift - uint64(low-1+float64Bias)<<fraction
	infinity := uint64(3-2*low) << fraction
	return sign | uint16(min(b, infinity))
}

// Float16FromBits returns the number with the IEEE 754 representation b.
func Float16FromBits(b uint16) Float16 { return Float16{b} }

// BFloat16FromBits returns the number whose bits are the upper half of a float32.
func BFloat16FromBits(b uint16) BFloat16 { return BFloat16{b} }

// Bits returns the IEEE 754 representation of x.
func (x Float16) Bits() uint16 { return x.float16 }

// Bits returns the upper half of the bits of x as a float32.
func (x BFloat16) Bits() uint16 { return x.bfloat16 }

// Float32 returns x, exactly.
func (x Float16) Float32() float32 {
	b := uint32(x.float16&0x7fff) << 13
	if b >= 0x7c00<<13 { // an infinity or NaN
		b |= 0x7f800000
	} else {
		// The shifted bits are a float32 that is 2**112 times too small. This
		// includes subnormals.
		b = math.Float32bits(math.Float32frombits(b) * 0x1p112)
	}
	return math.Float32frombits(b | uint32(x.float16&0x8000)<<16)
}

// Float32 returns x, exactly.
func (x BFloat16) Float32() float32 { return math.Float32frombits(uint32(x.bfloat16) << 16) }

// Float64 returns x, exactly.
func (x Float16) Float64() float64 { return float64(x.Float32()) }

// Float64 returns x, exactly.
func (x BFloat16) Float64() float64 { return float64(x.Float32()) }

// A float32 result rounded to either format equals the exact result rounded once,
// because float32 has more than twice as many bits plus two (Figueroa, When is
// double rounding innocuous?, 1995). This holds for sums, products, quotients and
// square roots; products are exact before the last rounding.

// Add returns x + y.
func (x Float16) Add(y Float16) Float16 { return ToFloat16(x.Float32() + y.Float32()) }

// Sub returns x - y.
func (x Float16) Sub(y Float16) Float16 { return ToFloat16(x.Float32() - y.Float32()) }

// Mul returns x * y.
func (x Float16) Mul(y Float16) Float16 { return ToFloat16(x.Float32() * y.Float32()) }

// Div returns x / y.
func (x Float16) Div(y Float16) Float16 { return ToFloat16(x.Float32() / y.Float32()) }

// FMA returns x*y + z, rounded once.
func (x Float16) FMA(y, z Float16) Float16 {
	return ToFloat16(fma32(x.Float64(), y.Float64(), z.Float64()))
}

// Sqrt returns the square root of x.
func (x Float16) Sqrt() Float16 { return ToFloat16(Sqrt(x.Float32())) }

// Neg returns -x.
func (x Float16) Neg() Float16 { return Float16FromBits(x.Bits() ^ 0x8000) }

// Abs returns the absolute value of x.
func (x Float16) Abs() Float16 { return Float16FromBits(x.Bits() &^ 0x8000) }

// Min returns the smaller of x and y, as Go's min does.
func (x Float16) Min(y Float16) Float16 { return ToFloat16(min(x.Float32(), y.Float32())) }

// Max returns the larger of x and y, as Go's max does.
func (x Float16) Max(y Float16) Float16 { return ToFloat16(max(x.Float32(), y.Float32())) }

// Equal reports whether x == y: 0 equals -0, a NaN equals nothing.
func (x Float16) Equal(y Float16) bool { return x.Float32() == y.Float32() }

// Less reports whether x < y.
func (x Float16) Less(y Float16) bool { return x.Float32() < y.Float32() }

// IsNaN reports whether x is not a number.
func (x Float16) IsNaN() bool { return x.Bits()&0x7fff > 0x7c00 }

// IsInf reports whether x is an infinity: the positive one if sign > 0, the
// negative one if sign < 0, either if sign == 0.
func (x Float16) IsInf(sign int) bool {
	return sign >= 0 && x.Bits() == 0x7c00 || sign <= 0 && x.Bits() == 0xfc00
}

// String returns the shortest decimal that rounds to x.
func (x Float16) String() string {
	return shortest(x.Float64(), func(f float64) bool { return ToFloat16(f).Equal(x) })
}

// Add returns x + y.
func (x BFloat16) Add(y BFloat16) BFloat16 { return ToBFloat16(x.Float32() + y.Float32()) }

// Sub returns x - y.
func (x BFloat16) Sub(y BFloat16) BFloat16 { return ToBFloat16(x.Float32() - y.Float32()) }

// Mul returns x * y.
func (x BFloat16) Mul(y BFloat16) BFloat16 { return ToBFloat16(x.Float32() * y.Float32()) }

// Div returns x / y.
func (x BFloat16) Div(y BFloat16) BFloat16 { return ToBFloat16(x.Float32() / y.Float32()) }

// FMA returns x*y + z, rounded once.
func (x BFloat16) FMA(y, z BFloat16) BFloat16 {
	return ToBFloat16(fma32(x.Float64(), y.Float64(), z.Float64()))
}

// Sqrt returns the square root of x.
func (x BFloat16) Sqrt() BFloat16 { return ToBFloat16(Sqrt(x.Float32())) }

// Neg returns -x.
func (x BFloat16) Neg() BFloat16 { return BFloat16FromBits(x.Bits() ^ 0x8000) }

// Abs returns the absolute value of x.
func (x BFloat16) Abs() BFloat16 { return BFloat16FromBits(x.Bits() &^ 0x8000) }

// Min returns the smaller of x and y, as Go's min does.
func (x BFloat16) Min(y BFloat16) BFloat16 { return ToBFloat16(min(x.Float32(), y.Float32())) }

// Max returns the larger of x and y, as Go's max does.
func (x BFloat16) Max(y BFloat16) BFloat16 { return ToBFloat16(max(x.Float32(), y.Float32())) }

// Equal reports whether x == y: 0 equals -0, a NaN equals nothing.
func (x BFloat16) Equal(y BFloat16) bool { return x.Float32() == y.Float32() }

// Less reports whether x < y.
func (x BFloat16) Less(y BFloat16) bool { return x.Float32() < y.Float32() }

// IsNaN reports whether x is not a number.
func (x BFloat16) IsNaN() bool { return x.Bits()&0x7fff > 0x7f80 }

// IsInf reports whether x is an infinity: the positive one if sign > 0, the
// negative one if sign < 0, either if sign == 0.
func (x BFloat16) IsInf(sign int) bool {
	return sign >= 0 && x.Bits() == 0x7f80 || sign <= 0 && x.Bits() == 0xff80
}

// String returns the shortest decimal that rounds to x.
func (x BFloat16) String() string {
	return shortest(x.Float64(), func(f float64) bool { return ToBFloat16(f).Equal(x) })
}

// shortest formats x with the fewest digits that still round to the same number.
func shortest(x float64, same func(float64) bool) string {
	if x != x {
		return "NaN"
	}
	for digits := 1; ; digits++ {
		s := strconv.FormatFloat(x, 'g', digits, 64)
		if f, err := strconv.ParseFloat(s, 64); err != nil || same(f) {
			return s
		}
	}
}

// ToFloat32 returns x as a float32. The conversion of a 16-bit float is exact.
func ToFloat32[T Scalar](x T) float32 {
	switch x := any(x).(type) {
	case float32:
		return x
	case Float16:
		return x.Float32()
	case BFloat16:
		return x.Float32()
	}
	switch v := reflect.ValueOf(x); {
	case v.CanInt():
		return float32(v.Int())
	case v.CanUint():
		return float32(v.Uint())
	default:
		return float32(v.Float())
	}
}

// FromFloat32 returns x as a T. It rounds if T is a 16-bit float, and converts
// like [ToInteger] if T is an integer.
func FromFloat32[T Scalar](x float32) T {
	var y T
	switch y := any(&y).(type) {
	case *float32:
		*y = x
	case *Float16:
		*y = ToFloat16(x)
	case *BFloat16:
		*y = ToBFloat16(x)
	default:
		switch v := reflect.ValueOf(y).Elem(); {
		case v.CanInt():
			bits := v.Type().Bits()
			v.SetInt(min(max(ToInteger[int64](x), -1<<(bits-1)), 1<<(bits-1)-1))
		case v.CanUint():
			v.SetUint(min(ToInteger[uint64](x), ^uint64(0)>>(64-v.Type().Bits())))
		default:
			v.SetFloat(float64(x))
		}
	}
	return y
}
