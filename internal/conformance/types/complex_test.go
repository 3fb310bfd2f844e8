package types

import (
	"math"
	"math/cmplx"
	"math/rand/v2"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
	"quern.dev/kernel"
)

// complexOperands returns pairs of numbers: all combinations of special parts, and random
// numbers of all magnitudes.
func complexOperands() (x, y []complex128) {
	special := []float64{0, math.Copysign(0, -1), 1, -2.5, math.MaxFloat32, 1e300, 1e-44, math.Inf(1), math.Inf(-1), math.NaN()}
	r := rand.New(rand.NewPCG(1, 2))
	pick := func() float64 { return special[r.IntN(len(special))] }
	for range 4000 {
		x, y = append(x, complex(pick(), pick())), append(y, complex(pick(), pick()))
	}
	random := func() float64 { return math.Ldexp(r.NormFloat64(), r.IntN(80)-40) }
	for range 4000 {
		x, y = append(x, complex(random(), random())), append(y, complex(random(), random()))
	}
	for i := range 20 {
		y[i] = x[i]
	}
	return x, y
}

func TestComplex128IsTheSameEverywhere(t *testing.T) {
	x, y := complexOperands()
	n := len(x)
	const c = complex(0.1, -7)
	want, wantFlags := make([]complex128, 10*n), make([]uint8, n)
	g, b := grid(n)
	kernel.Each(g, b, func(t kernel.Thread) { complex128Operators(t, c, x, y, want, wantFlags) })
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		out, flags := gputest.Upload(t, d, make([]complex128, 10*n)), gputest.Upload(t, d, make([]uint8, n))
		launched(t, LaunchComplex128Operators(d.DefaultStream(), blocks(n), c, gputest.Upload(t, d, x), gputest.Upload(t, d, y), out, flags))
		expect(t, "results", gputest.Download(t, d, out), want)
		expect(t, "flags", gputest.Download(t, d, flags), wantFlags)
	})
}

func TestComplex64IsTheSameEverywhere(t *testing.T) {
	wideX, wideY := complexOperands()
	n := len(wideX)
	x, y := make([]complex64, n), make([]complex64, n)
	for i := range x {
		x[i], y[i] = complex64(wideX[i]), complex64(wideY[i])
	}
	const c = complex(0.1, -7)
	want, wantFlags := make([]complex64, 10*n), make([]uint8, n)
	g, b := grid(n)
	kernel.Each(g, b, func(t kernel.Thread) { complex64Operators(t, c, x, y, want, wantFlags) })
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		out, flags := gputest.Upload(t, d, make([]complex64, 10*n)), gputest.Upload(t, d, make([]uint8, n))
		launched(t, LaunchComplex64Operators(d.DefaultStream(), blocks(n), c, gputest.Upload(t, d, x), gputest.Upload(t, d, y), out, flags))
		expect(t, "results", gputest.Download(t, d, out), want)
		expect(t, "flags", gputest.Download(t, d, flags), wantFlags)
	})
}

func TestComplexInStructsArraysAndSharedMemory(t *testing.T) {
	const n = 200
	in, want := make([]wave, n), make([]wave, n)
	for i := range in {
		v := float64(i) / 7
		in[i] = wave{uint8(i), [2]complex64{complex64(complex(v, -1)), complex64(complex(2, v))}, amplitude(complex(v, v*v))}
	}
	bias := in[17]
	g, b := grid(n)
	kernel.Each(g, b, func(t kernel.Thread) { complexFields(t, bias, in, want) })
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		out := gputest.Upload(t, d, make([]wave, n))
		launched(t, LaunchComplexFields(d.DefaultStream(), blocks(n), bias, gputest.Upload(t, d, in), out))
		expect(t, "out", gputest.Download(t, d, out), want)
	})
}

func TestStandardComplexFunctions(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	const n = 500
	x, want := make([]complex128, n), make([]complex128, 6*n)
	for i := range x {
		x[i] = complex(r.NormFloat64()*10, r.NormFloat64()*10)
	}
	g, b := grid(n)
	kernel.Each(g, b, func(t kernel.Thread) { complexLibrary(t, x, want) })
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		out := gputest.Upload(t, d, make([]complex128, 6*n))
		launched(t, LaunchComplexLibrary(d.DefaultStream(), blocks(n), gputest.Upload(t, d, x), out))
		for i, z := range gputest.Download(t, d, out) {
			if cmplx.Abs(z-want[i]) > 1e-14*cmplx.Abs(want[i]) {
				t.Fatalf("result %d of %v is %v, want %v", i%6, x[i/6], z, want[i])
			}
		}
	})
}
