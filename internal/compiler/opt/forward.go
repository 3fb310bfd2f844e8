package opt

import (
	"math"
	"slices"

	"quern.dev/internal/compiler/ir"
)

// maxTree limits the nodes of an expression that forward builds, which bounds the
// recursion of all later passes.
const maxTree = 200

// forward moves the value of a variable that is assigned once and read once to its use,
// if both are in the same statement list and nothing in between changes what the value
// reads. It reports whether it moved something.
func forward(f *ir.Func) bool {
	w := &forwarder{f: f, uses: countUses(f)}
	f.Body = w.body(f.Body)
	if w.moved {
		f.Locals = without(f.Locals, func(v *ir.Local) bool {
			u := w.uses[v]
			return u.reads == 0 && u.writes == 0 && u.parts == 0
		})
	}
	return w.moved
}

type forwarder struct {
	f     *ir.Func
	uses  usages
	moved bool
}

// candidate is an assignment that may move down.
type candidate struct {
	v      *ir.Local
	src    ir.Expr
	at     int // index in the list
	size   int
	faults bool
	memory bool // reads memory that a store through a pointer or slice may change
	gone   bool // moved, or fixed in place
}

// stretch holds the candidates of a straight-line part of a list.
type stretch struct {
	of      map[*ir.Local]*candidate
	readers map[*ir.Local][]*candidate
	memory  []*candidate
	faults  []*candidate
}

func (s *stretch) clear() {
	clear(s.of)
	clear(s.readers)
	s.memory, s.faults = s.memory[:0], s.faults[:0]
}

// fix leaves a candidate in place. Faults keep their order: earlier ones do not move
// past a fault that stays, nor past a read of memory, whose own check they may be.
func (s *stretch) fix(c *candidate) {
	if c.gone {
		return
	}
	c.gone = true
	delete(s.of, c.v)
	if c.ordered() {
		s.fixFaults(c.at)
	}
}

// ordered reports whether a candidate may fail, or rely on an earlier check.
func (c *candidate) ordered() bool { return c.faults || c.memory }

// keepOrder fixes the candidates that a statement reads but that would then fail too late:
// after what stays before the statement, or after what the statement evaluates first.
func (s *stretch) keepOrder(stmt ir.Stmt) {
	if !slices.ContainsFunc(s.faults, func(c *candidate) bool { return !c.gone }) {
		return
	}
	var order []*candidate // nil: the statement itself may fail or reads memory
	see := ir.Rewriter{Expr: func(e ir.Expr) ir.Expr {
		switch e := e.(type) {
		case *ir.Load:
			if v, ok := ir.Variable(e); !ok {
				order = append(order, nil)
			} else if c := s.of[v]; c != nil {
				order = append(order, c)
			}
		case *ir.Binary:
			if e.Check {
				order = append(order, nil)
			}
		}
		return e
	}}
	for e := range ir.Args(stmt) {
		see.Value(*e)
	}
	for p := range ir.Places(stmt) {
		see.Target(*p)
	}
	stays := -1 // the last candidate that stays and must not come before earlier ones
	for _, list := range [][]*candidate{s.memory, s.faults} {
		for _, c := range slices.Backward(list) {
			if !c.gone && !slices.Contains(order, c) {
				stays = max(stays, c.at)
				break
			}
		}
	}
	latest := -1 // of those that the statement has evaluated
	for _, c := range order {
		switch {
		case c == nil:
			latest = math.MaxInt
		case c.gone:
		case c.faults && max(stays, latest) > c.at:
			s.fix(c)
			stays = max(stays, c.at)
		case c.ordered():
			latest = max(latest, c.at)
		}
	}
}

func (s *stretch) fixFaults(before int) {
	for len(s.faults) > 0 && s.faults[0].at <= before {
		c := s.faults[0]
		s.faults = s.faults[1:]
		if !c.gone {
			c.gone = true
			delete(s.of, c.v)
		}
	}
}

func (s *stretch) written(v *ir.Local) {
	for _, c := range s.readers[v] {
		s.fix(c)
	}
	delete(s.readers, v)
}

func (s *stretch) stored(at int) {
	for _, c := range s.memory {
		s.fix(c)
	}
	s.memory = s.memory[:0]
	s.fixFaults(at)
}

func (w *forwarder) body(list []ir.Stmt) []ir.Stmt { return w.bodyThen(list, nil) }

// bodyThen processes a list that is followed by an expression.
func (w *forwarder) bodyThen(list []ir.Stmt, e *ir.Expr) []ir.Stmt {
	st := &stretch{of: map[*ir.Local]*candidate{}, readers: map[*ir.Local][]*candidate{}}
	for i, s := range list {
		w.f.Poll()
		w.substitute(st, list, s)
		switch s := s.(type) {
		case *ir.Assign:
			w.assigned(st, i, s)
		case *ir.Atomic, *ir.Memory, *ir.Warp, *ir.Effect:
			st.stored(i)
			for v := range ir.Defined(s) {
				st.written(v)
			}
		case *ir.Check:
			if ir.PlaceMayFault(s.Place) {
				st.fixFaults(i)
			}
		default:
			w.nested(s)
			st.clear()
		}
	}
	if e != nil && *e != nil {
		r := substitution{w: w, st: st, list: list}
		*e = r.value(*e)
	}
	out := list[:0]
	for _, s := range list {
		if s != nil {
			out = append(out, s)
		}
	}
	return out
}

