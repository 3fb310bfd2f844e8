package sparse

import (
	"context"
	"errors"
	"math"

	"quern.dev/gpu"
	"quern.dev/kernel"
)

// search returns the first index of the ascending x at which the element is at least
// v, or len(x).
func search(x []int32, v int32) int {
	low, high := 0, len(x)
	for low < high {
		mid := (low + high) / 2
		if x[mid] < v {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low
}

// starts finds where each row begins among the sorted rows of entries. It has a thread for each
// entry, which checks the order, and for each element of start.
//
//quern:kernel
func starts(t kernel.Thread, rows, start []int32) {
	i := t.Global()
	if i < len(rows) {
		row := rows[i]
		kernel.Assert(row >= 0 && int(row)+1 < len(start), "an entry is outside of the matrix")
		kernel.Assert(i == 0 || rows[i-1] <= row, "the entries of a sorted matrix are not in the order of rows")
	}
	if i < len(start) {
		start[i] = int32(search(rows, int32(i)))
	}
}

// rowsOf finds the row of each entry.
//
//quern:kernel
func rowsOf(t kernel.Thread, start, rows []int32) {
	if k := t.Global(); k < len(rows) {
		rows[k] = int32(search(start, int32(k)+1) - 1)
	}
}

// gather copies the entries with the given numbers.
//
//quern:kernel instantiate=float32,float64
func gather[T Float](t kernel.Thread, numbers, indexIn []int32, valueIn []T, index []int32, value []T) {
	if k := t.Global(); k < len(numbers) && k < len(index) && k < len(value) {
		at := numbers[k]
		index[k], value[k] = indexIn[at], valueIn[at]
	}
}

// gatherRows is gather for entries whose rows are known from their starts.
//
//quern:kernel instantiate=float32,float64
func gatherRows[T Float](t kernel.Thread, numbers, start []int32, valueIn []T, index []int32, value []T) {
	if k := t.Global(); k < len(numbers) && k < len(index) && k < len(value) {
		at := numbers[k]
		index[k], value[k] = int32(search(start, at+1)-1), valueIn[at]
	}
}

// AllocCSR allocates a matrix with the given number of entries, whose contents are
// undefined. The caller closes it.
func AllocCSR[T Float](d *gpu.Device, rows, cols, entries int) (CSR[T], error) {
	a := CSR[T]{Rows: rows, Cols: cols}
	if min(rows, cols, entries) < 0 || max(rows, cols, entries-1) > math.MaxInt32-1 {
		return a, invalid("AllocCSR", "sizes", "are %d x %d with %d entries; they must not be negative, and less than 2^31-1", rows, cols, entries)
	}
	var errs [3]error
	a.Start, errs[0] = gpu.Alloc[int32](d, rows+1)
	a.Index, errs[1] = gpu.Alloc[int32](d, entries)
	a.Value, errs[2] = gpu.Alloc[T](d, entries)
	if err := errors.Join(errs[:]...); err != nil {
		a.Close()
		return CSR[T]{}, failed("AllocCSR", err)
	}
	return a, nil
}

// AllocCSC is [AllocCSR] for compressed columns.
func AllocCSC[T Float](d *gpu.Device, rows, cols, entries int) (CSC[T], error) {
	a, err := AllocCSR[T](d, cols, rows, entries)
	return a.Transpose(), err
}

// sameSize returns an error if two matrices do not have the same size and number of
// entries.
func sameSize(op string, rows, cols, entries, srcRows, srcCols, srcEntries int) error {
	if rows != srcRows || cols != srcCols || entries != srcEntries {
		return invalid(op, "dst", "is %d x %d with %d entries, but src is %d x %d with %d", rows, cols, entries, srcRows, srcCols, srcEntries)
	}
	return nil
}

// COOToCSR writes src to the buffers of dst, which has the same size and number of
// entries. The entries of a row keep their order, and entries with the same row and
// column remain separate. The matrices must not share buffers.
func COOToCSR[T Float](s *gpu.Stream, dst CSR[T], src COO[T], work ...*gpu.Workspace) error {
	const op = "COOToCSR"
	if err := dst.check(op, "dst"); err != nil {
		return err
	}
	if err := src.check(op, "src"); err != nil {
		return err
	}
	if err := sameSize(op, dst.Rows, dst.Cols, dst.Entries(), src.Rows, src.Cols, src.Entries()); err != nil {
		return err
	}
	if err := checkConversion(op, dst.storage(), src.storage()); err != nil {
		return err
	}
	scratch, err := gpu.OpenScratch(s, work)
	if err != nil {
		return failed(op, err)
	}
	defer scratch.Close()
	c := takeCompressionTo(scratch, s.Device().Backend(), dst, src)
	if run, err := scratch.Ready(); !run {
		return failed(op, err)
	}
	return failed(op, c.run(s))
}

// CSRToCOO writes src to the buffers of dst, which has the same size and number of
// entries. dst.Col and dst.Value may be src.Index and src.Value; otherwise the matrices must not
// share buffers. The entries that it writes are sorted.
func CSRToCOO[T Float](s *gpu.Stream, dst COO[T], src CSR[T]) error {
	const op = "CSRToCOO"
	if err := dst.check(op, "dst"); err != nil {
		return err
	}
	if err := src.check(op, "src"); err != nil {
		return err
	}
	if err := sameSize(op, dst.Rows, dst.Cols, dst.Entries(), src.Rows, src.Cols, src.Entries()); err != nil || src.Entries() == 0 {
		return err
	}
	from, to := src.storage(), dst.storage()
	for i := 1; i < len(to); i++ {
		if distance, ok := to[i].overlap(from[i]); ok && distance == 0 {
			to[i] = extent{} // the same buffer
		}
	}
	if err := checkConversion(op, to, from); err != nil {
		return err
	}
	if err := LaunchRowsOf(s, gpu.Linear(src.Entries()), src.Start, dst.Row); err != nil {
		return failed(op, err)
	}
	if dst.Col != src.Index {
		if err := gpu.Copy(s, dst.Col, src.Index); err != nil {
			return failed(op, err)
		}
	}
	if dst.Value != src.Value {
		return failed(op, gpu.Copy(s, dst.Value, src.Value))
	}
	return nil
}

// transposition makes the CSC form of a matrix.
type transposition[T Float] struct {
	src  CSR[T]
	dst  CSC[T]
	sort sorting
}

// takeTransposition makes one whose result is in temporary memory.
func takeTransposition[T Float](scratch *gpu.Scratch, src CSR[T]) transposition[T] {
	return transposition[T]{
		src: src,
		dst: CSC[T]{
			Rows: src.Rows, Cols: src.Cols,
			Start: gpu.Take[int32](scratch, src.Cols+1),
			Index: gpu.Take[int32](scratch, src.Entries()),
			Value: gpu.Take[T](scratch, src.Entries()),
		},
		sort: takeSorting(scratch, src.Start.Device().Backend(), src.Entries(), src.Cols),
	}
}

func (c *transposition[T]) run(s *gpu.Stream) error {
	cols, numbers, err := c.sort.run(s, c.src.Index)
	if err != nil {
		return err
	}
	if err := LaunchStarts(s, gpu.Linear(max(c.dst.Cols+1, c.src.Entries())), cols, c.dst.Start); err != nil || c.src.Entries() == 0 {
		return err
	}
	return LaunchGatherRows(s, gpu.Linear(c.src.Entries()), numbers, c.src.Start, c.src.Value, c.dst.Index, c.dst.Value)
}

// CSRToCSC writes src to the buffers of dst, which has the same size and number of
// entries. The entries of a column are in the order of rows. The matrices must not share
// buffers.
func CSRToCSC[T Float](s *gpu.Stream, dst CSC[T], src CSR[T], work ...*gpu.Workspace) error {
	return csrToCSC(s, "CSRToCSC", dst, src, work)
}

// CSCToCSR writes src to the buffers of dst, which has the same size and number of
// entries. The entries of a row are in the order of columns. The matrices must not share
// buffers.
func CSCToCSR[T Float](s *gpu.Stream, dst CSR[T], src CSC[T], work ...*gpu.Workspace) error {
	return csrToCSC(s, "CSCToCSR", dst.Transpose(), src.Transpose(), work)
}

func csrToCSC[T Float](s *gpu.Stream, op string, dst CSC[T], src CSR[T], work []*gpu.Workspace) error {
	if err := dst.check(op, "dst"); err != nil {
		return err
	}
	if err := src.check(op, "src"); err != nil {
		return err
	}
	if err := sameSize(op, dst.Rows, dst.Cols, dst.Entries(), src.Rows, src.Cols, src.Entries()); err != nil {
		return err
	}
	if err := checkConversion(op, dst.storage(), src.storage()); err != nil {
		return err
	}
	scratch, err := gpu.OpenScratch(s, work)
	if err != nil {
		return failed(op, err)
	}
	defer scratch.Close()
	c := transposition[T]{src, dst, takeSorting(scratch, s.Device().Backend(), src.Entries(), src.Cols)}
	if run, err := scratch.Ready(); !run {
		return failed(op, err)
	}
	return failed(op, c.run(s))
}

// longest finds the greatest number of entries of a row.
//
//quern:kernel
func longest(t kernel.Thread, start, greatest []int32) {
	n := int32(0)
	for i := t.Global(); i+1 < len(start); i += t.Stride() {
		n = max(n, start[i+1]-start[i])
	}
	kernel.AtomicMax(&greatest[0], n)
}

// Analyze returns a with Longest set. It waits for the device.
func Analyze[T Float](ctx context.Context, s *gpu.Stream, a CSR[T]) (CSR[T], error) {
	const op = "Analyze"
	if err := a.check(op, "a"); err != nil {
		return a, err
	}
	scratch, err := gpu.OpenScratch(s, nil)
	if err != nil {
		return a, failed(op, err)
	}
	defer scratch.Close()
	greatest := gpu.Take[int32](scratch, 1)
	if _, err := scratch.Ready(); err != nil {
		return a, failed(op, err)
	}
	if err := gpu.Zero(s, greatest); err != nil {
		return a, failed(op, err)
	}
	if err := LaunchLongest(s, gpu.Linear(min(a.Rows+1, 1<<16)), a.Start, greatest); err != nil {
		return a, failed(op, err)
	}
	var n [1]int32
	if err := gpu.Download(ctx, s, n[:], greatest); err != nil {
		return a, failed(op, err)
	}
	a.Longest = int(n[0])
	return a, nil
}
