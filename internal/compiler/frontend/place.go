package frontend

import (
	"go/ast"
	"go/token"
	"go/types"

	"quern.dev/internal/compiler/ir"
)

// target lowers the left side of an assignment.
func (fn *function) target(e ast.Expr) ir.Place {
	if fn.threadField(e) != nil || isThread(fn.typeOf(e)) {
		fn.errorf(e.Pos(), "the kernel's thread cannot be changed; copy the coordinate to a variable")
	}
	return fn.place(e)
}

// place lowers an operand that can be assigned to. It stores other operands in a
// temporary.
func (fn *function) place(e ast.Expr) ir.Place {
	e = ast.Unparen(e)
	switch e := e.(type) {
	case *ast.Ident:
		obj := fn.src.Info.Uses[e]
		if obj == nil {
			obj = fn.src.Info.Defs[e]
		}
		if v, ok := fn.vars[obj]; ok {
			return &ir.VarPlace{Var: v}
		}
		if v, ok := obj.(*types.Var); ok {
			if isThread(v.Type()) { // reported by callers
				return fn.badPlace(ir.TInt)
			}
			if v.Pkg() != nil && v.Parent() == v.Pkg().Scope() {
				return fn.table(v, e.Pos())
			}
		}
		if e.Name == "_" || obj == nil { // the type checker has reported an undeclared name
			return fn.badPlace(fn.valueType(e))
		}
		fn.errorf(e.Pos(), "%s is not a variable that a kernel can use", e.Name)
		return fn.badPlace(ir.TInt)
	case *ast.SelectorExpr:
		if fn.threadField(e) != nil || isThread(fn.typeOf(e.X)) {
			break
		}
		sel := fn.src.Info.Selections[e]
		if sel == nil {
			if v, ok := fn.src.Info.Uses[e.Sel].(*types.Var); ok {
				return fn.table(v, e.Pos())
			}
			fn.errorf(e.Pos(), "%s is not a variable that a kernel can use", e.Sel.Name)
			return fn.badPlace(ir.TInt)
		}
		if sel.Kind() != types.FieldVal {
			fn.errorf(e.Pos(), keptFunction)
			return fn.badPlace(ir.TInt)
		}
		return fn.fieldPath(e.X, sel.Index())
	case *ast.IndexExpr:
		xt := fn.typeOf(e.X)
		if xt == nil {
			return fn.badPlace(ir.TInt)
		}
		xt = fn.subst(xt)
		switch u := xt.Underlying().(type) {
		case *types.Slice:
			slice := fn.expr(e.X)
			return fn.elem(slice, fn.index(e.Index), e.Pos())
		case *types.Array:
			x := fn.place(e.X)
			return fn.arrayElem(x, e)
		case *types.Basic:
			if text, ok := fn.constantString(e.X); ok {
				return fn.arrayElem(fn.stringTable(text, e.X.Pos()), e)
			}
		case *types.Pointer:
			if _, ok := u.Elem().Underlying().(*types.Array); ok {
				return fn.arrayElem(fn.deref(fn.expr(e.X), e.Pos()), e)
			}
		case *types.Signature:
			fn.errorf(e.Pos(), keptFunction)
			return fn.badPlace(ir.TInt)
		}
		fn.errorf(e.X.Pos(), "%s", unsupported(xt))
		return fn.badPlace(ir.TInt)
	case *ast.StarExpr:
		return fn.deref(fn.expr(e.X), e.Pos())
	}
	return &ir.VarPlace{Var: fn.temp(fn.expr(e), e.Pos())}
}

// badPlace returns a placeholder for a place with a reported error.
func (fn *function) badPlace(t *ir.Type) ir.Place {
	return &ir.VarPlace{Var: fn.newLocal("bad", t, token.NoPos)}
}

// isBad reports whether a place is a badPlace: all others have a position.
func (fn *function) isBad(p *ir.VarPlace) bool { return p.Var.Pos == fn.l.pos(token.NoPos) }

// deref returns what a pointer points to. As in elem, a value of another kind is a
// placeholder for one with a reported error.
func (fn *function) deref(ptr ir.Expr, pos token.Pos) ir.Place {
	if ptr.Type().Kind != ir.Pointer {
		return fn.badPlace(ir.TInt)
	}
	_, direct := ptr.(*ir.Addr)
	return &ir.DerefPlace{Ptr: ptr, Check: !direct && !fn.unchecked, Pos: fn.l.pos(pos)}
}

// elem returns an element of a slice.
func (fn *function) elem(slice, index ir.Expr, pos token.Pos) ir.Place {
	if slice.Type().Kind != ir.Slice {
		return fn.badPlace(ir.TInt)
	}
	return &ir.ElemPlace{Slice: slice, Index: index, Check: !fn.unchecked, Pos: fn.l.pos(pos)}
}

func (fn *function) arrayElem(x ir.Place, e *ast.IndexExpr) ir.Place {
	index := fn.index(e.Index)
	_, constant := index.(*ir.Const) // the type checker has verified that it is in range
	return fn.indexed(x, index, !constant, e.Pos())
}

// indexed returns an element of an array.
func (fn *function) indexed(x ir.Place, index ir.Expr, check bool, pos token.Pos) ir.Place {
	if x.Type().Kind != ir.Array {
		return fn.badPlace(ir.TInt)
	}
	return &ir.IndexPlace{X: x, Index: index, Check: check && !fn.unchecked, Pos: fn.l.pos(pos)}
}

