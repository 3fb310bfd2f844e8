package blas

import (
	"fmt"

	"quern.dev/blas/internal/kernels"
	"quern.dev/gpu"
)

// MatrixNorm is a norm of a matrix. The values are those of gonum's lapack.MatrixNorm.
type MatrixNorm byte

// The norms of a matrix.
const (
	MaxAbs       MatrixNorm = 'M' // the largest magnitude of an element, which is no consistent norm
	MaxColumnSum MatrixNorm = 'O' // the 1-norm: the largest sum of the magnitudes of a column
	MaxRowSum    MatrixNorm = 'I' // the infinity norm: the largest sum of the magnitudes of a row
	Frobenius    MatrixNorm = 'F' // the square root of the sum of the squares
)

// String returns the name of the constant.
func (n MatrixNorm) String() string {
	switch n {
	case MaxAbs:
		return "MaxAbs"
	case MaxColumnSum:
		return "MaxColumnSum"
	case MaxRowSum:
		return "MaxRowSum"
	case Frobenius:
		return "Frobenius"
	}
	return fmt.Sprintf("MatrixNorm(%d)", byte(n))
}

// Lange writes a norm of A to the first element of out; without elements it is 0. A NaN in A makes
// it NaN. The Frobenius norm neither overflows nor vanishes if T can represent it; that of a part of
// a matrix, whose rows have gaps, takes temporary memory for a copy.
func Lange[T Float](s *gpu.Stream, norm MatrixNorm, a General[T], out *gpu.Buffer[T], work ...*gpu.Workspace) error {
	const op = "Lange"
	if norm != MaxAbs && norm != MaxColumnSum && norm != MaxRowSum && norm != Frobenius {
		return invalid(op, "norm", "is %d; use MaxAbs, MaxColumnSum, MaxRowSum or Frobenius", byte(norm))
	}
	if err := a.check(op, "A"); err != nil {
		return err
	}
	if err := checkOut(op, out); err != nil {
		return err
	}
	if err := checkResult(op, out, "A", a.Data, a.Batch().region()); err != nil {
		return err
	}
	scratch, err := gpu.OpenScratch(s, work)
	if err != nil {
		return wrap(op, err)
	}
	defer scratch.Close()
	if norm == Frobenius {
		return wrap(op, frobenius(s, scratch, a, out))
	}
	// The lines are columns or rows. Their sums, or the largest magnitudes of their parts, are reduced
	// to the largest one.
	r := reduction{lines: a.Rows, n: a.Cols, lineStride: a.Stride, step: 1, largest: norm == MaxAbs}
	if norm == MaxColumnSum {
		r = reduction{lines: a.Cols, n: a.Rows, lineStride: 1, step: a.Stride, neighbors: true}
	}
	r.divide(s)
	values := gpu.Take[T](scratch, r.lines*r.parts)
	partial := values
	if !r.largest && r.parts > 1 {
		values = gpu.Take[T](scratch, r.lines)
	}
	last := reduction{lines: 1, n: values.Len(), step: 1, largest: true}
	last.divide(s)
	next := [2]*gpu.Buffer[T]{gpu.Take[T](scratch, last.parts), gpu.Take[T](scratch, last.parts)}
	if run, err := scratch.Ready(); !run {
		return wrap(op, err)
	}
	if a.Rows == 0 || a.Cols == 0 {
		return wrap(op, gpu.Fill(s, out, 0))
	}
	if err := reduceLines(s, r, a.Data, partial); err != nil {
		return wrap(op, err)
	}
	if values != partial {
		if err := reduceLines(s, r.ofParts(), partial, values); err != nil {
			return wrap(op, err)
		}
	}
	for i := 0; last.parts > 1; i++ {
		if err := reduceLines(s, last, values, next[i%2]); err != nil {
			return wrap(op, err)
		}
		values, last.n = next[i%2], last.parts
		last.divide(s)
	}
	return wrap(op, reduceLines(s, last, values, out))
}

// reduction is a reduction of the magnitudes of lines.
type reduction struct {
	lines, n         int  // lines, and their elements
	lineStride, step int  // between lines, and between the elements of one
	parts            int  // into which a line is divided
	neighbors        bool // the elements of neighboring lines are neighbors
	largest          bool // to the largest one, otherwise to the sum
}

// divide chooses the number of parts. It depends only on the sizes and the kind of device, so
// results do not vary.
func (r *reduction) divide(s *gpu.Stream) {
	threads, least := 1<<16, 64 // that run at once, and elements that are worth a thread
	if isCPU(s) {
		threads, least = 64, 1<<12
	} else if !r.neighbors {
		threads, least = max(threads, kernels.NormParts*r.lines), 4 // neighboring threads of a row
		if r.lines == 1 {
			least = 64
		}
	}
	r.parts = max(1, min(threads/max(r.lines, 1), r.n/least))
}

// ofParts returns the reduction of the parts of each line.
func (r reduction) ofParts() reduction {
	p := reduction{lines: r.lines, n: r.parts, lineStride: r.parts, step: 1, parts: 1, largest: r.largest}
	if r.neighbors {
		p.lineStride, p.step = 1, r.lines
	}
	return p
}

// reduceLines writes the result of each part of each line to to.
func reduceLines[T Float](s *gpu.Stream, r reduction, a, to *gpu.Buffer[T]) error {
	return kernels.LaunchAbsLines(s, gpu.Linear(r.lines*r.parts), r.lines, r.n, r.parts, r.lineStride, r.step, flag(r.neighbors), flag(r.largest), a, to)
}

func flag(set bool) int {
	if set {
		return 1
	}
	return 0
}

// frobenius writes the Euclidean norm of all elements to out.
func frobenius[T Float](s *gpu.Stream, scratch *gpu.Scratch, a General[T], out *gpu.Buffer[T]) error {
	x := Vector[T]{a.Rows * a.Cols, 1, a.Data}
	gaps := a.Rows > 1 && a.Cols > 0 && a.Stride > a.Cols
	if gaps {
		x.Data = gpu.Take[T](scratch, x.N)
	}
	norm := takeEuclidean(s, scratch, x.N)
	if run, err := scratch.Ready(); !run {
		return err
	}
	if gaps {
		// The order of the elements does not matter.
		packed := General[T]{a.Cols, a.Rows, a.Rows, x.Data}
		if err := transpose(s, packed.Batch(), a.Batch()); err != nil {
			return err
		}
	}
	return runEuclidean(s, norm, x, out)
}
