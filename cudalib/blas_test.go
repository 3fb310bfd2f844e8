package cudalib_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"quern.dev/blas"
	"quern.dev/cudalib"
	"quern.dev/gpu"
	"quern.dev/internal/culib/fakeculib"
	"quern.dev/kernel"
)

// product is a case of the tests: C[i] = op(A[i])*op(B[i]), with gaps between rows and matrices.
type product struct {
	name             string
	tA, tB           blas.Transpose
	m, n, k, batch   int
	alpha, beta      float64
	bias, residual   bool
	activation       blas.Activation
	gapRow, gapBatch int
}

func batchOf[T any](b *gpu.Buffer[T], rows, cols int, c *product) blas.Batch[T] {
	stride := cols + c.gapRow
	return blas.Batch[T]{General: blas.General[T]{Rows: rows, Cols: cols, Stride: stride, Data: b}, Step: rows*stride + c.gapBatch, Count: c.batch}
}

func (c *product) elements(rows, cols int) int {
	return c.batch * (rows*(cols+c.gapRow) + c.gapBatch)
}

// shapes returns the rows and columns of A and B.
func (c *product) shapes() (a, b [2]int) {
	a, b = [2]int{c.m, c.k}, [2]int{c.k, c.n}
	if c.tA != blas.NoTrans {
		a = [2]int{c.k, c.m}
	}
	if c.tB != blas.NoTrans {
		b = [2]int{c.n, c.k}
	}
	return a, b
}

// reference computes the product in float64 from the elements of the operands.
func (c *product) reference(a, b, old, bias, residual []float64) []float64 {
	sa, sb := c.shapes()
	at := func(x []float64, shape [2]int, i, row, col int, t blas.Transpose) float64 {
		if t != blas.NoTrans {
			row, col = col, row
		}
		stride := shape[1] + c.gapRow
		return x[i*(shape[0]*stride+c.gapBatch)+row*stride+col]
	}
	out := slices.Clone(old)
	stride := c.n + c.gapRow
	for i := range c.batch {
		for row := range c.m {
			for col := range c.n {
				sum := 0.0
				for k := range c.k {
					sum += at(a, sa, i, row, k, c.tA) * at(b, sb, i, k, col, c.tB)
				}
				place := i*(c.m*stride+c.gapBatch) + row*stride + col
				v := c.alpha * sum
				if c.beta != 0 {
					v += c.beta * old[place]
				}
				if c.bias {
					v += bias[col]
				}
				switch c.activation {
				case blas.ReLU:
					v = max(v, 0)
				case blas.GELU:
					v = v / 2 * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(v+0.044715*v*v*v)))
				}
				if c.residual {
					v += residual[place]
				}
				out[place] = v
			}
		}
	}
	return out
}

func wide[T any](list []T) []float64 {
	out := make([]float64, len(list))
	for i, v := range list {
		switch v := any(v).(type) {
		case float32:
			out[i] = float64(v)
		case float64:
			out[i] = v
		case kernel.Float16:
			out[i] = v.Float64()
		case kernel.BFloat16:
			out[i] = v.Float64()
		case int8:
			out[i] = float64(v)
		case int32:
			out[i] = float64(v)
		}
	}
	return out
}

