package kernels

import "quern.dev/kernel"

// The bits of a kernel's parameter post, which describe an epilogue.
const (
	BiasRow    = 1 << iota // bias[i] is added to row i
	BiasColumn             // bias[j] is added to column j
	ReLU
	GELU
	Residual // residual is added last
)

// finish applies the epilogue to an element of C; the element of the residual is at index at. The Gaussian error linear unit is the
// approximation with tanh (Hendrycks and Gimpel, 2016), v/2 * (1 + tanh(u)), in its equal form
// v / (1 + exp(-2u)), which does not cancel.
func finish[T Float](v T, row, column, post, at int, bias, residual []T) T {
	if post == 0 {
		return v
	}
	if post&BiasRow != 0 {
		v += bias[row]
	}
	if post&BiasColumn != 0 {
		v += bias[column]
	}
	if post&ReLU != 0 && v < 0 {
		v = 0
	}
	if post&GELU != 0 {
		v /= 1 + kernel.Exp(-1.5957691216057308*(v+0.044715*v*v*v))
	}
	if post&Residual != 0 {
		v += residual[at]
	}
	return v
}
