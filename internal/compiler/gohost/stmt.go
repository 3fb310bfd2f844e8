package gohost

import (
	"strconv"
	"strings"

	"quern.dev/internal/compiler/ir"
)

// target is an enclosing construct that break or continue can refer to.
type target struct {
	ir      *ir.Label // nil for the loop over the threads or blocks
	label   *label    // of the Go statement
	loop    bool      // a for statement, not a switch
	after   *label    // set: continue breaks out of this switch, which is followed by Post
	returns bool      // continue ends the kernel's thread
}

func (e *emitter) newLabel(want string) *label {
	return &label{name: e.names.fresh(want)}
}

// stmts prints a statement list.
func (e *emitter) stmts(list []ir.Stmt) {
	for i := 0; i < len(list); i++ {
		s := list[i]
		e.declare(s)
		if a, ok := s.(*ir.Assign); ok && e.scopes.inFor[s] && i+1 < len(list) && !e.skipped(a) {
			i++
			e.declare(list[i])
			e.loop(list[i].(*ir.Loop), e.assignment(a))
			continue
		}
		e.stmt(s)
	}
}

// declare prints the declarations that precede a statement.
func (e *emitter) declare(s ir.Stmt) {
	for _, v := range e.scopes.before[s] {
		if !e.wants(v) || e.isHoisted(v) {
			continue
		}
		e.out.add("var %s %s", e.names.name(v, v.Name), e.typ(v.Type))
	}
}

func (e *emitter) stmt(s ir.Stmt) {
	switch s := s.(type) {
	case *ir.Assign:
		if e.skipped(s) {
			if !e.moved(s) && e.facts.exprMayFaultAnywhere(s.Src) {
				e.out.at(s.Pos, true, "_ = %s", e.expr(s.Src, precOr))
			}
			return
		}
		e.out.at(s.Pos, e.facts.mayFault([]ir.Stmt{s}), "%s", e.assignment(s))
	case *ir.If:
		e.branch(s, "")
	case *ir.Loop:
		e.loop(s, "")
	case *ir.Block:
		e.block(s)
	case *ir.Break:
		e.leave(s.Label)
	case *ir.Continue:
		e.next(s.Label)
	case *ir.Return:
		e.returns(s)
	case *ir.Call:
		e.call(s)
	case *ir.Atomic:
		e.atomic(s)
	case *ir.Barrier:
		e.out.at(s.Pos, true, "r.%s()", s.Of.GoName())
	case *ir.Fence:
		e.out.at(s.Pos, true, "%s()", e.member(kernelPath, "Fence"))
	case *ir.Effect:
		e.effect(s)
	case *ir.Memory:
		e.memory(s)
	case *ir.Panic:
		if e.copied != nil {
			e.out.at(s.Pos, true, "panic(%s)", strconv.Quote(s.Reason))
			return
		}
		e.out.at(s.Pos, true, "%s(r, %s)", e.member(hostPath, "Fail"), strconv.Quote(s.Reason))
	case *ir.Check:
		if e.facts.element != nil {
			e.checkElement(s.Place.(*ir.ElemPlace))
			return
		}
		e.out.at(placePos(s.Place), true, "_ = %s", e.place(s.Place))
	default:
		e.failf("unexpected statement %T", s)
	}
}

// placePos returns the position of the outermost access of a place.
func placePos(p ir.Place) ir.Pos {
	for {
		switch q := p.(type) {
		case *ir.FieldPlace:
			p = q.X
		case *ir.IndexPlace:
			return q.Pos
		case *ir.ElemPlace:
			return q.Pos
		case *ir.ArrayPlace:
			return q.Pos
		case *ir.DerefPlace:
			return q.Pos
		default:
			return ir.Pos{}
		}
	}
}

// skipped reports whether an assignment is not printed in place because the variable is
// not read or its value is computed elsewhere.
func (e *emitter) skipped(s *ir.Assign) bool {
	p, ok := s.Dst.(*ir.VarPlace)
	return ok && (!e.wants(p.Var) || e.moved(s))
}

// moved reports whether the variable's value is computed at its first use.
func (e *emitter) moved(s *ir.Assign) bool {
	p, ok := s.Dst.(*ir.VarPlace)
	return ok && e.isHoisted(p.Var)
}

// assignment prints an assignment or definition.
func (e *emitter) assignment(s *ir.Assign) string {
	p, whole := s.Dst.(*ir.VarPlace)
	if whole && e.scopes.define[s][p.Var] {
		return e.definition(p.Var, e.names.name(p.Var, p.Var.Name), s.Src)
	}
	dst := ""
	if whole {
		dst = e.assigned(p.Var)
	} else {
		dst = e.place(s.Dst)
	}
	if text, ok := e.update(s, dst); ok {
		return text
	}
	if l, ok := s.Src.(*ir.Load); ok && e.place(l.Place) == dst {
		return "_ = " + dst // go vet reports self-assignments; the checks stay
	}
	return dst + " = " + e.value(s.Src, s.Dst.Type(), precOr)
}

