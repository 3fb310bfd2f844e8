package codegen

import (
	"math"
	"math/bits"

	"quern.dev/kernel"
)

// A product that is added is fused; an explicit conversion prevents that.
//
//quern:kernel
func fusing(t kernel.Thread, x []float32, d []float64) {
	x[0] = x[1]*x[2] + x[3]          // ptx:"fma.rn.f32" ptx:-"mul.*f32"
	x[1] = x[1] - x[2]*x[3]          // ptx:"fma.rn.f32" ptx:-"mul.*f32"
	x[2] = float32(x[1]*x[2]) + x[3] // ptx:"mul.rn.f32" ptx:"add.*f32" ptx:-"fma"
	d[0] = d[1]*d[2] + d[3]          // ptx:"fma.rn.f64" ptx:-"mul"
}

// The mathematics of the standard library is compiled as it is written: no
// operation is fused or left to the assembler to fuse.
//
// ptx:"mul.rn.f64" ptx:-"(mul|add|sub).f64"
//
//quern:kernel
func strict(t kernel.Thread, d []float64) {
	d[0] = math.Exp(d[1])
}

// Conversions to integers saturate: if the instruction does not convert NaN to 0, a
// comparison is needed, unless the number is known to be in range.
//
//quern:kernel
func truncating(t kernel.Thread, x []float32, d []float64, u []uint8, s []int16, i []int32, n []int, w []uint64) {
	u[0] = uint8(x[0])                       // ptx:"cvt.rzi.u8.f32" ptx:-"and|setp.num"
	s[0] = int16(x[0])                       // ptx:"cvt.rzi.s16.f32" ptx:-"cvt.s32|setp.num"
	i[0] = int32(x[0])                       // ptx:"cvt.rzi.s32.f32" ptx:-"setp.num"
	n[0] = int(x[0])                         // ptx:"setp.num.f32" ptx:"cvt.rzi.s64.f32"
	i[1] = int32(d[0])                       // ptx:"cvt.rzi.s32.f64" ptx:"setp.num.f64"
	w[0] = uint64(d[0])                      // ptx:"cvt.rzi.u64.f64" ptx:"setp.num.f64"
	n[1] = int(float32(u[1])*0.5 + 1)        // ptx:"cvt.rzi.s64.f32" ptx:-"setp.num"
	i[2] = int32(0.5 * float64(s[1]))        // ptx:"cvt.rzi.s32.f64" ptx:-"setp.num"
	w[1] = uint64(math.Floor(float64(i[3]))) // ptx:"cvt.rzi.u64.f64" ptx:"setp.num.f64"
}

// Operations of the hardware are one instruction.
//
//quern:kernel
func hardware(t kernel.Thread, x []float32, d []float64, u []uint32) {
	x[0] = kernel.Sqrt(x[1])        // ptx:"sqrt.rn.f32"
	d[0] = math.Sqrt(d[1])          // ptx:"sqrt.rn.f64"
	x[1] = kernel.Floor(x[2])       // ptx:"cvt.rmi.f32.f32"
	x[2] = x[3] / x[4]              // ptx:"div.rn.f32"
	u[0] = u[1]<<3 | u[1]>>29       // ptx:"shf|shl.b32"
	u[1] = min(u[2], u[3])          // ptx:"min.u32"
	u[2] = uint32(kernel.Abs(x[5])) // ptx:"abs.f32"
}

// With fastmath a division and a root are the hardware's approximations.
//
// ptx:-"div.rn" ptx:-"sqrt.rn"
//
//quern:kernel fastmath
func approximate(t kernel.Thread, x []float32) {
	x[0] = x[1] / x[2]       // ptx:"div.(approx|full).f32"
	x[1] = kernel.Sqrt(x[2]) // ptx:"sqrt.approx.f32"
	x[2] = kernel.Exp(x[3])  // ptx:"ex2.approx"
}

// Division by a constant power of two is a shift, and of a value that is not
// negative a mask.
//
// ptx:-"\tdiv." ptx:-"\trem."
//
//quern:kernel
func powersOfTwo(t kernel.Thread, x []int32, u []uint32, w []int64) {
	i := t.Global()
	u[0] /= 16           // ptx:"shr.u32"
	u[1] %= 16           // ptx:"and.b32"
	w[0] /= 4            // ptx:"shr.s64"
	x[1] = int32(i / 32) // ptx:"shr.[su]32" ptx:-"add"
	x[2] = int32(i % 32) // ptx:"and.b32" ptx:-"sub"
}

