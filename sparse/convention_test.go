package sparse_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
	"quern.dev/sparse"
)

// system is a matrix with vectors, on a device.
type system struct {
	a         sparse.CSR[float64]
	csc       sparse.CSC[float64]
	coo       sparse.COO[float64]
	ell       sparse.ELL[float64]
	bsr       sparse.BSR[float64]
	back      sparse.CSR[float64] // with the entries of a
	all       sparse.CSR[float64] // with the elements of the blocks of bsr
	b, x      *gpu.Buffer[float64]
	dense, to sparse.Dense[float64]
	host      []float64
}

func newSystem(t *testing.T, dev *gpu.Device, e *sparse.Entries[float64]) *system {
	t.Helper()
	s := dev.DefaultStream()
	var m system
	var errs [7]error
	m.a, errs[0] = sparse.UploadCSR(s, e)
	m.coo, errs[1] = sparse.UploadCOO(s, e)
	m.csc, errs[2] = sparse.AllocCSC[float64](dev, e.Rows, e.Cols, len(e.Value))
	m.ell, errs[3] = sparse.AllocELL[float64](dev, e.Rows, e.Cols, m.a.Longest)
	m.bsr, errs[4] = sparse.UploadBSR(s, e, 2)
	m.back, errs[5] = sparse.AllocCSR[float64](dev, e.Rows, e.Cols, len(e.Value))
	if err := errors.Join(errs[:]...); err != nil {
		t.Fatal(err)
	}
	m.coo.Sorted = false // so that the entries are sorted in temporary memory
	n, err := sparse.CountBSR(t.Context(), s, m.bsr)
	if err != nil {
		t.Fatal(err)
	}
	m.all, errs[6] = sparse.AllocCSR[float64](dev, e.Rows, e.Cols, n)
	if err := errors.Join(errs[6], sparse.CSRToELL(s, m.ell, m.a)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, c := range []interface{ Close() error }{m.a, m.coo, m.csc, m.ell, m.bsr, m.back, m.all} {
			c.Close()
		}
	})
	m.host = vector[float64](e.Rows)
	m.b, m.x = gputest.Upload(t, dev, m.host), gputest.Upload(t, dev, make([]float64, e.Rows))
	m.dense = sparse.Dense[float64]{Rows: e.Rows, Cols: 1, Stride: 1, Data: m.b}
	m.to = sparse.Dense[float64]{Rows: e.Rows, Cols: 1, Stride: 1, Data: m.x}
	return &m
}

// calls are all functions that take a workspace.
func (m *system) calls(t *testing.T, s *gpu.Stream) map[string]func(work ...*gpu.Workspace) error {
	return map[string]func(work ...*gpu.Workspace) error{
		"MulVec":            func(w ...*gpu.Workspace) error { return sparse.MulVec(s, false, 1, m.a, m.b, 0, m.x, w...) },
		"MulVec transposed": func(w ...*gpu.Workspace) error { return sparse.MulVec(s, true, 1, m.a, m.b, 0, m.x, w...) },
		"MulMat transposed": func(w ...*gpu.Workspace) error { return sparse.MulMat(s, true, 1, m.a, m.dense, 0, m.to, w...) },
		"SolveTriangular": func(w ...*gpu.Workspace) error {
			return sparse.SolveTriangular(s, sparse.Triangle{}, m.a, m.b, m.x, w...)
		},
		"SolveTriangular transposed": func(w ...*gpu.Workspace) error {
			return sparse.SolveTriangular(s, sparse.Triangle{Transpose: true}, m.a, m.b, m.x, w...)
		},
		"CSRToCSC":             func(w ...*gpu.Workspace) error { return sparse.CSRToCSC(s, m.csc, m.a, w...) },
		"COOToCSR":             func(w ...*gpu.Workspace) error { return sparse.COOToCSR(s, m.a, m.coo, w...) },
		"MulVecCOO transposed": func(w ...*gpu.Workspace) error { return sparse.MulVecCOO(s, true, 1, m.coo, m.b, 0, m.x, w...) },
		"MulMatCOO":            func(w ...*gpu.Workspace) error { return sparse.MulMatCOO(s, false, 1, m.coo, m.dense, 0, m.to, w...) },
		"ELLToCSR":             func(w ...*gpu.Workspace) error { return sparse.ELLToCSR(s, m.back, m.ell, w...) },
		"CSRToBSR":             func(w ...*gpu.Workspace) error { return sparse.CSRToBSR(s, m.bsr, m.a, w...) },
		"BSRToCSR":             func(w ...*gpu.Workspace) error { return sparse.BSRToCSR(s, m.all, m.bsr, w...) },
		"CG": func(w ...*gpu.Workspace) error {
			_, err := sparse.CG(t.Context(), s, m.a, m.b, m.x, nil, w...)
			return err
		},
		"GMRES": func(w ...*gpu.Workspace) error {
			_, err := sparse.GMRES(t.Context(), s, m.a, m.b, m.x, nil, w...)
			return err
		},
	}
}

