package blas

import (
	"context"
	"errors"
	"strings"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
	"quern.dev/kernel"
)

func onCPUDevice(t testing.TB) (*gpu.Device, *gpu.Stream) {
	d := gputest.Open(t, gpu.Config{Device: "cpu"})
	return d, d.DefaultStream()
}

// TestRefused lists calls that break a rule. Each error names the operation, the argument and
// the numbers, and nothing is written.
func TestRefused(t *testing.T) {
	d, s := onCPUDevice(t)
	host := make([]float64, 100)
	for i := range host {
		host[i] = float64(i)
	}
	buf, other := gputest.Upload(t, d, host), gputest.Alloc[float64](t, d, 100)
	ints := gputest.Alloc[int](t, d, 1)
	m := func(rows, cols, stride int, b *gpu.Buffer[float64]) General[float64] {
		return General[float64]{rows, cols, stride, b}
	}
	v := func(n, inc int, b *gpu.Buffer[float64]) Vector[float64] { return Vector[float64]{n, inc, b} }
	gemm := func(tA, tB Transpose, a, b, c General[float64]) error { return Gemm(s, tA, tB, 1, a, b, 0, c) }
	none := Epilogue[float64]{}
	batch := func(g General[float64], step, count int) Batch[float64] { return Batch[float64]{g, step, count} }
	for _, c := range []struct {
		err  error
		want string
	}{
		{gemm('X', NoTrans, m(2, 2, 2, other), m(2, 2, 2, other), m(2, 2, 2, buf)), "Gemm: the transposition of A is 88; use NoTrans, Trans or ConjTrans"},
		{gemm(NoTrans, NoTrans, m(2, 3, 3, other), m(2, 2, 2, other), m(2, 2, 2, buf)), "Gemm: op(B) has 2 rows, but op(A) has 3 columns"},
		{gemm(Trans, NoTrans, m(2, 3, 3, other), m(2, 2, 2, other), m(2, 2, 2, buf)), "Gemm: C has 2 rows, but op(A) has 3"},
		{gemm(NoTrans, Trans, m(2, 3, 3, other), m(4, 3, 3, other), m(2, 2, 2, buf)), "Gemm: C has 2 columns, but op(B) has 4"},
		{gemm(NoTrans, NoTrans, m(-1, 3, 3, other), m(3, 2, 2, other), m(2, 2, 2, buf)), "Gemm: A has -1 rows and 3 columns; neither can be negative"},
		{gemm(NoTrans, NoTrans, m(2, 3, 2, other), m(3, 2, 2, other), m(2, 2, 2, buf)), "Gemm: A has a stride of 2, which is less than its 3 columns, or than 1"},
		{gemm(NoTrans, NoTrans, m(20, 3, 6, other), m(3, 2, 2, other), m(20, 2, 2, buf)), "Gemm: A has 20x3 elements with a stride of 6, which do not fit in a buffer of 100 elements"},
		{gemm(NoTrans, NoTrans, m(1<<40, 3, 1<<40, other), m(3, 2, 2, other), m(2, 2, 2, buf)), "which do not fit in a buffer of 100 elements"},
		{gemm(NoTrans, NoTrans, m(2, 3, 3, nil), m(3, 2, 2, other), m(2, 2, 2, buf)), "Gemm: A has no data"},
		{gemm(NoTrans, NoTrans, m(2, 2, 2, buf), m(2, 2, 2, other), m(2, 2, 2, buf)), "Gemm: C shares elements with A"},
		{gemm(NoTrans, NoTrans, m(2, 2, 2, other), m(2, 2, 7, buf.Slice(10, 40)), m(2, 2, 2, buf.Slice(17, 40))), "Gemm: C shares elements with B"},
		{GemmBatched(s, NoTrans, NoTrans, 1, batch(m(2, 2, 2, other), 4, 3), batch(m(2, 2, 2, other), 4, 3), 0, batch(m(2, 2, 2, buf), 3, 3), none), "GemmBatched: C has a step of 3 elements between matrices, which share elements: each takes 4"},
		{GemmBatched(s, NoTrans, NoTrans, 1, batch(m(2, 2, 2, other), 4, 2), batch(m(2, 2, 2, other), 4, 3), 0, batch(m(2, 2, 2, buf), 4, 3), none), "GemmBatched: A has 2 matrices, but C has 3"},
		{GemmEpilogue(s, NoTrans, NoTrans, 1, m(2, 2, 2, other), m(2, 2, 2, other), 0, m(2, 2, 2, buf), Epilogue[float64]{Bias: v(3, 1, other)}), "GemmEpilogue: the bias has 3 elements, but C has 2 columns"},
		{GemmEpilogue(s, NoTrans, NoTrans, 1, m(2, 2, 2, other), m(2, 2, 2, other), 0, m(2, 2, 2, buf), Epilogue[float64]{Bias: v(2, 2, other)}), "GemmEpilogue: the bias has an increment of 2; it must be 1"},
		{GemmEpilogue(s, NoTrans, NoTrans, 1, m(2, 2, 2, other), m(2, 2, 2, other), 0, m(2, 2, 2, buf), Epilogue[float64]{Activation: 9}), "GemmEpilogue: the activation is 9; use Identity, ReLU or GELU"},
		{Gemv(s, NoTrans, 1, m(2, 3, 3, other), v(2, 1, other), 0, v(2, 1, buf)), "Gemv: x has 2 elements, but op(A) has 3 columns"},
		{Gemv(s, Trans, 1, m(2, 3, 3, other), v(2, 1, other), 0, v(2, 1, buf)), "Gemv: y has 2 elements, but op(A) has 3 rows"},
		{Gemv(s, NoTrans, 1, m(3, 3, 3, other), v(3, 1, buf), 0, v(3, 1, buf.Slice(2, 5))), "Gemv: y shares elements with x"},
		{Ger(s, 1, v(2, 1, other), v(3, 0, other), m(2, 3, 3, buf)), "Ger: y has an increment of 0"},
		{Ger(s, 1, v(20, 1, buf.Slice(50, 70)), v(3, 1, other), m(20, 3, 5, buf)), "Ger: A shares elements with x"},
		{Axpy(s, 1, v(2, 1, other), v(3, 1, buf)), "Axpy: y has 3 elements, but x has 2"},
		{Axpy(s, 1, v(-2, 1, other), v(-2, 1, buf)), "Axpy: x has -2 elements; it cannot have a negative number"},
		{Axpy(s, 1, v(20, 1, buf), v(20, -1, buf)), "Axpy: y shares elements with x"},
		{Axpy(s, 1, v(50, -3, other), v(50, 1, buf)), "Axpy: x has 50 elements with an increment of -3, which do not fit in a buffer of 100 elements"},
		{Rot(s, v(5, 1, buf), v(5, 1, buf), 1, 0), "Rot: y shares elements with x"},
		{Dot(s, v(2, 1, other), v(2, 1, other), nil), "Dot: out is nil; it receives the result"},
		{Dot(s, v(2, 1, buf), v(2, 1, other), buf.Slice(1, 2)), "Dot: out shares elements with x"},
		{Dot(s, v(2, 1, other), v(2, 2, buf), buf.Slice(2, 3)), "Dot: out shares elements with y"},
		{Asum(s, v(20, 1, buf), buf.Slice(5, 6)), "Asum: out shares elements with x"},
		{Nrm2(s, v(20, 1, buf), buf), "Nrm2: out shares elements with x"},
		{Lange(s, 'X', m(2, 2, 2, other), buf), "Lange: norm is 88; use MaxAbs, MaxColumnSum, MaxRowSum or Frobenius"},
		{Lange(s, MaxAbs, m(2, 3, 2, other), buf), "Lange: A has a stride of 2, which is less than its 3 columns"},
		{Lange(s, MaxRowSum, m(5, 3, 7, buf), buf.Slice(9, 10)), "Lange: out shares elements with A"},
		{Lange(s, MaxRowSum, m(5, 3, 7, other), buf.Slice(0, 0)), "Lange: out has no elements; it receives the result"},
		{Iamax(s, v(2, 1, nil), ints), "Iamax: x has no data"},
		{Syrk(s, NoTrans, 1, m(2, 3, 3, other), 0, Symmetric[float64]{3, 3, buf, Lower}), "Syrk: C has 3 rows and columns, but op(A) has 2 rows"},
		{Syrk(s, NoTrans, 1, m(2, 3, 3, other), 0, Symmetric[float64]{2, 3, buf, 0}), "Syrk: the triangle of C is 0; use Upper or Lower"},
		{Trsm(s, Left, NoTrans, 1, Triangular[float64]{3, 3, other, Lower, NonUnit}, m(2, 3, 3, buf)), "Trsm: B has 2 rows, but A has 3"},
		{Trsm(s, 'x', NoTrans, 1, Triangular[float64]{3, 3, other, Lower, NonUnit}, m(3, 3, 3, buf)), "Trsm: the side of A is 120; use Left or Right"},
		{TransposeTo(s, m(2, 3, 3, buf), m(2, 3, 3, other)), "TransposeTo: dst has 2x3 elements, but src has 2x3"},
		{Dot(s, v(5, 1, other), v(5, -2, buf), buf.Slice(8, 9)), "Dot: out shares elements with y"},
		{Asum(s, v(5, 1, buf), buf), "Asum: out shares elements with x"},
		{Nrm2(s, v(5, 1, buf), buf.Slice(4, 5)), "Nrm2: out shares elements with x"},
		{TransposeTo(s, m(3, 3, 3, buf), m(3, 3, 3, buf)), "TransposeTo: dst shares elements with src; TransposeSquare works in place"},
		{TransposeAxes(s, other, buf, []int{10, 10}, 0, 0), "TransposeAxes: axes [0 0] are not an order of 2 axes"},
		{TransposeAxes(s, other, buf, []int{10, 10}, 0, 2), "TransposeAxes: axes [0 2] are not an order of 2 axes"},
		{TransposeAxes(s, other, buf, []int{10, 10}, 1), "TransposeAxes: axes are 1, but the shape has 2"},
		{TransposeAxes(s, other, buf, make([]int, 9)), "TransposeAxes: shape has 9 axes; at most 8 are supported"},
		{TransposeAxes(s, other, buf, []int{-10, -10}), "TransposeAxes: shape has a negative extent: [-10 -10]"},
		{TransposeAxes(s, other, buf, []int{1 << 40, 1 << 40}), "TransposeAxes: shape has too many elements: [1099511627776 1099511627776]"},
		{TransposeAxes(s, other, buf, []int{10, 11}), "TransposeAxes: src has 100 elements, but the shape [10 11] has 110"},
		{TransposeAxes(s, other.Slice(0, 50), buf, []int{10, 10}), "TransposeAxes: dst has 50 elements, but src has 100"},
		{TransposeAxes(s, buf, buf, []int{10, 10}), "TransposeAxes: dst shares elements with src"},
		{TransposeSquare(s, m(2, 3, 3, buf)), "TransposeSquare: the matrix has 2 rows and 3 columns; only square matrices can be transposed in place"},
		{TransposeSquare(s, General[complex128]{2, 2, 2, gputest.Alloc[complex128](t, d, 4)}), "TransposeSquare: the element type has 16 bytes; 1, 2, 4 and 8 are supported"},
	} {
		var e *Error
		if !errors.As(c.err, &e) || !errors.Is(c.err, gpu.ErrInvalid) || !strings.Contains(c.err.Error(), c.want) || !strings.HasPrefix(c.err.Error(), "blas: ") {
			t.Errorf("the error is %q, want %q", c.err, c.want)
		}
	}
	gputest.Equal(t, gputest.Download(t, d, buf), host)
	if err := Gemm(nil, NoTrans, NoTrans, 1, m(2, 2, 2, other), m(2, 2, 2, other), 0, m(2, 2, 2, buf)); !errors.Is(err, gpu.ErrInvalid) {
		t.Errorf("without a stream the error is %v", err)
	}
}

