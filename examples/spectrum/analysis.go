package main

import (
	"context"
	"errors"
	"fmt"
	"math"

	"quern.dev/fft"
	"quern.dev/gpu"
)

// threshold is the least amplitude of a tone. The noise in one element of the spectrum has
// an amplitude of about 2*noiseLevel/sqrt(points), a twelfth of this.
const threshold = 0.04

// analysis is what the device has computed from a signal.
type analysis struct {
	amplitude, phase []float32 // by element of the spectrum
	roundTrip        []float32 // the signal, from all elements
	restored         []float32 // the signal, from the tones alone
}

// analyse transforms a signal, and transforms its spectrum back: once as it is, and once
// without what is not a tone.
func analyse(ctx context.Context, dev *gpu.Device, signal []float32) (a *analysis, err error) {
	plan, err := fft.NewRealPlan[float32, complex64](dev, fft.Desc{Shape: []int{points}})
	if err != nil {
		return nil, err
	}
	defer closeWith(&err, plan.Close)
	s := dev.DefaultStream()
	x, err := gpu.Upload(s, signal)
	if err != nil {
		return nil, err
	}
	defer closeWith(&err, x.Close)
	const elements = points/2 + 1
	spectrum, err := gpu.Alloc[complex64](dev, elements)
	if err != nil {
		return nil, err
	}
	defer closeWith(&err, spectrum.Close)
	magnitude, err := gpu.Alloc[float32](dev, elements)
	if err != nil {
		return nil, err
	}
	defer closeWith(&err, magnitude.Close)
	phase, err := gpu.Alloc[float32](dev, elements)
	if err != nil {
		return nil, err
	}
	defer closeWith(&err, phase.Close)
	back, err := gpu.Alloc[float32](dev, points)
	if err != nil {
		return nil, err
	}
	defer closeWith(&err, back.Close)

	a = &analysis{amplitude: make([]float32, elements), phase: make([]float32, elements),
		roundTrip: make([]float32, points), restored: make([]float32, points)}
	steps := []func() error{
		func() error { return plan.Forward(s, spectrum, x) },
		func() error { return fft.Polar(s, magnitude, phase, spectrum) },
		func() error { return gpu.Download(ctx, s, a.amplitude, magnitude) },
		func() error { return gpu.Download(ctx, s, a.phase, phase) },
		func() error { return plan.Inverse(s, back, spectrum) },
		func() error { return gpu.Download(ctx, s, a.roundTrip, back) },
		func() error {
			return LaunchKeep(s, gpu.Linear(elements), threshold*points/2, magnitude, spectrum)
		},
		func() error { return plan.Inverse(s, back, spectrum) },
		func() error { return gpu.Download(ctx, s, a.restored, back) },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return nil, err
		}
	}
	for i := range a.amplitude {
		a.amplitude[i] *= 2. / points
	}
	return a, nil
}

// found returns the tones of the spectrum, by frequency.
func (a *analysis) found() []tone {
	var found []tone
	frequencies := fft.RealFrequencies(points, 1./rate)
	for i, v := range a.amplitude {
		if v >= threshold {
			found = append(found, tone{frequencies[i], float64(v), float64(a.phase[i])})
		}
	}
	return found
}

// verify compares the analysis with the tones that the signal was made of.
func (a *analysis) verify(clean []float64, signal []float32) error {
	found := a.found()
	if len(found) != len(tones) {
		return fmt.Errorf("verify: %d tones, want %d", len(found), len(tones))
	}
	// Five standard deviations of what the noise adds to an element.
	const tolerance = 5 * noiseLevel * 1.42 / 126 // sqrt(2), sqrt(points)
	for i, want := range tones {
		got := found[i]
		turn := math.Remainder(got.phase-want.phase, 2*math.Pi)
		if got.frequency != want.frequency || math.Abs(got.amplitude-want.amplitude) > tolerance || math.Abs(turn)*want.amplitude > tolerance {
			return fmt.Errorf("verify: found %+v, want %+v", got, want)
		}
	}
	if e := relative(a.roundTrip, wide(signal)); e > 1e-6 {
		return fmt.Errorf("verify: relative error there and back %.2g", e)
	}
	if e := relative(a.restored, clean); e > 0.02 {
		return fmt.Errorf("verify: relative error of the restored signal %.2g", e)
	}
	return nil
}

// relative returns the relative root mean square error.
func relative(got []float32, want []float64) float64 {
	var d, sum float64
	for i, w := range want {
		d += (float64(got[i]) - w) * (float64(got[i]) - w)
		sum += w * w
	}
	return math.Sqrt(d / sum)
}

func wide(x []float32) []float64 {
	w := make([]float64, len(x))
	for i, v := range x {
		w[i] = float64(v)
	}
	return w
}

// closeWith adds the error of a Close to the result of the function that defers it.
func closeWith(err *error, f func() error) { *err = errors.Join(*err, f()) }
