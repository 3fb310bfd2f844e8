package kernel

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestSinCosOfTurns(t *testing.T) {
	words := []uint32{0, 1, 1<<29 - 1, 1 << 29, 1<<29 + 1, 1 << 30, 3 << 29, 1 << 31, 3 << 30, 7 << 29, math.MaxUint32}
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 100_000 {
		words = append(words, rnd.Uint32())
	}
	for _, w := range words {
		sin, cos := sinCosOfTurns(w)
		wantSin, wantCos := math.Sincos(2 * math.Pi * float64(w) * 0x1p-32)
		if math.Abs(float64(sin)-wantSin) > 0x1p-23 || math.Abs(float64(cos)-wantCos) > 0x1p-23 {
			t.Fatalf("%#x: %v, %v, want %v, %v", w, sin, cos, wantSin, wantCos)
		}
	}
}
