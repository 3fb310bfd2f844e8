package frontend

import (
	"go/ast"
	"go/token"
	"go/types"

	"quern.dev/internal/compiler/ir"
)

func (fn *function) forStmt(s *ast.ForStmt, label string) {
	if s.Init != nil {
		fn.stmt(s.Init, "")
	}
	loop := &ir.Loop{Label: &ir.Label{Name: labelOr(label, "for")}, Pos: fn.l.pos(s.Pos()), Unroll: fn.hintOf(s)}
	fn.loops++ // the condition and the post statement are repeated like the body
	if s.Cond != nil {
		loop.Pre = fn.list(func() { loop.Cond = fn.expr(s.Cond) })
	}
	loop.Body = fn.loopBody(loop, label, s.Body)
	if s.Post != nil {
		loop.Post = fn.list(func() { fn.stmt(s.Post, "") })
	}
	fn.loops--
	fn.emit(loop)
}

func labelOr(label, fallback string) string {
	if label != "" {
		return label
	}
	return fallback
}

// loopBody lowers the body of a loop. Break and Continue may use its label.
func (fn *function) loopBody(loop *ir.Loop, label string, body *ast.BlockStmt) []ir.Stmt {
	fn.targets = append(fn.targets, target{name: label, brk: loop.Label, cont: loop.Label})
	fn.loops++
	list := fn.list(func() { fn.stmts(body.List) })
	fn.loops--
	fn.targets = fn.targets[:len(fn.targets)-1]
	return list
}

func (fn *function) rangeStmt(s *ast.RangeStmt, label string) {
	pos := fn.l.pos(s.Pos())
	xt := fn.subst(fn.typeOf(s.X))
	if xt == nil {
		return
	}
	under := xt.Underlying()
	if p, ok := under.(*types.Pointer); ok {
		under = p.Elem().Underlying()
	}
	var limit ir.Expr // number of iterations
	var element func(i *ir.Local) ir.Expr
	indexType := ir.TInt
	switch u := under.(type) {
	case *types.Basic:
		switch {
		case u.Info()&types.IsInteger != 0:
			limit = fn.stable(fn.expr(s.X), s.X.Pos())
			indexType = limit.Type()
			if tv := fn.src.Info.Types[s.X]; tv.Value != nil && s.Key != nil {
				if id, ok := s.Key.(*ast.Ident); ok {
					if t := fn.typeOf(id); t != nil {
						indexType = fn.typ(t, id.Pos())
						limit = convertTo(limit, indexType)
					}
				}
			}
		case u.Info()&types.IsString != 0:
			fn.errorf(s.X.Pos(), "range over a string takes it apart into runes, which is not supported in kernels; range over the length of a constant string and index its bytes")
			return
		default:
			fn.errorf(s.X.Pos(), "%s", unsupported(xt))
			return
		}
	case *types.Slice:
		x := fn.expr(s.X)
		if !fn.unchanged(s.X, s.Body) {
			x = ir.Get(fn.temp(x, s.X.Pos()))
		}
		limit = &ir.Len{X: ir.CloneExpr(x)}
		element = func(i *ir.Local) ir.Expr {
			return &ir.Load{Place: fn.elem(ir.CloneExpr(x), ir.Get(i), s.X.Pos())}
		}
	case *types.Array:
		limit = ir.IntConst(ir.TInt, u.Len())
		if s.Value != nil && !isBlank(s.Value) {
			place := fn.stablePlace(fn.place(s.X), s.X.Pos())
			if _, ok := xt.Underlying().(*types.Pointer); ok {
				place = fn.deref(&ir.Load{Place: place}, s.Pos())
			} else if !fn.unchanged(s.X, s.Body) {
				place = &ir.VarPlace{Var: fn.temp(&ir.Load{Place: place}, s.X.Pos())}
			}
			element = func(i *ir.Local) ir.Expr {
				return &ir.Load{Place: fn.indexed(ir.ClonePlace(place), ir.Get(i), true, s.X.Pos())}
			}
		}
	case *types.Signature:
		fn.errorf(s.X.Pos(), "range over a function is not supported in kernels; write a for loop")
		return
	default:
		fn.errorf(s.X.Pos(), "%s", unsupported(xt))
		return
	}

	// The hidden index counts; the user's variable is a copy unless the body does not
	// change it.
	index := fn.newLocal("i", indexType, s.Pos())
	var key ir.Place
	var keyID *ast.Ident
	if s.Key != nil && !isBlank(s.Key) {
		id, ok := s.Key.(*ast.Ident)
		if ok && s.Tok == token.DEFINE {
			index.Name = id.Name
			if obj := fn.src.Info.Defs[id]; obj != nil && !fn.assigned(obj, s.Body) {
				fn.vars[obj] = index
			} else {
				keyID = id
			}
		} else {
			key = fn.place(s.Key)
		}
	}
	fn.emit(&ir.Assign{Dst: &ir.VarPlace{Var: index}, Src: ir.IntConst(indexType, 0), Pos: pos})
	loop := &ir.Loop{
		Label: &ir.Label{Name: labelOr(label, "range")},
		Cond:  &ir.Binary{Op: ir.Lt, X: ir.Get(index), Y: limit, Pos: pos},
		Pos:   pos, Unroll: fn.hintOf(s),
	}
	head := fn.list(func() {
		if keyID != nil {
			key = &ir.VarPlace{Var: fn.declare(keyID)}
		}
		if key != nil {
			fn.emit(&ir.Assign{Dst: key, Src: convertTo(ir.Get(index), key.Type()), Pos: pos})
		}
		if s.Value != nil && !isBlank(s.Value) && element != nil {
			fn.copied(fn.subst(fn.typeOf(s.Value)), s.Value.Pos())
			v := element(index)
			var dst ir.Place
			if id, ok := s.Value.(*ast.Ident); ok && s.Tok == token.DEFINE {
				dst = &ir.VarPlace{Var: fn.declare(id)}
			} else {
				dst = fn.place(s.Value)
			}
			fn.emit(&ir.Assign{Dst: dst, Src: v, Pos: pos})
		}
	})
	loop.Body = append(head, fn.loopBody(loop, label, s.Body)...)
	loop.Post = []ir.Stmt{&ir.Assign{
		Dst: &ir.VarPlace{Var: index},
		Src: &ir.Binary{Op: ir.Add, X: ir.Get(index), Y: ir.IntConst(indexType, 1), Pos: pos},
		Pos: pos,
	}}
	fn.emit(loop)
}

