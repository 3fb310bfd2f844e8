package ranges

import (
	"math"
	"slices"

	"quern.dev/internal/compiler/ir"
)

// scan holds what the walk needs to know about a body in advance.
type scan struct {
	index   map[*ir.Local]int // numbers the variables that the walk tracks
	tracked []*ir.Local
	spans   []span // where each tracked variable occurs
	defs    [][]ir.Expr

	regions   map[any]*region // by *ir.If, *ir.Loop, *ir.Block; by loopBody for the body alone
	continued map[*ir.Label]bool

	// wanted holds the int expressions that become part of an index, a slice bound or a
	// loop's condition. For these, launch conditions are worthwhile.
	wanted     map[ir.Expr]bool
	wantedVars []bool // by number: their assigned values are wanted
	// sizes are the int parameters used as counts, and not only as bits or as values to
	// pass on.
	sizes map[*ir.Local]bool
	// strides are sizes that are multiplied by something that varies, or that divide:
	// the width of a row, the size of a plane. Launch conditions require them to be
	// non-negative, so that the sign of products is known.
	strides map[*ir.Local]bool
	// stable holds the array and struct parameters that never change.
	stable map[*ir.Local]bool
	// implied holds what a bool that is assigned several times implies: parts of the only
	// conjunction that it is assigned besides false, which have the same value ever after.
	implied map[*ir.Local][]ir.Expr
}

// span is a range of statement numbers.
type span struct{ begin, end int }

// region is a nested part of the body, with the tracked variables that it assigns and
// that are used outside it.
type region struct {
	span
	assigned []int
	has      map[int]bool
}

// loopBody is the key of the region of a loop's body.
type loopBody struct{ *ir.Loop }

func newScan(f *ir.Func) *scan {
	s := &scan{
		index:     map[*ir.Local]int{},
		regions:   map[any]*region{},
		continued: map[*ir.Label]bool{},
		wanted:    map[ir.Expr]bool{},
		sizes:     map[*ir.Local]bool{},
		strides:   map[*ir.Local]bool{},
		stable:    map[*ir.Local]bool{},
	}
	changed := s.changedByParts(f)
	for _, list := range [...][]*ir.Local{f.Params, f.Results, f.Locals} {
		for _, v := range list {
			if changed[v] {
				continue
			}
			if t := v.Type; t.IsInteger() || t.Kind == ir.Bool || t.Kind == ir.Slice {
				s.index[v] = len(s.tracked)
				s.tracked = append(s.tracked, v)
			}
		}
	}
	for _, v := range f.Params {
		s.stable[v] = v.Type.IsAggregate() && !changed[v]
	}
	s.spans = make([]span, len(s.tracked))
	s.defs = make([][]ir.Expr, len(s.tracked))
	n := numbering{scan: s}
	n.visitor = ir.Visitor{Place: n.place}
	n.body(f.Body)
	(&assignments{scan: s}).body(f.Body)
	s.want(f.Body)
	s.findSizes(f.Body)
	s.implied = s.findImplied(f, changed)
	return s
}

// findImplied finds flags such as mine, which implies inside after the loop too:
//
//	inside := x < w
//	mine := false
//	for i := range n {
//		mine = inside && x > i
//	}
func (s *scan) findImplied(f *ir.Func, changed map[*ir.Local]bool) map[*ir.Local][]ir.Expr {
	sources := map[*ir.Local][]ir.Expr{} // nil for a result of an operation
	v := ir.Visitor{Stmt: func(st ir.Stmt) bool {
		if a, ok := st.(*ir.Assign); ok {
			if dst, ok := a.Dst.(*ir.VarPlace); ok {
				sources[dst.Var] = append(sources[dst.Var], a.Src)
			}
		}
		for v := range ir.Defined(st) {
			sources[v] = append(sources[v], nil)
		}
		return true
	}}
	v.Body(f.Body)
	fixed := map[*ir.Local]bool{}
	for _, v := range f.Params {
		fixed[v] = len(sources[v]) == 0 && !changed[v]
	}
	out := map[*ir.Local][]ir.Expr{}
	imply := func(a *ir.Assign) {
		dst, ok := a.Dst.(*ir.VarPlace)
		if !ok || dst.Var.Type.Kind != ir.Bool || changed[dst.Var] || isFalse(a.Src) {
			return
		}
		list := sources[dst.Var]
		if others := slices.DeleteFunc(slices.Clone(list), isFalse); len(list) > 1 && len(others) == 1 && others[0] != nil {
			out[dst.Var] = parts(nil, a.Src, fixed)
		}
	}
	for _, st := range f.Body {
		v := ir.Visitor{Stmt: func(st ir.Stmt) bool {
			if a, ok := st.(*ir.Assign); ok {
				imply(a)
			}
			return true
		}}
		v.Body([]ir.Stmt{st})
		if a, ok := st.(*ir.Assign); ok { // not in a loop, and before all that follows
			if dst, ok := a.Dst.(*ir.VarPlace); ok {
				fixed[dst.Var] = len(sources[dst.Var]) == 1 && !changed[dst.Var]
			}
		}
	}
	return out
}

