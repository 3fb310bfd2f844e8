package opt

import (
	"slices"

	"quern.dev/internal/compiler/ir"
)

// assign returns the scalar assignments that make up an assignment of an aggregate.
func (s *scalariser) assign(a *ir.Assign) []ir.Stmt {
	x := &expansion{scalariser: s, pos: a.Pos}
	if v, ok := ir.Root(a.Dst).(*ir.VarPlace); ok {
		x.target = s.rootOf(v.Var)
	}
	x.settlePlace(a.Dst)
	s.f.Poll()
	src := x.settle(a.Src)
	x.flatten(a.Dst, src)
	// Go evaluates the right side before it stores. A load of a whole place can be
	// copied in any order if the place is the destination itself or does not overlap
	// it.
	l, whole := src.(*ir.Load)
	anyOrder := whole && !x.mayOverlapInPart(a.Dst, l.Place)
	size := max(len(x.moves), 1)
	if anyOrder {
		size = maxHeld
	}
	for moves := range slices.Chunk(x.moves, size) {
		if x.overlap(moves) {
			x.hold(moves, anyOrder)
		}
		for _, m := range moves {
			x.emit(m.dst, m.src)
		}
	}
	return x.out
}

// maxHeld is the number of values that are read before the first is written if the
// order does not matter. Their loads are in flight together and may be vectorised.
const maxHeld = 16

// rootOf returns the source variable that v is a part of.
func (s *scalariser) rootOf(v *ir.Local) *ir.Local {
	if n := s.nodes[v]; n != nil {
		return n.root
	}
	if r := s.roots[v]; r != nil {
		return r
	}
	return v
}

// expansion expands the assignment of one aggregate.
type expansion struct {
	*scalariser
	pos    ir.Pos
	target *ir.Local // the assigned variable, nil for memory
	moves  []move
	out    []ir.Stmt
}

// move assigns a scalar, or a large array in memory.
type move struct {
	dst ir.Place
	src ir.Expr
}

func (x *expansion) set(dst ir.Place, src ir.Expr) {
	x.out = append(x.out, &ir.Assign{Dst: dst, Src: src, Pos: x.pos})
}

func (x *expansion) temp(t *ir.Type) *ir.Local {
	v := &ir.Local{Name: "part", Type: t, Pos: x.pos, Hidden: true}
	x.f.Locals = append(x.f.Locals, v)
	return v
}

// settle prepares the places that a value is read from, so that they can be evaluated
// once per leaf. It returns the value without conversions.
func (x *expansion) settle(e ir.Expr) ir.Expr {
	switch e := e.(type) {
	case *ir.Convert:
		if e.T.IsAggregate() {
			return x.settle(e.X)
		}
	case *ir.Load:
		if e.Type().IsAggregate() {
			x.settlePlace(e.Place)
		}
	case *ir.Composite:
		for i, elem := range e.Elems {
			if elem != nil {
				e.Elems[i] = x.settle(elem)
			}
		}
	}
	return e
}

// settlePlace moves a place's checks in front of the assignment. It moves to
// temporaries what is expensive or may be changed by the assignment.
func (x *expansion) settlePlace(p ir.Place) {
	x.fixOperands(p)
	if ir.PlaceMayFault(p) {
		x.out = append(x.out, &ir.Check{Place: ir.ClonePlace(p)})
		clearChecks(p)
	}
}

func (x *expansion) fixOperands(p ir.Place) {
	switch p := p.(type) {
	case *ir.FieldPlace:
		x.fixOperands(p.X)
	case *ir.IndexPlace:
		x.fixOperands(p.X)
		p.Index = x.fixed(p.Index)
	case *ir.ElemPlace:
		p.Slice = x.fixed(p.Slice)
		p.Index = x.fixed(p.Index)
	case *ir.ArrayPlace:
		p.Slice = x.fixed(p.Slice)
	case *ir.DerefPlace:
		p.Ptr = x.fixed(p.Ptr)
	}
}

// fixed returns an expression that can be evaluated again. A constant that is added to an
// integer stays outside of the temporary: in an index, it is a part of the address.
func (x *expansion) fixed(e ir.Expr) ir.Expr {
	if asConst(e) != nil {
		return e
	}
	if b, ok := e.(*ir.Binary); ok && b.Op == ir.Add && b.Type().IsInteger() && asConst(b.Y) != nil {
		b.X = x.fixed(b.X)
		return b
	}
	if v, ok := ir.Variable(e); ok && x.rootOf(v) != x.target {
		if u := x.uses[v]; u == nil || !u.addressed {
			return e
		}
	}
	t := x.temp(e.Type())
	x.set(&ir.VarPlace{Var: t}, e)
	return ir.Get(t)
}

// flatten appends the moves of an aggregate's leaves.
func (x *expansion) flatten(dst ir.Place, src ir.Expr) {
	t := dst.Type()
	if x.isLeaf(t) || x.needsLoop(dst, src) {
		x.moves = append(x.moves, move{dst, src})
		return
	}
	for i := range partCount(t) {
		part := x.part(dst, i)
		x.flatten(part, x.partOf(src, i, part.Type()))
	}
}

// needsLoop reports whether an array is large and in memory on both sides.
func (x *expansion) needsLoop(dst ir.Place, src ir.Expr) bool {
	t := dst.Type()
	if t.Kind != ir.Array || leafCount(t) <= maxLeaves || x.nodeOf(dst) != nil {
		return false
	}
	switch src := src.(type) {
	case *ir.Zero:
		return true
	case *ir.Load:
		return x.nodeOf(src.Place) == nil
	}
	return false
}

