package blas

import (
	"fmt"
	"math"

	"quern.dev/gpu"
)

// Float is the element types that every function takes.
type Float interface{ float32 | float64 }

// Transpose says how a matrix takes part in an operation. The values are those of gonum's
// blas.Transpose.
type Transpose byte

// The forms of a matrix. For real numbers ConjTrans is Trans.
const (
	NoTrans   Transpose = 'N'
	Trans     Transpose = 'T'
	ConjTrans Transpose = 'C'
)

// String returns "NoTrans", "Trans" or "ConjTrans".
func (t Transpose) String() string {
	switch t {
	case NoTrans:
		return "NoTrans"
	case Trans:
		return "Trans"
	case ConjTrans:
		return "ConjTrans"
	}
	return fmt.Sprintf("Transpose(%d)", byte(t))
}

// General is a matrix in row-major order: element (i, j) is Data[i*Stride+j]. Stride is at
// least Cols, and at least 1.
type General[T any] struct {
	Rows, Cols int
	Stride     int
	Data       *gpu.Buffer[T]
}

// Vector is a vector with N elements: element i is Data[i*Inc], or, if Inc is negative,
// Data[(i-N+1)*Inc]. Inc is not 0.
type Vector[T any] struct {
	N    int
	Inc  int
	Data *gpu.Buffer[T]
}

// Batch is Count matrices of the same shape. Matrix i starts Step*i elements after the first
// one. Several matrices may share elements, or be the same with a Step of 0, unless they are
// written.
type Batch[T any] struct {
	General[T]
	Step  int
	Count int
}

// Batch returns the matrix as a batch of one.
func (m General[T]) Batch() Batch[T] { return Batch[T]{General: m, Count: 1} }

func (t Transpose) check(op, arg string) error {
	if t != NoTrans && t != Trans && t != ConjTrans {
		return invalid(op, arg, "is %d; use NoTrans, Trans or ConjTrans", byte(t))
	}
	return nil
}

// shape returns the rows and columns of op(m).
func (m General[T]) shape(t Transpose) (rows, cols int) {
	if t != NoTrans {
		return m.Cols, m.Rows
	}
	return m.Rows, m.Cols
}

func (m General[T]) check(op, arg string) error {
	return m.Batch().check(op, arg)
}

// check returns an error unless the elements are in the buffer.
func (b Batch[T]) check(op, arg string) error {
	switch {
	case b.Rows < 0 || b.Cols < 0:
		return invalid(op, arg, "has %d rows and %d columns; neither can be negative", b.Rows, b.Cols)
	case b.Stride < max(b.Cols, 1):
		return invalid(op, arg, "has a stride of %d, which is less than its %d columns, or than 1", b.Stride, b.Cols)
	case b.Count < 0:
		return invalid(op, arg, "has %d matrices; there cannot be a negative number", b.Count)
	case b.Step < 0:
		return invalid(op, arg, "has a step of %d elements between matrices; it cannot be negative", b.Step)
	case b.Rows == 0 || b.Cols == 0 || b.Count == 0:
		return nil
	case b.Data == nil:
		return invalid(op, arg, "has no data")
	}
	// The index of the last element, without overflow.
	rest := b.Data.Len() - b.Cols
	fits := rest >= 0 && b.Rows-1 <= rest/b.Stride
	if fits {
		rest -= (b.Rows - 1) * b.Stride
		fits = b.Step == 0 || b.Count-1 <= rest/b.Step
	}
	if !fits {
		many := ""
		if b.Count > 1 {
			many = fmt.Sprintf("%d matrices of ", b.Count)
		}
		return invalid(op, arg, "has %s%dx%d elements with a stride of %d, which do not fit in a buffer of %d elements", many, b.Rows, b.Cols, b.Stride, b.Data.Len())
	}
	return nil
}

// quads reports whether groups of four adjacent elements start at multiples of four.
func (b Batch[T]) quads() bool { return b.Stride%4 == 0 && b.Step%4 == 0 }

// check returns an error unless the elements are in the buffer.
func (v Vector[T]) check(op, arg string) error {
	switch {
	case v.N < 0:
		return invalid(op, arg, "has %d elements; it cannot have a negative number", v.N)
	case v.Inc == 0:
		return invalid(op, arg, "has an increment of 0")
	case v.N == 0:
		return nil
	case v.Data == nil:
		return invalid(op, arg, "has no data")
	case v.Inc == math.MinInt || v.Data.Len() == 0 || v.N-1 > (v.Data.Len()-1)/max(v.Inc, -v.Inc):
		return invalid(op, arg, "has %d elements with an increment of %d, which do not fit in a buffer of %d elements", v.N, v.Inc, v.Data.Len())
	}
	return nil
}

// checkVectors checks two vectors of the same length.
func checkVectors[T any](op string, x, y Vector[T]) error {
	if err := x.check(op, "x"); err != nil {
		return err
	}
	if err := y.check(op, "y"); err != nil {
		return err
	}
	if x.N != y.N {
		return invalid(op, "y", "has %d elements, but x has %d", y.N, x.N)
	}
	return nil
}

// checkApart returns an error if y, which is written, shares elements with x. It may be x if
// same is true.
func checkApart[T any](op string, x, y Vector[T], same bool) error {
	if overlap(x.Data, x.region(), y.Data, y.region()) && !(same && x.isSame(y)) {
		return invalid(op, "y", "shares elements with x")
	}
	return nil
}
