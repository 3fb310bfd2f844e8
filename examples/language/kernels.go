package language

import "quern.dev/kernel"

// scale multiplies the elements of x by a.
//
//quern:kernel
func scale(t kernel.Thread, a float32, x []float32) {
	if i := t.Global(); i < len(x) {
		x[i] *= a
	}
}