// definition prints the declaration of a variable with its initial value.
func (e *emitter) definition(v *ir.Local, name string, src ir.Expr) string {
	if c, ok := constant(src); ok {
		lit := e.literal(c)
		if c.IsZero() && (v.Type.Name != "" || v.Type.Kind != ir.Int && v.Type.Kind != ir.Bool) {
			return "var " + name + " " + e.typ(v.Type)
		}
		if v.Type.Name == "" && (v.Type.Kind == ir.Int || v.Type.Kind == ir.Bool) {
			return name + " := " + lit
		}
		return "var " + name + " " + e.typ(v.Type) + " = " + lit
	}
	if identical(goType(src), v.Type) {
		return name + " := " + e.expr(src, precOr)
	}
	return "var " + name + " " + e.typ(v.Type) + " = " + e.value(src, v.Type, precOr)
}

// update prints x op= y, or x++, for x = x op y.
func (e *emitter) update(s *ir.Assign, dst string) (string, bool) {
	b, ok := s.Src.(*ir.Binary)
	if !ok || b.Op.IsComparison() || b.Op.IsLogical() || b.Strict || quotient(b) != "" {
		return "", false
	}
	l, ok := b.X.(*ir.Load)
	if !ok || !identical(goType(b), s.Dst.Type()) || e.place(l.Place) != dst {
		return "", false
	}
	if c, ok := constant(b.Y); ok {
		if mayFaultBinary(b) {
			return "", false
		}
		if s.Dst.Type().IsInteger() && c.Bits == 1 && (b.Op == ir.Add || b.Op == ir.Sub) {
			return dst + operators[b.Op].text + operators[b.Op].text, true
		}
		return dst + " " + operators[b.Op].text + "= " + e.literal(c), true
	}
	right := ""
	if b.Op.IsShift() {
		right = e.expr(b.Y, precOr)
	} else {
		right = e.value(b.Y, s.Dst.Type(), precOr)
	}
	return dst + " " + operators[b.Op].text + "= " + right, true
}

func (e *emitter) branch(s *ir.If, prefix string) {
	if len(s.Then) == 0 && len(s.Else) > 0 {
		s = &ir.If{Cond: &ir.Unary{Op: ir.LNot, X: s.Cond}, Then: s.Else, Pos: s.Pos}
	}
	e.out.at(s.Pos, e.facts.exprMayFault(s.Cond), "%sif %s {", prefix, e.value(s.Cond, ir.TBool, precOr))
	e.nested(s.Then)
	if len(s.Else) == 0 {
		e.out.add("}")
		return
	}
	if inner, ok := s.Else[0].(*ir.If); ok && len(s.Else) == 1 && len(e.scopes.before[inner]) == 0 {
		e.branch(inner, "} else ")
		return
	}
	e.out.add("} else {")
	e.nested(s.Else)
	e.out.add("}")
}

func (e *emitter) nested(list []ir.Stmt) {
	e.out.depth++
	e.stmts(list)
	e.out.depth--
}

// loop prints a loop; init is its init clause, if any.
func (e *emitter) loop(s *ir.Loop, init string) {
	defer func(l level) { e.current = l }(e.current)
	if e.current == perThread {
		e.current = varying
	}
	t := target{ir: s.Label, label: e.newLabel("loop"), loop: true}
	post := ""
	if len(s.Post) == 1 {
		if a, ok := s.Post[0].(*ir.Assign); ok && !e.skipped(a) {
			post = e.assignment(a)
		}
	}
	trailing := s.Post
	if post != "" {
		trailing = nil
	}
	cond := ""
	if s.Cond != nil && len(s.Pre) == 0 && !isTrue(s.Cond) {
		cond = e.value(s.Cond, ir.TBool, precOr)
	}
	e.out.label(t.label)
	e.out.at(s.Pos, e.facts.exprMayFault(s.Cond) || e.facts.mayFault(s.Post), "%s", forClause(init, cond, post))
	e.out.depth++
	e.targets = append(e.targets, t)
	e.pollCancel(s)
	if len(s.Pre) > 0 {
		e.stmts(s.Pre)
		if s.Cond != nil {
			e.out.at(s.Pos, e.facts.exprMayFault(s.Cond), "if %s {", e.negation(s.Cond))
			e.out.add("\tbreak")
			e.out.add("}")
		}
	}
	e.withPost(s, trailing, func() { e.stmts(s.Body) }, e.stmts)
	e.targets = e.targets[:len(e.targets)-1]
	e.out.depth--
	e.out.add("}")
}

// pollCancel prints a check, at the start of each iteration of a loop that may run long,
// that ends the thread if the launch has failed or was cancelled.
func (e *emitter) pollCancel(s *ir.Loop) {
	if s.Long {
		e.out.at(s.Pos, true, "r.CheckHalt()")
	}
}

