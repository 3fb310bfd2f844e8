package blas

import (
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/testblas"

	"quern.dev/gpu"
	"quern.dev/gputest"
)

// gonumBLAS is this package as an implementation of gonum's interfaces for float64. T is the
// type in which it computes. Errors are panics, as in gonum.
type gonumBLAS[T Float] struct {
	t testing.TB
	d *gpu.Device
}

func (g gonumBLAS[T]) upload(x []float64) *gpu.Buffer[T] {
	if len(x) == 0 {
		return nil
	}
	y := make([]T, len(x))
	for i, v := range x {
		y[i] = T(v)
	}
	return gputest.Upload(g.t, g.d, y)
}

func (g gonumBLAS[T]) download(to []float64, from *gpu.Buffer[T]) {
	if from == nil {
		return
	}
	for i, v := range gputest.Download(g.t, g.d, from) {
		to[i] = float64(v)
	}
}

func (g gonumBLAS[T]) vector(n int, x []float64, inc int) Vector[T] {
	return Vector[T]{n, inc, g.upload(x)}
}

func (g gonumBLAS[T]) matrix(rows, cols int, a []float64, lda int) General[T] {
	return General[T]{rows, cols, lda, g.upload(a)}
}

func (g gonumBLAS[T]) must(err error) {
	if err != nil {
		panic(err.Error())
	}
}

func (g gonumBLAS[T]) stream() *gpu.Stream { return g.d.DefaultStream() }

func (g gonumBLAS[T]) Ddot(n int, x []float64, incX int, y []float64, incY int) float64 {
	out := gputest.Alloc[T](g.t, g.d, 1)
	g.must(Dot(g.stream(), g.vector(n, x, incX), g.vector(n, y, incY), out))
	return float64(gputest.Download(g.t, g.d, out)[0])
}

// norm computes a sum over a vector. gonum gives 0 for negative increments.
func (g gonumBLAS[T]) norm(n int, x []float64, incX int, f func(*gpu.Stream, Vector[T], *gpu.Buffer[T], ...*gpu.Workspace) error) float64 {
	if incX < 0 {
		return 0
	}
	out := gputest.Alloc[T](g.t, g.d, 1)
	g.must(f(g.stream(), g.vector(n, x, incX), out))
	return float64(gputest.Download(g.t, g.d, out)[0])
}

func (g gonumBLAS[T]) Dnrm2(n int, x []float64, incX int) float64 {
	return g.norm(n, x, incX, Nrm2[T])
}

func (g gonumBLAS[T]) Dasum(n int, x []float64, incX int) float64 {
	return g.norm(n, x, incX, Asum[T])
}

func (g gonumBLAS[T]) Idamax(n int, x []float64, incX int) int {
	if incX < 0 {
		return -1
	}
	out := gputest.Alloc[int](g.t, g.d, 1)
	g.must(Iamax(g.stream(), g.vector(n, x, incX), out))
	return gputest.Download(g.t, g.d, out)[0]
}

func (g gonumBLAS[T]) Dswap(n int, x []float64, incX int, y []float64, incY int) {
	u, v := g.vector(n, x, incX), g.vector(n, y, incY)
	g.must(Swap(g.stream(), u, v))
	g.download(x, u.Data)
	g.download(y, v.Data)
}

func (g gonumBLAS[T]) Dcopy(n int, x []float64, incX int, y []float64, incY int) {
	v := g.vector(n, y, incY)
	g.must(Copy(g.stream(), g.vector(n, x, incX), v))
	g.download(y, v.Data)
}

func (g gonumBLAS[T]) Daxpy(n int, alpha float64, x []float64, incX int, y []float64, incY int) {
	v := g.vector(n, y, incY)
	g.must(Axpy(g.stream(), T(alpha), g.vector(n, x, incX), v))
	g.download(y, v.Data)
}

func (g gonumBLAS[T]) Drot(n int, x []float64, incX int, y []float64, incY int, c, s float64) {
	u, v := g.vector(n, x, incX), g.vector(n, y, incY)
	g.must(Rot(g.stream(), u, v, T(c), T(s)))
	g.download(x, u.Data)
	g.download(y, v.Data)
}

func (g gonumBLAS[T]) Dscal(n int, alpha float64, x []float64, incX int) {
	if incX < 0 {
		return
	}
	v := g.vector(n, x, incX)
	g.must(Scal(g.stream(), T(alpha), v))
	g.download(x, v.Data)
}

func (g gonumBLAS[T]) Dgemv(tA blas.Transpose, m, n int, alpha float64, a []float64, lda int, x []float64, incX int, beta float64, y []float64, incY int) {
	if tA != blas.NoTrans {
		m, n = n, m
	}
	v := g.vector(m, y, incY)
	if tA != blas.NoTrans {
		g.must(Gemv(g.stream(), Transpose(tA), T(alpha), g.matrix(n, m, a, lda), g.vector(n, x, incX), T(beta), v))
	} else {
		g.must(Gemv(g.stream(), Transpose(tA), T(alpha), g.matrix(m, n, a, lda), g.vector(n, x, incX), T(beta), v))
	}
	g.download(y, v.Data)
}

