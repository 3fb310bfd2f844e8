package opt

import "quern.dev/internal/compiler/ir"

// forPTX leaves out what is for kernels in Go only, and the shared variables that
// nothing else uses.
func forPTX(k *ir.Kernel) error {
	body, differs := sideFor(k.Func.Body, false)
	if !differs {
		return nil
	}
	k.Func.Body = body
	renumbered := map[*ir.SharedVar]*ir.SharedVar{} // those of the front end are the Go back end's too
	v := ir.Visitor{Place: func(p ir.Place) bool {
		if s, ok := p.(*ir.SharedPlace); ok {
			renumbered[s.Var] = nil
		}
		return true
	}}
	v.Body(body)
	var used []*ir.SharedVar
	for _, s := range k.Shared {
		if _, ok := renumbered[s]; ok {
			c := *s
			c.ID = len(used)
			used = append(used, &c)
			renumbered[s] = &c
		}
	}
	k.Shared = used
	r := ir.Rewriter{Place: func(p ir.Place) ir.Place {
		if s, ok := p.(*ir.SharedPlace); ok {
			return &ir.SharedPlace{Var: renumbered[s.Var]}
		}
		return p
	}}
	k.Func.Body = r.Body(body)
	return nil
}

// sideFor takes the side that is for Go, or the other one, of statements that
// differ, and reports whether there are any.
func sideFor(body []ir.Stmt, inGo bool) (_ []ir.Stmt, differs bool) {
	r := ir.Rewriter{Stmt: func(s ir.Stmt) []ir.Stmt {
		i, ok := s.(*ir.If)
		if !ok || !i.Go {
			return []ir.Stmt{s}
		}
		differs = true
		if inGo {
			return i.Then
		}
		return i.Else
	}}
	return r.Body(body), differs
}
