package devicemath

import "math"

// FMA is fma.rn.f32: x*y + z with one rounding.
func FMA(x, y, z float32) float32 {
	// The sum is rounded to odd, so that rounding it once more to float32 does what one
	// rounding would (Boldo and Melquiond, Emulation of FMA and correctly rounded sums, 2008).
	s, e := productSum(x, y, z)
	if e == 0 || e != e {
		return float32(s)
	}
	bits := math.Float64bits(s)
	if bits&1 == 0 {
		if (e > 0) == (s > 0) {
			bits++
		} else {
			bits--
		}
	}
	return float32(math.Float64frombits(bits))
}

// productSum returns x*y + z as a float64 and its rounding error. The product is exact.
func productSum(x, y, z float32) (s, e float64) {
	p := float64(x) * float64(y)
	s = p + float64(z)
	b := s - p
	return s, (p - (s - b)) + (float64(z) - b)
}

// FMASaturated is fma.rn.sat.f32: FMA limited to 0 and 1, and 0 for NaN.
func FMASaturated(x, y, z float32) float32 {
	v := FMA(x, y, z)
	if !(v > 0) {
		return 0
	}
	if v > 1 {
		return 1
	}
	return v
}

// FMADown is fma.rm.f32: FMA rounded down.
func FMADown(x, y, z float32) float32 {
	v := FMA(x, y, z)
	if s, e := productSum(x, y, z); float64(v)-s > e {
		v = math.Nextafter32(v, float32(math.Inf(-1)))
	}
	return v
}

// Sqrt is sqrt.rn.f32.
func Sqrt(x float32) float32 { return float32(math.Sqrt(float64(x))) }

// Floor is cvt.rmi.f32.f32.
func Floor(x float32) float32 { return float32(math.Floor(float64(x))) }

// Ceil is cvt.rpi.f32.f32.
func Ceil(x float32) float32 { return float32(math.Ceil(float64(x))) }

// Trunc is cvt.rzi.f32.f32.
func Trunc(x float32) float32 { return float32(math.Trunc(float64(x))) }

// RoundToEven is cvt.rni.f32.f32.
func RoundToEven(x float32) float32 { return float32(math.RoundToEven(float64(x))) }

// Abs is abs.f32.
func Abs(x float32) float32 { return math.Float32frombits(math.Float32bits(x) &^ (1 << 31)) }

// Copysign is copysign.f32.
func Copysign(x, sign float32) float32 {
	return math.Float32frombits(math.Float32bits(x)&^(1<<31) | math.Float32bits(sign)&(1<<31))
}

// The bodies of the approximations round to 22 bits. That is the accuracy which
// the PTX ISA, section Floating-Point Instructions, gives for the hardware's,
// so that what holds for them here holds there too.

func approximate(x float64) float32 {
	y := float32(x)
	if bits := math.Float32bits(y); y == y && bits&^(1<<31) < 0x7f800000 {
		y = math.Float32frombits((bits + 1) &^ 3)
	}
	return y
}

// ApproxExp2 is ex2.approx.f32.
func ApproxExp2(x float32) float32 { return approximate(math.Exp2(float64(x))) }

// ApproxExp2Normal is ex2.approx.ftz.f32: ApproxExp2 of 0 for a subnormal argument, and 0 for a
// subnormal result. Here it is rounded down, unless its argument is negative: in the CUDA C++
// Programming Guide, exp2f is this instruction and has 2 ULP, while expf, which passes it
// arguments from 0 to 1, has 1. The program internal/accuracy measures what Exp and Exp2 make of
// it.
func ApproxExp2Normal(x float32) float32 {
	exact := math.Exp2(float64(x))
	y := float32(exact)
	if y < 0x1p-126 {
		return 0
	}
	if x < 0 {
		return approximate(exact)
	}
	if float64(y) > exact {
		y = math.Nextafter32(y, 0)
	}
	return y
}

// ApproxLog2 is lg2.approx.f32.
func ApproxLog2(x float32) float32 { return approximate(math.Log2(float64(x))) }

// ApproxSin is sin.approx.f32.
func ApproxSin(x float32) float32 { return approximate(math.Sin(float64(x))) }

// ApproxCos is cos.approx.f32.
func ApproxCos(x float32) float32 { return approximate(math.Cos(float64(x))) }

// ApproxRsqrt is rsqrt.approx.f32: 1/Sqrt(x). It is better than the others: the
// CUDA C++ Programming Guide, section Mathematical Functions, gives it 2 ULP, and
// the program internal/accuracy measures it for all arguments.
func ApproxRsqrt(x float32) float32 {
	y := float32(1 / math.Sqrt(float64(x)))
	if bits := math.Float32bits(y); bits < 0x7f800000 {
		y = math.Float32frombits((bits + 1) &^ 1)
	}
	return y
}

// ApproxRcp is rcp.approx.f32: 1/x.
func ApproxRcp(x float32) float32 { return approximate(1 / float64(x)) }

// ApproxRcpNormal is rcp.approx.ftz.f32: ApproxRcp, and 0 for a subnormal result. It is rounded
// toward 0, because the PTX ISA gives the instruction 1 ULP.
func ApproxRcpNormal(x float32) float32 {
	exact := 1 / float64(x)
	y := float32(exact)
	if math.Abs(float64(y)) < 0x1p-126 {
		return float32(math.Copysign(0, exact))
	}
	if math.Abs(float64(y)) > math.Abs(exact) {
		y = math.Nextafter32(y, 0)
	}
	return y
}
