package sparse

import (
	"quern.dev/gpu"
	"quern.dev/kernel"
)

// A triangular system is solved with one warp per row. Warps number themselves in the
// order in which they run, so a warp waits only for rows whose warps run already
// (Liu and others, "A synchronization-free algorithm for parallel sparse triangular
// solves", 2016). A block has one warp, because threads of a block may wait for each
// other only at barriers.

// nextRow returns the number of the block in the order in which blocks run.
func nextRow(t kernel.Thread, ticket []uint32) int {
	row := kernel.Shared[int](t)
	if t.ThreadIdx.X == 0 {
		*row = int(kernel.AtomicAdd(&ticket[0], 1))
	}
	t.Sync()
	return *row
}

// solveWarps solves with one warp per row. sync has a flag for each row, and the
// ticket.
//
//quern:kernel block=32 instantiate=float32,float64
func solveWarps[T Float](t kernel.Thread, upper, unit bool, start, index []int32, value []T, sync []uint32, b, x []T) {
	n := len(x)
	row := nextRow(t, sync[n:])
	if upper {
		row = n - 1 - row
	}
	sum, diagonal := T(0), T(0)
	end := int(start[row+1])
	for k := int(start[row]) + t.ThreadIdx.X; k < end; k += 32 {
		j := int(index[k])
		if j == row {
			diagonal += value[k]
		} else if j > row == upper {
			for kernel.LoadAcquire(&sync[j]) == 0 {
			}
			sum += value[k] * x[j]
		}
	}
	sum, diagonal = kernel.WarpReduceAdd(t, sum), kernel.WarpReduceAdd(t, diagonal)
	if t.ThreadIdx.X == 0 {
		v := b[row] - sum
		if !unit {
			v /= diagonal
		}
		x[row] = v
		kernel.StoreRelease(&sync[row], 1)
	}
}

// solveAll solves with one thread, for CPUs.
//
//quern:kernel instantiate=float32,float64
func solveAll[T Float](t kernel.Thread, upper, unit bool, start, index []int32, value []T, b, x []T) {
	if t.Global() > 0 {
		return
	}
	for i := range len(x) {
		row := i
		if upper {
			row = len(x) - 1 - i
		}
		sum, diagonal := T(0), T(0)
		end := int(start[row+1])
		for k := int(start[row]); k < end; k++ {
			j := int(index[k])
			if j == row {
				diagonal += value[k]
			} else if j > row == upper {
				sum += value[k] * x[j]
			}
		}
		v := b[row] - sum
		if !unit {
			v /= diagonal
		}
		x[row] = v
	}
}

// Triangle says which system [SolveTriangular] solves.
type Triangle struct {
	Upper     bool // the upper triangle of a, otherwise the lower one
	Unit      bool // the diagonal is 1, whatever a has there
	Transpose bool // aᵀ*x = b
}

// SolveTriangular solves a*x = b for the triangle of the square matrix a that part
// names; it ignores the entries of the other triangle. x may be b, and must not overlap it otherwise. A diagonal element
// that is missing or 0 makes elements of x infinities or NaN. The transposed system
// transposes the matrix in temporary memory first.
func SolveTriangular[T Float](s *gpu.Stream, part Triangle, a CSR[T], b, x *gpu.Buffer[T], work ...*gpu.Workspace) error {
	const op = "SolveTriangular"
	if err := a.check(op, "a"); err != nil {
		return err
	}
	switch {
	case a.Rows != a.Cols:
		return invalid(op, "a", "is %d x %d; it must be square", a.Rows, a.Cols)
	case b == nil || b.Len() != a.Rows:
		return invalid(op, "b", "has %d elements, but a has %d rows", b.Len(), a.Rows)
	case x == nil || x.Len() != a.Rows:
		return invalid(op, "x", "has %d elements, but a has %d columns", x.Len(), a.Rows)
	}
	if err := checkResult(op, "x", x, a.storage(), "b", b, true); err != nil {
		return err
	}
	scratch, err := gpu.OpenScratch(s, work)
	if err != nil {
		return failed(op, err)
	}
	defer scratch.Close()
	var turned transposition[T]
	if part.Transpose {
		turned = takeTransposition(scratch, a)
	}
	sync := gpu.Take[uint32](scratch, a.Rows+1)
	if run, err := scratch.Ready(); !run || a.Rows == 0 {
		return failed(op, err)
	}
	if part.Transpose {
		if err := turned.run(s); err != nil {
			return failed(op, err)
		}
		a = turned.dst.Transpose()
		part.Upper = !part.Upper
	}
	return failed(op, solveTriangle(s, part.Upper, part.Unit, a, sync, b, x))
}

func solveTriangle[T Float](s *gpu.Stream, upper, unit bool, a CSR[T], sync *gpu.Buffer[uint32], b, x *gpu.Buffer[T]) error {
	if s.Device().Backend() == gpu.CPU {
		return LaunchSolveAll(s, gpu.Linear(1), upper, unit, a.Start, a.Index, a.Value, b, x)
	}
	if err := gpu.Zero(s, sync); err != nil {
		return err
	}
	return LaunchSolveWarps(s, gpu.Linear(32*a.Rows), upper, unit, a.Start, a.Index, a.Value, sync, b, x)
}
