package kernels

import (
	"math"

	"quern.dev/kernel"
)

// The resamplings of point.
const (
	Nearest = iota
	Bilinear
	Cubic
)

// point resamples a source where its pixels are not much smaller than those of the output: at the nearest pixel,
// between 2 x 2 or between 4 x 4 pixels.
//
//quern:kernel instantiate=uint8,int8,uint16,int16,uint32,int32,float32,float64
func point[T Sample](t kernel.Thread, method int, s Source, o Output, table []Table, xs, ys []float64, src []T, mask []float32, dst []T, cover []uint8) {
	pixel, ok := tile(t, &o)
	if !ok {
		return
	}
	start(&o, table, pixel, dst, cover)
	x, y := xs[pixel], ys[pixel]
	opaque := present(&s, table, src, mask, x, y)
	if opaque < sparsest {
		return
	}
	below := covered(&o, table, pixel, dst, cover)
	left, top := int(math.Floor(x-0.5)), int(math.Floor(y-0.5))
	if method == Bilinear && left >= 0 && top >= 0 && left+1 < s.Width && top+1 < s.Height && s.plain() {
		i := s.at(left, top) * s.Stride
		j := i + s.W*s.Stride
		// Of the left and the upper pixels, and of the others.
		rx, ry := 1.5-(x-float64(left)), 1.5-(y-float64(top))
		qx, qy := 1-rx, 1-ry
		for band := range s.Bands {
			upper := float64(float64(src[i+band])*rx) + float64(float64(src[i+s.Stride+band])*qx)
			lower := float64(float64(src[j+band])*rx) + float64(float64(src[j+s.Stride+band])*qx)
			put(&o, table, pixel, band, 1, float64(upper*ry)+float64(lower*qy), below, dst)
		}
		finish(&o, pixel, 1, below, dst, cover)
		return
	}
	if method == Cubic && s.plain() {
		if left, top = int(x-0.5), int(y-0.5); left >= 1 && top >= 1 && left+2 < s.Width && top+2 < s.Height {
			wx, wy := cubicWeights(x-0.5-float64(left)), cubicWeights(y-0.5-float64(top))
			first := s.at(left-1, top-1) * s.Stride
			for band := range s.Bands {
				value := 0.0
				at := first + band
				for j := 0; j < 4; j++ {
					var line float64
					for i := 0; i < 4; i++ {
						line += float64(float64(src[at+i*s.Stride]) * wx[i])
					}
					value += float64(line * wy[j])
					at += s.W * s.Stride
				}
				put(&o, table, pixel, band, 1, value, below, dst)
			}
			finish(&o, pixel, 1, below, dst, cover)
			return
		}
	}
	found := false
	for band := range s.Bands {
		var value, weight float64
		switch {
		case method == Nearest || s.Width == 1 || s.Height == 1:
			column, row, _ := nearest(&s, x, y)
			i := s.at(column, row)
			value, weight = float64(src[i*s.Stride+band]), density(&s, table, src, mask, i, band)
		case method == Cubic:
			value, weight = cubic(&s, table, src, mask, band, x, y)
		default:
			value, weight = bilinear(&s, table, src, mask, band, x, y)
		}
		if weight < thinnest {
			continue
		}
		found = true
		put(&o, table, pixel, band, weight, value, below, dst)
	}
	if found {
		finish(&o, pixel, opaque, below, dst, cover)
	}
}

// bilinear interpolates between the pixels around a position that have data.
func bilinear[T Sample](s *Source, table []Table, src []T, mask []float32, band int, x, y float64) (value, weight float64) {
	left, top := int(math.Floor(x-0.5)), int(math.Floor(y-0.5))
	rx, ry := 1.5-(x-float64(left)), 1.5-(y-float64(top)) // of the left and the upper pixels
	if left < 0 {
		left, rx = 0, 1
	}
	if top < 0 {
		top, ry = 0, 1
	}
	var sum, total, dense float64
	for j := range 2 {
		for i := range 2 {
			column, row := left+i, top+j
			if column >= s.Width || row >= s.Height {
				continue
			}
			wx, wy := rx, ry
			if i == 1 {
				wx = 1 - rx
			}
			if j == 1 {
				wy = 1 - ry
			}
			w := float64(wx * wy)
			at := s.at(column, row)
			d := 1.0
			if !s.plain() {
				d = density(s, table, src, mask, at, band)
			}
			if w == 0 || d <= sparsest {
				continue
			}
			sum += float64(float64(src[at*s.Stride+band]) * w)
			dense += float64(d * w)
			total += w
		}
	}
	switch {
	case total == 1:
		return sum, dense
	case total < 0.00001:
		return 0, 0
	}
	return sum / total, dense / total
}

// cubicWeights returns the weights of Keys' convolution with a = -0.5 for a distance from the second of four pixels.
func cubicWeights(x float64) [4]float64 {
	half, three := float64(0.5*x), float64(3*x)
	half2 := float64(half * x)
	return [4]float64{
		half * (float64(x*(2-x)) - 1),
		1 + float64(half2*(three-5)),
		half * (1 + float64(x*(4-three))),
		half2 * (x - 1),
	}
}

// cubic interpolates between 4 x 4 pixels; where one is outside or has no data, it is bilinear.
func cubic[T Sample](s *Source, table []Table, src []T, mask []float32, band int, x, y float64) (value, weight float64) {
	left, top := int(x-0.5), int(y-0.5)
	if left < 1 || top < 1 || left+2 >= s.Width || top+2 >= s.Height {
		return bilinear(s, table, src, mask, band, x, y)
	}
	wx, wy := cubicWeights(x-0.5-float64(left)), cubicWeights(y-0.5-float64(top))
	plain := s.plain()
	//quern:nounroll
	for j := 0; j < 4; j++ {
		at := s.at(left-1, top-1+j)
		var line, dense float64
		//quern:unroll
		for i := 0; i < 4; i++ {
			if !plain {
				d := density(s, table, src, mask, at+i, band)
				if d < sparsest {
					return bilinear(s, table, src, mask, band, x, y)
				}
				dense += float64(d * wx[i])
			}
			line += float64(float64(src[(at+i)*s.Stride+band]) * wx[i])
		}
		value += float64(line * wy[j])
		weight += float64(dense * wy[j])
	}
	if plain {
		weight = 1
	}
	return value, weight
}
