package kernels

import "quern.dev/kernel"

const (
	// BodyTile is the number of bodies in shared memory at a time, and of threads per
	// block.
	BodyTile = 256

	// BodiesEach is the number of bodies whose accelerations a thread computes. One read
	// of shared memory serves all of them.
	BodiesEach = 2
)

// Softening is the square of the distance below which bodies attract each other less.
const Softening = 1e-3

// Body is a point mass.
type Body struct{ X, Y, Z, Mass float32 }

// Acceleration is the acceleration of a body, with a gravitational constant of 1.
type Acceleration struct{ X, Y, Z float32 }

// nbody computes the acceleration of each body due to all bodies.
//
//quern:kernel block=256
func nbody(t kernel.Thread, bodies []Body, accelerations []Acceleration) {
	nbodyAttract(t, bodies, accelerations)
}

// nbodyUnchecked is nbody without bounds checks.
//
//quern:kernel block=256 unchecked
func nbodyUnchecked(t kernel.Thread, bodies []Body, accelerations []Acceleration) {
	nbodyAttract(t, bodies, accelerations)
}

func nbodyAttract(t kernel.Thread, bodies []Body, accelerations []Acceleration) {
	tile := kernel.Shared[[BodyTile]Body](t)
	tx := t.ThreadIdx.X
	mine := t.BlockIdx.X*BodyTile*BodiesEach + tx
	var me [BodiesEach]Body
	for k := range me {
		if i := mine + k*BodyTile; i < len(bodies) {
			me[k] = bodies[i]
		}
	}
	var a [BodiesEach]Acceleration
	for first := 0; first < len(bodies); first += BodyTile {
		var other Body // zero mass past the last body
		if j := first + tx; j < len(bodies) {
			other = bodies[j]
		}
		tile[tx] = other
		t.Sync()
		for j := range BodyTile {
			b := tile[j]
			for k := range me {
				dx, dy, dz := b.X-me[k].X, b.Y-me[k].Y, b.Z-me[k].Z
				inverse := kernel.Rsqrt(Softening + dx*dx + dy*dy + dz*dz)
				f := b.Mass * inverse * inverse * inverse
				a[k].X += f * dx
				a[k].Y += f * dy
				a[k].Z += f * dz
			}
		}
		t.Sync()
	}
	for k := range a {
		if i := mine + k*BodyTile; i < len(bodies) {
			accelerations[i] = a[k]
		}
	}
}
