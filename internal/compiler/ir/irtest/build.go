package irtest

import "quern.dev/internal/compiler/ir"

// Kernel returns a kernel with its parameters, locals and body.
func Kernel(name string, params, locals []*ir.Local, body ...ir.Stmt) *ir.Kernel {
	return &ir.Kernel{Name: name, Func: &ir.Func{Name: name, Params: params, Locals: locals, Body: body}}
}

// Func returns a function.
func Func(name string, params, results, locals []*ir.Local, body ...ir.Stmt) *ir.Func {
	return &ir.Func{Name: name, Params: params, Results: results, Locals: locals, Body: body}
}

// Local returns a variable.
func Local(name string, t *ir.Type) *ir.Local { return &ir.Local{Name: name, Type: t} }

// Int returns an int constant.
func Int(v int64) ir.Expr { return ir.IntConst(ir.TInt, v) }

// F32 is a float32 constant.
func F32(v float64) ir.Expr { return ir.FloatConst(ir.TFloat32, v) }

// F64 is a float64 constant.
func F64(v float64) ir.Expr { return ir.FloatConst(ir.TFloat64, v) }

// Bool is a bool constant.
func Bool(v bool) ir.Expr { return ir.BoolConst(v) }

// Op applies an operator. Like in the front end, integer divisions by anything but a
// non-zero constant and shifts by signed variables are checked.
func Op(x ir.Expr, op ir.BinaryOp, y ir.Expr) ir.Expr {
	b := &ir.Binary{Op: op, X: x, Y: y}
	c, isConst := y.(*ir.Const)
	switch {
	case op == ir.Div || op == ir.Rem:
		b.Check = x.Type().IsInteger() && !(isConst && c.Bits != 0)
	case op.IsShift():
		b.Check = !isConst && y.Type().IsSigned()
	}
	return b
}

// Add is x + y.
func Add(x, y ir.Expr) ir.Expr { return Op(x, ir.Add, y) }

// Sub is x - y.
func Sub(x, y ir.Expr) ir.Expr { return Op(x, ir.Sub, y) }

// Mul is x * y.
func Mul(x, y ir.Expr) ir.Expr { return Op(x, ir.Mul, y) }

// Lt is x < y.
func Lt(x, y ir.Expr) ir.Expr { return Op(x, ir.Lt, y) }

// Thread reads a coordinate.
func Thread(op ir.ThreadOp) ir.Expr { return &ir.ThreadValue{Op: op} }

// Global is t.Global().
func Global() ir.Expr {
	return Add(Mul(Thread(ir.BlockIdxX), Thread(ir.BlockDimX)), Thread(ir.ThreadIdxX))
}

// Stride is t.Stride().
func Stride() ir.Expr { return Mul(Thread(ir.GridDimX), Thread(ir.BlockDimX)) }

// Len is len(s).
func Len(s *ir.Local) ir.Expr { return &ir.Len{X: ir.Get(s)} }

// To is a conversion.
func To(t *ir.Type, x ir.Expr) ir.Expr { return &ir.Convert{T: t, X: x} }

// Load reads a place.
func Load(p ir.Place) ir.Expr { return &ir.Load{Place: p} }

// Addr is the address of a place.
func Addr(p ir.Place) ir.Expr { return &ir.Addr{T: ir.PointerTo(p.Type()), Place: p} }

// Composite is a struct or array value.
func Composite(t *ir.Type, elems ...ir.Expr) ir.Expr { return &ir.Composite{T: t, Elems: elems} }

// Var is a variable as a place.
func Var(v *ir.Local) ir.Place { return &ir.VarPlace{Var: v} }

// Elem is s[i], checked.
func Elem(s *ir.Local, i ir.Expr) ir.Place {
	return &ir.ElemPlace{Slice: ir.Get(s), Index: i, Check: true}
}

// Index is p[i] of an array, checked.
func Index(p ir.Place, i ir.Expr) ir.Place { return &ir.IndexPlace{X: p, Index: i, Check: true} }

// Field is p.f of a struct.
func Field(p ir.Place, f int) ir.Place { return &ir.FieldPlace{X: p, Field: f} }

// Deref is *p.
func Deref(p *ir.Local) ir.Place { return &ir.DerefPlace{Ptr: ir.Get(p)} }

// Shared is a shared variable as a place.
func Shared(v *ir.SharedVar) ir.Place { return &ir.SharedPlace{Var: v} }

// Set is v = e.
func Set(v *ir.Local, e ir.Expr) ir.Stmt { return &ir.Assign{Dst: Var(v), Src: e} }

// SetPlace is p = e.
func SetPlace(p ir.Place, e ir.Expr) ir.Stmt { return &ir.Assign{Dst: p, Src: e} }

// If is an if statement without an else.
func If(cond ir.Expr, then ...ir.Stmt) *ir.If { return &ir.If{Cond: cond, Then: then} }

// Else completes an if statement.
func Else(s *ir.If, body ...ir.Stmt) *ir.If { s.Else = body; return s }

// For is for v = from; v < to; v += 1 { body }, as two statements.
func For(v *ir.Local, from, to ir.Expr, body ...ir.Stmt) []ir.Stmt {
	return []ir.Stmt{Set(v, from), &ir.Loop{
		Label: &ir.Label{Name: v.Name}, Cond: Lt(ir.Get(v), to), Body: body,
		Post: []ir.Stmt{Set(v, Add(ir.Get(v), ir.IntConst(v.Type, 1)))}}}
}

// Call is dst = f(args).
func Call(dst *ir.Local, f *ir.Func, args ...ir.Expr) ir.Stmt {
	c := &ir.Call{Func: f, Args: args}
	if len(f.Results) > 0 {
		c.Dst = []*ir.Local{dst}
	}
	return c
}

// Return returns values.
func Return(results ...ir.Expr) ir.Stmt { return &ir.Return{Results: results} }

// Body joins statements and statement lists.
func Body(parts ...any) []ir.Stmt {
	var out []ir.Stmt
	for _, p := range parts {
		switch p := p.(type) {
		case ir.Stmt:
			out = append(out, p)
		case []ir.Stmt:
			out = append(out, p...)
		}
	}
	return out
}
