package opt

import (
	"maps"

	"quern.dev/internal/compiler/ir"
)

// nilChecks clears the checks of pointers that are not nil on any path to the check: the last
// assignment to the variable was an address, or an earlier check has passed. It does not
// follow variables whose address is taken.
func nilChecks(k *ir.Kernel) error {
	checks := 0
	ir.EachNilCheck(k.Func.Body, func(*ir.DerefPlace) { checks++ })
	if checks == 0 {
		return nil
	}
	n := &nilness{
		uses: countUses(k.Func), known: nonNil{}, needed: map[*ir.DerefPlace]bool{},
		breaks: map[*ir.Label]nonNil{}, continues: map[*ir.Label]nonNil{},
	}
	n.visitor = ir.Visitor{Expr: n.expr, Place: n.place}
	for _, v := range k.Func.Params {
		n.set(v, holdsPointer(v.Type))
	}
	n.list(k.Func.Body)
	ir.EachNilCheck(k.Func.Body, func(p *ir.DerefPlace) { p.Check = n.needed[p] })
	return nil
}

// nonNil are the variables whose pointers are all known not to be nil. A nil map means that
// control does not get here.
type nonNil map[*ir.Local]bool

// meet returns what is known if control comes from either of two places.
func (a nonNil) meet(b nonNil) nonNil {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	both := nonNil{}
	for v := range a {
		if b[v] {
			both[v] = true
		}
	}
	return both
}

// nilness follows the pointers of a kernel forwards. Each further round through a loop knows
// less at its head than the one before. A check that any round needs stays.
type nilness struct {
	uses    usages
	visitor ir.Visitor
	known   nonNil // at the current position
	needed  map[*ir.DerefPlace]bool
	// breaks and continues hold what is known at the jumps to a label.
	breaks, continues map[*ir.Label]nonNil
}

func (n *nilness) list(list []ir.Stmt) {
	for _, s := range list {
		if n.known == nil {
			return
		}
		n.stmt(s)
	}
}

func (n *nilness) stmt(s ir.Stmt) {
	switch s := s.(type) {
	case *ir.Assign:
		n.visitor.Value(s.Src)
		n.visitor.Target(s.Dst)
		n.assign(s)
	case *ir.If:
		n.visitor.Value(s.Cond)
		before := maps.Clone(n.known)
		n.list(s.Then)
		then := n.known
		n.known = before
		n.list(s.Else)
		n.known = then.meet(n.known)
	case *ir.Loop:
		n.loop(s)
	case *ir.Block:
		delete(n.breaks, s.Label)
		n.list(s.Body)
		n.known = n.known.meet(n.breaks[s.Label])
	case *ir.Break:
		n.breaks[s.Label] = n.known.meet(n.breaks[s.Label])
		n.known = nil
	case *ir.Continue:
		n.continues[s.Label] = n.known.meet(n.continues[s.Label])
		n.known = nil
	case *ir.Return, *ir.Panic:
		n.visitor.Body([]ir.Stmt{s})
		n.known = nil
	default:
		n.visitor.Body([]ir.Stmt{s})
		for v := range ir.Defined(s) {
			n.set(v, false)
		}
		for p := range ir.Targets(s) {
			if root, ok := ir.Root(*p).(*ir.VarPlace); ok && ir.IsOperation(s) {
				n.set(root.Var, false)
			}
		}
	}
}

func (n *nilness) loop(s *ir.Loop) {
	for head := n.known; ; {
		delete(n.breaks, s.Label)
		delete(n.continues, s.Label)
		n.known = maps.Clone(head)
		n.list(s.Pre)
		var exit nonNil
		if s.Cond != nil && n.known != nil {
			n.visitor.Value(s.Cond)
			exit = maps.Clone(n.known)
		}
		n.list(s.Body)
		n.known = n.known.meet(n.continues[s.Label])
		n.list(s.Post)
		next := head.meet(n.known)
		n.known = exit.meet(n.breaks[s.Label])
		if len(next) == len(head) {
			return
		}
		head = next
	}
}

// assign notes an assignment whose source has been visited.
func (n *nilness) assign(s *ir.Assign) {
	root, ok := ir.Root(s.Dst).(*ir.VarPlace)
	if !ok || !holdsPointer(s.Src.Type()) {
		return
	}
	_, whole := s.Dst.(*ir.VarPlace)
	filled := n.filled(s.Src)
	if whole || !filled {
		n.set(root.Var, filled)
	}
}

// set notes whether all pointers in a variable are known not to be nil.
func (n *nilness) set(v *ir.Local, filled bool) {
	if u := n.uses[v]; filled && u != nil && !u.addressed {
		n.known[v] = true
		return
	}
	delete(n.known, v)
}

// expr visits an expression: the right side of && and || does not run always.
func (n *nilness) expr(e ir.Expr) bool {
	b, ok := e.(*ir.Binary)
	if !ok || !b.Op.IsLogical() {
		return true
	}
	n.visitor.Value(b.X)
	before := maps.Clone(n.known)
	n.visitor.Value(b.Y)
	n.known = before
	return false
}

// place visits a place. A pointer is checked after it has been evaluated.
func (n *nilness) place(p ir.Place) bool {
	d, ok := p.(*ir.DerefPlace)
	if !ok {
		return true
	}
	n.visitor.Value(d.Ptr)
	if d.Check {
		if !n.filled(d.Ptr) {
			n.needed[d] = true
		}
		if v, ok := ir.Variable(d.Ptr); ok {
			n.set(v, true)
		}
	}
	return false
}

// filled reports whether all pointers in a value are known not to be nil.
func (n *nilness) filled(e ir.Expr) bool {
	switch e := e.(type) {
	case *ir.Load:
		root, ok := ir.Root(e.Place).(*ir.VarPlace)
		return ok && n.known[root.Var]
	case *ir.Addr, *ir.Intrinsic:
		return true
	case *ir.Convert:
		return n.filled(e.X)
	case *ir.Select:
		return n.filled(e.X) && n.filled(e.Y)
	case *ir.Composite:
		for i, x := range e.Elems {
			t := e.T.Elem
			if e.T.Kind == ir.Struct {
				t = e.T.Fields[i].Type
			}
			if holdsPointer(t) && (x == nil || !n.filled(x)) {
				return false
			}
		}
		return true
	}
	return false
}

// holdsPointer reports whether values of a type are or contain pointers.
func holdsPointer(t *ir.Type) bool {
	switch t.Kind {
	case ir.Pointer:
		return true
	case ir.Array:
		return holdsPointer(t.Elem)
	case ir.Struct:
		for _, f := range t.Fields {
			if holdsPointer(f.Type) {
				return true
			}
		}
	}
	return false
}
