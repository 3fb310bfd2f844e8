package gohost

import (
	"math"
	"strconv"

	"quern.dev/internal/compiler/ir"
)

// splitGuards removes the conditions that all effects of a list depend on: if i < n {
// ... } and if i >= n { return }. The conditions have no effects and cannot fail, except
// that a condition which is the same for the row may divide by zero if no condition of
// the thread precedes it (first).
func (f *facts) splitGuards(list []ir.Stmt, first bool) (guards []ir.Expr, rest []ir.Stmt) {
	var before []ir.Stmt // assignments of per-thread values
	for i, s := range list {
		switch s := s.(type) {
		case *ir.Assign:
			if p, ok := s.Dst.(*ir.VarPlace); ok && f.local(p.Var) < varying {
				before = append(before, s)
				continue
			}
		case *ir.If:
			tail := list[i+1:]
			if len(s.Else) > 0 {
				break
			}
			var conds []ir.Expr
			inner := s.Then
			if returns(s.Then) {
				conds, inner = f.conjunction(s.Cond, true), tail
			} else if len(tail) == 0 {
				conds = f.conjunction(s.Cond, false)
			}
			n := 0
			for n < len(conds) && (f.isGuard(conds[n]) || first && f.guardLevel(conds[n]) <= perRow) {
				first = first && f.guardLevel(conds[n]) <= perRow
				n++
			}
			if n == 0 {
				break
			}
			if n < len(conds) {
				inner = []ir.Stmt{&ir.If{Cond: join(conds[n:]), Then: inner, Pos: s.Pos}}
			}
			more, rest := f.splitGuards(inner, first)
			return append(conds[:n], more...), append(before, rest...)
		}
		break
	}
	return nil, list
}

// posOf returns the position of the first operation in x that has one.
func posOf(x ir.Expr) (pos ir.Pos) {
	v := ir.Visitor{Expr: func(x ir.Expr) bool {
		if b, ok := x.(*ir.Binary); ok && pos.Line == 0 && mayFaultBinary(b) {
			pos = b.Pos
		}
		return true
	}}
	v.Value(x)
	return pos
}

func returns(list []ir.Stmt) bool {
	if len(list) != 1 {
		return false
	}
	_, ok := list[0].(*ir.Return)
	return ok
}

// conjunction returns the terms of a condition, or of its negation, in evaluation
// order. All of them must hold.
func (f *facts) conjunction(x ir.Expr, negate bool) []ir.Expr {
	if v, ok := ir.Variable(x); ok && f.source[v] != nil && f.local(v) == perThread {
		return f.conjunction(f.source[v], negate)
	}
	if not, ok := x.(*ir.Unary); ok && not.Op == ir.LNot {
		return f.conjunction(not.X, !negate)
	}
	b, ok := x.(*ir.Binary)
	if ok && (b.Op == ir.LAnd && !negate || b.Op == ir.LOr && negate) {
		return append(f.conjunction(b.X, negate), f.conjunction(b.Y, negate)...)
	}
	if !negate {
		return []ir.Expr{x}
	}
	inverse := map[ir.BinaryOp]ir.BinaryOp{ir.Lt: ir.Ge, ir.Ge: ir.Lt, ir.Gt: ir.Le, ir.Le: ir.Gt, ir.Eq: ir.Ne, ir.Ne: ir.Eq}
	if ok && b.X.Type().IsInteger() {
		if op, ok := inverse[b.Op]; ok {
			c := *b
			c.Op = op
			return []ir.Expr{&c}
		}
	}
	return []ir.Expr{&ir.Unary{Op: ir.LNot, X: x}}
}

func join(terms []ir.Expr) ir.Expr {
	x := terms[0]
	for _, t := range terms[1:] {
		x = &ir.Binary{Op: ir.LAnd, X: x, Y: t}
	}
	return x
}

// guardLevel is the level of a condition whose divisions may fail.
func (f *facts) guardLevel(x ir.Expr) level {
	f.divides = true
	defer func() { f.divides = false }()
	return f.level(x)
}

// isGuard reports whether a condition is the same for the row of threads, or holds for
// a range of the row.
func (f *facts) isGuard(x ir.Expr) bool {
	if f.level(x) <= perRow {
		return true
	}
	_, ok := f.bounds(x)
	return ok
}

// bounds is a condition that compares offset + threadX with limit, or with top - limit
// if top is set. They are the same for the row: a thread passes if it is at least
// threadAt (isFirst), below it, or equal (isBoth).
type bounds struct {
	offset, limit   ir.Expr
	top             ir.Expr
	more            int // is added to limit
	isFirst, isBoth bool
}

// mirrored holds the comparison for operands in the other order.
var mirrored = map[ir.BinaryOp]ir.BinaryOp{ir.Lt: ir.Gt, ir.Gt: ir.Lt, ir.Le: ir.Ge, ir.Ge: ir.Le, ir.Eq: ir.Eq}

// bounds splits a condition of a range of the row.
func (f *facts) bounds(x ir.Expr) (bounds, bool) {
	b, ok := x.(*ir.Binary)
	if !ok || b.X.Type().Kind != ir.Int {
		return bounds{}, false
	}
	op, index, limit := b.Op, b.X, b.Y
	if f.level(b.X) <= perRow {
		op, index, limit = mirrored[b.Op], b.Y, b.X
	}
	var r bounds
	if r.offset, ok = f.offset(index); !ok {
		if r.top, r.offset, ok = f.descending(index); ok {
			op = mirrored[op]
		}
	}
	if !ok || mirrored[b.Op] == 0 || f.level(limit) > perRow {
		return bounds{}, false
	}
	r.limit = limit
	switch op {
	case ir.Ge:
		r.isFirst = true
	case ir.Gt:
		r.isFirst, r.more = true, 1
	case ir.Le:
		r.more = 1
	case ir.Eq:
		r.isBoth = true
	}
	return r, true
}

