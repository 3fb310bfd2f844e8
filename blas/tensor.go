package blas

import (
	"cmp"
	"math"

	"quern.dev/blas/internal/kernels"
	"quern.dev/gpu"
	"quern.dev/internal/engine"
	"quern.dev/kernel"
)

// TensorElement is the element types of the factors of [GemmTensor].
type TensorElement interface {
	kernel.Float16 | kernel.BFloat16 | float32
}

// GemmTensor is [GemmBatched] on tensor cores: C[i] = alpha*op(A[i])*op(B[i]) + beta*C[i], then
// the epilogue. The elements of C and the sums are float32. Factors of float32 are rounded to
// the TF32 format, which has 11 significant bits; [Gemm] does not do that.
//
// The error of an element is at most (2k+4) * 2**-23 times the sum of the magnitudes of its
// terms. A GPU needs compute capability 8.0.
//
// A is read fastest as it is, and B transposed: then the elements that are multiplied are
// adjacent. Otherwise the factor is copied to temporary memory first.
func GemmTensor[T TensorElement](s *gpu.Stream, tA, tB Transpose, alpha float32, a, b Batch[T], beta float32, c Batch[float32], e Epilogue[float32], work ...*gpu.Workspace) error {
	const op = "GemmTensor"
	k, err := checkProduct(op, tA, tB, a, b, c)
	if err != nil {
		return err
	}
	post, err := e.check(op, c)
	if err != nil {
		return err
	}
	x := tensorArguments[T, float32]{
		m: c.Rows, n: c.Cols, k: k, batch: c.Count, tA: tA, tB: tB, alpha: alpha, beta: beta, a: a, b: b, c: c,
		post: post, ldr: e.Residual.Stride, stepR: e.Residual.Step, bias: cmp.Or(e.Bias.Data, c.Data), residual: cmp.Or(e.Residual.Data, c.Data),
	}
	if u := engine.Of(s); u != nil {
		if done, err := x.tryVendor(u, op, s, work); done {
			return wrap(op, err)
		}
	}
	return wrap(op, x.run(s, tensorPlan, work))
}

// GemmInteger is [GemmTensor] for integers of 8 bits with sums of 32 bits, which wrap around.
func GemmInteger[T int8 | uint8](s *gpu.Stream, tA, tB Transpose, alpha int32, a, b Batch[T], beta int32, c Batch[int32], work ...*gpu.Workspace) error {
	const op = "GemmInteger"
	k, err := checkProduct(op, tA, tB, a, b, c)
	if err != nil {
		return err
	}
	x := tensorArguments[T, int32]{m: c.Rows, n: c.Cols, k: k, batch: c.Count, tA: tA, tB: tB, alpha: alpha, beta: beta, a: a, b: b, c: c}
	if u := engine.Of(s); u != nil {
		if done, err := x.tryVendor(u, op, s, work); done {
			return wrap(op, err)
		}
	}
	return wrap(op, x.run(s, tensorPlan, work))
}

// tensorArguments is a product on tensor cores.
type tensorArguments[T any, C float32 | int32] struct {
	m, n, k, batch   int
	tA, tB           Transpose
	alpha, beta      C
	a, b             Batch[T]
	c                Batch[C]
	post, ldr, stepR int
	bias, residual   *gpu.Buffer[float32]
}

// run computes the product as choose says.
func (x tensorArguments[T, C]) run(s *gpu.Stream, choose func(d *gpu.Device, m, n, k, batch, size int) tensorChoice, work []*gpu.Workspace) error {
	scratch, err := gpu.OpenScratch(s, work)
	if err != nil {
		return err
	}
	defer scratch.Close()
	if x.alpha == 0 || x.k == 0 {
		x.alpha, x.k = 0, 0
	}
	if x.m == 0 || x.n == 0 || x.batch == 0 || x.alpha == 0 && x.beta == 1 && x.post == 0 {
		_, err := scratch.Ready()
		return err
	}
	p := choose(s.Device(), x.m, x.n, x.k, x.batch, sizeOf[T]())
	rounds := p.groups > 0 && sizeOf[T]() == 4 // groups do not
	a, b := x.a, x.b
	switch {
	case x.k == 0:
		none := Batch[T]{General: General[T]{Data: gpu.Take[T](scratch, 1)}} // not read
		a, b, x.a, x.b = none, none, none, none
	default:
		switch {
		case x.tA != NoTrans:
			x.a = inChunks[T](scratch, a.Cols, a.Rows, a.Count)
		case rounds || !isInChunks(a):
			x.a = inChunks[T](scratch, a.Rows, a.Cols, a.Count)
		}
		switch {
		case x.tB == NoTrans:
			x.b = inChunks[T](scratch, b.Cols, b.Rows, b.Count)
		case rounds || !isInChunks(b):
			x.b = inChunks[T](scratch, b.Rows, b.Cols, b.Count)
		}
	}
	partial, ldp := x.c, (x.n+3)&^3
	sums, isFloat := any(&partial).(*Batch[float32])
	if !isFloat {
		p.parts, p.part = 1, max(x.k, 1)
	}
	if p.parts > 1 {
		partial = Batch[C]{General[C]{x.m, x.n, ldp, gpu.Take[C](scratch, x.batch*p.parts*x.m*ldp)}, x.m * ldp, x.batch * p.parts}
	}
	if run, err := scratch.Ready(); !run {
		return err
	}
	for _, f := range [...]struct {
		to, from Batch[T]
		turn     bool
	}{{x.a, a, x.tA != NoTrans}, {x.b, b, x.tB == NoTrans}} {
		if f.to.Data == f.from.Data {
			continue
		}
		switch {
		case f.turn:
			err = transpose(s, f.to, f.from)
			f.from = f.to
		case !rounds:
			err = copyRows(s, f.to, f.from)
		}
		if to, ok := any(f.to).(Batch[float32]); ok && rounds && err == nil {
			err = roundRows(s, to, any(f.from).(Batch[float32]))
		}
		if err != nil {
			return err
		}
	}
	if p.parts == 1 {
		return x.launch(s, p)
	}
	y := x
	y.c, y.alpha, y.beta, y.post = partial, 1, 0, 0
	if err := y.launch(s, p); err != nil {
		return err
	}
	c := any(&x.c).(*Batch[float32])
	return kernels.LaunchSumParts(s, gpu.Linear(x.batch*x.m*x.n), x.m, x.n, p.parts, x.batch, 0, ldp, 0, c.Stride, c.Step,
		float32(x.alpha), float32(x.beta), sums.Data, c.Data, x.post, x.ldr, x.stepR, x.bias, x.residual)
}

