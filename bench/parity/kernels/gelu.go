package kernels

import "quern.dev/kernel"

// gelu adds a bias to each column of a matrix and applies the Gaussian error linear unit,
// approximated with tanh (Hendrycks and Gimpel, 2016).
//
//quern:kernel block=256 also=unchecked
func gelu(t kernel.Thread, columns int, bias, in, out []float32) {
	i := t.Global()
	if i >= len(in) {
		return
	}
	x := in[i] + bias[i%columns]
	out[i] = 0.5 * x * (1 + kernel.Tanh(0.79788456*(x+0.044715*x*x*x)))
}
