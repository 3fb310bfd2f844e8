package devicemath

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestFastFunctions checks the relative error over arguments where the fast
// versions are meant to be used. In relative terms, 2**-22 is 2 to 4 ULP.
func TestFastFunctions(t *testing.T) {
	for _, c := range []struct {
		name      string
		f         func(float32) float32
		want      func(float64) float64
		low, high float64
		bound     float64
	}{
		{"Exp", FastExp, math.Exp, -10, 10, 0x1p-20},
		{"Exp2", FastExp2, math.Exp2, -120, 120, 0x1.6ap-22},
		{"Log", FastLog, math.Log, 2, 1e30, 0x1p-21},
		{"Log2", FastLog2, math.Log2, 2, 1e30, 0x1p-22},
		{"Log10", FastLog10, math.Log10, 2, 1e30, 0x1p-21},
		{"Pow(x, 1.5)", func(x float32) float32 { return FastPow(x, 1.5) }, func(x float64) float64 { return math.Pow(x, 1.5) }, 0.1, 100, 0x1p-18},
		{"Sin", FastSin, math.Sin, 0.1, 3, 0x1p-21},
		{"Cos", FastCos, math.Cos, -1.5, 1.5, 0x1p-21},
		{"Tan", FastTan, math.Tan, 0.1, 1.5, 0x1p-19},
		{"Sinh", FastSinh, math.Sinh, 1, 10, 0x1p-19},
		{"Cosh", FastCosh, math.Cosh, -10, 10, 0x1p-19},
		{"Tanh", FastTanh, math.Tanh, 0.5, 100, 0x1p-20},
		{"Rsqrt", FastRsqrt, func(x float64) float64 { return 1 / math.Sqrt(x) }, 1e-30, 1e30, 0x1.6ap-22},
	} {
		t.Run(c.name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(5, 6))
			worst, at := 0.0, float32(0)
			for range 100000 {
				x := float32(c.low + random.Float64()*(c.high-c.low))
				want := c.want(float64(x))
				if e := math.Abs(float64(c.f(x))/want - 1); e > worst {
					worst, at = e, x
				}
			}
			t.Logf("largest relative error 2**%.1f, at %v", math.Log2(worst), at)
			if worst > c.bound {
				t.Errorf("the relative error at %v is 2**%.1f, more than 2**%.1f", at, math.Log2(worst), math.Log2(c.bound))
			}
		})
	}
}

func TestFMAHasOneRounding(t *testing.T) {
	for _, c := range []struct{ x, y, z, want float32 }{
		{2, 3, 4, 10},
		// The product 1 + 2**-11 + 2**-24 is half an ULP above a float32, and
		// the summand breaks the tie beyond float64's reach.
		{1 + 0x1p-12, 1 + 0x1p-12, 0x1p-90, 1 + 0x1p-11 + 0x1p-23},
		{1 + 0x1p-12, 1 + 0x1p-12, -0x1p-90, 1 + 0x1p-11},
		{0x1p-75, 0x1p-75, 0, 0},
		{0x1p-75, 0x1p-75, 0x1p-149, 0x1p-148},
		{0x1.000002p-75, 0x1p-75, 0x1p-149, 0x1p-148},
		{1, -1, 1, 0},
	} {
		if got := FMA(c.x, c.y, c.z); got != c.want {
			t.Errorf("FMA(%x, %x, %x) is %x, want %x", c.x, c.y, c.z, got, c.want)
		}
	}
}
