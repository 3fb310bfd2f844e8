package irtest

import (
	"fmt"
	"math"

	"quern.dev/internal/compiler/ir"
	"quern.dev/kernel"
)

func (m *machine) scalar(e ir.Expr) Value { return m.eval(e)[0] }

// eval returns an expression's value, cell by cell.
func (m *machine) eval(e ir.Expr) []Value {
	switch e := e.(type) {
	case *ir.Const:
		if e.T.IsFloat() {
			return []Value{FloatValue(e.Float)}
		}
		return []Value{{Bits: e.Bits}}
	case *ir.Zero:
		return make([]Value, cells(e.T))
	case *ir.Load:
		o, off := m.place(e.Place)
		return append([]Value(nil), o.Cells[off:off+cells(e.Place.Type())]...)
	case *ir.Unary:
		return []Value{unary(e, m.scalar(e.X))}
	case *ir.Binary:
		return []Value{m.binary(e)}
	case *ir.Convert:
		v := m.eval(e.X)
		if len(v) == 1 {
			v[0] = convert(e.X.Type(), e.T, v[0])
		}
		return v
	case *ir.Len:
		return []Value{{Bits: uint64(m.scalar(e.X).Len)}}
	case *ir.Cap:
		return []Value{{Bits: uint64(m.scalar(e.X).Cap)}}
	case *ir.SliceExpr:
		return []Value{m.slice(e)}
	case *ir.Addr:
		o, off := m.place(e.Place)
		return []Value{{Object: o, Off: off}}
	case *ir.ThreadValue:
		return []Value{{Bits: uint64(m.at[e.Op])}}
	case *ir.Intrinsic:
		args := make([]Value, len(e.Args))
		for i, a := range e.Args {
			args[i] = m.scalar(a)
		}
		return []Value{intrinsic(e, args)}
	case *ir.Composite:
		return m.composite(e)
	case *ir.Select:
		x, y := m.eval(e.X), m.eval(e.Y)
		if m.scalar(e.Cond).Bits != 0 {
			return x
		}
		return y
	}
	panic(fmt.Sprintf("irtest: expression %T", e))
}

func (m *machine) composite(e *ir.Composite) []Value {
	var out []Value
	for i, x := range e.Elems {
		t := e.T.Elem
		if e.T.Kind == ir.Struct {
			t = e.T.Fields[i].Type
		}
		if x == nil {
			out = append(out, make([]Value, cells(t))...)
			continue
		}
		out = append(out, m.eval(x)...)
	}
	return out
}

func (m *machine) slice(e *ir.SliceExpr) Value {
	var s Value
	if e.X != nil {
		s = m.scalar(e.X)
	} else {
		o, off := m.place(e.Array)
		n := int(e.Array.Type().Len)
		s = Value{Object: o, Off: off, Len: n, Cap: n}
	}
	bound := func(x ir.Expr, otherwise int) int64 {
		if x == nil {
			return int64(otherwise)
		}
		return int64(m.scalar(x).Bits)
	}
	lo, hi, limit := bound(e.Lo, 0), bound(e.Hi, s.Len), bound(e.Max, s.Cap)
	if lo < 0 || lo > hi || hi > limit || limit > int64(s.Cap) {
		panic(&Fault{"slice", e.Pos})
	}
	return Value{Object: s.Object, Off: s.Off + int(lo)*cells(e.T.Elem), Len: int(hi - lo), Cap: int(limit - lo)}
}

func unary(e *ir.Unary, x Value) Value {
	t := e.X.Type()
	switch {
	case e.Op == ir.LNot:
		return Value{Bits: 1 - x.Bits}
	case e.Op == ir.Not:
		return Value{Bits: ir.WrapBits(t.Kind, ^x.Bits)}
	case t.IsFloat():
		return FloatValue(-x.float())
	}
	return Value{Bits: ir.WrapBits(t.Kind, -x.Bits)}
}

func (m *machine) binary(e *ir.Binary) Value {
	x := m.scalar(e.X)
	if e.Op == ir.LAnd && x.Bits == 0 || e.Op == ir.LOr && x.Bits != 0 {
		return x
	}
	y := m.scalar(e.Y)
	t := e.X.Type()
	switch {
	case e.Op.IsLogical():
		return y
	case e.Op.IsComparison():
		return boolValue(compare(t, e.Op, x, y))
	case e.Op.IsShift():
		if e.Y.Type().IsSigned() && int64(y.Bits) < 0 {
			panic(&Fault{"shift", e.Pos})
		}
	case (e.Op == ir.Div || e.Op == ir.Rem) && t.IsInteger() && y.Bits == 0:
		panic(&Fault{"divide", e.Pos})
	}
	return arith(t, e.Op, x, y)
}

func boolValue(b bool) Value {
	if b {
		return Value{Bits: 1}
	}
	return Value{}
}

