package sparse_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
	"quern.dev/sparse"
)

// triangles are matrices whose triangles are well conditioned.
func triangles() map[string]*sparse.Entries[float64] {
	r := rand.New(rand.NewPCG(7, 8))
	all := map[string]*sparse.Entries[float64]{"empty": {}}
	for _, n := range []int{1, 2, 33, 150} {
		diagonal := &sparse.Entries[float64]{Rows: n, Cols: n}
		random := &sparse.Entries[float64]{Rows: n, Cols: n}
		chain := &sparse.Entries[float64]{Rows: n, Cols: n}
		for i := range n {
			diagonal.Add(i, i, 2+r.Float64())
			random.Add(i, i, 3)
			random.Add(i, i, 2+r.Float64()) // a duplicate
			chain.Add(i, i, 2)
			for range 5 {
				random.Add(i, r.IntN(n), r.NormFloat64()/5)
			}
			if i > 0 {
				chain.Add(i, i-1, -1)
				chain.Add(i-1, i, 0.5)
			}
		}
		all[fmt.Sprint("diagonal ", n)], all[fmt.Sprint("random ", n)], all[fmt.Sprint("chain ", n)] = diagonal, random, chain
	}
	arrow := &sparse.Entries[float64]{Rows: 200, Cols: 200}
	for i := range 200 {
		arrow.Add(i, i, 4)
		arrow.Add(199, i, 0.01)
		arrow.Add(i, 199, 0.01)
	}
	all["arrow"] = arrow
	return all
}

func TestSolveTriangular(t *testing.T) {
	gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
		s := dev.DefaultStream()
		for name, e := range triangles() {
			a, err := sparse.UploadCSR(s, e)
			if err != nil {
				t.Fatal(err)
			}
			for k := range 8 {
				part := sparse.Triangle{Upper: k&1 != 0, Unit: k&2 != 0, Transpose: k&4 != 0}
				used := &sparse.Entries[float64]{Rows: e.Rows, Cols: e.Cols}
				for k, i := range e.Row {
					j := e.Col[k]
					if i != j && (j > i) == part.Upper || i == j && !part.Unit {
						used.Add(int(i), int(j), e.Value[k])
					}
				}
				for i := 0; part.Unit && i < e.Rows; i++ {
					used.Add(i, i, 1)
				}
				b := vector[float64](e.Rows)
				x := gputest.Alloc[float64](t, dev, e.Rows)
				if k&1 != 0 {
					x = gputest.Upload(t, dev, b)
					err = sparse.SolveTriangular(s, part, a, x, x)
				} else {
					err = sparse.SolveTriangular(s, part, a, gputest.Upload(t, dev, b), x)
				}
				if err != nil {
					t.Fatal(err)
				}
				got, size := product(part.Transpose, 1, used, gputest.Download(t, dev, x), 0, b)
				for i := range size {
					size[i] += math.Abs(b[i])
				}
				near(t, fmt.Sprint(name, part), b, got, size)
			}
			if err := a.Close(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestILU0(t *testing.T) {
	gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
		s := dev.DefaultStream()
		ilu := func(a sparse.CSR[float64]) sparse.Preconditioner[float64] {
			p, err := sparse.NewILU0(t.Context(), s, a)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { p.Close() })
			return p
		}
		plain := testSolver(t, dev, "plain", sparse.CG[float64], laplace[float64](12, 1), 1e-9, nil)
		with := testSolver(t, dev, "with ILU(0)", sparse.CG[float64], laplace[float64](12, 1), 1e-9, ilu)
		if with >= plain*2/3 {
			t.Errorf("%d iterations with the preconditioner, %d without", with, plain)
		}
		// Of a tridiagonal matrix, the factorization is complete.
		e := &sparse.Entries[float64]{Rows: 100, Cols: 100}
		for i := range 100 {
			for j := max(i-1, 0); j < min(i+2, 100); j++ {
				e.Add(i, j, map[bool]float64{true: 3, false: -1}[i == j])
			}
		}
		if n := testSolver(t, dev, "tridiagonal", sparse.CG[float64], e, 1e-9, ilu); n > 2 {
			t.Errorf("%d iterations with an exact factorization", n)
		}
		for want, e := range map[string]*sparse.Entries[float64]{
			"row, 1, whose columns":    {Rows: 2, Cols: 2, Row: []int32{0, 1, 1}, Col: []int32{0, 1, 0}, Value: []float64{1, 1, 1}},
			"row, 0, whose columns":    {Rows: 2, Cols: 2, Row: []int32{0, 0, 1}, Col: []int32{0, 0, 1}, Value: []float64{1, 1, 1}},
			"a pivot in row 1 that is": {Rows: 2, Cols: 2, Row: []int32{0, 0, 1, 1}, Col: []int32{0, 1, 0, 1}, Value: []float64{1, 1, 1, 1}},
			"is 2 x 3":                 {Rows: 2, Cols: 3},
		} {
			a, err := sparse.UploadCSR(s, e)
			if err != nil {
				t.Fatal(err)
			}
			_, err = sparse.NewILU0(t.Context(), s, a)
			var bad *sparse.Error
			if !errors.As(err, &bad) || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %s", err, want)
			}
			a.Close()
		}
	})
}
