package frontend

import (
	"go/ast"
	"go/constant"
	"go/types"

	"quern.dev/internal/compiler/ir"
)

// warp lowers the call of a warp operation: the arguments are the thread, a value and,
// for a shuffle, the lane.
func (fn *function) warp(e *ast.CallExpr, op ir.WarpOp, name string, typeArgs []types.Type) []ir.Expr {
	if len(e.Args) < 2 {
		return nil // did not type-check
	}
	fn.threadValue(e.Args[0])
	t := ir.TBool
	if len(typeArgs) == 1 {
		t = fn.typ(typeArgs[0], e.Pos())
	}
	if !plain(t) || t.IsAggregate() && !op.IsShuffle() {
		allowed := "numbers and bools"
		if op.IsShuffle() {
			allowed = "numbers, bools, and arrays and structs of these"
		}
		fn.errorf(e.Args[1].Pos(), "kernel.%s is not supported on %s; use %s", name, t, allowed)
		t = ir.TBool
	}
	v := fn.exprAs(e.Args[1], t)
	var lane ir.Expr
	if op.IsShuffle() {
		v = fn.stable(v, e.Pos()) // the lane may emit statements
		lane = fn.stable(fn.lane(e.Args[2], name), e.Pos())
	}
	if t.IsAggregate() {
		return []ir.Expr{fn.shuffleParts(e, op, v, lane)}
	}
	return fn.emitWarp(e, op, v, lane)
}

// lane lowers the lane, distance or mask of a shuffle.
func (fn *function) lane(e ast.Expr, name string) ir.Expr {
	if v := fn.src.Info.Types[e].Value; v != nil {
		if n, ok := constant.Int64Val(constant.ToInt(v)); !ok || n < 0 || n >= ir.WarpSize {
			what := map[string]string{"Shuffle": "lane", "ShuffleXor": "mask"}[name]
			if what == "" {
				what = "distance"
			}
			fn.errorf(e.Pos(), "%s %s of kernel.%s is not in a warp; lanes have the numbers 0 to 31", what, v, name)
			return ir.IntConst(ir.TInt, 0)
		}
	}
	return fn.exprAs(e, ir.TInt)
}

// emitWarp emits an operation on a scalar and returns its results.
func (fn *function) emitWarp(e *ast.CallExpr, op ir.WarpOp, v, lane ir.Expr) []ir.Expr {
	s := &ir.Warp{Op: op, Args: []ir.Expr{v}, Pos: fn.l.pos(e.Pos())}
	if lane != nil {
		s.Args = append(s.Args, lane)
	}
	var results []ir.Expr
	for i, t := range op.Results(v.Type()) {
		if i > 0 && op.IsShuffle() { // whether the lane exists
			s.Dst = append(s.Dst, nil)
			continue
		}
		d := fn.hidden(op.String(), t, e.Pos())
		s.Dst = append(s.Dst, d)
		results = append(results, ir.Get(d))
	}
	fn.f.UsesThread = true
	fn.emit(s)
	return results
}

// shuffleParts shuffles the scalars of a struct or array.
func (fn *function) shuffleParts(e *ast.CallExpr, op ir.WarpOp, v, lane ir.Expr) ir.Expr {
	from, to := fn.temp(v, e.Pos()), fn.newLocal(op.String(), v.Type(), e.Pos())
	fn.emit(&ir.Assign{Dst: &ir.VarPlace{Var: to}, Src: &ir.Zero{T: v.Type()}, Pos: fn.l.pos(e.Pos())})
	var parts func(t *ir.Type, place func(root *ir.Local) ir.Place)
	parts = func(t *ir.Type, place func(root *ir.Local) ir.Place) {
		switch t.Kind {
		case ir.Struct:
			for i, f := range t.Fields {
				parts(f.Type, func(root *ir.Local) ir.Place { return &ir.FieldPlace{X: place(root), Field: i} })
			}
		case ir.Array:
			for i := range t.Len {
				parts(t.Elem, func(root *ir.Local) ir.Place {
					return &ir.IndexPlace{X: place(root), Index: ir.IntConst(ir.TInt, i)}
				})
			}
		default:
			out := fn.emitWarp(e, op, &ir.Load{Place: place(from)}, ir.CloneExpr(lane))
			fn.emit(&ir.Assign{Dst: place(to), Src: out[0], Pos: fn.l.pos(e.Pos())})
		}
	}
	parts(v.Type(), func(root *ir.Local) ir.Place { return &ir.VarPlace{Var: root} })
	return ir.Get(to)
}

// syncWarp lowers t.SyncWarp().
func (fn *function) syncWarp(e *ast.CallExpr) {
	fn.f.UsesThread = true
	fn.emit(&ir.Warp{Op: ir.WarpSync, Pos: fn.l.pos(e.Pos())})
}
