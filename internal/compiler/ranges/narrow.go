package ranges

import (
	"maps"

	"quern.dev/internal/compiler/ir"
)

// narrower rewrites int arithmetic in 32 bits if the walk has found that the values
// fit. Each int expression is rebuilt in one of three forms:
//
//   - wide: an int with the same value;
//   - exact: an int32 with the same value, for an expression that fits;
//   - low: an int32 with the low 32 bits of the value.
//
// Sums, products and bit operations need only the low bits of their operands; other
// operations need operands that fit.
type narrower struct {
	walk   *walker
	narrow map[*ir.Local]bool // variables that become int32
	sums   map[*ir.Local]sum
}

// sum is the value of a variable that is assigned once: another such variable, or a position of
// the thread, plus a constant.
type sum struct {
	x ir.Expr
	c int64
}

func (n *narrower) kernel(f *ir.Func) {
	n.chooseVariables(f)
	n.sums = n.sumsOf(f)
	f.Body = n.body(f.Body)
	for v := range n.narrow { // last: until here, expressions keep their types
		v.Type = ir.TInt32
	}
}

// chooseVariables finds the int variables that are assigned only fitting values.
func (n *narrower) chooseVariables(f *ir.Func) {
	for _, v := range f.Locals {
		if v.Type.Kind == ir.Int && n.walk.has(v) {
			n.narrow[v] = true
		}
	}
	find := ir.Visitor{Stmt: func(s ir.Stmt) bool {
		switch s := s.(type) {
		case *ir.Assign:
			if fits, reached := n.walk.stored[s]; reached && !fits {
				delete(n.narrow, s.Dst.(*ir.VarPlace).Var)
			}
		default:
			for v := range ir.Defined(s) {
				delete(n.narrow, v)
			}
		}
		return true
	}}
	find.Body(f.Body)
}

// sumsOf finds the variables that are sums.
func (n *narrower) sumsOf(f *ir.Func) map[*ir.Local]sum {
	sums := map[*ir.Local]sum{}
	find := ir.Visitor{Stmt: func(s ir.Stmt) bool {
		a, ok := s.(*ir.Assign)
		if !ok {
			return true
		}
		dst, ok := a.Dst.(*ir.VarPlace)
		if !ok || !n.walk.has(dst.Var) {
			return true
		}
		x, c := a.Src, int64(0)
		if b, ok := x.(*ir.Binary); ok && b.Op == ir.Add {
			if k, ok := b.Y.(*ir.Const); ok {
				x, c = b.X, k.Int64()
			}
		}
		v, isVar := ir.Variable(x)
		_, isThread := x.(*ir.ThreadValue)
		if isThread || isVar && n.walk.has(v) && n.narrow[v] == n.narrow[dst.Var] {
			sums[dst.Var] = sum{ir.CloneExpr(x), c}
		}
		return true
	}}
	find.Body(f.Body)
	if len(sums) > 0 {
		all := newOccurrences(f)
		maps.DeleteFunc(sums, func(w *ir.Local, s sum) bool {
			v, isVar := ir.Variable(s.x)
			return all.writes[w] != 1 || isVar && all.writes[v] != 1
		})
	}
	return sums
}

func (n *narrower) body(list []ir.Stmt) []ir.Stmt {
	out := list[:0]
	for _, s := range list {
		if n.stmt(s) {
			out = append(out, s)
		}
	}
	return out
}

// stmt rewrites a statement and reports whether it is still needed.
func (n *narrower) stmt(s ir.Stmt) bool {
	switch s := s.(type) {
	case *ir.Assign:
		narrowed := false
		if v, ok := s.Dst.(*ir.VarPlace); ok {
			narrowed = n.narrow[v.Var]
		}
		if narrowed {
			s.Src = n.low(s.Src)
			return true
		}
		s.Src = n.any(s.Src)
		s.Dst = n.place(s.Dst)
	case *ir.If:
		s.Cond = n.any(s.Cond)
		s.Then, s.Else = n.body(s.Then), n.body(s.Else)
	case *ir.Loop:
		s.Pre = n.body(s.Pre)
		if s.Cond != nil {
			s.Cond = n.any(s.Cond)
		}
		s.Body, s.Post = n.body(s.Body), n.body(s.Post)
	case *ir.Block:
		s.Body = n.body(s.Body)
	case *ir.Check:
		s.Place = n.place(s.Place)
		return ir.PlaceMayFault(s.Place)
	default:
		for e := range ir.Args(s) {
			*e = n.any(*e)
		}
		for p := range ir.Places(s) {
			*p = n.place(*p)
		}
	}
	return true
}

