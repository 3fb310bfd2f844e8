package random

import (
	"math"
	"math/big"
	"testing"
)

// ulps returns the distance of got from want in units in the last place of want, for
// numbers with the given number of significant bits.
func ulps(got, want float64, bits int) float64 {
	_, e := math.Frexp(want)
	return math.Abs(got-want) / math.Ldexp(1, e-bits)
}

// words calls f with words that cover the range evenly, near its ends and near powers
// of two.
func words(f func(w uint64)) {
	for k := range uint64(1 << 14) {
		f(k<<50 | k*0x9e3779b97f4a7c15>>14)
		f(k)
		f(-k - 1)
		f(k << 32)
		f(-k << 32)
		f(0xb504f333f9de6485 + k - 1<<13)
		f((0xb504f333f9de6485>>32 + k - 1<<13) << 32)
	}
	for k := range 64 {
		f(1 << k)
		f(1<<k - 1)
		f(math.MaxUint64 << k)
		f(1<<61 - 1<<k)
		f(1<<61 + 1<<k)
	}
}

// logOf returns -log((w+½)/2^bits) with float64 precision.
func logOf(w uint64, bits int) float64 {
	x := new(big.Float).SetPrec(100).SetUint64(w)
	x.Add(x, big.NewFloat(0.5))
	x.SetMantExp(x, -bits)
	rest := new(big.Float).Sub(big.NewFloat(1), x)
	if r, _ := rest.Float64(); r < 0.25 {
		return -math.Log1p(-r)
	}
	f, _ := x.Float64()
	return -math.Log(f)
}

func TestExponentialsAreAccurate(t *testing.T) {
	worst32, worst64 := 0.0, 0.0
	words(func(w uint64) {
		worst32 = max(worst32, ulps(float64(exponential32(uint32(w>>32))), logOf(w>>32, 32), 24))
		worst64 = max(worst64, ulps(exponential64(w), logOf(w, 64), 53))
		if exponential32(uint32(w>>32)) <= 0 || exponential64(w) <= 0 {
			t.Fatalf("the exponential of %#x is not positive", w)
		}
	})
	if worst32 > 2.5 || worst64 > 3.5 { // the reference has an error too
		t.Errorf("errors of %.2f and %.2f ULP", worst32, worst64)
	}
	if got := exponential32(math.MaxUint32); got != 0x1p-33 {
		t.Errorf("the smallest number is %g, want 2^-33", got)
	}
	if got := exponential64(0); got > 45.06 || got < 45.05 {
		t.Errorf("the greatest number is %g", got)
	}
}

func TestSinesAreAccurate(t *testing.T) {
	worst32, worst64 := 0.0, 0.0
	words(func(w uint64) {
		// Angles are reduced to an eighth of a turn exactly.
		q := (w + 1<<61) >> 62
		r := float64(int64(w-q<<62)) * 0x1p-64 * 2 * math.Pi
		s, c := math.Sincos(r)
		s, c = turned(uint32(q), s, c)
		sin, cos := sinCos64(w)
		worst64 = max(worst64, ulps(sin, s, 53), ulps(cos, c, 53))
		if w<<32 == 0 {
			sin, cos := sinCos32(uint32(w >> 32))
			worst32 = max(worst32, ulps(float64(sin), s, 24), ulps(float64(cos), c, 24))
		}
	})
	if worst32 > 2 || worst64 > 3 {
		t.Errorf("errors of %.2f and %.2f ULP", worst32, worst64)
	}
}

func TestNormalsAreAccurate(t *testing.T) {
	worst := 0.0
	words(func(w uint64) {
		u, v := uint32(w>>32), uint32(w)*0x9e3779b1
		x, y := normals32(u, v)
		s, c := sinCos64(uint64(v) << 32)
		radius := math.Sqrt(2 * logOf(uint64(u), 32))
		worst = max(worst, ulps(float64(x), radius*c, 24), ulps(float64(y), radius*s, 24))
	})
	if worst > 4 {
		t.Errorf("an error of %.2f ULP", worst)
	}
	if x, _ := normals32(0, 0); x > 6.77 || x < 6.76 {
		t.Errorf("the greatest number is %g", x)
	}
	if x, _ := normals64(0, 0); x > 9.5 || x < 9.4 {
		t.Errorf("the greatest number is %g", x)
	}
}

func TestLogarithmsAndPowersAreAccurate(t *testing.T) {
	worstLog, worstExp := 0.0, 0.0
	for k := range 1 << 16 {
		x := math.Ldexp(1+float64(k)/(1<<16), k%2000-1000)
		worstLog = max(worstLog, ulps(log64(x), math.Log(x), 53))
		y := (float64(k)/(1<<16) - 0.5) * 2 * 708
		worstExp = max(worstExp, ulps(exp64(y), math.Exp(y), 53))
	}
	if worstLog > 3 || worstExp > 3 {
		t.Errorf("errors of %.2f and %.2f ULP", worstLog, worstExp)
	}
	for x, want := range map[float64]float64{0: 1, 710: math.Inf(1), -709: 0, math.Inf(1): math.Inf(1), math.Inf(-1): 0} {
		if got := exp64(x); got != want {
			t.Errorf("exp64(%g) = %g, want %g", x, got, want)
		}
	}
}

func TestPoissonProbabilitiesAreAccurate(t *testing.T) {
	for _, mean := range []float64{10, 50, 1000, 1e6} {
		p := newPoisson(mean)
		for k := 0.0; k < 3*mean; k += math.Ceil(mean / 300) {
			lg, _ := math.Lgamma(k + 1)
			want := k*math.Log(mean) - mean - lg
			if got := p.log(k); math.Abs(got-want) > 1e-14*(mean+k*math.Log(mean)+lg) {
				t.Errorf("mean %g: the logarithm of the probability of %g is %.17g, want %.17g", mean, k, got, want)
			}
		}
	}
}

// Random123's known answer with the bits of pi.
func TestGroupsAreThoseOfPhilox(t *testing.T) {
	src := Source{Seed: 0x299f31d0a4093822, Stream: 0x0370734413198a2e}
	want := [4]uint32{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}
	if got := src.group(0x08d3243f6a88, 0x85a3); got != [4]uint32(want) {
		t.Errorf("got %x, want %x", got, want)
	}
}

// A rejected word is replaced by one that no other index uses.
func TestRejectionDoesNotShiftOtherIndices(t *testing.T) {
	src := Source{Seed: 1}
	const n = 1<<31 + 1
	rejected := 0
	for i := range uint64(1000) {
		w := src.Uint32(i)
		first := uint32(uint64(w) * n >> 32)
		if got := src.Uint32N(i, n); got != first {
			if uint32(uint64(w)*n) >= 1<<31-1 {
				t.Fatalf("index %d: word %#x needs no replacement", i, w)
			}
			rejected++
		}
	}
	if rejected < 400 || rejected > 600 {
		t.Errorf("%d of 1000 words were replaced", rejected)
	}
	for _, n := range []uint32{0, 1} {
		if got := src.Uint32N(0, n); got != 0 {
			t.Errorf("Uint32N(0, %d) = %d", n, got)
		}
	}
}
