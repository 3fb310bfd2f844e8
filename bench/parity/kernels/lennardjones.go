package kernels

import "quern.dev/kernel"

// lennardJones computes the force on each particle, and its potential energy as W, due to
// all particles within the cutoff, in units of the potential. The particles are in a
// periodic box of cells x cells x cells cells with the given edge, which is not below the
// cutoff. They are sorted by cell: starts has the first particle of each cell.
//
//quern:kernel block=128 also=unchecked
func lennardJones(t kernel.Thread, cells int, edge, cutoff float32, starts []int32, positions, forces []kernel.Vec4[float32]) {
	i := t.Global()
	if i >= len(positions) {
		return
	}
	me := positions[i]
	x, y, z := int(me.X/edge), int(me.Y/edge), int(me.Z/edge)
	box := float32(cells) * edge
	var force kernel.Vec4[float32]
	for dz := -1; dz <= 1; dz++ {
		for dy := -1; dy <= 1; dy++ {
			for dx := -1; dx <= 1; dx++ {
				cx, cy, cz := (x+dx+cells)%cells, (y+dy+cells)%cells, (z+dz+cells)%cells
				cell := (cz*cells+cy)*cells + cx
				for j := starts[cell]; j < starts[cell+1]; j++ {
					other := positions[j]
					rx := nearest(me.X-other.X, box)
					ry := nearest(me.Y-other.Y, box)
					rz := nearest(me.Z-other.Z, box)
					square := rx*rx + ry*ry + rz*rz
					if square >= cutoff*cutoff || int(j) == i {
						continue
					}
					inverse := 1 / square
					sixth := inverse * inverse * inverse
					f := 24 * inverse * sixth * (2*sixth - 1)
					force.X += f * rx
					force.Y += f * ry
					force.Z += f * rz
					force.W += 4 * sixth * (sixth - 1)
				}
			}
		}
	}
	forces[i] = force
}

// nearest returns the shortest of the equivalent distances in a periodic box.
func nearest(d, box float32) float32 {
	if d > box/2 {
		return d - box
	}
	if d < -box/2 {
		return d + box
	}
	return d
}