func (n *narrower) all(list []ir.Expr) {
	for i := range list {
		if list[i] != nil {
			list[i] = n.any(list[i])
		}
	}
}

// place rewrites the indices of a place.
func (n *narrower) place(p ir.Place) ir.Place {
	switch p := p.(type) {
	case *ir.DerefPlace:
		p.Ptr = n.any(p.Ptr)
	case *ir.FieldPlace:
		p.X = n.place(p.X)
	case *ir.IndexPlace:
		p.X = n.place(p.X)
		p.Index = n.subscript(p.Index, p.Check, true)
	case *ir.ArrayPlace:
		p.Slice = n.any(p.Slice)
	case *ir.ElemPlace:
		p.Slice = n.any(p.Slice)
		p.Index = n.subscript(p.Index, p.Check, n.walk.variant != Wide)
	}
	return p
}

// subscript rewrites an index. If its check was removed, the index is below the length;
// if the length fits int32 (short), the low bits are the whole index.
func (n *narrower) subscript(e ir.Expr, checked, short bool) ir.Expr {
	if e.Type().Kind != ir.Int {
		return n.any(e)
	}
	if n.fits(e) || short && !checked {
		return n.low(e)
	}
	return n.wide(e)
}

// fits reports whether the value of an int expression fits int32.
func (n *narrower) fits(e ir.Expr) bool { return n.walk.fits[e] || n.isNarrow(e) }

// isNarrow reports whether e reads a variable that becomes int32.
func (n *narrower) isNarrow(e ir.Expr) bool {
	if l, ok := e.(*ir.Load); ok {
		if v, ok := l.Place.(*ir.VarPlace); ok {
			return n.narrow[v.Var]
		}
	}
	return false
}

// any rewrites an expression without changing its type.
func (n *narrower) any(e ir.Expr) ir.Expr {
	if e.Type().Kind == ir.Int {
		return n.wide(e)
	}
	return n.operands(e)
}

// operands rewrites the operands of an expression that keeps its type. Int operands
// become int32 where that does not change the result.
func (n *narrower) operands(e ir.Expr) ir.Expr {
	switch e := e.(type) {
	case *ir.Load:
		e.Place = n.place(e.Place)
	case *ir.Unary:
		e.X = n.any(e.X)
	case *ir.Binary:
		switch {
		case e.Op.IsComparison() && e.X.Type().Kind == ir.Int:
			if n.fits(e.X) && n.fits(e.Y) {
				e.X, e.Y = n.low(e.X), n.low(e.Y)
			} else {
				e.X, e.Y = n.wide(e.X), n.wide(e.Y)
			}
		case e.Op.IsShift():
			e.X, e.Y = n.any(e.X), n.operand(e.Y)
		default:
			t := e.X.Type()
			e.X, e.Y = n.any(e.X), n.any(e.Y)
			return n.unsigned(e, t)
		}
	case *ir.Convert:
		return n.convert(e)
	case *ir.Len:
		e.X = n.any(e.X)
	case *ir.Cap:
		e.X = n.any(e.X)
	case *ir.SliceExpr:
		if e.X != nil {
			e.X = n.any(e.X)
		} else {
			e.Array = n.place(e.Array)
		}
		for _, b := range []*ir.Expr{&e.Lo, &e.Hi, &e.Max} {
			if *b != nil {
				*b = n.any(*b)
			}
		}
	case *ir.Addr:
		e.Place = n.place(e.Place)
	case *ir.Intrinsic:
		if e.Op.Count && e.T.IsInteger() {
			e.Args[0], e.Args[1] = n.any(e.Args[0]), n.operand(e.Args[1])
		} else {
			n.all(e.Args)
		}
	case *ir.Composite:
		n.all(e.Elems)
	case *ir.Select:
		e.Cond, e.X, e.Y = n.any(e.Cond), n.any(e.X), n.any(e.Y)
	}
	return e
}

