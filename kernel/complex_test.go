package kernel

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestComplexDivisionIsGos(t *testing.T) {
	special := []float64{0, math.Copysign(0, -1), 1, -1, 2.5, math.MaxFloat64, -math.MaxFloat64, 5e-324, math.Inf(1), math.Inf(-1), math.NaN()}
	var parts []complex128
	for _, re := range special {
		for _, im := range special {
			parts = append(parts, complex(re, im))
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		parts = append(parts, complex(math.Ldexp(r.NormFloat64(), r.IntN(200)-100), math.Ldexp(r.NormFloat64(), r.IntN(200)-100)))
	}
	same := func(x, y float64) bool {
		return math.Float64bits(x) == math.Float64bits(y) || x != x && y != y
	}
	for _, n := range parts {
		for _, m := range parts {
			got, want := divideComplex(n, m), n/m
			if !same(real(got), real(want)) || !same(imag(got), imag(want)) {
				t.Fatalf("%v / %v = %v, want %v", n, m, got, want)
			}
		}
	}
}
