package opt

import (
	"math"
	"math/big"
	"math/bits"

	"quern.dev/internal/compiler/ir"
)

// strength replaces divisions and remainders by constants. Those of integers become
// multiplications, and shifts and masks by powers of two. ptxas would call a function for
// 64 bits, and compute with reciprocals of floats for 32 bits, whatever the constant is.
// Float divisions by powers of two become exact multiplications with the reciprocal.
func strength(k *ir.Kernel) error {
	s := strengthener{kernel: k}
	k.Func.Body = s.body(k.Func.Body)
	return nil
}

type strengthener struct {
	kernel *ir.Kernel
	// pending assigns dividends to variables before the statement; mayHoist says
	// whether this is allowed.
	pending  []ir.Stmt
	mayHoist bool
	failing  int // expressions and places so far in the statement that may fail, in the order of evaluation
}

func (s *strengthener) body(list []ir.Stmt) []ir.Stmt {
	out := make([]ir.Stmt, 0, len(list))
	for _, st := range list {
		switch st := st.(type) {
		case *ir.If:
			s.expression(&st.Cond, &out)
			st.Then, st.Else = s.body(st.Then), s.body(st.Else)
		case *ir.Block:
			st.Body = s.body(st.Body)
		case *ir.Loop:
			st.Pre = s.body(st.Pre)
			if st.Cond != nil {
				s.expression(&st.Cond, nil)
			}
			st.Body, st.Post = s.body(st.Body), s.body(st.Post)
		default:
			s.simple(st, &out)
		}
		out = append(out, st)
	}
	return out
}

// expression rewrites an expression. New statements go to the end of before; nil means
// that none can be inserted.
func (s *strengthener) expression(e *ir.Expr, before *[]ir.Stmt) {
	s.mayHoist, s.failing = before != nil && hoistable(&ir.Return{Results: []ir.Expr{*e}}), 0
	r := s.rewriter()
	*e = r.Value(*e)
	s.flush(before)
}

// simple rewrites the expressions of a statement, without nested statements.
func (s *strengthener) simple(st ir.Stmt, before *[]ir.Stmt) {
	s.mayHoist, s.failing = hoistable(st), 0
	r := s.rewriter()
	r.Body([]ir.Stmt{st})
	s.flush(before)
}

func (s *strengthener) rewriter() *ir.Rewriter {
	return &ir.Rewriter{
		Expr: func(e ir.Expr) ir.Expr {
			if failsItself(e) {
				s.failing++
			}
			return s.expr(e)
		},
		Place: func(p ir.Place) ir.Place {
			if reachFails(p) {
				s.failing++
			}
			return p
		},
	}
}

// failsItself reports whether an operation can stop the thread, apart from its operands.
func failsItself(e ir.Expr) bool {
	switch e := e.(type) {
	case *ir.Binary:
		return e.Check
	case *ir.SliceExpr:
		return e.Check
	}
	return false
}

// reachFails reports whether the last step to a place can stop the thread.
func reachFails(p ir.Place) bool {
	switch p := p.(type) {
	case *ir.DerefPlace:
		return true
	case *ir.IndexPlace, *ir.ElemPlace, *ir.ArrayPlace:
		return *ir.BoundsCheck(p)
	}
	return false
}

// failing returns the number of operations and places in an expression that can stop the
// thread.
func failing(e ir.Expr) (n int) {
	v := ir.Visitor{
		Expr: func(e ir.Expr) bool {
			if failsItself(e) {
				n++
			}
			return true
		},
		Place: func(p ir.Place) bool {
			if reachFails(p) {
				n++
			}
			return true
		},
	}
	v.Value(e)
	return n
}

func (s *strengthener) flush(before *[]ir.Stmt) {
	if len(s.pending) > 0 {
		*before = append(*before, s.pending...)
		s.pending = nil
	}
}

// hoistable reports whether all parts of a statement that cannot stop the thread are
// always evaluated, so that a part may be computed first.
func hoistable(st ir.Stmt) bool {
	ok := true
	v := ir.Visitor{Expr: func(e ir.Expr) bool {
		if b, isBinary := e.(*ir.Binary); isBinary && b.Op.IsLogical() {
			ok = false
		}
		return ok
	}}
	v.Body([]ir.Stmt{st})
	return ok
}

