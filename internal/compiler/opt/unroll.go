package opt

import (
	"quern.dev/internal/compiler/ir"
)

// A loop is unrolled if it has at most maxTrips (maxArrayTrips) iterations and the
// copies of its body have at most as many nodes as the budget for what unrolling gains.
const (
	maxTrips      = 64
	maxArrayTrips = 128
	maxStateTrips = 8

	smallBudget  = 1 << 11 // saves only the loop's own instructions
	stateBudget  = 1 << 13 // conditions become constants, in at most maxStateTrips iterations
	memoryBudget = 1 << 15 // addresses in shared memory and tables become constants
	arrayBudget  = 1 << 16 // elements of local arrays become registers

	maxHintTrips = 1 << 10
	hintBudget   = 1 << 17 // the programmer asks for it
)

// unroll replaces counted loops with constant bounds by copies of their bodies, so that
// indices of local arrays become constants.
func unroll(k *ir.Kernel) error {
	// The bounds of an inner loop may become constant only in the copies of the outer
	// loop.
	for range maxRounds {
		u := newUnroller(k.Func)
		u.wanted = u.worthwhile
		k.Func.Body = u.list(k.Func.Body)
		if !u.done {
			break
		}
		simplify(k.Func)
		removeDead(k.Func)
	}
	newUnroller(k.Func).partial(k.Func.Body)
	return nil
}

func newUnroller(f *ir.Func) *unroller {
	u := &unroller{f: f, uses: countUses(f), homes: map[*ir.Local]*loopScope{}, regions: map[*ir.Loop]*loopScope{}, copies: map[*ir.Local]bool{}}
	whole := &loopScope{}
	for _, p := range f.Params {
		u.homes[p] = whole
	}
	u.locate(f.Body, whole)
	return u
}

type unroller struct {
	f       *ir.Func
	wanted  func(s *ir.Loop, c *counted) bool
	uses    usages
	homes   map[*ir.Local]*loopScope
	regions map[*ir.Loop]*loopScope
	copies  map[*ir.Local]bool      // variables of copies of loop bodies
	known   map[*ir.Local]*ir.Const // variables that hold a constant and were not replaced by it
	done    bool
}

// loopScope is a loop, or the whole function.
type loopScope struct {
	parent *loopScope
	depth  int
}

func (r *loopScope) within(outer *loopScope) bool {
	for r != nil && r.depth > outer.depth {
		r = r.parent
	}
	return r == outer
}

// locate finds the home of each local: the innermost loop that contains all its uses. A
// copy of that loop's body gets its own variable, because a value never passes between
// iterations in a variable declared inside.
func (u *unroller) locate(body []ir.Stmt, at *loopScope) {
	see := func(v *ir.Local) {
		h := u.homes[v]
		if h == nil {
			u.homes[v] = at
			return
		}
		other := at
		for h != other {
			if h.depth > other.depth {
				h = h.parent
			} else if other.depth > h.depth {
				other = other.parent
			} else {
				h, other = h.parent, other.parent
			}
		}
		u.homes[v] = h
	}
	v := ir.Visitor{Place: func(p ir.Place) bool {
		if p, ok := p.(*ir.VarPlace); ok {
			see(p.Var)
		}
		return true
	}}
	v.Stmt = func(s ir.Stmt) bool {
		switch s := s.(type) {
		case *ir.Loop:
			outer := at
			at = &loopScope{parent: outer, depth: outer.depth + 1}
			u.regions[s] = at
			v.Body(s.Pre)
			v.Value(s.Cond)
			v.Body(s.Body)
			v.Body(s.Post)
			at = outer
			return false
		default:
			for v := range ir.Defined(s) {
				see(v)
			}
		}
		return true
	}
	v.Body(body)
}

func (u *unroller) list(list []ir.Stmt) []ir.Stmt {
	var out []ir.Stmt
	for _, s := range list {
		switch s := s.(type) {
		case *ir.If:
			s.Then, s.Else = u.list(s.Then), u.list(s.Else)
		case *ir.Block:
			s.Body = u.list(s.Body)
		case *ir.Loop:
			s.Body = u.list(s.Body)
			if c := u.count(out, s); c != nil {
				out = append(out, u.expand(s, c)...)
				continue
			}
		}
		out = append(out, s)
	}
	return out
}

// counted is a loop whose iterations are known.
type counted struct {
	v      *ir.Local
	values []*ir.Const // of v, one per iteration
	after  *ir.Const   // of v after the loop
}

