package types

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
	"quern.dev/kernel"
)

// same reports whether two values are equal bit for bit. All NaNs of float32 and float64
// are equal.
func same(a, b any) bool {
	x, y := reflect.ValueOf(a), reflect.ValueOf(b)
	return sameValue(x, y)
}

func sameValue(x, y reflect.Value) bool {
	switch x.Kind() {
	case reflect.Float32, reflect.Float64:
		return sameFloat(x.Float(), y.Float())
	case reflect.Complex64, reflect.Complex128:
		return sameFloat(real(x.Complex()), real(y.Complex())) && sameFloat(imag(x.Complex()), imag(y.Complex()))
	case reflect.Struct:
		for i := range x.NumField() {
			if !sameValue(x.Field(i), y.Field(i)) {
				return false
			}
		}
		return true
	case reflect.Array:
		for i := range x.Len() {
			if !sameValue(x.Index(i), y.Index(i)) {
				return false
			}
		}
		return true
	default:
		return x.Equal(y)
	}
}

func sameFloat(x, y float64) bool {
	return x == y && math.Signbit(x) == math.Signbit(y) || x != x && y != y
}

// expect compares the result of a device with that of plain Go.
func expect[T any](t *testing.T, what string, got, want []T) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d results, want %d", what, len(got), len(want))
	}
	for i := range got {
		if !same(got[i], want[i]) {
			t.Fatalf("%s[%d] = %+v, want %+v", what, i, got[i], want[i])
		}
	}
}

// grid returns the grid and block for plain Go to run kernels over n elements.
func grid(n int) (grid, block kernel.Dim3) {
	return kernel.Dim3{X: (n + 63) / 64, Y: 1, Z: 1}, kernel.Dim3{X: 64, Y: 1, Z: 1}
}

// blocks returns the same grid for devices.
func blocks(n int) gpu.Grid {
	g, b := grid(n)
	return gpu.Blocks(gpu.Dim3(g), gpu.Dim3(b))
}

func launched(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// roundingInputs returns float64 numbers that are critical for rounding to 16 bits: every
// 16-bit number of both formats, the midpoints between neighbors, the adjacent float64 and
// float32 numbers of all these, and random numbers.
func roundingInputs() []float64 {
	var out []float64
	add := func(x, next float64) {
		middle := (x + next) / 2
		single := float32(middle)
		out = append(out, x, middle, math.Nextafter(middle, x), math.Nextafter(middle, next),
			float64(math.Nextafter32(single, 0)), float64(math.Nextafter32(single, math.MaxFloat32)))
	}
	for i := range 1 << 16 {
		h, b := kernel.Float16FromBits(uint16(i)), kernel.BFloat16FromBits(uint16(i))
		out = append(out, h.Float64(), b.Float64())
		if i%5 == 0 || i&0x7fff < 64 {
			add(h.Float64(), kernel.Float16FromBits(uint16(i+1)).Float64())
			add(b.Float64(), kernel.BFloat16FromBits(uint16(i+1)).Float64())
		}
	}
	r := rand.New(rand.NewPCG(5, 6))
	for range 20000 {
		out = append(out, math.Float64frombits(r.Uint64()), float64(math.Float32frombits(r.Uint32())), math.Ldexp(r.NormFloat64(), r.IntN(50)-30))
	}
	return out
}

func TestRoundingTo16BitsIsTheSameEverywhere(t *testing.T) {
	doubles := roundingInputs()
	singles := make([]float32, len(doubles))
	for i, x := range doubles {
		singles[i] = float32(x)
	}
	n := len(doubles)
	h32, h64 := make([]kernel.Float16, n), make([]kernel.Float16, n)
	b32, b64 := make([]kernel.BFloat16, n), make([]kernel.BFloat16, n)
	for i := range n {
		h32[i], h64[i] = kernel.ToFloat16(singles[i]), kernel.ToFloat16(doubles[i])
		b32[i], b64[i] = kernel.ToBFloat16(singles[i]), kernel.ToBFloat16(doubles[i])
	}
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		s := d.DefaultStream()
		x32, x64 := gputest.Upload(t, d, singles), gputest.Upload(t, d, doubles)
		h, b := gputest.Upload(t, d, make([]kernel.Float16, n)), gputest.Upload(t, d, make([]kernel.BFloat16, n))
		launched(t, LaunchFloat16FromFloat32(s, gpu.Linear(n), x32, h))
		expect(t, "Float16 of float32", gputest.Download(t, d, h), h32)
		launched(t, LaunchFloat16FromFloat64(s, gpu.Linear(n), x64, h))
		expect(t, "Float16 of float64", gputest.Download(t, d, h), h64)
		launched(t, LaunchBfloat16FromFloat32(s, gpu.Linear(n), x32, b))
		expect(t, "BFloat16 of float32", gputest.Download(t, d, b), b32)
		launched(t, LaunchBfloat16FromFloat64(s, gpu.Linear(n), x64, b))
		expect(t, "BFloat16 of float64", gputest.Download(t, d, b), b64)
	})
}

