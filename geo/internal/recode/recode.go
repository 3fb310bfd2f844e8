// Package recode converts samples between types as GDAL does: numbers are rounded to the nearest integer, halves away from zero, and
// limited to the values of the type; those that are not a number become 0; complex numbers become their real part.
package recode

import (
	"math"
	"strconv"
	"unsafe"

	"quern.dev/geo/tiff"
)

type integer interface {
	~uint8 | ~uint16 | ~uint32 | ~uint64 | ~int8 | ~int16 | ~int32 | ~int64
}

type number interface {
	integer | ~float32 | ~float64
}

// view returns the memory of b as numbers. b is aligned for them.
func view[T number](b []byte) []T {
	if len(b) == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&b[0])), len(b)/int(unsafe.Sizeof(*new(T))))
}

// Value returns a number as a sample of a type has it.
func Value(t tiff.Type, v float64) float64 {
	component, _ := t.Parts()
	switch component {
	case tiff.Float64:
		return v
	case tiff.Float32:
		return float64(float32(v))
	}
	least, most := component.Limits()
	switch {
	case v != v:
		return 0
	case v < 0:
		v = math.Ceil(v - 0.5)
	default:
		v = math.Floor(v + 0.5)
	}
	return max(least, min(v, most))
}

// Text returns a number of a type as NoData is written. The greatest integers of 64 bits, which float64 does not have, keep all digits.
func Text(t tiff.Type, v float64) string {
	switch {
	case v != v:
		return "nan"
	case t == tiff.Uint64 && v >= math.MaxUint64:
		return strconv.FormatUint(math.MaxUint64, 10)
	case t == tiff.Int64 && v >= math.MaxInt64:
		return strconv.FormatInt(math.MaxInt64, 10)
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// Beside returns a number whose sample is not that of avoid: the next one.
func Beside(t tiff.Type, v, avoid float64) float64 {
	if Value(t, v) != avoid {
		return v
	}
	switch _, most := t.Limits(); {
	case t == tiff.Float32:
		return float64(math.Nextafter32(float32(v), float32(math.Inf(1))))
	case t == tiff.Float64:
		return math.Nextafter(v, math.Inf(1))
	case avoid >= most:
		return avoid - 1
	}
	return avoid + 1
}

// ToFloats fills dst with samples of a type, which is not complex.
func ToFloats(t tiff.Type, dst []float64, src []byte) {
	switch t {
	case tiff.Uint8:
		widen[uint8](dst, src)
	case tiff.Int8:
		widen[int8](dst, src)
	case tiff.Uint16:
		widen[uint16](dst, src)
	case tiff.Int16:
		widen[int16](dst, src)
	case tiff.Uint32:
		widen[uint32](dst, src)
	case tiff.Int32:
		widen[int32](dst, src)
	case tiff.Uint64:
		widen[uint64](dst, src)
	case tiff.Int64:
		widen[int64](dst, src)
	case tiff.Float32:
		widen[float32](dst, src)
	case tiff.Float64:
		widen[float64](dst, src)
	}
}

func widen[T number](dst []float64, src []byte) {
	from := view[T](src)[:len(dst)]
	for i := range dst {
		dst[i] = float64(from[i])
	}
}

// FromFloats fills dst with samples of a type, which is not complex, from numbers.
func FromFloats(t tiff.Type, dst []byte, src []float64) {
	Convert(t, dst, tiff.Float64, tiff.Bytes(src))
}

// Convert fills dst with samples of type to from those of type from. Integers become integers exactly, if the type has them.
func Convert(to tiff.Type, dst []byte, from tiff.Type, src []byte) {
	if to == from {
		copy(dst, src)
		return
	}
	toPart, m := to.Parts()
	fromPart, n := from.Parts()
	switch toPart {
	case tiff.Uint8:
		convertTo(view[uint8](dst), m, fromPart, src, n, toInteger[uint8](toPart))
	case tiff.Int8:
		convertTo(view[int8](dst), m, fromPart, src, n, toInteger[int8](toPart))
	case tiff.Uint16:
		convertTo(view[uint16](dst), m, fromPart, src, n, toInteger[uint16](toPart))
	case tiff.Int16:
		convertTo(view[int16](dst), m, fromPart, src, n, toInteger[int16](toPart))
	case tiff.Uint32:
		convertTo(view[uint32](dst), m, fromPart, src, n, toInteger[uint32](toPart))
	case tiff.Int32:
		convertTo(view[int32](dst), m, fromPart, src, n, toInteger[int32](toPart))
	case tiff.Uint64:
		convertTo(view[uint64](dst), m, fromPart, src, n, toInteger[uint64](toPart))
	case tiff.Int64:
		convertTo(view[int64](dst), m, fromPart, src, n, toInteger[int64](toPart))
	case tiff.Float32:
		convertTo(view[float32](dst), m, fromPart, src, n, conversions[float32]{func(v float64) float32 { return float32(v) }, func(v int64) float32 { return float32(v) }, func(v uint64) float32 { return float32(v) }})
	case tiff.Float64:
		convertTo(view[float64](dst), m, fromPart, src, n, conversions[float64]{func(v float64) float64 { return v }, func(v int64) float64 { return float64(v) }, func(v uint64) float64 { return float64(v) }})
	}
}

// conversions make a number of a type.
type conversions[T number] struct {
	float    func(float64) T
	signed   func(int64) T
	unsigned func(uint64) T
}

func toInteger[T integer](t tiff.Type) conversions[T] {
	least, most := t.Limits()
	var lowest, highest T = 0, ^T(0)
	if least < 0 {
		lowest = T(1) << (8*unsafe.Sizeof(lowest) - 1)
		highest = ^lowest
	}
	return conversions[T]{
		float: func(v float64) T {
			v = Value(t, v)
			switch { // float64 does not have the greatest integers of 64 bits
			case v >= most:
				return highest
			case v <= least:
				return lowest
			}
			return T(v)
		},
		signed: func(v int64) T {
			switch {
			case v < 0 && (least == 0 || v < int64(lowest)):
				return lowest
			case v > 0 && uint64(v) > uint64(highest):
				return highest
			}
			return T(v)
		},
		unsigned: func(v uint64) T {
			if v > uint64(highest) {
				return highest
			}
			return T(v)
		},
	}
}

// convertTo converts samples of n numbers to samples of m numbers.
func convertTo[T number](dst []T, m int, from tiff.Type, src []byte, n int, c conversions[T]) {
	switch from {
	case tiff.Uint8:
		each(dst, m, view[uint8](src), n, func(v uint8) T { return c.unsigned(uint64(v)) })
	case tiff.Uint16:
		each(dst, m, view[uint16](src), n, func(v uint16) T { return c.unsigned(uint64(v)) })
	case tiff.Uint32:
		each(dst, m, view[uint32](src), n, func(v uint32) T { return c.unsigned(uint64(v)) })
	case tiff.Uint64:
		each(dst, m, view[uint64](src), n, c.unsigned)
	case tiff.Int8:
		each(dst, m, view[int8](src), n, func(v int8) T { return c.signed(int64(v)) })
	case tiff.Int16:
		each(dst, m, view[int16](src), n, func(v int16) T { return c.signed(int64(v)) })
	case tiff.Int32:
		each(dst, m, view[int32](src), n, func(v int32) T { return c.signed(int64(v)) })
	case tiff.Int64:
		each(dst, m, view[int64](src), n, c.signed)
	case tiff.Float32:
		each(dst, m, view[float32](src), n, func(v float32) T { return c.float(float64(v)) })
	case tiff.Float64:
		each(dst, m, view[float64](src), n, c.float)
	}
}

func each[T, S number](dst []T, m int, src []S, n int, convert func(S) T) {
	for i := range len(dst) / m {
		for k := range m {
			dst[i*m+k] = 0
			if k < n {
				dst[i*m+k] = convert(src[i*n+k])
			}
		}
	}
}
