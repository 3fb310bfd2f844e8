package ptx

import (
	"fmt"
	"maps"
	"strings"

	"quern.dev/internal/compiler/ir"
)

// Addresses that do not change in a loop are computed before it, if only some iterations use
// them: ptxas moves nothing out of a loop that is not always executed. In the same way, those that
// do not change in an iteration are computed at its start, if several ifs use them.

// mostSteady is the number of 32-bit registers that loops may keep such addresses in.
// Loops with more than steadyNodes nodes need the registers themselves.
const (
	mostSteady  = 8
	steadyNodes = 1000
)

// steadyKey names the address base + index*size.
type steadyKey struct {
	symbol string
	base   operand // if there is no symbol
	index  string
	size   int64
}

// steadies are the addresses that have been computed before the loops around the current
// position.
type steadies struct {
	known   map[steadyKey]operand
	keeping bool // what index computes is added
}

// keepSteady computes addresses before some loops that follow each other. The function that
// it returns is called after them.
func (g *generator) keepSteady(loops []*ir.Loop) (done func()) {
	before := g.steady.known
	done = func() { g.steady.known = before }
	var places []ir.Place
	assigned := map[*ir.Local]bool{}
	for _, loop := range loops {
		if !isShort(loop) {
			return done
		}
		for _, s := range loop.Body {
			places = append(places, conditionalPlaces(s)...)
		}
	}
	if len(places) == 0 {
		return done
	}
	for _, loop := range loops {
		findAssigned(loop, assigned)
	}
	if g.steady.known = maps.Clone(before); before == nil {
		g.steady.known = map[steadyKey]operand{}
	}
	seen, registers := map[string]bool{}, 0
	for _, p := range places {
		text, words, ok := g.steadyPlace(p, assigned)
		if !ok || seen[text] || registers+words > mostSteady {
			continue
		}
		seen[text] = true
		registers += words
		g.steady.keeping = true
		g.address(p)
		g.steady.keeping = false
	}
	return done
}

// keepShared computes addresses at the start of an iteration of a loop that several of its ifs
// need and that do not change in it. The function that it returns is called after the iteration.
func (g *generator) keepShared(loop *ir.Loop) (done func()) {
	before := g.steady.known
	done = func() { g.steady.known = before }
	if !isShort(loop) {
		return done
	}
	assigned := map[*ir.Local]bool{}
	findAssigned(&ir.Loop{Body: loop.Body}, assigned)
	last, shared := map[string]int{}, map[string]bool{}
	registers := 0
	for i, s := range loop.Body {
		for _, p := range conditionalPlaces(s) {
			text, words, ok := g.steadyPlace(p, assigned)
			if !ok || shared[text] {
				continue
			}
			if j, seen := last[text]; !seen || j == i || registers+words > mostSteady {
				last[text] = i
				continue
			}
			shared[text] = true
			registers += words
			g.steady.known = maps.Clone(g.steady.known)
			if g.steady.known == nil {
				g.steady.known = map[steadyKey]operand{}
			}
			g.steady.keeping = true
			g.address(p)
			g.steady.keeping = false
		}
	}
	return done
}

// isShort reports whether a loop has at most steadyNodes nodes.
func isShort(loop *ir.Loop) bool {
	nodes := 0
	more := func() bool { nodes++; return nodes <= steadyNodes }
	v := ir.Visitor{
		Stmt:  func(ir.Stmt) bool { return more() },
		Expr:  func(ir.Expr) bool { return more() },
		Place: func(ir.Place) bool { return more() },
	}
	v.Body([]ir.Stmt{loop})
	return nodes <= steadyNodes
}

// conditionalPlaces returns the elements that the ifs of a statement of a loop access, other
// than in loops of their own.
func conditionalPlaces(s ir.Stmt) (list []ir.Place) {
	v := ir.Visitor{
		Stmt: func(s ir.Stmt) bool {
			_, isLoop := s.(*ir.Loop)
			return !isLoop
		},
		Place: func(p ir.Place) bool {
			switch p.(type) {
			case *ir.FieldPlace, *ir.IndexPlace, *ir.ElemPlace:
				list = append(list, p)
				return false
			}
			return true
		},
	}
	switch s := s.(type) {
	case *ir.If:
		v.Body(s.Then)
		v.Body(s.Else)
	case *ir.Block:
		for _, t := range s.Body {
			list = append(list, conditionalPlaces(t)...)
		}
	}
	return list
}

