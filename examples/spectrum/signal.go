package main

import (
	"math"
	"math/rand/v2"
)

const (
	rate   = 8000 // samples per second
	points = 16000

	noiseLevel = 0.2 // standard deviation
)

// tone is a cosine: amplitude * cos(2*pi*frequency*time + phase).
type tone struct{ frequency, amplitude, phase float64 }

// tones are what the signal consists of. A measurement takes two seconds, so their
// frequencies, multiples of half a hertz, are elements of the spectrum.
var tones = []tone{
	{110, 1.0, 0.5},
	{261.5, 0.5, -1.2},
	{440, 0.8, 2.0},
	{1234.5, 0.1, 0},
	{3000, 0.3, 3.0},
}

// signals returns the sum of the tones, and the same with noise.
func signals() (clean []float64, noisy []float32) {
	r := rand.New(rand.NewPCG(1, 2))
	clean, noisy = make([]float64, points), make([]float32, points)
	for i := range clean {
		for _, x := range tones {
			clean[i] += x.at(float64(i) / rate)
		}
		noisy[i] = float32(clean[i] + noiseLevel*r.NormFloat64())
	}
	return clean, noisy
}

func (x tone) at(time float64) float64 {
	return x.amplitude * math.Cos(2*math.Pi*x.frequency*time+x.phase)
}
