package sparse

import (
	"quern.dev/gpu"
	"quern.dev/kernel"
)

// Jacobi is the preconditioner that divides by the diagonal. It is safe for concurrent
// use.
type Jacobi[T Float] struct{ inverse *gpu.Buffer[T] }

// inverseDiagonal computes the reciprocals of a diagonal, or 1 where it is 0.
//
//quern:kernel instantiate=float32,float64
func inverseDiagonal[T Float](t kernel.Thread, start, index []int32, value, inverse []T) {
	if i := t.Global(); i < len(inverse) && i+1 < len(start) {
		d := T(0)
		end := int(start[i+1])
		for k := int(start[i]); k < end; k++ {
			if int(index[k]) == i {
				d += value[k]
			}
		}
		if d == 0 {
			d = 1
		}
		inverse[i] = 1 / d
	}
}

// scale computes z = d*r, element by element.
//
//quern:kernel instantiate=float32,float64
func scale[T Float](t kernel.Thread, d, r, z []T) {
	if i := t.Global(); i < len(z) {
		z[i] = d[i] * r[i]
	}
}

// NewJacobi makes the preconditioner for a square matrix. Elements of the diagonal that
// are 0 count as 1. The caller closes it.
func NewJacobi[T Float](s *gpu.Stream, a CSR[T]) (*Jacobi[T], error) {
	const op = "NewJacobi"
	if err := a.check(op, "a"); err != nil {
		return nil, err
	}
	if a.Rows != a.Cols {
		return nil, invalid(op, "a", "is %d x %d; it must be square", a.Rows, a.Cols)
	}
	inverse, err := gpu.Alloc[T](s.Device(), a.Rows)
	if err != nil {
		return nil, failed(op, err)
	}
	if a.Rows > 0 {
		if err := LaunchInverseDiagonal(s, gpu.Linear(a.Rows), a.Start, a.Index, a.Value, inverse); err != nil {
			inverse.Close()
			return nil, failed(op, err)
		}
	}
	return &Jacobi[T]{inverse}, nil
}

func (p *Jacobi[T]) rows() int { return p.inverse.Len() }

func (p *Jacobi[T]) ready(op string) error {
	if p == nil || p.inverse == nil {
		return invalid(op, "Preconditioner", "was not made by NewJacobi")
	}
	return nil
}

func (p *Jacobi[T]) apply(s *gpu.Stream, z, r *gpu.Buffer[T]) error {
	return LaunchScale(s, gpu.Linear(p.rows()), p.inverse, r, z)
}

// Close frees the memory once the work that uses it is done.
func (p *Jacobi[T]) Close() error {
	if p == nil {
		return nil
	}
	return p.inverse.Close()
}
