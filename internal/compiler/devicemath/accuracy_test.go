package devicemath

import (
	"flag"
	"math"
	"math/rand/v2"
	"testing"
)

var (
	exhaustive = flag.Bool("exhaustive", false, "test the functions of one argument for every float32")
	stride     = flag.Uint("stride", 4093, "test the functions of one argument for every so many bit patterns")
)

// maxULP is the error bound documented in package kernel.
const maxULP = 2

// ulps returns the error of got in units in the last place. want approximates the exact
// result. A wrong sign, NaN or infinity is an infinite error.
func ulps(got float32, want float64) float64 {
	if want != want || got != got {
		if want != want && got != got {
			return 0
		}
		return math.Inf(1)
	}
	if math.Signbit(want) != math.Signbit(float64(got)) {
		return math.Inf(1)
	}
	if math.IsInf(want, 0) && !math.IsInf(float64(got), 0) {
		return math.Inf(1)
	}
	limit := func(x float64) float64 { return min(max(x, -0x1p128), 0x1p128) }
	_, e := math.Frexp(want)
	e = min(max(e-1, -126), 127)
	return math.Abs(limit(float64(got))-limit(want)) / math.Ldexp(1, e-23)
}

var unary = []struct {
	name string
	f    func(float32) float32
	want func(float64) float64
	max  float64
}{
	{"Exp", Exp, math.Exp, maxULP},
	{"Exp2", Exp2, math.Exp2, maxULP},
	{"Expm1", Expm1, math.Expm1, maxULP},
	{"Log", Log, math.Log, maxULP},
	{"Log2", Log2, log2, maxULP},
	{"Log10", Log10, func(x float64) float64 { return math.Log(x) / math.Ln10 }, maxULP},
	{"Log1p", Log1p, math.Log1p, maxULP},
	{"Sin", Sin, math.Sin, maxULP},
	{"Cos", Cos, math.Cos, maxULP},
	{"Tan", Tan, math.Tan, maxULP},
	{"Asin", Asin, math.Asin, maxULP},
	{"Acos", Acos, math.Acos, maxULP},
	{"Atan", Atan, math.Atan, maxULP},
	{"Sinh", Sinh, math.Sinh, maxULP},
	{"Cosh", Cosh, math.Cosh, maxULP},
	{"Tanh", Tanh, math.Tanh, maxULP},
	{"Cbrt", Cbrt, math.Cbrt, maxULP},
	{"Rsqrt", Rsqrt, func(x float64) float64 { return 1 / math.Sqrt(x) }, maxULP},
	{"Round", Round, math.Round, 0},
	{"Sqrt", Sqrt, math.Sqrt, 0.5},
	{"Floor", Floor, math.Floor, 0},
	{"Ceil", Ceil, math.Ceil, 0},
	{"Trunc", Trunc, math.Trunc, 0},
	{"RoundToEven", RoundToEven, math.RoundToEven, 0},
	{"Abs", Abs, math.Abs, 0},
}

// log2 is math.Log2 without the cancellation of its sum near x = 1.
func log2(x float64) float64 {
	if 0.5 < x && x < 2 {
		return math.Log(x) / math.Ln2
	}
	return math.Log2(x)
}

// exactly lists arguments that all functions are tested at, also with negative sign.
var exactly = []float32{
	0, math.SmallestNonzeroFloat32, 0x1p-127, 0x1.fffffcp-127, 0x1p-126, 0x1p-64, 0x1p-24, 0x1p-12,
	0.25, 0.5, 0x1.fffffep-1, 1, 0x1.000002p0, 1.5, 2, 2.5, 3, 4, 8, 10, 11, 100, 1000,
	0x1.921fb6p-1, 0x1.921fb6p0, 0x1.921fb6p1, 88, 88.72283, 88.72284, 89, 103.97, 104, 127, 127.99999, 128, 149, 150, 151,
	0x1p16, 0x1.fffffep15, 0x1p22, 0x1p23, 0x1.000002p23, 0x1.fffffep23, 0x1p24, 0x1p31, 0x1p32, 0x1p63, 0x1p64, 0x1p100, 0x1p127,
	math.MaxFloat32, float32(math.Inf(1)), float32(math.NaN()),
}

func TestFunctionsOfOneArgument(t *testing.T) {
	step := uint64(*stride)
	if *exhaustive {
		step = 1
	}
	for _, c := range unary {
		t.Run(c.name, func(t *testing.T) {
			worst, at := -1.0, float32(0)
			check := func(x float32) {
				if e := ulps(c.f(x), c.want(float64(x))); e > worst {
					worst, at = e, x
				}
			}
			for _, x := range exactly {
				check(x)
				check(-x)
			}
			for bits := uint64(0); bits < 1<<32; bits += step {
				check(math.Float32frombits(uint32(bits)))
			}
			t.Logf("largest error %.3f ULP, at %x", worst, at)
			if worst > c.max {
				t.Errorf("%s(%x) is %x, want %x, an error of %.3f ULP", c.name, at, c.f(at), c.want(float64(at)), worst)
			}
		})
	}
}

// power64 is the reference for Pow. Package math multiplies the errors of its
// repeated squaring; this one's are below 2**-44.
func power64(x, y float64) float64 {
	if x > 0 && x != 1 && !math.IsInf(x, 0) && !math.IsInf(y, 0) {
		return math.Exp(y * math.Log(x))
	}
	return math.Pow(x, y)
}

var binary = []struct {
	name string
	f    func(x, y float32) float32
	want func(x, y float64) float64
	max  float64
}{
	{"Pow", Pow, power64, maxULP},
	{"Atan2", Atan2, math.Atan2, maxULP},
	{"Hypot", Hypot, math.Hypot, maxULP},
	{"Mod", Mod, math.Mod, 0},
	{"Copysign", Copysign, math.Copysign, 0},
}

func TestFunctionsOfTwoArguments(t *testing.T) {
	for _, c := range binary {
		t.Run(c.name, func(t *testing.T) {
			worst, atX, atY := -1.0, float32(0), float32(0)
			check := func(x, y float32) {
				if e := ulps(c.f(x, y), c.want(float64(x), float64(y))); e > worst {
					worst, atX, atY = e, x, y
				}
			}
			for _, x := range exactly {
				for _, y := range exactly {
					check(x, y)
					check(-x, y)
					check(x, -y)
					check(-x, -y)
				}
			}
			random := rand.New(rand.NewPCG(3, 4))
			rounds := 1 << 32 / uint64(*stride) / 4
			near := func(x float32, bits int) float32 {
				return math.Float32frombits(math.Float32bits(x) + random.Uint32()>>(32-bits) - 1<<(bits-1))
			}
			for range rounds {
				// Any bits; sizes within some powers of two; close to 1 and,
				// for Pow, with results across the whole range.
				check(math.Float32frombits(random.Uint32()), math.Float32frombits(random.Uint32()))
				x, y := near(1, 27), near(1, 27)
				check(x, y)
				check(y, -x)
				check(-x, float32(random.IntN(200)-100))
				if l := math.Log(float64(x)); l != 0 {
					check(x, float32((random.Float64()*194-104)/l))
				}
				x = near(1, 8+random.IntN(16))
				if l := math.Log(float64(x)); l != 0 {
					check(x, float32((random.Float64()*194-104)/l))
				}
			}
			t.Logf("largest error %.3f ULP, at %x, %x", worst, atX, atY)
			if worst > c.max {
				t.Errorf("%s(%x, %x) is %x, want %x, an error of %.3f ULP", c.name, atX, atY, c.f(atX, atY), c.want(float64(atX), float64(atY)), worst)
			}
		})
	}
}
