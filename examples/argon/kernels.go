package main

import "quern.dev/kernel"

//go:generate go tool quern gen

// vector is a position, a velocity, or a force with half of the atom's potential energy.
type vector = kernel.Vec4[float32]

// box is a periodic cube of cells, each at least cutoff wide.
type box struct {
	Side  float32
	Cells int32 // along a side
}

// cutoff is the distance at which forces end. What follows are the potential and its
// derivative there: subtracted, they leave neither a step of the energy nor of the force.
const (
	cutoff    = 2.5
	cutoff6   = cutoff * cutoff * cutoff * cutoff * cutoff * cutoff
	potential = 4 * (1/cutoff6 - 1) / cutoff6
	slope     = 24 * (1 - 2/cutoff6) / cutoff6 / cutoff
)

// column returns the cell along one axis.
func (b box) column(x float32) int32 {
	return min(int32(x/b.Side*float32(b.Cells)), b.Cells-1)
}

// number returns the number of a cell.
func (b box) number(x, y, z int32) int32 { return (z*b.Cells+y)*b.Cells + x }

// wrapped returns x within the box, if it is at most a side outside.
func (b box) wrapped(x float32) float32 {
	if x < 0 {
		x += b.Side
	}
	if x >= b.Side {
		x -= b.Side
	}
	return x
}

// advance changes velocities by forces, and then positions by velocities.
//
//quern:kernel
func advance(t kernel.Thread, b box, kick, drift float32, force, velocity, position []vector) {
	if i := t.Global(); i < len(position) && i < len(velocity) && i < len(force) {
		f := force[i]
		f.W = 0
		v := velocity[i].AddScaled(kick, f)
		p := position[i].AddScaled(drift, v)
		p.X, p.Y, p.Z = b.wrapped(p.X), b.wrapped(p.Y), b.wrapped(p.Z)
		velocity[i], position[i] = v, p
	}
}

// locate finds the cell of each atom, and numbers the atoms.
//
//quern:kernel
func locate(t kernel.Thread, b box, position []vector, cell []int32, atom []uint32) {
	if i := t.Global(); i < len(cell) && i < len(position) && i < len(atom) {
		p := position[i]
		cell[i] = b.number(b.column(p.X), b.column(p.Y), b.column(p.Z))
		atom[i] = uint32(i)
	}
}

// attract adds up the forces on each atom. The atoms of cell c are those from first[c] to
// first[c+1]-1.
//
//quern:kernel
func attract(t kernel.Thread, b box, first []uint32, position, force []vector) {
	i := t.Global()
	if i >= len(position) || i >= len(force) {
		return
	}
	p, sum := position[i], vector{}
	cx, cy, cz := b.column(p.X), b.column(p.Y), b.column(p.Z)
	//quern:nounroll
	for k := range int32(27) {
		x, y, z := cx+k%3-1, cy+k/3%3-1, cz+k/9-1
		// Cells beyond a face are those at the other, seen from outside the box.
		from := p
		if x < 0 {
			x += b.Cells
			from.X += b.Side
		} else if x == b.Cells {
			x = 0
			from.X -= b.Side
		}
		if y < 0 {
			y += b.Cells
			from.Y += b.Side
		} else if y == b.Cells {
			y = 0
			from.Y -= b.Side
		}
		if z < 0 {
			z += b.Cells
			from.Z += b.Side
		} else if z == b.Cells {
			z = 0
			from.Z -= b.Side
		}
		cell := b.number(x, y, z)
		for j := first[cell]; j < first[cell+1]; j++ {
			q := position[j]
			dx, dy, dz := from.X-q.X, from.Y-q.Y, from.Z-q.Z
			square := dx*dx + dy*dy + dz*dz
			if square >= cutoff*cutoff || int(j) == i {
				continue
			}
			inverse := kernel.Rsqrt(square)
			inverse2 := inverse * inverse
			inverse6 := inverse2 * inverse2 * inverse2
			f := 24*inverse6*(2*inverse6-1)*inverse2 + slope*inverse
			sum.X += f * dx
			sum.Y += f * dy
			sum.Z += f * dz
			sum.W += 2*inverse6*(inverse6-1) - 0.5*(potential+slope*(square*inverse-cutoff))
		}
	}
	force[i] = sum
}

// quantities are what is summed over all atoms: the two energies, and the momentum.
const quantities = 5

// measure computes what each atom contributes to the sums: of quantity k to out[k*n+i].
//
//quern:kernel
func measure(t kernel.Thread, velocity, force []vector, out []float64) {
	if i, n := t.Global(), len(velocity); i < n && i < len(force) {
		x, y, z := float64(velocity[i].X), float64(velocity[i].Y), float64(velocity[i].Z)
		out[i] = (x*x + y*y + z*z) / 2
		out[n+i] = float64(force[i].W)
		out[2*n+i], out[3*n+i], out[4*n+i] = x, y, z
	}
}
