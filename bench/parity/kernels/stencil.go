package kernels

import "quern.dev/kernel"

// StencilWeights are the weights of a point itself, and of its neighbors across a face, an
// edge and a corner.
type StencilWeights [4]float32

// stencil writes to each inner point of an nx x ny x nz grid the weighted sum of the 27
// points around it.
//
//quern:kernel block=32x4x2
func stencil(t kernel.Thread, weights StencilWeights, nx, ny, nz int, in, out []float32) {
	stencilPoint(t, weights, nx, ny, nz, in, out)
}

// stencilUnchecked is stencil without bounds checks.
//
//quern:kernel block=32x4x2 unchecked
func stencilUnchecked(t kernel.Thread, weights StencilWeights, nx, ny, nz int, in, out []float32) {
	stencilPoint(t, weights, nx, ny, nz, in, out)
}

func stencilPoint(t kernel.Thread, weights StencilWeights, nx, ny, nz int, in, out []float32) {
	x, y, z := t.Global3()
	if x < 1 || x >= nx-1 || y < 1 || y >= ny-1 || z < 1 || z >= nz-1 {
		return
	}
	var sum float32
	for dz := -1; dz <= 1; dz++ {
		for dy := -1; dy <= 1; dy++ {
			for dx := -1; dx <= 1; dx++ {
				sum += weights[dx*dx+dy*dy+dz*dz] * in[((z+dz)*ny+y+dy)*nx+x+dx]
			}
		}
	}
	out[(z*ny+y)*nx+x] = sum
}