func leafCount(t *ir.Type) int64 {
	switch t.Kind {
	case ir.Array:
		return t.Len * leafCount(t.Elem)
	case ir.Struct:
		n := int64(0)
		for _, f := range t.Fields {
			n += leafCount(f.Type)
		}
		return n
	}
	return 1
}

// part returns field or element i of a place.
func (x *expansion) part(p ir.Place, i int) ir.Place {
	if n := x.nodeOf(p); n != nil {
		return &ir.VarPlace{Var: n.parts[i].local}
	}
	if p.Type().Kind == ir.Struct {
		return &ir.FieldPlace{X: ir.ClonePlace(p), Field: i}
	}
	return &ir.IndexPlace{X: ir.ClonePlace(p), Index: ir.IntConst(ir.TInt, int64(i)), Pos: x.pos}
}

// partOf returns part i, of type t, of a value.
func (x *expansion) partOf(e ir.Expr, i int, t *ir.Type) ir.Expr {
	switch e := e.(type) {
	case *ir.Composite:
		if elem := e.Elems[i]; elem != nil {
			return elem
		}
	case *ir.Load:
		return &ir.Load{Place: x.part(e.Place, i)}
	}
	return simplifyExpr(&ir.Zero{T: t})
}

// hold reads the values of moves into temporaries: all values, or scalars only.
func (x *expansion) hold(moves []move, scalars bool) {
	for i, m := range moves {
		t := m.dst.Type()
		if asConst(m.src) != nil || scalars && t.IsAggregate() {
			continue
		}
		v := x.temp(t)
		x.emit(&ir.VarPlace{Var: v}, m.src)
		moves[i].src = ir.Get(v)
	}
}

// overlap reports whether a move reads what an earlier move may write.
func (x *expansion) overlap(moves []move) bool {
	written := map[*ir.Local]bool{}
	stored := false
	for i, m := range moves {
		if i > 0 && x.reads(m.src, written, stored) {
			return true
		}
		if v, ok := ir.Root(m.dst).(*ir.VarPlace); ok {
			written[v.Var] = true
			stored = stored || x.isAddressed(v.Var)
		} else {
			stored = true
		}
	}
	return false
}

func (x *expansion) isAddressed(v *ir.Local) bool {
	u := x.uses[v]
	return u != nil && u.addressed
}

// reads reports whether a value reads one of the variables or, if memory is set, memory
// that a pointer may refer to.
func (x *expansion) reads(e ir.Expr, vars map[*ir.Local]bool, memory bool) bool {
	found := false
	v := ir.Visitor{Place: func(p ir.Place) bool {
		switch p := p.(type) {
		case *ir.VarPlace:
			found = found || vars[p.Var] || memory && x.isAddressed(p.Var)
		case *ir.SharedPlace, *ir.ElemPlace, *ir.DerefPlace, *ir.ArrayPlace:
			found = found || memory
		}
		return !found
	}}
	v.Value(e)
	return found
}

// emit appends a move.
func (x *expansion) emit(dst ir.Place, src ir.Expr) {
	t := dst.Type()
	if x.isLeaf(t) {
		x.set(dst, src)
		return
	}
	if !x.needsLoop(dst, src) {
		for i := range partCount(t) {
			part := x.part(dst, i)
			x.emit(part, x.partOf(src, i, part.Type()))
		}
		return
	}
	i := x.temp(ir.TInt)
	index := ir.Get(i)
	at := func(p ir.Place) ir.Place {
		return &ir.IndexPlace{X: ir.ClonePlace(p), Index: ir.CloneExpr(index), Pos: x.pos}
	}
	var elem ir.Expr = &ir.Zero{T: t.Elem}
	if l, ok := src.(*ir.Load); ok {
		if x.mayOverlapInPart(dst, l.Place) {
			index = x.away(dst, l.Place, i)
		}
		elem = &ir.Load{Place: at(l.Place)}
	}
	body := &expansion{scalariser: x.scalariser, pos: x.pos, target: x.target}
	body.emit(at(dst), simplifyExpr(elem))
	x.set(&ir.VarPlace{Var: i}, ir.IntConst(ir.TInt, 0))
	x.out = append(x.out, &ir.Loop{
		Label: &ir.Label{Name: "copy"},
		Cond:  &ir.Binary{Op: ir.Lt, X: ir.Get(i), Y: ir.IntConst(ir.TInt, t.Len), Pos: x.pos},
		Body:  body.out,
		Post: []ir.Stmt{&ir.Assign{Dst: &ir.VarPlace{Var: i}, Pos: x.pos,
			Src: &ir.Binary{Op: ir.Add, X: ir.Get(i), Y: ir.IntConst(ir.TInt, 1), Pos: x.pos}}},
		Pos: x.pos,
	})
}

// away returns the element that step i of a copy moves. The copy goes from the last
// element to the first if the destination is behind the source, so that no element is
// read after it was overwritten.
func (x *expansion) away(dst, src ir.Place, i *ir.Local) ir.Expr {
	behind := x.temp(ir.TBool)
	x.set(&ir.VarPlace{Var: behind}, &ir.Binary{Op: ir.Gt, X: addressOf(dst), Y: addressOf(src), Pos: x.pos})
	last := ir.IntConst(ir.TInt, dst.Type().Len-1)
	return &ir.Select{Cond: ir.Get(behind), X: &ir.Binary{Op: ir.Sub, X: last, Y: ir.Get(i), Pos: x.pos}, Y: ir.Get(i)}
}

func addressOf(p ir.Place) ir.Expr {
	p = ir.ClonePlace(p)
	if d, ok := p.(*ir.DerefPlace); ok {
		return d.Ptr
	}
	return &ir.Addr{T: ir.PointerTo(p.Type()), Place: p}
}
