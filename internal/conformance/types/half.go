package types

import "quern.dev/kernel"

// float16FromFloat32 rounds float32 to Float16.
//
//quern:kernel
func float16FromFloat32(t kernel.Thread, x []float32, y []kernel.Float16) {
	if i := t.Global(); i < len(x) && i < len(y) {
		y[i] = kernel.ToFloat16(x[i])
	}
}

// float16FromFloat64 rounds float64 to Float16.
//
//quern:kernel
func float16FromFloat64(t kernel.Thread, x []float64, y []kernel.Float16) {
	if i := t.Global(); i < len(x) && i < len(y) {
		y[i] = kernel.ToFloat16(x[i])
	}
}

// bfloat16FromFloat32 rounds float32 to BFloat16.
//
//quern:kernel
func bfloat16FromFloat32(t kernel.Thread, x []float32, y []kernel.BFloat16) {
	if i := t.Global(); i < len(x) && i < len(y) {
		y[i] = kernel.ToBFloat16(x[i])
	}
}

// bfloat16FromFloat64 rounds float64 to BFloat16.
//
//quern:kernel
func bfloat16FromFloat64(t kernel.Thread, x []float64, y []kernel.BFloat16) {
	if i := t.Global(); i < len(x) && i < len(y) {
		y[i] = kernel.ToBFloat16(x[i])
	}
}

// halfFromIntegers rounds integers of every size.
//
//quern:kernel
func halfFromIntegers(t kernel.Thread, x []uint64, h []kernel.Float16, b []kernel.BFloat16) {
	const kinds = 10
	i := t.Global()
	if i >= len(x) || len(h) < kinds*len(x) || len(b) < kinds*len(x) {
		return
	}
	v := x[i]
	h, b = h[kinds*i:][:kinds], b[kinds*i:][:kinds]
	h[0], b[0] = kernel.ToFloat16(v), kernel.ToBFloat16(v)
	h[1], b[1] = kernel.ToFloat16(int64(v)), kernel.ToBFloat16(int64(v))
	h[2], b[2] = kernel.ToFloat16(uint32(v)), kernel.ToBFloat16(uint32(v))
	h[3], b[3] = kernel.ToFloat16(int32(v)), kernel.ToBFloat16(int32(v))
	h[4], b[4] = kernel.ToFloat16(uint16(v)), kernel.ToBFloat16(uint16(v))
	h[5], b[5] = kernel.ToFloat16(int16(v)), kernel.ToBFloat16(int16(v))
	h[6], b[6] = kernel.ToFloat16(uint8(v)), kernel.ToBFloat16(uint8(v))
	h[7], b[7] = kernel.ToFloat16(int8(v)), kernel.ToBFloat16(int8(v))
	h[8], b[8] = kernel.ToFloat16(int(v)), kernel.ToBFloat16(int(v))
	h[9], b[9] = kernel.ToFloat16(uint(v)), kernel.ToBFloat16(uint(v))
}

// halfWiden converts every 16-bit number in both formats.
//
//quern:kernel
func halfWiden(t kernel.Thread, bits []uint16, h32, b32 []float32, h64, b64 []float64) {
	i := t.Global()
	if i >= len(bits) {
		return
	}
	h, b := kernel.Float16FromBits(bits[i]), kernel.BFloat16FromBits(bits[i])
	h32[i], b32[i] = h.Float32(), b.Float32()
	h64[i], b64[i] = h.Float64(), b.Float64()
}

// float16Arithmetic applies every operation to two or three numbers.
//
//quern:kernel
func float16Arithmetic(t kernel.Thread, c kernel.Float16, x, y, out []kernel.Float16, flags []uint8) {
	const results = 12
	i := t.Global()
	if i >= len(x) || i >= len(y) || i >= len(flags) || len(out) < results*len(x) {
		return
	}
	a, b := x[i], y[i]
	out = out[results*i:][:results]
	out[0] = a.Add(b)
	out[1] = a.Sub(b)
	out[2] = a.Mul(b)
	out[3] = a.Div(b)
	out[4] = a.FMA(b, c)
	out[5] = a.Abs().Sqrt()
	out[6] = a.Neg()
	out[7] = a.Min(b)
	out[8] = a.Max(b)
	out[9] = a.Mul(b).Add(c)
	out[10] = a.Mul(kernel.ToFloat16(0.1)).Sub(kernel.ToFloat16(b.Float32() * 3))
	out[11] = kernel.Float16FromBits(a.Bits() ^ 1)
	flags[i] = flag(a == b, 0) | flag(a.Equal(b), 1) | flag(a.Less(b), 2) | flag(a.IsNaN(), 3) | flag(a.IsInf(0), 4) | flag(a.IsInf(1), 5) | flag(a != c, 6)
}

