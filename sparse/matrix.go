package sparse

import (
	"errors"
	"math"
	"slices"

	"quern.dev/gpu"
)

// Float is the element types of matrices and vectors.
type Float interface{ float32 | float64 }

// CSR is a matrix in compressed sparse rows. The entries of row i are those with
// numbers Start[i] to Start[i+1]-1, in any order of columns. Entries with the same row
// and column add up.
//
// A CSR is a description of buffers, which it does not own unless a function of this
// package has made it; then Close closes them.
type CSR[T Float] struct {
	Rows, Cols int
	Start      *gpu.Buffer[int32] // Rows+1 numbers of entries, from 0, in ascending order
	Index      *gpu.Buffer[int32] // the columns of the entries
	Value      *gpu.Buffer[T]

	// Longest is the number of entries of the longest row, or 0 if it is not known.
	// [MulVec] and [MulMat] choose their kernels by it. Functions that make a matrix
	// from host memory set it, and [Analyze] finds it.
	Longest int
}

// CSC is a matrix in compressed sparse columns: the same as the CSR form of its
// transpose.
type CSC[T Float] struct {
	Rows, Cols int
	Start      *gpu.Buffer[int32] // Cols+1 numbers of entries
	Index      *gpu.Buffer[int32] // the rows of the entries
	Value      *gpu.Buffer[T]
	Longest    int // the number of entries of the longest column, or 0
}

// COO is a matrix as a list of entries, in any order. Entries with the same row and
// column add up.
type COO[T Float] struct {
	Rows, Cols int
	Row, Col   *gpu.Buffer[int32]
	Value      *gpu.Buffer[T]

	// Sorted says that no entry is in a row above that of the entry before it. Functions
	// then need not sort the entries, and stop with a [gpu.KernelError] if it is not so.
	// [UploadCOO] sets it. The entries that [CSRToCOO] writes are sorted.
	Sorted bool
}

// Dense is a dense matrix, row by row: element (i, j) is Data[i*Stride+j].
type Dense[T Float] struct {
	Rows, Cols, Stride int
	Data               *gpu.Buffer[T]
}

// Transpose returns the transpose of a, which has the same buffers.
func (a CSR[T]) Transpose() CSC[T] {
	return CSC[T]{a.Cols, a.Rows, a.Start, a.Index, a.Value, a.Longest}
}

// Transpose returns the transpose of a, which has the same buffers.
func (a CSC[T]) Transpose() CSR[T] {
	return CSR[T]{a.Cols, a.Rows, a.Start, a.Index, a.Value, a.Longest}
}

// Transpose returns the transpose of a, which has the same buffers.
func (a COO[T]) Transpose() COO[T] {
	return COO[T]{Rows: a.Cols, Cols: a.Rows, Row: a.Col, Col: a.Row, Value: a.Value}
}

// Entries returns the number of stored entries.
func (a CSR[T]) Entries() int { return a.Value.Len() }

// Entries returns the number of stored entries.
func (a CSC[T]) Entries() int { return a.Value.Len() }

// Entries returns the number of stored entries.
func (a COO[T]) Entries() int { return a.Value.Len() }

// Close closes the buffers.
func (a CSR[T]) Close() error {
	return errors.Join(a.Start.Close(), a.Index.Close(), a.Value.Close())
}

// Close closes the buffers.
func (a CSC[T]) Close() error { return a.Transpose().Close() }

// Close closes the buffers.
func (a COO[T]) Close() error { return errors.Join(a.Row.Close(), a.Col.Close(), a.Value.Close()) }

// check returns an error if the sizes of the buffers do not fit together.
func (a CSR[T]) check(op, arg string) error {
	return checkCompressed(op, arg, "rows", a.Rows, a.Cols, a.Rows, a.Start, a.Index, a.Value)
}

func (a CSC[T]) check(op, arg string) error {
	return checkCompressed(op, arg, "columns", a.Rows, a.Cols, a.Cols, a.Start, a.Index, a.Value)
}

func checkCompressed[T Float](op, arg, lines string, rows, cols, n int, start, index *gpu.Buffer[int32], value *gpu.Buffer[T]) error {
	switch {
	case rows < 0 || cols < 0 || rows > math.MaxInt32-1 || cols > math.MaxInt32-1:
		return invalid(op, arg, "is %d x %d; sizes must not be negative, and less than 2^31-1", rows, cols)
	case start == nil || index == nil || value == nil:
		return invalid(op, arg, "has a buffer that is nil")
	case start.Len() != n+1:
		return invalid(op, arg, "has %d %s, and Start has %d elements; it must have %d", n, lines, start.Len(), n+1)
	case index.Len() != value.Len():
		return invalid(op, arg, "has %d indices and %d values; there must be as many", index.Len(), value.Len())
	case value.Len() > math.MaxInt32:
		return invalid(op, arg, "has %d entries; at most 2^31-1 are possible", value.Len())
	}
	return usable(op, arg, start.Err(), index.Err(), value.Err())
}

func (a COO[T]) check(op, arg string) error {
	switch {
	case a.Rows < 0 || a.Cols < 0 || a.Rows > math.MaxInt32-1 || a.Cols > math.MaxInt32-1:
		return invalid(op, arg, "is %d x %d; sizes must not be negative, and less than 2^31-1", a.Rows, a.Cols)
	case a.Row == nil || a.Col == nil || a.Value == nil:
		return invalid(op, arg, "has a buffer that is nil")
	case a.Row.Len() != a.Value.Len() || a.Col.Len() != a.Value.Len():
		return invalid(op, arg, "has %d rows, %d columns and %d values of entries; there must be as many", a.Row.Len(), a.Col.Len(), a.Value.Len())
	case a.Value.Len() > math.MaxInt32:
		return invalid(op, arg, "has %d entries; at most 2^31-1 are possible", a.Value.Len())
	}
	return usable(op, arg, a.Row.Err(), a.Col.Err(), a.Value.Err())
}

