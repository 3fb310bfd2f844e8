package kernel

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// halfFormats lists the 16-bit formats with their functions on bits.
var halfFormats = []struct {
	name          string
	fraction, low int
	from64        func(float64) uint16
	from32        func(float32) uint16
	fromInt       func(int64) uint16
	fromUint      func(uint64) uint16
	to64          func(uint16) float64
	add, sub      func(a, b uint16) uint16
	mul, div      func(a, b uint16) uint16
	fma           func(a, b, c uint16) uint16
	sqrt          func(a uint16) uint16
}{
	{
		name: "Float16", fraction: 10, low: -14,
		from64:   func(x float64) uint16 { return ToFloat16(x).Bits() },
		from32:   func(x float32) uint16 { return ToFloat16(x).Bits() },
		fromInt:  func(x int64) uint16 { return ToFloat16(x).Bits() },
		fromUint: func(x uint64) uint16 { return ToFloat16(x).Bits() },
		to64:     func(b uint16) float64 { return Float16FromBits(b).Float64() },
		add:      func(a, b uint16) uint16 { return Float16FromBits(a).Add(Float16FromBits(b)).Bits() },
		sub:      func(a, b uint16) uint16 { return Float16FromBits(a).Sub(Float16FromBits(b)).Bits() },
		mul:      func(a, b uint16) uint16 { return Float16FromBits(a).Mul(Float16FromBits(b)).Bits() },
		div:      func(a, b uint16) uint16 { return Float16FromBits(a).Div(Float16FromBits(b)).Bits() },
		fma: func(a, b, c uint16) uint16 {
			return Float16FromBits(a).FMA(Float16FromBits(b), Float16FromBits(c)).Bits()
		},
		sqrt: func(a uint16) uint16 { return Float16FromBits(a).Sqrt().Bits() },
	},
	{
		name: "BFloat16", fraction: 7, low: -126,
		from64:   func(x float64) uint16 { return ToBFloat16(x).Bits() },
		from32:   func(x float32) uint16 { return ToBFloat16(x).Bits() },
		fromInt:  func(x int64) uint16 { return ToBFloat16(x).Bits() },
		fromUint: func(x uint64) uint16 { return ToBFloat16(x).Bits() },
		to64:     func(b uint16) float64 { return BFloat16FromBits(b).Float64() },
		add:      func(a, b uint16) uint16 { return BFloat16FromBits(a).Add(BFloat16FromBits(b)).Bits() },
		sub:      func(a, b uint16) uint16 { return BFloat16FromBits(a).Sub(BFloat16FromBits(b)).Bits() },
		mul:      func(a, b uint16) uint16 { return BFloat16FromBits(a).Mul(BFloat16FromBits(b)).Bits() },
		div:      func(a, b uint16) uint16 { return BFloat16FromBits(a).Div(BFloat16FromBits(b)).Bits() },
		fma: func(a, b, c uint16) uint16 {
			return BFloat16FromBits(a).FMA(BFloat16FromBits(b), BFloat16FromBits(c)).Bits()
		},
		sqrt: func(a uint16) uint16 { return BFloat16FromBits(a).Sqrt().Bits() },
	},
}

// roundExact rounds an exact number to a 16-bit format by comparing it with the
// two nearest values, independently of the code under test.
func roundExact(x *big.Float, fraction, low int) uint16 {
	infinity := uint16(3-2*low) << fraction
	value := func(bits uint16) *big.Float { // of a magnitude, also just above the largest
		exponent, m := int(bits>>fraction), int(bits&(1<<fraction-1))
		if exponent == 0 {
			exponent = 1
		} else {
			m |= 1 << fraction
		}
		return new(big.Float).SetMantExp(big.NewFloat(float64(m)), exponent-1+low-fraction)
	}
	sign := uint16(0)
	if x.Signbit() {
		sign = 1 << 15
	}
	x = new(big.Float).Abs(x)
	below, above := uint16(0), infinity
	for above-below > 1 {
		if middle := (below + above) / 2; value(middle).Cmp(x) <= 0 {
			below = middle
		} else {
			above = middle
		}
	}
	if x.Cmp(value(infinity)) >= 0 {
		return sign | infinity
	}
	down := new(big.Float).SetPrec(4000).Sub(x, value(below))
	up := new(big.Float).SetPrec(4000).Sub(value(above), x)
	switch c := down.Cmp(up); {
	case c < 0, c == 0 && below&1 == 0:
		return sign | below
	}
	return sign | above
}

func isNaN16(b uint16, fraction int) bool {
	return b&0x7fff > 0x7fff&^(1<<fraction-1)
}

