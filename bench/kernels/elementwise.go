package kernels

import "quern.dev/kernel"

// duplicate copies x to y.
//
//quern:kernel
func duplicate(t kernel.Thread, x, y []float32) {
	if i := t.Global(); i < len(y) {
		y[i] = x[i]
	}
}

// scale multiplies x by a.
//
//quern:kernel
func scale(t kernel.Thread, a float32, x []float32) {
	if i := t.Global(); i < len(x) {
		x[i] *= a
	}
}

// add computes z = x + y.
//
//quern:kernel
func add(t kernel.Thread, x, y, z []float32) {
	if i := t.Global(); i < len(z) {
		z[i] = x[i] + y[i]
	}
}

// addDoubles is add in float64.
//
//quern:kernel
func addDoubles(t kernel.Thread, x, y, z []float64) {
	if i := t.Global(); i < len(z) {
		z[i] = x[i] + y[i]
	}
}

// invertBytes computes y = 255 - x.
//
//quern:kernel
func invertBytes(t kernel.Thread, x, y []uint8) {
	if i := t.Global(); i < len(y) {
		y[i] = 255 - x[i]
	}
}

// mixWords computes the rounded mean of x and y.
//
//quern:kernel
func mixWords(t kernel.Thread, x, y, z []uint16) {
	if i := t.Global(); i < len(z) {
		z[i] = uint16((uint32(x[i]) + uint32(y[i]) + 1) / 2)
	}
}

// widenBytes converts bytes to numbers from 0 to 1.
//
//quern:kernel
func widenBytes(t kernel.Thread, x []uint8, y []float32) {
	if i := t.Global(); i < len(y) {
		y[i] = float32(x[i]) * (1.0 / 255)
	}
}