// 64-bit division by a constant is a multiplication.
//
// ptx:-"\tdiv." ptx:-"\trem."
//
//quern:kernel
func constantDivisor(t kernel.Thread, u []uint64, s []int64) {
	u[0] /= 10   // ptx:"mul.hi.u64"
	s[0] /= 7    // ptx:"mul.hi.[su]64"
	s[1] %= 1000 // ptx:"mul.hi.[su]64"
}

// Division by a variable is done in 32 bits and checked for zero, also where the
// launch proves that indices are in range.
//
//quern:kernel
func variableDivisor(t kernel.Thread, n int, x []int32) {
	i := t.Global()
	x[0] = int32(i / n) // narrow:"div.[su]32" narrow:-"div.[su]64" narrow:"setp.(eq|ne)" proven:"setp.(eq|ne)"
	x[1] = x[2] % x[3]  // ptx:"rem.s32" ptx:"setp.(eq|ne).[sbu]32"
}

// A shift by a constant needs neither check nor clamp.
//
//quern:kernel
func shifts(t kernel.Thread, n uint32, u []uint32, w []uint64) {
	u[0] <<= 5 // ptx:"shl.b32 %r\d+, %r\d+, 5" ptx:-"setp.*, 3[12]" ptx:-"selp"
	w[0] >>= 5 // ptx:"shr.u64 %rd\d+, %rd\d+, 5"
	u[1] <<= n // ptx:"shl.b32" ptx:-"selp" ptx:-"setp.*, 3[12]"
}

// Rotations of 64 bits are sums of shifts, which the assembler turns into funnel shifts.
//
//quern:kernel
func rotations(t kernel.Thread, k int, u []uint64) {
	u[0] = bits.RotateLeft64(u[0], 13)  // ptx:"shl.b64 .*, 13;\n\tshr.u64 .*, 51;\n\tadd.u64" ptx:-"or.b64"
	u[1] = bits.RotateLeft64(u[1], -13) // ptx:"shl.b64 .*, 51;\n\tshr.u64 .*, 13;\n\tadd.u64" ptx:-"or.b64"
	u[2] = bits.RotateLeft64(u[2], k)   // ptx:"add.u64" ptx:-"or.b64"
}

// ptxas 13.0 gets comparisons of unsigned numbers with 0 wrong if the other side is the negative
// of a condition.
//
//quern:kernel
func notBelowZero(t kernel.Thread, x float32, at []uint32, out []bool) {
	out[0] = 0&^at[0] <= -one(x > 1) // ptx:"setp.eq.u32 %p\d+, 0, 0;" ptx:-"setp.le.u32"
}

// ptxas (13.0, 13.5) gets subtractions of u64 wrong in an address if both sides are 0.
//
//quern:kernel
func differences(t kernel.Thread, u []uint64, n []int) {
	u[0] = u[1] - u[2] // ptx:"sub.s64" ptx:-"sub.u64"
	u[1] = u[3] % u[4] // ptx:-"sub.u64"
	n[0] = n[1] - n[2] // ptx:"sub.s64"
}

// ptxas 13.0 omits shifts of products and of shifts, if they move out everything.
//
//quern:kernel
func shiftsInHalves(t kernel.Thread, k uint8, u []uint64) {
	u[0] = u[1] * 63 << k         // ptx:"shf.l.clamp" ptx:-"shl.b64"
	u[1] = u[2] << 40 << (k & 7)  // ptx:"shl.b64 .*, 40;" ptx:"shl.b64 .*, %r" ptx:-"shf"
	u[2] = u[3] << 40 << (k & 63) // ptx:"shf.l.clamp"
	u[3] = u[4] << (k & 63) << 1  // ptx:"shl.b64 .*, %r" ptx:"shf.l.clamp"
	u[4] = 1 << k                 // ptx:"shl.b64 .*, 1, %r" ptx:-"shf"
	v := u[5]
	//quern:nounroll
	for range 3 {
		v <<= 30 // ptx:"shf.l.clamp" ptx:-"shl.b64"
	}
	u[5] = v
}

func one(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}
