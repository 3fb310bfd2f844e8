package blas

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
)

func testGemv[T Float](t *testing.T, d *gpu.Device) {
	shapes := [][2]int{{1, 1}, {8, 130}, {131, 9}, {300, 5}, {0, 4}, {4, 0}}
	if d.Backend() != gpu.Sim {
		shapes = append(shapes, [][2]int{{17, 5000}, {5000, 17}, {513, 511}, {1, 9000}, {9000, 1}}...)
	}
	s := d.DefaultStream()
	rng := rand.New(rand.NewPCG(7, 7))
	for i, shape := range shapes {
		for _, tr := range []Transpose{NoTrans, Trans} {
			alpha, beta := T(0.5), T(i%3)*0.5
			a := newMatrix[T](rng, shape[0], shape[1], i%2*3)
			m, n := shape[0], shape[1]
			if tr != NoTrans {
				m, n = n, m
			}
			incX, incY := 1+i%2, 1-i%2*3
			x, atX := hostVector[T](rng, n, incX)
			y, atY := hostVector[T](rng, m, incY)
			if beta == 0 {
				y = poisoned[T](len(y))
			}
			dy := Vector[T]{m, incY, gputest.Upload(t, d, y)}
			name := fmt.Sprintf("%v %v", tr, shape)
			if err := Gemv(s, tr, alpha, a.upload(t, d, i%3), Vector[T]{n, incX, gputest.Upload(t, d, x)}, beta, dy); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			got := gputest.Download(t, d, dy.Data)
			for r := range m {
				var sum exact
				for p := range n {
					sum.add(float64(a.at(tr, r, p)), float64(x[atX(p)]))
				}
				sum = sum.scale(0.5)
				if beta != 0 {
					sum.add(float64(beta), float64(y[atY(r)]))
				}
				if g := float64(got[atY(r)]); !near(g, sum.value(), gemmBound[T](n, sum.magnitude)) {
					t.Fatalf("%s: element %d is %g, want %g", name, r, g, sum.value())
				}
			}
		}
	}
}

func TestGemvFloat32(t *testing.T) { gputest.Each(t, testGemv[float32]) }
func TestGemvFloat64(t *testing.T) { gputest.Each(t, testGemv[float64]) }

// TestGerOfTallMatrix has more rows than a grid.
func TestGerOfTallMatrix(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		rows := gerRows + 3
		if d.Backend() == gpu.Sim {
			rows = 70
		}
		x := make([]float64, rows)
		for i := range x {
			x[i] = float64(i)
		}
		a := General[float64]{rows, 2, 3, gputest.Upload(t, d, make([]float64, rows*3))}
		if err := Ger(d.DefaultStream(), 2, Vector[float64]{rows, 1, gputest.Upload(t, d, x)}, Vector[float64]{2, 1, gputest.Upload(t, d, []float64{1, -1})}, a); err != nil {
			t.Fatal(err)
		}
		for i, v := range gputest.Download(t, d, a.Data) {
			want := []float64{2, -2, 0}[i%3] * float64(i/3)
			if v != want {
				t.Fatalf("element %d is %g, want %g", i, v, want)
			}
		}
	})
}

