package kernel_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"quern.dev/kernel"
)

func ExampleClamp() {
	fmt.Println(kernel.Clamp(300, 0, 255), kernel.Clamp(-0.5, 0, 1), kernel.Saturate[float32](2))
	// Output: 255 0 1
}

func ExampleLerp() {
	fmt.Println(kernel.Lerp[float32](10, 20, 0.25))
	// Output: 12.5
}

func same[T kernel.Float](a, b T) bool {
	return math.Float64bits(float64(a)) == math.Float64bits(float64(b)) || a != a && b != b
}

var awkward = []float64{0, math.Copysign(0, -1), 1, -1, 0.5, -0.5, 1.5, -1.5, 2.5, -2.5, 3, 100, -100,
	1e-30, -1e-30, 1e30, -1e30, math.Inf(1), math.Inf(-1), math.NaN(),
	math.MaxFloat32, math.SmallestNonzeroFloat32, math.MaxFloat64, math.SmallestNonzeroFloat64}

func TestFunctionsOfOneArgumentAgreeWithPackageMath(t *testing.T) {
	for _, c := range []struct {
		name string
		f32  func(float32) float32
		f64  func(float64) float64
		want func(float64) float64
	}{
		{"Sqrt", kernel.Sqrt[float32], kernel.Sqrt[float64], math.Sqrt},
		{"Rsqrt", kernel.Rsqrt[float32], kernel.Rsqrt[float64], func(x float64) float64 { return 1 / math.Sqrt(x) }},
		{"Cbrt", kernel.Cbrt[float32], kernel.Cbrt[float64], math.Cbrt},
		{"Exp", kernel.Exp[float32], kernel.Exp[float64], math.Exp},
		{"Exp2", kernel.Exp2[float32], kernel.Exp2[float64], math.Exp2},
		{"Expm1", kernel.Expm1[float32], kernel.Expm1[float64], math.Expm1},
		{"Log", kernel.Log[float32], kernel.Log[float64], math.Log},
		{"Log2", kernel.Log2[float32], kernel.Log2[float64], math.Log2},
		{"Log10", kernel.Log10[float32], kernel.Log10[float64], math.Log10},
		{"Log1p", kernel.Log1p[float32], kernel.Log1p[float64], math.Log1p},
		{"Sin", kernel.Sin[float32], kernel.Sin[float64], math.Sin},
		{"Cos", kernel.Cos[float32], kernel.Cos[float64], math.Cos},
		{"Tan", kernel.Tan[float32], kernel.Tan[float64], math.Tan},
		{"Asin", kernel.Asin[float32], kernel.Asin[float64], math.Asin},
		{"Acos", kernel.Acos[float32], kernel.Acos[float64], math.Acos},
		{"Atan", kernel.Atan[float32], kernel.Atan[float64], math.Atan},
		{"Sinh", kernel.Sinh[float32], kernel.Sinh[float64], math.Sinh},
		{"Cosh", kernel.Cosh[float32], kernel.Cosh[float64], math.Cosh},
		{"Tanh", kernel.Tanh[float32], kernel.Tanh[float64], math.Tanh},
		{"Floor", kernel.Floor[float32], kernel.Floor[float64], math.Floor},
		{"Ceil", kernel.Ceil[float32], kernel.Ceil[float64], math.Ceil},
		{"Trunc", kernel.Trunc[float32], kernel.Trunc[float64], math.Trunc},
		{"Round", kernel.Round[float32], kernel.Round[float64], math.Round},
		{"RoundToEven", kernel.RoundToEven[float32], kernel.RoundToEven[float64], math.RoundToEven},
		{"Abs", kernel.Abs[float32], kernel.Abs[float64], math.Abs},
		{"Fract", kernel.Fract[float32], kernel.Fract[float64], nil},
		{"Saturate", kernel.Saturate[float32], kernel.Saturate[float64], func(x float64) float64 { return min(max(x, 0), 1) }},
	} {
		for _, x := range awkward {
			x32 := float64(float32(x))
			if c.want == nil { // Fract
				if got := c.f64(x); !same(got, x-math.Floor(x)) {
					t.Errorf("%s(%v) is %v", c.name, x, got)
				}
				continue
			}
			if got, want := c.f64(x), c.want(x); !same(got, want) {
				t.Errorf("%s[float64](%v) is %v, want %v", c.name, x, got, want)
			}
			got, want := c.f32(float32(x)), float32(c.want(x32))
			if c.name == "Rsqrt" && math.Nextafter32(want, got) == got {
				continue // it rounds twice
			}
			if !same(got, want) {
				t.Errorf("%s[float32](%v) is %v, want %v", c.name, x, got, want)
			}
		}
	}
}

