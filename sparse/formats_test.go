package sparse_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
	"quern.dev/sparse"
)

// matrices are the two dense operands of a product, whose rows have gaps, and what it must be.
type matrices[T sparse.Float] struct {
	rows, cols, n int
	b             sparse.Dense[T]
	old           []T
	want, size    [][]float64 // by column
}

func newMatrices[T sparse.Float](t *testing.T, dev *gpu.Device, transpose bool, e *sparse.Entries[T], n int) *matrices[T] {
	m := &matrices[T]{rows: e.Rows, cols: e.Cols, n: n}
	if transpose {
		m.rows, m.cols = m.cols, m.rows
	}
	x := vector[T](m.cols * (n + 3))
	m.b = sparse.Dense[T]{Rows: m.cols, Cols: n, Stride: n + 3, Data: gputest.Upload(t, dev, x)}
	m.old = vector[T](m.rows * (n + 1))
	for j := range n {
		want, size := product(transpose, 2, e, column(x, m.cols, n+3, j), -1, column(m.old, m.rows, n+1, j))
		m.want, m.size = append(m.want, want), append(m.size, size)
	}
	return m
}

func column[T any](m []T, rows, stride, j int) []T {
	x := make([]T, rows)
	for i := range x {
		x[i] = m[i*stride+j]
	}
	return x
}

// check makes c = 2*a*b - c with a function, and compares it.
func (m *matrices[T]) check(t *testing.T, dev *gpu.Device, name string, multiply func(c sparse.Dense[T]) error) {
	t.Helper()
	c := sparse.Dense[T]{Rows: m.rows, Cols: m.n, Stride: m.n + 1, Data: gputest.Upload(t, dev, m.old)}
	if err := multiply(c); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	got := gputest.Download(t, dev, c.Data)
	for j := range m.n {
		near(t, fmt.Sprint(name, " column ", j), column(got, m.rows, m.n+1, j), m.want[j], m.size[j])
	}
	gputest.Equal(t, column(got, m.rows, m.n+1, m.n), column(m.old, m.rows, m.n+1, m.n), gputest.Name(name+": the gaps"))
}

func testFormats[T sparse.Float](t *testing.T, dev *gpu.Device) {
	s := dev.DefaultStream()
	for name, e := range structures[T](dev) {
		if len(e.Value) > 3500 {
			continue
		}
		host := vector[T](e.Cols)
		x, old := gputest.Upload(t, dev, host), vector[T](e.Rows)
		want, size := product(false, 2, e, host, -1, old)
		dense := newMatrices(t, dev, false, e, 5)
		csr, err := sparse.UploadCSR(s, e)
		if err != nil {
			t.Fatal(err)
		}
		if csr.Longest*e.Rows < 100000 {
			ell, err := sparse.AllocELL[T](dev, e.Rows, e.Cols, csr.Longest+1)
			if err != nil {
				t.Fatal(err)
			}
			if err := sparse.CSRToELL(s, ell, csr); err != nil {
				t.Fatal(err)
			}
			y := gputest.Upload(t, dev, old)
			if err := sparse.MulVecELL(s, 2, ell, x, -1, y); err != nil {
				t.Fatal(err)
			}
			near(t, name+" ELL", gputest.Download(t, dev, y), want, size)
			dense.check(t, dev, name+" ELL", func(c sparse.Dense[T]) error { return sparse.MulMatELL(s, 2, ell, dense.b, -1, c) })
			ell.Close()
		}
		for _, block := range []int{1, 2, 3, 4, 7} {
			bsr, err := sparse.UploadBSR(s, e, block)
			if err != nil {
				t.Fatal(err)
			}
			y := gputest.Upload(t, dev, old)
			if err := sparse.MulVecBSR(s, 2, bsr, x, -1, y); err != nil {
				t.Fatal(err)
			}
			name := fmt.Sprint(name, " blocks of ", block)
			near(t, name, gputest.Download(t, dev, y), want, size)
			dense.check(t, dev, name, func(c sparse.Dense[T]) error { return sparse.MulMatBSR(s, 2, bsr, dense.b, -1, c) })
			bsr.Close()
		}
		csr.Close()
	}
}

func TestFormats(t *testing.T) {
	gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
		testFormats[float32](t, dev)
		if dev.Backend() != gpu.Sim {
			testFormats[float64](t, dev)
		}
	})
}

// byRows returns the entries in the order of rows.
func byRows[T sparse.Float](e *sparse.Entries[T]) *sparse.Entries[T] {
	start, index, value := compressed(e)
	sorted := &sparse.Entries[T]{Rows: e.Rows, Cols: e.Cols, Col: index, Value: value}
	for i := range e.Rows {
		for range start[i+1] - start[i] {
			sorted.Row = append(sorted.Row, int32(i))
		}
	}
	return sorted
}

