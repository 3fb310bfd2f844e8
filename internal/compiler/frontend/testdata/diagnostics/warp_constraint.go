package p

import "quern.dev/kernel"

//quern:kernel
func wrongConstraint(t kernel.Thread, x []float32) {
	x[0] = kernel.WarpReduceAnd(t, x[0])
}
