package blas

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
)

// vectorSizes are sizes around the edges of the chunks.
func vectorSizes(d *gpu.Device) []int {
	if d.Backend() == gpu.Sim {
		return []int{0, 1, 33, 4097}
	}
	return []int{0, 1, 2, 31, 32, 33, 255, 257, 1023, 4095, 4096, 4097, 16385, 70000}
}

// hostVector returns a random vector in a slice with gaps, and the index of element i.
func hostVector[T Float](rng *rand.Rand, n, inc int) (data []T, at func(i int) int) {
	step := max(inc, -inc)
	data = poisoned[T](max((n-1)*step+1, 1))
	at = func(i int) int {
		if inc < 0 {
			return (n - 1 - i) * step
		}
		return i * step
	}
	for i := range n {
		data[at(i)] = T(rng.NormFloat64())
	}
	return data, at
}

func near(got, want, bound float64) bool {
	return got == want || math.IsNaN(got) && math.IsNaN(want) || math.Abs(got-want) <= bound
}

func testVectors[T Float](t *testing.T, d *gpu.Device) {
	s, u := d.DefaultStream(), unit[T]()
	rng := rand.New(rand.NewPCG(6, 6))
	for _, n := range vectorSizes(d) {
		for _, inc := range [][2]int{{1, 1}, {2, -3}} {
			name := fmt.Sprintf("n %d increments %v", n, inc)
			x, atX := hostVector[T](rng, n, inc[0])
			y, atY := hostVector[T](rng, n, inc[1])
			dx, dy := Vector[T]{n, inc[0], gputest.Upload(t, d, x)}, Vector[T]{n, inc[1], gputest.Upload(t, d, y)}
			out, index := gputest.Alloc[T](t, d, 1), gputest.Alloc[int](t, d, 1)
			do := func(err error) {
				t.Helper()
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
			}
			var dot, sum, squares exact
			largest := -1
			for i := range n {
				v := float64(x[atX(i)])
				dot.add(v, float64(y[atY(i)]))
				sum.add(math.Abs(v), 1)
				squares.add(v, v)
				if largest < 0 || math.Abs(v) > math.Abs(float64(x[atX(largest)])) {
					largest = i
				}
			}
			check := func(what string, want, bound float64) {
				t.Helper()
				if got := float64(gputest.Download(t, d, out)[0]); !near(got, want, bound) {
					t.Errorf("%s: %s is %g, want %g within %g", name, what, got, want, bound)
				}
			}
			do(Dot(s, dx, dy, out))
			check("Dot", dot.value(), sumBound(n)*u*dot.magnitude)
			do(Asum(s, dx, out))
			check("Asum", sum.value(), sumBound(n)*u*sum.value())
			do(Nrm2(s, dx, out))
			norm := math.Sqrt(squares.value())
			check("Nrm2", norm, (2*u+sumBound(n)*0x1p-53)*norm)
			do(Iamax(s, dx, index))
			if got := gputest.Download(t, d, index)[0]; got != largest {
				t.Errorf("%s: Iamax is %d, want %d", name, got, largest)
			}

			do(Axpy(s, 0.5, dx, dy))
			got := gputest.Download(t, d, dy.Data)
			for i := range n {
				v, w := float64(x[atX(i)]), float64(y[atY(i)])
				if g := float64(got[atY(i)]); !near(g, w+v/2, 2*u*(math.Abs(w)+math.Abs(v))) {
					t.Fatalf("%s: Axpy: element %d is %g, want %g", name, i, g, w+v/2)
				}
			}
			do(Rot(s, dx, dy, 0.6, 0.8))
			do(Swap(s, dx, dy))
			do(Scal(s, 2, dx))
			rx, ry := gputest.Download(t, d, dx.Data), gputest.Download(t, d, dy.Data)
			for i := range n {
				v, w := float64(x[atX(i)]), float64(got[atY(i)])
				bound := 8 * u * (math.Abs(v) + math.Abs(w))
				if !near(float64(ry[atY(i)]), 0.6*v+0.8*w, bound) || !near(float64(rx[atX(i)]), 2*(0.6*w-0.8*v), 2*bound) {
					t.Fatalf("%s: element %d is %g, %g after Rot, Swap and Scal", name, i, rx[atX(i)], ry[atY(i)])
				}
			}
			do(Copy(s, dx, dy))
			ry = gputest.Download(t, d, dy.Data)
			for i := range ry {
				if n > 0 && i%max(inc[1], -inc[1]) != 0 && !math.IsNaN(float64(ry[i])) {
					t.Fatalf("%s: the gap at %d was written", name, i)
				}
			}
			for i := range n {
				if ry[atY(i)] != rx[atX(i)] {
					t.Fatalf("%s: Copy: element %d is %g, want %g", name, i, ry[atY(i)], rx[atX(i)])
				}
			}
		}
	}
}