func testMulCOO[T sparse.Float](t *testing.T, dev *gpu.Device) {
	s := dev.DefaultStream()
	for name, unsorted := range structures[T](dev) {
		if len(unsorted.Value) > 6000 {
			continue
		}
		for _, e := range []*sparse.Entries[T]{unsorted, byRows(unsorted)} {
			a, err := sparse.UploadCOO(s, e)
			if err != nil {
				t.Fatal(err)
			}
			if a.Sorted != slices.IsSorted(e.Row) {
				t.Errorf("%s: sorted: %v", name, a.Sorted)
			}
			for _, transpose := range []bool{false, true} {
				name := fmt.Sprint(name, " sorted ", a.Sorted, " transpose ", transpose)
				dense := newMatrices(t, dev, transpose, e, 3)
				dense.check(t, dev, name, func(c sparse.Dense[T]) error { return sparse.MulMatCOO(s, transpose, 2, a, dense.b, -1, c) })
				x, old := vector[T](dense.cols), vector[T](dense.rows)
				want, size := product(transpose, -0.5, e, x, 2, old)
				var first []T
				for range 2 {
					y := gputest.Upload(t, dev, old)
					if err := sparse.MulVecCOO(s, transpose, -0.5, a, gputest.Upload(t, dev, x), 2, y); err != nil {
						t.Fatal(err)
					}
					got := gputest.Download(t, dev, y)
					near(t, name, got, want, size)
					if first != nil {
						gputest.Equal(t, got, first, gputest.Name(name+" again"))
					}
					first = got
				}
			}
			a.Close()
		}
	}
}

func TestProductsOfLists(t *testing.T) {
	gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
		testMulCOO[float32](t, dev)
		if dev.Backend() != gpu.Sim {
			testMulCOO[float64](t, dev)
		}
	})
}

// A result that is not read may hold anything.
func TestProductsWithoutBetaDoNotReadTheResult(t *testing.T) {
	gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
		s := dev.DefaultStream()
		m := newSystem(t, dev, laplace[float64](3, 1))
		bsr, err := sparse.UploadBSR(s, laplace[float64](3, 1), 4)
		if err != nil {
			t.Fatal(err)
		}
		defer bsr.Close()
		ell, err := sparse.AllocELL[float64](dev, 9, 9, 5)
		if err != nil {
			t.Fatal(err)
		}
		defer ell.Close()
		if err := sparse.CSRToELL(s, ell, m.a); err != nil {
			t.Fatal(err)
		}
		want, size := product(false, 1, laplace[float64](3, 1), m.host, 0, m.host)
		for name, multiply := range map[string]func() error{
			"MulMatELL": func() error { return sparse.MulMatELL(s, 1, ell, m.dense, 0, m.to) },
			"MulMatBSR": func() error { return sparse.MulMatBSR(s, 1, bsr, m.dense, 0, m.to) },
			"MulMatCOO": func() error { return sparse.MulMatCOO(s, false, 1, m.coo, m.dense, 0, m.to) },
			"MulVecCOO": func() error { return sparse.MulVecCOO(s, false, 1, m.coo, m.b, 0, m.x) },
		} {
			if err := gpu.Fill(s, m.x, math.NaN()); err != nil {
				t.Fatal(err)
			}
			if err := multiply(); err != nil {
				t.Fatal(err)
			}
			near(t, name, gputest.Download(t, dev, m.x), want, size)
		}
	})
}

func TestConversionsFromELL(t *testing.T) {
	gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
		s := dev.DefaultStream()
		for name, e := range structures[float32](dev) {
			csr, err := sparse.UploadCSR(s, e)
			if err != nil {
				t.Fatal(err)
			}
			if csr.Longest*e.Rows >= 100000 {
				csr.Close()
				continue
			}
			ell, err := sparse.AllocELL[float32](dev, e.Rows, e.Cols, csr.Longest+1)
			if err != nil {
				t.Fatal(err)
			}
			if err := sparse.CSRToELL(s, ell, csr); err != nil {
				t.Fatal(err)
			}
			n, err := sparse.CountELL(t.Context(), s, ell)
			if err != nil || n != len(e.Value) {
				t.Fatalf("%s: %d entries, error %v; want %d", name, n, err, len(e.Value))
			}
			back, err := sparse.AllocCSR[float32](dev, e.Rows, e.Cols, n)
			if err != nil {
				t.Fatal(err)
			}
			if err := sparse.ELLToCSR(s, back, ell); err != nil {
				t.Fatal(err)
			}
			checkCSR(t, dev, name, back, e)
			csr.Close()
			ell.Close()
			back.Close()
		}
	})
}