// findAssigned adds the variables that a loop assigns.
func findAssigned(loop *ir.Loop, out map[*ir.Local]bool) {
	v := ir.Visitor{Stmt: func(s ir.Stmt) bool {
		for p := range ir.Targets(s) {
			if root, ok := ir.Root(*p).(*ir.VarPlace); ok {
				out[root.Var] = true
			}
		}
		for r := range ir.Results(s) {
			out[*r] = true
		}
		return true
	}}
	v.Body([]ir.Stmt{loop})
}

// steadyPlace reports whether the address of an element in shared or global memory is the
// same in all iterations of a loop that assigns some variables, and takes computing without
// checks. The text is equal for equal addresses but for constants, which cost no register.
func (g *generator) steadyPlace(p ir.Place, assigned map[*ir.Local]bool) (text string, words int, ok bool) {
	var b strings.Builder
	variable := false
	index := func(e ir.Expr, check bool, most int64) bool {
		e, _ = splitIndex(stripWidening(e), most)
		if _, isConst := e.(*ir.Const); isConst {
			return !check
		}
		variable = true
		b.WriteByte(' ')
		return !check && g.describe(&b, stripWidening(e), assigned)
	}
	for {
		switch q := p.(type) {
		case *ir.FieldPlace:
			p = q.X
		case *ir.IndexPlace:
			if !index(q.Index, q.Check, q.X.Type().Len) {
				return "", 0, false
			}
			fmt.Fprintf(&b, "*%d", q.Type().Size())
			p = q.X
		case *ir.ElemPlace:
			v, isVar := ir.Variable(q.Slice)
			if !isVar || assigned[v] || !index(q.Index, q.Check, g.slice(q.Slice).maxLength) {
				return "", 0, false
			}
			fmt.Fprintf(&b, "*%d of %p", q.Type().Size(), v)
			return b.String(), 2, variable
		case *ir.SharedPlace:
			fmt.Fprintf(&b, " of %p", q.Var)
			return b.String(), 1, variable
		default:
			return "", 0, false
		}
	}
}

// describe writes an index so that equal indices have equal texts. It reports whether the
// index consists of thread coordinates and scalar variables in registers that are not
// assigned, and cannot fail.
func (g *generator) describe(b *strings.Builder, e ir.Expr, assigned map[*ir.Local]bool) bool {
	switch e := e.(type) {
	case *ir.Const:
		fmt.Fprintf(b, "%dk%x", e.T.Kind, e.Bits) // 1<<s differs between int8 and uint8
		return e.T.IsInteger()
	case *ir.Load:
		v, ok := ir.Variable(e)
		if !ok || assigned[v] || !v.Type.IsInteger() || g.variable(v).home != inRegisters {
			return false
		}
		b.Write(g.scalar(g.variable(v)).append(nil)) // not its address: the order of texts decides about code
		return true
	case *ir.ThreadValue:
		fmt.Fprintf(b, "t%d", e.Op)
		return e.Op <= ir.WarpID
	case *ir.Convert:
		if !e.T.IsInteger() || !e.X.Type().IsInteger() {
			return false
		}
		fmt.Fprintf(b, "c%d", e.T.Kind)
		return g.describe(b, e.X, assigned)
	case *ir.Unary:
		fmt.Fprintf(b, "u%d", e.Op)
		return g.describe(b, e.X, assigned)
	case *ir.Binary:
		if e.Check || !e.Type().IsInteger() {
			return false
		}
		b.WriteByte('(')
		ok := g.describe(b, e.X, assigned)
		fmt.Fprintf(b, " o%d ", e.Op)
		ok = ok && g.describe(b, e.Y, assigned)
		b.WriteByte(')')
		return ok
	}
	return false
}

// steadyBase returns the register with a + index*size, without a's offset, if it has been
// computed before a loop.
func (g *generator) steadyBase(a address, index ir.Expr, size int64) (key steadyKey, base operand, ok bool) {
	if len(g.steady.known) == 0 && !g.steady.keeping {
		return key, base, false
	}
	var b strings.Builder
	if !g.describe(&b, index, nil) {
		return key, base, false
	}
	key = steadyKey{a.symbol, a.base, b.String(), size}
	base, ok = g.steady.known[key]
	return key, base, ok
}