// expr replaces a division or remainder by a constant.
func (s *strengthener) expr(e ir.Expr) ir.Expr {
	b, ok := e.(*ir.Binary)
	if !ok || b.Op != ir.Div && b.Op != ir.Rem {
		return e
	}
	c, ok := b.Y.(*ir.Const)
	if !ok {
		return e
	}
	t := b.Type()
	switch {
	case t.IsFloat():
		return timesReciprocal(b, c)
	case c.Bits == 0:
		return e
	case !t.IsSigned() && bits.OnesCount64(c.Bits) == 1:
		return byPower(b, bits.TrailingZeros64(c.Bits))
	}
	x, ok := s.repeatable(b.X)
	if !ok {
		return e
	}
	if t.Size() < 4 {
		wide := ir.TUint32
		if t.IsSigned() {
			wide = ir.TInt32
		}
		return &ir.Convert{T: t, X: divide(b.Op, &ir.Convert{T: wide, X: x}, ir.IntConst(wide, c.Int64()))}
	}
	return divide(b.Op, x, c)
}

// divide computes the quotient or the remainder of 32 or 64 bits by a constant. It copies x.
func divide(op ir.BinaryOp, x ir.Expr, c *ir.Const) ir.Expr {
	t := x.Type()
	var q ir.Expr
	if t.IsSigned() {
		q = signedQuotient(x, c.Int64())
	} else {
		q = quotient(x, c.Bits)
	}
	if op == ir.Div {
		return q
	}
	// q*-c + x is one multiply-add, x - q*c is not.
	return operate(operate(q, ir.Mul, wrapped(t, -c.Bits)), ir.Add, ir.CloneExpr(x))
}

// timesReciprocal multiplies by 1/c instead of dividing by c if that is exact: c is a
// power of two, and neither c nor its reciprocal is subnormal.
func timesReciprocal(b *ir.Binary, c *ir.Const) ir.Expr {
	fraction, exp := math.Frexp(c.Float) // |c| is 1<<(exp-1)
	most := 1022
	if b.Type().Kind == ir.Float32 {
		most = 126
	}
	if fraction != 0.5 && fraction != -0.5 || exp-1 < -most || exp-1 > most {
		return b
	}
	b.Op, b.Y = ir.Mul, ir.FloatConst(c.T, 1/c.Float)
	return b
}

// repeatable returns an expression for x that may be evaluated several times: x itself
// if copies of it are free, otherwise a variable.
func (s *strengthener) repeatable(x ir.Expr) (ir.Expr, bool) {
	within := failing(x)
	mayHoist := s.mayHoist && s.failing == within // what fails first stays first
	if c := complexity(x); c <= 2 || !mayHoist && c <= 8 {
		return x, true
	}
	if !mayHoist {
		return nil, false
	}
	s.failing -= within
	v := &ir.Local{Name: "dividend", Type: x.Type(), Hidden: true}
	s.kernel.Func.Locals = append(s.kernel.Func.Locals, v)
	s.pending = append(s.pending, &ir.Assign{Dst: &ir.VarPlace{Var: v}, Src: x})
	return ir.Get(v), true
}

// complexity returns the number of nodes of an expression that reads only registers,
// and a large number for others: ptxas computes copies of the former once.
func complexity(e ir.Expr) int {
	const large = 1 << 20
	nodes := 0
	v := ir.Visitor{
		Expr: func(e ir.Expr) bool {
			nodes++
			if b, ok := e.(*ir.Binary); ok && (b.Check || b.Op == ir.Div || b.Op == ir.Rem) {
				nodes += large
			}
			return nodes < large
		},
		Place: func(p ir.Place) bool {
			if _, ok := p.(*ir.VarPlace); !ok {
				nodes += large
			}
			return nodes < large
		},
	}
	v.Value(e)
	return nodes
}

// byPower computes an unsigned division or remainder by 1<<k.
func byPower(b *ir.Binary, k int) ir.Expr {
	switch {
	case b.Op == ir.Rem:
		return operate(b.X, ir.And, &ir.Const{T: b.Type(), Bits: 1<<k - 1})
	case k == 0:
		return b.X
	}
	return shift(b.X, ir.Shr, k)
}

