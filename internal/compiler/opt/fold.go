package opt

import "quern.dev/internal/compiler/ir"

// maxRounds limits how often fold repeats: a constant condition removes assignments,
// which makes other variables constant.
const maxRounds = 4

// fold evaluates constants, applies exact identities, propagates constants and copies,
// removes unreachable code and unused results, and moves the value of a temporary that
// is read once to its use.
func fold(k *ir.Kernel) error {
	for range maxRounds {
		again := simplify(k.Func)
		again = removeDead(k.Func) || again
		again = forward(k.Func) || again
		if !again {
			break
		}
	}
	return nil
}

// simplify folds a function's constants and control flow. It reports whether another
// round could find more.
func simplify(f *ir.Func) bool {
	s := &simplifier{f: f, propagation: newPropagation(f, nil)}
	r := ir.Rewriter{Expr: s.expr, Place: s.place, Stmt: s.stmt}
	f.Body = s.trim(r.Body(f.Body))
	if n := len(f.Body); n > 0 {
		if last, ok := f.Body[n-1].(*ir.Return); ok && len(last.Results) == 0 {
			f.Body = f.Body[:n-1]
		}
	}
	f.Locals = s.remaining(f.Locals)
	return s.again
}

type simplifier struct {
	f *ir.Func
	*propagation
	again bool
}

func (s *simplifier) expr(e ir.Expr) ir.Expr { return simplifyExpr(s.propagation.expr(e)) }

func (s *simplifier) place(p ir.Place) ir.Place {
	switch p := p.(type) {
	case *ir.DerefPlace:
		if a, ok := p.Ptr.(*ir.Addr); ok {
			return a.Place
		}
	case *ir.IndexPlace:
		if c := asConst(p.Index); c != nil && c.Bits < uint64(p.X.Type().Len) {
			p.Check = false
		}
	}
	return s.propagation.place(p)
}

func (s *simplifier) stmt(st ir.Stmt) []ir.Stmt {
	s.f.Poll()
	switch st := st.(type) {
	case *ir.If:
		return s.ifStmt(st)
	case *ir.Loop:
		return s.loop(st)
	case *ir.Block:
		st.Body = s.trim(st.Body)
		return dissolve(st)
	case *ir.Check:
		if !ir.PlaceMayFault(st.Place) {
			return nil
		}
	case *ir.Assign:
		if isCopyOf(st.Src, st.Dst) {
			return nil
		}
		return s.propagation.stmt(st)
	}
	return []ir.Stmt{st}
}

// isCopyOf reports whether assigning e to p does nothing.
func isCopyOf(e ir.Expr, p ir.Place) bool {
	dst, ok := p.(*ir.VarPlace)
	if !ok {
		return false
	}
	v, ok := ir.Variable(e)
	return ok && v == dst.Var
}

func (s *simplifier) ifStmt(st *ir.If) []ir.Stmt {
	st.Then, st.Else = s.trim(st.Then), s.trim(st.Else)
	if c := asConst(st.Cond); c != nil {
		s.again = true
		if c.Bits != 0 {
			return st.Then
		}
		return st.Else
	}
	switch {
	case len(st.Then) == 0 && len(st.Else) == 0 && !ir.MayFault(st.Cond):
		s.again = true
		return nil
	case len(st.Then) == 0 && len(st.Else) > 0:
		st.Cond, st.Then, st.Else = not(st.Cond), st.Else, nil
	}
	return []ir.Stmt{st}
}

func (s *simplifier) loop(st *ir.Loop) []ir.Stmt {
	st.Pre, st.Body, st.Post = s.trim(st.Pre), s.trim(st.Body), s.trim(st.Post)
	st.Body = dropTail(st.Body, continuesWith(st.Label))
	c := asConst(st.Cond)
	switch {
	case c == nil:
	case c.Bits != 0:
		st.Cond = nil
	case !leaves(st.Pre, breaksOut(st.Label)):
		s.again = true
		return st.Pre
	}
	return []ir.Stmt{st}
}

// trim drops the statements after a jump in a list.
func (s *simplifier) trim(list []ir.Stmt) []ir.Stmt {
	reached := untilJump(list)
	s.again = s.again || len(reached) < len(list)
	return reached
}
