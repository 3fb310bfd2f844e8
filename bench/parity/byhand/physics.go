package byhand

import (
	"quern.dev/bench/parity/kernels"
	"quern.dev/kernel"
)

// LennardJones computes the forces between particles in a periodic box of cells, cell by
// cell.
func LennardJones(cells int, edge, cutoff float32, starts []int32, positions, forces []kernel.Vec4[float32]) {
	box := float32(cells) * edge
	parallel(cells*cells, func(lo, hi int) {
		for row := lo; row < hi; row++ {
			y, z := row%cells, row/cells
			for x := range cells {
				cell := row*cells + x
				first, end := starts[cell], starts[cell+1]
				mine, sums := positions[first:end], forces[first:end]
				clear(sums)
				for dz := -1; dz <= 1; dz++ {
					for dy := -1; dy <= 1; dy++ {
						for dx := -1; dx <= 1; dx++ {
							cx, shiftX := wrap(x+dx, cells, box)
							cy, shiftY := wrap(y+dy, cells, box)
							cz, shiftZ := wrap(z+dz, cells, box)
							other := (cz*cells+cy)*cells + cx
							for i, me := range mine {
								sum := &sums[i]
								for j := starts[other]; j < starts[other+1]; j++ {
									if int(j) == int(first)+i {
										continue
									}
									p := &positions[j]
									rx, ry, rz := me.X-p.X-shiftX, me.Y-p.Y-shiftY, me.Z-p.Z-shiftZ
									square := rx*rx + ry*ry + rz*rz
									if square >= cutoff*cutoff {
										continue
									}
									inverse := 1 / square
									sixth := inverse * inverse * inverse
									f := 24 * inverse * sixth * (2*sixth - 1)
									sum.X += f * rx
									sum.Y += f * ry
									sum.Z += f * rz
									sum.W += 4 * sixth * (sixth - 1)
								}
							}
						}
					}
				}
			}
		}
	})
}

// wrap returns the number of a cell of a periodic box, and the position of the box that
// contains it.
func wrap(cell, cells int, box float32) (int, float32) {
	switch {
	case cell < 0:
		return cell + cells, -box
	case cell >= cells:
		return cell - cells, box
	default:
		return cell, 0
	}
}

// Ising updates the spins of one color of a checkerboard with the Metropolis algorithm.
func Ising(w, h, color int, seed, step uint32, chances [5]float32, spins []int8) {
	parallel(h, func(lo, hi int) {
		for y := lo; y < hi; y++ {
			above, here, below := spins[(y+h-1)%h*w:][:w], spins[y*w:][:w], spins[(y+1)%h*w:][:w]
			update := func(x int, random uint32) {
				left, right := x-1, x+1
				if left < 0 {
					left = w - 1
				}
				if right == w {
					right = 0
				}
				product := here[x] * (above[x] + below[x] + here[left] + here[right])
				if float32(random>>8)*0x1p-24 < chances[(product+4)/2] {
					here[x] = -here[x]
				}
			}
			first := (y + color) & 1
			for i := range w / 8 {
				a, b, c, d := philox(uint32(y*w+i), step, seed)
				x := 8*i + first
				update(x, a)
				update(x+2, b)
				update(x+4, c)
				update(x+6, d)
			}
		}
	})
}

// Wave computes one time step of the wave equation.
func Wave(weights kernels.WaveWeights, nx, ny, nz int, previous, current, next []float32) {
	const r = kernels.WaveRadius
	w0, w1, w2, w3, w4 := 3*weights[0]+2, weights[1], weights[2], weights[3], weights[4]
	parallel(nz-2*r, func(lo, hi int) {
		row := func(z, y int) []float32 { return current[(z*ny+y)*nx:][:nx] }
		for z := lo + r; z < hi+r; z++ {
			for y := r; y < ny-r; y++ {
				centre, old, sums := row(z, y), previous[(z*ny+y)*nx:][:nx], next[(z*ny+y)*nx:][:nx]
				y1, y2, y3, y4 := row(z, y-1), row(z, y-2), row(z, y-3), row(z, y-4)
				y5, y6, y7, y8 := row(z, y+1), row(z, y+2), row(z, y+3), row(z, y+4)
				z1, z2, z3, z4 := row(z-1, y), row(z-2, y), row(z-3, y), row(z-4, y)
				z5, z6, z7, z8 := row(z+1, y), row(z+2, y), row(z+3, y), row(z+4, y)
				for x := r; x < nx-r; x++ {
					c := centre[x-r : x+r+1 : x+r+1]
					sums[x] = w0*c[4] - old[x] +
						w1*(c[3]+c[5]+y1[x]+y5[x]+z1[x]+z5[x]) +
						w2*(c[2]+c[6]+y2[x]+y6[x]+z2[x]+z6[x]) +
						w3*(c[1]+c[7]+y3[x]+y7[x]+z3[x]+z7[x]) +
						w4*(c[0]+c[8]+y4[x]+y8[x]+z4[x]+z8[x])
				}
			}
		}
	})
}