func isFalse(e ir.Expr) bool {
	c, ok := e.(*ir.Const)
	return ok && c.Bits == 0
}

// parts appends copies of the parts of a conjunction that read only fixed variables.
func parts(list []ir.Expr, e ir.Expr, fixed map[*ir.Local]bool) []ir.Expr {
	if b, ok := e.(*ir.Binary); ok && b.Op == ir.LAnd {
		return parts(parts(list, b.X, fixed), b.Y, fixed)
	}
	ok := !ir.MayFault(e)
	v := ir.Visitor{Expr: func(e ir.Expr) bool {
		if l, isLoad := e.(*ir.Load); isLoad {
			v, isVar := ir.Variable(l)
			ok = ok && isVar && fixed[v]
			return false
		}
		return ok
	}}
	v.Value(e)
	if !ok {
		return list
	}
	return append(list, ir.CloneExpr(e))
}

// changedByParts finds the variables that can change other than by an assignment of the
// whole variable.
func (s *scan) changedByParts(f *ir.Func) map[*ir.Local]bool {
	out := map[*ir.Local]bool{}
	root := func(p ir.Place) {
		if p == nil {
			return
		}
		if v, ok := ir.Root(p).(*ir.VarPlace); ok {
			out[v.Var] = true
		}
	}
	v := ir.Visitor{
		Stmt: func(st ir.Stmt) bool {
			switch st := st.(type) {
			case *ir.Assign:
				if v, ok := st.Dst.(*ir.VarPlace); !ok || v.Var.Type.IsAggregate() {
					root(st.Dst)
				}
			default:
				for p := range ir.Targets(st) {
					root(*p)
				}
			}
			return true
		},
		Expr: func(e ir.Expr) bool {
			switch e := e.(type) {
			case *ir.Addr:
				root(e.Place)
			case *ir.SliceExpr:
				root(e.Array)
			}
			return true
		},
	}
	v.Body(f.Body)
	return out
}

// numbering numbers the statements and finds the spans of the variables.
type numbering struct {
	*scan
	visitor ir.Visitor
	now     int
}

func (n *numbering) body(list []ir.Stmt) {
	for _, s := range list {
		n.stmt(s)
	}
}

func (n *numbering) stmt(s ir.Stmt) {
	n.now++
	begin := n.now
	switch s := s.(type) {
	case *ir.If:
		n.visitor.Value(s.Cond)
		n.body(s.Then)
		n.body(s.Else)
		n.regions[s] = &region{span: span{begin, n.now}}
		return
	case *ir.Loop:
		n.body(s.Pre)
		n.visitor.Value(s.Cond)
		n.now++
		inner := n.now
		n.body(s.Body)
		n.regions[loopBody{s}] = &region{span: span{inner, n.now}}
		n.body(s.Post)
		n.regions[s] = &region{span: span{begin, n.now}}
		return
	case *ir.Block:
		n.body(s.Body)
		n.regions[s] = &region{span: span{begin, n.now}}
		return
	case *ir.Assign:
		n.define(s.Dst, s.Src)
	case *ir.Continue:
		n.continued[s.Label] = true
	default:
		for v := range ir.Defined(s) {
			n.occurs(v)
		}
	}
	n.visitor.Body([]ir.Stmt{s})
}

func (n *numbering) define(p ir.Place, src ir.Expr) {
	if v, ok := p.(*ir.VarPlace); ok {
		if i, ok := n.index[v.Var]; ok {
			n.defs[i] = append(n.defs[i], src)
		}
	}
}

func (n *numbering) place(p ir.Place) bool {
	if v, ok := p.(*ir.VarPlace); ok {
		n.occurs(v.Var)
	}
	return true
}

func (n *numbering) occurs(v *ir.Local) {
	i, ok := n.index[v]
	if !ok {
		return
	}
	s := &n.spans[i]
	if s.begin == 0 {
		s.begin = n.now
	}
	s.end = n.now
}

// assignments finds what each region assigns.
type assignments struct {
	*scan
	open []*region
}

func (a *assignments) body(list []ir.Stmt) {
	for _, s := range list {
		switch s := s.(type) {
		case *ir.Assign:
			if v, ok := s.Dst.(*ir.VarPlace); ok {
				a.assign(v.Var)
			}
		case *ir.If:
			a.inside(s, s.Then, s.Else)
		case *ir.Block:
			a.inside(s, s.Body)
		case *ir.Loop:
			a.open = append(a.open, a.regions[s])
			a.body(s.Pre)
			a.inside(loopBody{s}, s.Body)
			a.body(s.Post)
			a.open = a.open[:len(a.open)-1]
		default:
			for v := range ir.Defined(s) {
				a.assign(v)
			}
		}
	}
}

func (a *assignments) inside(key any, lists ...[]ir.Stmt) {
	a.open = append(a.open, a.regions[key])
	for _, list := range lists {
		a.body(list)
	}
	a.open = a.open[:len(a.open)-1]
}