// sumBound is the bound of the error of a sum over n elements that the package states, in
// units of rounding of the sum of the magnitudes.
func sumBound(n int) float64 { return float64(n)/128 + 64 }

func TestVectorsFloat32(t *testing.T) { gputest.Each(t, testVectors[float32]) }
func TestVectorsFloat64(t *testing.T) { gputest.Each(t, testVectors[float64]) }

func TestNormOfExtremeNumbers(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		inf, nan := math.Inf(1), math.NaN()
		for _, c := range []struct {
			x    []float64
			want float64
		}{
			{[]float64{3e300, 4e300}, 5e300},
			{[]float64{3e-300, -4e-300}, 5e-300},
			{[]float64{3e300, 4e300, 1e-300, 1}, 5e300},
			{[]float64{3e-300, 4e-300, 1}, 1},
			{[]float64{0x3p-1074, 0x4p-1074}, 0x5p-1074},
			{[]float64{math.MaxFloat64, math.MaxFloat64}, inf},
			{[]float64{1, -inf, 2}, inf},
			{[]float64{1, nan, inf}, nan},
			{[]float64{nan, 1e300}, nan},
			{[]float64{nan, 1e-300}, nan},
			{[]float64{0, math.Copysign(0, -1)}, 0},
		} {
			x, out := gputest.Upload(t, d, c.x), gputest.Alloc[float64](t, d, 1)
			if err := Nrm2(d.DefaultStream(), Vector[float64]{len(c.x), 1, x}, out); err != nil {
				t.Fatal(err)
			}
			if got := gputest.Download(t, d, out)[0]; !near(got, c.want, 4e-16*c.want) {
				t.Errorf("the norm of %g is %g, want %g", c.x, got, c.want)
			}
		}
		x, out := gputest.Upload(t, d, []float32{3e38, -1e38}), gputest.Alloc[float32](t, d, 1)
		if err := Nrm2(d.DefaultStream(), Vector[float32]{2, 1, x}, out); err != nil {
			t.Fatal(err)
		}
		if got := gputest.Download(t, d, out)[0]; !near(float64(got), math.Sqrt(10)*1e38, 1e31) {
			t.Errorf("the norm in float32 is %g", got)
		}
		index := gputest.Alloc[int](t, d, 1)
		for _, c := range []struct {
			x    []float64
			want int
		}{{[]float64{1, -3, 3}, 1}, {[]float64{0, 0}, 0}, {[]float64{1, nan, inf, nan}, 1}, {[]float64{-inf, inf}, 0}} {
			if err := Iamax(d.DefaultStream(), Vector[float64]{len(c.x), 1, gputest.Upload(t, d, c.x)}, index); err != nil {
				t.Fatal(err)
			}
			if got := gputest.Download(t, d, index)[0]; got != c.want {
				t.Errorf("Iamax of %g is %d, want %d", c.x, got, c.want)
			}
		}
	})
}
