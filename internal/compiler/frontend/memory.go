package frontend

import (
	"go/ast"
	"go/constant"
	"slices"

	"quern.dev/internal/compiler/ir"
)

// memoryFunction lowers the functions of package kernel that order memory accesses,
// copy asynchronously or read a clock.
func (fn *function) memoryFunction(e *ast.CallExpr, name string) ([]ir.Expr, bool) {
	switch op, ok := ir.MemoryFunction(name); {
	case ok && (op.IsLoad() || op.IsStore()):
		return fn.orderedAccess(e, op, name), true
	case ok && op.IsClock():
		s := &ir.Memory{Op: op, Dst: fn.result("now", ir.TInt64, e), Pos: fn.l.pos(e.Pos())}
		fn.emit(s)
		return []ir.Expr{ir.Get(s.Dst)}, true
	}
	switch name {
	case "Fence":
		fn.emit(&ir.Fence{Scope: fn.scope(e, 0, name), Pos: fn.l.pos(e.Pos())})
	case "AsyncCopy":
		fn.asyncCopy(e)
	case "AsyncCommit":
		fn.threadValue(e.Args[0])
		fn.f.UsesThread = true
		fn.emit(&ir.Memory{Op: ir.AsyncCommit, Pos: fn.l.pos(e.Pos())})
	case "AsyncWait":
		fn.threadValue(e.Args[0])
		fn.f.UsesThread = true
		fn.emit(&ir.Memory{Op: ir.AsyncWait, Count: fn.groups(e.Args[1], name), Pos: fn.l.pos(e.Pos())})
	case "GroupWait":
		fn.threadValue(e.Args[0])
		fn.f.UsesThread = true
		fn.emit(&ir.Memory{Op: ir.GroupWait, Count: fn.groups(e.Args[1], name), Pos: fn.l.pos(e.Pos())})
	case "BulkCopy", "BulkWait":
		fn.bulk(e, name)
	case "MapTiles", "BulkCopyTile":
		fn.tile(e, name)
	case "PutWords":
		fn.putWords(e)
	case "GetWords":
		return fn.getWords(e), true
	default:
		return nil, false
	}
	return nil, true
}

// result returns a new variable for the result of an operation.
func (fn *function) result(name string, t *ir.Type, e *ast.CallExpr) *ir.Local {
	return fn.hidden(name, t, e.Pos())
}

// scope returns the constant scope that may follow the first n arguments of a call.
func (fn *function) scope(e *ast.CallExpr, n int, name string) ir.Scope {
	if len(e.Args) <= n {
		return ir.DeviceScope
	}
	v := fn.src.Info.Types[e.Args[n]].Value
	if v == nil || e.Ellipsis.IsValid() {
		fn.errorf(e.Args[n].Pos(), "the scope of kernel.%s is not a constant; write kernel.BlockScope, kernel.DeviceScope or kernel.SystemScope", name)
		return ir.DeviceScope
	}
	if len(e.Args) > n+1 {
		fn.errorf(e.Args[n+1].Pos(), "kernel.%s has more than one scope; write the widest of them", name)
	}
	s, exact := constant.Int64Val(constant.ToInt(v))
	if !exact || s < 0 || s > int64(ir.SystemScope) {
		fn.errorf(e.Args[n].Pos(), "there is no scope %s; write kernel.BlockScope, kernel.DeviceScope or kernel.SystemScope", v)
		return ir.DeviceScope
	}
	return ir.Scope(s)
}

// groups returns the constant number of groups that AsyncWait or GroupWait leaves pending.
func (fn *function) groups(e ast.Expr, name string) int64 {
	v := fn.src.Info.Types[e].Value
	if v == nil {
		fn.errorf(e.Pos(), "the number of groups of kernel.%s is not a constant; unroll the loop around it, or wait for all with 0", name)
		return 0
	}
	n, exact := constant.Int64Val(constant.ToInt(v))
	if !exact || n < 0 || n > maxGroups {
		fn.errorf(e.Pos(), "kernel.%s for %s groups; the number is between 0 and %d", name, v, maxGroups)
		return 0
	}
	return n
}

// maxGroups is the maximum number of pending groups of copies, more than any pipeline
// has.
const maxGroups = 64

// visible returns the place that a pointer argument refers to, if other threads can
// access it; ok is false after an error.
func (fn *function) visible(e ast.Expr, name string) (p ir.Place, ok bool) {
	p = fn.pointee(e)
	switch root := ir.Root(p).(type) {
	case *ir.VarPlace:
		if fn.isBad(root) {
			return p, false
		}
		fn.errorf(e.Pos(), "kernel.%s on %s, which only this thread can see; use an element of a slice or of a shared variable", name, root.Var.Name)
		return p, false
	case *ir.TablePlace:
		fn.errorf(e.Pos(), "kernel.%s on a package-level variable, which kernels only read", name)
		return p, false
	}
	return p, true
}

