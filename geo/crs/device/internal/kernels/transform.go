package kernels

import (
	"quern.dev/geo/internal/projection"
	"quern.dev/kernel"
)

// transform converts points in place, a thread per point. Without heights, z is empty and they are 0.
//
//quern:kernel
func transform(t kernel.Thread, o projection.Operation, subgrids []projection.Subgrid, nodes []float32, x, y, z []float64) {
	i := t.Global()
	if i >= len(x) || i >= len(y) {
		return
	}
	h := 0.0
	if i < len(z) {
		h = z[i]
	}
	x[i], y[i], h = o.Apply(subgrids, nodes, x[i], y[i], h)
	if i < len(z) {
		z[i] = h
	}
}