func TestIntegersRoundTo16BitsOnce(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	x := make([]uint64, 2000)
	for i := range x {
		x[i] = r.Uint64() >> r.IntN(64)
		if i%3 == 0 { // closer to the midpoint between two bfloat16 numbers than float64 can represent
			x[i] = (x[i]|1<<63)>>55<<55 + uint64(r.IntN(3)) - 1
			x[i] >>= r.IntN(3)
		}
	}
	n := len(x)
	wantH, wantB := make([]kernel.Float16, 10*n), make([]kernel.BFloat16, 10*n)
	g, b := grid(n)
	kernel.Each(g, b, func(t kernel.Thread) { halfFromIntegers(t, x, wantH, wantB) })
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		h, b := gputest.Upload(t, d, make([]kernel.Float16, 10*n)), gputest.Upload(t, d, make([]kernel.BFloat16, 10*n))
		launched(t, LaunchHalfFromIntegers(d.DefaultStream(), blocks(n), gputest.Upload(t, d, x), h, b))
		expect(t, "Float16", gputest.Download(t, d, h), wantH)
		expect(t, "BFloat16", gputest.Download(t, d, b), wantB)
	})
}

func TestEvery16BitNumberConvertsExactly(t *testing.T) {
	const n = 1 << 16
	bits := make([]uint16, n)
	for i := range bits {
		bits[i] = uint16(i)
	}
	h32, b32, h64, b64 := make([]float32, n), make([]float32, n), make([]float64, n), make([]float64, n)
	g, b := grid(n)
	kernel.Each(g, b, func(t kernel.Thread) { halfWiden(t, bits, h32, b32, h64, b64) })
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		dh32, db32 := gputest.Upload(t, d, make([]float32, n)), gputest.Upload(t, d, make([]float32, n))
		dh64, db64 := gputest.Upload(t, d, make([]float64, n)), gputest.Upload(t, d, make([]float64, n))
		launched(t, LaunchHalfWiden(d.DefaultStream(), blocks(n), gputest.Upload(t, d, bits), dh32, db32, dh64, db64))
		expect(t, "float32 of Float16", gputest.Download(t, d, dh32), h32)
		expect(t, "float32 of BFloat16", gputest.Download(t, d, db32), b32)
		expect(t, "float64 of Float16", gputest.Download(t, d, dh64), h64)
		expect(t, "float64 of BFloat16", gputest.Download(t, d, db64), b64)
	})
}

// operands returns pairs of 16-bit numbers: random, subnormal, and all combinations of
// special values.
func operands() (x, y []uint16) {
	special := []uint16{0, 0x8000, 1, 0x8001, 0x3c00, 0x3f80, 0x7c00, 0xfc00, 0x7f80, 0xff80, 0x7e00, 0x7fff, 0x7bff, 0x7f7f, 0x0400, 0x03ff, 0x0080, 0x007f}
	for _, a := range special {
		for _, b := range special {
			x, y = append(x, a), append(y, b)
		}
	}
	r := rand.New(rand.NewPCG(9, 10))
	for i := range 8000 {
		a, b := uint16(r.Uint32()), uint16(r.Uint32())
		switch i % 4 {
		case 0:
			a &= 0x83ff
		case 1:
			b = a&0xff00 | b&0xff
		}
		x, y = append(x, a), append(y, b)
	}
	return x, y
}

func TestFloat16ArithmeticIsTheSameEverywhere(t *testing.T) {
	bx, by := operands()
	n := len(bx)
	x, y, want, flags := make([]kernel.Float16, n), make([]kernel.Float16, n), make([]kernel.Float16, 12*n), make([]uint8, n)
	for i := range n {
		x[i], y[i] = kernel.Float16FromBits(bx[i]), kernel.Float16FromBits(by[i])
	}
	for _, c := range []kernel.Float16{{}, kernel.ToFloat16(1.5), kernel.ToFloat16(-6e-8), kernel.Float16FromBits(0x7c00)} {
		g, b := grid(n)
		kernel.Each(g, b, func(t kernel.Thread) { float16Arithmetic(t, c, x, y, want, flags) })
		gputest.Each(t, func(t *testing.T, d *gpu.Device) {
			out, f := gputest.Upload(t, d, make([]kernel.Float16, 12*n)), gputest.Upload(t, d, make([]uint8, n))
			launched(t, LaunchFloat16Arithmetic(d.DefaultStream(), blocks(n), c, gputest.Upload(t, d, x), gputest.Upload(t, d, y), out, f))
			expect(t, "results", gputest.Download(t, d, out), want)
			expect(t, "flags", gputest.Download(t, d, f), flags)
		})
	}
}

