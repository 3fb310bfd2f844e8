package blas

import (
	"math"

	"quern.dev/blas/internal/kernels"
	"quern.dev/gpu"
)

// Activation is a function that an [Epilogue] applies to each element.
type Activation uint8

// The activations. GELU is the Gaussian error linear unit in its approximation with tanh.
const (
	Identity Activation = iota
	ReLU
	GELU
)

// Epilogue is what a product does with each element of C before it writes it:
// activation(v + bias) + residual. The zero value does nothing.
type Epilogue[T any] struct {
	// Bias has an element for each column of C, or for each row with BiasRows. It is absent
	// if Data is nil. Its Inc is 1.
	Bias     Vector[T]
	BiasRows bool

	Activation Activation

	// Residual has the shape of C. It is absent if Data is nil. It may be C itself: then the
	// elements before the operation are added.
	Residual Batch[T]
}

// Gemm computes C = alpha*op(A)*op(B) + beta*C, where op(X) is X or its transpose. If alpha
// is 0, A and B are not read; if beta is 0, C is not read, so it may hold NaN. C must not
// share elements with A or B.
//
// The temporary memory is that of the parts of a product whose result is small.
func Gemm[T Float](s *gpu.Stream, tA, tB Transpose, alpha T, a, b General[T], beta T, c General[T], work ...*gpu.Workspace) error {
	return product("Gemm", s, tA, tB, alpha, Batch[T]{a, 0, 1}, Batch[T]{b, 0, 1}, beta, Batch[T]{c, 0, 1}, Epilogue[T]{}, work)
}

// GemmEpilogue is [Gemm] with an epilogue.
func GemmEpilogue[T Float](s *gpu.Stream, tA, tB Transpose, alpha T, a, b General[T], beta T, c General[T], e Epilogue[T], work ...*gpu.Workspace) error {
	e.Residual.Count = 1
	return product("GemmEpilogue", s, tA, tB, alpha, Batch[T]{a, 0, 1}, Batch[T]{b, 0, 1}, beta, Batch[T]{c, 0, 1}, e, work)
}

// GemmBatched computes the products of all matrices of a batch: C[i] = alpha*op(A[i])*op(B[i])
// + beta*C[i], with an epilogue whose bias is the same for all. The three batches have the same
// number of matrices. The matrices of C must not share elements.
func GemmBatched[T Float](s *gpu.Stream, tA, tB Transpose, alpha T, a, b Batch[T], beta T, c Batch[T], e Epilogue[T], work ...*gpu.Workspace) error {
	return product("GemmBatched", s, tA, tB, alpha, a, b, beta, c, e, work)
}

func product[T Float](op string, s *gpu.Stream, tA, tB Transpose, alpha T, a, b Batch[T], beta T, c Batch[T], e Epilogue[T], work []*gpu.Workspace) error {
	k, err := checkProduct(op, tA, tB, a, b, c)
	if err != nil {
		return err
	}
	post, err := e.check(op, c)
	if err != nil {
		return err
	}
	scratch, err := gpu.OpenScratch(s, work)
	if err != nil {
		return wrap(op, err)
	}
	defer scratch.Close()
	m, n, batch := c.Rows, c.Cols, c.Count
	if alpha == 0 || k == 0 {
		alpha, k = 0, 0
		a.Data, b.Data = c.Data, c.Data // not read
	}
	if m == 0 || n == 0 || batch == 0 || alpha == 0 && beta == 1 && post == 0 {
		_, err := scratch.Ready()
		return wrap(op, err)
	}
	p := plan[T](s.Device(), m, n, k, batch)
	to, ldc, stepC := c.Data, c.Stride, c.Step
	if p.parts > 1 {
		ldc = (n + 3) &^ 3
		stepC = m * ldc
		to = gpu.Take[T](scratch, batch*p.parts*stepC)
	}
	if run, err := scratch.Ready(); !run {
		return wrap(op, err)
	}
	bias, residual := e.Bias.Data, e.Residual.Data
	if bias == nil {
		bias = c.Data
	}
	if residual == nil {
		residual = c.Data
	}
	x := gemmArguments[T]{
		m, n, k, p.part, flagsOf(tA, tB, a.quads(), b.quads(), ldc%4 == 0 && stepC%4 == 0),
		a.Stride, b.Stride, ldc, a.Step, b.Step, stepC, alpha, beta, a.Data, b.Data, to,
		post, e.Residual.Stride, e.Residual.Step, bias, residual,
	}
	grid := gpu.Linear(p.tiles * p.parts * batch * p.threads)
	if p.parts == 1 {
		return wrap(op, p.kernel.launch(s, grid, x))
	}
	x.alpha, x.beta, x.post = 1, 0, 0
	if err := p.kernel.launch(s, grid, x); err != nil {
		return wrap(op, err)
	}
	return wrap(op, kernels.LaunchSumParts(s, gpu.Linear(batch*m*n), m, n, p.parts, batch, ldc, c.Stride, c.Step,
		alpha, beta, to, c.Data, post, e.Residual.Stride, e.Residual.Step, bias, residual))
}

