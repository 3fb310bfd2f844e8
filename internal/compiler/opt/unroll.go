package opt

import (
	"quern.dev/internal/compiler/ir"
)

// A loop is unrolled if its trips are at most maxTrips (maxArrayTrips) and the
// copies of its body have at most as many nodes as the budget that fits what it
// does.
const (
	maxTrips      = 64
	maxArrayTrips = 128

	smallBudget  = 1 << 11 // nothing to gain but the loop's own instructions
	memoryBudget = 1 << 15 // addresses in shared memory and tables become constants
	arrayBudget  = 1 << 16 // elements of local arrays become registers

	maxHintTrips = 1 << 10
	hintBudget   = 1 << 17 // the programmer wants it
)

// unroll replaces counted loops with constant bounds by copies of their body, so
// that indices of local arrays become constants.
func unroll(k *ir.Kernel) error {
	// The bounds of an inner loop may be constant only in the outer one's copies.
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
	u := &unroller{f: f, uses: countUses(f), homes: map[*ir.Local]*loopScope{}, regions: map[*ir.Loop]*loopScope{}}
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
	known   map[*ir.Local]*ir.Const // variables that hold a constant, where no pass has put it in their place
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

// locate finds each local's home: the innermost loop with all its occurrences.
// A copy of that loop's body gets a variable of its own, since a value never
// passes from one iteration to the next in a variable that is declared inside.
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
	values []*ir.Const // of v, one an iteration
	after  *ir.Const   // of v behind the loop
}

// count returns how a loop counts if it is to be unrolled, nil otherwise.
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

// step returns the assignment with which a loop goes to its next iteration, if it
// has one condition and nothing else changes the variable; nil otherwise.
func (u *unroller) step(s *ir.Loop) *ir.Assign {
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

// initial returns the constant that v has behind a statement list.
func initial(list []ir.Stmt, v *ir.Local) *ir.Const { return asConst(initialValue(list, v)) }

// initialValue returns what v was given last in a statement list, nil if that is
// not plain to see.
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

// evaluate computes an expression of constants and the variable v, nil if it
// reads anything else.
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

// worthwhile weighs the size of the copies against what they bring.
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
	return len(c.values) <= trips && nodes*len(c.values) <= budget
}

// follows reports whether a value is computed from the derived variables by
// arithmetic alone, so that in each copy it is a constant or a constant apart
// from what it is in the others.
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

// expand returns the copies of a loop's body. A break out of the loop becomes
// one out of a block around all copies, a continue one out of a block around
// its copy.
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

// copyBody copies a loop's body for a place in the loop home. The copy has
// private variables of its own and leaves through the same labels outside.
func (u *unroller) copyBody(body []ir.Stmt, outside []*ir.Label, private []*ir.Local, home *loopScope) []ir.Stmt {
	cl := &ir.Cloner{Vars: map[*ir.Local]*ir.Local{}}
	for _, l := range outside {
		cl.Keep(l)
	}
	for _, v := range private {
		w := *v
		cl.Vars[v] = &w
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

// outerLabels returns the labels that a body's jumps name and that do not
// belong to a statement in it.
func outerLabels(body []ir.Stmt) []*ir.Label {
	own := map[*ir.Label]bool{}
	var list []*ir.Label
	jump := func(l *ir.Label) {
		if !own[l] {
			list = append(list, l)
		}
	}
	// A label's statement encloses its jumps, so that it is seen first.
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

// continueBehind makes the continues of a loop in a copy of its body go to what
// follows the copy.
func continueBehind(body []ir.Stmt, label *ir.Label) []ir.Stmt {
	if !leaves(body, continuesWith(label)) {
		return body
	}
	next := &ir.Label{Name: label.Name}
	return dissolve(&ir.Block{Label: next, Body: continueAsBreak(body, label, next)})
}
