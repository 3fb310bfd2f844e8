package main

import "quern.dev/kernel"

//go:generate go tool quern gen

// keep sets the elements of a spectrum to zero whose magnitude is below the threshold.
//
//quern:kernel
func keep(t kernel.Thread, threshold float32, magnitude []float32, spectrum []complex64) {
	if i := t.Global(); i < len(spectrum) && i < len(magnitude) && magnitude[i] < threshold {
		spectrum[i] = 0
	}
}
