package sparse_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"quern.dev/gentest"
	"quern.dev/gpu"
	"quern.dev/gputest"
	"quern.dev/sparse"
)

func TestGenerated(t *testing.T) { gentest.UpToDate(t) }

// structures are matrices with different distributions of entries. They are smaller for
// the simulator, which is slow, but larger than the tiles of the kernels.
func structures[T sparse.Float](dev *gpu.Device) map[string]*sparse.Entries[T] {
	r := rand.New(rand.NewPCG(1, 2))
	value := func() T { return T(r.NormFloat64()) }
	uniform := func(rows, cols, n int) *sparse.Entries[T] {
		e := &sparse.Entries[T]{Rows: rows, Cols: cols}
		for range n {
			e.Add(r.IntN(rows), r.IntN(cols), value())
		}
		return e
	}
	n := 6000
	if dev.Backend() == gpu.Sim {
		n = 1500
	}
	all := map[string]*sparse.Entries[T]{
		"no rows":          {Rows: 0, Cols: 5},
		"no columns":       {Rows: 5, Cols: 0},
		"no entries":       {Rows: 300, Cols: 7},
		"one":              uniform(1, 1, 1),
		"one row":          uniform(1, n/2, n),
		"one column":       uniform(n/2, 1, n/3),
		"two per row":      uniform(n/6, n/6, n/3),
		"forty per row":    uniform(n/30+7, 300, (n/30+7)*40),
		"wide":             uniform(10, n, n),
		"tall":             uniform(n, 10, n),
		"many duplicates":  uniform(3, 4, n/2),
		"empty rows":       {Rows: n, Cols: 100},
		"a dense row":      uniform(n/9, n, n/5),
		"a dense column":   uniform(n, n/9, n/5),
		"dense rows aside": {Rows: n / 3, Cols: n / 2},
		"tridiagonal":      {Rows: n/6 + 1, Cols: n/6 + 1},
	}
	for i := range 40 {
		all["empty rows"].Add(i*n/40, i, value())
	}
	for j := range n {
		all["a dense row"].Add(133, j, value())
		all["a dense column"].Add(j, 133, value())
	}
	for j := range n / 2 {
		all["dense rows aside"].Add(0, j, value())
		all["dense rows aside"].Add(1, j, value())
		all["dense rows aside"].Add(n/3-1, j, value())
	}
	for i := range n/6 + 1 {
		for j := max(i-1, 0); j < min(i+2, n/6+1); j++ {
			all["tridiagonal"].Add(i, j, value())
		}
	}
	return all
}

func vector[T sparse.Float](n int) []T {
	r := rand.New(rand.NewPCG(3, uint64(n)))
	x := make([]T, n)
	for i := range x {
		x[i] = T(r.NormFloat64())
	}
	return x
}

// product returns alpha*a*x + beta*y in float64, and the sum of the magnitudes.
func product[T sparse.Float](transpose bool, alpha float64, e *sparse.Entries[T], x []T, beta float64, y []T) (sum, size []float64) {
	sum, size = make([]float64, len(y)), make([]float64, len(y))
	if beta != 0 {
		for i, v := range y {
			sum[i], size[i] = beta*float64(v), math.Abs(beta*float64(v))
		}
	}
	for k, v := range e.Value {
		i, j := e.Row[k], e.Col[k]
		if transpose {
			i, j = j, i
		}
		p := alpha * float64(v) * float64(x[j])
		sum[i] += p
		size[i] += math.Abs(p)
	}
	return sum, size
}

// near checks got against sums of terms whose magnitudes add up to size.
func near[T sparse.Float](t *testing.T, name string, got []T, want, size []float64) {
	t.Helper()
	eps := 0x1p-23
	if _, ok := any(got).([]float64); ok {
		eps = 0x1p-52
	}
	for i, v := range got {
		if d := math.Abs(float64(v) - want[i]); !(d <= 60*eps*size[i]) {
			t.Errorf("%s: element %d is %v, want %v within %.2g", name, i, v, want[i], 60*eps*size[i])
			return
		}
	}
}

func testMulVec[T sparse.Float](t *testing.T, dev *gpu.Device) {
	s := dev.DefaultStream()
	for name, e := range structures[T](dev) {
		a, err := sparse.UploadCSR(s, e)
		if err != nil {
			t.Fatal(err)
		}
		methods := map[sparse.Method]bool{}
		for _, known := range []bool{false, true} {
			b := a
			if !known {
				b.Longest = 0
			}
			if methods[b.Method(dev)] {
				continue
			}
			methods[b.Method(dev)] = true
			for _, transpose := range []bool{false, true} {
				rows, cols := e.Rows, e.Cols
				if transpose {
					rows, cols = cols, rows
				}
				x := vector[T](cols)
				for _, c := range [][2]T{{1, 0}, {-0.5, 2}} {
					if c[1] == 0 == transpose && dev.Backend() == gpu.Sim {
						continue
					}
					y := vector[T](rows)
					dx, dy := gputest.Upload(t, dev, x), gputest.Upload(t, dev, y)
					if c[1] == 0 {
						dy = gputest.Alloc[T](t, dev, rows)
					}
					if err := sparse.MulVec(s, transpose, c[0], b, dx, c[1], dy); err != nil {
						t.Fatal(err)
					}
					want, size := product(transpose, float64(c[0]), e, x, float64(c[1]), y)
					near(t, fmt.Sprint(name, " transpose ", transpose, " factors ", c, " method ", b.Method(dev)), gputest.Download(t, dev, dy), want, size)
				}
			}
		}
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestMulVec(t *testing.T) {
	gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
		testMulVec[float32](t, dev)
		testMulVec[float64](t, dev)
	})
}

