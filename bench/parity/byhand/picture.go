package byhand

import (
	"math"

	"quern.dev/bench/parity/kernels"
)

// Bilateral smooths an image but keeps edges.
func Bilateral(weights kernels.BilateralWeights, sharpness float32, w, h int, in, out []float32) {
	const radius = kernels.BilateralRadius
	parallel(h, func(lo, hi int) {
		var rows [len(weights)][]float32 // with a border of radius pixels
		for j := range rows {
			rows[j] = make([]float32, w+2*radius)
		}
		for y := lo; y < hi; y++ {
			for j, row := range rows {
				pixels := in[min(max(y+j-radius, 0), h-1)*w:][:w]
				copy(row[radius:], pixels)
				for i := range radius {
					row[i], row[radius+w+i] = pixels[0], pixels[w-1]
				}
			}
			to := out[y*w:][:w]
			for x := range to {
				centre := rows[radius][radius+x]
				var sum, total float32
				for j, row := range rows {
					f := &weights[j]
					for i, v := range row[x:][:len(f)] {
						d := v - centre
						weight := f[i] * float32(math.Exp(float64(-sharpness*d*d)))
						sum += weight * v
						total += weight
					}
				}
				to[x] = sum / total
			}
		}
	})
}

// Median replaces each pixel with the median of the 3 x 3 pixels around it. It sorts each
// column of three once for the three pixels that use it: the median is that of the highest
// of the lowest, the median of the medians, and the lowest of the highest.
func Median(w, h int, in, out []uint8) {
	parallel(h, func(lo, hi int) {
		type column struct{ low, middle, high uint8 }
		for y := lo; y < hi; y++ {
			above, here, below := in[max(y-1, 0)*w:][:w], in[y*w:][:w], in[min(y+1, h-1)*w:][:w]
			at := func(x int) column {
				a, b, c := above[x], here[x], below[x]
				low, high := min(a, b), max(a, b)
				return column{min(low, c), max(low, min(high, c)), max(high, c)}
			}
			to := out[y*w:][:w]
			left := at(0)
			centre := left
			for x := range to {
				right := at(min(x+1, w-1))
				to[x] = middle(
					max(left.low, centre.low, right.low),
					middle(left.middle, centre.middle, right.middle),
					min(left.high, centre.high, right.high))
				left, centre = centre, right
			}
		}
	})
}

// middle returns the median of three numbers.
func middle(a, b, c uint8) uint8 {
	low, high := min(a, b), max(a, b)
	return max(low, min(high, c))
}

// YUV converts pixels to planes of luma and chroma.
func YUV(in []kernels.RGB, y, u, v []uint8) {
	parallel(len(in), func(lo, hi int) {
		from := in[lo:hi]
		toY, toU, toV := y[lo:hi][:len(from)], u[lo:hi][:len(from)], v[lo:hi][:len(from)]
		for i := range from {
			r, g, b := int32(from[i].R), int32(from[i].G), int32(from[i].B)
			toY[i] = uint8((66*r+129*g+25*b+128)>>8 + 16)
			toU[i] = uint8((-38*r-74*g+112*b+128)>>8 + 128)
			toV[i] = uint8((112*r-94*g-18*b+128)>>8 + 128)
		}
	})
}

// Integral writes the running sums of each row of an image of width w.
func Integral(w int, in []uint8, out []uint32) {
	parallel(len(in)/w, func(lo, hi int) {
		for y := lo; y < hi; y++ {
			from := in[y*w:][:w]
			to := out[y*w:][:len(from)]
			var sum uint32
			for x, v := range from {
				sum += uint32(v)
				to[x] = sum
			}
		}
	})
}
