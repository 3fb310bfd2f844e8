package kernels

import (
	"math"

	"quern.dev/kernel"
)

// Number is a component of a sample that float64 holds exactly.
type Number interface {
	uint8 | uint16 | uint32 | int8 | int16 | int32 | float32 | float64
}

// Pyramid describes an image that is halved. Bands are components per pixel.
type Pyramid struct {
	Width, Height, Bands int
	Alpha                int // band of straight alpha, or -1
	HasNoData            bool
	Float                bool
	Nearest              bool
}

// same reports whether a value is NoData, which may be NaN.
func same(value, none float64) bool { return value == none || value != value && none != none }

// halve averages 2 x 2 pixels that have data, with the sums and the rounding of package tiff: a thread per
// pixel of the result.
//
//quern:kernel block=32x8 instantiate=uint8,uint16,uint32,int8,int16,int32,float32,float64
func halve[T Number](t kernel.Thread, g Pyramid, none T, src, dst []T) {
	x, y := t.Global2()
	width, height := (g.Width+1)/2, (g.Height+1)/2
	if x >= width || y >= height {
		return
	}
	left, top := 2*x, 2*y
	right, bottom := min(left+1, g.Width-1), min(top+1, g.Height-1)
	p := [4]int{
		(top*g.Width + left) * g.Bands, (top*g.Width + right) * g.Bands,
		(bottom*g.Width + left) * g.Bands, (bottom*g.Width + right) * g.Bands,
	}
	out := (y*width + x) * g.Bands
	for k := range g.Bands {
		if g.Nearest {
			dst[out+k] = src[p[0]+k]
			continue
		}
		var sum, total float64
		for i := range 4 {
			v := float64(src[p[i]+k])
			weight := 1.0
			if g.Alpha >= 0 && k != g.Alpha {
				weight = float64(src[p[i]+g.Alpha])
			}
			if weight == 0 || g.HasNoData && k != g.Alpha && same(v, float64(none)) {
				continue
			}
			sum, total = sum+float64(weight*v), total+weight
		}
		switch {
		case total == 0 && g.HasNoData:
			dst[out+k] = none
		case total == 0:
			dst[out+k] = src[p[0]+k]
		case g.Float:
			dst[out+k] = T(sum / total)
		default:
			dst[out+k] = T(math.Floor(sum/total + 0.5))
		}
	}
}
