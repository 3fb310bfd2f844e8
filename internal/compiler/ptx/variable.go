package ptx

import (
	"fmt"

	"quern.dev/internal/compiler/ir"
)

// home says where a variable is stored.
type home uint8

const (
	inRegisters home = iota
	inMemory         // local memory
	inParam          // parameter memory
)

// variable is a local variable or parameter.
type variable struct {
	local *ir.Local
	home  home
	space space // of a pointer's or slice's address
	// maxLength is an upper bound of the length and capacity of a slice.
	maxLength int64

	register operand // for a scalar
	// The parts of a slice, each created on first use.
	pointer, length, capacity operand
	length32                  operand // low half of the length, for a parameter that is not assigned

	memory *memory // for a variable in memory

	isParam     bool
	assigned    bool // for a parameter: the body assigns it
	index       int  // for a parameter, in the kernel's list
	param       *parameter
	lengthParam *parameter // for a slice
}

// memory is a variable in shared or local memory.
type memory struct {
	name  string
	typ   *ir.Type
	space space
	base  operand // register with its address, created on first use
	block *memory // contains it at offset; nil: it is a separate variable

	offset  int64
	aligned int64 // required alignment; 0: that of the type
}

// vectorAlign is the alignment of variables in memory of at least that size: ptxas
// merges neighbouring accesses up to 16 bytes if it knows the alignment.
const vectorAlign = 16

func (m *memory) size() int64 { return max(m.typ.Size(), 1) }

func (m *memory) align() int64 {
	if m.aligned > 0 {
		return m.aligned
	}
	if m.size() >= vectorAlign {
		return vectorAlign
	}
	return m.typ.Align()
}

func (m *memory) append(b []byte) []byte {
	return fmt.Appendf(b, "\t%s .align %d .b8 %s[%d];\n", m.space.directive(), max(m.align(), 1), m.name, m.size())
}

// bytes returns the size of all variables in a space, laid out one after another.
func (g *generator) bytes(s space) int {
	end := int64(0)
	for _, m := range g.memories {
		if m.space == s {
			a := max(m.align(), 1)
			end = (end+a-1)/a*a + m.size()
		}
	}
	return int(end)
}

func (g *generator) declareMemory(name string, t *ir.Type, s space) *memory {
	m := &memory{name: g.unique(name), typ: t, space: s}
	g.memories = append(g.memories, m)
	return m
}

// declareVariables decides where each variable is stored and, for pointers and slices,
// which address space they point to.
func (g *generator) declareVariables() {
	f := g.kernel.Func
	for _, list := range [][]*ir.Local{f.Results, f.Locals} {
		for _, l := range list {
			g.variables[l] = &variable{local: l}
		}
	}
	uses := g.findUses(f.Body)
	for _, l := range f.Params {
		v := g.variables[l]
		v.assigned = uses.assigned[l]
		switch aggregate := l.Type.IsAggregate(); {
		case uses.addressed[l], aggregate && v.assigned:
			v.home = inMemory
		case aggregate:
			v.home = inParam
		}
	}
	for _, list := range [][]*ir.Local{f.Results, f.Locals} {
		for _, l := range list {
			if uses.addressed[l] || l.Type.IsAggregate() {
				g.variables[l].home = inMemory
			}
		}
	}
	g.readsCaps = uses.caps
	g.inferSpaces(uses.pointers)
	for _, l := range f.Params {
		if v := g.variables[l]; v.home == inMemory {
			g.copyParameter(v)
		}
	}
}

// uses is the result of scanning the body for uses of variables.
type uses struct {
	addressed map[*ir.Local]bool // there is a pointer or slice to it
	assigned  map[*ir.Local]bool // it or a part of it is assigned
	caps      bool               // some capacity is read
	pointers  []*ir.Assign       // assignments of pointers and slices to variables
}

func (g *generator) findUses(body []ir.Stmt) *uses {
	u := &uses{addressed: map[*ir.Local]bool{}, assigned: map[*ir.Local]bool{}}
	address := func(p ir.Place) {
		if root, ok := ir.Root(p).(*ir.VarPlace); ok {
			u.addressed[root.Var] = true
		}
	}
	v := &ir.Visitor{
		Stmt: func(s ir.Stmt) bool {
			switch s := s.(type) {
			case *ir.Assign:
				if root, ok := ir.Root(s.Dst).(*ir.VarPlace); ok {
					u.assigned[root.Var] = true
				}
				switch s.Dst.Type().Kind {
				case ir.Pointer, ir.Slice:
					_, direct := s.Dst.(*ir.VarPlace)
					u.caps = u.caps || !direct && s.Dst.Type().Kind == ir.Slice // slices in memory include the capacity
					if direct {
						u.pointers = append(u.pointers, s)
					}
				}
			default:
				for v := range ir.Defined(s) {
					u.assigned[v] = true
				}
			}
			return true
		},
		Expr: func(e ir.Expr) bool {
			switch e := e.(type) {
			case *ir.Addr:
				address(e.Place)
			case *ir.SliceExpr:
				if e.Array != nil {
					address(e.Array)
				}
				u.caps = u.caps || e.X != nil && (e.Hi != nil || e.Max != nil)
			case *ir.Cap:
				u.caps = true
			}
			return true
		},
	}
	v.Body(body)
	return u
}

// variable returns the variable of l.
func (g *generator) variable(l *ir.Local) *variable {
	v := g.variables[l]
	if v == nil {
		g.fail(l.Pos, "variable %s is not the kernel's", l.Name)
		v = &variable{local: l}
		g.variables[l] = v
	}
	if v.home == inMemory && v.memory == nil {
		v.memory = g.declareMemory(l.Name, l.Type, localSpace)
	}
	return v
}

// scalar returns the register of a scalar variable.
func (g *generator) scalar(v *variable) operand {
	if v.register.isNone() {
		g.order = append(g.order, v)
		c := classOf(v.local.Type)
		if v.local.Type.Kind == ir.Pointer {
			c = v.space.class()
		}
		v.register = g.into(operand{}, c)
		if v.isParam {
			g.loadParameter(v.register, paramType(v.local.Type), v.param)
		}
	}
	return v.register
}

// copyParameter copies a parameter that is not only read to local memory.
func (g *generator) copyParameter(v *variable) {
	to := address{space: localSpace, symbol: g.variable(v.local).memory.name}
	t := v.local.Type
	g.atEntry(func() {
		switch {
		case t.Kind == ir.Slice:
			for i, p := range []*parameter{v.param, v.lengthParam, v.lengthParam} {
				r := g.register(b64Class)
				g.load("ld.param.u64", r, address{space: paramSpace, symbol: p.name})
				g.store("st.local.u64", to.plus(int64(8*i)), r)
			}
		case t.IsAggregate():
			from := address{space: paramSpace, symbol: v.param.name}
			for off, n := int64(0), t.Align(); off < t.Size(); off += n {
				unit := ir.Basic([...]ir.Kind{1: ir.Uint8, 2: ir.Uint16, 4: ir.Uint32, 8: ir.Uint64}[n])
				r := g.register(classOf(unit))
				g.load("ld.param."+memoryType(unit.Kind), r, from.plus(off))
				g.store("st.local."+memoryType(unit.Kind), to.plus(off), r)
			}
		default:
			unit := memoryType(t.Kind)
			c := classOf(t)
			if c == predClass {
				c = b32Class
			}
			r := g.register(c)
			g.load("ld.param."+unit, r, address{space: paramSpace, symbol: v.param.name})
			g.store("st.local."+unit, to, r)
		}
	})
}
