package frontend

import (
	"go/ast"
	"go/token"
	"slices"

	"quern.dev/internal/compiler/ir"
)

func (fn *function) stmts(list []ast.Stmt) {
	fn.labelled(list, firstGotos(list))
}

// labelled lowers statements. A goto to a later label is a break out of the statements
// before the label; gotos are those of firstGotos.
func (fn *function) labelled(list []ast.Stmt, gotos map[string]int) {
	for i := len(list) - 1; i > 0 && len(gotos) > 0; i-- {
		l, ok := list[i].(*ast.LabeledStmt)
		if !ok {
			continue
		}
		if first, ok := gotos[l.Label.Name]; !ok || first >= i {
			continue
		}
		label := &ir.Label{Name: l.Label.Name}
		fn.gotos = append(fn.gotos, target{name: l.Label.Name, brk: label})
		before := fn.list(func() { fn.labelled(list[:i], gotos) })
		fn.gotos = fn.gotos[:len(fn.gotos)-1]
		fn.emit(&ir.Block{Label: label, Body: before})
		list = list[i:]
		break
	}
	for _, s := range list {
		fn.stmt(s, "")
	}
}

// firstGotos returns, by label, the index of the first statement that contains a goto to
// it; nil if the list has no labels.
func firstGotos(list []ast.Stmt) map[string]int {
	if !slices.ContainsFunc(list, func(s ast.Stmt) bool { _, ok := s.(*ast.LabeledStmt); return ok }) {
		return nil
	}
	first := map[string]int{}
	for i, s := range list {
		ast.Inspect(s, func(n ast.Node) bool {
			if b, ok := n.(*ast.BranchStmt); ok && b.Tok == token.GOTO {
				if _, ok := first[b.Label.Name]; !ok {
					first[b.Label.Name] = i
				}
			}
			return true
		})
	}
	return first
}

// stmt lowers a statement; label is its Go label.
func (fn *function) stmt(s ast.Stmt, label string) {
	fn.l.pkg.poll()
	switch s := s.(type) {
	case *ast.BlockStmt:
		fn.stmts(s.List)
	case *ast.LabeledStmt:
		fn.stmt(s.Stmt, s.Label.Name)
	case *ast.EmptyStmt:
	case *ast.ExprStmt:
		fn.exprStmt(s)
	case *ast.AssignStmt:
		fn.assignStmt(s)
	case *ast.IncDecStmt:
		op := ir.Add
		if s.Tok == token.DEC {
			op = ir.Sub
		}
		var one ir.Expr
		place := fn.target(s.X)
		if t := place.Type(); t.IsComplex() {
			one = &ir.Composite{T: t, Elems: []ir.Expr{ir.FloatConst(t.Fields[0].Type, 1), ir.FloatConst(t.Fields[1].Type, 0)}}
		} else if t.IsFloat() {
			one = ir.FloatConst(t, 1)
		} else {
			one = ir.IntConst(t, 1)
		}
		fn.update(place, op, one, s.Pos())
	case *ast.DeclStmt:
		fn.declStmt(s.Decl)
	case *ast.IfStmt:
		fn.ifStmt(s)
	case *ast.ForStmt:
		fn.forStmt(s, label)
	case *ast.RangeStmt:
		fn.rangeStmt(s, label)
	case *ast.SwitchStmt:
		fn.switchStmt(s, label)
	case *ast.BranchStmt:
		fn.branchStmt(s)
	case *ast.ReturnStmt:
		fn.returnStmt(s)
	case *ast.GoStmt:
		fn.errorf(s.Pos(), "go statements are not supported in kernels; the grid already runs many threads: launch more of them")
	case *ast.DeferStmt:
		fn.errorf(s.Pos(), "defer is not supported in kernels; call the function where it is needed")
	case *ast.SelectStmt:
		fn.errorf(s.Pos(), "select is not supported in kernels; use atomics to coordinate threads")
	case *ast.SendStmt:
		fn.errorf(s.Pos(), "channels are not supported in kernels; use slices for data and atomics to coordinate threads")
	case *ast.TypeSwitchStmt:
		fn.errorf(s.Pos(), "type switches are not supported in kernels; write one function for each type")
	default:
		fn.errorf(s.Pos(), "this statement is not supported in kernels")
	}
}

func (fn *function) exprStmt(s *ast.ExprStmt) {
	e := ast.Unparen(s.X)
	call, ok := e.(*ast.CallExpr)
	if !ok {
		if u, ok := e.(*ast.UnaryExpr); ok && u.Op == token.ARROW {
			fn.errorf(s.Pos(), "channels are not supported in kernels; use slices for data and atomics to coordinate threads")
			return
		}
		fn.errorf(s.Pos(), "this expression is not used")
		return
	}
	fn.call(call, true)
}

