package ptx

import (
	"math/bits"

	"quern.dev/internal/compiler/ir"
)

// margin is the number of known zeros, including those of a power of two in the
// constant, from which on a product is computed in halves. 32 zeros give wrong results;
// fewer may, once ptxas has distributed a sum.
const margin = 24

// productInHalves multiplies a 64-bit value by a constant, and adds addend unless it is
// nil, if ptxas might compile the single instruction incorrectly.
//
// For x*c + y, if the product of x and a power of two in c has a low half that is known
// to be 0, ptxas 13.0, which is in drivers 580, loses that product: it computes
// (a<<30)*5 + 1 as a<<30 + 1. In halves it does not.
func (g *generator) productInHalves(m *ir.Binary, addend ir.Expr, dst operand) (operand, bool) {
	factor := m.X
	c, ok := m.Y.(*ir.Const)
	if !ok {
		factor = m.Y
		c, ok = m.X.(*ir.Const)
	}
	if !ok || classOf(m.Type()) != b64Class {
		return operand{}, false
	}
	if zeros := g.trailing().of(factor); zeros == 0 || zeros+bits.Len64(min(c.Bits, -c.Bits)) < margin {
		return operand{}, false
	}
	x, low, high := g.inRegister(g.value(factor)), g.register(b32Class), g.register(b32Class)
	g.split(low, high, x)
	n, product := intOperand(b32Class, uint64(uint32(c.Bits))), g.register(b64Class)
	if addend == nil {
		g.emit("mul.wide.u32", product, low, n)
	} else {
		g.emit("mad.wide.u32", product, low, n, g.value(addend))
	}
	bottom, top := g.register(b32Class), g.register(b32Class)
	g.split(bottom, top, product)
	g.emit("mad.lo.u32", top, high, n, top)
	if over := c.Bits >> 32; over != 0 {
		g.emit("mad.lo.u32", top, low, intOperand(b32Class, over), top)
	}
	dst = g.into(dst, b64Class)
	g.join(dst, bottom, top)
	return dst, true
}

// shiftInHalves emits a left shift of 64 bits that may move all bits of x out. ptxas 13.0
// omits shifts of products and of other shifts that do, if it finds the count to be
// constant: it computes x*63<<64 as x*63, and x<<30<<30<<30 + 1 as x<<30<<30 + 1. It computes
// shifts of 32 bits correctly.
func (g *generator) shiftInHalves(dst, x, count operand) {
	low, high := g.register(b32Class), g.register(b32Class)
	g.split(low, high, g.inRegister(x))
	bottom, top := g.register(b32Class), g.register(b32Class)
	g.emit("shl.b32", bottom, low, count)
	switch {
	case !count.immediate:
		both, over, moved := g.register(b32Class), g.register(b32Class), g.register(b32Class)
		g.emit("shf.l.clamp.b32", both, low, high, count)
		g.emit("sub.u32", over, count, intOperand(b32Class, 32))
		g.emit("shl.b32", moved, low, over)
		far := g.register(predClass)
		g.emit("setp.gt.u32", far, count, intOperand(b32Class, 32))
		g.choose(top, condition{pred: far}, moved, both)
	case count.n < 32:
		g.emit("shf.l.clamp.b32", top, low, high, count)
	default:
		g.emit("shl.b32", top, low, intOperand(b32Class, count.n-32))
	}
	g.join(dst, bottom, top)
}

// trailing holds the maximum number of low bits of variables that may be known to be 0.
type trailing map[*ir.Local]int

// trailing returns these numbers for the variables of the kernel.
func (g *generator) trailing() trailing {
	if g.zeros != nil {
		return g.zeros
	}
	g.zeros = trailing{}
	var list []*ir.Assign
	v := ir.Visitor{Stmt: func(s ir.Stmt) bool {
		if a, ok := s.(*ir.Assign); ok && a.Src.Type().IsInteger() {
			if _, ok := a.Dst.(*ir.VarPlace); ok {
				list = append(list, a)
			}
		}
		return true
	}}
	v.Body(g.kernel.Func.Body)
	for changed := true; changed; {
		changed = false
		for _, a := range list {
			v := a.Dst.(*ir.VarPlace).Var
			if n := g.zeros.of(a.Src); n > g.zeros[v] {
				g.zeros[v], changed = n, true
			}
		}
	}
	return g.zeros
}

// of returns the maximum number of low bits of an integer that may be known to be 0. A
// value that is entirely 0 does not count: its products vanish.
func (t trailing) of(e ir.Expr) int {
	switch e := e.(type) {
	case *ir.Const:
		return bits.TrailingZeros64(e.Bits) % 64
	case *ir.Load:
		if v, ok := ir.Variable(e); ok {
			return t[v]
		}
	case *ir.Convert:
		return t.of(e.X)
	case *ir.Unary:
		if e.Op == ir.Neg {
			return t.of(e.X)
		}
	case *ir.Select:
		return max(t.of(e.X), t.of(e.Y))
	case *ir.Binary:
		return t.ofBinary(e)
	}
	return 0
}

func (t trailing) ofBinary(e *ir.Binary) int {
	switch e.Op {
	case ir.Mul:
		return min(t.of(e.X)+t.of(e.Y), 64)
	case ir.Shl:
		if c, ok := e.Y.(*ir.Const); ok {
			return min(t.of(e.X)+int(min(c.Bits, 64)), 64)
		}
		if _, ok := e.X.(*ir.Const); ok || classOf(e.Type()) != b64Class {
			return t.of(e.X)
		}
		return min(t.of(e.X)+maxCount(e.Y), 64) // ptxas may find the count to be constant
	case ir.Shr:
		if c, ok := e.Y.(*ir.Const); ok {
			return max(t.of(e.X)-int(min(c.Bits, 64)), 0)
		}
	case ir.And:
		return max(t.of(e.X), t.of(e.Y))
	case ir.AndNot:
		return t.of(e.X)
	case ir.Add, ir.Sub:
		if haveCommon(e.X, e.Y) {
			return 64 // x*31 + x is x*32
		}
		return min(t.of(e.X), t.of(e.Y))
	case ir.Or, ir.Xor:
		return min(t.of(e.X), t.of(e.Y))
	}
	return 0
}

// maxCount returns a bound on a shift count, at most 64.
func maxCount(e ir.Expr) int {
	if b, ok := stripWidening(e).(*ir.Binary); ok && b.Op == ir.And {
		for _, x := range []ir.Expr{b.X, b.Y} {
			if c, ok := x.(*ir.Const); ok {
				return int(min(c.Bits, 64))
			}
		}
	}
	return 64
}

// haveCommon reports whether both expressions read a common variable.
func haveCommon(x, y ir.Expr) bool {
	read, common := map[*ir.Local]bool{}, false
	v := ir.Visitor{Place: func(p ir.Place) bool {
		if p, ok := p.(*ir.VarPlace); ok {
			read[p.Var] = true
		}
		return true
	}}
	v.Value(x)
	v.Place = func(p ir.Place) bool {
		if p, ok := p.(*ir.VarPlace); ok && read[p.Var] {
			common = true
		}
		return !common
	}
	v.Value(y)
	return common
}
