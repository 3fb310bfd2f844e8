package ptx

import (
	"math"

	"quern.dev/internal/compiler/ir"
)

// space is a PTX address space.
type space uint8

const (
	noSpace space = iota // of a variable that is never assigned
	genericSpace
	globalSpace
	sharedSpace
	localSpace
	paramSpace
	constSpace
)

// directive returns the name of the state space, which is also an instruction suffix;
// the generic space has none.
func (s space) directive() string {
	return [...]string{noSpace: "", genericSpace: "", globalSpace: ".global", sharedSpace: ".shared", localSpace: ".local", paramSpace: ".param", constSpace: ".const"}[s]
}

// class returns the class of an address in the space.
func (s space) class() class {
	if s == sharedSpace || s == localSpace {
		return b32Class
	}
	return b64Class
}

// join returns the space that contains the addresses of both.
func (s space) join(t space) space {
	switch {
	case s == noSpace:
		return t
	case t == noSpace || s == t:
		return s
	}
	return genericSpace
}

// inferSpaces gives every pointer and slice variable the single space of all its
// assignments, or the generic one, and finds the slices that are short. It iterates to
// the least fixed point.
func (g *generator) inferSpaces(assignments []*ir.Assign) {
	for _, l := range g.kernel.Func.Params {
		if v := g.variables[l]; l.Type.Kind == ir.Slice || l.Type.Kind == ir.Pointer {
			v.space = globalSpace
			v.maxLength = g.limitedLength(v.index)
		}
	}
	for _, v := range g.variables {
		if v.home == inMemory { // pointers in memory are generic
			v.space, v.maxLength = genericSpace, math.MaxInt64
		}
	}
	for changed := true; changed; {
		changed = false
		for _, a := range assignments {
			v := g.variable(a.Dst.(*ir.VarPlace).Var)
			space, most := v.space.join(g.spaceOf(a.Src)), max(v.maxLength, g.maxLength(a.Src))
			if v.home == inRegisters && (space != v.space || most != v.maxLength) {
				v.space, v.maxLength, changed = space, most, true
			}
		}
	}
	for _, v := range g.variables {
		if v.space == noSpace {
			v.space = globalSpace
		}
	}
}

// spaceOf returns the address space of a pointer or slice value, as far as known.
func (g *generator) spaceOf(e ir.Expr) space {
	switch e := e.(type) {
	case *ir.Load:
		if v, ok := e.Place.(*ir.VarPlace); ok {
			return g.variable(v.Var).space
		}
		if _, ok := ir.Dynamic(e); ok {
			return sharedSpace
		}
		return genericSpace
	case *ir.Convert:
		return g.spaceOf(e.X)
	case *ir.SliceExpr:
		if e.X != nil {
			return g.spaceOf(e.X)
		}
		return g.spaceOfPlace(e.Array)
	case *ir.Addr:
		return g.spaceOfPlace(e.Place)
	case *ir.Select:
		return g.spaceOf(e.X).join(g.spaceOf(e.Y))
	case *ir.Zero:
		if e.T.Kind == ir.Slice {
			return noSpace // there is no element to point to
		}
	}
	return globalSpace // nil: in shared memory, address 0 is a variable
}

func (g *generator) spaceOfPlace(p ir.Place) space {
	switch root := ir.Root(p).(type) {
	case *ir.VarPlace:
		return localSpace
	case *ir.SharedPlace:
		return sharedSpace
	case *ir.DerefPlace:
		return g.spaceOf(root.Ptr)
	case *ir.ElemPlace:
		return g.spaceOf(root.Slice)
	case *ir.ArrayPlace:
		return g.spaceOf(root.Slice)
	}
	return globalSpace
}

// limitedLength returns the upper bound of the length of slice parameter i in the
// launch conditions.
func (g *generator) limitedLength(i int) int64 {
	most := int64(math.MaxInt64)
	for _, l := range g.kernel.Limits {
		if l.X.Op == ir.SymArg && l.X.Value == int64(i) {
			most = min(most, l.Max)
		}
	}
	return most
}

// maxLength returns an upper bound of the length and capacity of a slice value.
func (g *generator) maxLength(e ir.Expr) int64 {
	switch e := e.(type) {
	case *ir.Load:
		if v, ok := e.Place.(*ir.VarPlace); ok {
			return g.variable(v.Var).maxLength
		}
		if v, ok := ir.Dynamic(e); ok {
			return ir.MaxDynamic(v.Type.Elem)
		}
	case *ir.Convert:
		return g.maxLength(e.X)
	case *ir.SliceExpr:
		if e.X != nil {
			return g.maxLength(e.X)
		}
		return e.Array.Type().Len
	case *ir.Select:
		return max(g.maxLength(e.X), g.maxLength(e.Y))
	case *ir.Zero:
		return 0
	}
	return math.MaxInt64
}

// cast converts an address from one space to another that contains it.
func (g *generator) cast(o operand, from, to space) operand {
	if from == to || to == noSpace || from == noSpace {
		return o
	}
	if to != genericSpace {
		g.fail(ir.Pos{}, "address of space%s where%s is wanted", from.directive(), to.directive())
		return o
	}
	if o.immediate { // nil
		return o
	}
	if o.class == b32Class {
		wide := g.register(b64Class)
		g.emit("cvt.u64.u32", wide, o)
		o = wide
	}
	d := g.register(b64Class)
	g.emit("cvta"+from.directive()+".u64", d, o)
	return d
}
