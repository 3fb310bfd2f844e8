package sparse

import (
	"errors"
	"math"
	"slices"

	"quern.dev/gpu"
	"quern.dev/kernel"
)

// BSR is a matrix of square blocks in compressed rows: the blocks of block row i are
// those with numbers Start[i] to Start[i+1]-1. Block k has Block*Block elements of
// Value, row by row, and is in block column Index[k]. Blocks at the right and lower
// edges may extend beyond the matrix; their elements there do not count.
type BSR[T Float] struct {
	Rows, Cols, Block int
	Start             *gpu.Buffer[int32] // one number for each block row, and one more
	Index             *gpu.Buffer[int32]
	Value             *gpu.Buffer[T]
}

// blocks returns how many blocks of the given size cover n elements.
func blocks(n, size int) int { return (n + size - 1) / size }

// Close closes the buffers.
func (a BSR[T]) Close() error {
	return errors.Join(a.Start.Close(), a.Index.Close(), a.Value.Close())
}

func (a BSR[T]) check(op, arg string) error {
	switch {
	case a.Rows < 0 || a.Cols < 0 || a.Rows > math.MaxInt32-1 || a.Cols > math.MaxInt32-1:
		return invalid(op, arg, "is %d x %d; sizes must not be negative, and less than 2^31-1", a.Rows, a.Cols)
	case a.Block < 1 || a.Block > maxBlock:
		return invalid(op, arg, "has blocks of size %d; it must be from 1 to %d", a.Block, maxBlock)
	case a.Start == nil || a.Index == nil || a.Value == nil:
		return invalid(op, arg, "has a buffer that is nil")
	case a.Start.Len() != blocks(a.Rows, a.Block)+1:
		return invalid(op, arg, "has %d block rows, and Start has %d elements; it must have one more", blocks(a.Rows, a.Block), a.Start.Len())
	case a.Value.Len() != a.Index.Len()*a.Block*a.Block:
		return invalid(op, arg, "has %d blocks of %d elements, and %d values", a.Index.Len(), a.Block*a.Block, a.Value.Len())
	}
	return usable(op, arg, a.Start.Err(), a.Index.Err(), a.Value.Err())
}

const maxBlock = 64

// AllocBSR allocates a matrix with blocks of the given size, from 1 to 64, whose contents are
// undefined. The caller closes it.
func AllocBSR[T Float](d *gpu.Device, rows, cols, block, blockCount int) (BSR[T], error) {
	const op = "AllocBSR"
	switch {
	case block < 1 || block > maxBlock:
		return BSR[T]{}, invalid(op, "block", "is %d; it must be from 1 to %d", block, maxBlock)
	case min(rows, cols, blockCount) < 0 || max(rows, cols, blockCount-1) > math.MaxInt32-1:
		return BSR[T]{}, invalid(op, "sizes", "are %d x %d with %d blocks; they must not be negative, and less than 2^31-1", rows, cols, blockCount)
	}
	a := BSR[T]{Rows: rows, Cols: cols, Block: block}
	var errs [3]error
	a.Start, errs[0] = gpu.Alloc[int32](d, blocks(rows, block)+1)
	a.Index, errs[1] = gpu.Alloc[int32](d, blockCount)
	a.Value, errs[2] = gpu.Alloc[T](d, blockCount*block*block)
	if err := errors.Join(errs[:]...); err != nil {
		a.Close()
		return BSR[T]{}, failed(op, err)
	}
	return a, nil
}

// UploadBSR copies a matrix to the device of s in blocks of the given size, from 1 to
// 64. Blocks without entries are not stored. The caller closes the matrix.
func UploadBSR[T Float](s *gpu.Stream, e *Entries[T], block int) (BSR[T], error) {
	const op = "UploadBSR"
	if err := checkEntries(op, e); err != nil {
		return BSR[T]{}, err
	}
	if block < 1 || block > maxBlock {
		return BSR[T]{}, invalid(op, "block", "is %d; it must be from 1 to %d", block, maxBlock)
	}
	start, index, value := blocked(e, block)
	a := BSR[T]{Rows: e.Rows, Cols: e.Cols, Block: block}
	var errs [3]error
	a.Start, errs[0] = gpu.Upload(s, start)
	a.Index, errs[1] = gpu.Upload(s, index)
	a.Value, errs[2] = gpu.Upload(s, value)
	if err := errors.Join(errs[:]...); err != nil {
		a.Close()
		return BSR[T]{}, failed(op, err)
	}
	return a, nil
}

