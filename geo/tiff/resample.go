package tiff

import "math"

// Resampling is how overviews are made.
type Resampling uint8

// Resamplings. Images with a palette always use Nearest.
const (
	// Average is the mean of the pixels of 2 x 2 that have data: not NoData, not masked, and weighted
	// with straight alpha. Integers are rounded to nearest, halves up. A pixel has data if one of
	// the four has.
	Average Resampling = iota
	// Nearest is the upper left one of 2 x 2 pixels.
	Nearest
)

// halver makes rows of an overview from pairs of rows.
type halver struct {
	h       *Header
	nearest bool
	noData  uint64
	hasNo   bool
	alpha   int // band of straight alpha, or -1
}

func newHalver(h *Header, r Resampling) halver {
	v := halver{h: h, nearest: r == Nearest || h.Photometric == Palette, alpha: -1}
	v.noData, v.hasNo = h.noDataBits()
	if a := h.alpha(); a >= 0 && h.Extra[a-h.Bands+len(h.Extra)] == StraightAlpha {
		v.alpha = a
	}
	return v
}

// row makes one row from two rows of width pixels; b is a again for the last row of an
// odd number. ma and mb are the masks of the rows, or nil, and out gets the mask of the result.
func (v halver) row(dst, a, b []byte, width int, out, ma, mb []byte) {
	if ma != nil {
		halveMask(out, ma, mb, width, v.nearest)
	}
	if v.nearest {
		n := v.h.pixelBytes()
		for x := 0; x < width; x += 2 {
			copy(dst[x/2*n:][:n], a[x*n:])
		}
		return
	}
	switch v.h.Type {
	case Uint8:
		halveIntegers[uint8](v, dst, a, b, width, ma, mb)
	case Uint16:
		halveIntegers[uint16](v, dst, a, b, width, ma, mb)
	case Uint32:
		halveIntegers[uint32](v, dst, a, b, width, ma, mb)
	case Uint64:
		halveWide[uint64](v, dst, a, b, width, ma, mb)
	case Int8:
		halveIntegers[int8](v, dst, a, b, width, ma, mb)
	case Int16, ComplexI16:
		halveIntegers[int16](v, dst, a, b, width, ma, mb)
	case Int32, ComplexI32:
		halveIntegers[int32](v, dst, a, b, width, ma, mb)
	case Int64:
		halveWide[int64](v, dst, a, b, width, ma, mb)
	case Float32, Complex64:
		halveFloats[float32](v, dst, a, b, width, ma, mb)
	case Float64, Complex128:
		halveFloats[float64](v, dst, a, b, width, ma, mb)
	}
}

// halveMask joins masks: a result is valid if one of its pixels is.
func halveMask(out, a, b []byte, width int, nearest bool) {
	for x := 0; x < width; x += 2 {
		right := min(x+1, width-1)
		m := a[x]
		if !nearest {
			m |= a[right] | b[x] | b[right]
		}
		if m != 0 {
			m = 255
		}
		out[x/2] = m
	}
}

// components returns the numbers per pixel.
func (v halver) components() int {
	return v.h.pixelBytes() / typeTable[v.h.Type].component
}

// plain reports whether all pixels count alike.
func (v halver) plain(mask []byte) bool { return !v.hasNo && v.alpha < 0 && mask == nil }

type narrow interface {
	uint8 | uint16 | uint32 | int8 | int16 | int32
}

func halveIntegers[T narrow](v halver, dst, a, b []byte, width int, ma, mb []byte) {
	n := v.components()
	out, top, bottom := viewNumbers[T](dst), viewNumbers[T](a), viewNumbers[T](b)
	if v.plain(ma) {
		for x := 0; x+1 < width; x += 2 {
			i := x * n
			p, q := top[i:i+2*n], bottom[i:i+2*n]
			o := out[x/2*n:][:n]
			for k := range o {
				o[k] = T((int64(p[k]) + int64(p[n+k]) + int64(q[k]) + int64(q[n+k]) + 2) >> 2)
			}
		}
		if width&1 == 1 {
			i := (width - 1) * n
			for k := range n {
				out[width/2*n+k] = T((int64(top[i+k]) + int64(bottom[i+k]) + 1) >> 1)
			}
		}
		return
	}
	halveWeighted(v, out, top, bottom, width, ma, mb, func(sum, weight float64) T { return T(math.Floor(sum/weight + 0.5)) })
}