// TestTrsm checks the residual: op(A)*X is near alpha*B.
func testTrsm[T Float](t *testing.T, d *gpu.Device) {
	sizes := [][2]int{{5, 3}, {33, 40}}
	if d.Backend() != gpu.Sim {
		sizes = append(sizes, [][2]int{{1, 1}, {32, 129}, {64, 10}, {100, 7}, {200, 30}}...)
	}
	rng := rand.New(rand.NewPCG(8, 8))
	for i, size := range sizes {
		for variant := range 16 {
			if d.Backend() == gpu.Sim && i > 0 && variant%5 != 0 {
				continue
			}
			side, uplo, tr, diag := Left, Lower, NoTrans, NonUnit
			if variant&1 != 0 {
				side = Right
			}
			if variant&2 != 0 {
				uplo = Upper
			}
			if variant&4 != 0 {
				tr = Trans
			}
			if variant&8 != 0 {
				diag = Unit
			}
			n, lines := size[0], size[1]
			a := newMatrix[T](rng, n, n, 1)
			inA := func(i, j int) float64 {
				switch {
				case i == j && diag == Unit:
					return 1
				case i == j:
					return float64(a.data[i*a.stride+j])
				case (i > j) == (uplo == Lower):
					return float64(a.data[i*a.stride+j])
				}
				return 0
			}
			for i := range n {
				for j := range n {
					v := &a.data[i*a.stride+j]
					switch {
					case i == j && diag == Unit || i != j && (i > j) != (uplo == Lower):
						*v = T(math.NaN()) // not read
					case i == j:
						*v = 4 + T(rng.Float64())
					default:
						*v /= T(n)
					}
				}
			}
			rows, cols := n, lines
			if side == Right {
				rows, cols = lines, n
			}
			b := newMatrix[T](rng, rows, cols, variant%3)
			db := b.upload(t, d, 0)
			name := fmt.Sprintf("%v %v %v %v %v", side, uplo, tr, diag, size)
			if err := Trsm(d.DefaultStream(), side, tr, 2, Triangular[T]{n, a.stride, a.upload(t, d, 0).Data, uplo, diag}, db); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			x := gputest.Download(t, d, db.Data)
			for r := range rows {
				for q := range cols {
					var sum exact
					for p := range n {
						i, j, at := r, p, p*b.stride+q
						if side == Right {
							i, j, at = p, q, r*b.stride+p
						}
						if tr != NoTrans {
							i, j = j, i
						}
						sum.add(inA(i, j), float64(x[at]))
					}
					want := 2 * float64(b.data[r*b.stride+q])
					if v := sum.value(); !near(v, want, float64(4*n+16)*unit[T]()*(sum.magnitude+math.Abs(want))) {
						t.Fatalf("%s: element (%d, %d) of the product is %g, want %g", name, r, q, v, want)
					}
				}
			}
		}
	}
}

func TestTrsmFloat32(t *testing.T) { gputest.Each(t, testTrsm[float32]) }
func TestTrsmFloat64(t *testing.T) { gputest.Each(t, testTrsm[float64]) }

func TestTrsmWithFactorZero(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		nan := math.NaN()
		b := General[float64]{2, 2, 2, gputest.Upload(t, d, []float64{nan, 1, 2, nan})}
		if err := Trsm(d.DefaultStream(), Left, NoTrans, 0, Triangular[float64]{2, 2, gputest.Upload(t, d, []float64{nan, nan, nan, nan}), Lower, NonUnit}, b); err != nil {
			t.Fatal(err)
		}
		gputest.Equal(t, gputest.Download(t, d, b.Data), []float64{0, 0, 0, 0})
	})
}

func testTransposition[T any](t *testing.T, d *gpu.Device, value func(i int) T, same func(a, b T) bool) {
	shapes := [][2]int{{33, 65}, {1, 5}, {31, 32}}
	if d.Backend() != gpu.Sim {
		shapes = append(shapes, [2]int{257, 130})
	}
	for _, shape := range shapes {
		rows, cols := shape[0], shape[1]
		src := make([]T, rows*(cols+1))
		for i := range src {
			src[i] = value(i)
		}
		to := General[T]{cols, rows, rows + 2, gputest.Upload(t, d, make([]T, cols*(rows+2)))}
		if err := TransposeTo(d.DefaultStream(), to, General[T]{rows, cols, cols + 1, gputest.Upload(t, d, src)}); err != nil {
			t.Fatal(err)
		}
		got := gputest.Download(t, d, to.Data)
		for i := range rows {
			for j := range cols {
				if !same(got[j*to.Stride+i], src[i*(cols+1)+j]) {
					t.Fatalf("%T %v: element (%d, %d) is %v", src[0], shape, i, j, got[j*to.Stride+i])
				}
			}
		}
		n := min(rows, cols)
		square := General[T]{n, n, cols + 1, gputest.Upload(t, d, src)}
		if err := TransposeSquare(d.DefaultStream(), square); err != nil {
			t.Fatal(err)
		}
		got = gputest.Download(t, d, square.Data)
		for i := range rows {
			for j := range cols + 1 {
				want := src[i*(cols+1)+j]
				if i < n && j < n {
					want = src[j*(cols+1)+i]
				}
				if !same(got[i*(cols+1)+j], want) {
					t.Fatalf("%T square of %d: element (%d, %d) is %v, want %v", src[0], n, i, j, got[i*(cols+1)+j], want)
				}
			}
		}
	}
}

func TestTransposition(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		testTransposition(t, d, func(i int) uint8 { return uint8(i * 7) }, func(a, b uint8) bool { return a == b })
		testTransposition(t, d, func(i int) int16 { return int16(i * 7) }, func(a, b int16) bool { return a == b })
		testTransposition(t, d, func(i int) float32 { return float32(i) }, func(a, b float32) bool { return a == b })
		testTransposition(t, d, func(i int) complex64 { return complex(float32(i), 1) }, func(a, b complex64) bool { return a == b })
	})
}
