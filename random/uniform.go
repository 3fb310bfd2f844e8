package random

import (
	"math"

	"quern.dev/gpu"
	"quern.dev/kernel"
)

// Float is the element types of continuous distributions.
type Float interface{ float32 | float64 }

// Integer is the element types of discrete distributions.
type Integer interface {
	int | int32 | int64 | uint | uint32 | uint64
}

// store4 stores v as the elements of group i. Group 0 begins shift elements before
// dst, and elements outside dst are dropped.
func store4[T any](dst []T, i, shift int, v [4]T) {
	if shift == 0 && 4*i+3 < len(dst) {
		dst[4*i], dst[4*i+1], dst[4*i+2], dst[4*i+3] = v[0], v[1], v[2], v[3] // one access
		return
	}
	for k := range 4 {
		if at := 4*i + k - shift; at >= 0 && at < len(dst) {
			dst[at] = v[k]
		}
	}
}

// store2 is store4 for groups of two elements.
func store2[T any](dst []T, i, shift int, a, b T) {
	if shift == 0 && 2*i+1 < len(dst) {
		dst[2*i], dst[2*i+1] = a, b
		return
	}
	if at := 2*i - shift; at >= 0 && at < len(dst) {
		dst[at] = a
	}
	if at := 2*i + 1 - shift; at >= 0 && at < len(dst) {
		dst[at] = b
	}
}

// In the kernels that follow, a thread computes a group of four words, and stores
// the two or four elements that it makes of them. shift is the number of elements
// of the first group that lie before src.Offset; usually it is 0.

// words32 returns the group of the thread.
func (s Source) words32(t kernel.Thread) [4]uint32 {
	return s.group(s.Offset/4+uint64(t.Global()), 0)
}

func (s Source) words64(t kernel.Thread) (a, b uint64) {
	return s.group64(s.Offset/2+uint64(t.Global()), 0)
}

// grid32 returns the grid and the shift for n elements of one word.
func (s Source) grid32(n int) (g gpu.Grid, shift int) {
	shift = int(s.Offset % 4)
	return gpu.Linear((n-1+shift)/4 + 1), shift
}

// grid64 returns the grid and the shift for n elements of two words.
func (s Source) grid64(n int) (g gpu.Grid, shift int) {
	shift = int(s.Offset % 2)
	return gpu.Linear((n-1+shift)/2 + 1), shift
}

//quern:kernel specialise=shift:0
func fillBits32(t kernel.Thread, src Source, shift int, dst []uint32) {
	if i := t.Global(); 4*i-shift < len(dst) {
		store4(dst, i, shift, src.words32(t))
	}
}

//quern:kernel specialise=shift:0
func fillBits64(t kernel.Thread, src Source, shift int, dst []uint64) {
	if i := t.Global(); 2*i-shift < len(dst) {
		a, b := src.words64(t)
		store2(dst, i, shift, a, b)
	}
}

// scaled32 maps w to [low, last], the floats of [low, low+width).
func scaled32(w uint32, low, width, last float32) float32 {
	return min(low+float32(kernel.UnitFloat32(w)*width), last)
}

func scaled64(w uint64, low, width, last float64) float64 {
	return min(low+float64(unit64(w)*width), last)
}

//quern:kernel specialise=shift:0
func fillUniform32(t kernel.Thread, src Source, shift int, low, width, last float32, dst []float32) {
	if i := t.Global(); 4*i-shift < len(dst) {
		w := src.words32(t)
		store4(dst, i, shift, [4]float32{
			scaled32(w[0], low, width, last), scaled32(w[1], low, width, last),
			scaled32(w[2], low, width, last), scaled32(w[3], low, width, last),
		})
	}
}

//quern:kernel specialise=shift:0
func fillUniform64(t kernel.Thread, src Source, shift int, low, width, last float64, dst []float64) {
	if i := t.Global(); 2*i-shift < len(dst) {
		a, b := src.words64(t)
		store2(dst, i, shift, scaled64(a, low, width, last), scaled64(b, low, width, last))
	}
}

// Bits fills dst with random bits: element i is src.Uint32(i) or src.Uint64(i).
func Bits[T uint32 | uint64](s *gpu.Stream, src Source, dst *gpu.Buffer[T]) error {
	const op = "Bits"
	if err := check(op, s, src, dst); err != nil || dst.Len() == 0 {
		return err
	}
	if d, ok := any(dst).(*gpu.Buffer[uint32]); ok {
		g, shift := src.grid32(d.Len())
		return failed(op, LaunchFillBits32(s, g, src, shift, d))
	}
	d := any(dst).(*gpu.Buffer[uint64])
	g, shift := src.grid64(d.Len())
	return failed(op, LaunchFillBits64(s, g, src, shift, d))
}

// Uniform fills dst with numbers from the uniform distribution over [low, high).
// Element i is low + (high-low)*u, where u is src.Float32(i) or src.Float64(i); if
// that rounds to high, it is the number before high.
func Uniform[T Float](s *gpu.Stream, src Source, dst *gpu.Buffer[T], low, high T) error {
	const op = "Uniform"
	if err := check(op, s, src, dst); err != nil {
		return err
	}
	if !(low < high) || math.IsInf(float64(high-low), 0) {
		return invalid(op, "high", "is %v and low is %v; low must be less than high, and their difference finite", high, low)
	}
	if dst.Len() == 0 {
		return nil
	}
	if d, ok := any(dst).(*gpu.Buffer[float32]); ok {
		low, high := float32(low), float32(high)
		g, shift := src.grid32(d.Len())
		return failed(op, LaunchFillUniform32(s, g, src, shift, low, high-low, math.Nextafter32(high, low), d))
	}
	d := any(dst).(*gpu.Buffer[float64])
	g, shift := src.grid64(d.Len())
	return failed(op, LaunchFillUniform64(s, g, src, shift, float64(low), float64(high-low), math.Nextafter(float64(high), float64(low)), d))
}
