package sparse

import (
	"context"
	"errors"

	"quern.dev/gpu"
	"quern.dev/kernel"
)

// ILU0 is the preconditioner that solves with an incomplete factorization of the
// matrix: a lower and an upper triangular matrix that have entries only where the
// matrix has them (Saad, "Iterative methods for sparse linear systems", 2003, section
// 10.3). It has temporary memory of its own, so one solver at a time can use it.
type ILU0[T Float] struct {
	factors CSR[T] // with the buffers of the matrix, but for Value
	sync    *gpu.Buffer[uint32]
}

// findDiagonal finds the entries of the diagonal. flaw[0] is the first row in which
// columns are not in strictly ascending order or the diagonal has no entry.
//
//quern:kernel
func findDiagonal(t kernel.Thread, start, index, diagonal, flaw []int32) {
	row := t.Global()
	if row >= len(diagonal) || row+1 >= len(start) {
		return
	}
	at, last := int32(-1), int32(-1)
	end := int(start[row+1])
	for k := int(start[row]); k < end; k++ {
		if index[k] <= last {
			at = -1
			break
		}
		last = index[k]
		if int(last) == row {
			at = int32(k)
		}
	}
	diagonal[row] = at
	if at < 0 {
		kernel.AtomicMin(&flaw[0], int32(row))
	}
}

// eliminate subtracts l times the entries first, first+step, ... below end, which are
// of a row above, from those of the same columns among the entries low to high-1.
func eliminate[T Float](l T, first, step, end, low, high int, index []int32, value []T) {
	for q := first; q < end; q += step {
		at := low + search(index[low:high], index[q])
		if at < high && index[at] == index[q] {
			value[at] -= l * value[q]
		}
	}
}

// factorWarps factors with one warp per row, which waits for the rows that it needs.
// flaw[0] is the first row whose pivot is 0 or not a number.
//
//quern:kernel block=32 instantiate=float32,float64
func factorWarps[T Float](t kernel.Thread, start, index, diagonal []int32, value []T, sync []uint32, flaw []int32) {
	n := len(diagonal)
	row := nextRow(t, sync[n:])
	end := int(start[row+1])
	own := int(diagonal[row])
	for k := int(start[row]); k < own; k++ {
		j := int(index[k])
		for kernel.LoadAcquire(&sync[j]) == 0 {
		}
		l := value[k] / value[diagonal[j]]
		eliminate(l, int(diagonal[j])+1+t.ThreadIdx.X, 32, int(start[j+1]), k+1, end, index, value)
		t.Sync()
		if t.ThreadIdx.X == 0 {
			value[k] = l
		}
	}
	t.Sync()
	if t.ThreadIdx.X == 0 {
		if p := value[own]; p == 0 || p != p {
			kernel.AtomicMin(&flaw[0], int32(row))
		}
		kernel.StoreRelease(&sync[row], 1)
	}
}

// factorAll factors with one thread, for CPUs.
//
//quern:kernel instantiate=float32,float64
func factorAll[T Float](t kernel.Thread, start, index, diagonal []int32, value []T, flaw []int32) {
	if t.Global() > 0 {
		return
	}
	for row := range len(diagonal) {
		end := int(start[row+1])
		own := int(diagonal[row])
		for k := int(start[row]); k < own; k++ {
			j := int(index[k])
			l := value[k] / value[diagonal[j]]
			eliminate(l, int(diagonal[j])+1, 1, int(start[j+1]), k+1, end, index, value)
			value[k] = l
		}
		if p := value[own]; (p == 0 || p != p) && flaw[0] > int32(row) {
			flaw[0] = int32(row)
		}
	}
}

// NewILU0 factors a square matrix. The columns of each row must be in ascending order
// and without duplicates, and the diagonal must have entries; [CSCToCSR] of [CSRToCSC]
// sorts them. NewILU0 waits for the device, to find zero pivots. The matrix's Start and
// Index must stay open. The caller closes the preconditioner.
func NewILU0[T Float](ctx context.Context, s *gpu.Stream, a CSR[T]) (*ILU0[T], error) {
	const op = "NewILU0"
	if err := a.check(op, "a"); err != nil {
		return nil, err
	}
	if a.Rows != a.Cols {
		return nil, invalid(op, "a", "is %d x %d; it must be square", a.Rows, a.Cols)
	}
	p := &ILU0[T]{factors: a}
	var errs [2]error
	p.factors.Value, errs[0] = gpu.Alloc[T](s.Device(), a.Entries())
	p.sync, errs[1] = gpu.Alloc[uint32](s.Device(), a.Rows+1)
	err := errors.Join(errs[:]...)
	if err == nil && a.Rows > 0 {
		err = p.factor(ctx, s, a)
	}
	if err != nil {
		p.Close()
		if _, ok := err.(*Error); ok {
			return nil, err
		}
		return nil, failed(op, err)
	}
	return p, nil
}

func (p *ILU0[T]) factor(ctx context.Context, s *gpu.Stream, a CSR[T]) error {
	scratch, err := gpu.OpenScratch(s, nil)
	if err != nil {
		return err
	}
	defer scratch.Close()
	diagonal, flaw := gpu.Take[int32](scratch, a.Rows), gpu.Take[int32](scratch, 1)
	if _, err := scratch.Ready(); err != nil {
		return err
	}
	if err := gpu.Copy(s, p.factors.Value, a.Value); err != nil {
		return err
	}
	none := int32(a.Rows)
	if err := gpu.Fill(s, flaw, none); err != nil {
		return err
	}
	if err := LaunchFindDiagonal(s, gpu.Linear(a.Rows), a.Start, a.Index, diagonal, flaw); err != nil {
		return err
	}
	var first [1]int32
	if err := gpu.Download(ctx, s, first[:], flaw); err != nil {
		return err
	}
	if first[0] != none {
		return invalid("NewILU0", "a", "has a row, %d, whose columns are not in strictly ascending order or that has no entry on the diagonal", first[0])
	}
	if s.Device().Backend() == gpu.CPU {
		err = LaunchFactorAll(s, gpu.Linear(1), a.Start, a.Index, diagonal, p.factors.Value, flaw)
	} else if err = gpu.Zero(s, p.sync); err == nil {
		err = LaunchFactorWarps(s, gpu.Linear(32*a.Rows), a.Start, a.Index, diagonal, p.factors.Value, p.sync, flaw)
	}
	if err != nil {
		return err
	}
	if err := gpu.Download(ctx, s, first[:], flaw); err != nil {
		return err
	}
	if first[0] != none {
		return invalid("NewILU0", "a", "has a pivot in row %d that is 0 or not a number", first[0])
	}
	return nil
}

func (p *ILU0[T]) rows() int { return p.factors.Rows }

func (p *ILU0[T]) ready(op string) error {
	if p == nil || p.sync == nil {
		return invalid(op, "Preconditioner", "was not made by NewILU0")
	}
	return nil
}

func (p *ILU0[T]) apply(s *gpu.Stream, z, r *gpu.Buffer[T]) error {
	if err := solveTriangle(s, false, true, p.factors, p.sync, r, z); err != nil {
		return err
	}
	return solveTriangle(s, true, false, p.factors, p.sync, z, z)
}

// Close frees the memory once the work that uses it is done.
func (p *ILU0[T]) Close() error {
	if p == nil {
		return nil
	}
	return errors.Join(p.factors.Value.Close(), p.sync.Close())
}