func testMulMat[T sparse.Float](t *testing.T, dev *gpu.Device) {
	s := dev.DefaultStream()
	for name, e := range structures[T](dev) {
		if len(e.Value) > 6000 {
			continue
		}
		a, err := sparse.UploadCSR(s, e)
		if err != nil {
			t.Fatal(err)
		}
		for _, transpose := range []bool{false, true} {
			rows, cols := e.Rows, e.Cols
			if transpose {
				rows, cols = cols, rows
			}
			for _, n := range []int{1, 11} {
				const gap = 3
				x, y := vector[T](cols*(n+gap)), vector[T](rows*(n+1))
				b := sparse.Dense[T]{Rows: cols, Cols: n, Stride: n + gap, Data: gputest.Upload(t, dev, x)}
				c := sparse.Dense[T]{Rows: rows, Cols: n, Stride: n + 1, Data: gputest.Upload(t, dev, y)}
				if err := sparse.MulMat(s, transpose, 2, a, b, -1, c); err != nil {
					t.Fatal(err)
				}
				got := gputest.Download(t, dev, c.Data)
				for j := range n {
					column := func(m []T, rows, stride int) []T {
						out := make([]T, rows)
						for i := range out {
							out[i] = m[i*stride+j]
						}
						return out
					}
					want, size := product(transpose, 2, e, column(x, cols, n+gap), -1, column(y, rows, n+1))
					near(t, fmt.Sprint(name, " transpose ", transpose, " column ", j, " of ", n), column(got, rows, n+1), want, size)
				}
				for i := range rows {
					if got[i*(n+1)+n] != y[i*(n+1)+n] {
						t.Fatalf("%s: the gap after row %d was written", name, i)
					}
				}
			}
		}
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestMulMat(t *testing.T) {
	gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
		testMulMat[float32](t, dev)
		if dev.Backend() != gpu.Sim {
			testMulMat[float64](t, dev)
		}
	})
}

// compressed returns the CSR form, with the entries of a row in order.
func compressed[T sparse.Float](e *sparse.Entries[T]) (start, index []int32, value []T) {
	entries := make([][]int, e.Rows)
	for k, row := range e.Row {
		entries[row] = append(entries[row], k)
	}
	start = []int32{0}
	for _, row := range entries {
		for _, k := range row {
			index, value = append(index, e.Col[k]), append(value, e.Value[k])
		}
		start = append(start, int32(len(index)))
	}
	return start, index, value
}

func flipped[T any](e *sparse.Entries[T]) *sparse.Entries[T] {
	return &sparse.Entries[T]{Rows: e.Cols, Cols: e.Rows, Row: e.Col, Col: e.Row, Value: e.Value}
}

func TestConversions(t *testing.T) {
	gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
		s := dev.DefaultStream()
		for name, e := range structures[float32](dev) {
			coo, err := sparse.UploadCOO(s, e)
			if err != nil {
				t.Fatal(err)
			}
			csr, err := sparse.AllocCSR[float32](dev, e.Rows, e.Cols, len(e.Value))
			if err != nil {
				t.Fatal(err)
			}
			csc, err := sparse.AllocCSC[float32](dev, e.Rows, e.Cols, len(e.Value))
			if err != nil {
				t.Fatal(err)
			}
			check := func(what string, buffers [2]*gpu.Buffer[int32], values *gpu.Buffer[float32], e *sparse.Entries[float32]) {
				t.Helper()
				start, index, value := compressed(e)
				gputest.Equal(t, gputest.Download(t, dev, buffers[0]), start, gputest.Name(name+" "+what+" start"))
				gputest.Equal(t, gputest.Download(t, dev, buffers[1]), index, gputest.Name(name+" "+what+" index"))
				gputest.Equal(t, gputest.Download(t, dev, values), value, gputest.Name(name+" "+what+" value"))
			}
			if err := sparse.COOToCSR(s, csr, coo); err != nil {
				t.Fatal(err)
			}
			check("CSR", [2]*gpu.Buffer[int32]{csr.Start, csr.Index}, csr.Value, e)
			if err := sparse.CSRToCSC(s, csc, csr); err != nil {
				t.Fatal(err)
			}
			// The entries of a column are in the order of rows.
			start, index, value := compressed(e)
			rows := &sparse.Entries[float32]{Rows: e.Rows, Cols: e.Cols, Col: index, Value: value}
			for i := range e.Rows {
				for range start[i+1] - start[i] {
					rows.Row = append(rows.Row, int32(i))
				}
			}
			check("CSC", [2]*gpu.Buffer[int32]{csc.Start, csc.Index}, csc.Value, flipped(rows))
			if err := sparse.CSRToCOO(s, coo, csr); err != nil {
				t.Fatal(err)
			}
			gputest.Equal(t, gputest.Download(t, dev, coo.Row), rows.Row, gputest.Name(name+" rows"))
			gputest.Equal(t, gputest.Download(t, dev, coo.Col), rows.Col, gputest.Name(name+" columns"))
			known, err := sparse.Analyze(t.Context(), s, csr)
			if err != nil {
				t.Fatal(err)
			}
			most := int32(0)
			for i := range e.Rows {
				most = max(most, start[i+1]-start[i])
			}
			if known.Longest != int(most) {
				t.Errorf("%s: the longest row has %d entries, want %d", name, known.Longest, most)
			}
			if err := sparse.CSCToCSR(s, csr, csc); err != nil {
				t.Fatal(err)
			}
			gputest.Equal(t, gputest.Download(t, dev, csr.Start), start, gputest.Name(name+" back"))
			for _, c := range []interface{ Close() error }{coo, csr, csc} {
				if err := c.Close(); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}
