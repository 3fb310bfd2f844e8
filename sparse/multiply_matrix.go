package sparse

import (
	"quern.dev/gpu"
	"quern.dev/kernel"
)

// mulColumns computes an element of c with each thread. Neighboring threads have
// neighboring columns: they read the same entries of a, and neighboring elements of b.
//
//quern:kernel instantiate=float32,float64
func mulColumns[T Float](t kernel.Thread, rows, cols, strideB, strideC int, alpha, beta T, start, index []int32, value, b, c []T) {
	column, row := t.Global2()
	if column >= cols {
		return
	}
	for ; row < rows && row+1 < len(start); row += t.GridDim.Y * t.BlockDim.Y {
		sum := T(0)
		end := int(start[row+1])
		for k := int(start[row]); k < end; k++ {
			sum += value[k] * b[int(index[k])*strideB+column]
		}
		at := row*strideC + column
		c[at] = scaled(alpha, sum, beta, &c[at])
	}
}

// planeOf returns a grid for an element of c per thread. The blocks of a grid along Y are at most
// 65535, so threads do several rows of a tall matrix.
func planeOf(cols, rows int) gpu.Grid { return gpu.Plane(cols, min(rows, 65535)) }

const columnsPerThread = 8

// mulTiles computes columnsPerThread elements of a row of c with each thread, for CPUs.
//
//quern:kernel instantiate=float32,float64
func mulTiles[T Float](t kernel.Thread, rows, cols, strideB, strideC int, alpha, beta T, start, index []int32, value, b, c []T) {
	tile, row := t.Global2()
	first := tile * columnsPerThread
	if first >= cols {
		return
	}
	for ; row < rows && row+1 < len(start); row += t.GridDim.Y * t.BlockDim.Y {
		end := int(start[row+1])
		if first+columnsPerThread <= cols {
			var sum [columnsPerThread]T
			for k := int(start[row]); k < end; k++ {
				v, at := value[k], int(index[k])*strideB+first
				for j, x := range b[at : at+columnsPerThread] {
					sum[j] += v * x
				}
			}
			for j, v := range sum {
				at := row*strideC + first + j
				c[at] = scaled(alpha, v, beta, &c[at])
			}
			continue
		}
		for column := first; column < cols; column++ {
			sum := T(0)
			for k := int(start[row]); k < end; k++ {
				sum += value[k] * b[int(index[k])*strideB+column]
			}
			at := row*strideC + column
			c[at] = scaled(alpha, sum, beta, &c[at])
		}
	}
}

// MulMat computes c = alpha*a*b + beta*c, or alpha*aᵀ*b + beta*c if transpose is true. If
// beta is 0, c is not read. c must not overlap b or the buffers of a. A thread adds up one
// element of c, so every device sums in the order of the entries; the transposed product
// transposes the matrix in temporary memory first.
func MulMat[T Float](s *gpu.Stream, transpose bool, alpha T, a CSR[T], b Dense[T], beta T, c Dense[T], work ...*gpu.Workspace) error {
	const op = "MulMat"
	if err := a.check(op, "a"); err != nil {
		return err
	}
	if err := checkMatrices(op, transpose, a.Rows, a.Cols, a.storage(), b, c); err != nil {
		return err
	}
	if done, err := mulMatByVendor(s, transpose, alpha, a, b, beta, c, work); done {
		return failed(op, err)
	}
	return failed(op, mulMat(s, transpose, alpha, a, b, beta, c, work))
}

// checkMatrices returns an error if b and c do not fit a matrix, or c shares memory with others.
func checkMatrices[T Float](op string, transpose bool, rows, cols int, a storage, b, c Dense[T]) error {
	if err := b.check(op, "b"); err != nil {
		return err
	}
	if err := c.check(op, "c"); err != nil {
		return err
	}
	if transpose {
		rows, cols = cols, rows
	}
	switch {
	case b.Rows != cols:
		return invalid(op, "b", "has %d rows, but op(a) has %d columns", b.Rows, cols)
	case c.Rows != rows:
		return invalid(op, "c", "has %d rows, but op(a) has %d", c.Rows, rows)
	case c.Cols != b.Cols:
		return invalid(op, "c", "has %d columns, but b has %d", c.Cols, b.Cols)
	}
	return checkResult(op, "c", c.Data, a, "b", b.Data, false)
}

// mulMat is MulMat with Quern's kernels.
func mulMat[T Float](s *gpu.Stream, transpose bool, alpha T, a CSR[T], b Dense[T], beta T, c Dense[T], work []*gpu.Workspace) error {
	scratch, err := gpu.OpenScratch(s, work)
	if err != nil {
		return err
	}
	defer scratch.Close()
	rows := c.Rows
	var turned transposition[T]
	if transpose {
		turned = takeTransposition(scratch, a)
	}
	if run, err := scratch.Ready(); !run || rows == 0 || c.Cols == 0 {
		return err
	}
	if transpose {
		if err := turned.run(s); err != nil {
			return err
		}
		a = turned.dst.Transpose()
	}
	return mulCompressed(s, alpha, a, b, beta, c)
}

// mulCompressed computes c = alpha*a*b + beta*c, where c has elements.
func mulCompressed[T Float](s *gpu.Stream, alpha T, a CSR[T], b Dense[T], beta T, c Dense[T]) error {
	rows := c.Rows
	if s.Device().Backend() == gpu.CPU {
		g := planeOf((c.Cols+columnsPerThread-1)/columnsPerThread, rows)
		return LaunchMulTiles(s, g, rows, c.Cols, b.Stride, c.Stride, alpha, beta, a.Start, a.Index, a.Value, b.Data, c.Data)
	}
	return LaunchMulColumns(s, planeOf(c.Cols, rows), rows, c.Cols, b.Stride, c.Stride, alpha, beta, a.Start, a.Index, a.Value, b.Data, c.Data)
}
