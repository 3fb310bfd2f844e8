package ptx

import "quern.dev/internal/compiler/ir"

// slice is a slice value. A variable has registers for the parts of the slice that are
// used.
type slice struct {
	variable *variable
	space    space
	// The parts, if it is not a variable.
	pointer, length, capacity operand

	maxLength int64
}

// origin returns the text of sites for a slice with elements of type t: the launch may have
// left out the memory of kernel.Dynamic.
func (s *slice) origin(t *ir.Type) string {
	if s.space == sharedSpace && s.maxLength == ir.MaxDynamic(t) {
		return "kernel.Dynamic"
	}
	return ""
}

// slice evaluates a slice value.
func (g *generator) slice(e ir.Expr) slice {
	switch e := e.(type) {
	case *ir.Load:
		return g.loadSlice(e.Place)
	case *ir.Convert:
		return g.slice(e.X)
	case *ir.Zero:
		zero := zeroOperand(b64Class)
		return slice{pointer: zero, length: zero, capacity: zero}
	case *ir.Select:
		return g.selectSlice(e)
	case *ir.SliceExpr:
		return g.sliceExpr(e)
	}
	g.fail(ir.Pos{}, "slice value %T", e)
	return slice{}
}

func (g *generator) loadSlice(p ir.Place) slice {
	if v, ok := p.(*ir.VarPlace); ok {
		if v := g.variable(v.Var); v.home == inRegisters {
			return slice{variable: v, space: v.space, maxLength: v.maxLength}
		}
	}
	if s, ok := p.(*ir.SharedPlace); ok {
		return g.dynamicSlice(s.Var)
	}
	a := g.address(p)
	part := func(offset int64) operand {
		r := g.register(b64Class)
		g.load("ld"+a.space.directive()+".u64", r, a.plus(offset))
		return r
	}
	return slice{space: genericSpace, pointer: part(0), length: part(8), capacity: part(16), maxLength: 1<<63 - 1}
}

func (g *generator) selectSlice(e *ir.Select) slice {
	x, y := g.slice(e.X), g.slice(e.Y)
	c := g.condition(e.Cond)
	space := x.space.join(y.space)
	choose := func(a, b operand) operand { return g.choose(operand{}, c, a, b) }
	return slice{
		space:     space,
		pointer:   choose(g.cast(g.slicePointer(x), x.space, space), g.cast(g.slicePointer(y), y.space, space)),
		length:    choose(g.sliceLength(x), g.sliceLength(y)),
		capacity:  choose(g.sliceCapacity(x), g.sliceCapacity(y)),
		maxLength: max(x.maxLength, y.maxLength),
	}
}

// sliceExpr evaluates x[lo:hi:max]. Bounds are checked in Go's order: max against the
// capacity, then each bound against the next one.
func (g *generator) sliceExpr(e *ir.SliceExpr) slice {
	var s slice
	if e.X != nil {
		s = g.slice(e.X)
	} else {
		a := g.address(e.Array)
		n := intOperand(b64Class, uint64(e.Array.Type().Len))
		s = slice{space: a.space, pointer: g.materialise(a), length: n, capacity: n, maxLength: e.Array.Type().Len}
	}
	if e.Lo == nil && e.Hi == nil && e.Max == nil {
		return s
	}
	bound := func(x ir.Expr, otherwise func(slice) operand) operand {
		if x == nil {
			return otherwise(s)
		}
		return g.value64(x)
	}
	limit := bound(e.Max, g.sliceCapacity)
	hi := bound(e.Hi, g.sliceLength)
	lo := zeroOperand(b64Class)
	if e.Lo != nil {
		lo = g.value64(e.Lo)
	}
	if e.Check {
		g.at(e.Pos)
		text := s.origin(e.T.Elem)
		if e.Max != nil {
			g.checkBound(limit, g.sliceCapacity(s), e.Pos, text)
		}
		if e.Hi != nil || e.Max != nil {
			g.checkBound(hi, limit, e.Pos, text)
		}
		if e.Lo != nil {
			g.checkBound(lo, hi, e.Pos, text)
		}
	}
	if lo == zeroOperand(b64Class) {
		return slice{space: s.space, pointer: g.slicePointer(s), length: hi, capacity: limit, maxLength: s.maxLength}
	}
	first := address{space: s.space, base: g.slicePointer(s)}
	return slice{
		space:     s.space,
		pointer:   g.materialise(g.scaled(first, lo, true, e.T.Elem.Size())),
		length:    g.difference(hi, lo),
		capacity:  g.difference(limit, lo),
		maxLength: s.maxLength,
	}
}