func (fn *function) orderedAccess(e *ast.CallExpr, op ir.MemoryOp, name string) []ir.Expr {
	place, ok := fn.visible(e.Args[0], name)
	t := place.Type()
	bad := func() []ir.Expr {
		if op.IsLoad() {
			return []ir.Expr{zeroOf(t)}
		}
		return nil
	}
	if !ok {
		return bad()
	}
	if !isAtomic(t) {
		fn.errorf(e.Pos(), "kernel.%s is not supported on %s", name, t)
		return bad()
	}
	s := &ir.Memory{Op: op, Pos: fn.l.pos(e.Pos())}
	if op.IsStore() {
		s.Args = []ir.Expr{fn.exprAs(e.Args[1], t)}
		s.Scope = fn.scope(e, 2, name)
	} else {
		s.Dst, s.Scope = fn.result("loaded", t, e), fn.scope(e, 1, name)
	}
	s.Places = []ir.Place{place}
	fn.f.UsesThread = true // a thread that waits for another must end with its launch
	fn.emit(s)
	if s.Dst == nil {
		return nil
	}
	return []ir.Expr{ir.Get(s.Dst)}
}

// isAtomic reports whether values of a type are read and written in one access.
func isAtomic(t *ir.Type) bool {
	return (t.IsInteger() || t.IsFloat()) && t.Size() >= 4
}

func (fn *function) asyncCopy(e *ast.CallExpr) {
	fn.threadValue(e.Args[0])
	fn.f.UsesThread = true
	dst, ok := fn.visible(e.Args[1], "AsyncCopy")
	if !ok {
		return
	}
	dst = fn.stablePlace(dst, e.Pos()) // the source may emit statements
	src, ok := fn.visible(e.Args[2], "AsyncCopy")
	if !ok {
		return
	}
	t := dst.Type()
	switch {
	case !plain(t):
		fn.errorf(e.Pos(), "kernel.AsyncCopy of %s; shared memory cannot hold slices or pointers", t)
	case t.Size() != 4 && t.Size() != 8 && t.Size() != 16:
		fn.errorf(e.Pos(), "kernel.AsyncCopy of %s, which has %d bytes; copy 4, 8 or 16 bytes at a time, as in (*[4]float32)(s[i:])", t, t.Size())
	case !src.Type().Equal(t):
	default:
		fn.emit(&ir.Memory{Op: ir.AsyncCopy, Places: []ir.Place{dst, src}, Pos: fn.l.pos(e.Pos())})
	}
}

// bulk lowers a block-wide operation with a copy barrier.
func (fn *function) bulk(e *ast.CallExpr, name string) {
	fn.threadValue(e.Args[0])
	fn.f.UsesThread = true
	p, ok := fn.visible(e.Args[1], name)
	if !ok {
		return
	}
	s := &ir.Memory{Op: ir.BulkWait, Places: []ir.Place{fn.stablePlace(p, e.Pos())}, Pos: fn.l.pos(e.Pos())}
	if name == "BulkCopy" {
		s.Op = ir.BulkCopy
		s.Args = []ir.Expr{fn.stable(fn.expr(e.Args[2]), e.Args[2].Pos())} // the source may emit statements
		s.Args = append(s.Args, fn.expr(e.Args[3]))
		switch t := s.Args[0].Type(); {
		case t.Kind != ir.Slice || s.Args[1].Type().Kind != ir.Slice:
			return // already reported
		case !plain(t.Elem) || t.Elem.Size() == 0:
			fn.errorf(e.Pos(), "kernel.BulkCopy of %s; copy numbers, bools, or arrays and structs of these", t.Elem)
			return
		}
	}
	fn.emit(s)
}

// tile lowers the preparation for copies of tiles, and the start of one.
func (fn *function) tile(e *ast.CallExpr, name string) {
	fn.threadValue(e.Args[0])
	fn.f.UsesThread = true
	op, _ := ir.MemoryFunction(name)
	s := &ir.Memory{Op: op, Pos: fn.l.pos(e.Pos())}
	pointers := map[int]bool{1: true, 3: op == ir.BulkCopyTile}
	for i, arg := range e.Args {
		switch {
		case i == 0:
		case pointers[i]:
			p, ok := fn.visible(arg, name)
			if !ok {
				return
			}
			s.Places = append(s.Places, fn.stablePlace(p, e.Pos()))
		default:
			x := fn.expr(arg)
			if x.Type().Kind != ir.Slice {
				x = fn.exprAs(arg, ir.TInt)
			}
			s.Args = append(s.Args, fn.stable(x, arg.Pos()))
		}
	}
	matrix := s.Args[0]
	if op == ir.BulkCopyTile {
		matrix = s.Args[1]
	}
	if t := matrix.Type(); t.Kind == ir.Slice && (!plain(t.Elem) || !slices.Contains([]int64{1, 2, 4}, t.Elem.Size())) {
		fn.errorf(e.Pos(), "kernel.%s of %s; the elements of the matrix have 1, 2 or 4 bytes", name, t.Elem)
		return
	}
	fn.emit(s)
}
