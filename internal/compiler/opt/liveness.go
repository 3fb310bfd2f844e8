package opt

import (
	"slices"

	"quern.dev/internal/compiler/ir"
)

// deadStores removes values that are never read on any path: assignments, results of
// operations, and conditions that nothing depends on. If an unread value may stop the
// thread, only its computation stays, in a separate variable.
//
// It finds values kept alive only by an unread variable, such as a counter that
// increments itself, and values that an unrolled copy passes to a copy that does not
// exist. Variables reachable by pointers stay unchanged.
func deadStores(f *ir.Func) {
	l := newLiveness(f)
	for _, l.remove = range [...]bool{false, true} {
		l.list(&f.Body, l.none())
	}
}

// LiveWords returns the maximum number of 32-bit words in simultaneously live variables
// of a finished kernel: a thread has at least that many registers, or spills.
// Parameters are not in registers.
func LiveWords(k *ir.Kernel) int {
	l := newLiveness(k.Func)
	words := make([]int, len(l.index))
	for v, i := range l.index {
		switch t := v.Type; {
		case slices.Contains(k.Func.Params, v) || t.IsAggregate(): // in other memory
		case t.Kind == ir.Slice:
			words[i] = 3 // an address, and a length that usually fits 32 bits
		default:
			words[i] = int(t.Size()+3) / 4
		}
	}
	most := 0
	l.watch = func(live liveSet) {
		n := 0
		for i, w := range words {
			if live.has(i) {
				n += w
			}
		}
		most = max(most, n)
	}
	l.list(&k.Func.Body, l.none())
	return most
}

func newLiveness(f *ir.Func) *liveness {
	l := &liveness{
		f: f, index: map[*ir.Local]int{}, heads: map[*ir.Loop]liveSet{},
		breaks: map[*ir.Label]liveSet{}, continues: map[*ir.Label]liveSet{},
	}
	for v, u := range countUses(f) {
		if !u.addressed {
			l.index[v] = len(l.index)
		}
	}
	return l
}

// liveSet has one bit per variable whose value may be read.
type liveSet []uint64

func (s liveSet) has(i int) bool   { return s[i/64]>>(i%64)&1 != 0 }
func (s liveSet) add(i int)        { s[i/64] |= 1 << (i % 64) }
func (s liveSet) drop(i int)       { s[i/64] &^= 1 << (i % 64) }
func (s liveSet) clone() liveSet   { return append(liveSet(nil), s...) }
func (s liveSet) become(t liveSet) { copy(s, t) }

// join adds the variables of t and reports whether any were new.
func (s liveSet) join(t liveSet) (grown bool) {
	for i, w := range t {
		grown = grown || w&^s[i] != 0
		s[i] |= w
	}
	return grown
}

// liveness processes a function backwards with the set of variables that may be read.
// Dead statements add nothing to the set, so the least fixed point contains only what
// is needed.
type liveness struct {
	f     *ir.Func
	index map[*ir.Local]int // of variables without aliases
	heads map[*ir.Loop]liveSet
	// breaks and continues hold the live sets at the targets of jumps.
	breaks, continues map[*ir.Label]liveSet
	remove            bool // the sets are final

	watch func(live liveSet) // called with the live set before each statement; may be nil
}

func (l *liveness) none() liveSet { return make(liveSet, (len(l.index)+63)/64) }

// list processes a list; live is the live set after it, and is updated to the set
// before it. It reports whether nothing of the list is needed.
func (l *liveness) list(list *[]ir.Stmt, live liveSet) (empty bool) {
	kept := len(*list)
	for i := len(*list) - 1; i >= 0; i-- {
		if s := (*list)[i]; l.stmt(s, live) {
			kept--
			if l.remove {
				(*list)[kept] = s
			}
		}
		if l.watch != nil {
			l.watch(live)
		}
	}
	if l.remove {
		*list = (*list)[kept:]
		return len(*list) == 0
	}
	return kept == len(*list)
}

// stmt reports whether a statement is needed.
func (l *liveness) stmt(s ir.Stmt, live liveSet) bool {
	switch s := s.(type) {
	case *ir.Assign:
		return l.assign(s, live)
	case *ir.If:
		other := live.clone()
		noThen, noElse := l.list(&s.Then, live), l.list(&s.Else, other)
		if noThen && noElse && !ir.MayFault(s.Cond) {
			return false
		}
		live.join(other)
		l.reader(live).Value(s.Cond)
	case *ir.Loop:
		l.loop(s, live)
	case *ir.Block:
		l.breaks[s.Label] = live.clone()
		return !l.list(&s.Body, live)
	case *ir.Break:
		live.become(l.breaks[s.Label])
	case *ir.Continue:
		live.become(l.continues[s.Label])
	case *ir.Return, *ir.Panic:
		live.become(l.none())
		l.reader(live).Body([]ir.Stmt{s})
	default:
		l.operation(s, live)
	}
	return true
}

func (l *liveness) assign(s *ir.Assign, live liveSet) bool {
	root, local := ir.Root(s.Dst).(*ir.VarPlace)
	i, named := -1, false
	if local {
		i, named = l.index[root.Var]
	}
	_, whole := s.Dst.(*ir.VarPlace)
	if named && !live.has(i) {
		switch {
		case removable(s):
			return false
		case whole && l.remove:
			unread := &ir.Local{Name: "unread", Type: root.Var.Type, Pos: root.Var.Pos}
			l.f.Locals = append(l.f.Locals, unread)
			s.Dst = &ir.VarPlace{Var: unread}
		}
	}
	if named && whole {
		live.drop(i)
	}
	target := ir.Root(s.Dst)
	r := l.reader(live)
	r.Place = func(p ir.Place) bool { return p == target || l.read(p, live) }
	r.Target(s.Dst)
	r.Value(s.Src)
	return true
}

func (l *liveness) loop(s *ir.Loop, live liveSet) {
	after := live.clone()
	head := l.heads[s]
	if head == nil {
		head = l.none()
		l.heads[s] = head
	}
	turn := func() {
		live.become(head)
		l.list(&s.Post, live)
		l.continues[s.Label] = live.clone()
		l.breaks[s.Label] = after
		l.list(&s.Body, live)
		if s.Cond != nil {
			live.join(after)
			l.reader(live).Value(s.Cond)
		}
		l.list(&s.Pre, live)
	}
	turn()
	for !l.remove && head.join(live) {
		turn()
	}
}

// operation processes a statement that stays whether or not its results are read.
func (l *liveness) operation(s ir.Stmt, live liveSet) {
	unread := func(v *ir.Local) bool {
		i, named := l.index[v]
		return named && !live.has(i)
	}
	for v := range ir.Results(s) {
		if l.remove && unread(*v) {
			*v = nil
		}
	}
	for v := range ir.Defined(s) {
		if i, named := l.index[v]; named {
			live.drop(i)
		}
	}
	l.reader(live).Body([]ir.Stmt{s})
}

// reader returns a visitor that adds the variables it sees to live.
func (l *liveness) reader(live liveSet) *ir.Visitor {
	return &ir.Visitor{Place: func(p ir.Place) bool { return l.read(p, live) }}
}

func (l *liveness) read(p ir.Place, live liveSet) bool {
	if v, ok := p.(*ir.VarPlace); ok {
		if i, named := l.index[v.Var]; named {
			live.add(i)
		}
	}
	return true
}