func TestEveryHalfConvertsExactlyAndBack(t *testing.T) {
	for _, f := range halfFormats {
		for i := range 1 << 16 {
			bits := uint16(i)
			got := f.to64(bits)
			exponent, m := int(bits&0x7fff>>f.fraction), float64(bits&(1<<f.fraction-1))
			var want float64
			switch {
			case isNaN16(bits, f.fraction):
				if got == got || f.from64(got) != halfNaN || f.from32(float32(got)) != halfNaN {
					t.Fatalf("%s(%#04x) = %v, and back %#04x; want NaN and %#04x", f.name, bits, got, f.from64(got), halfNaN)
				}
				continue
			case exponent == 3-2*f.low:
				want = math.Inf(1)
			case exponent == 0:
				want = math.Ldexp(m, f.low-f.fraction)
			default:
				want = math.Ldexp(m+float64(int(1)<<f.fraction), exponent-1+f.low-f.fraction)
			}
			if bits>>15 != 0 {
				want = -want
			}
			if got != want || math.Signbit(got) != math.Signbit(want) {
				t.Fatalf("%s(%#04x) = %v, want %v", f.name, bits, got, want)
			}
			if f.from64(got) != bits || f.from32(float32(got)) != bits {
				t.Fatalf("%s(%#04x) = %v comes back as %#04x", f.name, bits, got, f.from64(got))
			}
		}
	}
}

// The test covers the numbers around every 16-bit float, and around every
// midpoint between two of them, where an intermediate rounding to float32 would
// give a wrong result.
func TestRoundingToHalfIsToTheNearest(t *testing.T) {
	for _, f := range halfFormats {
		for bits := range uint16(3-2*f.low) << f.fraction {
			x := f.to64(bits)
			next := f.to64(bits + 1)
			if math.IsInf(next, 1) {
				next = 2*x - f.to64(bits-1)
			}
			middle := (x + next) / 2
			even := bits + bits&1
			for _, c := range []struct {
				x    float64
				want uint16
			}{
				{middle, even}, {math.Nextafter(middle, 0), bits}, {math.Nextafter(middle, next), bits + 1},
				{x + (middle-x)/2, bits}, {middle + (next-middle)/2, bits + 1},
			} {
				if got := f.from64(c.x); got != c.want {
					t.Fatalf("%s: %v rounds to %#04x, want %#04x", f.name, c.x, got, c.want)
				}
				if got := f.from64(-c.x); got != c.want|0x8000 {
					t.Fatalf("%s: %v rounds to %#04x, want %#04x", f.name, -c.x, got, c.want|0x8000)
				}
			}
			if single := float32(middle); float64(single) == middle {
				for _, y := range []float32{single, math.Nextafter32(single, 0), math.Nextafter32(single, math.MaxFloat32)} {
					if got, want := f.from32(y), f.from64(float64(y)); got != want {
						t.Fatalf("%s: float32 %v rounds to %#04x, float64 to %#04x", f.name, y, got, want)
					}
				}
			}
		}
	}
}

func TestRoundingRandomNumbersToHalf(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, f := range halfFormats {
		for range 20000 {
			x := math.Float64frombits(r.Uint64())
			if r.IntN(2) == 0 {
				x = math.Ldexp(r.Float64()-0.5, r.IntN(60)-30)
			}
			if x != x || math.IsInf(x, 0) {
				continue
			}
			if got, want := f.from64(x), roundExact(big.NewFloat(x), f.fraction, f.low); got != want {
				t.Fatalf("%s: %v rounds to %#04x, want %#04x", f.name, x, got, want)
			}
			u := r.Uint64() >> r.IntN(64)
			if got, want := f.fromUint(u), roundExact(new(big.Float).SetUint64(u), f.fraction, f.low); got != want {
				t.Fatalf("%s: %d rounds to %#04x, want %#04x", f.name, u, got, want)
			}
			// Just above the midpoint between two numbers, by less than a float64
			// can represent.
			u = (u|1<<63)>>(62-f.fraction)<<(62-f.fraction) + uint64(r.IntN(3)) - 1
			if got, want := f.fromUint(u), roundExact(new(big.Float).SetUint64(u), f.fraction, f.low); got != want {
				t.Fatalf("%s: %d rounds to %#04x, want %#04x", f.name, u, got, want)
			}
			i := int64(u) >> 1
			if got, want := f.fromInt(i), roundExact(new(big.Float).SetInt64(i), f.fraction, f.low); got != want {
				t.Fatalf("%s: %d rounds to %#04x, want %#04x", f.name, i, got, want)
			}
		}
	}
}

