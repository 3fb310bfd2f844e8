package types

import (
	"math"
	"math/rand/v2"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
	"quern.dev/kernel"
)

// float8Inputs returns numbers that are critical for rounding to 8 bits: every number of both
// formats, the midpoints between neighbors, the adjacent float64 and float32 numbers of all
// these, numbers that saturate, and random ones.
func float8Inputs() []float64 {
	out := []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, -math.MaxFloat32, 1e-45, 5e-324, -5e-324, math.Copysign(0, -1), 464, 480, 61440, 65536}
	add := func(x, next float64) {
		for _, v := range []float64{x, (x + next) / 2} {
			out = append(out, v, math.Nextafter(v, 0), math.Nextafter(v, 1e9), math.Nextafter(v, -1e9),
				float64(math.Nextafter32(float32(v), 0)), float64(math.Nextafter32(float32(v), 1e9)), float64(math.Nextafter32(float32(v), -1e9)))
		}
	}
	for i := range 256 {
		add(kernel.Float8E4M3FromBits(uint8(i)).Float64(), kernel.Float8E4M3FromBits(uint8(i+1)).Float64())
		add(kernel.Float8E5M2FromBits(uint8(i)).Float64(), kernel.Float8E5M2FromBits(uint8(i+1)).Float64())
	}
	r := rand.New(rand.NewPCG(8, 8))
	for range 5000 {
		out = append(out, math.Float64frombits(r.Uint64()), float64(math.Float32frombits(r.Uint32())), math.Ldexp(r.NormFloat64(), r.IntN(40)-24))
	}
	return out
}

func TestRoundingTo8BitsIsTheSameEverywhere(t *testing.T) {
	doubles := float8Inputs()
	n := len(doubles)
	singles := make([]float32, n)
	for i, x := range doubles {
		singles[i] = float32(x)
	}
	a, b := make([]kernel.Float8E4M3, n), make([]kernel.Float8E4M3, n)
	c, e := make([]kernel.Float8E5M2, n), make([]kernel.Float8E5M2, n)
	g, bl := grid(n)
	kernel.Each(g, bl, func(t kernel.Thread) { float8FromFloats(t, singles, doubles, a, b, c, e) })
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		da, db := gputest.Upload(t, d, make([]kernel.Float8E4M3, n)), gputest.Upload(t, d, make([]kernel.Float8E4M3, n))
		dc, de := gputest.Upload(t, d, make([]kernel.Float8E5M2, n)), gputest.Upload(t, d, make([]kernel.Float8E5M2, n))
		launched(t, LaunchFloat8FromFloats(d.DefaultStream(), blocks(n), gputest.Upload(t, d, singles), gputest.Upload(t, d, doubles), da, db, dc, de))
		expect(t, "Float8E4M3 of float32", gputest.Download(t, d, da), a)
		expect(t, "Float8E4M3 of float64", gputest.Download(t, d, db), b)
		expect(t, "Float8E5M2 of float32", gputest.Download(t, d, dc), c)
		expect(t, "Float8E5M2 of float64", gputest.Download(t, d, de), e)
	})
}

func TestIntegersRoundTo8BitsOnce(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 9))
	x := make([]uint64, 2000)
	for i := range x {
		x[i] = r.Uint64() >> r.IntN(64)
	}
	n := len(x)
	wantA, wantB := make([]kernel.Float8E4M3, 10*n), make([]kernel.Float8E5M2, 10*n)
	g, bl := grid(n)
	kernel.Each(g, bl, func(t kernel.Thread) { float8FromIntegers(t, x, wantA, wantB) })
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		a, b := gputest.Upload(t, d, make([]kernel.Float8E4M3, 10*n)), gputest.Upload(t, d, make([]kernel.Float8E5M2, 10*n))
		launched(t, LaunchFloat8FromIntegers(d.DefaultStream(), blocks(n), gputest.Upload(t, d, x), a, b))
		expect(t, "Float8E4M3", gputest.Download(t, d, a), wantA)
		expect(t, "Float8E5M2", gputest.Download(t, d, b), wantB)
	})
}

func TestEvery8BitNumberConvertsExactly(t *testing.T) {
	const n = 256
	bits := make([]uint8, n)
	for i := range bits {
		bits[i] = uint8(i)
	}
	a32, b32, a64, b64, flags := make([]float32, n), make([]float32, n), make([]float64, n), make([]float64, n), make([]uint8, n)
	g, bl := grid(n)
	kernel.Each(g, bl, func(t kernel.Thread) { float8Widen(t, bits, a32, b32, a64, b64, flags) })
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		da32, db32 := gputest.Upload(t, d, make([]float32, n)), gputest.Upload(t, d, make([]float32, n))
		da64, db64 := gputest.Upload(t, d, make([]float64, n)), gputest.Upload(t, d, make([]float64, n))
		df := gputest.Upload(t, d, make([]uint8, n))
		launched(t, LaunchFloat8Widen(d.DefaultStream(), blocks(n), gputest.Upload(t, d, bits), da32, db32, da64, db64, df))
		expect(t, "float32 of Float8E4M3", gputest.Download(t, d, da32), a32)
		expect(t, "float32 of Float8E5M2", gputest.Download(t, d, db32), b32)
		expect(t, "float64 of Float8E4M3", gputest.Download(t, d, da64), a64)
		expect(t, "float64 of Float8E5M2", gputest.Download(t, d, db64), b64)
		expect(t, "flags", gputest.Download(t, d, df), flags)
	})
}
