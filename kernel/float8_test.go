package kernel

import (
	"math"
	"math/rand/v2"
	"testing"
)

// float8Formats lists the 8-bit formats with their functions on bits.
var float8Formats = []struct {
	name          string
	fraction, low int
	largest       uint8
	from64        func(float64) uint8
	from32        func(float32) uint8
	fromInt       func(int64) uint8
	fromUint      func(uint64) uint8
	to32          func(uint8) float32
	isNaN         func(uint8) bool
	text          func(uint8) string
}{
	{
		name: "Float8E4M3", fraction: 3, low: -6, largest: 0x7e,
		from64:   func(x float64) uint8 { return ToFloat8E4M3(x).Bits() },
		from32:   func(x float32) uint8 { return ToFloat8E4M3(x).Bits() },
		fromInt:  func(x int64) uint8 { return ToFloat8E4M3(x).Bits() },
		fromUint: func(x uint64) uint8 { return ToFloat8E4M3(x).Bits() },
		to32:     func(b uint8) float32 { return Float8E4M3FromBits(b).Float32() },
		isNaN:    func(b uint8) bool { return Float8E4M3FromBits(b).IsNaN() },
		text:     func(b uint8) string { return Float8E4M3FromBits(b).String() },
	},
	{
		name: "Float8E5M2", fraction: 2, low: -14, largest: 0x7b,
		from64:   func(x float64) uint8 { return ToFloat8E5M2(x).Bits() },
		from32:   func(x float32) uint8 { return ToFloat8E5M2(x).Bits() },
		fromInt:  func(x int64) uint8 { return ToFloat8E5M2(x).Bits() },
		fromUint: func(x uint64) uint8 { return ToFloat8E5M2(x).Bits() },
		to32:     func(b uint8) float32 { return Float8E5M2FromBits(b).Float32() },
		isNaN:    func(b uint8) bool { return Float8E5M2FromBits(b).IsNaN() },
		text:     func(b uint8) string { return Float8E5M2FromBits(b).String() },
	},
}

// float8Value returns the value of a magnitude by the formula of the specification.
func float8Value(bits uint8, fraction, low int) float64 {
	exponent, m := int(bits>>fraction), float64(bits&(1<<fraction-1))
	if exponent == 0 {
		return math.Ldexp(m, low-fraction)
	}
	return math.Ldexp(m+float64(int(1)<<fraction), exponent-1+low-fraction)
}

func TestEveryFloat8HasItsValue(t *testing.T) {
	for _, f := range float8Formats {
		for i := range 256 {
			b := uint8(i)
			got, magnitude := float64(f.to32(b)), b&0x7f
			switch {
			case magnitude > f.largest && (f.name == "Float8E4M3" || magnitude > 0x7c):
				if got == got || !f.isNaN(b) || f.text(b) != "NaN" {
					t.Errorf("%s %#02x is %v, %q; want NaN", f.name, b, got, f.text(b))
				}
				continue
			case magnitude > f.largest:
				if !math.IsInf(got, 1-2*int(b>>7)) || f.isNaN(b) || f.from64(got) != b&0x80|f.largest {
					t.Errorf("%s %#02x is %v and becomes %#02x", f.name, b, got, f.from64(got))
				}
				continue
			}
			want := float8Value(magnitude, f.fraction, f.low)
			if b >= 0x80 {
				want = math.Copysign(want, -1)
			}
			if got != want || math.Signbit(got) != math.Signbit(want) || f.isNaN(b) {
				t.Errorf("%s %#02x is %v, want %v", f.name, b, got, want)
			}
			if f.from64(got) != b || f.from32(float32(got)) != b {
				t.Errorf("%s %#02x is %v, which becomes %#02x and %#02x", f.name, b, got, f.from64(got), f.from32(float32(got)))
			}
		}
	}
}

// roundToFloat8 rounds x by comparing it with all values.
func roundToFloat8(x float64, fraction, low int, largest uint8) uint8 {
	if x != x {
		return 0x7f
	}
	sign := uint8(0)
	if math.Signbit(x) {
		sign, x = 0x80, -x
	}
	best := uint8(0)
	for b := range largest + 1 {
		was, is := x-float8Value(best, fraction, low), float8Value(b, fraction, low)-x
		if is <= 0 || is < was || is == was && b%2 == 0 {
			best = b
		}
	}
	return sign | best
}

func TestRoundingToFloat8(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 8))
	for _, f := range float8Formats {
		check := func(x float64) {
			if got, want := f.from64(x), roundToFloat8(x, f.fraction, f.low, f.largest); got != want {
				t.Fatalf("%s: float64 %v becomes %#02x, want %#02x", f.name, x, got, want)
			}
			y := float32(x)
			if got, want := f.from32(y), roundToFloat8(float64(y), f.fraction, f.low, f.largest); got != want {
				t.Fatalf("%s: float32 %v becomes %#02x, want %#02x", f.name, y, got, want)
			}
		}
		for b := range f.largest {
			low, high := float8Value(b, f.fraction, f.low), float8Value(b+1, f.fraction, f.low)
			for _, x := range []float64{low, (low + high) / 2} {
				for _, y := range []float64{x, math.Nextafter(x, 0), math.Nextafter(x, 1e9), float64(math.Nextafter32(float32(x), 0)), float64(math.Nextafter32(float32(x), 1e9))} {
					check(y)
					check(-y)
				}
			}
		}
		for _, x := range []float64{0, math.Copysign(0, -1), 5e-324, 1e-45, 447, 448, 464, 465, 480, 57344, 61440, 61441, 65536, math.MaxFloat32, math.MaxFloat64, math.Inf(1), math.NaN()} {
			check(x)
			check(-x)
		}
		for range 20000 {
			check(math.Ldexp(rng.NormFloat64(), rng.IntN(40)-24))
			check(math.Float64frombits(rng.Uint64()))
		}
		for i := range int64(140000) {
			if got, want := f.fromInt(i-70000), roundToFloat8(float64(i-70000), f.fraction, f.low, f.largest); got != want {
				t.Fatalf("%s: %d becomes %#02x, want %#02x", f.name, i-70000, got, want)
			}
		}
		if got := f.fromUint(math.MaxUint64); got != f.largest {
			t.Errorf("%s: the largest uint64 becomes %#02x", f.name, got)
		}
		if got := f.fromInt(math.MinInt64); got != f.largest|0x80 {
			t.Errorf("%s: the smallest int64 becomes %#02x", f.name, got)
		}
	}
}

func TestFloat8OfSmallIntegers(t *testing.T) {
	for i := range 256 {
		if got, want := ToFloat8E4M3(int8(i)), ToFloat8E4M3(float64(int8(i))); got != want {
			t.Errorf("int8 %d becomes %v, want %v", int8(i), got, want)
		}
		if got, want := ToFloat8E5M2(uint8(i)), ToFloat8E5M2(float64(i)); got != want {
			t.Errorf("uint8 %d becomes %v, want %v", i, got, want)
		}
	}
}

func TestFloat8Prints(t *testing.T) {
	for want, got := range map[string]string{
		"4.5e+02": ToFloat8E4M3(1e9).String(), "-0.1": ToFloat8E4M3(-0.1).String(), "6e+04": ToFloat8E5M2(1e9).String(),
		"+Inf": Float8E5M2FromBits(0x7c).String(), "1.5": ToFloat8E5M2(1.5).String(),
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
