package sparse_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
	"quern.dev/sparse"
)

// laplace is the matrix of the five-point stencil on a grid of n x n points, whose
// diagonal elements are multiplied by numbers from 1 to spread.
func laplace[T sparse.Float](n int, spread float64) *sparse.Entries[T] {
	r := rand.New(rand.NewPCG(5, 6))
	scale := make([]float64, n*n)
	for i := range scale {
		scale[i] = math.Sqrt(1 + r.Float64()*(spread-1))
	}
	e := &sparse.Entries[T]{Rows: n * n, Cols: n * n}
	add := func(i, j int, v float64) { e.Add(i, j, T(v*scale[i]*scale[j])) }
	for y := range n {
		for x := range n {
			i := y*n + x
			if y > 0 {
				add(i, i-n, -1)
			}
			if x > 0 {
				add(i, i-1, -1)
			}
			add(i, i, 4.01)
			if x < n-1 {
				add(i, i+1, -1)
			}
			if y < n-1 {
				add(i, i+n, -1)
			}
		}
	}
	return e
}

// convection is a matrix that is not symmetric.
func convection[T sparse.Float](n int) *sparse.Entries[T] {
	e := laplace[T](n, 1)
	for k := range e.Value {
		if e.Col[k] == e.Row[k]+1 {
			e.Value[k] += 0.7
		}
		if e.Col[k] == e.Row[k]-1 {
			e.Value[k] -= 0.6
		}
	}
	return e
}

// error2 returns the relative norm of b - a*x.
func error2[T sparse.Float](e *sparse.Entries[T], x, b []T) float64 {
	r, _ := product(false, -1, e, x, 1, b)
	rr, bb := 0.0, 0.0
	for i := range r {
		rr += r[i] * r[i]
		bb += float64(b[i]) * float64(b[i])
	}
	return math.Sqrt(rr / bb)
}

type solver[T sparse.Float] func(ctx context.Context, s *gpu.Stream, a sparse.CSR[T], b, x *gpu.Buffer[T], o *sparse.Options[T], work ...*gpu.Workspace) (sparse.Result, error)

// testSolver solves a system, and returns the number of iterations.
func testSolver[T sparse.Float](t *testing.T, dev *gpu.Device, name string, solve solver[T], e *sparse.Entries[T], tolerance float64, precondition func(a sparse.CSR[T]) sparse.Preconditioner[T]) int {
	t.Helper()
	s := dev.DefaultStream()
	a, err := sparse.UploadCSR(s, e)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	o := &sparse.Options[T]{Tolerance: tolerance}
	if precondition != nil {
		o.Preconditioner = precondition(a)
	}
	b := vector[T](e.Rows)
	x := gputest.Upload(t, dev, make([]T, e.Rows))
	result, err := solve(t.Context(), s, a, gputest.Upload(t, dev, b), x, o)
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return 0
	}
	if len(result.History) != result.Iterations+1 || result.History[0] < 0.99 || result.History[0] > 1.01 || result.Residual > tolerance {
		t.Errorf("%s: %d iterations with %d residuals from %g to %g", name, result.Iterations, len(result.History), result.History[0], result.Residual)
	}
	if got := error2(e, gputest.Download(t, dev, x), b); !(got <= 2*tolerance) {
		t.Errorf("%s: the residual is %g, want at most %g", name, got, tolerance)
	}
	// From the solution, no iteration is needed.
	if again, err := solve(t.Context(), s, a, gputest.Upload(t, dev, b), x, &sparse.Options[T]{Tolerance: 3 * tolerance}); err != nil || again.Iterations != 0 {
		t.Errorf("%s: %d iterations from the solution, error %v", name, again.Iterations, err)
	}
	return result.Iterations
}