// TestPartsOfOneMatrix uses operands that are interleaved in one buffer, but share nothing.
func TestPartsOfOneMatrix(t *testing.T) {
	d, s := onCPUDevice(t)
	const n = 8
	buf := gputest.Upload(t, d, make([]float64, n*n))
	part := func(row, col, rows, cols int) General[float64] {
		return General[float64]{rows, cols, n, buf.Slice(row*n+col, n*n)}
	}
	column := Vector[float64]{4, n, buf.Slice(4*n+3, n*n)}
	row := Vector[float64]{4, 1, buf.Slice(3*n+4, n*n)}
	for name, err := range map[string]error{
		"a quarter of others":          Gemm(s, NoTrans, NoTrans, 1, part(4, 0, 4, 4), part(0, 4, 4, 4), 1, part(4, 4, 4, 4)),
		"columns":                      Gemm(s, NoTrans, NoTrans, 1, part(0, 0, 8, 2), part(0, 2, 2, 2), 1, part(0, 4, 8, 2)),
		"a row and a column":           Ger(s, -1, column, row, part(4, 4, 4, 4)),
		"real and imaginary parts":     Axpy(s, 1, Vector[float64]{9, 2, buf}, Vector[float64]{9, 2, buf.Slice(1, n*n)}),
		"a vector and itself":          Axpy(s, 1, row, row),
		"the transpose of a neighbour": TransposeTo(s, part(0, 4, 4, 4), part(4, 0, 4, 4)),
		"a batch of one":               GemmBatched(s, NoTrans, NoTrans, 1, Batch[float64]{part(4, 0, 4, 4), 5, 1}, Batch[float64]{part(0, 4, 4, 4), 6, 1}, 1, Batch[float64]{part(4, 4, 4, 4), 7, 1}, Epilogue[float64]{}),
	} {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := Gemm(s, NoTrans, NoTrans, 1, part(0, 0, 8, 2), part(0, 2, 2, 2), 1, part(7, 1, 1, 2)); err != nil && !strings.Contains(err.Error(), "C has 1 rows") {
		t.Error(err)
	}
	if err := TransposeTo(s, part(4, 1, 4, 4), part(4, 4, 4, 4)); err == nil {
		t.Error("operands that share a column are not refused")
	}
}

// operations calls every function once.
func operations(t testing.TB, d *gpu.Device, n int) map[string]func(s *gpu.Stream, work ...*gpu.Workspace) error {
	x, y, z := gputest.Upload(t, d, make([]float32, n*n)), gputest.Upload(t, d, make([]float32, n*n)), gputest.Upload(t, d, make([]float32, n*n))
	half := gputest.Upload(t, d, make([]kernel.BFloat16, n*n))
	out, index := gputest.Alloc[float32](t, d, 1), gputest.Alloc[int](t, d, 1)
	a, b, c := General[float32]{n, n, n, x}, General[float32]{n, n, n, y}, General[float32]{n, n, n, z}
	h := General[kernel.BFloat16]{n, n, n, half}.Batch()
	quarter := General[kernel.Float8E4M3]{n, n, n, gputest.Upload(t, d, make([]kernel.Float8E4M3, n*n))}.Batch()
	v, w := Vector[float32]{n * n, 1, x}, Vector[float32]{n * n, 1, y}
	short, strided := Vector[float32]{n, 1, y}, Vector[float32]{n, n, z}
	return map[string]func(s *gpu.Stream, work ...*gpu.Workspace) error{
		"Gemm": func(s *gpu.Stream, w ...*gpu.Workspace) error { return Gemm(s, NoTrans, Trans, 1, a, b, 1, c, w...) },
		"GemmTensor": func(s *gpu.Stream, w ...*gpu.Workspace) error {
			return GemmTensor(s, Trans, NoTrans, 1, h, h, 1, c.Batch(), Epilogue[float32]{}, w...)
		},
		"GemmFloat8": func(s *gpu.Stream, w ...*gpu.Workspace) error {
			return GemmFloat8(s, NoTrans, Trans, 1, quarter, quarter, 0, c.Batch(), Epilogue[float32]{}, w...)
		},
		"Gemv":      func(s *gpu.Stream, w ...*gpu.Workspace) error { return Gemv(s, NoTrans, 1, a, short, 1, strided, w...) },
		"GemvTrans": func(s *gpu.Stream, w ...*gpu.Workspace) error { return Gemv(s, Trans, 1, a, short, 0, strided, w...) },
		"Syrk": func(s *gpu.Stream, w ...*gpu.Workspace) error {
			return Syrk(s, Trans, 1, a, 1, Symmetric[float32]{n, n, z, Upper}, w...)
		},
		"Dot":   func(s *gpu.Stream, k ...*gpu.Workspace) error { return Dot(s, v, w, out, k...) },
		"Asum":  func(s *gpu.Stream, k ...*gpu.Workspace) error { return Asum(s, v, out, k...) },
		"Nrm2":  func(s *gpu.Stream, k ...*gpu.Workspace) error { return Nrm2(s, v, out, k...) },
		"Lange": func(s *gpu.Stream, k ...*gpu.Workspace) error { return Lange(s, MaxColumnSum, a, out, k...) },
		"LangeFrobenius": func(s *gpu.Stream, k ...*gpu.Workspace) error {
			return Lange(s, Frobenius, General[float32]{n, n - 1, n, x}, out, k...)
		},
		"Iamax": func(s *gpu.Stream, k ...*gpu.Workspace) error { return Iamax(s, v, index, k...) },
		"Axpy":  func(s *gpu.Stream, _ ...*gpu.Workspace) error { return Axpy(s, 1, v, w) },
		"Scal":  func(s *gpu.Stream, _ ...*gpu.Workspace) error { return Scal(s, 1, v) },
		"Copy":  func(s *gpu.Stream, _ ...*gpu.Workspace) error { return Copy(s, v, w) },
		"Swap":  func(s *gpu.Stream, _ ...*gpu.Workspace) error { return Swap(s, v, w) },
		"Rot":   func(s *gpu.Stream, _ ...*gpu.Workspace) error { return Rot(s, v, w, 1, 0) },
		"Ger":   func(s *gpu.Stream, _ ...*gpu.Workspace) error { return Ger(s, 1, short, short, c) },
		"Trsm": func(s *gpu.Stream, _ ...*gpu.Workspace) error {
			return Trsm(s, Left, NoTrans, 1, Triangular[float32]{n, n, x, Lower, Unit}, c)
		},
		"TransposeTo": func(s *gpu.Stream, _ ...*gpu.Workspace) error { return TransposeTo(s, b, a) },
		"TransposeAxes": func(s *gpu.Stream, _ ...*gpu.Workspace) error {
			return TransposeAxes(s, y, x, []int{2, n, n / 2}, 0, 2, 1)
		},
		"MoveAxes": func(s *gpu.Stream, _ ...*gpu.Workspace) error {
			return TransposeAxes(s, y, x, []int{2, n, n / 2}, 1, 0, 2)
		},
		"TransposeSquare": func(s *gpu.Stream, _ ...*gpu.Workspace) error { return TransposeSquare(s, a) },
	}
}

func TestCallsDoNotAllocate(t *testing.T) {
	d, s := onCPUDevice(t)
	for name, f := range operations(t, d, 150) {
		if n := testing.AllocsPerRun(100, func() {
			if err := f(s); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if err := s.Synchronize(context.Background()); err != nil { // a stream with more waiting launches than ever before allocates
				t.Fatalf("%s: %v", name, err)
			}
		}); n != 0 {
			t.Errorf("%s allocates %v times", name, n)
		}
	}
}

// TestCallsInGraphs records every function and runs the graph.
func TestCallsInGraphs(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		s := d.DefaultStream()
		for name, f := range operations(t, d, 40) {
			g, err := d.Capture(func(s *gpu.Stream) error { return f(s) })
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			x, err := g.Instantiate()
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			for range 2 {
				if err := x.Launch(s); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
			}
			if err := s.Synchronize(context.Background()); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if err := x.Close(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// TestWorkspaces measures, then runs with exactly that memory, and with less.
func TestWorkspaces(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		s := d.DefaultStream()
		for name, f := range operations(t, d, 150) {
			if d.Backend() == gpu.Sim && name != "Dot" && name != "Nrm2" {
				continue
			}
			measure := gpu.MeasureWorkspace()
			if err := f(s, measure); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			n := measure.Size()
			if err := f(s, gpu.NewWorkspace(gputest.Alloc[byte](t, d, n))); err != nil {
				t.Errorf("%s with a workspace of %d bytes: %v", name, n, err)
			}
			if n > 0 {
				if err := f(s, gpu.NewWorkspace(gputest.Alloc[byte](t, d, n-1))); !errors.Is(err, gpu.ErrInvalid) {
					t.Errorf("%s with a workspace of %d bytes: the error is %v", name, n-1, err)
				}
			}
		}
	})
}

func TestDeterminism(t *testing.T) {
	d, s := onCPUDevice(t)
	const n = 50_000
	host := make([]float32, n)
	for i := range host {
		host[i] = 1 / float32(i+1)
	}
	x, out := Vector[float32]{n, 1, gputest.Upload(t, d, host)}, gputest.Alloc[float32](t, d, 1)
	var first float32
	for i := range 20 {
		if err := Dot(s, x, x, out); err != nil {
			t.Fatal(err)
		}
		if v := gputest.Download(t, d, out)[0]; i == 0 {
			first = v
		} else if v != first {
			t.Fatalf("run %d gives %g, the first one gave %g", i, v, first)
		}
	}
}

func TestNamesOfConstants(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{NoTrans.String(), "NoTrans"}, {Trans.String(), "Trans"}, {ConjTrans.String(), "ConjTrans"}, {Transpose(1).String(), "Transpose(1)"},
		{MaxAbs.String(), "MaxAbs"}, {MaxColumnSum.String(), "MaxColumnSum"}, {MaxRowSum.String(), "MaxRowSum"}, {Frobenius.String(), "Frobenius"}, {MatrixNorm(2).String(), "MatrixNorm(2)"},
		{Upper.String(), "Upper"}, {Lower.String(), "Lower"}, {Unit.String(), "Unit"}, {NonUnit.String(), "NonUnit"}, {Left.String(), "Left"}, {Right.String(), "Right"}, {Side(2).String(), "Side(2)"},
	} {
		if c.got != c.want {
			t.Errorf("the name is %q, want %q", c.got, c.want)
		}
	}
}
