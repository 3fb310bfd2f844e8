package p

import (
	"math"
	"math/bits"

	"quern.dev/kernel"
)

// Functions that every back end supports are nodes.
//
//quern:kernel
func operations(t kernel.Thread, d []float64, f []float32, u []uint32) {
	d[0] = math.Sqrt(d[1]) + math.Abs(d[2]) + math.Floor(d[3]) + math.FMA(d[4], d[5], d[6])
	f[0] = kernel.Sqrt(f[1]) + kernel.FMA(f[2], f[3], f[4]) + kernel.Min(f[5], f[6])
	u[0] = math.Float32bits(f[0]) ^ bits.RotateLeft32(u[1], 3) ^ bits.Reverse32(u[2])
	u[1] = uint32(bits.Len32(u[2]) + bits.OnesCount32(u[3]) + bits.TrailingZeros64(uint64(u[4])))
	hi, lo := bits.Mul64(uint64(u[5]), uint64(u[6]))
	u[7] = uint32(hi ^ lo)
}

// The standard library's own source is compiled, strictly.
//
//quern:kernel
func library(t kernel.Thread, d []float64) {
	d[0] = math.Cbrt(d[1])
	d[1] = math.Hypot(d[2], d[3])
}

// The float32 functions of package kernel come from the device's own library.
//
//quern:kernel
func single(t kernel.Thread, f []float32) {
	f[0] = kernel.Exp(f[1])
	f[1] = kernel.Clamp(f[2], 0, 1)
}

// With fastmath they are the hardware's approximations.
//
//quern:kernel fastmath
func fast(t kernel.Thread, f []float32) {
	f[0] = kernel.Exp(f[1])
}
