package kernels

import (
	"math"

	"quern.dev/kernel"
)

// The resamplings of box.
const (
	Average = iota
	Mode
	Minimum
	Maximum
	Quantile
)

// area is the pixels of a source in an output pixel: columns from left to right-1 and so on. Columns are taken modulo
// the width: those of a pixel that crosses the antimeridian go beyond it.
type area struct {
	left, right, top, bottom int
	x0, x1, y0, y1           float64
}

// weight returns the share of a column or row.
func share(i, first, end int, low, high float64) float64 {
	switch {
	case first+1 == end:
		return 1
	case i == first:
		return 1 - (low - float64(first))
	case i+1 == end:
		return 1 - (float64(end) - high)
	}
	return 1
}

// span returns the pixels between two positions.
func span(low, high float64, size int, wrap bool) (first, end int) {
	const e = 1e-10
	first, end = max(int(math.Floor(low+e)), 0), int(math.Ceil(high-e))
	if !wrap {
		end = min(end, size)
	}
	if first == end && end < size {
		end++
	}
	return first, end
}

// around returns the pixels between the positions of two corners. It is false if there are none.
func around(s *Source, x0, y0, x1, y1 float64) (a area, ok bool) {
	const e = 1e-10
	mx, my := float64(2*max(1, int(math.Ceil(1/s.XScale)))), float64(2*max(1, int(math.Ceil(1/s.YScale))))
	w, h := float64(s.Width), float64(s.Height)
	if !(x0 >= -mx && x1 >= -mx && y0 >= -my && y1 >= -my && x0-w <= mx && x1-w <= mx && y0-h <= my && y1-h <= my) {
		return a, false
	}
	x0, x1, y0, y1 = min(x0, x1), max(x0, x1), min(y0, y1), max(y0, y1)
	threshold := float64(min(2, s.Width/10))
	wrap := float64(x0*s.XScale) < threshold && float64((w-x1)*s.XScale) < threshold
	if wrap {
		x0, x1 = x1, x0+w
	}
	if !(x1 > -e && x0 < w+e && y1 > -e && y0 < h+e) {
		return a, false
	}
	a = area{x0: x0, x1: x1, y0: y0, y1: y1}
	a.left, a.right = span(x0, x1, s.Width, wrap)
	a.top, a.bottom = span(y0, y1, s.Height, false)
	return a, true
}

// box resamples a source by a statistic of the pixels in each output pixel. xs and ys are the positions of corners:
// one more per row and column than pixels.
//
//quern:kernel instantiate=uint8,int8,uint16,int16,uint32,int32,float32,float64
func box[T Sample](t kernel.Thread, method int, rank float64, s Source, o Output, table []Table, xs, ys []float64, src []T, mask []float32, dst []T, cover []uint8) {
	pixel, ok := tile(t, &o)
	if !ok {
		return
	}
	start(&o, table, pixel, dst, cover)
	x, y := t.Global2()
	corner := y*(o.Width+1) + x
	opposite := corner + o.Width + 2
	a, ok := around(&s, xs[corner], ys[corner], xs[opposite], ys[opposite])
	if !ok {
		return
	}
	below := covered(&o, table, pixel, dst, cover)
	found := false
	for band := range s.Bands {
		var value float64
		var ok bool
		switch method {
		case Average:
			value, ok = average(&s, &a, table, src, mask, band)
		case Mode:
			value, ok = mode(&s, &a, table, src, mask, band)
		case Quantile:
			value, ok = quantile(&s, &a, rank, o.Integer, table, src, mask, band)
		default:
			value, ok = extreme(&s, &a, method == Maximum, table, src, mask, band)
		}
		if ok {
			found = true
			put(&o, table, pixel, band, 1, value, below, dst)
		}
	}
	if found {
		finish(&o, pixel, 1, below, dst, cover)
	}
}

