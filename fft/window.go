package fft

import "math"

// A window tapers a signal to zero at its ends, so that a tone between two frequencies of the
// spectrum leaks less into others. Windows of this package are periodic, as spectral analysis
// needs them: point n would be point 0 again. The sum of a window is its gain: a tone of
// amplitude 1 has a peak of half that sum.

// Hann returns the Hann window of n points. Its sum is n/2.
func Hann(n int) []float64 { return cosines(n, 0.5, 0.5, 0) }

// Hamming returns the Hamming window of n points. Its sum is 0.54*n.
func Hamming(n int) []float64 { return cosines(n, 0.54, 0.46, 0) }

// Blackman returns the Blackman window of n points. Its sum is 0.42*n.
func Blackman(n int) []float64 { return cosines(n, 0.42, 0.5, 0.08) }

func cosines(n int, a, b, c float64) []float64 {
	w := make([]float64, max(0, n))
	for i := range w {
		x := 2 * math.Pi * float64(i) / float64(n)
		w[i] = a - b*math.Cos(x) + c*math.Cos(2*x)
	}
	return w
}
