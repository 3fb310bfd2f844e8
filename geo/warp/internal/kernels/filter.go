package kernels

import (
	"math"

	"quern.dev/kernel"
)

// The kernels of filter.
const (
	Triangle    = iota // bilinear
	Convolution        // cubic
	Spline
	SplineGDAL // with what GDAL adds beyond a distance of 2
	Lanczos
)

// Filter describes the kernel. It reaches over columns and rows from the first to the last one, counted from the
// pixel of the position.
type Filter struct {
	Kernel        int
	FirstX, LastX int
	FirstY, LastY int
}

// mostWeights is how many weights of columns are kept; others are computed again for each row.
const mostWeights = 32

// filter resamples a source by a weighted sum over a window that grows where the source is reduced.
//
//quern:kernel instantiate=uint8,int8,uint16,int16,uint32,int32,float32,float64
func filter[T Sample](t kernel.Thread, f Filter, s Source, o Output, table []Table, xs, ys []float64, src []T, mask []float32, dst []T, cover []uint8) {
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
	column, row := int(math.Floor(x-0.5)), int(math.Floor(y-0.5))
	dx, dy := x-0.5-float64(column), y-0.5-float64(row)
	firstX, lastX := max(f.FirstX, -column), min(f.LastX, s.Width-1-column)
	firstY, lastY := max(f.FirstY, -row), min(f.LastY, s.Height-1-row)
	if f.Kernel == Lanczos {
		firstX, lastX = within(firstX, lastX, dx, s.XScale)
		firstY, lastY = within(firstY, lastY, dy, s.YScale)
	}
	var weights [mostWeights]float64
	for i := firstX; i <= min(lastX, firstX+mostWeights-1); i++ {
		weights[i-firstX] = weigh(&f, i, dx, s.XScale)
	}
	plain := s.plain()
	found := false
	for band := range s.Bands {
		var value, total, dense float64
		count := 0
		for j := firstY; j <= lastY; j++ {
			at := s.at(column+firstX, row+j)
			var lineValue, lineTotal, lineDense float64
			for i := firstX; i <= lastX; i++ {
				d := 1.0
				if !plain {
					d = density(&s, table, src, mask, at, band)
				}
				if d >= sparsest {
					var w float64
					if k := i - firstX; k < mostWeights {
						w = weights[k]
					} else {
						w = weigh(&f, i, dx, s.XScale)
					}
					lineValue += float64(float64(src[at*s.Stride+band]) * w)
					lineDense += float64(d * w)
					lineTotal += w
					count++
				}
				at++
			}
			w := weigh(&f, j, dy, s.YScale)
			value += float64(lineValue * w)
			total += float64(lineTotal * w)
			dense += float64(lineDense * w)
		}
		if total < 0.000001 || dense < 0.000001 {
			continue
		}
		// Lanczos has negative weights, so with few pixels the errors are too large.
		if f.Kernel == Lanczos && count < (lastX-firstX+1)*(lastY-firstY+1)/2 {
			continue
		}
		if total < 0.99999 || total > 1.00001 {
			value, dense = value/total, dense/total
		}
		if dense < thinnest {
			continue
		}
		found = true
		put(&o, table, pixel, band, dense, value, below, dst)
	}
	if found {
		finish(&o, pixel, opaque, below, dst, cover)
	}
}

// within restricts a window to the pixels that a Lanczos kernel reaches.
func within(first, last int, d, scale float64) (int, int) {
	scale = min(scale, 1)
	for first <= last && (float64(first)-d)*scale < -3 {
		first++
	}
	for first <= last && (float64(last)-d)*scale > 3 {
		last--
	}
	return first, last
}

// weigh returns the weight of pixel i, where d is the distance of the position from pixel 0.
func weigh(f *Filter, i int, d, scale float64) float64 {
	x := float64((float64(i) - d) * min(scale, 1))
	a := math.Abs(x)
	switch f.Kernel {
	case Triangle:
		return max(1-a, 0)
	case Convolution:
		a2 := float64(a * a)
		switch {
		case a <= 1:
			return float64(a2*(float64(1.5*a)-2.5)) + 1
		case a <= 2:
			return float64(a2*(2.5-float64(0.5*a))) - float64(4*a) + 2
		}
		return 0
	case Spline, SplineGDAL:
		// Six times the cubic B-spline. The factor cancels out.
		if a >= 2 {
			if f.Kernel == SplineGDAL && x > 2 {
				return -float64((x - 2) * (x - 2) * (x - 2))
			}
			return 0
		}
		b, c := 2-a, max(1-a, 0)
		return float64(b*b*b) - float64(4*float64(c*c*c))
	}
	if a == 0 {
		return 1
	}
	if a >= 3 {
		return 0
	}
	third := sine(a / 3)
	// sin 3u = 3 sin u - 4 (sin u)^3
	full := float64(third * (3 - float64(4*float64(third*third))))
	return float64(full*third) * (3 / (math.Pi * math.Pi)) / float64(a*a)
}

// sine returns sin(pi x) for x from 0 to 1.
func sine(x float64) float64 {
	if x > 0.5 {
		x = 1 - x
	}
	u := float64(math.Pi * x)
	u2 := float64(u * u)
	// Taylor's series; the first term that is left out is below 1e-17 for u = pi/2.
	s := 1.0 / 51090942171709440000
	s = -math.FMA(s, u2, -1.0/121645100408832000)
	s = -math.FMA(s, u2, -1.0/355687428096000)
	s = -math.FMA(s, u2, -1.0/1307674368000)
	s = -math.FMA(s, u2, -1.0/6227020800)
	s = -math.FMA(s, u2, -1.0/39916800)
	s = -math.FMA(s, u2, -1.0/362880)
	s = -math.FMA(s, u2, -1.0/5040)
	s = -math.FMA(s, u2, -1.0/120)
	s = -math.FMA(s, u2, -1.0/6)
	return math.FMA(-float64(s*u2), u, u)
}
