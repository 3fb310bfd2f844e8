package conformance

import (
	"math/bits"

	"quern.dev/kernel"
)

// Each kernel writes several results per element, so the length of out is a multiple of n.

//quern:kernel
func int8Arithmetic(t kernel.Thread, in []int8, out []int8) {
	i := t.Global()
	if i+1 >= len(in) {
		return
	}
	x, y := in[i], in[i+1]
	o := out[i*12 : i*12+12]
	o[0], o[1], o[2] = x+y, x-y, x*y
	if y != 0 {
		o[3], o[4] = x/y, x%y
	}
	o[5], o[6], o[7], o[8] = x&y, x|y, x^y, x&^y
	o[9], o[10] = x<<(uint8(y)&15), x>>(uint8(y)&15)
	o[11] = -x + ^y
}

//quern:kernel
func uint16Arithmetic(t kernel.Thread, in []uint16, out []uint16) {
	i := t.Global()
	if i+1 >= len(in) {
		return
	}
	x, y := in[i], in[i+1]
	o := out[i*12 : i*12+12]
	o[0], o[1], o[2] = x+y, x-y, x*y
	if y != 0 {
		o[3], o[4] = x/y, x%y
	}
	o[5], o[6], o[7], o[8] = x&y, x|y, x^y, x&^y
	o[9], o[10] = x<<(y&31), x>>(y&31)
	o[11] = -x + ^y
}

//quern:kernel
func int32Arithmetic(t kernel.Thread, in []int32, out []int32) {
	i := t.Global()
	if i+1 >= len(in) {
		return
	}
	x, y := in[i], in[i+1]
	o := out[i*16 : i*16+16]
	o[0], o[1], o[2] = x+y, x-y, x*y
	if y != 0 {
		o[3], o[4] = x/y, x%y
	}
	o[5], o[6], o[7], o[8] = x&y, x|y, x^y, x&^y
	o[9], o[10] = x<<(uint32(y)&63), x>>(uint32(y)&63)
	o[11], o[12] = -x, ^y
	o[13], o[14] = x/7, x%7
	o[15] = x/8 + x%16*min(x, y, 3) - max(x, y)
}

//quern:kernel
func uint32Arithmetic(t kernel.Thread, in []uint32, out []uint32) {
	i := t.Global()
	if i+1 >= len(in) {
		return
	}
	x, y := in[i], in[i+1]
	o := out[i*16 : i*16+16]
	o[0], o[1], o[2] = x+y, x-y, x*y
	if y != 0 {
		o[3], o[4] = x/y, x%y
	}
	o[5], o[6], o[7], o[8] = x&y, x|y, x^y, x&^y
	o[9], o[10] = x<<(y&63), x>>(y&63)
	o[11], o[12] = -x, ^y
	o[13], o[14] = x/10, x%1000
	o[15] = x/8 + x%16*min(x, y) - max(x, y)
}

//quern:kernel
func int64Arithmetic(t kernel.Thread, in []int64, out []int64) {
	i := t.Global()
	if i+1 >= len(in) {
		return
	}
	x, y := in[i], in[i+1]
	o := out[i*16 : i*16+16]
	o[0], o[1], o[2] = x+y, x-y, x*y
	if y != 0 {
		o[3], o[4] = x/y, x%y
	}
	o[5], o[6], o[7], o[8] = x&y, x|y, x^y, x&^y
	o[9], o[10] = x<<(uint64(y)&127), x>>(uint64(y)&127)
	o[11], o[12] = -x, ^y
	o[13], o[14] = x/1000003, x%12
	o[15] = x/64 + x%4096*min(x, y) - max(x, y)
}

//quern:kernel
func uint64Arithmetic(t kernel.Thread, in []uint64, out []uint64) {
	i := t.Global()
	if i+1 >= len(in) {
		return
	}
	x, y := in[i], in[i+1]
	o := out[i*16 : i*16+16]
	o[0], o[1], o[2] = x+y, x-y, x*y
	if y != 0 {
		o[3], o[4] = x/y, x%y
	}
	o[5], o[6], o[7], o[8] = x&y, x|y, x^y, x&^y
	o[9], o[10] = x<<(y&127), x>>(y&127)
	o[11], o[12] = -x, ^y
	o[13], o[14] = x/10, x%1000000007
	o[15] = x/64 + x%4096*min(x, y) - max(x, y)
}

