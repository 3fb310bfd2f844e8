package ptxvm

import (
	"math"
	"math/big"
)

// rounding is a rounding direction of floating-point arithmetic and conversions.
type rounding uint8

const (
	toNearestEven rounding = iota
	toZero
	toNegative
	toPositive
)

var roundings = map[string]rounding{
	"": toNearestEven, "rn": toNearestEven, "rz": toZero, "rm": toNegative, "rp": toPositive,
	"rni": toNearestEven, "rzi": toZero, "rmi": toNegative, "rpi": toPositive,
}

// toIntegral rounds x to an integral value.
func (m rounding) toIntegral(x float64) float64 {
	switch m {
	case toZero:
		return math.Trunc(x)
	case toNegative:
		return math.Floor(x)
	case toPositive:
		return math.Ceil(x)
	}
	return math.RoundToEven(x)
}

// correct adjusts nearest, the value nearest to the exact result, to direction m. side is
// the sign of the exact result minus nearest. below and above return the neighbors of
// nearest.
func (m rounding) correct(nearest float64, side int, below, above func() float64) float64 {
	switch {
	case side < 0 && (m == toNegative || m == toZero && nearest > 0):
		return below()
	case side > 0 && (m == toPositive || m == toZero && nearest < 0):
		return above()
	}
	return nearest
}

// correct32 is correct for an f32 result.
func (m rounding) correct32(nearest float32, side int) float32 {
	return float32(m.correct(float64(nearest), side,
		func() float64 { return float64(math.Nextafter32(nearest, float32(math.Inf(-1)))) },
		func() float64 { return float64(math.Nextafter32(nearest, float32(math.Inf(1)))) }))
}

// correct64 is correct for an f64 result.
func (m rounding) correct64(nearest float64, side int) float64 {
	return m.correct(nearest, side,
		func() float64 { return math.Nextafter(nearest, math.Inf(-1)) },
		func() float64 { return math.Nextafter(nearest, math.Inf(1)) })
}

// exactPrecision is enough for a*b + c with any three float64 values.
const exactPrecision = 4400

func exactly(x float64) *big.Float {
	return new(big.Float).SetPrec(exactPrecision).SetFloat64(x)
}

// side returns the sign of the exact result of op on finite operands, minus nearest.
func side(op string, a, b, c, nearest float64) int {
	z := new(big.Float).SetPrec(exactPrecision)
	switch op {
	case "sqrt":
		if nearest == 0 {
			return 0
		}
		return exactly(a).Cmp(z.Mul(exactly(nearest), exactly(nearest)))
	case "div":
		if math.IsInf(nearest, 0) {
			break
		}
		s := exactly(a).Cmp(z.Mul(exactly(nearest), exactly(b)))
		if b < 0 {
			s = -s
		}
		return s
	case "add":
		z.Add(exactly(a), exactly(b))
	case "sub":
		z.Sub(exactly(a), exactly(b))
	case "mul":
		z.Mul(exactly(a), exactly(b))
	case "fma":
		z.Mul(exactly(a), exactly(b))
		z.Add(z, exactly(c))
	}
	if math.IsInf(nearest, 0) {
		return -int(math.Copysign(1, nearest))
	}
	return z.Cmp(exactly(nearest))
}

// directed32 returns an operation that computes the named operation in direction m. op
// computes it with rounding to nearest.
func directed32(name string, m rounding, op func(a, b, c float32) float32) func(a, b, c float32) float32 {
	if m == toNearestEven {
		return op
	}
	return func(a, b, c float32) float32 {
		nearest := op(a, b, c)
		x, y, z := float64(a), float64(b), float64(c)
		if !directable(name, x, y, z, float64(nearest)) {
			return nearest
		}
		s := side(name, x, y, z, float64(nearest))
		if s == 0 && negativeZero(name, m, x, y, z, float64(nearest)) {
			return float32(math.Copysign(0, -1))
		}
		return m.correct32(nearest, s)
	}
}

// directed64 is directed32 for f64.
func directed64(name string, m rounding, op func(a, b, c float64) float64) func(a, b, c float64) float64 {
	if m == toNearestEven {
		return op
	}
	return func(a, b, c float64) float64 {
		nearest := op(a, b, c)
		if !directable(name, a, b, c, nearest) {
			return nearest
		}
		s := side(name, a, b, c, nearest)
		if s == 0 && negativeZero(name, m, a, b, c, nearest) {
			return math.Copysign(0, -1)
		}
		return m.correct64(nearest, s)
	}
}

// directable reports whether the result is rounded: the result is not NaN, the operands
// are finite, and it is not a division by zero.
func directable(name string, a, b, c, nearest float64) bool {
	return nearest == nearest && !math.IsInf(a, 0) && !math.IsInf(b, 0) && !math.IsInf(c, 0) && !(name == "div" && b == 0)
}

// negativeZero reports whether an exact sum of zero is -0: when rounding down, unless both
// addends are +0.
func negativeZero(name string, m rounding, a, b, c, nearest float64) bool {
	if m != toNegative || nearest != 0 {
		return false
	}
	switch name {
	case "add":
	case "sub":
		b = -b
	case "fma":
		a, b = a*b, c
	default:
		return false
	}
	return math.Signbit(a) || math.Signbit(b)
}

// sumToOdd returns a + b rounded to odd: the nearest float64 if it is exact, else the
// neighbor with an odd significand. Rounding the result again, to a format with at most 51
// bits, gives the correctly rounded sum (Boldo and Melquiond, Emulation of FMA and
// correctly rounded sums, 2008).
func sumToOdd(a, b float64) float64 {
	s := a + b
	if math.IsInf(s, 0) || s != s {
		return s
	}
	t := s - a
	e := (a - (s - t)) + (b - t)
	bits := math.Float64bits(s)
	if e == 0 || bits&1 != 0 {
		return s
	}
	if (e > 0) == (s > 0) {
		bits++
	} else {
		bits--
	}
	return math.Float64frombits(bits)
}

// fma32 returns a*b + c rounded once.
func fma32(a, b, c float32) float32 {
	p := float64(a) * float64(b) // exact
	s := p + float64(c)
	// The first rounding matters only if s becomes a tie of the second rounding.
	const tail, tie = 1<<29 - 1, 1 << 28
	if math.Float64bits(s)&tail != tie && math.Abs(s) >= 0x1p-125 {
		return float32(s)
	}
	return float32(sumToOdd(p, float64(c)))
}
