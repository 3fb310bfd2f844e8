package blas

import (
	"quern.dev/blas/internal/kernels"
	"quern.dev/gpu"
)

// Axpy computes y += alpha*x. If alpha is 0, it does nothing. y may be x, but must not share
// elements with it in another order.
func Axpy[T Float](s *gpu.Stream, alpha T, x, y Vector[T]) error {
	const op = "Axpy"
	if err := checkVectors(op, x, y); err != nil || x.N == 0 || alpha == 0 {
		return err
	}
	if err := checkApart(op, x, y, true); err != nil {
		return err
	}
	if isCPU(s) && x.Inc == 1 && y.Inc == 1 {
		return wrap(op, kernels.LaunchAxpyCPU(s, gpu.Linear(divideUp(x.N, kernels.AxpyChunk)), x.N, alpha, x.Data, y.Data))
	}
	return wrap(op, kernels.LaunchAxpy(s, gpu.Linear(x.N), x.N, x.Inc, y.Inc, alpha, x.Data, y.Data))
}

// Scal computes x *= alpha. If alpha is 0, every element becomes 0, even NaN.
func Scal[T Float](s *gpu.Stream, alpha T, x Vector[T]) error {
	const op = "Scal"
	if err := x.check(op, "x"); err != nil || x.N == 0 {
		return err
	}
	return wrap(op, kernels.LaunchScal(s, gpu.Linear(x.N), x.N, x.Inc, alpha, x.Data))
}

// Copy computes y = x. The vectors must not share elements.
func Copy[T Float](s *gpu.Stream, x, y Vector[T]) error {
	const op = "Copy"
	if err := checkVectors(op, x, y); err != nil || x.N == 0 {
		return err
	}
	if err := checkApart(op, x, y, true); err != nil {
		return err
	}
	return wrap(op, kernels.LaunchCopyVector(s, gpu.Linear(x.N), x.N, x.Inc, y.Inc, x.Data, y.Data))
}

// Swap exchanges x and y, which must not share elements.
func Swap[T Float](s *gpu.Stream, x, y Vector[T]) error {
	const op = "Swap"
	if err := checkVectors(op, x, y); err != nil || x.N == 0 {
		return err
	}
	if err := checkApart(op, x, y, true); err != nil {
		return err
	}
	return wrap(op, kernels.LaunchSwap(s, gpu.Linear(x.N), x.N, x.Inc, y.Inc, x.Data, y.Data))
}

// Rot rotates the points (x[i], y[i]): x, y = cos*x + sin*y, cos*y - sin*x. The
// vectors must not share elements.
func Rot[T Float](s *gpu.Stream, x, y Vector[T], cos, sin T) error {
	const op = "Rot"
	if err := checkVectors(op, x, y); err != nil || x.N == 0 {
		return err
	}
	if err := checkApart(op, x, y, false); err != nil {
		return err
	}
	return wrap(op, kernels.LaunchRot(s, gpu.Linear(x.N), x.N, x.Inc, y.Inc, cos, sin, x.Data, y.Data))
}

// Dot writes the sum of x[i]*y[i] to the first element of out; without elements it is 0.
func Dot[T Float](s *gpu.Stream, x, y Vector[T], out *gpu.Buffer[T], work ...*gpu.Workspace) error {
	const op = "Dot"
	if err := checkVectors(op, x, y); err != nil {
		return err
	}
	if err := checkOut(op, out); err != nil {
		return err
	}
	if err := checkResult(op, out, "x", x.Data, x.region()); err != nil {
		return err
	}
	if err := checkResult(op, out, "y", y.Data, y.region()); err != nil {
		return err
	}
	scratch, err := gpu.OpenScratch(s, work)
	if err != nil {
		return wrap(op, err)
	}
	defer scratch.Close()
	blocks, chunk := chunks(s, x.N)
	partial := out
	if blocks > 1 {
		partial = gpu.Take[T](scratch, blocks)
	}
	if run, err := scratch.Ready(); !run {
		return wrap(op, err)
	}
	switch {
	case x.N == 0:
		return wrap(op, gpu.Fill(s, out, 0))
	case isCPU(s):
		err = kernels.LaunchDotCPU(s, gpu.Linear(blocks), x.N, chunk, x.Inc, y.Inc, x.Data, y.Data, partial)
	default:
		err = kernels.LaunchDot(s, reduceGrid(blocks), x.N, chunk, x.Inc, y.Inc, x.Data, y.Data, partial)
	}
	if err == nil && blocks > 1 {
		err = kernels.LaunchSum(s, reduceGrid(1), blocks, partial, out)
	}
	return wrap(op, err)
}

// Asum writes the sum of |x[i]| to the first element of out; without elements it is 0.
func Asum[T Float](s *gpu.Stream, x Vector[T], out *gpu.Buffer[T], work ...*gpu.Workspace) error {
	const op = "Asum"
	if err := x.check(op, "x"); err != nil {
		return err
	}
	if err := checkOut(op, out); err != nil {
		return err
	}
	if err := checkResult(op, out, "x", x.Data, x.region()); err != nil {
		return err
	}
	scratch, err := gpu.OpenScratch(s, work)
	if err != nil {
		return wrap(op, err)
	}
	defer scratch.Close()
	blocks, chunk := chunks(s, x.N)
	partial := out
	if blocks > 1 {
		partial = gpu.Take[T](scratch, blocks)
	}
	if run, err := scratch.Ready(); !run {
		return wrap(op, err)
	}
	switch {
	case x.N == 0:
		return wrap(op, gpu.Fill(s, out, 0))
	case isCPU(s):
		err = kernels.LaunchAsumCPU(s, gpu.Linear(blocks), x.N, chunk, x.Inc, x.Data, partial)
	default:
		err = kernels.LaunchAsum(s, reduceGrid(blocks), x.N, chunk, x.Inc, x.Data, partial)
	}
	if err == nil && blocks > 1 {
		err = kernels.LaunchSum(s, reduceGrid(1), blocks, partial, out)
	}
	return wrap(op, err)
}