// threadAt prints the thread at which the condition changes.
func (e *emitter) threadAt(b bounds) string {
	if b.top != nil {
		b.limit = sum(ir.Sub, b.top, b.limit)
	}
	limit := e.value(b.limit, ir.TInt, precAdd)
	if c, ok := constant(b.limit); ok && c.Int64() < math.MaxInt32 {
		limit = strconv.FormatInt(c.Int64()+int64(b.more), 10)
	} else if b.more > 0 {
		limit += " + 1"
	}
	return e.difference(limit, b.offset)
}

func (w *windows) notNegative(start string) {
	if n, err := strconv.Atoi(start); err != nil || n < 0 {
		w.require(start + " >= 0")
	}
}

func (e *emitter) notNegative(x ir.Expr, w *windows) {
	if c, ok := constant(x); ok && c.Int64() >= 0 {
		return
	}
	w.require(e.value(x, ir.TInt, precCompare+1) + " >= 0")
}

func (e *emitter) difference(end string, offset ir.Expr) string {
	if c, ok := constant(offset); ok && c.Bits == 0 {
		return end
	}
	return end + " - " + e.value(offset, ir.TInt, precAdd+1)
}

// clamp splits the minimum or maximum of an index of the thread and a value that is the
// same for the row. Where the bounds hold, the result is the index.
func (f *facts) clamp(x *ir.Intrinsic) (b bounds, index ir.Expr, ok bool) {
	if !f.clamps || x.Op != ir.Min && x.Op != ir.Max || x.T.Kind != ir.Int || len(x.Args) != 2 {
		return bounds{}, nil, false
	}
	index, b.limit = x.Args[0], x.Args[1]
	if f.level(index) <= perRow {
		index, b.limit = b.limit, index
	}
	if x.Op == ir.Max {
		b.isFirst = true
	} else {
		b.more = 1
	}
	return b, index, f.level(b.limit) <= perRow
}

// clampsIn returns the bounds between which the indices of windows need not be clamped.
func (f *facts) clampsIn(body []ir.Stmt) (found []bounds) {
	f.clamps = true
	defer func() { f.clamps, f.found = false, nil }()
	v := ir.Visitor{Place: func(p ir.Place) bool {
		var all []bounds
		if f.found = &all; f.hasWindow(p) {
			found = append(found, all...)
		}
		return true
	}}
	v.Body(body)
	return found
}

// offset returns an index without the thread's X coordinate, or its lane if the threads
// of a warp run, or the number of the element if a loop runs over elements. The rest must be
// the same for the row.
func (f *facts) offset(x ir.Expr) (ir.Expr, bool) {
	switch x := x.(type) {
	case *ir.ThreadValue:
		if f.element == nil && (x.Op == ir.ThreadIdxX && !f.lanes || x.Op == ir.LaneID && f.lanes) {
			return ir.IntConst(ir.TInt, 0), true
		}
	case *ir.Load:
		p, ok := x.Place.(*ir.VarPlace)
		switch {
		case ok && p.Var == f.element:
			return ir.IntConst(ir.TInt, 0), true
		case ok && f.local(p.Var) == perThread:
			return f.offset(f.source[p.Var])
		}
	case *ir.Intrinsic:
		if c, index, ok := f.clamp(x); ok {
			offset, ok := f.offset(index)
			if ok && f.found != nil {
				c.offset = offset
				*f.found = append(*f.found, c)
			}
			return offset, ok
		}
	case *ir.Binary:
		if x.X.Type().Kind != ir.Int {
			return nil, false
		}
		switch {
		case x.Op == ir.Add && f.level(x.X) <= perRow:
			if o, ok := f.offset(x.Y); ok {
				return sum(ir.Add, x.X, o), true
			}
		case (x.Op == ir.Add || x.Op == ir.Sub) && f.level(x.Y) <= perRow:
			if o, ok := f.offset(x.X); ok {
				return sum(x.Op, o, x.Y), true
			}
		}
	}
	return nil, false
}

// descending splits an index that is top less an index of the thread, whose offset it
// returns.
func (f *facts) descending(x ir.Expr) (top, offset ir.Expr, ok bool) {
	switch x := x.(type) {
	case *ir.Load:
		if p, ok := x.Place.(*ir.VarPlace); ok && f.local(p.Var) == perThread && f.source[p.Var] != nil {
			return f.descending(f.source[p.Var])
		}
	case *ir.Binary:
		if x.Op == ir.Sub && x.X.Type().Kind == ir.Int && f.level(x.X) <= perRow {
			offset, ok = f.offset(x.Y)
			return x.X, offset, ok
		}
	}
	return nil, nil, false
}

func sum(op ir.BinaryOp, x, y ir.Expr) ir.Expr {
	if c, ok := constant(y); ok && c.Bits == 0 {
		return x
	}
	if c, ok := constant(x); ok && c.Bits == 0 && op == ir.Add {
		return y
	}
	return &ir.Binary{Op: op, X: x, Y: y}
}
