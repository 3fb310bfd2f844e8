package main

import "quern.dev/kernel"

//go:generate go tool quern gen

// directions is the number of velocities at which the method lets the fluid move.
const directions = 9

// Velocities are (0,0), the four neighbors, and the four diagonal ones. The opposite of
// direction d>0 is the other one of its pair: (1,2), (3,4), (5,6), (7,8).
var (
	stepX  = [directions]int{0, 1, -1, 0, 0, 1, -1, 1, -1}
	stepY  = [directions]int{0, 0, 0, 1, -1, 1, -1, -1, 1}
	weight = [directions]float32{4. / 9, 1. / 9, 1. / 9, 1. / 9, 1. / 9, 1. / 36, 1. / 36, 1. / 36, 1. / 36}
	back   = [directions]int{0, 2, 1, 4, 3, 6, 5, 8, 7}
)

// channel is the geometry and the fluid of a flow, in cells and steps.
type channel struct {
	Width, Height int
	CenterX       float32 // of the cylinder
	CenterY       float32
	Radius        float32
	Speed         float32 // of the flow that comes in
	Relaxation    float32 // share of the distance to equilibrium that a step goes
	Fringe        int     // columns at the end in which the flow becomes uniform
	Probe         int     // the cell whose velocity across the flow is recorded
}

// solid reports whether a cell is part of the cylinder.
func (c channel) solid(x, y int) bool {
	dx, dy := float32(x)-c.CenterX, float32(y)-c.CenterY
	return dx*dx+dy*dy < c.Radius*c.Radius
}

// equilibrium returns the deviation from its weight that the density in direction d has in
// a fluid with the given deviation of its density from 1.
func equilibrium(d int, density, ux, uy float32) float32 {
	along := 3 * (float32(stepX[d])*ux + float32(stepY[d])*uy)
	return weight[d] * (density + (1+density)*(along+along*along/2-1.5*(ux*ux+uy*uy)))
}

// step computes a step of all cells: each takes what moves to it from its neighbors, and
// collides it. In the cylinder it turns back instead. Elements of from and to are what the
// densities of a cell have more than the weight of their direction, so float32 keeps more
// digits of what matters. The step writes the velocity across the flow in the cell of the
// probe to record[number].
//
//quern:kernel
func step(t kernel.Thread, c channel, number int, from, to, record []float32) {
	x, y := t.Global2()
	if x >= c.Width || y >= c.Height {
		return
	}
	cells, cell := c.Width*c.Height, y*c.Width+x
	// The columns and rows from which steps of -1, 0 and 1 lead to this cell.
	columns, rows := [3]int{x + 1, x, x - 1}, [3]int{y + 1, y, y - 1}
	if x == 0 {
		columns[2] = c.Width - 1
	}
	if x == c.Width-1 {
		columns[0] = 0
	}
	if y == 0 {
		rows[2] = c.Height - 1
	}
	if y == c.Height-1 {
		rows[0] = 0
	}
	var f [directions]float32
	var density, px, py float32
	//quern:unroll
	for d := range directions {
		f[d] = from[d*cells+rows[stepY[d]+1]*c.Width+columns[stepX[d]+1]]
		density += f[d]
		px += float32(stepX[d]) * f[d]
		py += float32(stepY[d]) * f[d]
	}
	if c.solid(x, y) {
		//quern:unroll
		for d := range directions {
			to[d*cells+cell] = f[back[d]]
		}
		return
	}
	ux, uy := px/(1+density), py/(1+density)
	if cell == c.Probe {
		record[number] = uy
	}
	if into := x - (c.Width - c.Fringe); into >= 0 {
		// Towards the velocity that comes in at the other end. The density stays.
		share := 0.1 * float32(into+1) / float32(c.Fringe)
		ux += share * (c.Speed - ux)
		uy -= share * uy
	}
	rest := density // minus what moves, so that the sum stays, however parts are rounded
	//quern:unroll
	for d := 1; d < directions; d++ {
		v := f[d] + c.Relaxation*(equilibrium(d, density, ux, uy)-f[d])
		to[d*cells+cell] = v
		rest -= v
	}
	to[cell] = rest
}

// start fills the channel with a uniform flow, which is a little faster on one side of the
// cylinder than on the other, so that the vortices begin soon.
//
//quern:kernel
func start(t kernel.Thread, c channel, to []float32) {
	x, y := t.Global2()
	if x >= c.Width || y >= c.Height {
		return
	}
	speed := c.Speed * (1 + 0.1*kernel.Sin(6.2831853*float32(y)/float32(c.Height)))
	for d := range directions {
		to[d*c.Width*c.Height+y*c.Width+x] = equilibrium(d, 0, speed, 0)
	}
}

// velocities computes the velocity of each cell.
//
//quern:kernel
func velocities(t kernel.Thread, from, ux, uy []float32) {
	cell, cells := t.Global(), len(ux)
	if cell >= cells || cell >= len(uy) {
		return
	}
	var density, px, py float32
	//quern:unroll
	for d := range directions {
		f := from[d*cells+cell]
		density += f
		px += float32(stepX[d]) * f
		py += float32(stepY[d]) * f
	}
	ux[cell], uy[cell] = px/(1+density), py/(1+density)
}
