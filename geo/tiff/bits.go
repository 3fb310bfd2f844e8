package tiff

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// unpackRow widens n samples of a row to the samples of a type. Samples of less than a
// byte, and of 9 to 31 bits, are packed with the most significant bit first. Those of 24 bits are
// what GDAL on little-endian machines writes: their bytes are reversed in big-endian files.
func unpackRow(dst, src []byte, n, width int, t Type, order binary.ByteOrder) {
	switch {
	case t == Float32 && width == 16:
		out, in := view[float32](dst), view[uint16](src)
		for i := range n {
			out[i] = halfToFloat(in[i])
		}
	case width == 24:
		out := view[uint32](dst)
		for i := range n {
			b := src[3*i : 3*i+3]
			if order.Uint16([]byte{1, 0}) != 1 {
				out[i] = uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16
			} else {
				out[i] = uint32(b[2]) | uint32(b[1])<<8 | uint32(b[0])<<16
			}
		}
	case t == Uint8:
		unpackBits(dst[:n], src, width)
	case t == Uint16:
		unpackBits(view[uint16](dst)[:n], src, width)
	case t == Uint32:
		unpackBits(view[uint32](dst)[:n], src, width)
	}
}

func unpackBits[T uint8 | uint16 | uint32](dst []T, src []byte, width int) {
	var window uint64
	have := 0
	for i := range dst {
		for have < width {
			window = window<<8 | uint64(src[0])
			src = src[1:]
			have += 8
		}
		have -= width
		dst[i] = T(window >> have & (1<<width - 1))
	}
}

// packRow is the inverse of unpackRow.
func packRow(dst, src []byte, n, width int, t Type, order binary.ByteOrder) {
	switch {
	case t == Float32 && width == 16:
		out, in := view[uint16](dst), view[float32](src)
		for i := range n {
			out[i] = floatToHalf(in[i])
		}
	case width == 24:
		in := view[uint32](src)
		for i := range n {
			v, b := in[i], dst[3*i:3*i+3]
			if order.Uint16([]byte{1, 0}) != 1 {
				b[0], b[1], b[2] = byte(v), byte(v>>8), byte(v>>16)
			} else {
				b[2], b[1], b[0] = byte(v), byte(v>>8), byte(v>>16)
			}
		}
	case t == Uint8:
		packBits(dst, src[:n], width)
	case t == Uint16:
		packBits(dst, view[uint16](src)[:n], width)
	case t == Uint32:
		packBits(dst, view[uint32](src)[:n], width)
	}
}

func packBits[T uint8 | uint16 | uint32](dst []byte, src []T, width int) {
	var window uint64
	have := 0
	for _, v := range src {
		window = window<<width | uint64(v)&(1<<width-1)
		have += width
		for have >= 8 {
			have -= 8
			dst[0] = byte(window >> have)
			dst = dst[1:]
		}
	}
	if have > 0 {
		dst[0] = byte(window << (8 - have))
	}
}

// reverseBits reverses the order of the bits in each byte.
func reverseBits(b []byte) {
	for i, v := range b {
		b[i] = bits.Reverse8(v)
	}
}

// halfToFloat converts an IEEE 754 number of 16 bits.
func halfToFloat(h uint16) float32 {
	sign := uint32(h>>15) << 31
	exponent, fraction := uint32(h>>10&31), uint32(h&1023)
	switch {
	case exponent == 31:
		return math.Float32frombits(sign | 255<<23 | fraction<<13)
	case exponent != 0:
		return math.Float32frombits(sign | (exponent+112)<<23 | fraction<<13)
	}
	v := float32(fraction) / (1 << 24)
	return math.Float32frombits(sign | math.Float32bits(v))
}

// floatToHalf converts to an IEEE 754 number of 16 bits, rounding to nearest, ties to even.
func floatToHalf(f float32) uint16 {
	b := math.Float32bits(f)
	sign := uint16(b >> 16 & 0x8000)
	b &= 1<<31 - 1
	switch {
	case b > 255<<23: // not a number
		return sign | 0x7e00 | uint16(b>>13&1023)
	case b >= 0x477ff000: // rounds to more than the largest number
		return sign | 0x7c00
	case b < 113<<23: // subnormal
		v := math.RoundToEven(float64(math.Float32frombits(b)) * (1 << 24))
		return sign | uint16(v)
	}
	b += 0xfff + b>>13&1 // round
	return sign | uint16((b-112<<23)>>13)
}
