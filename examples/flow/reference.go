package main

import "math"

// reference computes steps of the flow in plain Go and float64, and returns the velocities.
func reference(c channel, steps int) (along, across []float64) {
	cells := c.Width * c.Height
	from, to := make([][directions]float64, cells), make([][directions]float64, cells)
	for i := range from {
		wave := math.Sin(2 * math.Pi * float64(i/c.Width) / float64(c.Height))
		from[i] = balanced(1, float64(c.Speed)*(1+0.1*wave), 0)
	}
	for range steps {
		for i := range to {
			x, y := i%c.Width, i/c.Width
			f := c.arriving(from, x, y)
			if c.solid(x, y) {
				for d := range f {
					to[i][d] = f[back[d]]
				}
				continue
			}
			density, ux, uy := averages(f)
			if into := x - (c.Width - c.Fringe); into >= 0 {
				share := 0.1 * float64(into+1) / float64(c.Fringe)
				ux, uy = ux+share*(float64(c.Speed)-ux), uy-share*uy
			}
			for d, e := range balanced(density, ux, uy) {
				f[d] += float64(c.Relaxation) * (e - f[d])
			}
			to[i] = f
		}
		from, to = to, from
	}
	along, across = make([]float64, cells), make([]float64, cells)
	for i, f := range from {
		_, along[i], across[i] = averages(f)
	}
	return along, across
}

// arriving returns what moves to a cell from its neighbors.
func (c channel) arriving(from [][directions]float64, x, y int) (f [directions]float64) {
	for d := range f {
		nx, ny := (x-stepX[d]+c.Width)%c.Width, (y-stepY[d]+c.Height)%c.Height
		f[d] = from[ny*c.Width+nx][d]
	}
	return f
}

// balanced returns the equilibrium of a density and a velocity.
func balanced(density, ux, uy float64) (f [directions]float64) {
	weights := [directions]float64{4. / 9, 1. / 9, 1. / 9, 1. / 9, 1. / 9, 1. / 36, 1. / 36, 1. / 36, 1. / 36}
	for d := range f {
		along := float64(stepX[d])*ux + float64(stepY[d])*uy
		f[d] = weights[d] * density * (1 + 3*along + 4.5*along*along - 1.5*(ux*ux+uy*uy))
	}
	return f
}

// averages returns the density and the velocity of a cell.
func averages(f [directions]float64) (density, ux, uy float64) {
	for d, v := range f {
		density += v
		ux += float64(stepX[d]) * v
		uy += float64(stepY[d]) * v
	}
	return density, ux / density, uy / density
}