// halveWide averages 64-bit integers, whose sums do not fit floats.
func halveWide[T int64 | uint64](v halver, dst, a, b []byte, width int, ma, mb []byte) {
	n := v.components()
	out, top, bottom := viewNumbers[T](dst), viewNumbers[T](a), viewNumbers[T](b)
	for x := 0; x < width; x += 2 {
		right := min(x+1, width-1)
		for k := range n {
			var whole, rest, count T
			for _, p := range [4]struct {
				row  []T
				x    int
				mask []byte
			}{{top, x, ma}, {top, right, ma}, {bottom, x, mb}, {bottom, right, mb}} {
				value := p.row[p.x*n+k]
				if p.mask != nil && p.mask[p.x] == 0 || v.hasNo && uint64(value) == v.noData {
					continue
				}
				whole, rest, count = whole+value>>2, rest+value&3, count+1
			}
			out[x/2*n+k] = meanOfWide(v, top[x*n+k], whole, rest, count)
		}
	}
}

// meanOfWide divides the sum 4*whole + rest of count values, rounding halves up.
func meanOfWide[T int64 | uint64](v halver, first, whole, rest, count T) T {
	switch {
	case count == 0 && v.hasNo:
		return T(v.noData)
	case count == 0:
		return first
	}
	// 4*whole/count = 4*(whole/count) + 4*(whole%count)/count
	q, r := whole/count, whole%count
	numerator := 2*(4*r+rest) + count
	d := numerator / (2 * count)
	if numerator < 0 && numerator%(2*count) != 0 {
		d--
	}
	return 4*q + d
}

func halveFloats[T float32 | float64](v halver, dst, a, b []byte, width int, ma, mb []byte) {
	n := v.components()
	out, top, bottom := viewNumbers[T](dst), viewNumbers[T](a), viewNumbers[T](b)
	if v.plain(ma) {
		for x := 0; x < width; x += 2 {
			i, j := x*n, min(x+1, width-1)*n
			for k := range n {
				out[x/2*n+k] = T((float64(top[i+k]) + float64(top[j+k]) + float64(bottom[i+k]) + float64(bottom[j+k])) / 4)
			}
		}
		return
	}
	halveWeighted(v, out, top, bottom, width, ma, mb, func(sum, weight float64) T { return T(sum / weight) })
}

// number is a component of a sample that float64 holds exactly.
type number interface {
	narrow | float32 | float64
}

// halveWeighted averages the pixels that have data.
func halveWeighted[T number](v halver, out, top, bottom []T, width int, ma, mb []byte, mean func(sum, weight float64) T) {
	n := v.components()
	none := fromBits[T](v.h.Type, v.noData)
	for x := 0; x < width; x += 2 {
		right := min(x+1, width-1)
		pixels := [4][]T{top[x*n:][:n], top[right*n:][:n], bottom[x*n:][:n], bottom[right*n:][:n]}
		weights := [4]float64{1, 1, 1, 1}
		if ma != nil {
			for i, m := range [4]byte{ma[x], ma[right], mb[x], mb[right]} {
				if m == 0 {
					weights[i] = 0
				}
			}
		}
		for k := range n {
			var sum, total float64
			for i, p := range pixels {
				w := weights[i]
				if v.alpha >= 0 && k != v.alpha {
					w *= float64(p[v.alpha])
				}
				if w == 0 || v.hasNo && k != v.alpha && same(float64(p[k]), float64(none)) {
					continue
				}
				sum, total = sum+w*float64(p[k]), total+w
			}
			switch {
			case total != 0:
				out[x/2*n+k] = mean(sum, total)
			case v.hasNo:
				out[x/2*n+k] = none
			default:
				out[x/2*n+k] = pixels[0][k]
			}
		}
	}
}

// same reports whether a value is NoData, which may be NaN.
func same(value, none float64) bool { return value == none || value != value && none != none }

// fromBits returns the component with the given bits.
func fromBits[T number](t Type, bits uint64) T {
	switch typeTable[t].component {
	case 4:
		if typeTable[t].format == formatFloat || typeTable[t].format == formatComplex {
			return T(math.Float32frombits(uint32(bits)))
		}
	case 8:
		return T(math.Float64frombits(bits))
	}
	if f := typeTable[t].format; f == formatInt || f == formatComplexInt {
		shift := 64 - 8*typeTable[t].component
		return T(int64(bits<<shift) >> shift)
	}
	return T(bits)
}
