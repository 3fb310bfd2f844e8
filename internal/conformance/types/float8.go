package types

import "quern.dev/kernel"

// float8FromFloats rounds float32 and float64 to both 8-bit formats.
//
//quern:kernel
func float8FromFloats(t kernel.Thread, x []float32, y []float64, a, b []kernel.Float8E4M3, c, d []kernel.Float8E5M2) {
	if i := t.Global(); i < len(x) {
		a[i], b[i] = kernel.ToFloat8E4M3(x[i]), kernel.ToFloat8E4M3(y[i])
		c[i], d[i] = kernel.ToFloat8E5M2(x[i]), kernel.ToFloat8E5M2(y[i])
	}
}

// float8FromIntegers rounds integers of every size.
//
//quern:kernel
func float8FromIntegers(t kernel.Thread, x []uint64, a []kernel.Float8E4M3, b []kernel.Float8E5M2) {
	const kinds = 10
	i := t.Global()
	if i >= len(x) {
		return
	}
	v := x[i]
	a, b = a[kinds*i:][:kinds], b[kinds*i:][:kinds]
	a[0], b[0] = kernel.ToFloat8E4M3(v), kernel.ToFloat8E5M2(v)
	a[1], b[1] = kernel.ToFloat8E4M3(int64(v)), kernel.ToFloat8E5M2(int64(v))
	a[2], b[2] = kernel.ToFloat8E4M3(uint32(v)), kernel.ToFloat8E5M2(uint32(v))
	a[3], b[3] = kernel.ToFloat8E4M3(int32(v)), kernel.ToFloat8E5M2(int32(v))
	a[4], b[4] = kernel.ToFloat8E4M3(uint16(v)), kernel.ToFloat8E5M2(uint16(v))
	a[5], b[5] = kernel.ToFloat8E4M3(int16(v)), kernel.ToFloat8E5M2(int16(v))
	a[6], b[6] = kernel.ToFloat8E4M3(uint8(v)), kernel.ToFloat8E5M2(uint8(v))
	a[7], b[7] = kernel.ToFloat8E4M3(int8(v)), kernel.ToFloat8E5M2(int8(v))
	a[8], b[8] = kernel.ToFloat8E4M3(int(v)), kernel.ToFloat8E5M2(int(v))
	a[9], b[9] = kernel.ToFloat8E4M3(uint(v)), kernel.ToFloat8E5M2(uint(v))
}

// float8Widen converts every 8-bit number in both formats.
//
//quern:kernel
func float8Widen(t kernel.Thread, bits []uint8, a32, b32 []float32, a64, b64 []float64, flags []uint8) {
	i := t.Global()
	if i >= len(bits) {
		return
	}
	a, b := kernel.Float8E4M3FromBits(bits[i]), kernel.Float8E5M2FromBits(bits[i])
	a32[i], b32[i] = a.Float32(), b.Float32()
	a64[i], b64[i] = a.Float64(), b.Float64()
	flags[i] = flag(a.IsNaN(), 0) | flag(b.IsNaN(), 1) | flag(b.IsInf(0), 2) | flag(b.IsInf(1), 3) | flag(a == kernel.Float8E4M3FromBits(5), 4) | flag(a.Bits() == b.Bits(), 5)
}