// bfloat16Arithmetic applies every operation except FMA to two or three numbers.
//
//quern:kernel
func bfloat16Arithmetic(t kernel.Thread, c kernel.BFloat16, x, y, out []kernel.BFloat16, flags []uint8) {
	const results = 12
	i := t.Global()
	if i >= len(x) || i >= len(y) || i >= len(flags) || len(out) < results*len(x) {
		return
	}
	a, b := x[i], y[i]
	out = out[results*i:][:results]
	out[0] = a.Add(b)
	out[1] = a.Sub(b)
	out[2] = a.Mul(b)
	out[3] = a.Div(b)
	out[4] = a
	out[5] = a.Abs().Sqrt()
	out[6] = a.Neg()
	out[7] = a.Min(b)
	out[8] = a.Max(b)
	out[9] = a.Mul(b).Add(c)
	out[10] = a.Mul(kernel.ToBFloat16(0.1)).Sub(kernel.ToBFloat16(b.Float32() * 3))
	out[11] = kernel.BFloat16FromBits(a.Bits() ^ 1)
	flags[i] = flag(a == b, 0) | flag(a.Equal(b), 1) | flag(a.Less(b), 2) | flag(a.IsNaN(), 3) | flag(a.IsInf(0), 4) | flag(a.IsInf(1), 5) | flag(a != c, 6)
}

// bfloat16FMA needs a device that has the instruction.
//
//quern:kernel
func bfloat16FMA(t kernel.Thread, c kernel.BFloat16, x, y, out []kernel.BFloat16) {
	if i := t.Global(); i < len(x) && i < len(y) && i < len(out) {
		out[i] = x[i].FMA(y[i], c)
	}
}

func flag(b bool, bit int) uint8 {
	if b {
		return 1 << bit
	}
	return 0
}

// reading is a struct with 16-bit floats between other fields.
type reading struct {
	Valid  bool
	Low    kernel.Float16
	Levels [3]kernel.BFloat16
	Sum    float64
	High   half
}

// half is a defined type whose underlying type is in package kernel.
type half kernel.Float16

// halfFields moves 16-bit floats through structs, arrays, shared memory, and local arrays
// that are indexed at run time.
//
//quern:kernel block=64
func halfFields(t kernel.Thread, bias reading, in, out []reading) {
	tile := kernel.Shared[[64]kernel.Float16](t)
	i, lane := t.Global(), t.ThreadIdx.X
	var r reading
	if i < len(in) {
		r = in[i]
	}
	tile[lane] = kernel.Float16(r.High).Add(bias.Low)
	t.Sync()
	if i >= len(out) {
		return
	}
	local := [4]kernel.BFloat16{3: kernel.ToBFloat16(0.5)}
	for k, level := range r.Levels {
		local[k] = level.Mul(bias.Levels[k])
		r.Sum += level.Float64()
	}
	r.Valid = r == bias || r.High == bias.High
	r.Low = tile[63-lane]
	r.Levels[lane%3] = local[lane%4]
	r.High = half(kernel.Float16(r.High).Neg())
	out[i] = r
}

func scaleElement[T kernel.Scalar](a float32, x T) T {
	return kernel.FromFloat32[T](a * kernel.ToFloat32(x))
}

// scaleScalars calls one generic function with every kind of number.
//
//quern:kernel
func scaleScalars(t kernel.Thread, a float32, h []kernel.Float16, b []kernel.BFloat16, f []float32, d []float64, n []int32) {
	i := t.Global()
	if i >= len(h) || i >= len(b) || i >= len(f) || i >= len(d) || i >= len(n) {
		return
	}
	h[i] = scaleElement(a, h[i])
	b[i] = scaleElement(a, b[i])
	f[i] = scaleElement(a, f[i])
	d[i] = scaleElement(a, d[i])
	n[i] = scaleElement(a, n[i])
}
