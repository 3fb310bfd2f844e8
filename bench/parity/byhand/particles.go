package byhand

import (
	"math"

	"quern.dev/bench/parity/kernels"
	"quern.dev/kernel"
)

// ParticlesAOS moves particles by a time step.
func ParticlesAOS(dt float32, particles []kernels.Particle) {
	parallel(len(particles), func(lo, hi int) {
		part := particles[lo:hi]
		for i := range part {
			p := &part[i]
			k := pull(dt, p.Mass, p.X, p.Y, p.Z)
			p.VX += k * p.X
			p.VY += k * p.Y
			p.VZ += k * p.Z
			p.X += dt * p.VX
			p.Y += dt * p.VY
			p.Z += dt * p.VZ
			p.Age += dt
		}
	})
}

// ParticlesSOA is ParticlesAOS with one slice per field.
func ParticlesSOA(dt float32, px, py, pz, vx, vy, vz, mass, age []float32) {
	parallel(len(px), func(lo, hi int) {
		px := px[lo:hi]
		n := len(px)
		py, pz, mass, age := py[lo:][:n], pz[lo:][:n], mass[lo:][:n], age[lo:][:n]
		vx, vy, vz := vx[lo:][:n], vy[lo:][:n], vz[lo:][:n]
		for i, x := range px {
			y, z := py[i], pz[i]
			k := pull(dt, mass[i], x, y, z)
			u, v, w := vx[i]+k*x, vy[i]+k*y, vz[i]+k*z
			vx[i], vy[i], vz[i] = u, v, w
			px[i], py[i], pz[i] = x+dt*u, y+dt*v, z+dt*w
			age[i] += dt
		}
	})
}

// pull returns the factor from a position to the change of the velocity.
func pull(dt, mass, x, y, z float32) float32 {
	r2 := x*x + y*y + z*z + kernels.PullSoftening
	return -dt * mass / (r2 * float32(math.Sqrt(float64(r2))))
}

// LavaMD computes the potential and the force at each particle due to those in its box and
// the boxes around it.
func LavaMD(boxes, per int, a2 float32, positions []kernel.Vec4[float32], charges []float32, forces []kernel.Vec4[float32]) {
	around := func(i int) (lo, hi int) { return max(i-1, 0), min(i+2, boxes) }
	parallelDynamic(boxes*boxes*boxes, func(home int) {
		x0, x1 := around(home % boxes)
		y0, y1 := around(home / boxes % boxes)
		z0, z1 := around(home / (boxes * boxes))
		mine, sums := positions[home*per:][:per], forces[home*per:][:per]
		clear(sums)
		for z := z0; z < z1; z++ {
			for y := y0; y < y1; y++ {
				// The boxes of a row are neighbors in memory.
				first, end := ((z*boxes+y)*boxes+x0)*per, ((z*boxes+y)*boxes+x1)*per
				others := positions[first:end]
				q := charges[first:end][:len(others)]
				for i, me := range mine {
					f := sums[i]
					for j := range others {
						p := &others[j]
						u2 := a2 * (me.W + p.W - (me.X*p.X + me.Y*p.Y + me.Z*p.Z))
						v := q[j] * float32(math.Exp(float64(-u2)))
						f.W += v
						f.X += 2 * v * (me.X - p.X)
						f.Y += 2 * v * (me.Y - p.Y)
						f.Z += 2 * v * (me.Z - p.Z)
					}
					sums[i] = f
				}
			}
		}
	})
}

// Lorenz integrates the Lorenz system from each state by steps of size h.
func Lorenz(steps int, h, sigma, rho, beta float64, states []kernel.Vec3[float64]) {
	slope := func(x, y, z float64) (dx, dy, dz float64) {
		return sigma * (y - x), x*(rho-z) - y, x*y - beta*z
	}
	half, sixth := h/2, h/6
	parallel(len(states), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			s := &states[i]
			x, y, z := s.X, s.Y, s.Z
			for range steps {
				ax, ay, az := slope(x, y, z)
				bx, by, bz := slope(x+half*ax, y+half*ay, z+half*az)
				cx, cy, cz := slope(x+half*bx, y+half*by, z+half*bz)
				dx, dy, dz := slope(x+h*cx, y+h*cy, z+h*cz)
				x += sixth * (ax + 2*(bx+cx) + dx)
				y += sixth * (ay + 2*(by+cy) + dy)
				z += sixth * (az + 2*(bz+cz) + dz)
			}
			s.X, s.Y, s.Z = x, y, z
		}
	})
}
