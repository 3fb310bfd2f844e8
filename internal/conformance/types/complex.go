package types

import (
	"math/cmplx"

	"quern.dev/kernel"
)

// complex128Operators applies every operator.
//
//quern:kernel
func complex128Operators(t kernel.Thread, c complex128, x, y, out []complex128, flags []uint8) {
	const results = 10
	i := t.Global()
	if i >= len(x) || i >= len(y) || i >= len(flags) || len(out) < results*len(x) {
		return
	}
	a, b := x[i], y[i]
	out = out[results*i:][:results]
	out[0] = a + b
	out[1] = a - b
	out[2] = a * b
	out[3] = a / b
	out[4] = -a
	out[5] = complex(imag(a), real(b))
	out[6] = a*(2-1i) + c
	out[7] = 1 / b
	out[8] = complex128(complex64(a))
	out[9] += c
	out[9] *= a
	out[9] -= 1i
	out[9]++
	out[9] /= 3
	flags[i] = flag(a == b, 0) | flag(a != c, 1) | flag(a == 1, 2) | flag(real(a) < imag(b), 3)
	switch a {
	case 0:
		flags[i] |= 16
	case b, 1i:
		flags[i] |= 32
	}
}

// complex64Operators applies every operator.
//
//quern:kernel
func complex64Operators(t kernel.Thread, c complex64, x, y, out []complex64, flags []uint8) {
	const results = 10
	i := t.Global()
	if i >= len(x) || i >= len(y) || i >= len(flags) || len(out) < results*len(x) {
		return
	}
	a, b := x[i], y[i]
	out = out[results*i:][:results]
	out[0] = a + b
	out[1] = a - b
	out[2] = a * b
	out[3] = a / b
	out[4] = -a
	out[5] = complex(imag(a), real(b))
	out[6] = a*(2-1i) + c
	out[7] = 1 / b
	out[8] = complex64(complex128(a) * 1.5)
	out[9] += c
	out[9] *= a
	out[9] -= 1i
	out[9]++
	out[9] /= 3
	flags[i] = flag(a == b, 0) | flag(a != c, 1) | flag(a == 1, 2) | flag(real(a) < imag(b), 3)
	switch a {
	case 0:
		flags[i] |= 16
	case b, 1i:
		flags[i] |= 32
	}
}

// wave is a struct with complex fields.
type wave struct {
	Phase  uint8
	Points [2]complex64
	Sum    amplitude
}

// amplitude is a defined type with a complex underlying type.
type amplitude complex128

func (a amplitude) power() float64 {
	return real(a)*real(a) + imag(a)*imag(a)
}

// complexFields moves complex numbers through structs, arrays, shared memory, pointers,
// and local arrays that are indexed at run time.
//
//quern:kernel block=64
func complexFields(t kernel.Thread, bias wave, in, out []wave) {
	tile := kernel.Shared[[64]complex64](t)
	i, lane := t.Global(), t.ThreadIdx.X
	var w wave
	if i < len(in) {
		w = in[i]
	}
	tile[lane] = w.Points[lane%2] * bias.Points[1]
	t.Sync()
	if i >= len(out) {
		return
	}
	local := [3]complex64{1: 2 + 1i, 2: tile[63-lane]}
	accumulate(&w.Sum, bias.Sum)
	w.Phase += kernel.ToInteger[uint8](real(local[lane%3]))
	w.Points[0] = local[(lane+1)%3]
	w.Points[1] = complex(float32(w.Sum.power()), real(bias.Points[0]))
	if w == bias {
		w.Phase = 77
	}
	out[i] = w
}

func accumulate(to *amplitude, a amplitude) {
	*to += a * amplitude(complex(0, 1))
}

// complexLibrary calls functions of the standard library.
//
//quern:kernel
func complexLibrary(t kernel.Thread, x []complex128, out []complex128) {
	const results = 6
	i := t.Global()
	if i >= len(x) || len(out) < results*len(x) {
		return
	}
	out = out[results*i:][:results]
	out[0] = complex(cmplx.Abs(x[i]), cmplx.Phase(x[i]))
	out[1] = cmplx.Sqrt(x[i])
	out[2] = cmplx.Exp(x[i])
	out[3] = cmplx.Conj(x[i])
	out[4] = cmplx.Log(x[i])
	out[5] = cmplx.Sin(x[i])
}
