package host

import (
	"unsafe"

	"quern.dev/kernel"
)

// Narrow, Int64 and Uint64 are versions of [kernel.ToInteger] that the Go
// compiler inlines, for code that converts often. For a value in range they cost
// one integer comparison more than Go's own conversion. For other values they
// rely on Go's conversion to int64 giving one of the ends of the int64 range, or
// 0 for NaN.

// Narrow converts to an integer of at most 32 bits.
func Narrow[To ~int8 | ~uint8 | ~int16 | ~uint16 | ~int32 | ~uint32, From kernel.Float](x From) To {
	y := int64(x)
	v := To(y)
	if int64(v) != y {
		v = 0
		if x > 0 {
			v = ^To(0)
			if v < 0 {
				v = ^(1 << (8*unsafe.Sizeof(v) - 1))
			}
		} else if x < 0 && ^To(0) < 0 {
			v = 1 << (8*unsafe.Sizeof(v) - 1)
		}
	}
	return v
}

// Int64 converts to a signed integer of 64 bits.
func Int64[To ~int | ~int64, From kernel.Float](x From) To {
	y := int64(x)
	if uint64(y)-(1<<63-1) > 1 { // neither the greatest nor the least
		return To(y)
	}
	switch {
	case x > 0:
		return 1<<63 - 1
	case x < 0:
		return -1 << 63
	}
	return 0
}

// Uint64 converts to an unsigned integer of 64 bits.
func Uint64[To ~uint | ~uint64, From kernel.Float](x From) To {
	y := int64(x)
	if uint64(y) < 1<<63-1 {
		return To(y)
	}
	switch {
	case x >= 1<<64:
		return 1<<64 - 1
	case x > 0:
		return To(uint64(x))
	}
	return 0
}