func TestBFloat16ArithmeticIsTheSameEverywhere(t *testing.T) {
	bx, by := operands()
	n := len(bx)
	x, y, want, flags := make([]kernel.BFloat16, n), make([]kernel.BFloat16, n), make([]kernel.BFloat16, 12*n), make([]uint8, n)
	for i := range n {
		x[i], y[i] = kernel.BFloat16FromBits(bx[i]), kernel.BFloat16FromBits(by[i])
	}
	for _, c := range []kernel.BFloat16{{}, kernel.ToBFloat16(1.5), kernel.ToBFloat16(-1e-40), kernel.BFloat16FromBits(0x7f80)} {
		fused := make([]kernel.BFloat16, n)
		g, b := grid(n)
		kernel.Each(g, b, func(t kernel.Thread) {
			bfloat16Arithmetic(t, c, x, y, want, flags)
			bfloat16FMA(t, c, x, y, fused)
		})
		gputest.Each(t, func(t *testing.T, d *gpu.Device) {
			out, f := gputest.Upload(t, d, make([]kernel.BFloat16, 12*n)), gputest.Upload(t, d, make([]uint8, n))
			dx, dy := gputest.Upload(t, d, x), gputest.Upload(t, d, y)
			launched(t, LaunchBfloat16Arithmetic(d.DefaultStream(), blocks(n), c, dx, dy, out, f))
			expect(t, "results", gputest.Download(t, d, out), want)
			expect(t, "flags", gputest.Download(t, d, f), flags)
			launched(t, LaunchBfloat16FMA(d.DefaultStream(), blocks(n), c, dx, dy, out))
			expect(t, "FMA", gputest.Download(t, d, out)[:n], fused)
		})
	}
}

func TestHalvesInStructsArraysAndSharedMemory(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	const n = 200
	in, want := make([]reading, n), make([]reading, n)
	h := func() kernel.Float16 { return kernel.ToFloat16(r.NormFloat64()) }
	b := func() kernel.BFloat16 { return kernel.ToBFloat16(r.NormFloat64()) }
	for i := range in {
		in[i] = reading{i%2 == 0, h(), [3]kernel.BFloat16{b(), b(), b()}, r.NormFloat64(), half(h())}
	}
	bias := in[5]
	g, bl := grid(n)
	kernel.Each(g, bl, func(t kernel.Thread) { halfFields(t, bias, in, want) })
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		out := gputest.Upload(t, d, make([]reading, n))
		launched(t, LaunchHalfFields(d.DefaultStream(), blocks(n), bias, gputest.Upload(t, d, in), out))
		expect(t, "out", gputest.Download(t, d, out), want)
	})
}

func TestGenericFunctionsOverScalars(t *testing.T) {
	const n = 100
	h, b, f, x, i := make([]kernel.Float16, n), make([]kernel.BFloat16, n), make([]float32, n), make([]float64, n), make([]int32, n)
	for k := range n {
		v := float64(k)*1.7 - 60
		h[k], b[k], f[k], x[k], i[k] = kernel.ToFloat16(v), kernel.ToBFloat16(v), float32(v), v, int32(v)
	}
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		dh, db, df, dx, di := gputest.Upload(t, d, h), gputest.Upload(t, d, b), gputest.Upload(t, d, f), gputest.Upload(t, d, x), gputest.Upload(t, d, i)
		launched(t, LaunchScaleScalars(d.DefaultStream(), blocks(n), 2.5, dh, db, df, dx, di))
		wh, wb, wf, wx, wi := make([]kernel.Float16, n), make([]kernel.BFloat16, n), make([]float32, n), make([]float64, n), make([]int32, n)
		copy(wh, h)
		copy(wb, b)
		copy(wf, f)
		copy(wx, x)
		copy(wi, i)
		g, bl := grid(n)
		kernel.Each(g, bl, func(t kernel.Thread) { scaleScalars(t, 2.5, wh, wb, wf, wx, wi) })
		expect(t, "Float16", gputest.Download(t, d, dh), wh)
		expect(t, "BFloat16", gputest.Download(t, d, db), wb)
		expect(t, "float32", gputest.Download(t, d, df), wf)
		expect(t, "float64", gputest.Download(t, d, dx), wx)
		expect(t, "int32", gputest.Download(t, d, di), wi)
	})
}
