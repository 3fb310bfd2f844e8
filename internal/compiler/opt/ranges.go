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
	w.settleConditions() // while checks that a launch must promise to pass are still there
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

// settleConditions puts what is run in the place of statements whose condition
// is decided. What is not run stays, behind a constant, where it has all
// assignments to a variable that is read elsewhere: in code that is not run either.
func (w *rangeWalk) settleConditions() {
	uses := countUses(w.kernel.Func)
	r := ir.Rewriter{Stmt: func(st ir.Stmt) []ir.Stmt {
		s, ok := st.(*ir.If)
		d := w.decisions[s]
		if !ok || !d.always && !d.never || mayFault(s.Cond) {
			return []ir.Stmt{st}
		}
		run, dropped := s.Then, s.Else
		if d.never {
			run, dropped = s.Else, s.Then
		}
		if drop(dropped, uses) {
			return run
		}
		s.Cond = ir.BoolConst(d.always)
		return []ir.Stmt{s}
	}}
	w.kernel.Func.Body = r.Body(w.kernel.Func.Body)
}

// drop takes a list out of the uses. It reports false if some variable is assigned
// in the list alone, and read outside it.
func drop(list []ir.Stmt, uses usages) bool {
	writes, mentions := map[*ir.Local]int{}, map[*ir.Local]int{}
	v := ir.Visitor{Place: func(p ir.Place) bool {
		if p, ok := p.(*ir.VarPlace); ok {
			mentions[p.Var]++
		}
		return true
	}, Stmt: func(s ir.Stmt) bool {
		if a, ok := s.(*ir.Assign); ok {
			if p, ok := ir.Root(a.Dst).(*ir.VarPlace); ok {
				writes[p.Var]++
			}
		}
		for _, v := range ir.Defined(s) {
			if v != nil {
				writes[v]++
				mentions[v]++
			}
		}
		return true
	}}
	v.Body(list)
	for v, n := range writes {
		if u := uses[v]; u.writes+u.parts <= n && u.reads > mentions[v]-n {
			return false
		}
	}
	for v, n := range mentions {
		uses[v].writes -= writes[v]
		uses[v].reads -= n - writes[v]
	}
	return true
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
			copies[v] = &ir.Local{Name: v.Name, Type: t, Pos: v.Pos, Hidden: v.Hidden, Path: v.Path}
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
