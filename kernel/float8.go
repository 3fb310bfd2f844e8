package kernel

import "math"

// Float8E4M3 is an 8-bit floating-point number with 4 bits of exponent and 3 of
// fraction (E4M3 of the OCP 8-bit floating point specification, 2023). Its largest
// value is 448 and its smallest positive value is 2**-9. It has no infinities; 0x7f
// and 0xff are NaNs. The zero value is 0.
//
// The 8-bit formats are for storage and for matrix products: see [MMA]. There is no
// arithmetic on them; convert to float32. == and switch compare bits, so a NaN equals
// itself and 0 does not equal -0.
type Float8E4M3 struct{ float8e4m3 uint8 }

// Float8E5M2 is an 8-bit floating-point number with 5 bits of exponent and 2 of
// fraction (E5M2 of the OCP 8-bit floating point specification, 2023): the upper half
// of a [Float16]. Its largest finite value is 57344 and its smallest positive value is
// 2**-16. It has the same methods as [Float8E4M3].
type Float8E5M2 struct{ float8e5m2 uint8 }

// float8NaN is the only NaN that rounding to an 8-bit format produces.
const float8NaN = 0x7f

// ToFloat8E4M3 returns x rounded once to Float8E4M3, to nearest even. The conversion
// saturates: values that are too large, and infinities, become the largest value, 448,
// with their sign. A NaN becomes the NaN 0x7f.
func ToFloat8E4M3[T Number](x T) Float8E4M3 {
	return Float8E4M3{roundFloat8(float32OrOdd(x), 3, -6, 0x7e)}
}

// ToFloat8E5M2 returns x rounded once to Float8E5M2, to nearest even. The conversion
// saturates: values that are too large, and infinities, become the largest finite
// value, 57344, with their sign. A NaN becomes the NaN 0x7f.
func ToFloat8E5M2[T Number](x T) Float8E5M2 {
	return Float8E5M2{roundFloat8(float32OrOdd(x), 2, -14, 0x7b)}
}

// float32OrOdd returns x as a float32. If x has too many significant bits, it returns
// the neighboring float32 whose last bit is 1, which rounds to fewer than 23 bits as x
// does. Integers that saturate become other ones that do.
func float32OrOdd[T Number](x T) float32 {
	if T(1)/T(2) == 0 { // an integer
		const saturates = 1 << 17
		if x > 100 && uint64(x) > saturates {
			return saturates
		}
		if x < 0 && int64(x) < -saturates {
			return -saturates
		}
		return float32(x)
	}
	y := float32(x)
	if T(y) == x || x != x {
		return y
	}
	bits := math.Float32bits(y)
	if bits&1 == 0 {
		if float64(y) > float64(x) == (x > 0) { // rounded away from zero
			bits--
		} else {
			bits++
		}
	}
	return math.Float32frombits(bits)
}

// roundFloat8 rounds x to an 8-bit format with the given number of fraction bits, the
// smallest normal value 2**low and the bits of the largest finite value.
func roundFloat8(x float32, fraction, low int, largest uint32) uint8 {
	const float32Fraction, float32Bias = 23, 127
	b := math.Float32bits(x)
	sign := uint8(b >> 24 & 0x80)
	b &^= 1 << 31
	if b > 0x7f800000 {
		return float8NaN
	}
	if b < uint32(low+float32Bias)<<float32Fraction {
		// Adding a power of two whose last bit is the format's smallest value rounds x
		// to a multiple of that value.
		unit := math.Float32frombits(uint32(low-fraction+float32Fraction+float32Bias) << float32Fraction)
		return sign | uint8(math.Float32bits(math.Float32frombits(b)+unit))
	}
	shift := float32Fraction - fraction
	b += 1<<(shift-1) - 1 + b>>shift&1
	b = b>>shift - uint32(low-1+float32Bias)<<fraction
	return sign | uint8(min(b, largest))
}

// Float8E4M3FromBits returns the number with the representation b.
func Float8E4M3FromBits(b uint8) Float8E4M3 { return Float8E4M3{b} }

// Float8E5M2FromBits returns the number with the representation b.
func Float8E5M2FromBits(b uint8) Float8E5M2 { return Float8E5M2{b} }

// Bits returns the representation of x: sign, exponent, fraction.
func (x Float8E4M3) Bits() uint8 { return x.float8e4m3 }

// Bits returns the representation of x: sign, exponent, fraction.
func (x Float8E5M2) Bits() uint8 { return x.float8e5m2 }

// Float32 returns x, exactly.
func (x Float8E4M3) Float32() float32 {
	b := x.float8e4m3
	if b&0x7f == 0x7f {
		return Float16FromBits(halfNaN).Float32()
	}
	// Shifted, the bits are a Float16 that is 2**8 times too small.
	return Float16FromBits(uint16(b&0x80)<<8|uint16(b&0x7f)<<7).Float32() * 0x1p8
}

// Float32 returns x, exactly.
func (x Float8E5M2) Float32() float32 {
	return Float16FromBits(uint16(x.float8e5m2) << 8).Float32()
}

// Float64 returns x, exactly.
func (x Float8E4M3) Float64() float64 { return float64(x.Float32()) }

// Float64 returns x, exactly.
func (x Float8E5M2) Float64() float64 { return float64(x.Float32()) }

// IsNaN reports whether x is not a number.
func (x Float8E4M3) IsNaN() bool { return x.Bits()&0x7f == 0x7f }

// IsNaN reports whether x is not a number.
func (x Float8E5M2) IsNaN() bool { return x.Bits()&0x7f > 0x7c }

// IsInf reports whether x is an infinity: the positive one if sign > 0, the
// negative one if sign < 0, either if sign == 0. Conversions never return one.
func (x Float8E5M2) IsInf(sign int) bool {
	return sign >= 0 && x.Bits() == 0x7c || sign <= 0 && x.Bits() == 0xfc
}

// String returns the shortest decimal that rounds to x.
func (x Float8E4M3) String() string {
	return shortest(x.Float64(), func(f float64) bool { return ToFloat8E4M3(f) == x })
}

// String returns the shortest decimal that rounds to x.
func (x Float8E5M2) String() string {
	if x.IsInf(0) {
		return x.Float16().String()
	}
	return shortest(x.Float64(), func(f float64) bool { return ToFloat8E5M2(f) == x })
}

// Float16 returns x, exactly.
func (x Float8E5M2) Float16() Float16 { return Float16FromBits(uint16(x.float8e5m2) << 8) }