func (fn *function) declStmt(d ast.Decl) {
	gd, ok := d.(*ast.GenDecl)
	if !ok || gd.Tok != token.VAR {
		return // the type checker handles constants and types
	}
	for _, spec := range gd.Specs {
		vs := spec.(*ast.ValueSpec)
		lhs := make([]ast.Expr, len(vs.Names))
		for i, name := range vs.Names {
			lhs[i] = name
		}
		if len(vs.Values) > 0 {
			fn.define(lhs, vs.Values, vs.Pos())
			continue
		}
		for _, name := range vs.Names {
			if obj := fn.src.Info.Defs[name]; obj != nil && name.Name != "_" {
				if isThread(obj.Type()) {
					fn.errorf(name.Pos(), "a kernel.Thread cannot be declared; use the kernel's parameter")
					continue
				}
				if isFunction(fn.subst(obj.Type())) {
					fn.declareUnbound(name, obj)
					continue
				}
				v := fn.declare(name)
				fn.emit(&ir.Assign{Dst: &ir.VarPlace{Var: v}, Src: &ir.Zero{T: v.Type}, Pos: fn.l.pos(name.Pos())})
			}
		}
	}
}

// declare creates the variable that an identifier declares.
func (fn *function) declare(name *ast.Ident) *ir.Local {
	obj := fn.src.Info.Defs[name]
	if obj == nil {
		obj = fn.src.Info.Implicits[name]
	}
	if obj == nil {
		return fn.newLocal(name.Name, ir.TInt, name.Pos()) // did not type-check; reported elsewhere
	}
	v := fn.newLocal(name.Name, fn.typOf(name.Name, obj.Type(), name.Pos()), name.Pos())
	fn.vars[obj] = v
	return v
}

func (fn *function) assignStmt(s *ast.AssignStmt) {
	switch s.Tok {
	case token.DEFINE:
		fn.define(s.Lhs, s.Rhs, s.Pos())
	case token.ASSIGN:
		fn.assign(s.Lhs, s.Rhs, s.Pos())
	default:
		op, ok := assignOps[s.Tok]
		if !ok {
			fn.errorf(s.Pos(), "operator %s is not supported in kernels", s.Tok)
			return
		}
		place := fn.target(s.Lhs[0])
		var y ir.Expr
		if op.IsShift() {
			y = fn.expr(s.Rhs[0])
		} else {
			y = fn.exprAs(s.Rhs[0], place.Type())
		}
		fn.update(place, op, y, s.Pos())
	}
}

var assignOps = map[token.Token]ir.BinaryOp{
	token.ADD_ASSIGN: ir.Add, token.SUB_ASSIGN: ir.Sub, token.MUL_ASSIGN: ir.Mul, token.QUO_ASSIGN: ir.Div,
	token.REM_ASSIGN: ir.Rem, token.AND_ASSIGN: ir.And, token.OR_ASSIGN: ir.Or, token.XOR_ASSIGN: ir.Xor,
	token.AND_NOT_ASSIGN: ir.AndNot, token.SHL_ASSIGN: ir.Shl, token.SHR_ASSIGN: ir.Shr,
}

// update emits place = place op y.
func (fn *function) update(place ir.Place, op ir.BinaryOp, y ir.Expr, pos token.Pos) {
	x := &ir.Load{Place: ir.ClonePlace(place)}
	fn.emit(&ir.Assign{Dst: place, Src: fn.binary(op, x, y, pos), Pos: fn.l.pos(pos)})
}

// define lowers lhs := rhs (and var lhs = rhs).
func (fn *function) define(lhs, rhs []ast.Expr, pos token.Pos) {
	isNew := func(e ast.Expr) (*ast.Ident, bool) {
		id, ok := e.(*ast.Ident)
		return id, ok && id.Name != "_" && fn.src.Info.Defs[id] != nil
	}
	if len(lhs) == len(rhs) {
		for _, e := range lhs {
			if _, fresh := isNew(e); !fresh && !isBlank(e) {
				fn.assignSome(lhs, rhs, pos)
				return
			}
		}
		// Values first, then the variables: the right side refers to older variables.
		type pending struct {
			id    *ast.Ident
			value ir.Expr
		}
		var todo []pending
		for i, e := range lhs {
			id, fresh := isNew(e)
			if fresh && isThread(fn.src.Info.Defs[id].Type()) {
				fn.threadValue(rhs[i])
				continue
			}
			if fn.isFunctionExpr(rhs[i]) {
				fn.bind(e, fn.closure(rhs[i]))
				continue
			}
			var value ir.Expr
			if fresh {
				value = fn.exprAs(rhs[i], fn.typ(fn.src.Info.Defs[id].Type(), id.Pos()))
			} else {
				value = fn.expr(rhs[i])
			}
			if value == nil {
				continue
			}
			if len(lhs) > 1 || !fresh {
				value = fn.stable(value, rhs[i].Pos())
			}
			if fresh {
				todo = append(todo, pending{id, value})
			}
		}
		for _, p := range todo {
			v := fn.declare(p.id)
			fn.emit(&ir.Assign{Dst: &ir.VarPlace{Var: v}, Src: p.value, Pos: fn.l.pos(p.id.Pos())})
		}
		return
	}
	values := fn.multi(rhs[0])
	returned := fn.returned
	for i, e := range lhs {
		if isBlank(e) {
			continue
		}
		if i < len(returned) && returned[i] != nil {
			fn.bind(e, returned[i])
			continue
		}
		if i >= len(values) { // reported: the call could not be lowered
			if id, fresh := isNew(e); fresh {
				fn.declare(id)
			}
			continue
		}
		var dst ir.Place
		if id, fresh := isNew(e); fresh {
			dst = &ir.VarPlace{Var: fn.declare(id)}
		} else {
			dst = fn.target(e)
		}
		fn.emit(&ir.Assign{Dst: dst, Src: values[i], Pos: fn.l.pos(e.Pos())})
	}
}

