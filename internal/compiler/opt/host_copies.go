package opt

import (
	"slices"

	"quern.dev/internal/compiler/ir"
)

// copyWindow limits how many statements after a copy are searched for its uses.
const copyWindow = 100

// removeCopies removes variables that only pass a value on: copies of other variables,
// and variables that are only copied to another one. The Go compiler does the same; this
// pass makes generated files shorter. Values that may stop the thread stay in their order.
func removeCopies(f *ir.Func) {
	c := &copyRemover{f: f}
	for c.again = true; c.again; {
		c.again = false
		c.uses, c.same = countUses(f), map[*ir.Local]*ir.Local{}
		r := ir.Rewriter{Stmt: c.rename, Place: c.original}
		f.Body = r.Body(f.Body)
		c.uses = countUses(f)
		c.body(&f.Body)
	}
	c.uses = countUses(f)
	f.Locals = without(f.Locals, func(v *ir.Local) bool {
		u := c.uses[v]
		return u.writes == 0 && u.parts == 0 && u.reads == 0
	})
}

type copyRemover struct {
	f     *ir.Func
	uses  usages
	same  map[*ir.Local]*ir.Local // the variable to read instead of another one
	again bool
}

// rename drops a copy of a variable with one value, if it has one value too: it is read
// instead from there on.
func (c *copyRemover) rename(s ir.Stmt) []ir.Stmt {
	a, ok := s.(*ir.Assign)
	if !ok || !c.isCopy(a) {
		return []ir.Stmt{s}
	}
	v := a.Dst.(*ir.VarPlace).Var
	u, _ := ir.Variable(a.Src)
	if !c.uses[v].once() || !c.uses[u].once() {
		return []ir.Stmt{s}
	}
	c.same[v] = u
	takeName(u, v)
	return nil
}

func (c *copyRemover) original(p ir.Place) ir.Place {
	if p, ok := p.(*ir.VarPlace); ok && c.same[p.Var] != nil {
		p.Var = c.same[p.Var]
	}
	return p
}

// takeName gives a variable that is not in the source the name of its copy.
func takeName(u, v *ir.Local) {
	if u.Hidden && !v.Hidden {
		u.Name, u.Path, u.Hidden, u.Pos = v.Name, v.Path, false, v.Pos
	}
}

// body processes a list and the lists in it.
func (c *copyRemover) body(list *[]ir.Stmt) {
	for i, s := range *list {
		c.f.Poll()
		if a, ok := s.(*ir.Assign); ok {
			if c.isCopy(a) && (c.readOriginal(a, (*list)[i+1:]) || c.assignDirectly(a, (*list)[:i])) {
				(*list)[i] = nil
				c.again = true
			}
			continue
		}
		switch s := s.(type) {
		case *ir.If:
			c.body(&s.Then)
			c.body(&s.Else)
		case *ir.Loop:
			c.body(&s.Pre)
			c.body(&s.Body)
			c.body(&s.Post)
		case *ir.Block:
			c.body(&s.Body)
		}
	}
	*list = slices.DeleteFunc(*list, func(s ir.Stmt) bool { return s == nil })
}

// isCopy reports whether an assignment copies a variable to another one of the same type.
func (c *copyRemover) isCopy(a *ir.Assign) bool {
	dst, to := a.Dst.(*ir.VarPlace)
	src, from := ir.Variable(a.Src)
	return to && from && dst.Var != src && dst.Var.Type.Name == src.Type.Name && dst.Var.Uniform == src.Uniform &&
		!c.uses[dst.Var].addressed && !c.uses[src].addressed
}

// readOriginal replaces the uses of a copy, all of which are in the next statements, by those of
// the original, which does not change until then.
func (c *copyRemover) readOriginal(a *ir.Assign, after []ir.Stmt) bool {
	v := a.Dst.(*ir.VarPlace).Var
	u, _ := ir.Variable(a.Src)
	if !c.uses[v].once() {
		return false
	}
	left := c.uses[v].reads
	n := 0
	for ; n < len(after) && left > 0; n++ {
		if n == copyWindow {
			return false
		}
		if after[n] == nil {
			continue
		}
		left -= readsIn(after[n], v)
		if assigns(after[n:n+1], u) && (left > 0 || !readsFirst(after[n])) {
			return false
		}
	}
	if left > 0 {
		return false
	}
	c.same = map[*ir.Local]*ir.Local{v: u}
	r := ir.Rewriter{Place: c.original}
	for _, s := range after[:n] {
		if s != nil {
			r.Body([]ir.Stmt{s})
		}
	}
	c.uses[u].reads += c.uses[v].reads - 1
	c.uses[v] = &usage{}
	return true
}

// assignDirectly assigns to the destination of a copy where the original, which is not read
// otherwise, is assigned.
func (c *copyRemover) assignDirectly(a *ir.Assign, before []ir.Stmt) bool {
	v := a.Dst.(*ir.VarPlace).Var
	t, _ := ir.Variable(a.Src)
	if u := c.uses[t]; !u.once() || u.param || u.reads != 1 {
		return false
	}
	for i := len(before) - 1; i >= 0 && i >= len(before)-copyWindow; i-- {
		s := before[i]
		switch d := s.(type) {
		case nil:
			continue
		case *ir.Assign:
			if dst, ok := d.Dst.(*ir.VarPlace); ok && dst.Var == t {
				dst.Var = v
				c.uses[t] = &usage{}
				return true
			}
		case *ir.Check:
		case *ir.Call:
			for r := range ir.Results(s) {
				if *r == t && !ir.Defines(s, v) {
					*r = v
					c.uses[t] = &usage{}
					return true
				}
			}
		default:
			return false
		}
		if readsIn(s, v) > 0 || assigns(before[i:i+1], v) {
			return false
		}
	}
	return false
}

// readsFirst reports whether a statement reads all of its operands before it changes a variable.
func readsFirst(s ir.Stmt) bool {
	switch s.(type) {
	case *ir.If, *ir.Loop, *ir.Block:
		return false
	}
	return true
}

// readsIn counts the uses of v in a statement and those nested in it, except as the whole that
// an assignment changes.
func readsIn(s ir.Stmt, v *ir.Local) int {
	n := 0
	r := ir.Visitor{
		Stmt: func(s ir.Stmt) bool {
			if a, ok := s.(*ir.Assign); ok {
				if dst, ok := a.Dst.(*ir.VarPlace); ok && dst.Var == v {
					n--
				}
			}
			return true
		},
		Place: func(p ir.Place) bool {
			if p, ok := p.(*ir.VarPlace); ok && p.Var == v {
				n++
			}
			return true
		},
	}
	r.Body([]ir.Stmt{s})
	return n
}