// count returns how a loop counts, or nil if it is not to be unrolled.
func (u *unroller) count(before []ir.Stmt, s *ir.Loop) *counted {
	step := u.step(s)
	if step == nil || s.Unroll == ir.NoUnroll {
		return nil
	}
	v, _ := ir.Variable(&ir.Load{Place: step.Dst})
	c := &counted{v: v, after: asConst(u.withKnown(initialValue(before, v)))}
	if c.after == nil {
		return nil
	}
	most := maxArrayTrips
	switch {
	case s.Unroll == ir.UnrollAll:
		most = maxHintTrips
	case s.Unroll > ir.NoUnroll:
		most = int(s.Unroll)
	}
	cond, next := u.withKnown(s.Cond), u.withKnown(step.Src)
	for {
		more := evaluate(cond, c.v, c.after)
		if more == nil {
			return nil
		}
		if more.Bits == 0 {
			break
		}
		if len(c.values) == most {
			return nil
		}
		c.values = append(c.values, c.after)
		if c.after = evaluate(next, c.v, c.after); c.after == nil {
			return nil
		}
	}
	if !u.wanted(s, c) {
		return nil
	}
	return c
}

// step returns the assignment that advances a loop, if the loop has one condition and
// nothing else changes the variable; otherwise nil.
func (u *unroller) step(s *ir.Loop) *ir.Assign {
	u.f.Poll()
	if len(s.Pre) != 0 || s.Cond == nil || len(s.Post) != 1 {
		return nil
	}
	step, ok := s.Post[0].(*ir.Assign)
	if !ok {
		return nil
	}
	dst, ok := step.Dst.(*ir.VarPlace)
	if !ok || u.uses[dst.Var] == nil || u.uses[dst.Var].addressed || assigns(s.Body, dst.Var) {
		return nil
	}
	return step
}

// initial returns the constant that v has after a statement list.
func initial(list []ir.Stmt, v *ir.Local) *ir.Const { return asConst(initialValue(list, v)) }

// initialValue returns the last value assigned to v in a statement list, nil if it is
// not obvious.
func initialValue(list []ir.Stmt, v *ir.Local) ir.Expr {
	const lookBack = 32
	for i := len(list) - 1; i >= 0 && i >= len(list)-lookBack; i-- {
		if a, ok := list[i].(*ir.Assign); ok {
			if dst, ok := a.Dst.(*ir.VarPlace); ok && dst.Var == v {
				return a.Src
			}
		}
		if assigns(list[i:i+1], v) {
			return nil
		}
	}
	return nil
}

// assigns reports whether a list assigns v or a part of it.
func assigns(list []ir.Stmt, v *ir.Local) bool {
	return leaves(list, func(s ir.Stmt) bool {
		for p := range ir.Targets(s) {
			if root, ok := ir.Root(*p).(*ir.VarPlace); ok && root.Var == v {
				return true
			}
		}
		return ir.Defines(s, v)
	})
}

// evaluate computes an expression of constants and the variable v, nil if it reads
// anything else.
func evaluate(e ir.Expr, v *ir.Local, value *ir.Const) *ir.Const {
	switch e := e.(type) {
	case *ir.Const:
		return e
	case *ir.Load:
		if w, ok := ir.Variable(e); ok && w == v {
			return value
		}
	case *ir.Unary:
		if x := evaluate(e.X, v, value); x != nil {
			return constUnary(e.Op, x)
		}
	case *ir.Convert:
		if x := evaluate(e.X, v, value); x != nil {
			return constConvert(e.T, x)
		}
	case *ir.Binary:
		x, y := evaluate(e.X, v, value), evaluate(e.Y, v, value)
		if x != nil && y != nil {
			return constBinary(e.Op, x, y)
		}
	}
	return nil
}

// worthwhile compares the size of the copies with the gain.
func (u *unroller) worthwhile(s *ir.Loop, c *counted) bool {
	nodes := 0
	budget, trips := smallBudget, maxTrips
	derived := map[*ir.Local]bool{c.v: true}
	v := ir.Visitor{
		Stmt: func(s ir.Stmt) bool {
			nodes++
			if a, ok := s.(*ir.Assign); ok && follows(a.Src, derived) {
				if dst, ok := a.Dst.(*ir.VarPlace); ok {
					derived[dst.Var] = true
				}
			}
			return true
		},
		Expr: func(ir.Expr) bool { nodes++; return true },
		Place: func(p ir.Place) bool {
			nodes++
			at, ok := p.(*ir.IndexPlace)
			if !ok || budget == arrayBudget || !follows(at.Index, derived) {
				return true
			}
			switch root := ir.Root(at).(type) {
			case *ir.VarPlace:
				switch use := u.uses[root.Var]; {
				case use.addressed:
				case use.param:
					budget = memoryBudget
				default:
					budget, trips = arrayBudget, maxArrayTrips
				}
			case *ir.SharedPlace, *ir.TablePlace:
				budget = memoryBudget
			}
			return true
		},
	}
	v.Body(s.Body)
	if s.Unroll != ir.UnrollAsWorthwhile {
		return nodes*len(c.values) <= hintBudget
	}
	size := nodes * len(c.values)
	if len(c.values) <= trips && size <= budget {
		return true
	}
	return len(c.values) <= maxStateTrips && size <= stateBudget && u.decides(s.Body)
}

