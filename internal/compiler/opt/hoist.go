package opt

import "quern.dev/internal/compiler/ir"

// hoist reads the bound of a loop once before the loop, if the bound is in memory that
// the loop does not change:
//
//	for e < ends[i] {        end := ends[i]
//	                         for e < end {
//
// The condition is evaluated at least once, so a check of the bound fails as before.
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

// bound returns the condition of a loop whose right side is to be hoisted, or nil.
func (h *hoister) bound(s *ir.Loop) *ir.Binary {
	cond, ok := s.Cond.(*ir.Binary)
	if !ok || !cond.Op.IsComparison() || len(s.Pre) > 0 || ir.MayFault(cond.X) || !readsMemory([]ir.Expr{cond.Y}) {
		return nil
	}
	if changesMemory(s.Body) || changesMemory(s.Post) {
		return nil
	}
	steady := true
	v := ir.Visitor{Place: func(p ir.Place) bool {
		if p, ok := p.(*ir.VarPlace); ok {
			u := h.uses[p.Var]
			steady = steady && u != nil && !u.addressed && !assigns(s.Body, p.Var) && !assigns(s.Post, p.Var)
		}
		return steady
	}}
	v.Value(cond.Y)
	if !steady {
		return nil
	}
	return cond
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