func (m Dense[T]) check(op, arg string) error {
	switch {
	case m.Rows < 0 || m.Cols < 0:
		return invalid(op, arg, "is %d x %d; sizes must not be negative", m.Rows, m.Cols)
	case m.Data == nil:
		return invalid(op, arg, "has no buffer")
	case m.Stride < max(m.Cols, 1):
		return invalid(op, arg, "has %d columns and a stride of %d; the stride must be at least as large, and positive", m.Cols, m.Stride)
	case m.Rows > 0 && m.Cols > 0 && (m.Data.Len() < m.Cols || (m.Data.Len()-m.Cols)/m.Stride < m.Rows-1):
		return invalid(op, arg, "has %d elements, which is less than %d rows of %d with a stride of %d need", m.Data.Len(), m.Rows, m.Cols, m.Stride)
	}
	return nil
}

// Entries is a matrix in host memory, as a list of entries in any order. Entries with
// the same row and column add up.
type Entries[T any] struct {
	Rows, Cols int
	Row, Col   []int32
	Value      []T
}

// Add adds an entry. It does not check that the row and the column are in the matrix: the functions
// that upload entries do. Numbers that are not an int32 become -1, which is in no matrix.
func (e *Entries[T]) Add(row, col int, value T) {
	e.Row, e.Col, e.Value = append(e.Row, narrow(row)), append(e.Col, narrow(col)), append(e.Value, value)
}

func narrow(i int) int32 {
	if int(int32(i)) != i {
		return -1
	}
	return int32(i)
}

func checkEntries[T Float](op string, e *Entries[T]) error {
	switch {
	case e == nil:
		return invalid(op, "e", "is nil")
	case e.Rows < 0 || e.Cols < 0 || e.Rows > math.MaxInt32-1 || e.Cols > math.MaxInt32-1:
		return invalid(op, "e", "is %d x %d; sizes must not be negative, and less than 2^31-1", e.Rows, e.Cols)
	case len(e.Row) != len(e.Value) || len(e.Col) != len(e.Value):
		return invalid(op, "e", "has %d rows, %d columns and %d values of entries; there must be as many", len(e.Row), len(e.Col), len(e.Value))
	case len(e.Value) > math.MaxInt32:
		return invalid(op, "e", "has %d entries; at most 2^31-1 are possible", len(e.Value))
	}
	for k := range e.Value {
		if i, j := e.Row[k], e.Col[k]; i < 0 || int(i) >= e.Rows || j < 0 || int(j) >= e.Cols {
			return invalid(op, "e", "has entry %d in row %d and column %d, outside of the %d x %d matrix", k, i, j, e.Rows, e.Cols)
		}
	}
	return nil
}

// UploadCOO copies a matrix to the device of s. The caller closes it.
func UploadCOO[T Float](s *gpu.Stream, e *Entries[T]) (COO[T], error) {
	const op = "UploadCOO"
	if err := checkEntries(op, e); err != nil {
		return COO[T]{}, err
	}
	var a COO[T]
	var errs [3]error
	a.Rows, a.Cols, a.Sorted = e.Rows, e.Cols, slices.IsSorted(e.Row)
	a.Row, errs[0] = gpu.Upload(s, e.Row)
	a.Col, errs[1] = gpu.Upload(s, e.Col)
	a.Value, errs[2] = gpu.Upload(s, e.Value)
	if err := errors.Join(errs[:]...); err != nil {
		a.Close()
		return COO[T]{}, failed(op, err)
	}
	return a, nil
}

// UploadCSR copies a matrix to the device of s in CSR form. The entries of a row keep
// their order. The caller closes the matrix.
func UploadCSR[T Float](s *gpu.Stream, e *Entries[T]) (CSR[T], error) {
	const op = "UploadCSR"
	if err := checkEntries(op, e); err != nil {
		return CSR[T]{}, err
	}
	start, index, value := compress(e)
	a := CSR[T]{Rows: e.Rows, Cols: e.Cols}
	for i := range e.Rows {
		a.Longest = max(a.Longest, int(start[i+1]-start[i]))
	}
	var errs [3]error
	a.Start, errs[0] = gpu.Upload(s, start)
	a.Index, errs[1] = gpu.Upload(s, index)
	a.Value, errs[2] = gpu.Upload(s, value)
	if err := errors.Join(errs[:]...); err != nil {
		a.Close()
		return CSR[T]{}, failed(op, err)
	}
	return a, nil
}

// compress returns the arrays of the CSR form.
func compress[T any](e *Entries[T]) (start, index []int32, value []T) {
	start = make([]int32, e.Rows+1)
	for _, i := range e.Row {
		start[i+1]++
	}
	for i := range e.Rows {
		start[i+1] += start[i]
	}
	next := make([]int32, e.Rows)
	copy(next, start)
	index, value = make([]int32, len(e.Value)), make([]T, len(e.Value))
	for k, i := range e.Row {
		at := next[i]
		next[i]++
		index[at], value[at] = e.Col[k], e.Value[k]
	}
	return start, index, value
}