// checkCSR compares a matrix with entries, whose order is that of the matrix within rows.
func checkCSR[T sparse.Float](t *testing.T, dev *gpu.Device, name string, a sparse.CSR[T], e *sparse.Entries[T]) {
	t.Helper()
	start, index, value := compressed(e)
	gputest.Equal(t, gputest.Download(t, dev, a.Start), start, gputest.Name(name+" start"))
	gputest.Equal(t, gputest.Download(t, dev, a.Index), index, gputest.Name(name+" index"))
	gputest.Equal(t, gputest.Download(t, dev, a.Value), value, gputest.Name(name+" value"))
}

// elements returns the elements of the blocks that have entries, in the order of block columns in
// each row.
func elements(e *sparse.Entries[float32], block int) *sparse.Entries[float32] {
	sum, used := map[[2]int]float32{}, map[[2]int]bool{}
	for k, v := range e.Value {
		i, j := int(e.Row[k]), int(e.Col[k])
		sum[[2]int{i, j}] += v
		used[[2]int{i / block, j / block}] = true
	}
	var order [][2]int
	for b := range used {
		order = append(order, b)
	}
	slices.SortFunc(order, func(a, b [2]int) int { return slices.Compare(a[:], b[:]) })
	all := &sparse.Entries[float32]{Rows: e.Rows, Cols: e.Cols}
	for _, b := range order {
		for i := b[0] * block; i < min((b[0]+1)*block, e.Rows); i++ {
			for j := b[1] * block; j < min((b[1]+1)*block, e.Cols); j++ {
				all.Add(i, j, sum[[2]int{i, j}])
			}
		}
	}
	return all
}

func TestConversionsOfBlocks(t *testing.T) {
	gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
		s := dev.DefaultStream()
		for name, e := range structures[float32](dev) {
			if len(e.Value) > 3500 {
				continue
			}
			csr, err := sparse.UploadCSR(s, e)
			if err != nil {
				t.Fatal(err)
			}
			for _, block := range []int{1, 3, 4, 64} {
				name := fmt.Sprint(name, " blocks of ", block)
				want, err := sparse.UploadBSR(s, byRows(e), block)
				if err != nil {
					t.Fatal(err)
				}
				n, err := sparse.CountBlocks(t.Context(), s, csr, block)
				if err != nil || n != want.Index.Len() {
					t.Fatalf("%s: %d blocks, error %v; want %d", name, n, err, want.Index.Len())
				}
				bsr, err := sparse.AllocBSR[float32](dev, e.Rows, e.Cols, block, n)
				if err != nil {
					t.Fatal(err)
				}
				if err := sparse.CSRToBSR(s, bsr, csr); err != nil {
					t.Fatal(err)
				}
				gputest.Equal(t, gputest.Download(t, dev, bsr.Start), gputest.Download(t, dev, want.Start), gputest.Name(name+" start"))
				gputest.Equal(t, gputest.Download(t, dev, bsr.Index), gputest.Download(t, dev, want.Index), gputest.Name(name+" index"))
				gputest.Equal(t, gputest.Download(t, dev, bsr.Value), gputest.Download(t, dev, want.Value), gputest.Name(name+" value"))

				all := elements(e, block)
				n, err = sparse.CountBSR(t.Context(), s, bsr)
				if err != nil || n != len(all.Value) {
					t.Fatalf("%s: %d elements, error %v; want %d", name, n, err, len(all.Value))
				}
				back, err := sparse.AllocCSR[float32](dev, e.Rows, e.Cols, n)
				if err != nil {
					t.Fatal(err)
				}
				if err := sparse.BSRToCSR(s, back, bsr); err != nil {
					t.Fatal(err)
				}
				checkCSR(t, dev, name, back, all)
				want.Close()
				bsr.Close()
				back.Close()
			}
			csr.Close()
		}
	})
}

