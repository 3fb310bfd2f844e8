package opt

import "quern.dev/internal/compiler/ir"

// usage is how a kernel uses one local.
type usage struct {
	writes int // to the whole variable; a parameter starts with one
	parts  int // writes to a field or an element
	reads  int // of the variable or a part
	// addressed: a pointer or slice to it exists, so other places alias it.
	addressed bool
	// astray: it is read where its first assignment may not have been executed.
	astray bool
	param  bool
	live   bool // during counting: the first assignment is in scope
}

// once reports whether the variable has a single value while it is in scope: it is
// assigned in one statement, as a whole, and read only after that statement in the same
// statement list or in lists nested there. The value changes only when the assignment
// is executed again, which ends the scope.
func (u *usage) once() bool { return u.writes == 1 && u.parts == 0 && !u.addressed && !u.astray }

// usages maps each local to its usage.
type usages map[*ir.Local]*usage

// countUses computes how the kernel's locals are used.
func countUses(f *ir.Func) usages {
	n := len(f.Params) + len(f.Locals) + len(f.Results)
	c := counter{all: make(usages, n)}
	slab := make([]usage, n)
	for _, list := range [...][]*ir.Local{f.Params, f.Results, f.Locals} {
		for _, v := range list {
			c.all[v] = &slab[0]
			slab = slab[1:]
		}
	}
	for _, v := range f.Params {
		*c.all[v] = usage{writes: 1, param: true, live: true}
	}
	c.visitor = ir.Visitor{Expr: c.expr, Place: c.place}
	c.body(f.Body)
	return c.all
}

type counter struct {
	all     usages
	scope   []*usage // variables whose first assignment is in scope, innermost last
	visitor ir.Visitor
}

func (c *counter) body(list []ir.Stmt) {
	mark := len(c.scope)
	c.open(list)
	c.close(mark)
}

// open counts the uses in a list and leaves its variables in scope.
func (c *counter) open(list []ir.Stmt) {
	for _, s := range list {
		c.stmt(s)
	}
}

func (c *counter) close(mark int) {
	for _, u := range c.scope[mark:] {
		u.live = false
	}
	c.scope = c.scope[:mark]
}

func (c *counter) stmt(s ir.Stmt) {
	switch s := s.(type) {
	case *ir.Assign:
		c.visitor.Value(s.Src)
		c.write(s.Dst)
	case *ir.If:
		c.visitor.Value(s.Cond)
		c.body(s.Then)
		c.body(s.Else)
	case *ir.Loop:
		mark := len(c.scope)
		c.open(s.Pre)
		c.visitor.Value(s.Cond)
		c.body(s.Body)
		c.open(s.Post)
		c.close(mark)
	case *ir.Block:
		c.body(s.Body)
	case *ir.Check:
		c.visitor.Target(s.Place)
	case *ir.LoadVector:
		c.visitor.Target(s.Place)
		for v := range ir.Defined(s) {
			c.define(v)
		}
	default:
		for e := range ir.Args(s) {
			c.visitor.Value(*e)
		}
		for p := range ir.Targets(s) {
			c.write(*p)
		}
		for v := range ir.Defined(s) {
			c.define(v)
		}
	}
}

// write counts an assignment to a place.
func (c *counter) write(p ir.Place) {
	if v, ok := p.(*ir.VarPlace); ok {
		c.define(v.Var)
		return
	}
	if v, ok := ir.Root(p).(*ir.VarPlace); ok {
		u := c.all[v.Var]
		u.parts++
		u.reads-- // the visit below counts it as a read
	}
	c.visitor.Target(p)
}

func (c *counter) define(v *ir.Local) {
	u := c.all[v]
	u.writes++
	if u.writes == 1 {
		u.live = true
		c.scope = append(c.scope, u)
	}
}

func (c *counter) place(p ir.Place) bool {
	if v, ok := p.(*ir.VarPlace); ok {
		u := c.all[v.Var]
		u.reads++
		u.astray = u.astray || !u.live
	}
	return true
}

func (c *counter) expr(e ir.Expr) bool {
	var p ir.Place
	switch e := e.(type) {
	case *ir.Addr:
		p = e.Place
	case *ir.SliceExpr:
		p = e.Array
	}
	if p == nil {
		return true
	}
	if v, ok := ir.Root(p).(*ir.VarPlace); ok {
		c.all[v.Var].addressed = true
	}
	return true
}
