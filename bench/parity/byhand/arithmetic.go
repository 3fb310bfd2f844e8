package byhand

import (
	"math"
	"sync/atomic"

	"quern.dev/bench/parity/kernels"
)

// Mandelbrot counts the steps of each point like the kernel.
func Mandelbrot(w, h, limit int, steps []int32) {
	// Rows take very different times, so cores take them in turns.
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

// NBody computes the acceleration of each body due to all bodies.
func NBody(bodies []kernels.Body, accelerations []kernels.Acceleration) {
	parallel(len(bodies), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			me := bodies[i]
			var a kernels.Acceleration
			for j := range bodies {
				b := &bodies[j]
				dx, dy, dz := b.X-me.X, b.Y-me.Y, b.Z-me.Z
				inverse := 1 / float32(math.Sqrt(float64(kernels.Softening+dx*dx+dy*dy+dz*dz)))
				f := b.Mass * inverse * inverse * inverse
				a.X += f * dx
				a.Y += f * dy
				a.Z += f * dz
			}
			accelerations[i] = a
		}
	})
}

// Matmul multiplies row-major matrices, C = A*B, where A is m x k and B is k x n, in parts
// of rows and of B that fit in the cache.
func Matmul[T float32 | float64](m, n, k int, a, b, c []T) {
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

// Pi adds to hits[0] the number of the kernel's random points within the unit circle.
func Pi(threads, rounds int, seed uint32, hits []uint32) {
	var total atomic.Uint32
	parallel(threads, func(lo, hi int) {
		var count uint32
		within := func(a, b uint32) {
			x, y := float32(a>>8)*(1./(1<<24)), float32(b>>8)*(1./(1<<24))
			if x*x+y*y < 1 {
				count++
			}
		}
		for thread := lo; thread < hi; thread++ {
			for round := range rounds {
				a, b, c, d := philox(uint32(thread), uint32(round), seed)
				within(a, b)
				within(c, d)
			}
		}
		total.Add(count)
	})
	hits[0] += total.Load()
}

// philox returns Philox4x32-10 of counter (c0, c1, 0, 0) and key (k0, 0).
func philox(c0, c1, k0 uint32) (uint32, uint32, uint32, uint32) {
	var c2, c3, k1 uint32
	for range 10 {
		p, q := uint64(c0)*0xD2511F53, uint64(c2)*0xCD9E8D57
		c0, c1, c2, c3 = uint32(q>>32)^c1^k0, uint32(q), uint32(p>>32)^c3^k1, uint32(p)
		k0 += 0x9E3779B9
		k1 += 0xBB67AE85
	}
	return c0, c1, c2, c3
}

// BlackScholes prices European options.
func BlackScholes(rate, volatility float32, spots, strikes, years, calls, puts []float32) {
	parallel(len(spots), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			spot, strike, time := spots[i], strikes[i], years[i]
			deviation := volatility * float32(math.Sqrt(float64(time)))
			d1 := (float32(math.Log(float64(spot/strike))) + (rate+0.5*volatility*volatility)*time) / deviation
			n1, n2 := normal(d1), normal(d1-deviation)
			discounted := strike * float32(math.Exp(float64(-rate*time)))
			calls[i] = spot*n1 - discounted*n2
			puts[i] = discounted*(1-n2) - spot*(1-n1)
		}
	})
}

// normal returns the cumulative normal distribution.
func normal(d float32) float32 {
	k := 1 / (1 + 0.2316419*float32(math.Abs(float64(d))))
	tail := 0.39894228 * float32(math.Exp(float64(-0.5*d*d))) *
		(k * (0.31938153 + k*(-0.356563782+k*(1.781477937+k*(-1.821255978+k*1.330274429)))))
	if d > 0 {
		return 1 - tail
	}
	return tail
}
