package opt

import (
	"math"
	"math/big"
	"math/bits"

	"quern.dev/internal/compiler/ir"
)

// strength replaces divisions and remainders by constants. Unsigned ones by powers of
// two become shifts and masks. 64-bit ones, which would be calls in machine code,
// become multiplications. Float divisions by powers of two become exact multiplications
// with the reciprocal. Signed 32-bit divisions, and 32-bit divisions by other
// constants, are left to ptxas, which does them as well.
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
	s.mayHoist = before != nil && !ir.MayFault(*e) && hoistable(&ir.Return{Results: []ir.Expr{*e}})
	r := ir.Rewriter{Expr: s.expr}
	*e = r.Value(*e)
	s.flush(before)
}

// simple rewrites the expressions of a statement, without nested statements.
func (s *strengthener) simple(st ir.Stmt, before *[]ir.Stmt) {
	s.mayHoist = !ir.StmtMayFault(st) && hoistable(st)
	r := ir.Rewriter{Expr: s.expr}
	r.Body([]ir.Stmt{st})
	s.flush(before)
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
	case t.Size() < 8:
		return e
	}
	x, ok := s.repeatable(b.X)
	if !ok {
		return e
	}
	var q ir.Expr
	if t.IsSigned() {
		q = signedQuotient(x, c.Int64())
	} else {
		q = quotient(x, c.Bits)
	}
	if b.Op == ir.Div {
		return q
	}
	// Not x - q*c: if ptxas (13.5) finds that x is 0, it computes 0 - 0 and loses the
	// carry when this is the index of an address.
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
	if c := complexity(x); c <= 2 || !s.mayHoist && c <= 8 {
		return x, true
	}
	if !s.mayHoist {
		return nil, false
	}
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

// signedQuotient computes x/d for a signed 64-bit x. It copies x.
func signedQuotient(x ir.Expr, d int64) ir.Expr {
	t := x.Type()
	magnitude := uint64(d)
	if d < 0 {
		magnitude = -magnitude
	}
	var q ir.Expr
	sign := func() ir.Expr { return shift(ir.CloneExpr(x), ir.Shr, 63) } // 0 or -1
	if k := bits.TrailingZeros64(magnitude); magnitude == 1<<k {
		q = ir.CloneExpr(x)
		if k > 0 { // a shift rounds down; to round toward zero, negative x get 1<<k - 1 added
			more := shift(&ir.Convert{T: ir.TUint64, X: sign()}, ir.Shr, 64-k)
			q = shift(operate(q, ir.Add, &ir.Convert{T: t, X: more}), ir.Shr, k)
		}
	} else {
		abs := &ir.Convert{T: ir.TUint64, X: operate(operate(ir.CloneExpr(x), ir.Xor, sign()), ir.Sub, sign())}
		q = operate(operate(&ir.Convert{T: t, X: quotient(abs, magnitude)}, ir.Xor, sign()), ir.Sub, sign())
	}
	if d < 0 {
		return &ir.Unary{Op: ir.Neg, X: q}
	}
	return q
}

// quotient computes x/d for an unsigned 64-bit x and a d that is not a power of two. It
// copies x.
//
// Source: Granlund and Montgomery, "Division by Invariant Integers using
// Multiplication", PLDI 1994, figure 4.2.
func quotient(x ir.Expr, d uint64) ir.Expr {
	m, post := multiplier(d, 64)
	pre := 0
	if m.BitLen() > 64 && d&1 == 0 {
		pre = bits.TrailingZeros64(d)
		m, post = multiplier(d>>pre, 64-pre)
	}
	high := func(x ir.Expr) ir.Expr {
		c := &ir.Const{T: x.Type(), Bits: new(big.Int).And(m, new(big.Int).SetUint64(1<<64-1)).Uint64()}
		return &ir.Intrinsic{Op: ir.MulHi, T: x.Type(), Args: []ir.Expr{x, c}}
	}
	if m.BitLen() <= 64 {
		return shift(high(shift(ir.CloneExpr(x), ir.Shr, pre)), ir.Shr, post)
	}
	// The 65th bit of the multiplier adds x, halved so that the sum does not wrap.
	rest := operate(ir.CloneExpr(x), ir.Sub, high(ir.CloneExpr(x)))
	return shift(operate(high(ir.CloneExpr(x)), ir.Add, shift(rest, ir.Shr, 1)), ir.Shr, post-1)
}

// multiplier returns m and post such that x/d is x*m >> (64+post) for all x of the
// given number of bits. m has at most 65 bits. (Figure 6.2 of the paper.)
func multiplier(d uint64, precision int) (m *big.Int, post int) {
	post = bits.Len64(d - 1)
	divisor := new(big.Int).SetUint64(d)
	power := func(n int) *big.Int { return new(big.Int).Lsh(big.NewInt(1), uint(n)) }
	low := power(64 + post)
	high := new(big.Int).Add(low, power(64+post-precision))
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