// unchanged reports whether x is a variable that keeps its value while body runs: body
// does not assign it, as a whole or in part, and there is no pointer to it.
func (fn *function) unchanged(x ast.Expr, body ast.Node) bool {
	id, ok := ast.Unparen(x).(*ast.Ident)
	if !ok {
		return false
	}
	obj := fn.src.Info.Uses[id]
	if obj == nil || fn.assigned(obj, body) {
		return false
	}
	if fn.addressed == nil {
		fn.addressed = map[types.Object]bool{}
		if fn.body != nil {
			fn.anyAddressed(fn.body, func(obj types.Object) bool { fn.addressed[obj] = true; return false })
		}
	}
	return !fn.addressed[obj]
}

// assigned reports whether node assigns to the object or to a part of it (of an array
// or struct, not through a slice or pointer), or takes its address.
func (fn *function) assigned(obj types.Object, node ast.Node) bool {
	same := func(o types.Object) bool { return o == obj }
	return obj != nil && (fn.anyStored(node, same) || fn.anyAddressed(node, same))
}

// anyStored reports whether f returns true for a variable that node assigns to, as a
// whole or in part, by name.
func (fn *function) anyStored(node ast.Node, f func(types.Object) bool) bool {
	found := false
	part := func(e ast.Expr) {
		if obj := fn.variableOf(e); obj != nil && !found {
			found = f(obj)
		}
	}
	ast.Inspect(node, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, e := range n.Lhs {
				part(e)
			}
		case *ast.IncDecStmt:
			part(n.X)
		case *ast.RangeStmt:
			part(n.Key)
			part(n.Value)
		}
		return !found
	})
	return found
}

// anyAddressed reports whether f returns true for a variable of which node takes the
// address, or that of a part: with &, by slicing an array, by calling a method with a
// pointer receiver, or in a function literal that assigns to it.
func (fn *function) anyAddressed(node ast.Node, f func(types.Object) bool) bool {
	found := false
	part := func(e ast.Expr) {
		if obj := fn.variableOf(e); obj != nil && !found {
			found = f(obj)
		}
	}
	ast.Inspect(node, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.UnaryExpr:
			if n.Op == token.AND {
				part(n.X)
			}
		case *ast.FuncLit:
			found = found || fn.anyStored(n.Body, f)
		case *ast.SliceExpr:
			if t := fn.typeOf(n.X); t != nil {
				if _, ok := fn.subst(t).Underlying().(*types.Array); ok {
					part(n.X)
				}
			}
		case *ast.SelectorExpr:
			if s := fn.src.Info.Selections[n]; s != nil && s.Kind() == types.MethodVal {
				if sig, ok := s.Obj().Type().(*types.Signature); ok && sig.Recv() != nil {
					if _, ptr := sig.Recv().Type().(*types.Pointer); ptr {
						part(n.X)
					}
				}
			}
		}
		return !found
	})
	return found
}

// variableOf returns the object that e names, or names a part of; nil for none.
func (fn *function) variableOf(e ast.Expr) types.Object {
	for {
		switch x := ast.Unparen(e).(type) {
		case *ast.Ident:
			return fn.src.Info.Uses[x]
		case *ast.SelectorExpr:
			e = x.X
		case *ast.IndexExpr:
			if t := fn.typeOf(x.X); t == nil {
				return nil
			} else if _, ok := fn.subst(t).Underlying().(*types.Array); !ok {
				return nil
			}
			e = x.X
		default:
			return nil
		}
	}
}
