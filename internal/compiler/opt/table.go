package opt

import (
	"encoding/binary"
	"math"

	"quern.dev/internal/compiler/ir"
)

// tableConst returns the value of a scalar at a constant place in a table, nil for
// other places.
func tableConst(p ir.Place) *ir.Const {
	t := p.Type()
	if !t.IsInteger() && t.Kind != ir.Float32 && t.Kind != ir.Float64 && t.Kind != ir.Bool {
		return nil
	}
	offset := int64(0)
	for {
		switch q := p.(type) {
		case *ir.FieldPlace:
			offset += q.X.Type().Fields[q.Field].Offset
			p = q.X
			continue
		case *ir.IndexPlace:
			c := asConst(q.Index)
			if c == nil || c.Bits >= uint64(q.X.Type().Len) {
				return nil
			}
			offset += c.Int64() * q.Type().Size()
			p = q.X
			continue
		case *ir.TablePlace:
			return scalarAt(t, q.Table.Data[offset:])
		}
		return nil
	}
}

// scalarAt reads a scalar from memory.
func scalarAt(t *ir.Type, data []byte) *ir.Const {
	var word [8]byte
	copy(word[:t.Size()], data)
	v := binary.LittleEndian.Uint64(word[:])
	switch t.Kind {
	case ir.Float32:
		return ir.FloatConst(t, float64(math.Float32frombits(uint32(v))))
	case ir.Float64:
		return ir.FloatConst(t, math.Float64frombits(v))
	}
	return &ir.Const{T: t, Bits: ir.WrapBits(t.Kind, v)}
}
