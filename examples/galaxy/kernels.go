package main

import (
	"quern.dev/kernel"
)

//go:generate go tool quern gen

// vector is a position with the mass of the body, a velocity, or an acceleration with
// the potential.
type vector = kernel.Vec4[float32]

// tile is the number of bodies that a block reads at a time.
const tile = 256

// accelerate computes the accelerations of all bodies. Forces are softened: bodies attract
// each other as if they were at least the given distance apart.
//
//quern:kernel block=tile
func accelerate(t kernel.Thread, softening float32, position, acceleration []vector) {
	bodies := kernel.Shared[[tile]vector](t)
	i := t.Global()
	var p, a vector
	if i < len(position) {
		p = position[i]
	}
	for first := 0; first < len(position); first += tile {
		body := vector{} // without mass, beyond the last one
		if k := first + t.ThreadIdx.X; k < len(position) {
			body = position[k]
		}
		bodies[t.ThreadIdx.X] = body
		t.Sync()
		var sum vector // of the tile, so that many small numbers are not added to a large one
		//quern:unroll 8
		for k := range tile {
			b := bodies[k]
			x, y, z := b.X-p.X, b.Y-p.Y, b.Z-p.Z
			r := kernel.Rsqrt(x*x + y*y + z*z + softening*softening)
			f := b.W * r * r * r
			sum.X += f * x
			sum.Y += f * y
			sum.Z += f * z
			sum.W -= b.W * r
		}
		a = a.Add(sum)
		t.Sync()
	}
	if i < len(acceleration) {
		a.W += p.W / softening // a body is not in its own potential
		acceleration[i] = a
	}
}

// advance changes velocities by accelerations, and then positions by velocities.
//
//quern:kernel
func advance(t kernel.Thread, kick, drift float32, acceleration, velocity, position []vector) {
	if i := t.Global(); i < len(position) && i < len(velocity) && i < len(acceleration) {
		a, v, p := acceleration[i], velocity[i], position[i]
		v.X += kick * a.X
		v.Y += kick * a.Y
		v.Z += kick * a.Z
		p.X += drift * v.X
		p.Y += drift * v.Y
		p.Z += drift * v.Z
		velocity[i], position[i] = v, p
	}
}

// energies computes the energy of each body. Each of two bodies has half of their
// potential energy.
//
//quern:kernel
func energies(t kernel.Thread, position, velocity, acceleration []vector, energy []float64) {
	if i := t.Global(); i < len(energy) && i < len(position) && i < len(velocity) && i < len(acceleration) {
		v := velocity[i]
		square := float64(v.X)*float64(v.X) + float64(v.Y)*float64(v.Y) + float64(v.Z)*float64(v.Z)
		energy[i] = float64(position[i].W) * (square + float64(acceleration[i].W)) / 2
	}
}

// expose counts the bodies in each pixel, separately for the two galaxies.
//
//quern:kernel
func expose(t kernel.Thread, width, height int, scale float32, position []vector, light []float32) {
	i := t.Global()
	if i >= len(position) {
		return
	}
	x := int(kernel.Floor(position[i].X*scale)) + width/2
	y := int(kernel.Floor(-position[i].Y*scale)) + height/2
	if x >= 0 && x < width && y >= 0 && y < height {
		galaxy := 2 * i / len(position)
		kernel.AtomicAdd(&light[2*(y*width+x)+galaxy], 1) // exact: few bodies are in a pixel
	}
}