func TestHalfArithmeticIsRoundedOnce(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, f := range halfFormats {
		exact := func(bits uint16) *big.Float { return new(big.Float).SetPrec(2000).SetFloat64(f.to64(bits)) }
		finite := func() uint16 {
			for {
				b := uint16(r.Uint32())
				if r.IntN(3) == 0 { // near 0, where results are subnormal
					b &= 0x83ff
				}
				if x := f.to64(b); x-x == 0 {
					return b
				}
			}
		}
		check := func(op string, got uint16, x *big.Float, operands ...uint16) {
			want := roundExact(x, f.fraction, f.low)
			if x.Sign() == 0 {
				got &^= 0x8000
				want &^= 0x8000
			}
			if got != want {
				t.Fatalf("%s: %s of %#04x is %#04x, want %#04x", f.name, op, operands, got, want)
			}
		}
		for range 20000 {
			a, b, c := finite(), finite(), finite()
			x, y, z := exact(a), exact(b), exact(c)
			result := func() *big.Float { return new(big.Float).SetPrec(2000) }
			check("add", f.add(a, b), result().Add(x, y), a, b)
			check("sub", f.sub(a, b), result().Sub(x, y), a, b)
			check("mul", f.mul(a, b), result().Mul(x, y), a, b)
			product := result().Mul(x, y)
			check("fma", f.fma(a, b, c), result().Add(product, z), a, b, c)
			if y.Sign() != 0 {
				check("div", f.div(a, b), result().Quo(x, y), a, b)
			}
			if x.Sign() >= 0 {
				check("sqrt", f.sqrt(a), result().Sqrt(x), a)
			}
		}
	}
}

func TestHalfComparisonsAndSigns(t *testing.T) {
	nan, zero := Float16FromBits(0x7e00), Float16{}
	one := ToFloat16(1)
	tests := []struct {
		name string
		got  bool
		want bool
	}{
		{"0 equals -0", zero.Equal(zero.Neg()), true},
		{"the bits of 0 and -0 differ", zero == zero.Neg(), false},
		{"NaN equals nothing", nan.Equal(nan), false},
		{"NaN is less than nothing", nan.Less(one) || one.Less(nan), false},
		{"-1 is less than 1", one.Neg().Less(one), true},
		{"the absolute value of -1 is 1", one.Neg().Abs() == one, true},
		{"min with NaN is NaN", one.Min(nan).IsNaN(), true},
		{"max of 0 and -0 is 0", zero.Neg().Max(zero) == zero, true},
		{"65520 becomes an infinity", ToFloat16(65520).IsInf(1), true},
		{"65519 does not", ToFloat16(65519).IsInf(0), false},
		{"the negative infinity", ToBFloat16(-1e39).IsInf(-1) && !ToBFloat16(-1e39).IsInf(1), true},
		{"a NaN of the other format", BFloat16FromBits(0xffff).IsNaN(), true},
	}
	for _, tt := range tests {
		if tt.got != tt.want {
			t.Errorf("%s: %v", tt.name, tt.got)
		}
	}
}

func TestHalfPrintsShortestDecimal(t *testing.T) {
	tests := []struct{ got, want string }{
		{ToFloat16(0.1).String(), "0.1"},
		{ToFloat16(65504).String(), "6.55e+04"},
		{ToFloat16(-2.5).String(), "-2.5"},
		{ToBFloat16(1e-40).String(), "9e-41"},
		{Float16FromBits(0x7c00).String(), "+Inf"},
		{Float16FromBits(0xffff).String(), "NaN"},
		{Float16{}.Neg().String(), "-0"},
	}
	for _, tt := range tests {
		if tt.got != tt.want {
			t.Errorf("%s, want %s", tt.got, tt.want)
		}
	}
}

type celsius float64

func TestScalarConversionsThroughFloat32(t *testing.T) {
	if got := ToFloat32(celsius(2.5)); got != 2.5 {
		t.Errorf("ToFloat32(celsius(2.5)) = %v", got)
	}
	if got := ToFloat32(ToBFloat16(3)); got != 3 {
		t.Errorf("ToFloat32 of a BFloat16 3 = %v", got)
	}
	if got := FromFloat32[celsius](2.5); got != 2.5 {
		t.Errorf("FromFloat32[celsius](2.5) = %v", got)
	}
	if got := FromFloat32[Float16](0.1); got != ToFloat16(0.1) {
		t.Errorf("FromFloat32[Float16](0.1) = %v", got)
	}
	if got := FromFloat32[int8](-3.9); got != -3 {
		t.Errorf("FromFloat32[int8](-3.9) = %v", got)
	}
}
