package opt

import "quern.dev/internal/compiler/ir"

// hoist reads the bound of a loop once before the loop, if the bound is in memory that
// the loop does not change:
//
//	for e < ends[i] {        end := ends[i]
//	                         for e < end {
//
// The condition is evaluated at least once, so a check of the bound fails as before.
//
// It also computes once what takes long and is the same in every iteration:
//
//	for range n {            step := h / 6
//	    x += h / 6 * y       for range n {
//	}                            x += step * y
//	                         }
//
// ptxas expands divisions and square roots to branches or calls, and leaves them in the loop.
func hoist(k *ir.Kernel) error {
	h := hoister{f: k.Func, uses: countUses(k.Func), bounds: true}
	k.Func.Body = h.list(k.Func.Body)
	return nil
}

// hoistLong is hoist without the bounds.
func hoistLong(k *ir.Kernel) error {
	h := hoister{f: k.Func, uses: countUses(k.Func)}
	k.Func.Body = h.list(k.Func.Body)
	return nil
}

type hoister struct {
	f      *ir.Func
	uses   usages
	bounds bool
}

func (h *hoister) list(list []ir.Stmt) []ir.Stmt {
	var out []ir.Stmt
	for _, s := range list {
		switch s := s.(type) {
		case *ir.If:
			s.Then, s.Else = h.list(s.Then), h.list(s.Else)
		case *ir.Block:
			s.Body = h.list(s.Body)
		case *ir.Loop:
			s.Body = h.list(s.Body)
			out = append(out, h.invariants(s, h.surelyRuns(out, s))...)
			if bound := h.bound(s); h.bounds && bound != nil {
				v := &ir.Local{Name: "bound", Type: bound.Y.Type(), Hidden: true}
				h.f.Locals = append(h.f.Locals, v)
				out = append(out, &ir.Assign{Dst: &ir.VarPlace{Var: v}, Src: bound.Y, Pos: s.Pos})
				bound.Y = ir.Get(v)
			}
		}
		out = append(out, s)
	}
	return out
}

// mostInvariants is how many values a loop keeps in registers for hoist.
const mostInvariants = 4

// invariants replaces what takes long and is the same in every iteration of a loop by
// variables, and returns their assignments. What only some iterations compute is left. A
// division of integers is checked where it stands now only if the loop surely runs, and if
// nothing but divisions by the same variable can fail before it.
func (h *hoister) invariants(loop *ir.Loop, surelyRuns bool) []ir.Stmt {
	var out []ir.Stmt
	first := firstFault{none: surelyRuns}
	r := ir.Rewriter{Expr: func(e ir.Expr) ir.Expr {
		first.note(e)
		if len(out) == mostInvariants || !takesLong(e) || !ofVariables(e) || !h.steady(loop, e) {
			return e
		}
		if ir.MayFault(e) {
			b, ok := e.(*ir.Binary)
			if !ok || !first.isOf(b) || ir.MayFault(b.X) {
				return e
			}
			b.Pos = first.pos
		}
		v := &ir.Local{Name: "steady", Type: e.Type(), Hidden: true}
		h.f.Locals = append(h.f.Locals, v)
		h.uses[v] = &usage{}
		out = append(out, &ir.Assign{Dst: &ir.VarPlace{Var: v}, Src: e, Pos: loop.Pos})
		return ir.Get(v)
	}}
	for _, s := range loop.Body {
		switch s := s.(type) {
		case *ir.Assign:
			first.begin(s)
			s.Src = r.Value(s.Src)
		case *ir.If:
			first.end()
			s.Cond = r.Value(s.Cond)
		default:
			first.end()
		}
	}
	return out
}

// firstFault is what can fail first in an iteration: nothing, divisions by one variable, or
// something else.
type firstFault struct {
	none    bool
	divisor *ir.Local // if not nil
	pos     ir.Pos    // of the first division
}

// end notes that what follows may fail after other effects, or not run.
func (f *firstFault) end() { *f = firstFault{} }

// begin notes an assignment before its expressions: what can fail in it that is no expression,
// and whether it changes memory.
func (f *firstFault) begin(s *ir.Assign) {
	_, isVar := s.Dst.(*ir.VarPlace)
	other := !isVar
	v := ir.Visitor{Place: func(p ir.Place) bool {
		_, isPointer := p.(*ir.DerefPlace)
		check := ir.BoundsCheck(p)
		other = other || isPointer || check != nil && *check
		return true
	}}
	v.Value(s.Src)
	if other {
		f.end()
	}
}

