package byhand

import (
	"math"
	"testing"

	"quern.dev/bench/parity/kernels"
)

// Without interest, early exercise has no value, and a put costs as much as a European one.
func TestBinomialWithoutInterestIsBlackScholes(t *testing.T) {
	spots, strikes, years := []float32{10, 10, 20}, []float32{9, 12, 20}, []float32{1, 0.5, 2}
	got, calls, want := make([]float32, 3), make([]float32, 3), make([]float32, 3)
	Binomial(kernels.BinomialLeaves-1, 0, 0.3, spots, strikes, years, got)
	BlackScholes(0, 0.3, spots, strikes, years, calls, want)
	for i := range want {
		if math.Abs(float64(got[i]-want[i])) > 0.01 {
			t.Errorf("option %d costs %v, want about %v", i, got[i], want[i])
		}
	}
}

// The average of a price without drift is the first price, so an option with strike 0 pays
// that much on average.
func TestAsianAveragesAMartingale(t *testing.T) {
	const spot, deviation = 50, 0.02
	payoffs := make([]float32, 10_000)
	Asian(1, 4, spot, 0, -deviation*deviation/2, deviation, payoffs)
	var sum, squares float64
	for _, v := range payoffs {
		sum += float64(v)
		squares += float64(v-spot) * float64(v-spot)
	}
	n := float64(len(payoffs))
	if mean := sum / n; math.Abs(mean-spot) > 0.15 {
		t.Errorf("the mean is %v, want about %v", mean, spot)
	}
	// The variance of the mean of 16 steps of a random walk is 16*17*33/6 / 16^2 steps.
	want := spot * deviation * math.Sqrt(17*33/(6*16.))
	if got := math.Sqrt(squares / n); math.Abs(got-want) > 0.1*want {
		t.Errorf("the standard deviation is %v, want about %v", got, want)
	}
}
