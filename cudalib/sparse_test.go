package cudalib_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"quern.dev/cudalib"
	"quern.dev/internal/culib/fakeculib"
	"quern.dev/sparse"
)

// randomMatrix returns a matrix with rows of different lengths, some of them empty.
func randomMatrix[T sparse.Float](rows, cols int) *sparse.Entries[T] {
	r := rand.New(rand.NewPCG(7, 1))
	e := &sparse.Entries[T]{Rows: rows, Cols: cols}
	for i := range rows {
		for range r.IntN(6) * r.IntN(6) {
			e.Add(i, r.IntN(cols), T(2*r.Float64()-1))
		}
	}
	return e
}

func TestSparseProductsByBothEngines(t *testing.T) {
	everyRig(t, func(t *testing.T, r *rig) {
		sparseProducts[float32](t, r, 1e-6)
		sparseProducts[float64](t, r, 1e-14)
	})
}

func sparseProducts[T sparse.Float](t *testing.T, r *rig, bound float64) {
	e := randomMatrix[T](r.size(40, 20000), r.size(30, 15000))
	columns, gap := r.size(5, 33), 3
	stride := columns + gap
	x, old := numbers[T](1, e.Cols), numbers[T](2, e.Rows)
	b, oldC := numbers[T](3, e.Cols*stride), numbers[T](4, e.Rows*stride)
	for _, c := range []struct{ alpha, beta T }{{1, 0}, {-2, 0.5}} {
		want, wantC := make([]float64, e.Rows), wide(oldC)
		for i := range want {
			want[i] = float64(c.beta) * float64(old[i])
			for j := range columns {
				wantC[i*stride+j] *= float64(c.beta)
			}
		}
		for k, v := range e.Value {
			i, col := int(e.Row[k]), int(e.Col[k])
			want[i] += float64(c.alpha) * float64(v) * float64(x[col])
			for j := range columns {
				wantC[i*stride+j] += float64(c.alpha) * float64(v) * float64(b[col*stride+j])
			}
		}
		for _, engine := range []cudalib.Engine{cudalib.Quern, cudalib.Vendor, cudalib.Auto} {
			s := r.stream(t, engine)
			a, err := sparse.UploadCSR(s, e)
			do(t, err)
			start, startC := slices.Clone(old), slices.Clone(oldC)
			if c.beta == 0 {
				start[0], startC[0] = T(math.NaN()), T(math.NaN())
			}
			from, to := upload(t, s, x), upload(t, s, start)
			do(t, sparse.MulVec(s, false, c.alpha, a, from, c.beta, to))
			if d := distance(wide(download(t, s, to)), want); !(d <= bound) {
				t.Errorf("%v, vector: relative error %g", engine, d)
			}
			if engine == cudalib.Vendor {
				ran(t, s, "sparse.MulVec", engine)
			}
			dense := sparse.Dense[T]{Rows: e.Cols, Cols: columns, Stride: stride, Data: upload(t, s, b)}
			result := sparse.Dense[T]{Rows: e.Rows, Cols: columns, Stride: stride, Data: upload(t, s, startC)}
			do(t, sparse.MulMat(s, false, c.alpha, a, dense, c.beta, result))
			if d := distance(wide(download(t, s, result.Data)), wantC); !(d <= bound) {
				t.Errorf("%v, matrix: relative error %g", engine, d)
			}
			if engine == cudalib.Vendor {
				ran(t, s, "sparse.MulMat", engine)
			}
			do(t, a.Close())
		}
	}
}

func TestArgumentsOfCusparse(t *testing.T) {
	r := withFakes(t, fakeculib.New())
	s := r.stream(t, cudalib.Vendor)
	e := randomMatrix[float64](6, 5)
	a, err := sparse.UploadCSR(s, e)
	do(t, err)
	defer a.Close()
	x, y := upload(t, s, numbers[float64](1, 100)), upload(t, s, numbers[float64](2, 100))
	do(t, sparse.MulVec(s, false, 2, a, x.Slice(0, 5), 0.5, y.Slice(0, 6)))
	do(t, sparse.MulMat(s, false, 1, a, sparse.Dense[float64]{Rows: 5, Cols: 2, Stride: 4, Data: x}, 0, sparse.Dense[float64]{Rows: 6, Cols: 2, Stride: 3, Data: y}))
	want := []string{
		"cusparseSpMV 6x5, 59 entries, type 1, algorithm 3, alpha 2, beta 0.5",
		"cusparseSpMM 6x2x5, 59 entries, strides 4 3, type 1, algorithm 12, alpha 1, beta 0",
	}
	if got := r.libs.Calls(); !slices.Equal(got, want) {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
}
