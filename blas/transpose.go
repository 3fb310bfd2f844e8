package blas

import (
	"unsafe"

	"quern.dev/blas/internal/kernels"
	"quern.dev/gpu"
)

// TransposeTo writes the transpose of src to dst. They must not share elements. The elements
// are of any type of 1, 2, 4 or 8 bytes.
func TransposeTo[T any](s *gpu.Stream, dst, src General[T]) error {
	const op = "TransposeTo"
	for _, err := range [...]error{dst.check(op, "dst"), src.check(op, "src"), checkSize[T](op)} {
		if err != nil {
			return err
		}
	}
	switch {
	case dst.Rows != src.Cols || dst.Cols != src.Rows:
		return invalid(op, "dst", "has %dx%d elements, but src has %dx%d", dst.Rows, dst.Cols, src.Rows, src.Cols)
	case src.Rows == 0 || src.Cols == 0:
		return nil
	case overlap(src.Data, src.Batch().region(), dst.Data, dst.Batch().region()):
		return invalid(op, "dst", "shares elements with src; TransposeSquare works in place")
	}
	return wrap(op, transpose(s, dst.Batch(), src.Batch()))
}

// transpose writes the transposes of the matrices of src to those of dst.
func transpose[T any](s *gpu.Stream, dst, src Batch[T]) error {
	switch sizeOf[T]() {
	case 1:
		return transposeBits[T, uint8](s, dst, src)
	case 2:
		return transposeBits[T, uint16](s, dst, src)
	case 4:
		return transposeBits[T, uint32](s, dst, src)
	default:
		return transposeBits[T, uint64](s, dst, src)
	}
}

// TransposeSquare transposes a square matrix in place.
func TransposeSquare[T any](s *gpu.Stream, m General[T]) error {
	const op = "TransposeSquare"
	for _, err := range [...]error{m.check(op, "the matrix"), checkSize[T](op)} {
		if err != nil {
			return err
		}
	}
	switch {
	case m.Rows != m.Cols:
		return invalid(op, "the matrix", "has %d rows and %d columns; only square matrices can be transposed in place", m.Rows, m.Cols)
	case m.Rows < 2:
		return nil
	}
	switch sizeOf[T]() {
	case 1:
		return wrap(op, transposeSquareBits[T, uint8](s, m))
	case 2:
		return wrap(op, transposeSquareBits[T, uint16](s, m))
	case 4:
		return wrap(op, transposeSquareBits[T, uint32](s, m))
	default:
		return wrap(op, transposeSquareBits[T, uint64](s, m))
	}
}

func checkSize[T any](op string) error {
	switch size := sizeOf[T](); size {
	case 1, 2, 4, 8:
		return nil
	default:
		return invalid(op, "the element type", "has %d bytes; 1, 2, 4 and 8 are supported", size)
	}
}

func transposeBits[T any, B kernels.Bits](s *gpu.Stream, dst, src Batch[T]) error {
	var matrices kernels.Axes
	if src.Count > 1 {
		matrices.Append(src.Count, src.Step, dst.Step)
	}
	return transposeMatrices(s, src.Count, src.Rows, src.Cols, src.Stride, dst.Stride, matrices, bitsOf[T, B](src.Data), bitsOf[T, B](dst.Data))
}

// transposeMatrices writes the transposes of count matrices, which begin at the elements of the axes.
func transposeMatrices[B kernels.Bits](s *gpu.Stream, count, rows, cols, strideFrom, strideTo int, matrices kernels.Axes, from, to *gpu.Buffer[B]) error {
	tiles := divideUp(rows, kernels.TransposeTile) * divideUp(cols, kernels.TransposeTile)
	return kernels.LaunchTranspose(s, transposeGrid(tiles*count), rows, cols, strideFrom, strideTo, matrices, from, to)
}

func transposeSquareBits[T any, B kernels.Bits](s *gpu.Stream, m General[T]) error {
	tiles := divideUp(m.Rows, kernels.TransposeTile)
	return kernels.LaunchTransposeSquare(s, transposeGrid(tiles*(tiles+1)/2), m.Rows, m.Stride, bitsOf[T, B](m.Data))
}

func transposeGrid(tiles int) gpu.Grid {
	return gpu.Blocks(gpu.Dim3{X: tiles}, gpu.Dim3{X: kernels.TransposeTile, Y: kernels.TransposeRows})
}

// bitsOf returns the buffer as one of integers of the same size. The types have the same
// layout, because a Buffer holds no element.
func bitsOf[T any, B kernels.Bits](b *gpu.Buffer[T]) *gpu.Buffer[B] {
	return (*gpu.Buffer[B])(unsafe.Pointer(b))
}
