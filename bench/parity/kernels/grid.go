package kernels

import "quern.dev/kernel"

const (
	// HotspotSide is the side of the square of cells that a block of hotspot reads. Each
	// step computes the cells that are at least one further from its border.
	HotspotSide = 16

	// Ambient is the temperature around hotspot's chip.
	Ambient = 80
)

// hotspot simulates the temperatures of a w x h chip for a number of steps (Rodinia,
// hotspot). rx, ry and rz are the conductances along rows, along columns and to the air.
// step is the length of a step divided by the capacitance of a cell.
//
//quern:kernel block=16x16 also=unchecked
func hotspot(t kernel.Thread, w, h, steps int, rx, ry, rz, step float32, temperature, power, out []float32) {
	current := kernel.Shared[[HotspotSide][HotspotSide]float32](t)
	heat := kernel.Shared[[HotspotSide][HotspotSide]float32](t)
	tx, ty := t.ThreadIdx.X, t.ThreadIdx.Y
	inner := HotspotSide - 2*steps
	x0, y0 := t.BlockIdx.X*inner-steps, t.BlockIdx.Y*inner-steps
	x, y := x0+tx, y0+ty
	inside := x >= 0 && x < w && y >= 0 && y < h
	if inside {
		current[ty][tx] = temperature[y*w+x]
		heat[ty][tx] = power[y*w+x]
	}
	t.Sync()
	west, east := max(tx-1, -x0), min(tx+1, w-1-x0)
	north, south := max(ty-1, -y0), min(ty+1, h-1-y0)
	var v float32
	mine := false
	for i := range steps {
		mine = inside && tx > i && tx < HotspotSide-1-i && ty > i && ty < HotspotSide-1-i
		if mine {
			c := current[ty][tx]
			v = c + step*(heat[ty][tx]+
				(current[south][tx]+current[north][tx]-2*c)*ry+
				(current[ty][east]+current[ty][west]-2*c)*rx+
				(Ambient-c)*rz)
		}
		t.Sync()
		if mine {
			current[ty][tx] = v
		}
		t.Sync()
	}
	if mine {
		out[y*w+x] = v
	}
}

// srad1 computes the differences of each pixel to its four neighbors and the diffusion
// coefficients of a w x h image (Rodinia, srad). q0 is the speckle scale.
//
//quern:kernel also=unchecked
func srad1(t kernel.Thread, w, h int, q0 float32, image, dn, ds, dw, de, c []float32) {
	x, y := t.Global2()
	if x >= w || y >= h {
		return
	}
	i := y*w + x
	j := image[i]
	north := image[max(y-1, 0)*w+x] - j
	south := image[min(y+1, h-1)*w+x] - j
	west := image[y*w+max(x-1, 0)] - j
	east := image[y*w+min(x+1, w-1)] - j
	g2 := (north*north + south*south + west*west + east*east) / (j * j)
	l := (north + south + west + east) / j
	num := 0.5*g2 - (1.0/16)*(l*l)
	den := 1 + 0.25*l
	q := num / (den * den)
	den = (q - q0) / (q0 * (1 + q0))
	v := 1 / (1 + den)
	dn[i], ds[i], dw[i], de[i] = north, south, west, east
	c[i] = min(max(v, 0), 1)
}

// srad2 diffuses the image by the results of srad1. lambda is the time step.
//
//quern:kernel also=unchecked
func srad2(t kernel.Thread, w, h int, lambda float32, dn, ds, dw, de, c, image []float32) {
	x, y := t.Global2()
	if x >= w || y >= h {
		return
	}
	i := y*w + x
	here, south, east := c[i], c[min(y+1, h-1)*w+x], c[y*w+min(x+1, w-1)]
	d := here*dn[i] + south*ds[i] + here*dw[i] + east*de[i]
	image[i] += 0.25 * lambda * d
}

// fdtd updates the magnetic field of a w x h grid from the electric field (PolyBench,
// fdtd-2d).
//
//quern:kernel also=unchecked
func fdtd(t kernel.Thread, w, h int, ex, ey, hz []float32) {
	x, y := t.Global2()
	if x < w-1 && y < h-1 {
		i := y*w + x
		hz[i] -= 0.7 * (ex[i+1] - ex[i] + ey[i+w] - ey[i])
	}
}

// stencil27 computes what stencil does, on an n x n x n grid: it adds up the points of each
// distance and multiplies the sums by the weights.
//
//quern:kernel also=unchecked
func stencil27(t kernel.Thread, n int, c0, c1, c2, c3 float32, in, out []float32) {
	x, y, z := t.Global3()
	if x < 1 || y < 1 || z < 1 || x >= n-1 || y >= n-1 || z >= n-1 {
		return
	}
	var sums [4]float32
	for dz := -1; dz <= 1; dz++ {
		for dy := -1; dy <= 1; dy++ {
			for dx := -1; dx <= 1; dx++ {
				sums[dx*dx+dy*dy+dz*dz] += in[((z+dz)*n+y+dy)*n+x+dx]
			}
		}
	}
	out[(z*n+y)*n+x] = c0*sums[0] + c1*sums[1] + c2*sums[2] + c3*sums[3]
}

// jacobi writes to each inner cell of a w x h grid the mean of the cell and its four
// neighbors (PolyBench, jacobi-2d).
//
//quern:kernel also=unchecked
func jacobi(t kernel.Thread, w, h int, a, b []float32) {
	x, y := t.Global2()
	if x >= 1 && y >= 1 && x < w-1 && y < h-1 {
		i := y*w + x
		b[i] = 0.2 * (a[i] + a[i-1] + a[i+1] + a[i-w] + a[i+w])
	}
}
