package sparse

import (
	"fmt"
	"math/bits"
	"unsafe"

	"quern.dev/gpu"
	"quern.dev/internal/engine"
)

// sparseProduct is a call of MulVec or MulMat.
type sparseProduct[T Float] struct {
	engine.SparseProduct
	alpha, beta T
	a           CSR[T]
	b, c        *gpu.Buffer[T]
}

// mulVecByVendor computes MulVec with the library of the device's vendor if that is what the
// engine of the stream chooses. Otherwise done is false.
func mulVecByVendor[T Float](s *gpu.Stream, transpose bool, alpha T, a CSR[T], x *gpu.Buffer[T], beta T, y *gpu.Buffer[T], work []*gpu.Workspace) (done bool, err error) {
	u := engine.Of(s)
	if u == nil {
		return false, nil
	}
	p := engine.SparseProduct{Op: "sparse.MulVec", Rows: a.Rows, Cols: a.Cols, Entries: a.Entries(), Vector: true, Columns: 1, Transpose: transpose}
	return sparseProduct[T]{p, alpha, beta, a, x, y}.tryVendor(u, s, work)
}

// mulMatByVendor is the same for MulMat.
func mulMatByVendor[T Float](s *gpu.Stream, transpose bool, alpha T, a CSR[T], b Dense[T], beta T, c Dense[T], work []*gpu.Workspace) (done bool, err error) {
	u := engine.Of(s)
	if u == nil {
		return false, nil
	}
	p := engine.SparseProduct{Op: "sparse.MulMat", Rows: a.Rows, Cols: a.Cols, Entries: a.Entries(), Columns: c.Cols, StrideB: b.Stride, StrideC: c.Stride, Transpose: transpose}
	return sparseProduct[T]{p, alpha, beta, a, b.Data, c.Data}.tryVendor(u, s, work)
}

func (x sparseProduct[T]) tryVendor(u engine.Chooser, s *gpu.Stream, work []*gpu.Workspace) (done bool, err error) {
	if x.Rows == 0 || x.Cols == 0 || x.Columns == 0 {
		return false, nil
	}
	x.Double = unsafe.Sizeof(x.alpha) == 8
	class := x.class()
	e, known, err := u.Choose(s, class)
	if !known {
		e, err = x.measure(u, s, class)
	}
	if err != nil || e != engine.Vendor {
		return err != nil, err
	}
	err = u.Provider().MultiplySparse(s, x.SparseProduct, x.operands(), engine.First(work))
	return !u.FallsBack(class, err), err
}

func (x *sparseProduct[T]) operands() engine.SparseOperands {
	return engine.SparseOperands{
		Alpha: bitsAs64(x.alpha), Beta: bitsAs64(x.beta), Start: x.a.Start, Index: x.a.Index,
		Value: engine.Bytes(x.a.Value), B: engine.Bytes(x.b), C: engine.Bytes(x.c),
	}
}

// class returns the class of the product for measurements. Rows are as long as their mean and
// the longest are.
func (x *sparseProduct[T]) class() engine.Class {
	flags := 0
	for i, set := range [...]bool{x.Double, x.Transpose, x.beta != 0, x.StrideB%4 == 0, x.StrideC%4 == 0} {
		if set {
			flags |= 1 << i
		}
	}
	return engine.Class{Operation: x.Op, Library: engine.Sparse, Numbers: [...]int{
		flags, engine.Size(x.Rows), engine.Size(x.Cols), engine.Size(x.Entries / x.Rows), bits.Len(uint(x.a.Longest)), engine.Size(x.Columns), 13: 0,
	}}
}

// measure lets the engine measure both implementations. The results go to temporary memory.
func (x sparseProduct[T]) measure(u engine.Chooser, s *gpu.Stream, class engine.Class) (engine.Engine, error) {
	problem := fmt.Sprintf("%dx%d with %d entries, by %d columns", x.Rows, x.Cols, x.Entries, x.Columns)
	size := int(unsafe.Sizeof(x.alpha))
	elements := x.Rows
	if !x.Vector {
		elements = (x.Rows-1)*x.StrideC + x.Columns
	}
	return u.Measure(s, class, problem, engine.Trial{
		Bytes: elements * size,
		Check: func() error { return u.Provider().CanMultiplySparse(s.Device(), x.SparseProduct) },
		Own: func(s *gpu.Stream, c *gpu.Buffer[byte]) error {
			to := engine.Elements[T](c)
			if x.Vector {
				return mulVec(s, x.Transpose, x.alpha, x.a, x.b, x.beta, to, nil)
			}
			b, d := Dense[T]{x.a.Cols, x.Columns, x.StrideB, x.b}, Dense[T]{x.Rows, x.Columns, x.StrideC, to}
			return mulMat(s, x.Transpose, x.alpha, x.a, b, x.beta, d, nil)
		},
		Vendor: func(s *gpu.Stream, c *gpu.Buffer[byte]) error {
			o := x.operands()
			o.C = c
			return u.Provider().MultiplySparse(s, x.SparseProduct, o, nil)
		},
	})
}

// bitsAs64 returns the bits of a number.
func bitsAs64[T Float](v T) uint64 {
	if unsafe.Sizeof(v) == 8 {
		return *(*uint64)(unsafe.Pointer(&v))
	}
	return uint64(*(*uint32)(unsafe.Pointer(&v)))
}
