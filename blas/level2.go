package blas

import (
	"quern.dev/blas/internal/kernels"
	"quern.dev/gpu"
)

// Gemv computes y = alpha*op(A)*x + beta*y. If alpha is 0, A and x are not read; if beta is 0,
// y is not read. y must not share elements with A or x.
func Gemv[T Float](s *gpu.Stream, tA Transpose, alpha T, a General[T], x Vector[T], beta T, y Vector[T], work ...*gpu.Workspace) error {
	const op = "Gemv"
	for _, err := range [...]error{tA.check(op, "the transposition of A"), a.check(op, "A"), x.check(op, "x"), y.check(op, "y")} {
		if err != nil {
			return err
		}
	}
	m, n := a.shape(tA)
	switch {
	case x.N != n:
		return invalid(op, "x", "has %d elements, but op(A) has %d columns", x.N, n)
	case y.N != m:
		return invalid(op, "y", "has %d elements, but op(A) has %d rows", y.N, m)
	case overlap(a.Data, a.Batch().region(), y.Data, y.region()):
		return invalid(op, "y", "shares elements with A")
	case overlap(x.Data, x.region(), y.Data, y.region()):
		return invalid(op, "y", "shares elements with x")
	}
	scratch, err := gpu.OpenScratch(s, work)
	if err != nil {
		return wrap(op, err)
	}
	defer scratch.Close()

	// The size of a tile of y, and the elements of x that are worth a part of their own.
	cpu := isCPU(s)
	tile, least := kernels.GemvRows, 2048
	switch {
	case cpu && tA == NoTrans:
		tile, least = kernels.GemvRowsCPU, 1<<20
	case cpu:
		tile, least = kernels.GemvColumnsCPU, 256
	case tA != NoTrans:
		tile, least = kernels.GemvColumns, 128
	}
	tiles, parts := divideUp(m, tile), 1
	if alpha == 0 {
		n = 0
	}
	// The blocks of a GPU run all at once.
	if wanted := 4 * processors(s); tiles > 0 && tiles < wanted {
		parts = max(min(wanted/tiles, n/least), 1)
	}
	part := max(divideUp(divideUp(n, parts), 4)*4, 1)
	parts = max(divideUp(n, part), 1)

	to, incTo, alphaTo, betaTo := y.Data, y.Inc, alpha, beta
	if parts > 1 {
		to, incTo, alphaTo, betaTo = gpu.Take[T](scratch, parts*m), 1, 1, 0
	}
	var packed *gpu.Buffer[T]
	if cpu && tA == NoTrans && x.Inc != 1 && n > 0 {
		packed = gpu.Take[T](scratch, n)
	}
	if run, err := scratch.Ready(); !run {
		return wrap(op, err)
	}
	if m == 0 || alpha == 0 && beta == 1 {
		return nil
	}
	if n == 0 {
		a.Data, a.Stride, x.Data, alpha, alphaTo = y.Data, 0, y.Data, 0, 0 // not read
	}
	quads := 0
	if a.Stride%4 == 0 {
		quads = 1
	}
	if packed != nil {
		if err := kernels.LaunchCopyVector(s, gpu.Linear(n), n, x.Inc, 1, x.Data, packed); err != nil {
			return wrap(op, err)
		}
		x.Data = packed
	}
	switch {
	case cpu && tA == NoTrans:
		err = kernels.LaunchGemvRowsCPU(s, gpu.Linear(tiles*parts), m, n, part, a.Stride, incTo, alphaTo, betaTo, a.Data, x.Data, to)
	case cpu:
		err = kernels.LaunchGemvColumnsCPU(s, gpu.Linear(tiles*parts), n, m, part, a.Stride, x.Inc, incTo, alphaTo, betaTo, a.Data, x.Data, to)
	case tA == NoTrans:
		err = kernels.LaunchGemvRows(s, gpu.Linear(tiles*parts*kernels.GemvThreads), m, n, part, quads, a.Stride, x.Inc, incTo, alphaTo, betaTo, a.Data, x.Data, to)
	default:
		err = kernels.LaunchGemvColumns(s, gpu.Linear(tiles*parts*kernels.GemvThreads), n, m, part, quads, a.Stride, x.Inc, incTo, alphaTo, betaTo, a.Data, x.Data, to)
	}
	if err == nil && parts > 1 {
		err = kernels.LaunchSumVectors(s, gpu.Linear(m), m, parts, y.Inc, alpha, beta, to, y.Data)
	}
	return wrap(op, err)
}

// Ger computes A += alpha*x*yᵀ. A must not share elements with x or y.
func Ger[T Float](s *gpu.Stream, alpha T, x, y Vector[T], a General[T]) error {
	const op = "Ger"
	for _, err := range [...]error{x.check(op, "x"), y.check(op, "y"), a.check(op, "A")} {
		if err != nil {
			return err
		}
	}
	switch {
	case x.N != a.Rows:
		return invalid(op, "x", "has %d elements, but A has %d rows", x.N, a.Rows)
	case y.N != a.Cols:
		return invalid(op, "y", "has %d elements, but A has %d columns", y.N, a.Cols)
	case a.Rows == 0 || a.Cols == 0 || alpha == 0:
		return nil
	case overlap(x.Data, x.region(), a.Data, a.Batch().region()):
		return invalid(op, "A", "shares elements with x")
	case overlap(y.Data, y.region(), a.Data, a.Batch().region()):
		return invalid(op, "A", "shares elements with y")
	}
	return wrap(op, kernels.LaunchGer(s, gpu.Plane(a.Cols, min(a.Rows, gerRows)), a.Rows, a.Cols, a.Stride, x.Inc, y.Inc, alpha, x.Data, y.Data, a.Data))
}

// gerRows is the largest number of rows of a grid for Ger.
const gerRows = 1 << 16

// processors returns the number of multiprocessors, or cores.
func processors(s *gpu.Stream) int { return max(s.Device().Attributes().Multiprocessors, 1) }