// operand rewrites an int operand that may be an int32 instead: a shift count.
func (n *narrower) operand(e ir.Expr) ir.Expr {
	if e.Type().Kind == ir.Int && n.fits(e) {
		return n.low(e)
	}
	return n.any(e)
}

// convert rewrites a conversion to a type other than int.
func (n *narrower) convert(e *ir.Convert) ir.Expr {
	if e.X.Type().Kind != ir.Int {
		e.X = n.any(e.X)
		return e
	}
	switch size := e.T.Size(); {
	case e.T.IsInteger() && size <= 4:
		e.X = n.low(e.X)
	case n.fits(e.X):
		e.X = n.low(e.X)
	default:
		e.X = n.wide(e.X)
	}
	if e.T.Kind == ir.Int32 {
		return e.X
	}
	return e
}

// wide rebuilds an int expression as an int.
func (n *narrower) wide(e ir.Expr) ir.Expr {
	if n.fits(e) && n.worthNarrowing(e) {
		return &ir.Convert{T: ir.TInt, X: n.low(e)}
	}
	switch e := e.(type) {
	case *ir.Const, *ir.Zero, *ir.ThreadValue:
		return e
	case *ir.Load:
		if n.isNarrow(e) {
			return &ir.Convert{T: ir.TInt, X: e}
		}
	case *ir.Convert:
		if e.X.Type().Kind == ir.Int { // only renames the type
			return n.wide(e.X)
		}
		e.X = n.any(e.X)
		return e
	}
	return n.operands(e)
}

// worthNarrowing reports whether an int expression is arithmetic that is cheaper in 32
// bits with an extension than in 64 bits.
func (n *narrower) worthNarrowing(e ir.Expr) bool {
	switch e := e.(type) {
	case *ir.Binary:
		switch e.Op {
		case ir.Div, ir.Rem, ir.Shr:
			return n.fits(e.X) && (n.fits(e.Y) || e.Op == ir.Shr)
		}
		return true
	case *ir.Unary:
		return true
	case *ir.Intrinsic:
		return n.saturates(e)
	case *ir.Select:
		return n.fits(e.X) && n.fits(e.Y)
	}
	return false
}

// low rebuilds an int expression as an int32 with its low bits, which is the value
// itself if it fits.
func (n *narrower) low(e ir.Expr) ir.Expr {
	if e.Type().Kind != ir.Int {
		return truncated(n.any(e))
	}
	switch e := e.(type) {
	case *ir.Const:
		return ir.IntConst(ir.TInt32, e.Int64())
	case *ir.Zero:
		return ir.IntConst(ir.TInt32, 0)
	case *ir.Load:
		if n.isNarrow(e) {
			return e
		}
	case *ir.Convert:
		if e.X.Type().IsInteger() {
			return n.low(e.X)
		}
	case *ir.Unary:
		e.X = n.low(e.X)
		return e
	case *ir.Binary:
		return n.lowBinary(e)
	case *ir.Intrinsic:
		if n.fits(e) && n.saturates(e) {
			return n.saturated(e)
		}
	case *ir.Select:
		e.Cond, e.X, e.Y = n.any(e.Cond), n.low(e.X), n.low(e.Y)
		return e
	}
	return truncated(n.wideOperation(e))
}

// saturates reports whether the int32 nearest to an int expression is as cheap as its
// low bits. This holds for values that fit, for converted floats, and for minima and
// maxima of these.
func (n *narrower) saturates(e ir.Expr) bool {
	switch x := e.(type) {
	case *ir.Convert:
		return x.IsTruncation() || n.fits(e)
	case *ir.Intrinsic:
		return (x.Op == ir.Min || x.Op == ir.Max) && n.saturates(x.Args[0]) && n.saturates(x.Args[1])
	}
	return n.fits(e)
}