func TestCG(t *testing.T) {
	gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
		s := dev.DefaultStream()
		jacobi32 := func(a sparse.CSR[float32]) sparse.Preconditioner[float32] {
			p, err := sparse.NewJacobi(s, a)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { p.Close() })
			return p
		}
		jacobi64 := func(a sparse.CSR[float64]) sparse.Preconditioner[float64] {
			p, err := sparse.NewJacobi(s, a)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { p.Close() })
			return p
		}
		testSolver(t, dev, "float32", sparse.CG[float32], laplace[float32](9, 1), 1e-5, nil)
		testSolver(t, dev, "float32 with Jacobi", sparse.CG[float32], laplace[float32](9, 100), 1e-5, jacobi32)
		testSolver(t, dev, "one row", sparse.CG[float64], laplace[float64](1, 1), 1e-10, nil)
		plain := testSolver(t, dev, "float64", sparse.CG[float64], laplace[float64](14, 1000), 1e-9, nil)
		with := testSolver(t, dev, "float64 with Jacobi", sparse.CG[float64], laplace[float64](14, 1000), 1e-9, jacobi64)
		if with >= plain/2 {
			t.Errorf("%d iterations with the preconditioner, %d without", with, plain)
		}
	})
}

func TestSolversReportFailure(t *testing.T) {
	gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
		s := dev.DefaultStream()
		diagonal := func(d ...float64) sparse.CSR[float64] {
			e := &sparse.Entries[float64]{Rows: len(d), Cols: len(d)}
			for i, v := range d {
				e.Add(i, i, v)
			}
			a, err := sparse.UploadCSR(s, e)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { a.Close() })
			return a
		}
		b := gputest.Upload(t, dev, []float64{1, 1, 1})
		x := gputest.Upload(t, dev, []float64{0, 0, 0})
		solve := func(a sparse.CSR[float64], o *sparse.Options[float64]) *sparse.ConvergenceError {
			t.Helper()
			if err := gpu.Zero(s, x); err != nil {
				t.Fatal(err)
			}
			r, err := sparse.CG(t.Context(), s, a, b, x, o)
			var e *sparse.ConvergenceError
			if !errors.As(err, &e) || e.Op != "CG" || e.Result.Iterations != r.Iterations {
				t.Fatalf("got %v", err)
			}
			return e
		}
		if e := solve(diagonal(1, 2, 3), &sparse.Options[float64]{MaxIterations: 2}); e.Result.Iterations != 2 || len(e.Result.History) != 3 {
			t.Errorf("the limit: %v", e)
		}
		if e := solve(diagonal(1, -2, 3), nil); e.Result.Residual == 0 {
			t.Errorf("an indefinite matrix: %v", e)
		}
		if e := solve(diagonal(1, math.NaN(), 3), nil); e.Result.Iterations > 1 {
			t.Errorf("NaN: %v", e)
		}
		// The solution for b = 0 is 0.
		zero := gputest.Upload(t, dev, []float64{0, 0, 0})
		x = gputest.Upload(t, dev, []float64{1, 2, 3})
		if r, err := sparse.CG(t.Context(), s, diagonal(1, 2, 3), zero, x, nil); err != nil || r.Iterations != 0 {
			t.Errorf("b = 0: %v, %v", r, err)
		}
		gputest.Equal(t, gputest.Download(t, dev, x), []float64{0, 0, 0})
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := sparse.CG(ctx, s, diagonal(1, 2, 3), b, x, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("a canceled context: %v", err)
		}
	})
}

