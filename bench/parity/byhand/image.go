package byhand

import "quern.dev/bench/parity/kernels"

// Stencil writes to each inner point of an nx x ny x nz grid the weighted sum of the 27
// points around it.
func Stencil(weights kernels.StencilWeights, nx, ny, nz int, in, out []float32) {
	w0, w1, w2, w3 := weights[0], weights[1], weights[2], weights[3]
	parallel(nz-2, func(lo, hi int) {
		row := func(z, y int) []float32 { return in[(z*ny+y)*nx:][:nx] }
		for z := lo + 1; z < hi+1; z++ {
			for y := 1; y < ny-1; y++ {
				centre := row(z, y)
				above, below, front, back := row(z, y-1), row(z, y+1), row(z-1, y), row(z+1, y)
				a, b, c, d := row(z-1, y-1), row(z-1, y+1), row(z+1, y-1), row(z+1, y+1)
				sums := out[(z*ny+y)*nx:][:nx]
				for x := 1; x < nx-1; x++ {
					faces := centre[x-1] + centre[x+1] + above[x] + below[x] + front[x] + back[x]
					edges := above[x-1] + above[x+1] + below[x-1] + below[x+1] +
						front[x-1] + front[x+1] + back[x-1] + back[x+1] + a[x] + b[x] + c[x] + d[x]
					corners := a[x-1] + a[x+1] + b[x-1] + b[x+1] + c[x-1] + c[x+1] + d[x-1] + d[x+1]
					sums[x] = w0*centre[x] + w1*faces + w2*edges + w3*corners
				}
			}
		}
	})
}

// Convolve filters a w x h image. Pixels outside of the image equal the nearest border
// pixel. It adds one row of the filter at a time to a row of pixels.
func Convolve(filter kernels.Filter, w, h int, in, out []float32) {
	const radius = kernels.FilterRadius
	parallel(h, func(lo, hi int) {
		padded := make([]float32, w+2*radius)
		for y := lo; y < hi; y++ {
			sums := out[y*w:][:w]
			clear(sums)
			for j := range filter {
				row := in[min(max(y+j-radius, 0), h-1)*w:][:w]
				copy(padded[radius:], row)
				for i := range radius {
					padded[i], padded[w+radius+i] = row[0], row[w-1]
				}
				f := &filter[j]
				for x := range sums {
					p := padded[x : x+7 : x+7]
					sums[x] += f[0]*p[0] + f[1]*p[1] + f[2]*p[2] + f[3]*p[3] + f[4]*p[4] + f[5]*p[5] + f[6]*p[6]
				}
			}
		}
	})
}

// Life computes the next generation of the Game of Life on a torus.
func Life(w, h int, in, out []uint8) {
	parallel(h, func(lo, hi int) {
		columns := make([]uint8, w+2) // sums of three rows, extended at both ends because of the torus
		for y := lo; y < hi; y++ {
			above, here, below := in[(y+h-1)%h*w:][:w], in[y*w:][:w], in[(y+1)%h*w:][:w]
			for x := range here {
				columns[x+1] = above[x] + here[x] + below[x]
			}
			columns[0], columns[w+1] = columns[w], columns[1]
			next := out[y*w:][:w]
			for x := range next {
				sum := columns[x] + columns[x+1] + columns[x+2]
				var cell uint8
				if sum == 3 || sum == 4 && here[x] == 1 {
					cell = 1
				}
				next[x] = cell
			}
		}
	})
}

// LBM computes one step of the lattice Boltzmann method on a torus.
func LBM(w, h int, omega float32, in, out []float32) {
	n := w * h
	parallel(h, func(lo, hi int) {
		for y := lo; y < hi; y++ {
			up, down := (y+h-1)%h, (y+1)%h
			// Rows from which the populations stream, by direction.
			var from, to [kernels.Directions][]float32
			for i, sy := range [...]int{y, y, up, y, down, up, up, down, down} {
				from[i] = in[i*n+sy*w:][:w]
				to[i] = out[i*n+y*w:][:w]
			}
			f0r, f1r, f2r, f3r, f4r, f5r, f6r, f7r, f8r := from[0], from[1], from[2], from[3], from[4], from[5], from[6], from[7], from[8]
			for x := range f0r {
				left, right := x-1, x+1
				if left < 0 {
					left = w - 1
				}
				if right == w {
					right = 0
				}
				f0, f1, f2, f3, f4 := f0r[x], f1r[left], f2r[x], f3r[right], f4r[x]
				f5, f6, f7, f8 := f5r[left], f6r[right], f7r[right], f8r[left]
				density := f0 + f1 + f2 + f3 + f4 + f5 + f6 + f7 + f8
				ux := (f1 - f3 + f5 - f6 - f7 + f8) / density
				uy := (f2 - f4 + f5 + f6 - f7 - f8) / density
				base := 1 - 1.5*(ux*ux+uy*uy)
				relax := func(f, weight, u float32) float32 {
					u *= 3
					return f + omega*(weight*density*(base+u+0.5*u*u)-f)
				}
				to[0][x] = relax(f0, 4./9, 0)
				to[1][x] = relax(f1, 1./9, ux)
				to[2][x] = relax(f2, 1./9, uy)
				to[3][x] = relax(f3, 1./9, -ux)
				to[4][x] = relax(f4, 1./9, -uy)
				to[5][x] = relax(f5, 1./36, ux+uy)
				to[6][x] = relax(f6, 1./36, uy-ux)
				to[7][x] = relax(f7, 1./36, -ux-uy)
				to[8][x] = relax(f8, 1./36, ux-uy)
			}
		}
	})
}

// Rotate maps an image through an affine transform with bilinear interpolation.
func Rotate(m kernels.Affine, w, h int, in, out []float32) {
	floor := func(v float32) int {
		i := int(v)
		if float32(i) > v {
			i--
		}
		return i
	}
	pixel := func(x, y int) float32 {
		if uint(x) >= uint(w) || uint(y) >= uint(h) {
			return 0
		}
		return in[y*w+x]
	}
	parallel(h, func(lo, hi int) {
		for y := lo; y < hi; y++ {
			row := out[y*w:][:w]
			for x := range row {
				sx := m.A*float32(x) + m.B*float32(y) + m.C
				sy := m.D*float32(x) + m.E*float32(y) + m.F
				x0, y0 := floor(sx), floor(sy)
				fx, fy := sx-float32(x0), sy-float32(y0)
				var a, b, c, d float32
				if x0 >= 0 && x0 < w-1 && y0 >= 0 && y0 < h-1 {
					upper, lower := in[y0*w+x0:][:2], in[(y0+1)*w+x0:][:2]
					a, b, c, d = upper[0], upper[1], lower[0], lower[1]
				} else {
					a, b, c, d = pixel(x0, y0), pixel(x0+1, y0), pixel(x0, y0+1), pixel(x0+1, y0+1)
				}
				upper, lower := a+fx*(b-a), c+fx*(d-c)
				row[x] = upper + fy*(lower-upper)
			}
		}
	})
}