// withPost prints the body of the innermost loop and the statements after it in each
// iteration, which are the target of continue.
func (e *emitter) withPost(s *ir.Loop, post []ir.Stmt, body func(), after func([]ir.Stmt)) {
	if len(post) == 0 {
		body()
		return
	}
	if !continues(s.Body, s.Label) {
		body()
		after(post)
		return
	}
	t := &e.targets[len(e.targets)-1]
	t.after = e.newLabel("body")
	e.targets = append(e.targets, target{label: t.after})
	e.out.label(t.after)
	e.out.add("switch {")
	e.out.add("default:")
	e.out.depth++
	body()
	e.out.depth--
	e.out.add("}")
	e.targets = e.targets[:len(e.targets)-1]
	e.targets[len(e.targets)-1].after = nil
	after(post)
}

func forClause(init, cond, post string) string {
	switch {
	case init == "" && post == "" && cond == "":
		return "for {"
	case init == "" && post == "":
		return "for " + cond + " {"
	}
	if strings.HasPrefix(init, "var ") { // only a short declaration is allowed here
		name, rest, _ := strings.Cut(init[len("var "):], " ")
		typ, value, ok := strings.Cut(rest, " = ")
		if !ok {
			value = "0"
		}
		init = name + " := " + typ + "(" + value + ")"
	}
	return "for " + init + "; " + cond + "; " + post + " {"
}

func isTrue(x ir.Expr) bool {
	c, ok := constant(x)
	return ok && c.T.Kind == ir.Bool && c.Bits != 0
}

// breaks and continues report whether a list breaks out of, or continues, the construct
// with the label.
func breaks(list []ir.Stmt, l *ir.Label) bool {
	return hasStmt(list, func(s ir.Stmt) bool {
		b, ok := s.(*ir.Break)
		return ok && b.Label == l
	})
}

func continues(list []ir.Stmt, l *ir.Label) bool {
	return hasStmt(list, func(s ir.Stmt) bool {
		c, ok := s.(*ir.Continue)
		return ok && c.Label == l
	})
}

func hasStmt(list []ir.Stmt, is func(ir.Stmt) bool) bool {
	found := false
	v := ir.Visitor{
		Stmt: func(s ir.Stmt) bool {
			found = found || is(s)
			return !found
		},
		Expr:  func(ir.Expr) bool { return false },
		Place: func(ir.Place) bool { return false },
	}
	v.Body(list)
	return found
}

// block prints a Block. Go's break cannot leave a plain block, but it can leave a
// switch, which is free.
func (e *emitter) block(s *ir.Block) {
	e.breakable(s.Label, breaks(s.Body, s.Label) || continues(s.Body, s.Label), func() { e.stmts(s.Body) })
}

// breakable prints what body prints so that a break to the label can leave it.
func (e *emitter) breakable(l *ir.Label, needed bool, body func()) {
	if !needed {
		body()
		return
	}
	t := target{ir: l, label: e.newLabel("block")}
	e.out.label(t.label)
	e.out.add("switch {")
	e.out.add("default:")
	e.out.depth++
	e.targets = append(e.targets, t)
	body()
	e.targets = e.targets[:len(e.targets)-1]
	e.out.depth--
	e.out.add("}")
}

// leave prints a break to the construct with the label.
func (e *emitter) leave(l *ir.Label) {
	for i := len(e.targets) - 1; i >= 0; i-- {
		if t := e.targets[i]; t.ir == l {
			e.out.add("%s", jump("break", t.label, i == len(e.targets)-1))
			return
		}
	}
	e.failf("break to a label that does not enclose it")
}

// next prints a continue of the loop with the label.
func (e *emitter) next(l *ir.Label) {
	innermost := true
	for i := len(e.targets) - 1; i >= 0; i-- {
		t := e.targets[i]
		if t.ir == l && t.after != nil {
			e.out.add("%s", jump("break", t.after, i == len(e.targets)-2))
			return
		}
		if t.ir == l {
			if !t.loop { // the rest of a loop's body, as part of a region
				e.out.add("%s", jump("break", t.label, i == len(e.targets)-1))
				return
			}
			e.out.add("%s", jump("continue", t.label, innermost))
			return
		}
		innermost = innermost && !t.loop
	}
	e.failf("continue of a label that does not enclose it")
}

func jump(word string, l *label, innermost bool) string {
	if innermost {
		return word
	}
	l.used = true
	return word + " " + l.name
}

// returns prints the end of a thread or of a function.
func (e *emitter) returns(s *ir.Return) {
	if e.copied != nil {
		e.returnValues(s)
		return
	}
	innermost := true
	for i := len(e.targets) - 1; i >= 0; i-- {
		t := e.targets[i]
		if t.returns {
			word := jump("continue", t.label, innermost)
			if e.oneBlock && i == 0 {
				word = "return"
			}
			e.out.at(s.Pos, false, "%s", word)
			return
		}
		innermost = innermost && !t.loop
	}
	e.failf("return outside the loop over the threads")
}