// difference returns the 64-bit difference x-y, or none if x is none.
func (g *generator) difference(x, y operand) operand {
	switch {
	case x.isNone():
		return x
	case x.immediate && y.immediate:
		return intOperand(b64Class, x.n-y.n)
	}
	d := g.register(b64Class)
	g.emit("sub.s64", d, x, y)
	return d
}

// slicePointer returns the address of a slice's first element.
func (g *generator) slicePointer(s slice) operand {
	v := s.variable
	if v == nil {
		return s.pointer
	}
	if v.pointer.isNone() {
		g.mention(v)
		v.pointer = g.register(v.space.class())
		if v.isParam {
			g.loadParameter(v.pointer, "u64", v.param)
			if v.space == globalSpace {
				g.atEntry(func() { g.emit("cvta.to.global.u64", v.pointer, v.pointer) })
			}
		}
	}
	return v.pointer
}

// sliceLength returns a slice's length as 64 bits.
func (g *generator) sliceLength(s slice) operand {
	v := s.variable
	if v == nil {
		return s.length
	}
	if v.length.isNone() {
		g.mention(v)
		v.length = g.register(b64Class)
		if v.isParam {
			g.loadParameter(v.length, "u64", v.lengthParam)
		}
	}
	return v.length
}

// sliceLength32 returns the low half of a slice's length.
func (g *generator) sliceLength32(s slice) operand {
	v := s.variable
	if v == nil || !v.isParam || v.assigned {
		return g.low(g.sliceLength(s))
	}
	if v.length32.isNone() {
		v.length32 = g.register(b32Class)
		g.loadParameter(v.length32, "u32", v.lengthParam)
	}
	return v.length32
}

// sliceCapacity returns a slice's capacity as 64 bits, or none for a variable in a
// kernel that reads no capacity.
func (g *generator) sliceCapacity(s slice) operand {
	v := s.variable
	switch {
	case v == nil:
		return s.capacity
	case !g.readsCaps:
		return operand{}
	case v.isParam && !v.assigned:
		return g.sliceLength(s)
	case v.capacity.isNone():
		g.mention(v)
		v.capacity = g.register(b64Class)
		if v.isParam {
			g.loadParameter(v.capacity, "u64", v.lengthParam)
		}
	}
	return v.capacity
}

// mention adds a variable to those that comments explain.
func (g *generator) mention(v *variable) {
	if v.pointer.isNone() && v.length.isNone() && v.capacity.isNone() {
		g.order = append(g.order, v)
	}
}

// assignSlice assigns a slice to a variable or to a place in memory.
func (g *generator) assignSlice(dst ir.Place, src ir.Expr) {
	s := g.slice(src)
	if v, ok := dst.(*ir.VarPlace); ok {
		if v := g.variable(v.Var); v.home == inRegisters {
			d := slice{variable: v}
			pointer := g.cast(g.slicePointer(s), s.space, v.space)
			length, capacity := g.sliceLength(s), g.sliceCapacity(s)
			g.move(g.slicePointer(d), pointer)
			g.move(g.sliceLength(d), length)
			if g.readsCaps {
				g.move(g.sliceCapacity(d), capacity)
			}
			return
		}
	}
	pointer := g.cast(g.slicePointer(s), s.space, genericSpace)
	length, capacity := g.sliceLength(s), g.sliceCapacity(s)
	a := g.address(dst)
	for i, part := range []operand{pointer, length, capacity} {
		g.store("st"+a.space.directive()+".u64", a.plus(int64(8*i)), part)
	}
}