// check computes the product with both engines and compares both with the reference.
func check[T, C any](t *testing.T, r *rig, c product, operation string, bound float64, convert func(float64) T, result func(float64) C,
	run func(s *gpu.Stream, a, b blas.Batch[T], to blas.Batch[C], e blas.Epilogue[C]) error) {
	t.Helper()
	sa, sb := c.shapes()
	list := func(seed uint64, n int) []T {
		out := make([]T, n)
		for i, v := range numbers[float64](seed, n) {
			out[i] = convert(v)
		}
		return out
	}
	results := func(seed uint64, n int) []C {
		out := make([]C, n)
		for i, v := range numbers[float64](seed, n) {
			out[i] = result(v)
		}
		return out
	}
	a, b := list(1, c.elements(sa[0], sa[1])), list(2, c.elements(sb[0], sb[1]))
	old, bias, residual := results(3, c.elements(c.m, c.n)), results(4, c.n), results(5, c.elements(c.m, c.n))
	if c.beta == 0 {
		old[0] = result(math.NaN())
	}
	want := c.reference(wide(a), wide(b), wide(old), wide(bias), wide(residual))
	for _, e := range []cudalib.Engine{cudalib.Vendor, cudalib.Auto, cudalib.Quern} {
		s := r.stream(t, e)
		bufferA, bufferB, to := upload(t, s, a), upload(t, s, b), upload(t, s, old)
		var epilogue blas.Epilogue[C]
		epilogue.Activation = c.activation
		if c.bias {
			epilogue.Bias = blas.Vector[C]{N: c.n, Inc: 1, Data: upload(t, s, bias)}
		}
		if c.residual {
			epilogue.Residual = batchOf(upload(t, s, residual), c.m, c.n, &c)
		}
		if err := run(s, batchOf(bufferA, sa[0], sa[1], &c), batchOf(bufferB, sb[0], sb[1], &c), batchOf(to, c.m, c.n, &c), epilogue); err != nil {
			t.Errorf("%s, %v: %v", c.name, e, err)
			continue
		}
		if d := distance(wide(download(t, s, to)), want); !(d <= bound) {
			t.Errorf("%s, %v: relative error %g, bound %g", c.name, e, d, bound)
		}
		switch e {
		case cudalib.Vendor:
			ran(t, s, operation, cudalib.Vendor)
		case cudalib.Auto:
			t.Log(cudalib.Ran(s))
		}
	}
}

func TestProductsByBothEngines(t *testing.T) {
	everyRig(t, func(t *testing.T, r *rig) {
		m, n, k := r.size(6, 129), r.size(5, 66), r.size(7, 261)
		cases := []product{
			{name: "plain", tA: blas.NoTrans, tB: blas.NoTrans, m: m, n: n, k: k, batch: 1, alpha: 1},
			{name: "A transposed", tA: blas.Trans, tB: blas.NoTrans, m: m, n: n, k: k, batch: 1, alpha: -2},
			{name: "B transposed", tA: blas.NoTrans, tB: blas.Trans, m: m, n: n, k: k, batch: 1, alpha: 1, beta: 0.5, gapRow: 3},
			{name: "both transposed, in a batch", tA: blas.Trans, tB: blas.ConjTrans, m: m, n: n, k: k, batch: 3, alpha: 1, beta: -1, gapRow: 2, gapBatch: 5},
			{name: "a column", tA: blas.NoTrans, tB: blas.NoTrans, m: m, n: 1, k: k, batch: 2, alpha: 1},
		}
		layers := []product{
			{name: "bias and ReLU", tA: blas.NoTrans, tB: blas.Trans, m: m, n: n, k: k, batch: 2, alpha: 1, bias: true, activation: blas.ReLU},
			{name: "GELU", tA: blas.NoTrans, tB: blas.Trans, m: m, n: n, k: k, batch: 1, alpha: 1, activation: blas.GELU, gapRow: 1},
			{name: "bias and GELU", tA: blas.NoTrans, tB: blas.NoTrans, m: m, n: n, k: k, batch: 1, alpha: 1, bias: true, activation: blas.GELU, beta: 0.25},
			{name: "ReLU", tA: blas.NoTrans, tB: blas.NoTrans, m: m, n: n, k: k, batch: 1, alpha: 1, activation: blas.ReLU},
			{name: "bias and residual", tA: blas.NoTrans, tB: blas.Trans, m: m, n: n, k: k, batch: 2, alpha: 1, bias: true, residual: true},
		}
		single := func(v float64) float32 { return float32(v) }
		for _, c := range slices.Concat(cases, layers) {
			check(t, r, c, "blas.GemmBatched", 1e-6, single, single, func(s *gpu.Stream, a, b, to blas.Batch[float32], e blas.Epilogue[float32]) error {
				return blas.GemmBatched(s, c.tA, c.tB, float32(c.alpha), a, b, float32(c.beta), to, e)
			})
		}
		for _, c := range cases {
			check(t, r, c, "blas.GemmBatched", 1e-14, func(v float64) float64 { return v }, func(v float64) float64 { return v },
				func(s *gpu.Stream, a, b, to blas.Batch[float64], e blas.Epilogue[float64]) error {
					return blas.GemmBatched(s, c.tA, c.tB, c.alpha, a, b, c.beta, to, e)
				})
		}
		for i, c := range slices.Concat(cases, layers) {
			// The matrix units need rows at multiples of 16 bytes; Quern copies others.
			if c.name == "a column" {
				continue
			}
			c.m, c.n, c.k, c.gapRow, c.gapBatch = r.size(8, 128), r.size(8, 64), r.size(16, 256), 0, 0
			if i%2 == 1 {
				c.gapRow = 8
			}
			check(t, r, c, "blas.GemmTensor", 1e-3, single, single, func(s *gpu.Stream, a, b, to blas.Batch[float32], e blas.Epilogue[float32]) error {
				return blas.GemmTensor(s, c.tA, c.tB, float32(c.alpha), a, b, float32(c.beta), to, e)
			})
			check(t, r, c, "blas.GemmTensor", 1e-5, func(v float64) kernel.Float16 { return kernel.ToFloat16(float32(v)) }, single,
				func(s *gpu.Stream, a, b blas.Batch[kernel.Float16], to blas.Batch[float32], e blas.Epilogue[float32]) error {
					return blas.GemmTensor(s, c.tA, c.tB, float32(c.alpha), a, b, float32(c.beta), to, e)
				})
			check(t, r, c, "blas.GemmTensor", 1e-5, func(v float64) kernel.BFloat16 { return kernel.ToBFloat16(float32(v)) }, single,
				func(s *gpu.Stream, a, b blas.Batch[kernel.BFloat16], to blas.Batch[float32], e blas.Epilogue[float32]) error {
					return blas.GemmTensor(s, c.tA, c.tB, float32(c.alpha), a, b, float32(c.beta), to, e)
				})
		}
		c := product{name: "integers", tA: blas.NoTrans, tB: blas.Trans, m: r.size(8, 128), n: r.size(4, 64), k: r.size(16, 256), batch: 2, alpha: 3, beta: 2}
		check(t, r, c, "blas.GemmInteger", 0, func(v float64) int8 { return int8(127 * v) }, func(v float64) int32 { return int32(1000 * v) },
			func(s *gpu.Stream, a, b blas.Batch[int8], to blas.Batch[int32], e blas.Epilogue[int32]) error {
				return blas.GemmInteger(s, c.tA, c.tB, int32(c.alpha), a, b, int32(c.beta), to)
			})
	})
}