// blocked returns the arrays of the BSR form.
func blocked[T Float](e *Entries[T], block int) (start, index []int32, value []T) {
	// The entries of each block row, and in it those of each block.
	order := make([]int32, len(e.Value))
	for k := range order {
		order[k] = int32(k)
	}
	at := func(k int32) int64 {
		return int64(int(e.Row[k])/block)<<32 | int64(int(e.Col[k])/block)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return int(max(-1, min(1, at(a)-at(b)))) })
	start = make([]int32, blocks(e.Rows, block)+1)
	last := int64(-1)
	for _, k := range order {
		if b := at(k); b != last {
			last = b
			start[b>>32+1]++
			index = append(index, int32(b))
			value = append(value, make([]T, block*block)...)
		}
		i, j := int(e.Row[k])%block, int(e.Col[k])%block
		value[len(value)-block*block+i*block+j] += e.Value[k]
	}
	for i := range start[1:] {
		start[i+1] += start[i]
	}
	return start, index, value
}

// mulBSR computes a row with each thread, so the threads of a block row read neighboring
// rows of the same blocks.
//
//quern:kernel instantiate=float32,float64
func mulBSR[T Float](t kernel.Thread, block int, alpha, beta T, start, index []int32, value, x, y []T) {
	row := t.Global()
	if row >= len(y) {
		return
	}
	line, i := row/block, row%block
	sum := T(0)
	end := int(start[line+1])
	for k := int(start[line]); k < end; k++ {
		at, first := (k*block+i)*block, int(index[k])*block
		for j := 0; j < block && first+j < len(x); j++ {
			sum += value[at+j] * x[first+j]
		}
	}
	y[row] = scaled(alpha, sum, beta, &y[row])
}

// MulVecBSR computes y = alpha*a*x + beta*y. If beta is 0, y is not read. y must not overlap x or
// the buffers of a.
func MulVecBSR[T Float](s *gpu.Stream, alpha T, a BSR[T], x *gpu.Buffer[T], beta T, y *gpu.Buffer[T]) error {
	const op = "MulVecBSR"
	if err := a.check(op, "a"); err != nil {
		return err
	}
	if err := checkVectors(op, false, a.Rows, a.Cols, a.storage(), x, y); err != nil || a.Rows == 0 {
		return err
	}
	return failed(op, LaunchMulBSR(s, gpu.Linear(a.Rows), a.Block, alpha, beta, a.Start, a.Index, a.Value, x, y))
}

// mulBSRColumns computes an element of c with each thread, as mulColumns does.
//
//quern:kernel instantiate=float32,float64
func mulBSRColumns[T Float](t kernel.Thread, rows, cols, inner, block, strideB, strideC int, alpha, beta T, start, index []int32, value, b, c []T) {
	column, row := t.Global2()
	if column >= cols {
		return
	}
	for ; row < rows; row += t.GridDim.Y * t.BlockDim.Y {
		line, i := row/block, row%block
		sum := T(0)
		end := int(start[line+1])
		for k := int(start[line]); k < end; k++ {
			at, first := (k*block+i)*block, int(index[k])*block
			for j := 0; j < block && first+j < inner; j++ {
				sum += value[at+j] * b[(first+j)*strideB+column]
			}
		}
		at := row*strideC + column
		c[at] = scaled(alpha, sum, beta, &c[at])
	}
}

// MulMatBSR computes c = alpha*a*b + beta*c. If beta is 0, c is not read. c must not overlap b or
// the buffers of a.
func MulMatBSR[T Float](s *gpu.Stream, alpha T, a BSR[T], b Dense[T], beta T, c Dense[T]) error {
	const op = "MulMatBSR"
	if err := a.check(op, "a"); err != nil {
		return err
	}
	if err := checkMatrices(op, false, a.Rows, a.Cols, a.storage(), b, c); err != nil || c.Rows == 0 || c.Cols == 0 {
		return err
	}
	return failed(op, LaunchMulBSRColumns(s, planeOf(c.Cols, c.Rows), c.Rows, c.Cols, b.Rows, a.Block, b.Stride, c.Stride, alpha, beta, a.Start, a.Index, a.Value, b.Data, c.Data))
}
