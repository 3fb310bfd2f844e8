package sparse

import (
	"errors"
	"math"

	"quern.dev/gpu"
	"quern.dev/kernel"
)

// ELL is a matrix whose rows have the same number of places for entries (ELLPACK).
// Entry k of row i is element k*Rows+i of Index and Value, so neighboring threads read
// neighboring elements. The column of a place without an entry is -1, and no entry
// follows it. ELL suits matrices whose rows have about the same length.
type ELL[T Float] struct {
	Rows, Cols, Width int
	Index             *gpu.Buffer[int32]
	Value             *gpu.Buffer[T]
}

// AllocELL allocates a matrix, whose contents are undefined. The caller closes it.
func AllocELL[T Float](d *gpu.Device, rows, cols, width int) (ELL[T], error) {
	const op = "AllocELL"
	a := ELL[T]{Rows: rows, Cols: cols, Width: width}
	if rows < 0 || cols < 0 || width < 0 || rows > 0 && width > math.MaxInt32/rows {
		return a, invalid(op, "sizes", "are %d x %d with a width of %d; they must not be negative, and rows times width is at most 2^31-1", rows, cols, width)
	}
	var errs [2]error
	a.Index, errs[0] = gpu.Alloc[int32](d, rows*width)
	a.Value, errs[1] = gpu.Alloc[T](d, rows*width)
	if err := errors.Join(errs[:]...); err != nil {
		a.Close()
		return ELL[T]{}, failed(op, err)
	}
	return a, nil
}

// Close closes the buffers.
func (a ELL[T]) Close() error { return errors.Join(a.Index.Close(), a.Value.Close()) }

func (a ELL[T]) check(op, arg string) error {
	switch {
	case a.Rows < 0 || a.Cols < 0 || a.Width < 0 || a.Cols > math.MaxInt32-1 || a.Rows > 0 && a.Width > math.MaxInt32/a.Rows:
		return invalid(op, arg, "is %d x %d with a width of %d; sizes must not be negative, and rows times width is at most 2^31-1", a.Rows, a.Cols, a.Width)
	case a.Index == nil || a.Value == nil:
		return invalid(op, arg, "has a buffer that is nil")
	case a.Index.Len() != a.Rows*a.Width || a.Value.Len() != a.Rows*a.Width:
		return invalid(op, arg, "has %d indices and %d values; there must be %d rows of %d", a.Index.Len(), a.Value.Len(), a.Rows, a.Width)
	}
	return nil
}

//quern:kernel instantiate=float32,float64
func toELL[T Float](t kernel.Thread, rows, width int, start, indexIn []int32, valueIn []T, index []int32, value []T) {
	row := t.Global()
	if row >= rows || row+1 >= len(start) {
		return
	}
	first := int(start[row])
	n := int(start[row+1]) - first
	kernel.Assert(n <= width, "a row has more entries than the ELL matrix has places")
	for k := range width {
		j, v := int32(-1), T(0)
		if k < n {
			j, v = indexIn[first+k], valueIn[first+k]
		}
		index[k*rows+row], value[k*rows+row] = j, v
	}
}

//quern:kernel instantiate=float32,float64
func mulELL[T Float](t kernel.Thread, width int, alpha, beta T, index []int32, value, x, y []T) {
	row := t.Global()
	if row >= len(y) {
		return
	}
	sum := T(0)
	for k := range width {
		j := index[k*len(y)+row]
		if j < 0 {
			break
		}
		sum += value[k*len(y)+row] * x[j]
	}
	y[row] = scaled(alpha, sum, beta, &y[row])
}

// CSRToELL writes src to the buffers of dst, which has the same number of rows and
// columns. If src.Longest is known, it is at most dst.Width; otherwise a longer row
// stops the kernel, and the next wait returns a [gpu.KernelError].
func CSRToELL[T Float](s *gpu.Stream, dst ELL[T], src CSR[T]) error {
	const op = "CSRToELL"
	if err := dst.check(op, "dst"); err != nil {
		return err
	}
	if err := src.check(op, "src"); err != nil {
		return err
	}
	if dst.Rows != src.Rows || dst.Cols != src.Cols {
		return invalid(op, "dst", "is %d x %d, but src is %d x %d", dst.Rows, dst.Cols, src.Rows, src.Cols)
	}
	if src.Longest > dst.Width {
		return invalid(op, "dst", "has a width of %d, but src has a row of %d entries", dst.Width, src.Longest)
	}
	if dst.Rows == 0 {
		return nil
	}
	return failed(op, LaunchToELL(s, gpu.Linear(dst.Rows), dst.Rows, dst.Width, src.Start, src.Index, src.Value, dst.Index, dst.Value))
}

// MulVecELL computes y = alpha*a*x + beta*y. If beta is 0, y is not read. x and y must
// not overlap.
func MulVecELL[T Float](s *gpu.Stream, alpha T, a ELL[T], x *gpu.Buffer[T], beta T, y *gpu.Buffer[T]) error {
	const op = "MulVecELL"
	if err := a.check(op, "a"); err != nil {
		return err
	}
	if err := checkVectors(op, a.Rows, a.Cols, x, y); err != nil || a.Rows == 0 {
		return err
	}
	return failed(op, LaunchMulELL(s, gpu.Linear(a.Rows), a.Width, alpha, beta, a.Index, a.Value, x, y))
}

// checkVectors returns an error if x and y do not fit a matrix.
func checkVectors[T Float](op string, rows, cols int, x, y *gpu.Buffer[T]) error {
	switch {
	case x == nil || x.Len() != cols:
		return invalid(op, "x", "has %d elements, but a has %d columns", x.Len(), cols)
	case y == nil || y.Len() != rows:
		return invalid(op, "y", "has %d elements, but a has %d rows", y.Len(), rows)
	case overlap(x, y):
		return invalid(op, "y", "overlaps x; the result needs memory of its own")
	}
	return nil
}
