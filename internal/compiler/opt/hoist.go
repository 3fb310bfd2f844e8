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
// Divisions and square roots are code with branches, which ptxas leaves in the loop.
func hoist(k *ir.Kernel) error {
	h := hoister{f: k.Func, uses: countUses(k.Func)}
	k.Func.Body = h.list(k.Func.Body)
	return nil
}

type hoister struct {
	f    *ir.Func
	uses usages
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
			out = append(out, h.invariants(s)...)
			if bound := h.bound(s); bound != nil {
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
// variables, and returns their assignments. What only some iterations compute is left.
func (h *hoister) invariants(loop *ir.Loop) []ir.Stmt {
	var out []ir.Stmt
	r := ir.Rewriter{Expr: func(e ir.Expr) ir.Expr {
		if len(out) == mostInvariants || !takesLong(e) || ir.MayFault(e) || !ofVariables(e) || !h.steady(loop, e) {
			return e
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
			s.Src = r.Value(s.Src)
		case *ir.If:
			s.Cond = r.Value(s.Cond)
		}
	}
	return out
}

// takesLong reports whether an expression is a division or a square root.
func takesLong(e ir.Expr) bool {
	switch e := e.(type) {
	case *ir.Binary:
		return e.Op == ir.Div && e.Type().IsFloat()
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