// Row-major products are the transposed products of the library: its A is B, and its sizes
// change places.
func TestArgumentsOfCublasLt(t *testing.T) {
	r := withFakes(t, fakeculib.New())
	s := r.stream(t, cudalib.Vendor)
	x, y := upload(t, s, numbers[float32](1, 100)), upload(t, s, numbers[float32](2, 100))
	z, bias := upload(t, s, numbers[float32](3, 100)), upload(t, s, numbers[float32](4, 3))
	of := func(b *gpu.Buffer[float32], rows, cols, stride, step, count int) blas.Batch[float32] {
		return blas.Batch[float32]{General: blas.General[float32]{Rows: rows, Cols: cols, Stride: stride, Data: b}, Step: step, Count: count}
	}
	r.libs.Calls()
	do(t, blas.GemmBatched(s, blas.NoTrans, blas.Trans, 2, of(x, 2, 5, 6, 20, 3), of(y, 3, 5, 7, 30, 3), -0.5, of(z, 2, 3, 4, 10, 3),
		blas.Epilogue[float32]{Bias: blas.Vector[float32]{N: 3, Inc: 1, Data: bias}, Activation: blas.ReLU}))
	do(t, blas.GemmTensor(s, blas.Trans, blas.NoTrans, 1, of(x, 5, 2, 4, 0, 1), of(y, 5, 3, 4, 0, 1), 0, of(z, 2, 3, 4, 0, 1),
		blas.Epilogue[float32]{Residual: of(x, 2, 3, 8, 0, 1)}))
	want := []string{
		"cublasLtMatmul types 0*0->0 compute 68 scale 0, 3x2x5, trans 1 0, strides 7 6 4 4, 3 batches at 30 20 10 10, epilogue 6, alpha 2, beta -0.5, in place true",
		"cublasLtMatmul types 0*0->0 compute 77 scale 0, 3x2x5, trans 0 1, strides 4 4 8 4, 1 batches at 0 0 0 0, epilogue 1, alpha 1, beta 1, in place false",
	}
	if got := r.libs.Calls(); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", fmt.Sprint(got), fmt.Sprint(want))
	}
}