// index lowers an index or a bound; untyped constants are of type int.
func (fn *function) index(e ast.Expr) ir.Expr {
	if tv, ok := fn.src.Info.Types[e]; ok && tv.Value != nil {
		if c := constantOf(tv.Value, ir.TInt); c != nil {
			return c
		}
	}
	return fn.expr(e)
}

// fieldPath returns the place of a field, through embedded fields and pointers.
func (fn *function) fieldPath(x ast.Expr, path []int) ir.Place {
	t := fn.subst(fn.typeOf(x))
	var p ir.Place
	if ptr, ok := t.Underlying().(*types.Pointer); ok {
		p = fn.deref(fn.expr(x), x.Pos())
		t = ptr.Elem()
	} else {
		p = fn.place(x)
	}
	return fn.fields(p, t, path, x.Pos())
}

func (fn *function) fields(p ir.Place, t types.Type, path []int, pos token.Pos) ir.Place {
	for _, i := range path {
		if ptr, ok := t.Underlying().(*types.Pointer); ok {
			p = fn.deref(&ir.Load{Place: p}, pos)
			t = ptr.Elem()
		}
		s, ok := fn.subst(t).Underlying().(*types.Struct)
		if !ok {
			return fn.badPlace(ir.TInt)
		}
		if isThread(s.Field(i).Type()) { // reported for the variable that contains it
			return fn.badPlace(ir.TInt)
		}
		if pt := p.Type(); pt.Kind != ir.Struct { // reported at the conversion of the type
			return fn.badPlace(fn.typ(s.Field(i).Type(), pos))
		}
		p = &ir.FieldPlace{X: p, Field: i}
		t = s.Field(i).Type()
	}
	return p
}

// stablePlace makes a place denote the same variable on every later use: its indices
// become constants or temporaries. The checks on the way are made now.
func (fn *function) stablePlace(p ir.Place, pos token.Pos) ir.Place {
	p, checked := fn.stabilise(p, pos)
	if checked {
		fn.emit(&ir.Check{Place: ir.ClonePlace(p)})
		clearChecks(p)
	}
	return p
}

func (fn *function) stabilise(p ir.Place, pos token.Pos) (ir.Place, bool) {
	switch p := p.(type) {
	case *ir.FieldPlace:
		x, checked := fn.stabilise(p.X, pos)
		p.X = x
		return p, checked
	case *ir.IndexPlace:
		x, checked := fn.stabilise(p.X, pos)
		p.X, p.Index = x, fn.stable(p.Index, pos)
		return p, checked || p.Check
	case *ir.ElemPlace:
		p.Slice, p.Index = fn.stable(p.Slice, pos), fn.stable(p.Index, pos)
		return p, p.Check
	case *ir.ArrayPlace:
		p.Slice = fn.stable(p.Slice, pos)
		return p, p.Check
	case *ir.DerefPlace:
		if _, direct := p.Ptr.(*ir.Addr); !direct {
			p.Ptr = fn.stable(p.Ptr, pos)
		}
		return p, false // taking the address checks it
	}
	return p, false
}

func clearChecks(p ir.Place) {
	for {
		switch q := p.(type) {
		case *ir.FieldPlace:
			p = q.X
		case *ir.IndexPlace:
			q.Check = false
			p = q.X
		case *ir.ElemPlace:
			q.Check = false
			return
		case *ir.ArrayPlace:
			q.Check = false
			return
		case *ir.DerefPlace:
			q.Check = false
			return
		default:
			return
		}
	}
}

// arrayOfSlice returns the array that a slice is converted to, directly or through a
// pointer; nil for other conversions.
func (fn *function) arrayOfSlice(e *ast.CallExpr, t *ir.Type) ir.Place {
	from, ok := fn.subst(fn.typeOf(e.Args[0])).Underlying().(*types.Slice)
	array := t
	if t.Kind == ir.Pointer {
		array = t.Elem
	}
	if !ok || array.Kind != ir.Array || array.Len == 0 || !array.Elem.Equal(fn.typ(from.Elem(), e.Pos())) {
		return nil
	}
	s := ir.Get(fn.temp(fn.expr(e.Args[0]), e.Pos()))
	return &ir.ArrayPlace{T: array, Slice: s, Check: !fn.unchecked, Pos: fn.l.pos(e.Pos())}
}

// addr returns the address of an operand.
func (fn *function) addr(e ast.Expr) ir.Expr {
	if lit, ok := ast.Unparen(e).(*ast.CompositeLit); ok {
		v := fn.temp(fn.composite(lit), e.Pos())
		return &ir.Addr{T: ir.PointerTo(v.Type), Place: &ir.VarPlace{Var: v}}
	}
	if isThread(fn.typeOf(e)) {
		fn.errorf(e.Pos(), "%s", threadByPointer)
		return zeroOf(ir.TInt)
	}
	if fn.isFunctionExpr(e) {
		fn.errorf(e.Pos()-1, functionPointer)
		return zeroOf(ir.TInt)
	}
	p := fn.place(e)
	if d, ok := p.(*ir.DerefPlace); ok {
		return d.Ptr
	}
	p = fn.stablePlace(p, e.Pos())
	return &ir.Addr{T: ir.PointerTo(p.Type()), Place: p}
}
