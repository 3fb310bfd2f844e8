package byhand

import "quern.dev/bench/parity/kernels"

// Hotspot simulates the temperatures of a w x h chip for a number of steps.
func Hotspot(w, h, steps int, rx, ry, rz, step float32, temperature, power, out []float32) {
	from, to, spare := temperature, out, make([]float32, w*h)
	if steps%2 == 0 { // the last step writes to out
		to, spare = spare, to
	}
	for range steps {
		parallel(h, func(lo, hi int) {
			for y := lo; y < hi; y++ {
				above, below := from[max(y-1, 0)*w:][:w], from[min(y+1, h-1)*w:][:w]
				here, heat, next := from[y*w:][:w], power[y*w:][:w], to[y*w:][:w]
				west := here[0]
				for x, c := range here {
					east := here[min(x+1, w-1)]
					next[x] = c + step*(heat[x]+(below[x]+above[x]-2*c)*ry+(east+west-2*c)*rx+(kernels.Ambient-c)*rz)
					west = c
				}
			}
		})
		from, to, spare = to, spare, to
	}
}

// SRAD1 computes the differences of each pixel to its four neighbors and the diffusion
// coefficients of a w x h image.
func SRAD1(w, h int, q0 float32, image, dn, ds, dw, de, c []float32) {
	scale := 1 / (q0 * (1 + q0))
	parallel(h, func(lo, hi int) {
		for y := lo; y < hi; y++ {
			above, below := image[max(y-1, 0)*w:][:w], image[min(y+1, h-1)*w:][:w]
			here := image[y*w:][:w]
			dn, ds, dw, de, c := dn[y*w:][:w], ds[y*w:][:w], dw[y*w:][:w], de[y*w:][:w], c[y*w:][:w]
			left := here[0]
			for x, v := range here {
				north, south, west, east := above[x]-v, below[x]-v, left-v, here[min(x+1, w-1)]-v
				inverse := 1 / v
				g2 := (north*north + south*south + west*west + east*east) * inverse * inverse
				l := (north + south + west + east) * inverse
				d := 1 + 0.25*l
				q := (0.5*g2 - (1.0/16)*l*l) / (d * d)
				dn[x], ds[x], dw[x], de[x] = north, south, west, east
				c[x] = min(max(1/(1+(q-q0)*scale), 0), 1)
				left = v
			}
		}
	})
}

// SRAD2 diffuses the image by the results of SRAD1.
func SRAD2(w, h int, lambda float32, dn, ds, dw, de, c, image []float32) {
	parallel(h, func(lo, hi int) {
		for y := lo; y < hi; y++ {
			here, below := c[y*w:][:w], c[min(y+1, h-1)*w:][:w]
			dn, ds, dw, de, pixels := dn[y*w:][:w], ds[y*w:][:w], dw[y*w:][:w], de[y*w:][:w], image[y*w:][:w]
			for x, v := range here {
				pixels[x] += 0.25 * lambda * (v*(dn[x]+dw[x]) + below[x]*ds[x] + here[min(x+1, w-1)]*de[x])
			}
		}
	})
}

// FDTD updates the magnetic field of a w x h grid from the electric field.
func FDTD(w, h int, ex, ey, hz []float32) {
	parallel(h-1, func(lo, hi int) {
		for y := lo; y < hi; y++ {
			field := hz[y*w:][:w-1]
			left, right := ex[y*w:][:len(field)], ex[y*w+1:][:len(field)]
			above, below := ey[y*w:][:len(field)], ey[(y+1)*w:][:len(field)]
			for x := range field {
				field[x] -= 0.7 * (right[x] - left[x] + below[x] - above[x])
			}
		}
	})
}

// Jacobi writes to each inner cell of a w x h grid the mean of the cell and its four
// neighbors.
func Jacobi(w, h int, a, b []float32) {
	parallel(h-2, func(lo, hi int) {
		for y := lo + 1; y < hi+1; y++ {
			mean := b[y*w+1:][:w-2]
			n := len(mean)
			here, west, east := a[y*w+1:][:n], a[y*w:][:n], a[y*w+2:][:n]
			above, below := a[(y-1)*w+1:][:n], a[(y+1)*w+1:][:n]
			for x := range mean {
				mean[x] = 0.2 * (here[x] + west[x] + east[x] + above[x] + below[x])
			}
		}
	})
}
