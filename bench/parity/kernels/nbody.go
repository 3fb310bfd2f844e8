package kernels

import "quern.dev/kernel"

// BodyTile is the number of bodies that a block of nbody has in shared memory at
// a time.
const BodyTile = 256

// Softening is the square of the distance within which bodies attract each other
// less.
const Softening = 1e-3

// Body is a point mass.
type Body struct{ X, Y, Z, Mass float32 }

// Acceleration is that of a body, with a gravitational constant of 1.
type Acceleration struct{ X, Y, Z float32 }

// nbody computes the acceleration of each body by all of them.
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
	i, tx := t.Global(), t.ThreadIdx.X
	var me Body
	if i < len(bodies) {
		me = bodies[i]
	}
	var a Acceleration
	for first := 0; first < len(bodies); first += BodyTile {
		var other Body // without mass beyond the last
		if j := first + tx; j < len(bodies) {
			other = bodies[j]
		}
		tile[tx] = other
		t.Sync()
		for j := range BodyTile {
			b := tile[j]
			dx, dy, dz := b.X-me.X, b.Y-me.Y, b.Z-me.Z
			inverse := kernel.Rsqrt(dx*dx + dy*dy + dz*dz + Softening)
			f := b.Mass * inverse * inverse * inverse
			a.X += f * dx
			a.Y += f * dy
			a.Z += f * dz
		}
		t.Sync()
	}
	if i < len(bodies) {
		accelerations[i] = a
	}
}