func compare(t *ir.Type, op ir.BinaryOp, x, y Value) bool {
	if op == ir.Eq || op == ir.Ne {
		equal := x == y
		if t.IsFloat() {
			equal = x.float() == y.float()
		}
		return equal == (op == ir.Eq)
	}
	less := func(a, b Value) bool {
		switch {
		case t.Kind == ir.Pointer: // separate objects have no order
			return a.Object == b.Object && a.Off < b.Off
		case t.IsFloat():
			return a.float() < b.float()
		case t.IsSigned():
			return int64(a.Bits) < int64(b.Bits)
		}
		return a.Bits < b.Bits
	}
	switch op {
	case ir.Lt:
		return less(x, y)
	case ir.Gt:
		return less(y, x)
	}
	if t.IsFloat() && (x.float() != x.float() || y.float() != y.float()) {
		return false
	}
	if op == ir.Le {
		return !less(y, x)
	}
	return !less(x, y)
}

func arith(t *ir.Type, op ir.BinaryOp, x, y Value) Value {
	if t.IsFloat() {
		a, b := x.float(), y.float()
		switch op {
		case ir.Add:
			return round(t, a+b)
		case ir.Sub:
			return round(t, a-b)
		case ir.Mul:
			return round(t, a*b)
		}
		return round(t, a/b)
	}
	return Value{Bits: ir.WrapBits(t.Kind, integer(t, op, x.Bits, y.Bits))}
}

func integer(t *ir.Type, op ir.BinaryOp, x, y uint64) uint64 {
	switch op {
	case ir.Add:
		return x + y
	case ir.Sub:
		return x - y
	case ir.Mul:
		return x * y
	case ir.Div:
		if t.IsSigned() {
			return uint64(int64(x) / int64(y))
		}
		return x / y
	case ir.Rem:
		if t.IsSigned() {
			return uint64(int64(x) % int64(y))
		}
		return x % y
	case ir.And:
		return x & y
	case ir.Or:
		return x | y
	case ir.Xor:
		return x ^ y
	case ir.AndNot:
		return x &^ y
	case ir.Shl:
		return x << y
	}
	if t.IsSigned() {
		return uint64(int64(x) >> y)
	}
	return x >> y
}

func minmax(t *ir.Type, wantMax bool, x, y Value) Value {
	if t.IsFloat() {
		if wantMax {
			return FloatValue(max(x.float(), y.float()))
		}
		return FloatValue(min(x.float(), y.float()))
	}
	if compare(t, ir.Lt, x, y) == wantMax {
		return y
	}
	return x
}

// toBits returns the value as stored in memory; fromBits is its inverse.
func toBits(t *ir.Type, v Value) uint64 {
	switch t.Kind {
	case ir.Float32:
		return uint64(math.Float32bits(float32(v.float())))
	case ir.Float64:
		return v.Bits
	}
	return v.Bits & (1<<(8*t.Size()-1)<<1 - 1)
}

func fromBits(t *ir.Type, b uint64) Value {
	switch t.Kind {
	case ir.Float32:
		return FloatValue(float64(math.Float32frombits(uint32(b))))
	case ir.Float64:
		return Value{Bits: b}
	}
	return Value{Bits: ir.WrapBits(t.Kind, b)}
}

// intrinsic evaluates an operation by its declaration, and handles what the declaration
// leaves open.
func intrinsic(e *ir.Intrinsic, a []Value) Value {
	t := e.Args[0].Type()
	switch {
	case e.Op == ir.FMA && t.IsHalf():
		return halfFMA(t, a)
	case e.Op == ir.FMA && t.Kind == ir.Float32:
		return round(t, fma32(a[0].float(), a[1].float(), a[2].float()))
	case e.Op == ir.Bitcast:
		return fromBits(e.T, toBits(t, a[0]))
	case e.Op.Fold == nil:
		panic("irtest: intrinsic " + e.Op.String())
	}
	args := make([]*ir.Const, len(a))
	for i, v := range a {
		args[i] = &ir.Const{T: e.Args[i].Type(), Bits: v.Bits}
		if args[i].T.IsFloat() {
			args[i] = &ir.Const{T: args[i].T, Float: v.float()}
		}
	}
	c := e.Op.Fold(e.T, args)
	if e.T.IsFloat() {
		return FloatValue(c.Float)
	}
	return Value{Bits: c.Bits}
}

// halfFMA returns x*y + z for a 16-bit type.
func halfFMA(t *ir.Type, a []Value) Value {
	x, y, z := uint16(a[0].Bits), uint16(a[1].Bits), uint16(a[2].Bits)
	if t.Kind == ir.BFloat16 {
		return Value{Bits: uint64(kernel.BFloat16FromBits(x).FMA(kernel.BFloat16FromBits(y), kernel.BFloat16FromBits(z)).Bits())}
	}
	return Value{Bits: uint64(kernel.Float16FromBits(x).FMA(kernel.Float16FromBits(y), kernel.Float16FromBits(z)).Bits())}
}