func TestWorkspaces(t *testing.T) {
	gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
		m := newSystem(t, dev, laplace[float64](9, 1))
		m.a.Longest = 1000 // so that the kernel with temporary memory is used
		for name, call := range m.calls(t, dev.DefaultStream()) {
			measure := gpu.MeasureWorkspace()
			if err := call(measure); err != nil || measure.Size() <= 0 {
				t.Fatalf("%s needs %d bytes, error %v", name, measure.Size(), err)
			}
			memory := gputest.Alloc[byte](t, dev, measure.Size())
			if err := call(gpu.NewWorkspace(memory)); err != nil {
				t.Errorf("%s in %d bytes: %v", name, measure.Size(), err)
			}
			if err := call(gpu.NewWorkspace(memory.Slice(0, measure.Size()-1))); !errors.Is(err, gpu.ErrInvalid) {
				t.Errorf("%s with less memory: %v", name, err)
			}
			if err := dev.Synchronize(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestWorkIsRecordedInGraphs(t *testing.T) {
	gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
		e := laplace[float64](9, 1)
		m := newSystem(t, dev, e)
		m.a.Longest = 1000
		for _, transpose := range []bool{false, true} {
			g, err := dev.Capture(func(s *gpu.Stream) error { return sparse.MulVec(s, transpose, 1, m.a, m.b, 0, m.x) })
			if err != nil {
				t.Fatal(err)
			}
			x, err := g.Instantiate()
			if err != nil {
				t.Fatal(err)
			}
			if err := x.Launch(dev.DefaultStream()); err != nil {
				t.Fatal(err)
			}
			want, size := product(transpose, 1, e, m.host, 0, m.host)
			near(t, fmt.Sprint("transpose ", transpose), gputest.Download(t, dev, m.x), want, size)
			if err := x.Close(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestProductsDoNotAllocate(t *testing.T) {
	dev := gputest.Open(t, gpu.Config{Device: "cpu"})
	m := newSystem(t, dev, laplace[float64](9, 1))
	for name, call := range m.calls(t, dev.DefaultStream()) {
		if name == "CG" || name == "GMRES" { // they return the history
			continue
		}
		if err := call(); err != nil {
			t.Fatal(err)
		}
		if n := testing.AllocsPerRun(10, func() { call() }); n != 0 {
			t.Errorf("%s makes %v allocations", name, n)
		}
	}
}

func TestInvalidArgumentsAreRefused(t *testing.T) {
	dev := gputest.Open(t, gpu.Config{Device: "cpu"})
	s := dev.DefaultStream()
	m := newSystem(t, dev, laplace[float64](3, 1)) // 9 x 9
	wide, err := sparse.AllocCSR[float64](dev, 9, 10, 5)
	if err != nil {
		t.Fatal(err)
	}
	defer wide.Close()
	broken := m.a
	broken.Start = m.a.Index
	unequal := m.a
	unequal.Index = m.a.Start
	negative := m.a
	negative.Cols = -1
	vec := gputest.Alloc[float64](t, dev, 10)
	twice := gputest.Alloc[float64](t, dev, 20)
	narrow := sparse.Dense[float64]{Rows: 9, Cols: 2, Stride: 1, Data: m.b}
	short := sparse.Dense[float64]{Rows: 9, Cols: 2, Stride: 2, Data: m.b}
	other := sparse.Dense[float64]{Rows: 9, Cols: 1, Stride: 1, Data: m.x}
	inMatrix := m.a.Value.Slice(4, 13) // a vector in the values of a
	inIndices := gpu.Reinterpret[float64](gpu.Reinterpret[byte](m.a.Index.Slice(4, 22)))
	sharedCSC, sharedELL, sharedBSR, sharedCOO, sharedCSR := m.csc, m.ell, m.bsr, m.coo, m.back
	sharedCSC.Index = m.a.Index
	sharedELL.Value = gputest.Alloc[float64](t, dev, 45+33).Slice(0, 45)
	ofELL := m.a
	ofELL.Value = sharedELL.Value.Slice(12, 45)
	sharedBSR.Start = m.a.Start.Slice(0, 6)
	sharedCOO.Col, sharedCOO.Value, sharedCOO.Row = m.a.Index, m.a.Value, m.a.Index
	sharedCSR.Index = m.coo.Col
	wideELL, err := sparse.AllocELL[float64](dev, 9, 10, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer wideELL.Close()
	many, err := sparse.AllocCSR[float64](dev, 9, 9, 300)
	if err != nil {
		t.Fatal(err)
	}
	defer many.Close()
	manyBlocks, err := sparse.AllocBSR[float64](dev, 9, 9, 2, 40)
	if err != nil {
		t.Fatal(err)
	}
	defer manyBlocks.Close()
	wideBSR, err := sparse.AllocBSR[float64](dev, 9, 10, 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer wideBSR.Close()
	wideCOO := sparse.COO[float64]{Rows: 9, Cols: 10, Row: m.coo.Row, Col: m.coo.Col, Value: m.coo.Value}
	ctx := t.Context()
	none := func(_ any, err error) error { return err }
	options := func(o sparse.Options[float64]) error { return none(sparse.CG(ctx, s, m.a, m.b, m.x, &o)) }
	entries := func(row, col int32) error {
		return none(sparse.UploadCSR(s, &sparse.Entries[float64]{Rows: 2, Cols: 3, Row: []int32{row}, Col: []int32{col}, Value: []float64{1}}))
	}
	far := func(row, col int) *sparse.Entries[float64] {
		e := &sparse.Entries[float64]{Rows: 2, Cols: 3}
		e.Add(row, col, 1)
		return e
	}
	_, _, noMatrix := sparse.ReadMarket[float64](nil)
	for want, err := range map[string]error{
		"MulVec: x has 10 elements, but a has 9 columns":                       sparse.MulVec(s, false, 1, m.a, vec, 0, m.x),
		"MulVec: y has 10 elements, but a has 9 rows":                          sparse.MulVec(s, false, 1, m.a, m.b, 0, vec),
		"MulVec: x has 10 elements, but a has 9 rows":                          sparse.MulVec(s, true, 1, wide, vec, 0, m.x),
		"MulVec: y has 9 elements, but a has 10 columns":                       sparse.MulVec(s, true, 1, wide, m.b, 0, m.x),
		"MulVec: x has 0 elements, but a has 9 columns":                        sparse.MulVec(s, false, 1, m.a, nil, 0, m.x),
		"MulVec: y overlaps x;":                                                sparse.MulVec(s, false, 1, m.a, m.b, 0, m.b),
		"MulVec: y overlaps x; the":                                            sparse.MulVec(s, false, 1, m.a, twice.Slice(0, 9), 0, twice.Slice(8, 17)),
		"MulVec: a has a buffer that is nil":                                   sparse.MulVec(s, false, 1, sparse.CSR[float64]{}, m.b, 0, m.x),
		"MulVec: a has 9 rows, and Start has 33 elements":                      sparse.MulVec(s, false, 1, broken, m.b, 0, m.x),
		"MulVec: a has 10 indices and 33 values":                               sparse.MulVec(s, false, 1, unequal, m.b, 0, m.x),
		"MulVec: a is 9 x -1;":                                                 sparse.MulVec(s, false, 1, negative, m.b, 0, m.x),
		"MulMat: b has 2 columns and a stride of 1;":                           sparse.MulMat(s, false, 1, m.a, narrow, 0, other),
		"MulMat: b has 9 elements, which is less than 9 rows":                  sparse.MulMat(s, false, 1, m.a, short, 0, other),
		"MulMat: b has 9 rows, but op(a) has 10 columns":                       sparse.MulMat(s, false, 1, wide, m.dense, 0, other),
		"MulMat: c overlaps b;":                                                sparse.MulMat(s, false, 1, m.a, m.dense, 0, m.dense),
		"SolveTriangular: a is 9 x 10; it must be square":                      sparse.SolveTriangular(s, sparse.Triangle{}, wide, m.b, m.x),
		"SolveTriangular: b has 10 elements, but a has 9 rows":                 sparse.SolveTriangular(s, sparse.Triangle{}, m.a, vec, m.x),
		"COOToCSR: dst is 9 x 10 with 5 entries, but src is":                   sparse.COOToCSR(s, wide, m.coo),
		"CSRToCSC: dst is 9 x 9 with 33 entries, but src is":                   sparse.CSRToCSC(s, m.csc, wide),
		"CG: a is 9 x 10; it must be square":                                   none(sparse.CG(ctx, s, wide, m.b, m.x, nil)),
		"CG: x overlaps b;":                                                    none(sparse.CG(ctx, s, m.a, m.b, m.b, nil)),
		"GMRES: b has 10 elements, but a has 9 rows":                           none(sparse.GMRES(ctx, s, m.a, vec, m.x, nil)),
		"CG: Tolerance is NaN;":                                                options(sparse.Options[float64]{Tolerance: math.NaN()}),
		"CG: MaxIterations is -1;":                                             options(sparse.Options[float64]{MaxIterations: -1}),
		"CG: Restart is 1000;":                                                 options(sparse.Options[float64]{Restart: 1000}),
		"CG: Preconditioner was not made by NewJacobi":                         options(sparse.Options[float64]{Preconditioner: &sparse.Jacobi[float64]{}}),
		"CG: Preconditioner was not made by NewILU0":                           options(sparse.Options[float64]{Preconditioner: (*sparse.ILU0[float64])(nil)}),
		"NewJacobi: a is 9 x 10; it must be square":                            none(sparse.NewJacobi(s, wide)),
		"MulVec: y overlaps a; the result":                                     sparse.MulVec(s, false, 1, m.a, m.b, 0, inMatrix),
		"MulVec: y overlaps a;":                                                sparse.MulVec(s, true, 1, m.a, m.b, 0, inIndices),
		"MulMat: c overlaps a;":                                                sparse.MulMat(s, false, 1, m.a, m.dense, 0, sparse.Dense[float64]{Rows: 9, Cols: 1, Stride: 1, Data: inMatrix}),
		"MulVecCOO: x has 9 elements, but a has 10 columns":                    sparse.MulVecCOO(s, false, 1, wideCOO, m.b, 0, m.x),
		"MulVecCOO: y has 9 elements, but a has 10 columns":                    sparse.MulVecCOO(s, true, 1, wideCOO, m.b, 0, m.x),
		"MulVecCOO: y overlaps x;":                                             sparse.MulVecCOO(s, false, 1, m.coo, m.b, 0, m.b),
		"MulVecCOO: y overlaps a;":                                             sparse.MulVecCOO(s, false, 1, m.coo, m.b, 0, m.coo.Value.Slice(0, 9)),
		"MulVecCOO: a has a buffer that is nil":                                sparse.MulVecCOO(s, false, 1, sparse.COO[float64]{}, m.b, 0, m.x),
		"MulMatCOO: b has 9 rows, but op(a) has 10 columns":                    sparse.MulMatCOO(s, false, 1, wideCOO, m.dense, 0, m.to),
		"MulMatCOO: c has 9 rows, but op(a) has 10":                            sparse.MulMatCOO(s, true, 1, wideCOO, m.dense, 0, m.to),
		"MulMatCOO: c overlaps b;":                                             sparse.MulMatCOO(s, false, 1, m.coo, m.dense, 0, m.dense),
		"MulVecELL: y overlaps a;":                                             sparse.MulVecELL(s, 1, m.ell, m.b, 0, m.ell.Value.Slice(0, 9)),
		"MulVecBSR: y overlaps a;":                                             sparse.MulVecBSR(s, 1, m.bsr, m.b, 0, m.bsr.Value.Slice(0, 9)),
		"MulMatELL: b has 9 rows, but op(a) has 10 columns":                    sparse.MulMatELL(s, 1, wideELL, m.dense, 0, m.to),
		"MulMatELL: c overlaps b;":                                             sparse.MulMatELL(s, 1, m.ell, m.dense, 0, m.dense),
		"MulMatBSR: b has 9 rows, but op(a) has 10 columns":                    sparse.MulMatBSR(s, 1, wideBSR, m.dense, 0, m.to),
		"MulMatBSR: c overlaps b;":                                             sparse.MulMatBSR(s, 1, m.bsr, m.dense, 0, m.dense),
		"CSRToCSC: dst overlaps src;":                                          sparse.CSRToCSC(s, sharedCSC, m.a),
		"CSCToCSR: dst overlaps src;":                                          sparse.CSCToCSR(s, m.a, m.a.Transpose()),
		"COOToCSR: dst overlaps src;":                                          sparse.COOToCSR(s, sharedCSR, m.coo),
		"CSRToCOO: dst overlaps src;":                                          sparse.CSRToCOO(s, sharedCOO, m.a),
		"CSRToELL: dst overlaps src;":                                          sparse.CSRToELL(s, sharedELL, ofELL),
		"ELLToCSR: dst overlaps src;":                                          sparse.ELLToCSR(s, ofELL, sharedELL),
		"ELLToCSR: dst is 9 x 9, but src is 9 x 10":                            sparse.ELLToCSR(s, m.back, wideELL),
		"ELLToCSR: dst has 300 entries, but src has places for 45":             sparse.ELLToCSR(s, many, m.ell),
		"BSRToCSR: dst is 9 x 9, but src is 9 x 10":                            sparse.BSRToCSR(s, m.back, wideBSR),
		"BSRToCSR: dst overlaps src;":                                          sparse.BSRToCSR(s, m.a, sharedBSR),
		"BSRToCSR: dst has 300 entries, but src has ":                          sparse.BSRToCSR(s, many, m.bsr),
		"CSRToBSR: dst is 9 x 10, but src is 9 x 9":                            sparse.CSRToBSR(s, wideBSR, m.a),
		"CSRToBSR: dst has 40 blocks, but src has only 33 entries":             sparse.CSRToBSR(s, manyBlocks, m.a),
		"CSRToBSR: dst overlaps src;":                                          sparse.CSRToBSR(s, sharedBSR, m.a),
		"CountBlocks: block is 65; it must be from 1 to 64":                    none(sparse.CountBlocks(ctx, s, m.a, 65)),
		"CountELL: a has a buffer that is nil":                                 none(sparse.CountELL(ctx, s, sparse.ELL[float64]{})),
		"CountBSR: a has blocks of size 0;":                                    none(sparse.CountBSR(ctx, s, sparse.BSR[float64]{})),
		"AllocBSR: block is 0; it must be from 1 to 64":                        none(sparse.AllocBSR[float64](dev, 1, 1, 0, 1)),
		"AllocBSR: sizes are 1 x 1 with -1 blocks;":                            none(sparse.AllocBSR[float64](dev, 1, 1, 2, -1)),
		"AllocCSR: sizes are 2147483647 x 1 with 1 entries;":                   none(sparse.AllocCSR[float64](dev, math.MaxInt32, 1, 1)),
		"AllocCSR: sizes are 1 x 1 with 9223372036854775807 entries;":          none(sparse.AllocCSR[float64](dev, 1, 1, math.MaxInt)),
		"AllocELL: sizes are 65536 x 1 with a width of 65536;":                 none(sparse.AllocELL[float64](dev, 1<<16, 1, 1<<16)),
		"SolveTriangular: x overlaps b;":                                       sparse.SolveTriangular(s, sparse.Triangle{}, m.a, twice.Slice(0, 9), twice.Slice(1, 10)),
		"SolveTriangular: x overlaps a;":                                       sparse.SolveTriangular(s, sparse.Triangle{}, m.a, m.b, inMatrix),
		"CG: x overlaps a;":                                                    none(sparse.CG(ctx, s, m.a, m.b, inMatrix, nil)),
		"GMRES: x overlaps a;":                                                 none(sparse.GMRES(ctx, s, m.a, m.b, inMatrix, nil)),
		"UploadCSR: e has entry 0 in row 2 and column 0, outside of the 2 x 3": entries(2, 0),
		"UploadCSR: e is nil":                                                  none(sparse.UploadCSR[float64](s, nil)),
		"UploadCOO: e is nil":                                                  none(sparse.UploadCOO[float64](s, nil)),
		"UploadBSR: e is nil":                                                  none(sparse.UploadBSR[float64](s, nil, 2)),
		"UploadCSR: e has entry 0 in row -1 and column 0,":                     none(sparse.UploadCSR(s, far(1<<40, 0))),
		"UploadCOO: e has entry 0 in row 1 and column -1,":                     none(sparse.UploadCOO(s, far(1, 1<<32))),
		"UploadBSR: e has entry 0 in row -1 and column 0,":                     none(sparse.UploadBSR(s, far(-1<<32, 0), 2)),
		"ReadMarket: r is nil":                                                 noMatrix,
		"UploadCSR: e has entry 0 in row 0 and column -1":                      entries(0, -1),
	} {
		var e *sparse.Error
		if !errors.As(err, &e) || !errors.Is(err, gpu.ErrInvalid) || !strings.HasPrefix(err.Error(), "sparse: "+want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	empty := sparse.COO[float64]{Rows: 9, Cols: 9, Row: new(gpu.Buffer[int32]), Col: new(gpu.Buffer[int32]), Value: new(gpu.Buffer[float64])}
	if err := sparse.MulVecCOO(s, false, 1, empty, m.b, 0, m.x); !errors.Is(err, gpu.ErrInvalid) || !strings.HasPrefix(err.Error(), "sparse: MulVecCOO: a: ") {
		t.Errorf("buffers that were not allocated: %v", err)
	}
	for i, v := range gputest.Download(t, dev, m.x) {
		if v != 0 {
			t.Fatalf("element %d was written", i)
		}
	}
}

// An index outside of the vector stops the kernel, and the next wait says so.
func TestDamagedMatricesAreReported(t *testing.T) {
	gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
		s := dev.DefaultStream()
		m := newSystem(t, dev, laplace[float64](3, 1))
		if err := gpu.Fill(s, m.a.Index, 100); err != nil {
			t.Fatal(err)
		}
		if err := sparse.MulVec(s, false, 1, m.a, m.b, 0, m.x); err != nil {
			t.Fatal(err)
		}
		var fault *gpu.KernelError
		if err := s.Synchronize(t.Context()); !errors.As(err, &fault) {
			t.Errorf("got %v", err)
		}
	})
}