// signedQuotient computes x/d for a signed x. It copies x.
func signedQuotient(x ir.Expr, d int64) ir.Expr {
	t := x.Type()
	width := 8 * int(t.Size())
	unsigned := ir.TUint64
	if width == 32 {
		unsigned = ir.TUint32
	}
	magnitude := uint64(d)
	if d < 0 {
		magnitude = -magnitude
	}
	var q ir.Expr
	sign := func() ir.Expr { return shift(ir.CloneExpr(x), ir.Shr, width-1) } // 0 or -1
	switch k := bits.TrailingZeros64(magnitude); {
	case magnitude == 1<<k:
		q = ir.CloneExpr(x)
		if k > 0 { // a shift rounds down; to round toward zero, negative x get 1<<k - 1 added
			more := shift(&ir.Convert{T: unsigned, X: sign()}, ir.Shr, width-k)
			q = shift(operate(q, ir.Add, &ir.Convert{T: t, X: more}), ir.Shr, k)
		}
	case width == 32:
		q = operate(floored32(x, magnitude), ir.Sub, sign())
	default:
		abs := &ir.Convert{T: unsigned, X: operate(operate(ir.CloneExpr(x), ir.Xor, sign()), ir.Sub, sign())}
		q = operate(operate(&ir.Convert{T: t, X: quotient(abs, magnitude)}, ir.Xor, sign()), ir.Sub, sign())
	}
	if d < 0 {
		return &ir.Unary{Op: ir.Neg, X: q}
	}
	return q
}

// floored32 computes x/d for a signed 32-bit x, rounded down unless x is negative and the
// result exact, when it is 1 less. d is not a power of two. (Figure 5.2 of the paper that
// quotient names.)
func floored32(x ir.Expr, d uint64) ir.Expr {
	m, post := multiplier(d, 32, 31)
	factor, high := int64(m.Uint64()), 32+post
	whole := factor <= math.MaxInt32 // else the product is with factor - 1<<32, and x is added
	if !whole {
		factor, high = factor-1<<32, 32
	}
	product := operate(&ir.Convert{T: ir.TInt64, X: ir.CloneExpr(x)}, ir.Mul, ir.IntConst(ir.TInt64, factor))
	q := ir.Expr(&ir.Convert{T: x.Type(), X: shift(product, ir.Shr, high)})
	if whole {
		return q
	}
	return shift(operate(q, ir.Add, ir.CloneExpr(x)), ir.Shr, post)
}

// quotient computes x/d for an unsigned x and a d that is not a power of two. It copies x.
//
// Source: Granlund and Montgomery, "Division by Invariant Integers using
// Multiplication", PLDI 1994, figure 4.2.
func quotient(x ir.Expr, d uint64) ir.Expr {
	width := 8 * int(x.Type().Size())
	m, post := multiplier(d, width, width)
	pre := 0
	if m.BitLen() > width && d&1 == 0 {
		pre = bits.TrailingZeros64(d)
		m, post = multiplier(d>>pre, width, width-pre)
	}
	high := func(x ir.Expr) ir.Expr {
		c := &ir.Const{T: x.Type(), Bits: new(big.Int).And(m, new(big.Int).SetUint64(1<<width-1)).Uint64()}
		return &ir.Intrinsic{Op: ir.MulHi, T: x.Type(), Args: []ir.Expr{x, c}}
	}
	if m.BitLen() <= width {
		return shift(high(shift(ir.CloneExpr(x), ir.Shr, pre)), ir.Shr, post)
	}
	// The highest bit of the multiplier adds x, halved so that the sum does not wrap.
	rest := operate(ir.CloneExpr(x), ir.Sub, high(ir.CloneExpr(x)))
	return shift(operate(high(ir.CloneExpr(x)), ir.Add, shift(rest, ir.Shr, 1)), ir.Shr, post-1)
}

// multiplier returns m and post such that x/d is x*m >> (width+post) for all x with so many
// bits as precision says. m has at most one bit more than width. (Figure 6.2 of the paper.)
func multiplier(d uint64, width, precision int) (m *big.Int, post int) {
	post = bits.Len64(d - 1)
	divisor := new(big.Int).SetUint64(d)
	power := func(n int) *big.Int { return new(big.Int).Lsh(big.NewInt(1), uint(n)) }
	low := power(width + post)
	high := new(big.Int).Add(low, power(width+post-precision))
	low.Div(low, divisor)
	high.Div(high, divisor)
	for ; post > 0; post-- {
		l, h := new(big.Int).Rsh(low, 1), new(big.Int).Rsh(high, 1)
		if l.Cmp(h) >= 0 {
			break
		}
		low, high = l, h
	}
	return high, post
}

func operate(x ir.Expr, op ir.BinaryOp, y ir.Expr) ir.Expr { return &ir.Binary{Op: op, X: x, Y: y} }

// shift shifts x by k bits.
func shift(x ir.Expr, op ir.BinaryOp, k int) ir.Expr {
	if k == 0 {
		return x
	}
	return operate(x, op, ir.IntConst(ir.TUint32, int64(k)))
}
