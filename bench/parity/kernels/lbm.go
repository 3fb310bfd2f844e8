package kernels

import "quern.dev/kernel"

// Directions is the number of velocities of the D2Q9 lattice.
const Directions = 9

// Velocities and weights of the lattice.
var (
	latticeX      = [Directions]int{0, 1, 0, -1, 0, 1, -1, -1, 1}
	latticeY      = [Directions]int{0, 0, 1, 0, -1, 1, 1, -1, -1}
	latticeWeight = [Directions]float32{4. / 9, 1. / 9, 1. / 9, 1. / 9, 1. / 9, 1. / 36, 1. / 36, 1. / 36, 1. / 36}
)

// lbm computes one step of the lattice Boltzmann method (D2Q9, BGK collisions with
// relaxation omega) on a w x h torus: it streams from in and collides. The nine
// populations are stored as consecutive planes.
//
//quern:kernel block=128
func lbm(t kernel.Thread, w, h int, omega float32, in, out []float32) {
	lbmCell(t, w, h, omega, in, out)
}

// lbmUnchecked is lbm without bounds checks.
//
//quern:kernel block=128 unchecked
func lbmUnchecked(t kernel.Thread, w, h int, omega float32, in, out []float32) {
	lbmCell(t, w, h, omega, in, out)
}

func lbmCell(t kernel.Thread, w, h int, omega float32, in, out []float32) {
	x, y := t.Global2()
	if x >= w || y >= h {
		return
	}
	var f [Directions]float32
	var density, ux, uy float32
	for i := range Directions {
		sx, sy := x-latticeX[i], y-latticeY[i]
		if sx < 0 {
			sx += w
		}
		if sx >= w {
			sx -= w
		}
		if sy < 0 {
			sy += h
		}
		if sy >= h {
			sy -= h
		}
		f[i] = in[(i*h+sy)*w+sx]
		density += f[i]
		ux += float32(latticeX[i]) * f[i]
		uy += float32(latticeY[i]) * f[i]
	}
	ux /= density
	uy /= density
	square := 1.5 * (ux*ux + uy*uy)
	for i := range Directions {
		u := 3 * (float32(latticeX[i])*ux + float32(latticeY[i])*uy)
		equilibrium := latticeWeight[i] * density * (1 + u + 0.5*u*u - square)
		out[(i*h+y)*w+x] = f[i] + omega*(equilibrium-f[i])
	}
}