// inside returns the index of a pixel of an area, or -1 if it has no data.
func inside[T Sample](s *Source, table []Table, src []T, mask []float32, column, row, band int) int {
	if column >= s.Width {
		column %= s.Width
	}
	i := s.at(column, row)
	if !s.plain() && density(s, table, src, mask, i, band) <= thinnest {
		return -1
	}
	return i*s.Stride + band
}

// average returns the mean, weighted with areas.
func average[T Sample](s *Source, a *area, table []Table, src []T, mask []float32, band int) (mean float64, ok bool) {
	total := 0.0
	for row := a.top; row < a.bottom; row++ {
		wy := share(row, a.top, a.bottom, a.y0, a.y1)
		for column := a.left; column < a.right; column++ {
			w := float64(wy * share(column, a.left, a.right, a.x0, a.x1))
			i := inside(s, table, src, mask, column, row, band)
			if i < 0 || !(w > 0) {
				continue
			}
			total += w
			mean += float64(w / total * (float64(src[i]) - mean))
		}
	}
	return mean, total > 0
}

// mode returns the most frequent value: of several, the one that was the first to be so frequent.
func mode[T Sample](s *Source, a *area, table []Table, src []T, mask []float32, band int) (value float64, ok bool) {
	most := 0
	width := a.right - a.left
	for k := range width * (a.bottom - a.top) {
		i := inside(s, table, src, mask, a.left+k%width, a.top+k/width, band)
		if i < 0 {
			continue
		}
		v, count := src[i], 1
		for before := range k {
			j := inside(s, table, src, mask, a.left+before%width, a.top+before/width, band)
			if j >= 0 && src[j] == v {
				count++
			}
		}
		if count > most {
			most, value = count, float64(v)
		}
	}
	return value, most > 0
}

// extreme returns the least or the greatest value.
func extreme[T Sample](s *Source, a *area, greatest bool, table []Table, src []T, mask []float32, band int) (value float64, ok bool) {
	for row := a.top; row < a.bottom; row++ {
		for column := a.left; column < a.right; column++ {
			i := inside(s, table, src, mask, column, row, band)
			if i < 0 {
				continue
			}
			v := float64(src[i])
			if !ok || greatest && v > value || !greatest && v < value {
				value, ok = v, true
			}
		}
	}
	return value, ok
}

// key returns an integer that has the order of a value.
func key(v float64, integer bool) int64 {
	if integer {
		return int64(v)
	}
	b := int64(math.Float64bits(v))
	if b < 0 {
		b ^= math.MaxInt64
	}
	return b
}

// unkey is the inverse of key.
func unkey(k int64, integer bool) float64 {
	if integer {
		return float64(k)
	}
	if k < 0 {
		k ^= math.MaxInt64
	}
	return math.Float64frombits(uint64(k))
}

// quantile returns the value that has a share of the others below it, by bisection between the extremes.
func quantile[T Sample](s *Source, a *area, rank float64, integer bool, table []Table, src []T, mask []float32, band int) (value float64, ok bool) {
	low, high, n := int64(math.MaxInt64), int64(math.MinInt64), 0
	for row := a.top; row < a.bottom; row++ {
		for column := a.left; column < a.right; column++ {
			i := inside(s, table, src, mask, column, row, band)
			if i < 0 {
				continue
			}
			v := float64(src[i])
			if v != v {
				continue
			}
			k := key(v, integer)
			low, high = min(low, k), max(high, k)
			n++
		}
	}
	if n == 0 {
		return 0, false
	}
	index := int(math.Ceil(float64(rank*float64(n)) - 1))
	for low < high {
		middle := low + int64(uint64(high-low)>>1)
		count := 0
		for row := a.top; row < a.bottom; row++ {
			for column := a.left; column < a.right; column++ {
				i := inside(s, table, src, mask, column, row, band)
				if i < 0 {
					continue
				}
				if v := float64(src[i]); v == v && key(v, integer) <= middle {
					count++
				}
			}
		}
		if count > index {
			high = middle
		} else {
			low = middle + 1
		}
	}
	return unkey(low, integer), true
}
