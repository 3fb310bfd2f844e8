package ptx

import (
	"fmt"
	"testing"

	"quern.dev/internal/compiler/ir"
	. "quern.dev/internal/compiler/ir/irtest"
)

// A vector access handles elements of every size and sign, in every number, and omits
// unused ones.
func TestVectorAccesses(t *testing.T) {
	for _, typ := range []*ir.Type{ir.TInt8, ir.TUint8, ir.TInt16, ir.TUint16, ir.TInt32, ir.TUint32, ir.TFloat32, ir.TInt64, ir.TUint64, ir.TFloat64} {
		for _, n := range []int{2, 4, 8, 16} {
			t.Run(fmt.Sprintf("%d of %s", n, typ), func(t *testing.T) {
				x, y, z := Local("x", ir.SliceOf(typ)), Local("y", ir.SliceOf(typ)), Local("z", ir.SliceOf(typ))
				load := &ir.LoadVector{Place: unchecked(x)}
				some := &ir.LoadVector{Place: unchecked(x)}
				store := &ir.StoreVector{Place: unchecked(y)}
				k := Kernel("k", []*ir.Local{x, y, z}, nil, load, some, store)
				for i := range n {
					v := Local(fmt.Sprintf("v%d", i), typ)
					k.Func.Locals = append(k.Func.Locals, v)
					load.Dst = append(load.Dst, v)
					var value ir.Expr = &ir.Convert{T: typ, X: Sub(Int(3), To(ir.TInt, ir.Get(v)))}
					if i%3 == 2 {
						value = constant(typ, int64(i-5))
					}
					store.Src = append(store.Src, value)
					if i%2 == 0 {
						some.Dst = append(some.Dst, nil)
						continue
					}
					w := Local(fmt.Sprintf("w%d", i), typ)
					k.Func.Locals = append(k.Func.Locals, w)
					some.Dst = append(some.Dst, w)
					k.Func.Body = append(k.Func.Body, SetPlace(Elem(z, Int(int64(i))), ir.Get(w)))
				}
				in := SliceValue(typ, 32)
				for i := range in.Object.Cells {
					in.Object.Cells[i] = Value{Bits: ir.WrapBits(typ.Kind, uint64(i*37-90))}
					if typ.IsFloat() {
						in.Object.Cells[i] = FloatValue(float64(i*37 - 90))
					}
				}
				same(t, k, 1, in, SliceValue(typ, 32), SliceValue(typ, 32))
			})
		}
	}
}

func unchecked(s *ir.Local) ir.Place {
	return &ir.ElemPlace{Slice: ir.Get(s), Index: Int(16)}
}

func constant(t *ir.Type, v int64) ir.Expr {
	if t.IsFloat() {
		return ir.FloatConst(t, float64(v))
	}
	return ir.IntConst(t, v)
}
