package kernels

import "quern.dev/kernel"

// saxpy computes y = a*x + y.
//
//quern:kernel
func saxpy(t kernel.Thread, a float32, x, y []float32) {
	saxpyElement(t, a, x, y)
}

// saxpyUnchecked is saxpy without bounds checks.
//
//quern:kernel unchecked
func saxpyUnchecked(t kernel.Thread, a float32, x, y []float32) {
	saxpyElement(t, a, x, y)
}

func saxpyElement(t kernel.Thread, a float32, x, y []float32) {
	if i := t.Global(); i < len(y) {
		y[i] += a * x[i]
	}
}

// empty does nothing, so its launch measures the cost of a launch.
//
//quern:kernel
func empty(t kernel.Thread, a float32, n int, x, y []float32) {
}