func (g gonumBLAS[T]) Dger(m, n int, alpha float64, x []float64, incX int, y []float64, incY int, a []float64, lda int) {
	c := g.matrix(m, n, a, lda)
	g.must(Ger(g.stream(), T(alpha), g.vector(m, x, incX), g.vector(n, y, incY), c))
	g.download(a, c.Data)
}

func (g gonumBLAS[T]) Dgemm(tA, tB blas.Transpose, m, n, k int, alpha float64, a []float64, lda int, b []float64, ldb int, beta float64, c []float64, ldc int) {
	stored := func(t blas.Transpose, rows, cols int, x []float64, ld int) General[T] {
		if t != blas.NoTrans {
			rows, cols = cols, rows
		}
		return g.matrix(rows, cols, x, ld)
	}
	to := g.matrix(m, n, c, ldc)
	g.must(Gemm(g.stream(), Transpose(tA), Transpose(tB), T(alpha), stored(tA, m, k, a, lda), stored(tB, k, n, b, ldb), T(beta), to))
	g.download(c, to.Data)
}

func (g gonumBLAS[T]) Dsyrk(ul blas.Uplo, tA blas.Transpose, n, k int, alpha float64, a []float64, lda int, beta float64, c []float64, ldc int) {
	rows, cols := n, k
	if tA != blas.NoTrans {
		rows, cols = k, n
	}
	to := Symmetric[T]{n, ldc, g.upload(c), Uplo(ul)}
	g.must(Syrk(g.stream(), Transpose(tA), T(alpha), g.matrix(rows, cols, a, lda), T(beta), to))
	g.download(c, to.Data)
}

func (g gonumBLAS[T]) Dtrsm(s blas.Side, ul blas.Uplo, tA blas.Transpose, d blas.Diag, m, n int, alpha float64, a []float64, lda int, b []float64, ldb int) {
	order := m
	if s == blas.Right {
		order = n
	}
	to := g.matrix(m, n, b, ldb)
	g.must(Trsm(g.stream(), Side(s), Transpose(tA), T(alpha), Triangular[T]{order, lda, g.upload(a), Uplo(ul), Diag(d)}, to))
	g.download(b, to.Data)
}

// TestGonum runs gonum's suite for the functions of this package.
func TestGonum(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) { testGonum[float64](t, d) })
}

// TestGonumFloat32 runs the tests in float32 whose results are exact in float32 too.
func TestGonumFloat32(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		testGonum[float32](t, d, "Dnrm2", "Drot", "Dgemv", "Dger", "Dtrsm")
	})
}

func testGonum[T Float](t *testing.T, d *gpu.Device, except ...string) {
	for name, f := range map[string]func(*testing.T, gonumBLAS[T]){
		"Ddot":   func(t *testing.T, g gonumBLAS[T]) { testblas.DdotTest(t, g) },
		"Dnrm2":  func(t *testing.T, g gonumBLAS[T]) { testblas.Dnrm2Test(t, g) },
		"Dasum":  func(t *testing.T, g gonumBLAS[T]) { testblas.DasumTest(t, g) },
		"Idamax": func(t *testing.T, g gonumBLAS[T]) { testblas.IdamaxTest(t, g) },
		"Dswap":  func(t *testing.T, g gonumBLAS[T]) { testblas.DswapTest(t, g) },
		"Dcopy":  func(t *testing.T, g gonumBLAS[T]) { testblas.DcopyTest(t, g) },
		"Daxpy":  func(t *testing.T, g gonumBLAS[T]) { testblas.DaxpyTest(t, g) },
		"Drot":   func(t *testing.T, g gonumBLAS[T]) { testblas.DrotTest(t, g) },
		"Dscal":  func(t *testing.T, g gonumBLAS[T]) { testblas.DscalTest(t, g) },
		"Dgemv":  func(t *testing.T, g gonumBLAS[T]) { testblas.DgemvTest(t, g) },
		"Dger":   func(t *testing.T, g gonumBLAS[T]) { testblas.DgerTest(t, g) },
		"Dgemm":  func(t *testing.T, g gonumBLAS[T]) { testblas.TestDgemm(t, g) },
		"Dsyrk":  func(t *testing.T, g gonumBLAS[T]) { testblas.DsyrkTest(t, g) },
		"Dtrsm":  func(t *testing.T, g gonumBLAS[T]) { testblas.DtrsmTest(t, g) },
	} {
		if !slices.Contains(except, name) {
			t.Run(name, func(t *testing.T) { f(t, gonumBLAS[T]{t, d}) })
		}
	}
}
