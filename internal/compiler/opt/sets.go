package opt

import "quern.dev/internal/compiler/ir"

// leastSet is the number of constants from which a test of a mask takes less time than
// comparisons: each of these may be a branch that is predicted wrong.
const leastSet = 3

// sets replaces comparisons of an integer variable with constants that are less than 64
// apart, v == a || v == b || v == c or the negation, by the test of a bit:
//
//	1<<(uint64(v)-lowest)&mask != 0
//
// A shift by 64 or more results in 0, so other values need no test of their own.
func sets(k *ir.Kernel) {
	s := setFinder{}
	r := ir.Rewriter{Expr: s.expr}
	k.Func.Body = r.Body(k.Func.Body)
}

// valueSet is a condition that holds if a variable has one of the values, or has none of them.
type valueSet struct {
	v      *ir.Local
	values map[uint64]bool
	none   bool
}

// setFinder holds the conditions found so far that are sets.
type setFinder map[ir.Expr]*valueSet

func (f setFinder) expr(x ir.Expr) ir.Expr {
	b, ok := x.(*ir.Binary)
	if !ok {
		return x
	}
	switch b.Op {
	case ir.Eq, ir.Ne:
		v, isVariable := ir.Variable(b.X)
		c := asConst(b.Y)
		if isVariable && c != nil && v.Type.IsInteger() {
			f[x] = &valueSet{v, map[uint64]bool{c.Bits: true}, b.Op == ir.Ne}
		}
	case ir.LOr, ir.LAnd:
		l, r := f[b.X], f[b.Y]
		if l == nil || r == nil || l.v != r.v || l.none != (b.Op == ir.LAnd) || r.none != l.none {
			return x
		}
		both := &valueSet{l.v, map[uint64]bool{}, l.none}
		for _, from := range [...]*valueSet{l, r} {
			for value := range from.values {
				both.values[value] = true
			}
		}
		if test := both.test(b.Pos); test != nil {
			x = test
		}
		f[x] = both
	}
	return x
}

// test returns the test of a bit, or nil if the constants are few or far apart.
func (s *valueSet) test(pos ir.Pos) ir.Expr {
	if len(s.values) < leastSet {
		return nil
	}
	word := func(value uint64) *ir.Const { return &ir.Const{T: s.v.Type, Bits: value} }
	first := true
	var low, mask uint64
	for value := range s.values {
		value = extended(word(value))
		if first || s.v.Type.IsSigned() && int64(value) < int64(low) || !s.v.Type.IsSigned() && value < low {
			first, low = false, value
		}
	}
	for value := range s.values {
		at := extended(word(value)) - low
		if at >= 64 {
			return nil
		}
		mask |= 1 << at
	}
	number := func(n uint64) ir.Expr { return &ir.Const{T: ir.TUint64, Bits: n} }
	index := ir.Expr(&ir.Convert{T: ir.TUint64, X: ir.Get(s.v)})
	if low != 0 {
		index = &ir.Binary{Op: ir.Sub, X: index, Y: number(low), Pos: pos}
	}
	bit := &ir.Binary{Op: ir.Shl, X: number(1), Y: index, Pos: pos}
	op := ir.Ne
	if s.none {
		op = ir.Eq
	}
	return &ir.Binary{Op: op, X: &ir.Binary{Op: ir.And, X: bit, Y: number(mask), Pos: pos}, Y: number(0), Pos: pos}
}

// extended returns an integer's value in 64 bits.
func extended(c *ir.Const) uint64 {
	if c.T.IsSigned() {
		return uint64(c.Int64())
	}
	return c.Bits
}