// assignSome lowers := with both new and existing variables.
func (fn *function) assignSome(lhs, rhs []ast.Expr, pos token.Pos) {
	values := make([]ir.Expr, len(rhs))
	for i, e := range rhs {
		values[i] = fn.stable(fn.expr(e), e.Pos())
	}
	for i, e := range lhs {
		if isBlank(e) {
			continue
		}
		var dst ir.Place
		if id, ok := e.(*ast.Ident); ok && fn.src.Info.Defs[id] != nil {
			dst = &ir.VarPlace{Var: fn.declare(id)}
		} else {
			dst = fn.target(e)
		}
		fn.emit(&ir.Assign{Dst: dst, Src: convertTo(values[i], dst.Type()), Pos: fn.l.pos(pos)})
	}
}

// assign lowers lhs = rhs.
func (fn *function) assign(lhs, rhs []ast.Expr, pos token.Pos) {
	for _, e := range lhs {
		if fn.isFunctionExpr(e) {
			fn.reassigned(e)
			return
		}
	}
	if len(lhs) == 1 && len(rhs) == 1 {
		if isBlank(lhs[0]) {
			fn.discard(rhs[0])
			return
		}
		dst := fn.target(lhs[0])
		src := fn.exprAs(rhs[0], dst.Type())
		if src != nil {
			fn.emit(&ir.Assign{Dst: dst, Src: src, Pos: fn.l.pos(pos)})
		}
		return
	}
	// Operands of indices and pointer indirections on the left, and values on the
	// right, are evaluated first. The assignments follow in order.
	places := make([]ir.Place, len(lhs))
	for i, e := range lhs {
		if !isBlank(e) {
			places[i] = fn.stablePlace(fn.target(e), e.Pos())
		}
	}
	var values []ir.Expr
	if len(rhs) == len(lhs) {
		for i, e := range rhs {
			var v ir.Expr
			if places[i] != nil {
				v = fn.exprAs(e, places[i].Type())
			} else {
				v = fn.expr(e)
			}
			values = append(values, fn.stable(v, e.Pos()))
		}
	} else {
		values = fn.multi(rhs[0])
	}
	for i, p := range places {
		if p != nil && i < len(values) {
			fn.emit(&ir.Assign{Dst: p, Src: values[i], Pos: fn.l.pos(pos)})
		}
	}
}

// discard evaluates an expression for its side effects.
func (fn *function) discard(e ast.Expr) {
	if isThread(fn.typeOf(e)) {
		return
	}
	if fn.isFunctionExpr(e) {
		fn.closure(e)
		return
	}
	if v := fn.expr(e); v != nil {
		if l, ok := v.(*ir.Load); ok {
			if _, ok := ir.Root(l.Place).(*ir.VarPlace); !ok {
				fn.emit(&ir.Check{Place: l.Place})
			}
		}
	}
}

func isBlank(e ast.Expr) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == "_"
}

func (fn *function) branchStmt(s *ast.BranchStmt) {
	if s.Tok == token.GOTO {
		for _, t := range fn.gotos {
			if t.name == s.Label.Name {
				fn.emit(&ir.Break{Label: t.brk})
				return
			}
		}
		fn.errorf(s.Pos(), "goto backwards is not supported in kernels; use a loop, or break with a label")
		return
	}
	for i := len(fn.targets) - 1; i >= 0; i-- {
		t := fn.targets[i]
		if s.Label != nil && t.name != s.Label.Name {
			continue
		}
		if s.Tok == token.CONTINUE {
			if t.cont == nil {
				continue
			}
			fn.emit(&ir.Continue{Label: t.cont})
			return
		}
		fn.emit(&ir.Break{Label: t.brk})
		return
	}
	fn.errorf(s.Pos(), "%s has no enclosing statement", s.Tok)
}

func (fn *function) returnStmt(s *ast.ReturnStmt) {
	if fn.inlined != nil {
		fn.returnInlined(s)
		return
	}
	ret := &ir.Return{Pos: fn.l.pos(s.Pos())}
	results := fn.f.Results
	switch {
	case len(results) == 0:
	case len(s.Results) == 0:
		for _, v := range results {
			ret.Results = append(ret.Results, ir.Get(v))
		}
	case len(s.Results) == len(results):
		for i, e := range s.Results {
			v := fn.exprAs(e, results[i].Type)
			if v == nil {
				return
			}
			if i < len(s.Results)-1 {
				v = fn.stable(v, e.Pos()) // later operands may emit statements
			}
			ret.Results = append(ret.Results, v)
		}
	default:
		ret.Results = fn.multi(s.Results[0])
	}
	fn.emit(ret)
}