// inChunks returns temporary memory for a batch of matrices in chunks.
func inChunks[T any](scratch *gpu.Scratch, rows, cols, count int) Batch[T] {
	chunk := 16 / sizeOf[T]()
	stride := divideUp(cols, chunk) * chunk
	return Batch[T]{General[T]{rows, cols, stride, gpu.Take[T](scratch, rows*stride*count)}, rows * stride, count}
}

// isInChunks reports whether the rows of a batch start at multiples of 16 bytes from the first.
func isInChunks[T any](m Batch[T]) bool {
	chunk := 16 / sizeOf[T]()
	return m.Stride%chunk == 0 && m.Step%chunk == 0
}

// copyRows copies matrices, so that rows begin elsewhere.
func copyRows[T any](s *gpu.Stream, dst, src Batch[T]) error {
	switch sizeOf[T]() {
	case 1:
		return copyRowsBits[T, uint8](s, dst, src)
	case 2:
		return copyRowsBits[T, uint16](s, dst, src)
	default:
		return copyRowsBits[T, uint32](s, dst, src)
	}
}

func copyRowsBits[T any, B kernels.Moved](s *gpu.Stream, dst, src Batch[T]) error {
	return kernels.LaunchCopyRows(s, gpu.Linear(src.Count*src.Rows*src.Cols), src.Rows, src.Cols, src.Stride, dst.Stride, src.Step, dst.Step, src.Count, bitsOf[T, B](src.Data), bitsOf[T, B](dst.Data))
}

// roundRows is copyRows with rounding to the TF32 format. src may be dst.
func roundRows(s *gpu.Stream, dst, src Batch[float32]) error {
	return kernels.LaunchRoundRows(s, gpu.Linear(src.Count*src.Rows*src.Cols), src.Rows, src.Cols, src.Stride, dst.Stride, src.Step, dst.Step, src.Count, src.Data, dst.Data)
}

// tensorChoice says how a product on tensor cores is computed.
type tensorChoice struct {
	wide        bool // a block has twice as many columns
	groups      int  // of threads in a block that multiply; 0: warps multiply
	tiles       int
	parts, part int // into which the sum over k is divided; elements of k in each
}

// tensorPlan prefers wide tiles, which need less of shared memory's bandwidth, if there are
// enough of them and the device has the memory; and divides long sums if there are few tiles.
// GPUs of compute capability 9.0 have instructions for groups, which are faster if most
// processors have a tile, and for float32, if it takes less time than to round the factors.
func tensorPlan(d *gpu.Device, m, n, k, batch, size int) tensorChoice {
	processors := max(d.Attributes().Multiprocessors, 1)
	p := tensorChoice{parts: 1, part: max(k, 1)}
	if major, _ := d.ComputeCapability(); major == 9 && (size <= 2 || m*n >= 1024*(m+n)) && d.Attributes().SharedPerBlock >= kernels.GroupTallShared {
		if g := groupPlan(d, m, n, k, batch, size); 2*g.tiles*g.parts*batch >= processors {
			return g
		}
	}
	rows := divideUp(m, kernels.TensorRows)
	if wide := rows * divideUp(n, 2*kernels.TensorRows); size == 2 && wide*batch >= processors && d.Attributes().SharedPerBlock >= kernels.TensorWideShared {
		p.wide, p.tiles = true, wide
		return p
	}
	p.divide(d, rows*divideUp(n, kernels.TensorRows), k, batch, size)
	return p
}

