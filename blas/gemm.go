package blas

import (
	"cmp"
	"math"

	"quern.dev/blas/internal/kernels"
	"quern.dev/gpu"
	"quern.dev/internal/engine"
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
	return product("Gemm", s, tA, tB, alpha, a.Batch(), b.Batch(), beta, c.Batch(), Epilogue[T]{}, work)
}

// GemmEpilogue is [Gemm] with an epilogue.
func GemmEpilogue[T Float](s *gpu.Stream, tA, tB Transpose, alpha T, a, b General[T], beta T, c General[T], e Epilogue[T], work ...*gpu.Workspace) error {
	e.Residual.Count = 1
	return product("GemmEpilogue", s, tA, tB, alpha, a.Batch(), b.Batch(), beta, c.Batch(), e, work)
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
	x := gemmArguments[T]{
		m: c.Rows, n: c.Cols, k: k, batch: c.Count,
		flags: flagsOf(tA, tB, a.quads(), b.quads(), c.quads()),
		lda:   a.Stride, ldb: b.Stride, ldc: c.Stride,
		stepA: a.Step, stepB: b.Step, stepC: c.Step,
		alpha: alpha, beta: beta, a: a.Data, b: b.Data, c: c.Data,
		post: post, ldr: e.Residual.Stride, stepR: e.Residual.Step, bias: e.Bias.Data, residual: e.Residual.Data,
	}
	if u := engine.Of(s); u != nil {
		if done, err := x.tryVendor(u, op, s, work); done {
			return wrap(op, err)
		}
	}
	return wrap(op, x.run(s, plan[T], work))
}

// run computes a product with the kernel and the number of parts that choose returns.
func (x gemmArguments[T]) run(s *gpu.Stream, choose func(d *gpu.Device, m, n, k, batch, flags, mostParts int) gemmPlan[T], work []*gpu.Workspace) error {
	scratch, err := gpu.OpenScratch(s, work)
	if err != nil {
		return err
	}
	defer scratch.Close()
	if x.alpha == 0 || x.k == 0 {
		x.alpha, x.k = 0, 0
		x.a, x.b = x.c, x.c // not read
	}
	if x.m == 0 || x.n == 0 || x.batch == 0 || x.alpha == 0 && x.beta == 1 && x.post == 0 {
		_, err := scratch.Ready()
		return err
	}
	x.bias, x.residual = cmp.Or(x.bias, x.c), cmp.Or(x.residual, x.c) // c: not read
	p := choose(s.Device(), x.m, x.n, x.k, x.batch, x.flags, math.MaxInt)
	if p.parts == 1 {
		if run, err := scratch.Ready(); !run {
			return err
		}
		return p.launch(s, x, x.c)
	}
	if g := gemmTiles[p.kernel]; g.packed {
		divided := p.tiles - p.whole
		partial := gpu.Take[T](scratch, divided*p.parts*g.rows*g.cols)
		if run, err := scratch.Ready(); !run {
			return err
		}
		if err := p.launch(s, x, partial); err != nil {
			return err
		}
		return kernels.LaunchSumTiles(s, gpu.Linear(divided*g.rows*g.cols/4), x.m, x.n, p.whole, divided, p.parts, g.rows, g.cols, x.flags, x.offC, x.ldc, x.stepC,
			x.alpha, x.beta, x.c, x.post, x.ldr, x.stepR, x.bias, x.residual, partial)
	}
	parts := x
	parts.ldc = (x.n + 3) &^ 3
	parts.offC, parts.stepC, parts.flags = 0, x.m*parts.ldc, x.flags|kernels.QuadsC
	parts.alpha, parts.beta, parts.post = 1, 0, 0
	parts.c = gpu.Take[T](scratch, x.batch*p.parts*parts.stepC)
	if run, err := scratch.Ready(); !run {
		return err
	}
	if err := p.launch(s, parts, nil); err != nil {
		return err
	}
	return kernels.LaunchSumParts(s, gpu.Linear(x.batch*x.m*parts.ldc/4), x.m, x.n, p.parts, x.batch, x.flags, parts.ldc, x.offC, x.ldc, x.stepC,
		x.alpha, x.beta, parts.c, x.c, x.post, x.ldr, x.stepR, x.bias, x.residual)
}

// checkProduct returns the number of elements that each element of C is the sum of.
func checkProduct[A, B, C any](op string, tA, tB Transpose, a Batch[A], b Batch[B], c Batch[C]) (k int, err error) {
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
	case overlap(a.Data, a.region(), c.Data, c.region()):
		return 0, invalid(op, "C", "shares elements with A")
	case overlap(b.Data, b.region(), c.Data, c.region()):
		return 0, invalid(op, "C", "shares elements with B")
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
		case overlap(e.Bias.Data, e.Bias.region(), c.Data, c.region()):
			return 0, invalid(op, "the bias", "shares elements with C")
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
		if distance, ok := gpu.Distance(r.Data, c.Data); ok && (distance != 0 || r.Stride != c.Stride || r.Step != c.Step && r.Count > 1) && overlap(r.Data, r.region(), c.Data, c.region()) {
			return 0, invalid(op, "the residual", "shares elements with C, but is not C")
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
