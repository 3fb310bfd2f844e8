package main

import (
	"math"
	"math/rand/v2"
)

// Units are such that the constant of gravitation is 1.
const (
	nucleus    = 1.0 // mass of the body in the middle of a galaxy
	diskMass   = 0.25
	diskScale  = 0.35 // distance in which the density falls to 1/e
	innerEdge  = 0.02
	outerEdge  = 1.2
	apart      = 2.6 // first distance of the two nuclei
	pericenter = 1.0 // least distance, if they were points
)

// galaxies returns the positions and velocities of two galaxies on a parabolic orbit: the
// bodies of one, and then those of the other.
func galaxies(n int) (position, velocity []vector) {
	const total = 2 * (nucleus + diskMass)
	speed := math.Sqrt(2 * total / apart)
	across := math.Sqrt(2*total*pericenter) / apart
	along := math.Sqrt(speed*speed - across*across)
	r := rand.New(rand.NewPCG(1, 2))
	for side, bodies := range []int{(n + 1) / 2, n / 2} {
		sign := float64(1 - 2*side)
		tilt := []float64{0.35, -0.9}[side]
		p, v := disk(r, bodies)
		for i := range p {
			p[i], v[i] = tilted(p[i], tilt), tilted(v[i], tilt)
			p[i].X += float32(sign * apart / 2)
			v[i].X -= float32(sign * along / 2)
			v[i].Y += float32(sign * across / 2)
		}
		position, velocity = append(position, p...), append(velocity, v...)
	}
	return position, velocity
}

// disk returns a nucleus and light bodies that circle it counterclockwise, as seen from
// above. Their density falls exponentially with the distance.
func disk(r *rand.Rand, n int) (position, velocity []vector) {
	position, velocity = make([]vector, n), make([]vector, n)
	position[0].W = nucleus
	for i := 1; i < n; i++ {
		d, inside := radius(r.Float64())
		sin, cos := math.Sincos(2 * math.Pi * r.Float64())
		position[i] = vector{X: float32(d * cos), Y: float32(d * sin), Z: float32(0.02 * r.NormFloat64()), W: diskMass / float32(n-1)}
		soft := d*d + softening*softening
		speed := d * math.Sqrt((nucleus+inside*diskMass)/(soft*math.Sqrt(soft)))
		velocity[i] = vector{X: float32(-speed * sin), Y: float32(speed * cos)}
	}
	return position, velocity
}

// radius returns the distance within which there is the given share of the disk between
// its edges, and the share.
func radius(share float64) (distance, inside float64) {
	mass := func(d float64) float64 { return 1 - math.Exp(-d/diskScale)*(1+d/diskScale) }
	low, high := innerEdge, outerEdge
	for range 40 {
		middle := (low + high) / 2
		if (mass(middle)-mass(innerEdge))/(mass(outerEdge)-mass(innerEdge)) < share {
			low = middle
		} else {
			high = middle
		}
	}
	return low, share
}

// tilted turns v around the axis of x.
func tilted(v vector, angle float64) vector {
	sin, cos := math.Sincos(angle)
	y, z := float64(v.Y), float64(v.Z)
	v.Y, v.Z = float32(y*cos-z*sin), float32(y*sin+z*cos)
	return v
}