// intArithmetic computes with values that need all 64 bits of an int.
//
//quern:kernel
func intArithmetic(t kernel.Thread, in []int64, out []int64) {
	i := t.Global()
	if i+1 >= len(in) {
		return
	}
	x, y := int(in[i]), int(in[i+1])
	o := out[i*8 : i*8+8]
	o[0] = int64(x*y + 3)
	o[1] = int64((x + y) >> 1)
	o[2] = int64(x % 1000)
	o[3] = int64(uint(x) / 10)
	o[4] = int64(int32(x)) * int64(int16(y))
	lo, hi := x, y
	if lo > hi {
		lo, hi = hi, lo
	}
	o[5] = int64(hi - lo)
	o[6] = int64(x&0xff) * int64(y&0xffff)
	o[7] = int64(i*i*i*i*i*i*i*i*i*i*i) + int64(x<<40>>40)
}

//quern:kernel
func conversions(t kernel.Thread, in []int64, out []int64) {
	i := t.Global()
	if i >= len(in) {
		return
	}
	x := in[i]
	o := out[i*16 : i*16+16]
	o[0], o[1], o[2] = int64(int8(x)), int64(int16(x)), int64(int32(x))
	o[3], o[4], o[5] = int64(uint8(x)), int64(uint16(x)), int64(uint32(x))
	o[6] = int64(uint64(x) >> 1)
	o[7] = int64(float32(int32(x)))
	o[8] = int64(float64(int32(x)) * 0.5)
	o[9] = int64(int32(float32(int16(x)) * 0.25))
	o[10] = int64(uint8(float32(uint8(x))))
	o[11] = int64(float64(x>>12) / 3)
	o[12] = int64(int16(int8(x))) + int64(uint16(int8(x)))
	if x&1 == 0 {
		o[13] = 1
	}
	o[14] = int64(int8(uint8(x) + 200))
	o[15] = int64(uint32(int8(x)))
}

//quern:kernel
func bitTricks(t kernel.Thread, in []uint64, out []uint64) {
	i := t.Global()
	if i >= len(in) {
		return
	}
	x := in[i]
	o := out[i*16 : i*16+16]
	o[0] = uint64(bits.LeadingZeros64(x))
	o[1] = uint64(bits.LeadingZeros32(uint32(x)))
	o[2] = uint64(bits.TrailingZeros64(x))
	o[3] = uint64(bits.TrailingZeros16(uint16(x)))
	o[4] = uint64(bits.OnesCount64(x))
	o[5] = uint64(bits.OnesCount8(uint8(x)))
	o[6] = bits.Reverse64(x)
	o[7] = uint64(bits.Reverse16(uint16(x)))
	o[8] = bits.ReverseBytes64(x)
	o[9] = uint64(bits.RotateLeft32(uint32(x), int(x>>32)%70))
	o[10] = bits.RotateLeft64(x, -13)
	o[11] = uint64(bits.Len32(uint32(x)))
	hi, lo := bits.Mul64(x, x^0x9E3779B97F4A7C15)
	o[12], o[13] = hi, lo
	sum, carry := bits.Add64(x, x<<1, 1)
	o[14], o[15] = sum, carry
}

//quern:kernel
func comparisons(t kernel.Thread, in []int64, out []int64) {
	i := t.Global()
	if i+1 >= len(in) {
		return
	}
	x, y := in[i], in[i+1]
	var r int64
	add := func1(x < y, 1) + func1(x <= y, 2) + func1(x > y, 4) + func1(x >= y, 8) + func1(x == y, 16) + func1(x != y, 32)
	r += add
	r += func1(uint64(x) < uint64(y), 64) + func1(int8(x) < int8(y), 128) + func1(uint8(x) >= uint8(y), 256)
	r += func1(x > 0 && y > 0 || x < 0 && !(y < 0), 512)
	r += func1(int32(x) > int32(y) && x/(y|1) > 3, 1024)
	out[i] = r
}

func func1(b bool, v int64) int64 {
	if b {
		return v
	}
	return 0
}
