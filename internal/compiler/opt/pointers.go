package opt

import "quern.dev/internal/compiler/ir"

// pointers replaces pointers by the places they point to, and slices of arrays by the
// arrays, if a variable that is assigned once holds them. The variable is replaced by
// the address, and dereferencing the address of a place gives the place. Checks on the
// way to the place stay where the address was taken. What cannot be resolved is an
// address at run time.
func pointers(k *ir.Kernel) error {
	// A pointer to a pointer needs a second round.
	for range 4 {
		r := &resolver{uses: countUses(k.Func), known: map[*ir.Local]ir.Expr{}}
		rw := ir.Rewriter{Expr: r.expr, Place: r.place, Stmt: r.stmt}
		k.Func.Body = rw.Body(k.Func.Body)
		if len(r.known) == 0 {
			break
		}
		k.Func.Locals = without(k.Func.Locals, func(v *ir.Local) bool { return r.known[v] != nil })
	}
	return nil
}

// without returns the locals for which drop is false.
func without(list []*ir.Local, drop func(*ir.Local) bool) []*ir.Local {
	out := list[:0]
	for _, v := range list {
		if !drop(v) {
			out = append(out, v)
		}
	}
	return out
}

type resolver struct {
	uses usages
	// known maps a variable to its Addr, or to its SliceExpr of an array.
	known map[*ir.Local]ir.Expr
}

func (r *resolver) expr(e ir.Expr) ir.Expr {
	switch e := e.(type) {
	case *ir.Load:
		if v, ok := e.Place.(*ir.VarPlace); ok && r.known[v.Var] != nil {
			return ir.CloneExpr(r.known[v.Var])
		}
		if p, ok := e.Place.(*ir.ArrayPlace); ok {
			if w, ok := windowOf(p.Slice); ok && p.T.Len <= min(w.hi-w.lo, mostCopied) && r.stable(w.array) {
				return w.copied(p)
			}
		}
	case *ir.Len:
		if w, ok := windowOf(e.X); ok {
			return ir.IntConst(ir.TInt, w.hi-w.lo)
		}
	case *ir.Cap:
		if w, ok := windowOf(e.X); ok {
			return ir.IntConst(ir.TInt, w.max-w.lo)
		}
	case *ir.SliceExpr:
		w, ok := windowOf(e)
		if ok && e.X != nil {
			return w.slice(e)
		}
		e.Check = e.Check && !ok
	}
	return e
}

func (r *resolver) place(p ir.Place) ir.Place {
	switch p := p.(type) {
	case *ir.DerefPlace:
		if a, ok := p.Ptr.(*ir.Addr); ok {
			return a.Place
		}
	case *ir.ElemPlace:
		if w, ok := windowOf(p.Slice); ok {
			return w.element(p)
		}
	}
	return p
}

// stmt drops an assignment whose variable is replaced from here on.
func (r *resolver) stmt(s ir.Stmt) []ir.Stmt {
	a, ok := s.(*ir.Assign)
	if !ok {
		return []ir.Stmt{s}
	}
	dst, ok := a.Dst.(*ir.VarPlace)
	if !ok || !r.uses[dst.Var].once() {
		return []ir.Stmt{s}
	}
	var place ir.Place
	switch src := a.Src.(type) {
	case *ir.Addr:
		place = src.Place
	case *ir.SliceExpr:
		if _, ok := windowOf(src); ok {
			place = src.Array
		}
	}
	if place == nil || !r.stable(place) {
		return []ir.Stmt{s}
	}
	r.known[dst.Var] = a.Src
	if !ir.PlaceMayFault(place) {
		return nil
	}
	check := &ir.Check{Place: ir.ClonePlace(place)}
	clearChecks(place)
	return []ir.Stmt{check}
}

// clearChecks clears the bounds checks on the way to a place; checks within its indices
// stay.
func clearChecks(p ir.Place) {
	switch p := p.(type) {
	case *ir.FieldPlace:
		clearChecks(p.X)
	case *ir.IndexPlace:
		p.Check = false
		clearChecks(p.X)
	case *ir.ElemPlace:
		p.Check = false
	case *ir.ArrayPlace:
		p.Check = false
	case *ir.DerefPlace:
		p.Check = false
	}
}

