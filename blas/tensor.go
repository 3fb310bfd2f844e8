package blas

import (
	"cmp"

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
	return gemmTensor("GemmTensor", s, tA, tB, alpha, a, b, beta, c, e, work)
}

// GemmFloat8 is [GemmTensor] for 8-bit floats, which may be of different types. For matrices
// that are stored with a scale, alpha is the product of the scales.
//
// The error of an element is at most (2k+4) * 2**-13 times the sum of the magnitudes of its
// terms: GPUs of compute capability 8.9 and later may keep only 13 bits after the leading bit
// of the largest term that they add. On random matrices it is far smaller.
func GemmFloat8[A, B kernel.Float8E4M3 | kernel.Float8E5M2](s *gpu.Stream, tA, tB Transpose, alpha float32, a Batch[A], b Batch[B], beta float32, c Batch[float32], e Epilogue[float32], work ...*gpu.Workspace) error {
	return gemmTensor("GemmFloat8", s, tA, tB, alpha, a, b, beta, c, e, work)
}

// gemmTensor is GemmTensor for all types.
func gemmTensor[A, B any](op string, s *gpu.Stream, tA, tB Transpose, alpha float32, a Batch[A], b Batch[B], beta float32, c Batch[float32], e Epilogue[float32], work []*gpu.Workspace) error {
	k, err := checkProduct(op, tA, tB, a, b, c)
	if err != nil {
		return err
	}
	post, err := e.check(op, c)
	if err != nil {
		return err
	}
	x := tensorArguments[A, B, float32]{
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
	x := tensorArguments[T, T, int32]{m: c.Rows, n: c.Cols, k: k, batch: c.Count, tA: tA, tB: tB, alpha: alpha, beta: beta, a: a, b: b, c: c}
	if u := engine.Of(s); u != nil {
		if done, err := x.tryVendor(u, op, s, work); done {
			return wrap(op, err)
		}
	}
	return wrap(op, x.run(s, tensorPlan, work))
}

// tensorArguments is a product on tensor cores.
type tensorArguments[A, B any, C float32 | int32] struct {
	m, n, k, batch   int
	tA, tB           Transpose
	alpha, beta      C
	a                Batch[A]
	b                Batch[B]
	c                Batch[C]
	post, ldr, stepR int
	bias, residual   *gpu.Buffer[float32]
	maps             *gpu.Buffer[kernel.TileMap] // two for each block, if groups multiply
}

// run computes the product as choose says.
func (x tensorArguments[A, B, C]) run(s *gpu.Stream, choose func(d *gpu.Device, m, n, k, batch, size int) tensorChoice, work []*gpu.Workspace) error {
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
	_, isFloat := any(x.c).(Batch[float32])
	if isFloat && isCPU(s) {
		return x.runOnCPU(s, scratch)
	}
	p := choose(s.Device(), x.m, x.n, x.k, x.batch, sizeOf[A]())
	rounds := p.groups && sizeOf[A]() == 4 // groups do not
	a, b := x.a, x.b
	switch {
	case x.k == 0:
		a = Batch[A]{General: General[A]{Data: gpu.Take[A](scratch, 1)}} // not read
		b = Batch[B]{General: General[B]{Data: gpu.Take[B](scratch, 1)}}
		x.a, x.b = a, b
	default:
		switch {
		case x.tA != NoTrans:
			x.a = inChunks[A](scratch, a.Cols, a.Rows, a.Count)
		case rounds || !isInChunks(a):
			x.a = inChunks[A](scratch, a.Rows, a.Cols, a.Count)
		}
		switch {
		case x.tB == NoTrans:
			x.b = inChunks[B](scratch, b.Cols, b.Rows, b.Count)
		case rounds || !isInChunks(b):
			x.b = inChunks[B](scratch, b.Rows, b.Cols, b.Count)
		}
	}
	partial, ldp := x.c, (x.n+3)&^3
	sums, _ := any(&partial).(*Batch[float32])
	if !isFloat {
		p.parts, p.part = 1, max(x.k, 1)
	}
	if p.parts > 1 {
		partial = Batch[C]{General[C]{x.m, x.n, ldp, gpu.Take[C](scratch, x.batch*p.parts*x.m*ldp)}, x.m * ldp, x.batch * p.parts}
	}
	if p.groups {
		x.maps = gpu.Take[kernel.TileMap](scratch, 2*p.blocks(s.Device(), x.batch)*p.parts*x.batch)
	}
	if run, err := scratch.Ready(); !run {
		return err
	}
	if err := arrange(s, x.a, a, x.tA != NoTrans, rounds); err != nil {
		return err
	}
	if err := arrange(s, x.b, b, x.tB == NoTrans, rounds); err != nil {
		return err
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

// arrange copies a factor to where the kernel reads it, if that is elsewhere.
func arrange[T any](s *gpu.Stream, to, from Batch[T], turn, rounds bool) error {
	if to.Data == from.Data {
		return nil
	}
	switch {
	case turn:
		if err := transpose(s, to, from); err != nil {
			return err
		}
		from = to
	case !rounds:
		return copyRows(s, to, from)
	}
	if to, ok := any(to).(Batch[float32]); ok && rounds {
		return roundRows(s, to, any(from).(Batch[float32]))
	}
	return nil
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
	groups      bool // groups of threads multiply, not warps
	tiles       int
	parts, part int // into which the sum over k is divided; elements of k in each
	most        int // of blocks for one matrix, if groups multiply; 0: one for each processor
}

// tensorPlan prefers wide tiles, which need less of shared memory's bandwidth, if there are
// enough of them and the device has the memory; and divides long sums if there are few tiles.
// GPUs of compute capability 9.0 have instructions for groups, which are faster if most
// processors have a tile, and for float32, if it takes less time than to round the factors.
func tensorPlan(d *gpu.Device, m, n, k, batch, size int) tensorChoice {
	processors := max(d.Attributes().Multiprocessors, 1)
	p := tensorChoice{parts: 1, part: max(k, 1)}
	if major, _ := d.ComputeCapability(); major == 9 && (size <= 2 || m*n >= 1024*(m+n)) && d.Attributes().SharedPerBlock >= kernels.GroupShared {
		g := p
		g.groups = true
		if g.divide(d, divideUp(m, kernels.GroupRows)*divideUp(n, kernels.GroupColumns), k, batch, size); 2*g.tiles*g.parts*batch >= processors {
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

// blocks returns the number of blocks for each part of each matrix, if groups multiply. A
// block computes several tiles if there is one matrix.
func (p tensorChoice) blocks(d *gpu.Device, batch int) int {
	if p.parts*batch > 1 {
		return p.tiles
	}
	return min(p.tiles, cmp.Or(p.most, max(d.Attributes().Multiprocessors, 1)))
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
func (x tensorArguments[A, B, C]) launch(s *gpu.Stream, p tensorChoice) error {
	chunk := 16 / sizeOf[A]()
	p.part = divideUp(p.part, chunk)
	x.a.Stride, x.a.Step, x.b.Stride, x.b.Step = x.a.Stride/chunk, x.a.Step/chunk, x.b.Stride/chunk, x.b.Step/chunk
	if p.groups {
		return x.launchGroups(s, p)
	}
	grid := gpu.Linear(p.tiles * p.parts * x.batch * kernels.TensorThreads)
	switch x := any(&x).(type) {
	case *tensorArguments[kernel.Float16, kernel.Float16, float32]:
		launch := kernels.LaunchTensorF16
		if p.wide {
			launch = kernels.LaunchTensorF16Wide
		}
		return launch(s, grid, x.m, x.n, x.k, p.part, x.a.Stride, x.b.Stride, x.c.Stride, x.a.Step, x.b.Step, x.c.Step, x.alpha, x.beta, x.a.Data, x.b.Data, x.c.Data, x.post, x.ldr, x.stepR, x.bias, x.residual)
	case *tensorArguments[kernel.BFloat16, kernel.BFloat16, float32]:
		launch := kernels.LaunchTensorBF16
		if p.wide {
			launch = kernels.LaunchTensorBF16Wide
		}
		return launch(s, grid, x.m, x.n, x.k, p.part, x.a.Stride, x.b.Stride, x.c.Stride, x.a.Step, x.b.Step, x.c.Step, x.alpha, x.beta, x.a.Data, x.b.Data, x.c.Data, x.post, x.ldr, x.stepR, x.bias, x.residual)
	case *tensorArguments[float32, float32, float32]:
		return kernels.LaunchTensorTF32(s, grid, x.m, x.n, x.k, p.part, x.a.Stride, x.b.Stride, x.c.Stride, x.a.Step, x.b.Step, x.c.Step, x.alpha, x.beta, x.a.Data, x.b.Data, x.c.Data, x.post, x.ldr, x.stepR, x.bias, x.residual)
	case *tensorArguments[kernel.Float8E4M3, kernel.Float8E4M3, float32]:
		return launchFloat8(s, grid, p, x)
	case *tensorArguments[kernel.Float8E4M3, kernel.Float8E5M2, float32]:
		return launchFloat8(s, grid, p, x)
	case *tensorArguments[kernel.Float8E5M2, kernel.Float8E4M3, float32]:
		return launchFloat8(s, grid, p, x)
	case *tensorArguments[kernel.Float8E5M2, kernel.Float8E5M2, float32]:
		return launchFloat8(s, grid, p, x)
	case *tensorArguments[int8, int8, int32]:
		if isCPU(s) {
			return launchIntegerCPU(s, x)
		}
		return kernels.LaunchTensorS8(s, grid, x.m, x.n, x.k, p.part, x.a.Stride, x.b.Stride, x.c.Stride, x.a.Step, x.b.Step, x.c.Step, x.alpha, x.beta, x.a.Data, x.b.Data, x.c.Data)
	case *tensorArguments[uint8, uint8, int32]:
		if isCPU(s) {
			return launchIntegerCPU(s, x)
		}
		return kernels.LaunchTensorU8(s, grid, x.m, x.n, x.k, p.part, x.a.Stride, x.b.Stride, x.c.Stride, x.a.Step, x.b.Step, x.c.Step, x.alpha, x.beta, x.a.Data, x.b.Data, x.c.Data)
	}
	panic("unreachable")
}

// launchFloat8 is launch for 8-bit floats, of which the kernels take the bits.
func launchFloat8[A, B kernels.Float8](s *gpu.Stream, grid gpu.Grid, p tensorChoice, x *tensorArguments[A, B, float32]) error {
	return kernels.LaunchTensorFloat8[A, B](s, grid, x.m, x.n, x.k, p.part, x.a.Stride, x.b.Stride, x.c.Stride, x.a.Step, x.b.Step, x.c.Step, x.alpha, x.beta, bitsOf[A, uint8](x.a.Data), bitsOf[B, uint8](x.b.Data), x.c.Data, x.post, x.ldr, x.stepR, x.bias, x.residual)
}

// launchGroups is launch for groups. Strides are in chunks.
func (x tensorArguments[A, B, C]) launchGroups(s *gpu.Stream, p tensorChoice) error {
	grid := gpu.Linear(p.blocks(s.Device(), x.batch) * p.parts * x.batch * kernels.GroupThreads)
	switch x := any(&x).(type) {
	case *tensorArguments[kernel.Float16, kernel.Float16, float32]:
		return launchGroupFloat[kernel.Float16, kernel.Float16, [8]kernel.Float16, [8]kernel.Float16](s, grid, p, x)
	case *tensorArguments[kernel.BFloat16, kernel.BFloat16, float32]:
		return launchGroupFloat[kernel.BFloat16, kernel.BFloat16, [8]kernel.BFloat16, [8]kernel.BFloat16](s, grid, p, x)
	case *tensorArguments[float32, float32, float32]:
		return launchGroupFloat[float32, float32, [4]float32, [4]float32](s, grid, p, x)
	case *tensorArguments[kernel.Float8E4M3, kernel.Float8E4M3, float32]:
		return launchGroupFloat[kernel.Float8E4M3, kernel.Float8E4M3, [16]kernel.Float8E4M3, [16]kernel.Float8E4M3](s, grid, p, x)
	case *tensorArguments[kernel.Float8E4M3, kernel.Float8E5M2, float32]:
		return launchGroupFloat[kernel.Float8E4M3, kernel.Float8E5M2, [16]kernel.Float8E4M3, [16]kernel.Float8E5M2](s, grid, p, x)
	case *tensorArguments[kernel.Float8E5M2, kernel.Float8E4M3, float32]:
		return launchGroupFloat[kernel.Float8E5M2, kernel.Float8E4M3, [16]kernel.Float8E5M2, [16]kernel.Float8E4M3](s, grid, p, x)
	case *tensorArguments[kernel.Float8E5M2, kernel.Float8E5M2, float32]:
		return launchGroupFloat[kernel.Float8E5M2, kernel.Float8E5M2, [16]kernel.Float8E5M2, [16]kernel.Float8E5M2](s, grid, p, x)
	case *tensorArguments[int8, int8, int32]:
		return launchGroupInteger[int8, [16]int8](s, grid, p, x)
	case *tensorArguments[uint8, uint8, int32]:
		return launchGroupInteger[uint8, [16]uint8](s, grid, p, x)
	}
	panic("unreachable")
}

func launchGroupFloat[A, B kernels.GroupFloat, LA, LB kernels.GroupFloatLine](s *gpu.Stream, grid gpu.Grid, p tensorChoice, x *tensorArguments[A, B, float32]) error {
	return kernels.LaunchGroupFloat[A, B, LA, LB](s, grid, p.blocks(s.Device(), x.batch), x.m, x.n, x.k, p.part, x.a.Stride, x.b.Stride, x.c.Stride, x.a.Step, x.b.Step, x.c.Step, x.alpha, x.beta, x.maps, x.a.Data, x.b.Data, x.c.Data, x.post, x.ldr, x.stepR, x.bias, x.residual)
}

func launchGroupInteger[T int8 | uint8, L [16]int8 | [16]uint8](s *gpu.Stream, grid gpu.Grid, p tensorChoice, x *tensorArguments[T, T, int32]) error {
	return kernels.LaunchGroupInteger[T, T, L, L](s, grid, p.blocks(s.Device(), x.batch), x.m, x.n, x.k, p.part, x.a.Stride, x.b.Stride, x.c.Stride, x.a.Step, x.b.Step, x.c.Step, x.alpha, x.beta, x.maps, x.a.Data, x.b.Data, x.c.Data)
}