// What does not fit is found by the kernels, if it depends on the elements.
func TestConversionsThatDoNotFit(t *testing.T) {
	gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
		s := dev.DefaultStream()
		e := &sparse.Entries[float32]{Rows: 4, Cols: 3, Row: []int32{0, 2, 0}, Col: []int32{0, 2, 1}, Value: []float32{1, 2, 3}}
		a, err := sparse.UploadCSR(s, e)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		coo, err := sparse.UploadCOO(s, e)
		if err != nil {
			t.Fatal(err)
		}
		defer coo.Close()
		bsr, err := sparse.UploadBSR(s, e, 2)
		if err != nil {
			t.Fatal(err)
		}
		defer bsr.Close()
		ell, err := sparse.AllocELL[float32](dev, 4, 3, 2)
		if err != nil {
			t.Fatal(err)
		}
		defer ell.Close()
		few, err := sparse.AllocCSR[float32](dev, 4, 3, 2)
		if err != nil {
			t.Fatal(err)
		}
		defer few.Close()
		one, err := sparse.AllocBSR[float32](dev, 4, 3, 2, 1)
		if err != nil {
			t.Fatal(err)
		}
		defer one.Close()
		if err := sparse.CSRToELL(s, ell, a); err != nil {
			t.Fatal(err)
		}
		claimed := coo
		claimed.Sorted = true
		low := claimed
		low.Rows = 2
		x, y, z := gputest.Alloc[float32](t, dev, 3), gputest.Alloc[float32](t, dev, 4), gputest.Alloc[float32](t, dev, 2)
		unsorted := low
		unsorted.Sorted = false
		for want, call := range map[string]func() error{
			"as many entries as the ELL":          func() error { return sparse.ELLToCSR(s, few, ell) },
			"as many entries as the blocks have":  func() error { return sparse.BSRToCSR(s, few, bsr) },
			"as many blocks as the entries":       func() error { return sparse.CSRToBSR(s, one, a) },
			"not in the order of rows":            func() error { return sparse.MulVecCOO(s, false, 1, claimed, x, 0, y) },
			"an entry is outside of the matrix":   func() error { return sparse.MulVecCOO(s, false, 1, low, x, 0, z) },
			"an entry is outside of the matrix: ": func() error { return sparse.MulVecCOO(s, false, 1, unsorted, x, 0, z) },
		} {
			if err := call(); err != nil {
				t.Fatal(err)
			}
			var fault *gpu.KernelError
			if err := s.Synchronize(t.Context()); !errors.As(err, &fault) || !strings.Contains(err.Error(), strings.TrimSuffix(want, ": ")) {
				t.Errorf("%s: %v", want, err)
			}
		}
	})
}

func TestRowsThatAreTooLongForELL(t *testing.T) {
	gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
		s := dev.DefaultStream()
		a, err := sparse.UploadCSR(s, &sparse.Entries[float32]{Rows: 1, Cols: 3, Row: []int32{0, 0}, Col: []int32{0, 1}, Value: []float32{1, 2}})
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		ell, err := sparse.AllocELL[float32](dev, 1, 3, 1)
		if err != nil {
			t.Fatal(err)
		}
		defer ell.Close()
		if err := sparse.CSRToELL(s, ell, a); !errors.Is(err, gpu.ErrInvalid) || !strings.Contains(err.Error(), "dst has a width of 1, but src has a row of 2 entries") {
			t.Errorf("a known length: %v", err)
		}
		a.Longest = 0
		if err := sparse.CSRToELL(s, ell, a); err != nil {
			t.Fatal(err)
		}
		var fault *gpu.KernelError
		if err := s.Synchronize(t.Context()); !errors.As(err, &fault) || !strings.Contains(err.Error(), "more entries") {
			t.Errorf("an unknown length: %v", err)
		}
	})
}

// A grid has at most 65535 blocks along Y, so threads do several rows of a matrix with more.
func TestMatricesWithMoreRowsThanAGrid(t *testing.T) {
	dev := gputest.Open(t, gpu.Config{Device: "cpu"})
	s := dev.DefaultStream()
	const rows = 1 << 20
	e := &sparse.Entries[float32]{Rows: rows, Cols: 3}
	for i := 0; i < rows; i += 7 {
		e.Add(i, i%3, float32(i%100))
	}
	a, err := sparse.UploadCSR(s, e)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	coo, err := sparse.UploadCOO(s, e)
	if err != nil {
		t.Fatal(err)
	}
	defer coo.Close()
	bsr, err := sparse.UploadBSR(s, e, 2)
	if err != nil {
		t.Fatal(err)
	}
	defer bsr.Close()
	ell, err := sparse.AllocELL[float32](dev, rows, 3, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer ell.Close()
	if err := sparse.CSRToELL(s, ell, a); err != nil {
		t.Fatal(err)
	}
	m := newMatrices(t, dev, false, e, 2)
	m.check(t, dev, "MulMat", func(c sparse.Dense[float32]) error { return sparse.MulMat(s, false, 2, a, m.b, -1, c) })
	m.check(t, dev, "MulMatCOO", func(c sparse.Dense[float32]) error { return sparse.MulMatCOO(s, false, 2, coo, m.b, -1, c) })
	m.check(t, dev, "MulMatELL", func(c sparse.Dense[float32]) error { return sparse.MulMatELL(s, 2, ell, m.b, -1, c) })
	m.check(t, dev, "MulMatBSR", func(c sparse.Dense[float32]) error { return sparse.MulMatBSR(s, 2, bsr, m.b, -1, c) })
}
