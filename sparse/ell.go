package sparse

import (
	"context"
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
	if rows < 0 || cols < 0 || width < 0 || cols > math.MaxInt32-1 || rows > 0 && width > math.MaxInt32/rows {
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
	return usable(op, arg, a.Index.Err(), a.Value.Err())
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
// columns, and shares no buffer with src. If src.Longest is known, it is at most dst.Width; otherwise a longer row
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
	if err := checkConversion(op, dst.storage(), src.storage()); err != nil || dst.Rows == 0 {
		return err
	}
	return failed(op, LaunchToELL(s, gpu.Linear(dst.Rows), dst.Rows, dst.Width, src.Start, src.Index, src.Value, dst.Index, dst.Value))
}

// MulVecELL computes y = alpha*a*x + beta*y. If beta is 0, y is not read. y must not overlap x or
// the buffers of a.
func MulVecELL[T Float](s *gpu.Stream, alpha T, a ELL[T], x *gpu.Buffer[T], beta T, y *gpu.Buffer[T]) error {
	const op = "MulVecELL"
	if err := a.check(op, "a"); err != nil {
		return err
	}
	if err := checkVectors(op, false, a.Rows, a.Cols, a.storage(), x, y); err != nil || a.Rows == 0 {
		return err
	}
	return failed(op, LaunchMulELL(s, gpu.Linear(a.Rows), a.Width, alpha, beta, a.Index, a.Value, x, y))
}

// mulELLColumns computes an element of c with each thread, as mulColumns does.
//
//quern:kernel instantiate=float32,float64
func mulELLColumns[T Float](t kernel.Thread, rows, cols, width, strideB, strideC int, alpha, beta T, index []int32, value, b, c []T) {
	column, row := t.Global2()
	if column >= cols {
		return
	}
	for ; row < rows; row += t.GridDim.Y * t.BlockDim.Y {
		sum := T(0)
		for k := range width {
			j := index[k*rows+row]
			if j < 0 {
				break
			}
			sum += value[k*rows+row] * b[int(j)*strideB+column]
		}
		at := row*strideC + column
		c[at] = scaled(alpha, sum, beta, &c[at])
	}
}

// MulMatELL computes c = alpha*a*b + beta*c. If beta is 0, c is not read. c must not overlap b or
// the buffers of a.
func MulMatELL[T Float](s *gpu.Stream, alpha T, a ELL[T], b Dense[T], beta T, c Dense[T]) error {
	const op = "MulMatELL"
	if err := a.check(op, "a"); err != nil {
		return err
	}
	if err := checkMatrices(op, false, a.Rows, a.Cols, a.storage(), b, c); err != nil || c.Rows == 0 || c.Cols == 0 {
		return err
	}
	return failed(op, LaunchMulELLColumns(s, planeOf(c.Cols, c.Rows), c.Rows, c.Cols, a.Width, b.Stride, c.Stride, alpha, beta, a.Index, a.Value, b.Data, c.Data))
}

// countELL counts the entries of each row.
//
//quern:kernel
func countELL(t kernel.Thread, rows, width int, index, count []int32) {
	row := t.Global()
	if row >= len(count) {
		return
	}
	n := 0
	for row < rows && n < width && index[n*rows+row] >= 0 {
		n++
	}
	count[row] = int32(n)
}

// fromELL writes the entries of a row with each thread.
//
//quern:kernel instantiate=float32,float64
func fromELL[T Float](t kernel.Thread, rows int, indexIn []int32, valueIn []T, start, index []int32, value []T) {
	kernel.Assert(int(start[rows]) == len(index), "the CSR matrix must have as many entries as the ELL matrix; CountELL tells how many")
	row := t.Global()
	if row >= rows {
		return
	}
	first := int(start[row])
	n := int(start[row+1]) - first
	for k := range n {
		index[first+k], value[first+k] = indexIn[k*rows+row], valueIn[k*rows+row]
	}
}

// ELLToCSR writes src to the buffers of dst, which has the same number of rows and columns, and
// shares no buffer with src. The entries of a row keep their order. dst has as many entries as src,
// which [CountELL] tells; otherwise the kernel stops, and the next wait returns a
// [gpu.KernelError].
func ELLToCSR[T Float](s *gpu.Stream, dst CSR[T], src ELL[T], work ...*gpu.Workspace) error {
	const op = "ELLToCSR"
	if err := dst.check(op, "dst"); err != nil {
		return err
	}
	if err := src.check(op, "src"); err != nil {
		return err
	}
	switch {
	case dst.Rows != src.Rows || dst.Cols != src.Cols:
		return invalid(op, "dst", "is %d x %d, but src is %d x %d", dst.Rows, dst.Cols, src.Rows, src.Cols)
	case dst.Entries() > src.Value.Len():
		return invalid(op, "dst", "has %d entries, but src has places for %d", dst.Entries(), src.Value.Len())
	}
	if err := checkConversion(op, dst.storage(), src.storage()); err != nil {
		return err
	}
	scratch, err := gpu.OpenScratch(s, work)
	if err != nil {
		return failed(op, err)
	}
	defer scratch.Close()
	sums := takeScanning(scratch, dst.Rows+1)
	if run, err := scratch.Ready(); !run {
		return failed(op, err)
	}
	if err := src.starts(s, sums, dst.Start); err != nil {
		return failed(op, err)
	}
	return failed(op, LaunchFromELL(s, gpu.Linear(max(src.Rows, 1)), src.Rows, src.Index, src.Value, dst.Start, dst.Index, dst.Value))
}

// starts writes the number of entries before each row, and that of all entries.
func (a ELL[T]) starts(s *gpu.Stream, sums scanning, start *gpu.Buffer[int32]) error {
	if err := LaunchCountELL(s, gpu.Linear(a.Rows+1), a.Rows, a.Width, a.Index, start); err != nil {
		return err
	}
	return sums.run(s, start)
}

// CountELL returns the number of entries of a. It waits for the device.
func CountELL[T Float](ctx context.Context, s *gpu.Stream, a ELL[T]) (int, error) {
	const op = "CountELL"
	if err := a.check(op, "a"); err != nil {
		return 0, err
	}
	return countRows(ctx, s, op, a.Rows, a.starts)
}

// countRows returns the number of entries of a matrix whose starts of rows a function finds.
func countRows(ctx context.Context, s *gpu.Stream, op string, rows int, find func(s *gpu.Stream, sums scanning, start *gpu.Buffer[int32]) error) (int, error) {
	scratch, err := gpu.OpenScratch(s, nil)
	if err != nil {
		return 0, failed(op, err)
	}
	defer scratch.Close()
	sums, start := takeScanning(scratch, rows+1), gpu.Take[int32](scratch, rows+1)
	if _, err := scratch.Ready(); err != nil {
		return 0, failed(op, err)
	}
	if err := find(s, sums, start); err != nil {
		return 0, failed(op, err)
	}
	var n [1]int32
	err = gpu.Download(ctx, s, n[:], start.Slice(rows, rows+1))
	return int(n[0]), failed(op, err)
}