// Numbers whose squares vanish or overflow are refused or solved, not taken for a solution.
func TestSolversOfVerySmallAndLargeSystems(t *testing.T) {
	gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
		s := dev.DefaultStream()
		e := laplace[float64](3, 1)
		a, err := sparse.UploadCSR(s, e)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		for name, solve := range map[string]solver[float64]{"CG": sparse.CG[float64], "GMRES": sparse.GMRES[float64]} {
			for _, size := range []float64{5e-324, 1e-200, 1e-162, 1e-155, 1e-140, 1e150, 1e160, 1e300} {
				for _, guess := range []float64{0, 1} {
					b, first := vector[float64](e.Rows), make([]float64, e.Rows)
					for i := range b {
						b[i] *= size
						first[i] = guess * size
					}
					x := gputest.Upload(t, dev, first)
					r, err := solve(t.Context(), s, a, gputest.Upload(t, dev, b), x, nil)
					got := gputest.Download(t, dev, x)
					for i := range b { // of about 1
						got[i], b[i] = got[i]/size, b[i]/size
					}
					if err == nil && (!(error2(e, got, b) < 1e-9) || !(r.Residual < 1e-9)) {
						t.Errorf("%s of numbers of %g, from %g: residual %g, but it is %g", name, size, guess, r.Residual, error2(e, got, b))
					}
					if size >= 1e-140 && size <= 1e150 && err != nil {
						t.Errorf("%s of numbers of %g: %v", name, size, err)
					}
					if size < 1e-155 && !errors.Is(err, gpu.ErrInvalid) {
						t.Errorf("%s of numbers of %g: %v", name, size, err)
					}
				}
			}
			b := vector[float64](e.Rows)
			b[4] = math.Inf(-1)
			var bad *sparse.ConvergenceError
			if r, err := solve(t.Context(), s, a, gputest.Upload(t, dev, b), gputest.Upload(t, dev, make([]float64, e.Rows)), nil); !errors.As(err, &bad) {
				t.Errorf("%s with an infinity: %v, %v", name, r, err)
			}
		}
	})
}

func TestGMRES(t *testing.T) {
	gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
		s := dev.DefaultStream()
		restart := func(n int) solver[float64] {
			return func(ctx context.Context, s *gpu.Stream, a sparse.CSR[float64], b, x *gpu.Buffer[float64], o *sparse.Options[float64], work ...*gpu.Workspace) (sparse.Result, error) {
				c := *o
				c.Restart = n
				return sparse.GMRES(ctx, s, a, b, x, &c, work...)
			}
		}
		ilu := func(a sparse.CSR[float64]) sparse.Preconditioner[float64] {
			p, err := sparse.NewILU0(t.Context(), s, a)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { p.Close() })
			return p
		}
		jacobi := func(a sparse.CSR[float64]) sparse.Preconditioner[float64] {
			p, err := sparse.NewJacobi(s, a)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { p.Close() })
			return p
		}
		testSolver(t, dev, "one row", restart(5), laplace[float64](1, 1), 1e-9, nil)
		testSolver(t, dev, "float32", sparse.GMRES[float32], convection[float32](8), 1e-5, nil)
		testSolver(t, dev, "with restarts", restart(7), convection[float64](8), 1e-9, nil)
		plain := testSolver(t, dev, "plain", restart(0), convection[float64](10), 1e-9, nil)
		testSolver(t, dev, "with Jacobi", restart(20), convection[float64](10), 1e-9, jacobi)
		if with := testSolver(t, dev, "with ILU(0)", restart(0), convection[float64](10), 1e-9, ilu); with >= plain*2/3 {
			t.Errorf("%d iterations with the preconditioner, %d without", with, plain)
		}
		// An indefinite matrix, which is the whole basis after two iterations.
		e := &sparse.Entries[float64]{Rows: 2, Cols: 2, Row: []int32{0, 1}, Col: []int32{1, 0}, Value: []float64{1, 1}}
		testSolver(t, dev, "a permutation", restart(0), e, 1e-12, nil)
		// A singular matrix.
		a, err := sparse.UploadCSR(s, &sparse.Entries[float64]{Rows: 2, Cols: 2, Row: []int32{0}, Col: []int32{1}, Value: []float64{1}})
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		b, x := gputest.Upload(t, dev, []float64{0, 1}), gputest.Upload(t, dev, []float64{0, 0})
		var bad *sparse.ConvergenceError
		if _, err := sparse.GMRES(t.Context(), s, a, b, x, nil); !errors.As(err, &bad) || bad.Op != "GMRES" {
			t.Errorf("a singular matrix: %v", err)
		}
	})
}
