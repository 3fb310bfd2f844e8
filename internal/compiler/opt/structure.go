package opt

import "quern.dev/internal/compiler/ir"

// jumps reports whether control never reaches the end of a list.
func jumps(list []ir.Stmt) bool {
	if len(list) == 0 {
		return false
	}
	switch s := list[len(list)-1].(type) {
	case *ir.Break, *ir.Continue, *ir.Return, *ir.Panic:
		return true
	case *ir.If:
		return jumps(s.Then) && jumps(s.Else)
	}
	return false
}

// untilJump returns the statements of a list up to one whose end control never reaches.
func untilJump(list []ir.Stmt) []ir.Stmt {
	for i := range list {
		if jumps(list[:i+1]) {
			return list[:i+1]
		}
	}
	return list
}

// decide replaces each If by the branch that its condition takes if that is constant.
func decide(body []ir.Stmt) []ir.Stmt {
	r := ir.Rewriter{Stmt: func(s ir.Stmt) []ir.Stmt {
		switch s := s.(type) {
		case *ir.Block:
			s.Body = untilJump(s.Body)
		case *ir.If:
			s.Then, s.Else = untilJump(s.Then), untilJump(s.Else)
			switch c := asConst(s.Cond); {
			case c == nil:
			case c.Bits != 0:
				return s.Then
			default:
				return s.Else
			}
		}
		return []ir.Stmt{s}
	}}
	return untilJump(r.Body(body))
}

// leaves reports whether a list contains a statement for which leave is true.
func leaves(list []ir.Stmt, leave func(ir.Stmt) bool) bool {
	found := false
	v := ir.Visitor{
		Stmt: func(s ir.Stmt) bool {
			found = found || leave(s)
			return !found
		},
		Expr:  func(ir.Expr) bool { return false },
		Place: func(ir.Place) bool { return false },
	}
	v.Body(list)
	return found
}

func breaksOut(l *ir.Label) func(ir.Stmt) bool {
	return func(s ir.Stmt) bool {
		b, ok := s.(*ir.Break)
		return ok && b.Label == l
	}
}

func continuesWith(l *ir.Label) func(ir.Stmt) bool {
	return func(s ir.Stmt) bool {
		b, ok := s.(*ir.Continue)
		return ok && b.Label == l
	}
}

// dropTail removes jumps for which leave holds from a list whose end has the same
// target: statements after an If that may jump move into its other branch. Jumps out of
// inner loops stay.
func dropTail(list []ir.Stmt, leave func(ir.Stmt) bool) []ir.Stmt {
	for i, s := range list {
		if leave(s) {
			return list[:i]
		}
		last := i == len(list)-1
		switch s := s.(type) {
		case *ir.If:
			rest := list[i+1:]
			switch {
			case last:
			case jumps(s.Then) && leaves(s.Then, leave):
				s.Else = concat(s.Else, rest)
			case jumps(s.Else) && leaves(s.Else, leave):
				s.Then = concat(s.Then, rest)
			default:
				continue
			}
			s.Then, s.Else = dropTail(s.Then, leave), dropTail(s.Else, leave)
			return list[: i+1 : i+1]
		case *ir.Block:
			if last {
				s.Body = dropTail(s.Body, leave)
			}
		}
	}
	return list
}

// concat appends a list that has no other use from then on.
func concat(list, rest []ir.Stmt) []ir.Stmt {
	if len(list) == 0 {
		return rest
	}
	return append(list, rest...)
}

// dissolve returns the statements of a Block: its body if no break out of it is needed.
func dissolve(b *ir.Block) []ir.Stmt {
	leave := breaksOut(b.Label)
	b.Body = dropTail(b.Body, leave)
	if leaves(b.Body, leave) {
		return []ir.Stmt{b}
	}
	return b.Body
}