// note notes an expression in the order of evaluation.
func (f *firstFault) note(e ir.Expr) {
	switch e := e.(type) {
	case *ir.SliceExpr:
		if e.Check {
			f.end()
		}
	case *ir.Binary:
		switch d, isVar := ir.Variable(e.Y); {
		case e.Op.IsLogical():
			f.end()
		case !e.Check:
		case !isVar || e.Op != ir.Div && e.Op != ir.Rem:
			f.end()
		case f.none:
			*f = firstFault{divisor: d, pos: e.Pos}
		case f.divisor != d:
			f.end()
		}
	}
}

// isOf reports whether a division fails only if the first one has failed.
func (f *firstFault) isOf(e *ir.Binary) bool {
	d, ok := ir.Variable(e.Y)
	return ok && f.divisor == d
}

// surelyRuns reports whether a loop, after some statements, has at least one iteration.
func (h *hoister) surelyRuns(before []ir.Stmt, s *ir.Loop) bool {
	cond, ok := s.Cond.(*ir.Binary)
	if !ok || len(s.Pre) > 0 {
		return false
	}
	v, isVar := ir.Variable(cond.X)
	bound := asConst(cond.Y)
	if !isVar || bound == nil || !v.Type.IsInteger() || !v.Type.IsSigned() {
		return false
	}
	start := initial(before, v)
	if start == nil || h.uses[v] == nil || h.uses[v].addressed {
		return false
	}
	switch a, b := start.Int64(), bound.Int64(); cond.Op {
	case ir.Lt:
		return a < b
	case ir.Le:
		return a <= b
	case ir.Gt:
		return a > b
	case ir.Ge:
		return a >= b
	}
	return false
}

// takesLong reports whether an expression is a division, unless it is one by a constant, or a
// square root.
func takesLong(e ir.Expr) bool {
	switch e := e.(type) {
	case *ir.Binary:
		return e.Op == ir.Div && e.Type().IsFloat() || (e.Op == ir.Div || e.Op == ir.Rem) && asConst(e.Y) == nil
	case *ir.Intrinsic:
		return e.Op == ir.Sqrt
	}
	return false
}

// ofVariables reports whether all that an expression reads are variables that are not in
// memory.
func ofVariables(e ir.Expr) bool {
	ok := true
	v := ir.Visitor{Place: func(p ir.Place) bool {
		_, isVar := ir.Root(p).(*ir.VarPlace)
		ok = ok && isVar
		return ok
	}}
	v.Value(e)
	return ok
}

// bound returns the condition of a loop whose right side is to be hoisted, or nil.
func (h *hoister) bound(s *ir.Loop) *ir.Binary {
	cond, ok := s.Cond.(*ir.Binary)
	if !ok || !cond.Op.IsComparison() || len(s.Pre) > 0 || ir.MayFault(cond.X) || !readsMemory([]ir.Expr{cond.Y}) {
		return nil
	}
	if changesMemory(s.Body) || changesMemory(s.Post) {
		return nil
	}
	if !h.steady(s, cond.Y) {
		return nil
	}
	return cond
}

// steady reports whether a loop assigns to no variable of an expression.
func (h *hoister) steady(s *ir.Loop, e ir.Expr) bool {
	ok := true
	v := ir.Visitor{Place: func(p ir.Place) bool {
		if p, isVar := p.(*ir.VarPlace); isVar {
			u := h.uses[p.Var]
			ok = ok && u != nil && !u.addressed && !assigns(s.Pre, p.Var) && !assigns(s.Body, p.Var) && !assigns(s.Post, p.Var)
		}
		return ok
	}}
	v.Value(e)
	return ok
}

// changesMemory reports whether a list may change anything but variables of the kernel,
// or wait until another thread has.
func changesMemory(list []ir.Stmt) bool {
	return leaves(list, func(s ir.Stmt) bool {
		switch s := s.(type) {
		case *ir.Assign:
			_, isVar := ir.Root(s.Dst).(*ir.VarPlace)
			return !isVar
		case *ir.If, *ir.Loop, *ir.Block, *ir.Break, *ir.Continue, *ir.Return, *ir.Panic, *ir.Check:
			return false
		}
		return true
	})
}