func (a *assignments) assign(v *ir.Local) {
	i, ok := a.index[v]
	if !ok {
		return
	}
	where := a.spans[i]
	for k := len(a.open) - 1; k >= 0; k-- {
		r := a.open[k]
		if where.begin >= r.begin && where.end <= r.end {
			return // then it is not used outside the enclosing regions either
		}
		if r.has == nil {
			r.has = map[int]bool{}
		}
		if !r.has[i] {
			r.has[i] = true
			r.assigned = append(r.assigned, i)
		}
	}
}

// want finds the wanted expressions.
func (s *scan) want(body []ir.Stmt) {
	s.wantedVars = make([]bool, len(s.tracked))
	var mark func(e ir.Expr)
	mark = func(e ir.Expr) {
		if e == nil || !e.Type().IsInteger() {
			return
		}
		s.wanted[e] = true
		switch e := e.(type) {
		case *ir.Binary:
			if _, masked := e.Y.(*ir.Const); masked && e.Op == ir.And {
				return // the low bits are
			}
			mark(e.X)
			mark(e.Y)
		case *ir.Unary:
			mark(e.X)
		case *ir.Convert:
			mark(e.X)
		case *ir.Select:
			mark(e.X)
			mark(e.Y)
		case *ir.Intrinsic:
			if e.Op == ir.Min || e.Op == ir.Max {
				mark(e.Args[0])
				mark(e.Args[1])
			}
		case *ir.Load:
			v, ok := e.Place.(*ir.VarPlace)
			if !ok {
				return
			}
			if i, ok := s.index[v.Var]; ok && !s.wantedVars[i] {
				s.wantedVars[i] = true
				for _, src := range s.defs[i] {
					mark(src)
				}
			}
		}
	}
	v := ir.Visitor{
		Stmt: func(st ir.Stmt) bool {
			if l, ok := st.(*ir.Loop); ok && l.Cond != nil {
				for _, c := range comparisons(l.Cond, nil) {
					mark(c.X)
					mark(c.Y)
				}
			}
			return true
		},
		Place: func(p ir.Place) bool {
			switch p := p.(type) {
			case *ir.IndexPlace:
				mark(p.Index)
			case *ir.ElemPlace:
				mark(p.Index)
			}
			return true
		},
		Expr: func(e ir.Expr) bool {
			if x, ok := e.(*ir.SliceExpr); ok {
				mark(x.Lo)
				mark(x.Hi)
				mark(x.Max)
			}
			return true
		},
	}
	v.Body(body)
}

// comparisons appends the comparisons that a condition consists of.
func comparisons(cond ir.Expr, list []*ir.Binary) []*ir.Binary {
	switch e := cond.(type) {
	case *ir.Unary:
		return comparisons(e.X, list)
	case *ir.Binary:
		if e.Op.IsLogical() {
			return comparisons(e.Y, comparisons(e.X, list))
		}
		if e.Op.IsComparison() {
			return append(list, e)
		}
	}
	return list
}

// findSizes finds the parameters that launch conditions restrict to 32 bits. A seed of
// a generator or a hash must not be among them.
func (s *scan) findSizes(body []ir.Stmt) {
	add := func(set map[*ir.Local]bool, list ...ir.Expr) {
		for _, e := range list {
			l, ok := e.(*ir.Load)
			if !ok {
				continue
			}
			if v, ok := l.Place.(*ir.VarPlace); ok && v.Var.Type.Kind == ir.Int {
				set[v.Var] = true
			}
		}
	}
	use := func(list ...ir.Expr) { add(s.sizes, list...) }
	v := ir.Visitor{
		Expr: func(e ir.Expr) bool {
			switch e := e.(type) {
			case *ir.Binary:
				if e.Op < ir.And && !isLargeConst(e.X) && !isLargeConst(e.Y) || e.Op.IsComparison() {
					use(e.X, e.Y)
				}
				if e.Op == ir.Mul && !isConst(e.X) && !isConst(e.Y) {
					add(s.strides, e.X, e.Y)
				}
				if e.Op == ir.Div || e.Op == ir.Rem {
					add(s.strides, e.Y)
				}
			case *ir.Unary:
				if e.Op == ir.Neg {
					use(e.X)
				}
			case *ir.SliceExpr:
				use(e.Lo, e.Hi, e.Max)
			case *ir.Intrinsic:
				use(e.Args...)
			case *ir.Select:
				use(e.X, e.Y)
			}
			if s.wanted[e] {
				use(e)
			}
			return true
		},
		Place: func(p ir.Place) bool {
			switch p := p.(type) {
			case *ir.IndexPlace:
				use(p.Index)
			case *ir.ElemPlace:
				use(p.Index)
			}
			return true
		},
	}
	v.Body(body)
}

func isConst(e ir.Expr) bool {
	_, ok := e.(*ir.Const)
	return ok
}

func isLargeConst(e ir.Expr) bool {
	c, ok := e.(*ir.Const)
	return ok && (c.Int64() < math.MinInt32 || c.Int64() > math.MaxInt32)
}