func TestFunctionsOfTwoArgumentsAgreeWithPackageMath(t *testing.T) {
	for _, c := range []struct {
		name string
		f32  func(x, y float32) float32
		f64  func(x, y float64) float64
		want func(x, y float64) float64
	}{
		{"Hypot", kernel.Hypot[float32], kernel.Hypot[float64], math.Hypot},
		{"Pow", kernel.Pow[float32], kernel.Pow[float64], math.Pow},
		{"Atan2", kernel.Atan2[float32], kernel.Atan2[float64], math.Atan2},
		{"Mod", kernel.Mod[float32], kernel.Mod[float64], math.Mod},
		{"Copysign", kernel.Copysign[float32], kernel.Copysign[float64], math.Copysign},
		{"Min", kernel.Min[float32], kernel.Min[float64], func(x, y float64) float64 { return min(x, y) }},
		{"Max", kernel.Max[float32], kernel.Max[float64], func(x, y float64) float64 { return max(x, y) }},
	} {
		for _, x := range awkward {
			for _, y := range awkward {
				if got, want := c.f64(x, y), c.want(x, y); !same(got, want) {
					t.Errorf("%s[float64](%v, %v) is %v, want %v", c.name, x, y, got, want)
				}
				x32, y32 := float32(x), float32(y)
				if got, want := c.f32(x32, y32), float32(c.want(float64(x32), float64(y32))); !same(got, want) {
					t.Errorf("%s[float32](%v, %v) is %v, want %v", c.name, x, y, got, want)
				}
			}
		}
	}
	if sin, cos := kernel.SinCos[float32](1); sin != kernel.Sin[float32](1) || cos != kernel.Cos[float32](1) {
		t.Errorf("SinCos(1) is %v, %v", sin, cos)
	}
}

// TestFMAIsRoundedOnce uses operands whose exponents put the exact sum close to
// the midpoint between two float32 values.
func TestFMAIsRoundedOnce(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	number := func(low, high int) float32 {
		f := math.Ldexp(1+random.Float64(), low+random.IntN(high-low))
		if random.IntN(2) == 0 {
			f = -f
		}
		return float32(f)
	}
	check := func(x, y, z float32) {
		t.Helper()
		var p, s big.Float
		p.SetPrec(2000).Mul(big.NewFloat(float64(x)), big.NewFloat(float64(y)))
		want, _ := s.SetPrec(2000).Add(&p, big.NewFloat(float64(z))).Float32()
		if got := kernel.FMA(x, y, z); got != want {
			t.Fatalf("FMA(%x, %x, %x) is %x, want %x", x, y, z, got, want)
		}
	}
	for range 20000 {
		check(number(-10, 10), number(-10, 10), number(-60, 60))
		check(number(-80, -60), number(-80, -60), number(-149, -120))
		check(number(-10, 10), 1, number(-40, 0))
	}
	// The product is a tie. The summand, too small for float64, breaks it.
	check(1+0x1p-23, 1+0x1p-1, 0x1p-100)
	check(1+0x1p-23, 1+0x1p-1, -0x1p-100)
	check(0x1p-75, 0x1p-75, 0x1p-149)

	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	for _, c := range []struct{ x, y, z, want float32 }{
		{inf, 1, 1, inf}, {inf, 0, 1, nan}, {1, 1, -inf, -inf}, {inf, 1, -inf, nan},
		{math.MaxFloat32, 2, 0, inf}, {math.MaxFloat32, 2, -math.MaxFloat32, math.MaxFloat32},
		{nan, 1, 1, nan}, {1, -1, 1, 0},
	} {
		if got := kernel.FMA(c.x, c.y, c.z); !same(got, c.want) {
			t.Errorf("FMA(%v, %v, %v) is %v, want %v", c.x, c.y, c.z, got, c.want)
		}
	}
	if got := kernel.FMA(0x1p-600, 0x1p-400, 1.0); got != 1 {
		t.Errorf("FMA in float64 is %v", got)
	}
}

func BenchmarkMath(b *testing.B) {
	x := make([]float32, 1024)
	for i := range x {
		x[i] = 1 + float32(i)/1000
	}
	each := func(name string, f func(x []float32)) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				f(x)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(x)), "ns/call")
		})
	}
	each("Sqrt", func(x []float32) {
		for i, v := range x {
			x[i] = kernel.Sqrt(v) + 1
		}
	})
	each("math.Sqrt", func(x []float32) {
		for i, v := range x {
			x[i] = float32(math.Sqrt(float64(v))) + 1
		}
	})
	each("Floor", func(x []float32) {
		for i, v := range x {
			x[i] = kernel.Floor(v) + 1
		}
	})
	each("FMA", func(x []float32) {
		for i, v := range x {
			x[i] = kernel.FMA(v, 0.5, 1)
		}
	})
	each("Exp", func(x []float32) {
		for i, v := range x {
			x[i] = kernel.Exp(-v)
		}
	})
	each("Sin", func(x []float32) {
		for i, v := range x {
			x[i] = kernel.Sin(v) + 1
		}
	})
}
