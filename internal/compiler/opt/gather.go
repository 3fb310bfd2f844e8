package opt

import "quern.dev/internal/compiler/ir"

// gather moves the checks of a run of assignments in front of it. A check between two
// loads prevents ptxas from starting the second load while the first is in flight;
// after the checks, all loads of the run can be in flight together.
//
// A failing thread then stops before the run's stores instead of between them. The
// memory contents after a failed thread are unspecified. The fault itself is the same:
// checks keep their order, and a check moves only if nothing before it can fail in
// another way.
func gather(k *ir.Kernel) error {
	var g gatherer
	for v, u := range countUses(k.Func) {
		if u.addressed {
			g.addressed = append(g.addressed, v)
		}
	}
	k.Func.Body = g.list(k.Func.Body)
	return nil
}

type gatherer struct{ addressed []*ir.Local }

func (g gatherer) list(list []ir.Stmt) []ir.Stmt {
	out := make([]ir.Stmt, 0, len(list))
	var run []*ir.Assign
	flush := func() {
		out = append(out, g.gathered(run)...)
		run = nil
	}
	for _, s := range list {
		switch s := s.(type) {
		case *ir.Assign:
			run = append(run, s)
			continue
		case *ir.If:
			s.Then, s.Else = g.list(s.Then), g.list(s.Else)
		case *ir.Loop:
			s.Pre, s.Body, s.Post = g.list(s.Pre), g.list(s.Body), g.list(s.Post)
		case *ir.Block:
			s.Body = g.list(s.Body)
		}
		flush()
		out = append(out, s)
	}
	flush()
	return out
}

// gathered returns a run with as many of its checks as possible in front, and with them
// the integers that they test.
func (g gatherer) gathered(run []*ir.Assign) []ir.Stmt {
	if len(run) == 0 {
		return nil
	}
	var front []ir.Stmt
	var checked []ir.Place
	moved := map[*ir.Assign]bool{}
	written := map[*ir.Local]bool{} // by assignments that stay
	seen := map[*ir.Local]bool{}    // read or written by assignments that stay
	checking := 0                   // assignments with checks
	for _, v := range g.addressed { // may be used through a pointer
		written[v], seen[v] = true, true
	}
	for _, a := range run {
		places, ok := movable(a, written)
		if !ok {
			break
		}
		if v, ok := a.Dst.(*ir.VarPlace); ok && len(places) == 0 && v.Var.Type.IsInteger() && !seen[v.Var] && settled(a.Src, written) {
			moved[a] = true
			front = append(front, a)
			continue
		}
		for _, p := range places {
			front = append(front, &ir.Check{Place: ir.ClonePlace(p)})
		}
		checked = append(checked, places...)
		if len(places) > 0 {
			checking++
		}
		mentions(a, seen)
		if v, ok := a.Dst.(*ir.VarPlace); ok {
			written[v.Var] = true
		}
	}
	if checking < 2 {
		front, checked, moved = nil, nil, nil
	}
	for _, p := range checked {
		switch p := p.(type) {
		case *ir.ElemPlace:
			p.Check = false
		case *ir.IndexPlace:
			p.Check = false
		}
	}
	for _, a := range run {
		if !moved[a] {
			front = append(front, a)
		}
	}
	return front
}

// mentions adds the variables that an assignment reads or writes.
func mentions(a *ir.Assign, seen map[*ir.Local]bool) {
	v := ir.Visitor{Place: func(p ir.Place) bool {
		if p, ok := p.(*ir.VarPlace); ok {
			seen[p.Var] = true
		}
		return true
	}}
	v.Value(a.Src)
	v.Target(a.Dst)
}

// movable returns the checked places of an assignment, in the order of their checks. ok
// is false if a check, or another operation that can fail, must stay.
func movable(a *ir.Assign, written map[*ir.Local]bool) (places []ir.Place, ok bool) {
	ok = true
	take := func(p ir.Place, base, index ir.Expr) {
		if base != nil && !settled(base, written) || !settled(index, written) {
			ok = false
		}
		places = append(places, p)
	}
	v := ir.Visitor{
		Expr: func(e ir.Expr) bool {
			switch e := e.(type) {
			case *ir.Binary:
				if e.Check || e.Op.IsLogical() {
					ok = false
				}
			case *ir.SliceExpr, *ir.Select:
				ok = false
			}
			return ok
		},
		Place: func(p ir.Place) bool {
			switch p := p.(type) {
			case *ir.ElemPlace:
				if p.Check {
					take(p, p.Slice, p.Index)
				}
			case *ir.ArrayPlace:
				ok = ok && !p.Check
			case *ir.DerefPlace:
				ok = ok && !p.Check
			case *ir.IndexPlace:
				if p.Check {
					if _, shared := p.X.(*ir.SharedPlace); !shared {
						ok = false
					}
					take(p, nil, p.Index)
				}
			}
			return ok
		},
	}
	v.Value(a.Src)
	v.Target(a.Dst)
	return places, ok
}

// settled reports whether an expression has the same value before the run and cannot
// fail: it reads no memory and no variable that the run has written.
func settled(e ir.Expr, written map[*ir.Local]bool) bool {
	ok := true
	v := ir.Visitor{
		Expr: func(e ir.Expr) bool {
			switch e := e.(type) {
			case *ir.Load:
				if _, dynamic := ir.Dynamic(e); dynamic {
					break
				}
				v, isVar := e.Place.(*ir.VarPlace)
				ok = ok && isVar && !written[v.Var]
			case *ir.Binary:
				ok = ok && !e.Check
			case *ir.SliceExpr, *ir.Addr:
				ok = false
			}
			return ok
		},
	}
	v.Value(e)
	return ok
}
