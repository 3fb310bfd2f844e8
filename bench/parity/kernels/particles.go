package kernels

import "quern.dev/kernel"

// Particle is a point mass that a mass in the origin attracts.
type Particle struct {
	X, Y, Z    float32
	VX, VY, VZ float32
	Mass, Age  float32
}

// PullSoftening limits the attraction of particles near the origin.
const PullSoftening = 0.01

// BoxThreads is the number of threads per block of lavaMD, and the maximum number of
// particles in a box.
const BoxThreads = 128

// particlesAOS moves particles by a time step.
//
//quern:kernel also=unchecked
func particlesAOS(t kernel.Thread, dt float32, particles []Particle) {
	i := t.Global()
	if i >= len(particles) {
		return
	}
	p := &particles[i]
	r2 := p.X*p.X + p.Y*p.Y + p.Z*p.Z + PullSoftening
	k := -dt * p.Mass * kernel.Rsqrt(r2) / r2
	p.VX += k * p.X
	p.VY += k * p.Y
	p.VZ += k * p.Z
	p.X += dt * p.VX
	p.Y += dt * p.VY
	p.Z += dt * p.VZ
	p.Age += dt
}

// particlesSOA is particlesAOS with one slice per field.
//
//quern:kernel also=unchecked
func particlesSOA(t kernel.Thread, dt float32, px, py, pz, vx, vy, vz, mass, age []float32) {
	i := t.Global()
	if i >= len(px) {
		return
	}
	x, y, z := px[i], py[i], pz[i]
	r2 := x*x + y*y + z*z + PullSoftening
	k := -dt * mass[i] * kernel.Rsqrt(r2) / r2
	vx[i] += k * x
	vy[i] += k * y
	vz[i] += k * z
	px[i] = x + dt*vx[i]
	py[i] = y + dt*vy[i]
	pz[i] = z + dt*vz[i]
	age[i] += dt
}

// lavaMD computes the potential and the force at each particle due to those in its box and
// the 26 around it (Rodinia, lavaMD). There are boxes x boxes x boxes boxes of per particles,
// one block per box. W of a position is half the square of its distance from the origin.
//
//quern:kernel block=128 also=unchecked
func lavaMD(t kernel.Thread, boxes, per int, a2 float32, positions []kernel.Vec4[float32], charges []float32, forces []kernel.Vec4[float32]) {
	near := kernel.Shared[[BoxThreads]kernel.Vec4[float32]](t)
	q := kernel.Shared[[BoxThreads]float32](t)
	tx := t.ThreadIdx.X
	home := (t.BlockIdx.Z*boxes+t.BlockIdx.Y)*boxes + t.BlockIdx.X
	var me, f kernel.Vec4[float32]
	if tx < per {
		me = positions[home*per+tx]
	}
	for dz := -1; dz <= 1; dz++ {
		for dy := -1; dy <= 1; dy++ {
			for dx := -1; dx <= 1; dx++ {
				x, y, z := t.BlockIdx.X+dx, t.BlockIdx.Y+dy, t.BlockIdx.Z+dz
				if x < 0 || y < 0 || z < 0 || x >= boxes || y >= boxes || z >= boxes {
					continue
				}
				box := (z*boxes+y)*boxes + x
				t.Sync()
				if tx < per {
					near[tx] = positions[box*per+tx]
					q[tx] = charges[box*per+tx]
				}
				t.Sync()
				if tx >= per {
					continue
				}
				for j := range per {
					p := near[j]
					u2 := a2 * (me.W + p.W - (me.X*p.X + me.Y*p.Y + me.Z*p.Z))
					v := kernel.Exp(-u2)
					s := 2 * v * q[j]
					f.W += q[j] * v
					f.X += s * (me.X - p.X)
					f.Y += s * (me.Y - p.Y)
					f.Z += s * (me.Z - p.Z)
				}
			}
		}
	}
	if tx < per {
		forces[home*per+tx] = f
	}
}

// lorenz integrates the Lorenz system from each state by steps of size h (Runge and Kutta,
// fourth order).
//
//quern:kernel also=unchecked
func lorenz(t kernel.Thread, steps int, h, sigma, rho, beta float64, states []kernel.Vec3[float64]) {
	i := t.Global()
	if i >= len(states) {
		return
	}
	slope := func(p kernel.Vec3[float64]) kernel.Vec3[float64] {
		return kernel.V3(sigma*(p.Y-p.X), p.X*(rho-p.Z)-p.Y, p.X*p.Y-beta*p.Z)
	}
	p := states[i]
	for range steps {
		k1 := slope(p)
		k2 := slope(p.AddScaled(h/2, k1))
		k3 := slope(p.AddScaled(h/2, k2))
		k4 := slope(p.AddScaled(h, k3))
		p = p.AddScaled(h/6, k1.Add(k2.Scale(2)).Add(k3.Scale(2)).Add(k4))
	}
	states[i] = p
}
