package warp

import (
	"context"
	"math"
	"unsafe"

	"quern.dev/geo/internal/blocks"
	"quern.dev/geo/tiff"
	"quern.dev/geo/warp/internal/kernels"
)

// number is a type of samples, or of their real and imaginary parts.
type number interface {
	kernels.Sample | uint64 | int64
}

// working returns the type in which samples are computed, which has all values of both types. It is float64 for integers of
// 64 bits, as in GDAL.
func working(a, b tiff.Type) tiff.Type {
	if a == b && a != tiff.Int64 && a != tiff.Uint64 {
		return a
	}
	bits := func(t tiff.Type) (signed, unsigned int) {
		if least, _ := t.Limits(); least < 0 {
			return 8 * t.Size(), 0
		}
		return 0, 8 * t.Size()
	}
	if a.Float() || b.Float() {
		if a.Float() && b.Float() || max(wide(a), wide(b)) > 2 {
			return tiff.Float64
		}
		return tiff.Float32
	}
	s1, u1 := bits(a)
	s2, u2 := bits(b)
	signed, unsigned := max(s1, s2), max(u1, u2)
	if signed == 0 {
		return integer(unsigned, []tiff.Type{tiff.Uint8, tiff.Uint16, tiff.Uint32})
	}
	return integer(max(signed, 2*unsigned), []tiff.Type{tiff.Int8, tiff.Int16, tiff.Int32})
}

// wide is the size of an integer type; that of float32 does not count, and float64 is wider than any.
func wide(t tiff.Type) int {
	switch t {
	case tiff.Float32:
		return 0
	case tiff.Float64:
		return 8
	}
	return t.Size()
}

func integer(bits int, types []tiff.Type) tiff.Type {
	for _, t := range types {
		if 8*t.Size() >= bits {
			return t
		}
	}
	return tiff.Float64
}

// readAs reads a window of a source as samples of another type. A complex sample is two of them.
func readAs[T kernels.Sample](ctx context.Context, s *source, dst []T, win tiff.Region) error {
	of, parts := s.h.Type.Parts()
	same := of == tiff.TypeOf[T]()
	switch {
	case same && parts == 1:
		return blocks.Read(ctx, s.reader, dst, win)
	case same:
		return readParts(ctx, s, dst, win)
	}
	switch of {
	case tiff.Uint8:
		return convert[uint8](ctx, s, dst, win)
	case tiff.Int8:
		return convert[int8](ctx, s, dst, win)
	case tiff.Uint16:
		return convert[uint16](ctx, s, dst, win)
	case tiff.Int16:
		return convert[int16](ctx, s, dst, win)
	case tiff.Uint32:
		return convert[uint32](ctx, s, dst, win)
	case tiff.Int32:
		return convert[int32](ctx, s, dst, win)
	case tiff.Uint64:
		return convert[uint64](ctx, s, dst, win)
	case tiff.Int64:
		return convert[int64](ctx, s, dst, win)
	case tiff.Float32:
		return convert[float32](ctx, s, dst, win)
	}
	return convert[float64](ctx, s, dst, win)
}

// convert is readAs for samples of type S, or with parts of that type.
func convert[S number, T kernels.Sample](ctx context.Context, s *source, dst []T, win tiff.Region) error {
	words := make([]complex128, (len(dst)*int(unsafe.Sizeof(*new(S)))+15)/16) // aligned for every type
	from := unsafe.Slice((*S)(unsafe.Pointer(unsafe.SliceData(words))), len(dst))
	if err := readParts(ctx, s, from, win); err != nil {
		return err
	}
	for i, v := range from {
		dst[i] = T(v)
	}
	return nil
}

// readParts reads samples as they are; a complex one is two numbers.
func readParts[S number](ctx context.Context, s *source, dst []S, win tiff.Region) error {
	switch s.h.Type {
	case tiff.ComplexI16:
		return blocks.Read(ctx, s.reader, joined[tiff.ComplexInt16](dst), win)
	case tiff.ComplexI32:
		return blocks.Read(ctx, s.reader, joined[tiff.ComplexInt32](dst), win)
	case tiff.Complex64:
		return blocks.Read(ctx, s.reader, joined[complex64](dst), win)
	case tiff.Complex128:
		return blocks.Read(ctx, s.reader, joined[complex128](dst), win)
	}
	return blocks.Read(ctx, s.reader, dst, win)
}

// joined views the parts of complex numbers as these numbers.
func joined[C any, S number](parts []S) []C {
	return unsafe.Slice((*C)(unsafe.Pointer(unsafe.SliceData(parts))), len(parts)/2)
}

// store writes samples to the canvas, from the sample at on, in the output's type.
func store[T kernels.Sample](c *canvas, t tiff.Type, at int, from []T) {
	to, _ := t.Parts()
	switch to {
	case tiff.TypeOf[T]():
		copy(samples[T](c.pixels)[at:], from)
	case tiff.Uint8:
		narrow[uint8](c, to, at, from)
	case tiff.Int8:
		narrow[int8](c, to, at, from)
	case tiff.Uint16:
		narrow[uint16](c, to, at, from)
	case tiff.Int16:
		narrow[int16](c, to, at, from)
	case tiff.Uint32:
		narrow[uint32](c, to, at, from)
	case tiff.Int32:
		narrow[int32](c, to, at, from)
	case tiff.Uint64:
		narrow[uint64](c, to, at, from)
	case tiff.Int64:
		narrow[int64](c, to, at, from)
	case tiff.Float32:
		narrow[float32](c, to, at, from)
	default:
		narrow[float64](c, to, at, from)
	}
}

// narrow rounds to the nearest integer, halves away from zero, and clamps. NaN becomes 0.
func narrow[O number, T kernels.Sample](c *canvas, t tiff.Type, at int, from []T) {
	to := unsafe.Slice((*O)(unsafe.Pointer(unsafe.SliceData(c.pixels))), len(c.pixels)/int(unsafe.Sizeof(*new(O))))[at:]
	if t.Float() {
		for i, v := range from {
			to[i] = O(v)
		}
		return
	}
	least, most := t.Limits()
	for i, v := range from {
		f := float64(v)
		switch {
		case f != f:
			to[i] = 0
		case f >= most:
			to[i] = greatest[O]()
		default:
			to[i] = O(max(math.Round(f), least))
		}
	}
}

// greatest returns the greatest value of an integer type.
func greatest[O number]() O {
	var zero O
	if all := zero - 1; all > 0 {
		return all
	}
	most := O(1)
	for most*2 > most {
		most *= 2
	}
	return most - 1 + most
}
