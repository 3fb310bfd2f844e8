package ptx

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"quern.dev/internal/compiler/ir"
)

// table is constant data. It is in constant memory if all threads of a warp read the
// same element at a time. Otherwise it is in global memory, read through the read-only
// cache, because constant memory is slow when addresses differ.
type table struct {
	name  string
	space space // globalSpace or constSpace
	data  *ir.Table
	base  operand // register with its address, created on first use
}

func (g *generator) table(t *ir.Table) *table {
	for _, u := range g.tables {
		if u.data == t {
			return u
		}
	}
	u := &table{name: g.unique("table_" + t.Name), data: t, space: globalSpace}
	if slices.Contains(g.kernel.Constant, t) {
		u.space = constSpace
	}
	g.tables = append(g.tables, u)
	return u
}

// append writes the definition in the largest possible unit.
func (t *table) append(b []byte) []byte {
	data, align := t.data.Data, max(t.data.Type.Align(), 1)
	if len(data) == 0 {
		return fmt.Appendf(b, "%s .align %d .b8 %s[1];\n", t.space.directive(), align, t.name)
	}
	unit := int(align)
	for len(data)%unit != 0 {
		unit /= 2
	}
	b = fmt.Appendf(b, "%s .align %d .b%d %s[%d] = {", t.space.directive(), align, 8*unit, t.name, len(data)/unit)
	const perLine = 16
	for i := 0; i < len(data); i += unit {
		if i > 0 {
			b = append(b, ',')
		}
		if i/unit%perLine == 0 {
			b = append(b, "\n\t"...)
		} else {
			b = append(b, ' ')
		}
		var v uint64
		for j := range unit {
			v |= uint64(data[i+j]) << (8 * j)
		}
		b = appendHex(append(b, "0x"...), v, 2*unit)
	}
	return append(b, "\n};\n"...)
}

// constant returns the scalar of type t at an offset.
func (t *table) constant(typ *ir.Type, offset int64) (operand, bool) {
	size := typ.Size()
	if offset < 0 || offset+size > int64(len(t.data.Data)) || !typ.IsScalar() || typ.Kind == ir.Pointer {
		return operand{}, false
	}
	var word [8]byte
	copy(word[:], t.data.Data[offset:offset+size])
	v := binary.LittleEndian.Uint64(word[:])
	switch typ.Kind {
	case ir.Float32:
		return constOperand(ir.FloatConst(typ, float64(math.Float32frombits(uint32(v))))), true
	case ir.Float64:
		return constOperand(ir.FloatConst(typ, math.Float64frombits(v))), true
	}
	return constOperand(&ir.Const{T: typ, Bits: ir.WrapBits(typ.Kind, v)}), true
}