// groupPlan chooses the number of groups. A block of three takes less time for its rows, because
// the caches limit a block of two, but the last blocks leave more processors idle.
func groupPlan(d *gpu.Device, m, n, k, batch, size int) tensorChoice {
	var best tensorChoice
	least := math.Inf(1)
	for i, speed := range [...]float64{1, 1.25} {
		groups := 2 + i
		p := tensorChoice{groups: groups, parts: 1, part: max(k, 1)}
		p.divide(d, divideUp(m, groups*64)*divideUp(n, kernels.GroupColumns), k, batch, size)
		waves := divideUp(p.tiles*p.parts*batch, max(d.Attributes().Multiprocessors, 1))
		if time := float64(waves*groups*p.part) / speed; time < least {
			best, least = p, time
		}
	}
	return best
}

// divide divides the sum over k if there are fewer tiles than processors.
func (p *tensorChoice) divide(d *gpu.Device, tiles, k, batch, size int) {
	p.tiles = tiles
	step := 128 / size // elements of k that a block reads at a time
	if most := min(max(d.Attributes().Multiprocessors, 1)/(tiles*batch), k/(8*step)); most > 1 && d.Backend() != gpu.CPU {
		p.part = divideUp(divideUp(k, most), step) * step
		p.parts = divideUp(k, p.part)
	}
}

// launch adds the kernel to the stream.
func (x tensorArguments[T, C]) launch(s *gpu.Stream, p tensorChoice) error {
	chunk := 16 / sizeOf[T]()
	p.part = divideUp(p.part, chunk)
	x.a.Stride, x.a.Step, x.b.Stride, x.b.Step = x.a.Stride/chunk, x.a.Step/chunk, x.b.Stride/chunk, x.b.Step/chunk
	threads := kernels.TensorThreads
	if p.groups > 0 {
		threads = p.groups * 128
	}
	grid := gpu.Linear(p.tiles * p.parts * x.batch * threads)
	switch x := any(&x).(type) {
	case *tensorArguments[kernel.Float16, float32]:
		launch := kernels.LaunchTensorF16
		switch {
		case p.groups == 2:
			launch = kernels.LaunchGroupF16
		case p.groups == 3:
			launch = kernels.LaunchGroupF16Tall
		case p.wide:
			launch = kernels.LaunchTensorF16Wide
		}
		return launch(s, grid, x.m, x.n, x.k, p.part, x.a.Stride, x.b.Stride, x.c.Stride, x.a.Step, x.b.Step, x.c.Step, x.alpha, x.beta, x.a.Data, x.b.Data, x.c.Data, x.post, x.ldr, x.stepR, x.bias, x.residual)
	case *tensorArguments[kernel.BFloat16, float32]:
		launch := kernels.LaunchTensorBF16
		switch {
		case p.groups == 2:
			launch = kernels.LaunchGroupBF16
		case p.groups == 3:
			launch = kernels.LaunchGroupBF16Tall
		case p.wide:
			launch = kernels.LaunchTensorBF16Wide
		}
		return launch(s, grid, x.m, x.n, x.k, p.part, x.a.Stride, x.b.Stride, x.c.Stride, x.a.Step, x.b.Step, x.c.Step, x.alpha, x.beta, x.a.Data, x.b.Data, x.c.Data, x.post, x.ldr, x.stepR, x.bias, x.residual)
	case *tensorArguments[float32, float32]:
		launch := kernels.LaunchTensorTF32
		switch p.groups {
		case 2:
			launch = kernels.LaunchGroupTF32
		case 3:
			launch = kernels.LaunchGroupTF32Tall
		}
		return launch(s, grid, x.m, x.n, x.k, p.part, x.a.Stride, x.b.Stride, x.c.Stride, x.a.Step, x.b.Step, x.c.Step, x.alpha, x.beta, x.a.Data, x.b.Data, x.c.Data, x.post, x.ldr, x.stepR, x.bias, x.residual)
	case *tensorArguments[int8, int32]:
		launch := kernels.LaunchTensorS8
		switch p.groups {
		case 2:
			launch = kernels.LaunchGroupS8
		case 3:
			launch = kernels.LaunchGroupS8Tall
		}
		return launch(s, grid, x.m, x.n, x.k, p.part, x.a.Stride, x.b.Stride, x.c.Stride, x.a.Step, x.b.Step, x.c.Step, x.alpha, x.beta, x.a.Data, x.b.Data, x.c.Data)
	case *tensorArguments[uint8, int32]:
		launch := kernels.LaunchTensorU8
		switch p.groups {
		case 2:
			launch = kernels.LaunchGroupU8
		case 3:
			launch = kernels.LaunchGroupU8Tall
		}
		return launch(s, grid, x.m, x.n, x.k, p.part, x.a.Stride, x.b.Stride, x.c.Stride, x.a.Step, x.b.Step, x.c.Step, x.alpha, x.beta, x.a.Data, x.b.Data, x.c.Data)
	}
	panic("unreachable")
}
