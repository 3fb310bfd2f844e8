//go:build goexperiment.simd && amd64

package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"simd/archsimd"
	"testing"
)

const lanes = 8

// random returns n numbers from 0 to 1.
func random(n int) []float32 {
	r := rand.New(rand.NewPCG(1, 2))
	s := make([]float32, n)
	for i := range s {
		s[i] = r.Float32()
	}
	return s
}

// compare measures two forms of a loop over rows of n numbers, after comparing their bits.
func compare(b *testing.B, n, bytes int, out []float32, scalar, vector func()) {
	b.Helper()
	if !archsimd.X86.AVX2() {
		b.Skip("the processor has no AVX2")
	}
	clear(out)
	scalar()
	want := append([]float32(nil), out...)
	clear(out)
	vector()
	for i := range out {
		if math.Float32bits(out[i]) != math.Float32bits(want[i]) {
			b.Fatalf("element %d is %v, want %v", i, out[i], want[i])
		}
	}
	for _, form := range []struct {
		name string
		run  func()
	}{{"scalar", scalar}, {"vectors", vector}} {
		b.Run(fmt.Sprintf("%d/%s", n, form.name), func(b *testing.B) {
			b.SetBytes(int64(n * bytes))
			for b.Loop() {
				form.run()
			}
		})
	}
}

func BenchmarkSaxpy(b *testing.B) {
	for _, n := range []int{14, 1 << 12, 1 << 25} {
		x, y, out := random(n), random(n), make([]float32, n)
		a := float32(1.5)
		scalar := func() {
			y, out := y[:len(x)], out[:len(x)]
			for i, x := range x {
				out[i] = a*x + y[i]
			}
		}
		vector := func() {
			y, out := y[:len(x)], out[:len(x)]
			i, a8 := 0, archsimd.BroadcastFloat32x8(a)
			for ; i+lanes <= len(x); i += lanes {
				a8.Mul(archsimd.LoadFloat32x8Slice(x[i:])).Add(archsimd.LoadFloat32x8Slice(y[i:])).StoreSlice(out[i:])
			}
			archsimd.ClearAVXUpperBits()
			for ; i < len(x); i++ {
				out[i] = a*x[i] + y[i]
			}
		}
		compare(b, n, 12, out, scalar, vector)
	}
}

// BenchmarkStencil has the inner loop of hotspot.
func BenchmarkStencil(b *testing.B) {
	for _, n := range []int{14, 1 << 12} {
		here, heat, above, below, out := random(n+2), random(n), random(n), random(n), make([]float32, n)
		rx, ry, rz, step := float32(0.3), float32(0.2), float32(0.1), float32(0.5)
		one := func(i int) {
			c := here[i+1]
			out[i] = c + step*(heat[i]+(below[i]+above[i]-2*c)*ry+(here[i+2]+here[i]-2*c)*rx+(80-c)*rz)
		}
		scalar := func() {
			center, west, east := here[1:][:n], here[:n], here[2:][:n]
			heat, above, below, out := heat[:n], above[:n], below[:n], out[:n]
			for i, c := range center {
				out[i] = c + step*(heat[i]+(below[i]+above[i]-2*c)*ry+(east[i]+west[i]-2*c)*rx+(80-c)*rz)
			}
		}
		vector := func() {
			two, ambient := archsimd.BroadcastFloat32x8(2), archsimd.BroadcastFloat32x8(80)
			s, x, y, z := archsimd.BroadcastFloat32x8(step), archsimd.BroadcastFloat32x8(rx), archsimd.BroadcastFloat32x8(ry), archsimd.BroadcastFloat32x8(rz)
			load := archsimd.LoadFloat32x8Slice
			i := 0
			for ; i+lanes <= n; i += lanes {
				c := load(here[i+1:])
				c2 := two.Mul(c)
				v := load(heat[i:]).
					Add(load(below[i:]).Add(load(above[i:])).Sub(c2).Mul(y)).
					Add(load(here[i+2:]).Add(load(here[i:])).Sub(c2).Mul(x)).
					Add(ambient.Sub(c).Mul(z))
				c.Add(s.Mul(v)).StoreSlice(out[i:])
			}
			archsimd.ClearAVXUpperBits()
			for ; i < n; i++ {
				one(i)
			}
		}
		compare(b, n, 20, out, scalar, vector)
	}
}

// BenchmarkPolynomial computes a polynomial of degree 12, which waits for its own results.
func BenchmarkPolynomial(b *testing.B) {
	coefficients := random(13)
	for _, n := range []int{14, 1 << 12} {
		x, out := random(n), make([]float32, n)
		one := func(x float32) float32 {
			v := coefficients[0]
			for _, c := range coefficients[1:] {
				v = v*x + c
			}
			return v
		}
		scalar := func() {
			out := out[:len(x)]
			for i, x := range x {
				out[i] = one(x)
			}
		}
		vector := func() {
			out := out[:len(x)]
			i := 0
			for ; i+lanes <= len(x); i += lanes {
				x, v := archsimd.LoadFloat32x8Slice(x[i:]), archsimd.BroadcastFloat32x8(coefficients[0])
				for _, c := range coefficients[1:] {
					v = v.Mul(x).Add(archsimd.BroadcastFloat32x8(c))
				}
				v.StoreSlice(out[i:])
			}
			archsimd.ClearAVXUpperBits()
			for ; i < len(x); i++ {
				out[i] = one(x[i])
			}
		}
		compare(b, n, 8, out, scalar, vector)
	}
}
