package blas

import (
	"unsafe"

	"quern.dev/gpu"
)

// region is where the elements of an operand are: count blocks of rows lines. Sizes are in
// bytes.
type region struct {
	rows, width, stride int
	count, step         int
}

func (b Batch[T]) region() region {
	size := sizeOf[T]()
	r := region{b.Rows, b.Cols * size, b.Stride * size, b.Count, b.Step * size}
	if b.Count == 1 {
		r.step = 0
	}
	return r
}

func (v Vector[T]) region() region {
	size := sizeOf[T]()
	if inc := max(v.Inc, -v.Inc); inc > 1 {
		return region{v.N, size, inc * size, 1, 0}
	}
	return region{1, v.N * size, v.N * size, 1, 0}
}

// span returns the number of bytes from the first element to the end of the last one.
func (r region) span() int { return (r.count-1)*r.step + (r.rows-1)*r.stride + r.width }

func (r region) isEmpty() bool { return r.rows == 0 || r.width == 0 || r.count == 0 }

// overlap reports whether two operands have elements in common. Operands with different strides
// count as overlapping if one begins before the other one ends; parts of the same matrix are
// told apart exactly.
func overlap[A, B any](a *gpu.Buffer[A], ra region, b *gpu.Buffer[B], rb region) bool {
	distance, ok := gpu.Distance(a, b)
	if !ok || ra.isEmpty() || rb.isEmpty() || distance >= ra.span() || -distance >= rb.span() {
		return false
	}
	// A single line may have any stride.
	if ra.rows == 1 && ra.count == 1 && ra.width <= rb.stride {
		ra.stride = rb.stride
	}
	if rb.rows == 1 && rb.count == 1 && rb.width <= ra.stride {
		rb.stride = ra.stride
	}
	stride := ra.stride
	if rb.stride != stride || ra.step%stride != 0 || rb.step%stride != 0 {
		return true
	}
	row, column := distance/stride, distance%stride
	if column < 0 {
		row, column = row-1, column+stride
	}
	rows := func(at int) bool { return ra.count > 1 || rb.count > 1 || at < ra.rows && at+rb.rows > 0 }
	return column < ra.width && rows(row) || column+rb.width > stride && rows(row+1)
}

// isSame reports whether two vectors have the same elements in the same order.
func (v Vector[T]) isSame(w Vector[T]) bool {
	distance, ok := gpu.Distance(v.Data, w.Data)
	return ok && distance == 0 && v.Inc == w.Inc
}

func sizeOf[T any]() int {
	var zero T
	return int(unsafe.Sizeof(zero))
}
