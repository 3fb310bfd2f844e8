package blas

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack"
	"gonum.org/v1/gonum/lapack/lapack64"

	"quern.dev/gpu"
	"quern.dev/gputest"
)

var norms = []MatrixNorm{MaxAbs, MaxColumnSum, MaxRowSum, Frobenius}

func lange[T Float](t *testing.T, d *gpu.Device, norm MatrixNorm, a General[T]) float64 {
	t.Helper()
	out := gputest.Alloc[T](t, d, 1)
	if err := Lange(d.DefaultStream(), norm, a, out); err != nil {
		t.Fatal(err)
	}
	return float64(gputest.Download(t, d, out)[0])
}

func testLange[T Float](t *testing.T, d *gpu.Device) {
	shapes := [][2]int{{0, 3}, {3, 0}, {1, 1}, {1, 700}, {700, 1}, {9, 130}, {131, 9}}
	if d.Backend() != gpu.Sim {
		shapes = append(shapes, [][2]int{{1, 30_000}, {30_000, 1}, {17, 5000}, {5000, 17}, {513, 511}}...)
	}
	rng := rand.New(rand.NewPCG(5, 5))
	for i, shape := range shapes {
		for _, gap := range []int{0, 3} {
			m := newMatrix[T](rng, shape[0], shape[1], gap)
			a := m.upload(t, d, i%3)
			host := blas64.General{Rows: shape[0], Cols: shape[1], Stride: max(1, shape[1]), Data: make([]float64, shape[0]*shape[1])}
			for r := range shape[0] {
				for c := range shape[1] {
					host.Data[r*shape[1]+c] = float64(m.at(NoTrans, r, c))
				}
			}
			for _, norm := range norms {
				want := lapack64.Lange(lapack.MatrixNorm(norm), host, make([]float64, shape[1]))
				if shape[0] == 0 || shape[1] == 0 {
					want = 0
				}
				bound := 0.0
				if norm != MaxAbs {
					bound = gemmBound[T](shape[0]+shape[1], want)
				}
				if got := lange(t, d, norm, a); !near(got, want, bound) {
					t.Errorf("%v of %v with gaps of %d: %g, want %g", norm, shape, gap, got, want)
				}
			}
		}
	}
}

func TestLangeFloat32(t *testing.T) { gputest.Each(t, testLange[float32]) }
func TestLangeFloat64(t *testing.T) { gputest.Each(t, testLange[float64]) }

func TestLangeOfSpecialNumbers(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		const rows, cols = 70, 66
		for _, c := range []struct {
			name string
			set  map[int]float64
			want [4]float64 // by norm
		}{
			{"zeros", nil, [4]float64{}},
			{"NaN", map[int]float64{1000: math.NaN(), 1001: math.Inf(1), 3000: 5}, [4]float64{math.NaN(), math.NaN(), math.NaN(), math.NaN()}},
			{"infinity", map[int]float64{1000: math.Inf(-1)}, [4]float64{math.Inf(1), math.Inf(1), math.Inf(1), math.Inf(1)}},
			{"large numbers", map[int]float64{66: 3e200, 67: -4e200}, [4]float64{4e200, 4e200, 7e200, 5e200}},
			{"small numbers in a column", map[int]float64{7: 3e-200, 73: 4e-200}, [4]float64{4e-200, 7e-200, 4e-200, 5e-200}},
		} {
			data := make([]float64, rows*cols)
			for i, v := range c.set {
				data[i] = v
			}
			a := General[float64]{rows, cols, cols, gputest.Upload(t, d, data)}
			for i, norm := range norms {
				got, want := lange(t, d, norm, a), c.want[i]
				if math.IsNaN(got) != math.IsNaN(want) || got != want && !(math.Abs(got-want) <= 1e-15*want) && !math.IsNaN(want) {
					t.Errorf("%s, %v: %g, want %g", c.name, norm, got, want)
				}
			}
		}
	})
}