// Nrm2 writes the Euclidean norm of x to the first element of out; without elements it is 0.
// Squares neither overflow nor vanish: the result is correct whenever T can represent it.
func Nrm2[T Float](s *gpu.Stream, x Vector[T], out *gpu.Buffer[T], work ...*gpu.Workspace) error {
	const op = "Nrm2"
	if err := x.check(op, "x"); err != nil {
		return err
	}
	if err := checkOut(op, out); err != nil {
		return err
	}
	if err := checkResult(op, out, "x", x.Data, x.region()); err != nil {
		return err
	}
	scratch, err := gpu.OpenScratch(s, work)
	if err != nil {
		return wrap(op, err)
	}
	defer scratch.Close()
	norm := takeEuclidean(s, scratch, x.N)
	if run, err := scratch.Ready(); !run {
		return wrap(op, err)
	}
	return wrap(op, runEuclidean(s, norm, x, out))
}

// euclidean is the computation of a Euclidean norm.
type euclidean struct {
	blocks, chunk int
	partial       *gpu.Buffer[kernels.Squares]
}

func takeEuclidean(s *gpu.Stream, scratch *gpu.Scratch, n int) (e euclidean) {
	e.blocks, e.chunk = chunks(s, n)
	e.partial = gpu.Take[kernels.Squares](scratch, e.blocks)
	return e
}

func runEuclidean[T Float](s *gpu.Stream, e euclidean, x Vector[T], out *gpu.Buffer[T]) error {
	switch {
	case x.N == 0:
		return gpu.Fill(s, out, 0)
	case isCPU(s):
		if err := kernels.LaunchSquaresCPU(s, gpu.Linear(e.blocks), x.N, e.chunk, x.Inc, x.Data, e.partial); err != nil {
			return err
		}
		return kernels.LaunchNormCPU(s, gpu.Linear(1), e.blocks, e.partial, out)
	}
	if err := kernels.LaunchSquares(s, reduceGrid(e.blocks), x.N, e.chunk, x.Inc, x.Data, e.partial); err != nil {
		return err
	}
	return kernels.LaunchNorm(s, reduceGrid(1), e.blocks, e.partial, out)
}

// Iamax writes the index of the element with the largest magnitude to the first element of
// out: the lowest one of several, or -1 without elements. A NaN is larger than every number.
func Iamax[T Float](s *gpu.Stream, x Vector[T], out *gpu.Buffer[int], work ...*gpu.Workspace) error {
	const op = "Iamax"
	if err := x.check(op, "x"); err != nil {
		return err
	}
	if err := checkOut(op, out); err != nil {
		return err
	}
	if err := checkResult(op, out, "x", x.Data, x.region()); err != nil {
		return err
	}
	scratch, err := gpu.OpenScratch(s, work)
	if err != nil {
		return wrap(op, err)
	}
	defer scratch.Close()
	blocks, chunk := chunks(s, x.N)
	partial := gpu.Take[kernels.Largest[T]](scratch, blocks)
	if run, err := scratch.Ready(); !run {
		return wrap(op, err)
	}
	switch {
	case x.N == 0:
		return wrap(op, gpu.Fill(s, out, -1))
	case isCPU(s):
		err = kernels.LaunchLargestCPU(s, gpu.Linear(blocks), x.N, chunk, x.Inc, x.Data, partial)
		if err == nil {
			err = kernels.LaunchLargestOfCPU(s, gpu.Linear(1), blocks, partial, out)
		}
	default:
		err = kernels.LaunchLargest(s, reduceGrid(blocks), x.N, chunk, x.Inc, x.Data, partial)
		if err == nil {
			err = kernels.LaunchLargestOf(s, reduceGrid(1), blocks, partial, out)
		}
	}
	return wrap(op, err)
}

// chunks returns into how many parts a sum over n elements is divided, and the elements of
// each. They depend only on n and the kind of device, so results do not vary.
func chunks(s *gpu.Stream, n int) (blocks, chunk int) {
	least := kernels.ReduceChunk
	if isCPU(s) {
		least *= 4 // a block is one thread, and a launch wakes the others
	}
	chunk = max(least, divideUp(divideUp(n, kernels.ReduceBlocks), 4)*4)
	return divideUp(n, chunk), chunk
}

func reduceGrid(blocks int) gpu.Grid { return gpu.Linear(blocks * kernels.ReduceThreads) }

func isCPU(s *gpu.Stream) bool { return s.Device().Backend() == gpu.CPU }

// checkOut returns an error unless out has room for a result.
func checkOut[T any](op string, out *gpu.Buffer[T]) error {
	if out == nil {
		return invalid(op, "out", "is nil; it receives the result")
	}
	if out.Len() == 0 {
		return invalid(op, "out", "has no elements; it receives the result")
	}
	return nil
}

// checkResult returns an error if the first element of out, which is written, is in an operand.
func checkResult[A, B any](op string, out *gpu.Buffer[A], arg string, x *gpu.Buffer[B], elements region) error {
	size := sizeOf[A]()
	if overlap(x, elements, out, region{1, size, size, 1, 0}) {
		return invalid(op, "out", "shares elements with %s", arg)
	}
	return nil
}