// saturated rebuilds an int expression as the nearest int32.
func (n *narrower) saturated(e ir.Expr) ir.Expr {
	switch e := e.(type) {
	case *ir.Convert:
		if e.IsTruncation() {
			return &ir.Convert{T: ir.TInt32, X: n.any(e.X)}
		}
	case *ir.Intrinsic:
		e.T, e.Args[0], e.Args[1] = ir.TInt32, n.saturated(e.Args[0]), n.saturated(e.Args[1])
		return e
	}
	return n.low(e)
}

// wideOperation rebuilds an int expression whose operation stays in 64 bits.
func (n *narrower) wideOperation(e ir.Expr) ir.Expr {
	if c, ok := e.(*ir.Convert); ok {
		c.X = n.any(c.X)
		return c
	}
	return n.operands(e)
}

func (n *narrower) lowBinary(e *ir.Binary) ir.Expr {
	switch e.Op {
	case ir.Add, ir.Sub, ir.Mul, ir.And, ir.Or, ir.Xor, ir.AndNot:
		e.X, e.Y = n.low(e.X), n.low(e.Y)
		return e
	case ir.Shl:
		e.X, e.Y = n.low(e.X), n.operand(e.Y) // a count of 32 or more makes the low bits 0
		return e
	case ir.Shr:
		if n.fits(e.X) {
			e.X, e.Y = n.low(e.X), n.operand(e.Y)
			return e
		}
	case ir.Div, ir.Rem:
		if n.fits(e) && n.fits(e.X) && n.fits(e.Y) {
			e.X, e.Y = n.low(e.X), n.low(e.Y)
			return n.unsigned(e, ir.TInt32)
		}
	}
	return truncated(n.operands(e))
}

// unsigned turns a signed division in type t of non-negative numbers into an unsigned
// one, which takes fewer instructions, and the remainder of a number below the divisor into the
// number. Multiples of the divisor that have been added to the
// dividend are taken out of the division, so that what is left is often the same for several
// divisions:
//
//	w := v + 512             w := v + 512
//	x[w/16*n+w%16]           x[(v/16+32)*n+v%16]
func (n *narrower) unsigned(e *ir.Binary, t *ir.Type) ir.Expr {
	known, natural := n.walk.natural[e]
	if natural && known.below && !ir.MayFault(e) && e.Op == ir.Rem { // without the divisor, its checks would be gone
		return e.X
	}
	if !natural || !t.IsSigned() || t.Size() < 4 {
		return e
	}
	u := ir.TUint64
	if t.Size() == 4 {
		u = ir.TUint32
	}
	whole := int64(0)
	if w, ok := ir.Variable(e.X); ok {
		d, isConst := e.Y.(*ir.Const)
		if s, ok := n.sums[w]; ok && isConst && 0 <= s.c && s.c <= known.least && s.c%d.Int64() == 0 {
			e.X, whole = ir.CloneExpr(s.x), s.c/d.Int64()
			if _, isThread := e.X.(*ir.ThreadValue); isThread && t.Kind == ir.Int32 {
				e.X = truncated(e.X)
			}
		}
	}
	e.X, e.Y = converted(u, e.X), converted(u, e.Y)
	q := &ir.Convert{T: t, X: e}
	if whole == 0 || e.Op == ir.Rem {
		return q
	}
	return &ir.Binary{Op: ir.Add, X: q, Y: ir.IntConst(t, whole), Pos: e.Pos}
}

// converted converts an integer expression to another integer type.
func converted(t *ir.Type, e ir.Expr) ir.Expr {
	if c, ok := e.(*ir.Const); ok {
		return ir.IntConst(t, c.Int64())
	}
	return &ir.Convert{T: t, X: e}
}

// truncated converts an integer expression to int32.
func truncated(e ir.Expr) ir.Expr {
	if e.Type().Kind == ir.Int32 {
		return e
	}
	if c, ok := e.(*ir.Const); ok {
		return ir.IntConst(ir.TInt32, c.Int64())
	}
	if c, ok := e.(*ir.Convert); ok && c.X.Type().Kind == ir.Int32 && c.T.IsInteger() && c.T.Size() >= 4 {
		return c.X
	}
	return &ir.Convert{T: ir.TInt32, X: e}
}