// stable reports whether a place stays the same while the variables of its indices are
// in scope, so that it can be evaluated again.
func (r *resolver) stable(p ir.Place) bool {
	switch p := p.(type) {
	case *ir.VarPlace, *ir.SharedPlace, *ir.TablePlace:
		return true
	case *ir.FieldPlace:
		return r.stable(p.X)
	case *ir.IndexPlace:
		return r.stable(p.X) && r.steady(p.Index)
	case *ir.ElemPlace:
		return r.steady(p.Slice) && r.steady(p.Index)
	case *ir.ArrayPlace:
		return r.steady(p.Slice)
	case *ir.DerefPlace:
		return r.steady(p.Ptr)
	}
	return false
}

// steady reports whether an expression always has the same value and cannot stop the
// thread.
func (r *resolver) steady(e ir.Expr) bool {
	switch e := e.(type) {
	case *ir.Const, *ir.ThreadValue:
		return true
	case *ir.Load:
		v, ok := e.Place.(*ir.VarPlace)
		return ok && r.uses[v.Var].once()
	case *ir.Convert:
		return r.steady(e.X)
	case *ir.Unary:
		return r.steady(e.X)
	case *ir.Binary:
		return !e.Check && r.steady(e.X) && r.steady(e.Y)
	case *ir.Len:
		return r.steady(e.X)
	}
	return false
}

// window is the part [lo:hi:max] of an array that a slice refers to.
type window struct {
	array       ir.Place
	lo, hi, max int64
}

// windowOf returns the window of a slice of an array with constant, valid bounds.
func windowOf(e ir.Expr) (window, bool) {
	s, ok := e.(*ir.SliceExpr)
	if !ok {
		return window{}, false
	}
	var w window
	if s.Array != nil {
		n := s.Array.Type().Len
		w = window{s.Array, 0, n, n}
	} else if w, ok = windowOf(s.X); !ok {
		return w, false
	}
	lo, ok1 := boundOr(s.Lo, 0)
	hi, ok2 := boundOr(s.Hi, w.hi-w.lo)
	limit, ok3 := boundOr(s.Max, w.max-w.lo)
	valid := ok1 && ok2 && ok3 && 0 <= lo && lo <= hi && hi <= limit && limit <= w.max-w.lo
	return window{w.array, w.lo + lo, w.lo + hi, w.lo + limit}, valid
}

func boundOr(e ir.Expr, otherwise int64) (int64, bool) {
	if e == nil {
		return otherwise, true
	}
	c, ok := e.(*ir.Const)
	if !ok {
		return 0, false
	}
	return c.Int64(), true
}

// slice returns the slice expression of the array itself.
func (w window) slice(e *ir.SliceExpr) ir.Expr {
	bound := func(v int64) ir.Expr { return ir.IntConst(ir.TInt, v) }
	return &ir.SliceExpr{T: e.T, Array: w.array, Lo: bound(w.lo), Hi: bound(w.hi), Max: bound(w.max), Pos: e.Pos}
}

// mostCopied is the number of elements up to which a part of an array is copied one by one.
const mostCopied = 32

// copied returns the value of p, which is the first elements of the window.
func (w window) copied(p *ir.ArrayPlace) ir.Expr {
	all := &ir.Composite{T: p.T}
	for i := range p.T.Len {
		element := &ir.IndexPlace{X: ir.ClonePlace(w.array), Index: ir.IntConst(ir.TInt, w.lo+i), Pos: p.Pos}
		all.Elems = append(all.Elems, &ir.Load{Place: element})
	}
	return all
}

// element returns the array element for p, or p if its check differs from the array's.
func (w window) element(p *ir.ElemPlace) ir.Place {
	at := &ir.IndexPlace{X: w.array, Index: p.Index, Check: p.Check, Pos: p.Pos}
	if w.lo == 0 && w.hi == w.array.Type().Len {
		return at
	}
	if c, ok := p.Index.(*ir.Const); ok && c.Bits < uint64(w.hi-w.lo) {
		at.Index, at.Check = ir.IntConst(ir.TInt, c.Int64()+w.lo), false
		return at
	}
	if p.Check {
		return p
	}
	if w.lo != 0 {
		at.Index = &ir.Binary{Op: ir.Add, X: &ir.Convert{T: ir.TInt, X: p.Index}, Y: ir.IntConst(ir.TInt, w.lo)}
	}
	return at
}