// checkProduct returns the number of elements that each element of C is the sum of.
func checkProduct[T, C any](op string, tA, tB Transpose, a, b Batch[T], c Batch[C]) (k int, err error) {
	for _, err := range [...]error{tA.check(op, "the transposition of A"), tB.check(op, "the transposition of B"), a.check(op, "A"), b.check(op, "B"), c.check(op, "C")} {
		if err != nil {
			return 0, err
		}
	}
	m, k := a.shape(tA)
	kb, n := b.shape(tB)
	switch {
	case kb != k:
		return 0, invalid(op, "op(B)", "has %d rows, but op(A) has %d columns", kb, k)
	case c.Rows != m:
		return 0, invalid(op, "C", "has %d rows, but op(A) has %d", c.Rows, m)
	case c.Cols != n:
		return 0, invalid(op, "C", "has %d columns, but op(B) has %d", c.Cols, n)
	case a.Count != c.Count:
		return 0, invalid(op, "A", "has %d matrices, but C has %d", a.Count, c.Count)
	case b.Count != c.Count:
		return 0, invalid(op, "B", "has %d matrices, but C has %d", b.Count, c.Count)
	case c.Count > 1 && c.Rows > 0 && c.Cols > 0 && c.Step < (c.Rows-1)*c.Stride+c.Cols:
		return 0, invalid(op, "C", "has a step of %d elements between matrices, which share elements: each takes %d", c.Step, (c.Rows-1)*c.Stride+c.Cols)
	case m > 0 && n > 0 && k > 0 && (isSame(a.Data, c.Data) || isSame(b.Data, c.Data)):
		return 0, invalid(op, "C", "is a factor too")
	}
	return k, nil
}

// check returns the flags of the epilogue for a product that is written to c.
func (e Epilogue[T]) check(op string, c Batch[T]) (post int, err error) {
	if e.Bias.Data != nil {
		post |= kernels.BiasColumn
		n, of := c.Cols, "columns"
		if e.BiasRows {
			post, n, of = kernels.BiasRow, c.Rows, "rows"
		}
		switch {
		case e.Bias.Inc != 1:
			return 0, invalid(op, "the bias", "has an increment of %d; it must be 1", e.Bias.Inc)
		case e.Bias.N != n:
			return 0, invalid(op, "the bias", "has %d elements, but C has %d %s", e.Bias.N, n, of)
		case e.Bias.Data.Len() < n:
			return 0, invalid(op, "the bias", "has %d elements, which do not fit in a buffer of %d", n, e.Bias.Data.Len())
		}
	}
	switch e.Activation {
	case Identity:
	case ReLU:
		post |= kernels.ReLU
	case GELU:
		post |= kernels.GELU
	default:
		return 0, invalid(op, "the activation", "is %d; use Identity, ReLU or GELU", e.Activation)
	}
	if r := e.Residual; r.Data != nil {
		post |= kernels.Residual
		if err := r.check(op, "the residual"); err != nil {
			return 0, err
		}
		if r.Rows != c.Rows || r.Cols != c.Cols || r.Count != c.Count {
			return 0, invalid(op, "the residual", "has %d matrices of %dx%d elements, but C has %d of %dx%d", r.Count, r.Rows, r.Cols, c.Count, c.Rows, c.Cols)
		}
	}
	return post, nil
}

func flagsOf(tA, tB Transpose, quadsA, quadsB, quadsC bool) (flags int) {
	for _, f := range [...]struct {
		set  bool
		flag int
	}{{tA != NoTrans, kernels.TransA}, {tB != NoTrans, kernels.TransB}, {quadsA, kernels.QuadsA}, {quadsB, kernels.QuadsB}, {quadsC, kernels.QuadsC}} {
		if f.set {
			flags |= f.flag
		}
	}
	return flags
}

// maxBlocks is the number of blocks that a grid can have.
const maxBlocks = math.MaxInt32