func (w *forwarder) nested(s ir.Stmt) {
	switch s := s.(type) {
	case *ir.If:
		s.Then, s.Else = w.body(s.Then), w.body(s.Else)
	case *ir.Loop:
		s.Pre = w.bodyThen(s.Pre, &s.Cond)
		s.Body, s.Post = w.body(s.Body), w.body(s.Post)
	case *ir.Block:
		s.Body = w.body(s.Body)
	}
}

// substitute replaces candidates that a statement reads before doing anything else, and
// removes their assignments from the list.
func (w *forwarder) substitute(st *stretch, list []ir.Stmt, s ir.Stmt) {
	if len(st.of) == 0 {
		return
	}
	if _, isLoop := s.(*ir.Loop); isLoop {
		return
	}
	st.keepOrder(s)
	r := substitution{w: w, st: st, list: list}
	for e := range ir.Args(s) {
		*e = r.value(*e)
	}
	for p := range ir.Places(s) {
		*p = r.target(*p)
	}
}

type substitution struct {
	w       *forwarder
	st      *stretch
	list    []ir.Stmt
	guarded map[*ir.Local]bool // read only if the left side of && or || allows it
}

func (r *substitution) value(e ir.Expr) ir.Expr {
	r.guarded = guardedVars(e)
	rw := ir.Rewriter{Expr: r.expr}
	return rw.Value(e)
}

func (r *substitution) target(p ir.Place) ir.Place {
	rw := ir.Rewriter{Expr: r.expr}
	return rw.Target(p)
}

func (r *substitution) expr(e ir.Expr) ir.Expr {
	v, ok := ir.Variable(e)
	if !ok {
		return e
	}
	c := r.st.of[v]
	if c == nil || c.faults && r.guarded[v] {
		return e
	}
	c.gone = true
	delete(r.st.of, v)
	r.list[c.at] = nil
	u := r.w.uses[v]
	u.reads, u.writes = 0, 0
	r.w.moved = true
	return c.src
}

// guardedVars returns the variables in right operands of && and ||, nil if there are
// none.
func guardedVars(e ir.Expr) map[*ir.Local]bool {
	var vars map[*ir.Local]bool
	collect := ir.Visitor{Place: func(p ir.Place) bool {
		if v, ok := p.(*ir.VarPlace); ok {
			vars[v.Var] = true
		}
		return true
	}}
	v := ir.Visitor{Expr: func(e ir.Expr) bool {
		if b, ok := e.(*ir.Binary); ok && b.Op.IsLogical() {
			if vars == nil {
				vars = map[*ir.Local]bool{}
			}
			collect.Value(b.Y)
		}
		return true
	}}
	v.Value(e)
	return vars
}

// assigned records what an assignment changes, and makes the assignment a candidate.
func (w *forwarder) assigned(st *stretch, i int, s *ir.Assign) {
	root, local := ir.Root(s.Dst).(*ir.VarPlace)
	_, whole := s.Dst.(*ir.VarPlace)
	if whole {
		if c := w.candidate(i, root.Var, s.Src); c != nil {
			w.note(st, c)
			return
		}
	}
	switch {
	case !local || w.uses[root.Var].addressed:
		st.stored(i)
	case ir.MayFault(s.Src) || ir.PlaceMayFault(s.Dst) || readsMemory([]ir.Expr{s.Src}):
		st.fixFaults(i)
	}
	if local {
		st.written(root.Var)
	}
}

// candidate returns the assignment v = src as a candidate, nil if it cannot move.
func (w *forwarder) candidate(i int, v *ir.Local, src ir.Expr) *candidate {
	u := w.uses[v]
	if !u.once() || u.param || u.reads != 1 || !v.Type.IsScalar() {
		return nil
	}
	c := &candidate{v: v, src: src, at: i, faults: ir.MayFault(src)}
	count := ir.Visitor{
		Expr: func(ir.Expr) bool { c.size++; return true },
		Place: func(p ir.Place) bool {
			switch p := p.(type) {
			case *ir.VarPlace:
				c.memory = c.memory || w.uses[p.Var].addressed
			case *ir.SharedPlace, *ir.ElemPlace, *ir.DerefPlace, *ir.ArrayPlace:
				c.memory = true
			}
			return true
		},
	}
	count.Value(src)
	if c.size > maxTree {
		return nil
	}
	return c
}

// note adds a candidate to the stretch.
func (w *forwarder) note(st *stretch, c *candidate) {
	st.of[c.v] = c
	if c.memory {
		st.memory = append(st.memory, c)
	}
	if c.faults {
		st.faults = append(st.faults, c)
	}
	reads := ir.Visitor{Place: func(p ir.Place) bool {
		if v, ok := p.(*ir.VarPlace); ok {
			st.readers[v.Var] = append(st.readers[v.Var], c)
		}
		return true
	}}
	reads.Value(c.src)
}
