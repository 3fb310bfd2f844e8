package byhand

import (
	"math"

	"quern.dev/bench/parity/kernels"
)

// Mandelbrot counts the steps of each point, as the kernel does.
func Mandelbrot(w, h, limit int, steps []int32) {
	// Rows differ much in their time: take them in turns.
	const rows = 4
	parallelDynamic((h+rows-1)/rows, func(part int) {
		for y := part * rows; y < min((part+1)*rows, h); y++ {
			ci := float32(y)*(3/float32(h)) - 1.5
			row := steps[y*w : (y+1)*w]
			for x := range row {
				cr := float32(x)*(3/float32(w)) - 2.25
				var zr, zi float32
				n := 0
				for n < limit {
					rr, ii := zr*zr, zi*zi
					if rr+ii > 4 {
						break
					}
					zr, zi = rr-ii+cr, 2*zr*zi+ci
					n++
				}
				row[x] = int32(n)
			}
		}
	})
}

// NBody computes the acceleration of each body by all of them.
func NBody(bodies []kernels.Body, accelerations []kernels.Acceleration) {
	parallel(len(bodies), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			me := bodies[i]
			var a kernels.Acceleration
			for j := range bodies {
				b := &bodies[j]
				dx, dy, dz := b.X-me.X, b.Y-me.Y, b.Z-me.Z
				inverse := 1 / float32(math.Sqrt(float64(dx*dx+dy*dy+dz*dz+kernels.Softening)))
				f := b.Mass * inverse * inverse * inverse
				a.X += f * dx
				a.Y += f * dy
				a.Z += f * dz
			}
			accelerations[i] = a
		}
	})
}

// Matmul multiplies row-major matrices, C = A*B, where A is m x k and B is k x n,
// in parts of rows and of B that fit the cache.
func Matmul(m, n, k int, a, b, c []float32) {
	const depth = 64
	parallel(m, func(lo, hi int) {
		clear(c[lo*n : hi*n])
		for k0 := 0; k0 < k; k0 += depth {
			for i := lo; i < hi; i++ {
				row := c[i*n : (i+1)*n]
				for p := k0; p < min(k0+depth, k); p++ {
					f := a[i*k+p]
					other := b[p*n:][:len(row)]
					for j := range row {
						row[j] += f * other[j]
					}
				}
			}
		}
	})
}