// follows reports whether a value is computed from the derived variables by arithmetic
// alone, so that it is a constant in each copy, or differs from the other copies by a
// constant.
func follows(e ir.Expr, derived map[*ir.Local]bool) bool {
	found, arithmetic := false, true
	v := ir.Visitor{Expr: func(e ir.Expr) bool {
		switch e := e.(type) {
		case *ir.Const, *ir.Unary, *ir.Binary, *ir.Convert, *ir.ThreadValue:
		case *ir.Load:
			w, ok := ir.Variable(e)
			arithmetic = arithmetic && ok
			found = found || derived[w]
		default:
			arithmetic = false
		}
		return arithmetic
	}}
	v.Value(e)
	return found && arithmetic
}

// expand returns the copies of a loop's body. A break out of the loop becomes a break
// out of a block around all copies, a continue a break out of a block around its copy.
func (u *unroller) expand(s *ir.Loop, c *counted) []ir.Stmt {
	u.done = true
	here := u.regions[s]
	breaks := leaves(s.Body, breaksOut(s.Label))
	outside := outerLabels(s.Body)
	private := u.private(s.Body, here)

	set := func(value *ir.Const) ir.Stmt {
		k := *value
		return &ir.Assign{Dst: &ir.VarPlace{Var: c.v}, Src: &k, Pos: s.Pos}
	}
	var out []ir.Stmt
	for _, value := range c.values {
		body := substituteConst(u.copyBody(s.Body, outside, private, here.parent), c.v, value)
		body = continueBehind(body, s.Label)
		if breaks {
			out = append(out, set(value))
		}
		out = append(out, body...)
	}
	out = append(out, set(c.after))
	if !breaks {
		return out
	}
	return dissolve(&ir.Block{Label: s.Label, Body: out})
}

// copyBody copies a loop's body into the loop home. The copy has its own private
// variables and uses the same outer labels.
func (u *unroller) copyBody(body []ir.Stmt, outside []*ir.Label, private []*ir.Local, home *loopScope) []ir.Stmt {
	cl := &ir.Cloner{Vars: map[*ir.Local]*ir.Local{}}
	for _, l := range outside {
		cl.Keep(l)
	}
	for _, v := range private {
		w := *v
		cl.Vars[v] = &w
		u.copies[&w] = true
		u.f.Locals = append(u.f.Locals, &w)
		u.homes[&w] = home
		u.uses[&w] = u.uses[v]
	}
	return cl.Body(body)
}

// private returns the locals in a body whose home is the loop or inside it.
func (u *unroller) private(body []ir.Stmt, here *loopScope) []*ir.Local {
	var list []*ir.Local
	seen := map[*ir.Local]bool{}
	see := func(v *ir.Local) {
		if v == nil || seen[v] {
			return
		}
		seen[v] = true
		if h := u.homes[v]; h != nil && h.within(here) {
			list = append(list, v)
		}
	}
	v := ir.Visitor{
		Stmt: func(s ir.Stmt) bool {
			for v := range ir.Defined(s) {
				see(v)
			}
			return true
		},
		Place: func(p ir.Place) bool {
			if p, ok := p.(*ir.VarPlace); ok {
				see(p.Var)
			}
			return true
		},
	}
	v.Body(body)
	return list
}

// outerLabels returns the labels that jumps in a body refer to and that belong to
// statements outside it.
func outerLabels(body []ir.Stmt) []*ir.Label {
	own := map[*ir.Label]bool{}
	var list []*ir.Label
	jump := func(l *ir.Label) {
		if !own[l] {
			list = append(list, l)
		}
	}
	// The statement of a label encloses its jumps, so it is seen first.
	leaves(body, func(s ir.Stmt) bool {
		switch s := s.(type) {
		case *ir.Loop:
			own[s.Label] = true
		case *ir.Block:
			own[s.Label] = true
		case *ir.Break:
			jump(s.Label)
		case *ir.Continue:
			jump(s.Label)
		}
		return false
	})
	return list
}

// substituteConst replaces a variable that a body only reads by a constant.
func substituteConst(body []ir.Stmt, v *ir.Local, value *ir.Const) []ir.Stmt {
	r := ir.Rewriter{Expr: func(e ir.Expr) ir.Expr {
		if w, ok := ir.Variable(e); ok && w == v {
			k := *value
			return &k
		}
		return simplifyExpr(e)
	}}
	return r.Body(body)
}

// continueAsBreak replaces the continues of a loop by breaks out of a block.
func continueAsBreak(body []ir.Stmt, from, to *ir.Label) []ir.Stmt {
	continues := continuesWith(from)
	r := ir.Rewriter{Stmt: func(s ir.Stmt) []ir.Stmt {
		if continues(s) {
			return []ir.Stmt{&ir.Break{Label: to}}
		}
		return []ir.Stmt{s}
	}}
	return r.Body(body)
}

// continueBehind makes the continues of a loop in a copy of its body go to the end of
// the copy.
func continueBehind(body []ir.Stmt, label *ir.Label) []ir.Stmt {
	if !leaves(body, continuesWith(label)) {
		return body
	}
	next := &ir.Label{Name: label.Name}
	return dissolve(&ir.Block{Label: next, Body: continueAsBreak(body, label, next)})
}
