package opt

import "quern.dev/internal/compiler/ir"

// ranges finds the ranges of integers, removes the checks that cannot fail, and
// gives int values that fit 32 bits the type int32. In the narrow variant it
// may make conditions on the launch for that, Kernel.Limits, among them that
// every slice has fewer than 1<<31 elements.
//
// An operation's value is a polynomial over launch arguments, thread
// coordinates and values that are not looked into, as long as it cannot wrap.
// Conditions of branches and passed checks are inequalities between such
// polynomials, and so is what is to be proven: 0 <= i and i < len(x). A passed
// check thus proves the next one like it, and "i < len(x)" proves x[i].
//
// A check that is removed may rely on any that is evaluated before it: the
// operands of an operator from left to right, what is assigned before the place
// that is assigned to. Passes behind this one and back ends keep that order.
func ranges(k *ir.Kernel, v variant) error {
	freezeParams(k.Func)
	w := newRangeWalk(k, v)
	w.list(k.Func.Body)
	for check, sure := range w.proven {
		if sure {
			*check = false
		}
	}
	k.Limits = w.launchConditions()
	n := narrower{walk: w, narrow: map[*ir.Local]bool{}}
	n.kernel(k.Func)
	return nil
}

// freezeParams gives parameters that are assigned to a variable of their own,
// so that a parameter's name means the launch argument everywhere.
func freezeParams(f *ir.Func) {
	isParam := map[*ir.Local]bool{}
	for _, p := range f.Params {
		isParam[p] = true
	}
	copies := map[*ir.Local]*ir.Local{}
	var order []*ir.Local
	assign := func(v *ir.Local) {
		t := v.Type
		if isParam[v] && copies[v] == nil && (t.IsInteger() || t.Kind == ir.Bool || t.Kind == ir.Slice) {
			copies[v] = &ir.Local{Name: v.Name, Type: t, Pos: v.Pos}
			order = append(order, v)
		}
	}
	find := ir.Visitor{Stmt: func(s ir.Stmt) bool {
		switch s := s.(type) {
		case *ir.Assign:
			if v, ok := s.Dst.(*ir.VarPlace); ok {
				assign(v.Var)
			}
		default:
			for _, v := range ir.Defined(s) {
				if v != nil {
					assign(v)
				}
			}
		}
		return true
	}}
	find.Body(f.Body)
	if len(order) == 0 {
		return
	}
	replace := ir.Rewriter{
		Place: func(p ir.Place) ir.Place {
			if v, ok := p.(*ir.VarPlace); ok && copies[v.Var] != nil {
				v.Var = copies[v.Var]
			}
			return p
		},
		Stmt: func(s ir.Stmt) []ir.Stmt {
			switch s := s.(type) {
			case *ir.Atomic:
				if copies[s.Dst] != nil {
					s.Dst = copies[s.Dst]
				}
			case *ir.Memory:
				if copies[s.Dst] != nil {
					s.Dst = copies[s.Dst]
				}
			case *ir.Warp:
				for i, v := range s.Dst {
					if copies[v] != nil {
						s.Dst[i] = copies[v]
					}
				}
			case *ir.Effect:
				for i, v := range s.Dst {
					if copies[v] != nil {
						s.Dst[i] = copies[v]
					}
				}
			}
			return []ir.Stmt{s}
		},
	}
	body := replace.Body(f.Body)
	f.Body = nil
	for _, v := range order {
		f.Locals = append(f.Locals, copies[v])
		f.Body = append(f.Body, &ir.Assign{Dst: &ir.VarPlace{Var: copies[v]}, Src: ir.Get(v), Pos: v.Pos})
	}
	f.Body = append(f.Body, body...)
}
