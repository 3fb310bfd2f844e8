package opt

import (
	"math"
	"slices"
	"strings"

	"quern.dev/internal/compiler/ir"
)

// most is the maximum number of iterations, over nested loops together, before the Go
// form of a kernel checks for cancellation: some milliseconds. It is also the
// assumed length of a slice.
const most = 1 << 24

// markLong sets Long of loops that may take more than most iterations or not end. The
// code between two marked loops is short.
func markLong(f *ir.Func, known lengths) {
	e := newEstimator(f, known)
	e.list(f.Body)
}

// length bounds how long a call of a function may take.
type length struct {
	iterations float64 // maximum number of loop iterations, if not long
	long       bool    // may take more than most iterations
}

// lengths caches the lengths of functions.
type lengths map[*ir.Func]length

// of returns the length of a call of a function. Message sends end soon. So do functions
// of the standard library, although the conditions of their loops do not always show it,
// except for Bessel functions of a variable order.
func (known lengths) of(call *ir.Call) length {
	f := call.Func
	if slices.Contains(actorPackages, f.Go.Package) {
		return length{}
	}
	l, ok := known[f]
	if !ok {
		e := newEstimator(f, known)
		e.dry = true
		l.iterations = e.list(f.Body) // there is no recursion
		l.long = e.long || l.iterations > most
		known[f] = l
	}
	if f.Strict && l.long {
		return ofStandard(call)
	}
	return l
}

// mostMath is the maximum number of iterations of a function of package math, except for
// Bessel functions of order n. Mod takes the most: one per bit of the range of exponents.
const mostMath = 1 << 12

// ofStandard returns the length of a call of a function of the standard library that has
// loops whose conditions do not bound them.
func ofStandard(call *ir.Call) length {
	switch f := call.Func; {
	case f.Go.Package == "math" && (f.Go.Name == "Jn" || f.Go.Name == "Yn"):
		order := math.Inf(1)
		if c := asConst(call.Args[0]); c != nil {
			order = math.Abs(integer(c))
		}
		steps := 2*order + mostMath
		return length{iterations: min(steps, most), long: steps > most}
	case f.Go.Package == "math" || strings.HasPrefix(f.Go.Package, "math/"):
		return length{iterations: mostMath}
	default:
		return length{iterations: most} // a search in a slice, say
	}
}

// estimator computes the maximum number of loop iterations before a marked loop.
type estimator struct {
	known   lengths
	uses    usages
	sources map[*ir.Local]ir.Expr // values of variables assigned once
	dry     bool                  // do not mark loops
	long    bool                  // there is a loop to mark, or a long call
}

func newEstimator(f *ir.Func, known lengths) *estimator {
	e := &estimator{known: known, uses: countUses(f), sources: map[*ir.Local]ir.Expr{}}
	v := ir.Visitor{Stmt: func(s ir.Stmt) bool {
		if a, ok := s.(*ir.Assign); ok {
			if dst, ok := a.Dst.(*ir.VarPlace); ok && e.uses[dst.Var] != nil && e.uses[dst.Var].once() {
				e.sources[dst.Var] = a.Src
			}
		}
		return true
	}}
	v.Body(f.Body)
	return e
}

// list returns the maximum number of iterations in the statements.
func (e *estimator) list(list []ir.Stmt) float64 {
	total := 0.0
	for i, s := range list {
		switch s := s.(type) {
		case *ir.If:
			total += max(e.list(s.Then), e.list(s.Else))
		case *ir.Block:
			total += e.list(s.Body)
		case *ir.Call:
			l := e.known.of(s)
			total += l.iterations
			e.long = e.long || l.long
		case *ir.Loop:
			each := 1 + e.list(s.Pre) + e.list(s.Body) + e.list(s.Post)
			n := e.iterations(list[:i], s)
			if all := n * each; all <= most {
				total += all
				continue
			}
			e.long = true
			if !e.dry {
				s.Long = true
			}
			total += each
		}
	}
	return total
}

// iterations returns the maximum number of iterations of a loop, +Inf if unknown.
func (e *estimator) iterations(before []ir.Stmt, s *ir.Loop) float64 {
	if len(s.Post) != 1 {
		return math.Inf(1)
	}
	post, ok := s.Post[0].(*ir.Assign)
	if !ok {
		return math.Inf(1)
	}
	dst, ok := post.Dst.(*ir.VarPlace)
	if !ok || !dst.Var.Type.IsInteger() || e.uses[dst.Var] == nil || e.uses[dst.Var].addressed || assigns(s.Body, dst.Var) || assigns(s.Pre, dst.Var) {
		return math.Inf(1)
	}
	step, ok := post.Src.(*ir.Binary)
	if !ok || !isVariable(step.X, dst.Var) {
		return math.Inf(1)
	}
	c := loopCount{e: e, v: dst.Var, first: initialValue(before, dst.Var)}
	switch by := asConst(step.Y); {
	case step.Op == ir.Add && by != nil && by.Int64() > 0:
		c.by = float64(by.Int64())
	case step.Op == ir.Sub && by != nil && by.Int64() > 0:
		c.by = -float64(by.Int64())
	case step.Op == ir.Add && e.least(step.Y) > 0:
		c.by = e.least(step.Y)
		c.varies = true
	default:
		return math.Inf(1)
	}
	n := math.Inf(1)
	if len(s.Pre) == 0 && s.Cond != nil {
		n = c.until(s.Cond)
	}
	if c.by > 0 && c.indexes(s.Body) {
		n = min(n, most)
	}
	return n
}

// loopCount describes how a loop counts.
type loopCount struct {
	e      *estimator
	v      *ir.Local
	first  ir.Expr // initial value, nil if unknown
	by     float64
	varies bool // by is the smallest increment
}

// until returns the maximum number of iterations for which a condition can hold.
func (c *loopCount) until(cond ir.Expr) float64 {
	b, ok := cond.(*ir.Binary)
	if !ok {
		return math.Inf(1)
	}
	if b.Op == ir.LAnd {
		return min(c.until(b.X), c.until(b.Y))
	}
	op, bound := b.Op, b.Y
	if !isVariable(b.X, c.v) {
		if !isVariable(b.Y, c.v) {
			return math.Inf(1)
		}
		bound = b.X
		op = map[ir.BinaryOp]ir.BinaryOp{ir.Lt: ir.Gt, ir.Le: ir.Ge, ir.Gt: ir.Lt, ir.Ge: ir.Le}[op]
	}
	lowest, highest := rangeOf(c.v.Type)
	switch {
	case c.by > 0 && (op == ir.Lt || op == ir.Le):
		last, least := c.e.most(bound), c.e.least(c.first)
		if op == ir.Lt {
			last--
		}
		// The counter must not wrap around before it passes the bound.
		if last+c.by > highest || c.varies && c.v.Type.Size() < 8 || math.IsInf(least, -1) {
			return math.Inf(1)
		}
		return max(0, math.Floor((last-least)/c.by)+1)
	case c.by < 0 && (op == ir.Gt || op == ir.Ge):
		last, first := c.e.least(bound), c.e.most(c.first)
		if op == ir.Gt {
			last++
		}
		if last+c.by < lowest || math.IsInf(first, 1) {
			return math.Inf(1)
		}
		return max(0, math.Floor((first-last)/-c.by)+1)
	default:
		return math.Inf(1)
	}
}

// indexes reports whether each iteration of a body accesses an element of a slice or
// array whose index grows with the counter: the length bounds the iterations.
func (c *loopCount) indexes(body []ir.Stmt) bool {
	found := false
	v := ir.Visitor{
		Stmt: func(s ir.Stmt) bool {
			switch s.(type) {
			case *ir.If, *ir.Loop, *ir.Block:
				return false
			}
			return true
		},
		Expr: func(e ir.Expr) bool {
			switch e := e.(type) {
			case *ir.Select:
				return false
			case *ir.Binary:
				return e.Op != ir.LAnd && e.Op != ir.LOr
			}
			return true
		},
		Place: func(p ir.Place) bool {
			switch at := p.(type) {
			case *ir.ElemPlace:
				found = found || c.grows(at.Index)
			case *ir.IndexPlace:
				found = found || c.grows(at.Index)
			}
			return true
		},
	}
	for _, s := range body {
		if leavesEarly(s) {
			break
		}
		v.Body([]ir.Stmt{s})
	}
	return found
}

// leavesEarly reports whether a statement may continue with the next iteration.
func leavesEarly(s ir.Stmt) bool {
	return leaves([]ir.Stmt{s}, func(s ir.Stmt) bool { _, ok := s.(*ir.Continue); return ok })
}

// grows reports whether an index is the counter, or the counter plus an increment.
func (c *loopCount) grows(e ir.Expr) bool {
	switch e := e.(type) {
	case *ir.Load:
		return isVariable(e, c.v)
	case *ir.Convert:
		return e.T.IsInteger() && e.T.Size() >= c.v.Type.Size() && c.grows(e.X)
	case *ir.Binary:
		switch e.Op {
		case ir.Add:
			return c.grows(e.X) && c.fixed(e.Y) || c.grows(e.Y) && c.fixed(e.X)
		case ir.Sub:
			return c.grows(e.X) && c.fixed(e.Y)
		}
	}
	return false
}

// fixed reports whether a value is the same in all iterations.
func (c *loopCount) fixed(e ir.Expr) bool {
	switch e := e.(type) {
	case *ir.Const, *ir.ThreadValue:
		return true
	case *ir.Load:
		v, ok := ir.Variable(e)
		if !ok {
			return false
		}
		u := c.e.uses[v]
		if u == nil || v == c.v {
			return false
		}
		src := c.e.sources[v]
		return u.param && u.once() || src != nil && c.fixed(src)
	case *ir.Binary:
		return c.fixed(e.X) && c.fixed(e.Y)
	case *ir.Convert:
		return c.fixed(e.X)
	}
	return false
}

// most returns an upper bound of an integer, +Inf if there is none.
func (e *estimator) most(x ir.Expr) float64 {
	switch x := x.(type) {
	case *ir.Const:
		return integer(x)
	case *ir.Len, *ir.Cap:
		return most
	case *ir.ThreadValue:
		return most
	case *ir.Load:
		if src := e.source(x); src != nil {
			return e.most(src)
		}
	case *ir.Binary:
		switch x.Op {
		case ir.Add:
			return e.most(x.X) + e.most(x.Y)
		case ir.Sub:
			return e.most(x.X) - e.least(x.Y)
		case ir.Div, ir.Shr:
			if e.least(x.X) >= 0 && e.least(x.Y) >= 0 {
				if c := asConst(x.Y); c != nil && x.Op == ir.Div {
					return math.Floor(e.most(x.X) / max(integer(c), 1))
				}
				return e.most(x.X)
			}
		case ir.And, ir.Rem:
			if c := asConst(x.Y); c != nil && c.Int64() > 0 && e.least(x.X) >= 0 {
				return integer(c)
			}
		}
	case *ir.Convert:
		if x.T.IsInteger() && x.X.Type().IsInteger() && x.T.Size() >= x.X.Type().Size() {
			return e.most(x.X)
		}
	case *ir.Intrinsic:
		if x.Op == ir.Min {
			n := math.Inf(1)
			for _, a := range x.Args {
				n = min(n, e.most(a))
			}
			return n
		}
	}
	return small(x, math.Inf(1))
}

// least returns a lower bound of an integer, -Inf if there is none.
func (e *estimator) least(x ir.Expr) float64 {
	switch x := x.(type) {
	case nil:
		return math.Inf(-1)
	case *ir.Const:
		return integer(x)
	case *ir.Len, *ir.Cap:
		return 0
	case *ir.ThreadValue:
		if x.Op >= ir.BlockDimX && x.Op <= ir.GridDimZ {
			return 1
		}
		return 0
	case *ir.Load:
		if src := e.source(x); src != nil {
			return e.least(src)
		}
	case *ir.Binary:
		a, b := e.least(x.X), e.least(x.Y)
		switch {
		case x.Op == ir.Add && a >= 0 && b >= 0:
			return a + b
		case x.Op == ir.Add && (asConst(x.X) != nil || asConst(x.Y) != nil):
			return a + b
		case x.Op == ir.Sub:
			return a - e.most(x.Y)
		case x.Op == ir.Mul && a >= 0 && b >= 0:
			return a * b
		case (x.Op == ir.Div || x.Op == ir.Rem || x.Op == ir.Shr) && a >= 0:
			return 0
		case x.Op == ir.And && (a >= 0 || b >= 0):
			return 0
		}
	case *ir.Convert:
		if x.T.IsInteger() && x.X.Type().IsInteger() && x.T.Size() >= x.X.Type().Size() && e.least(x.X) >= 0 {
			return e.least(x.X)
		}
	case *ir.Intrinsic:
		if x.Op == ir.Max {
			n := math.Inf(-1)
			for _, a := range x.Args {
				n = max(n, e.least(a))
			}
			return n
		}
	}
	if t := x.Type(); t.IsInteger() && !t.IsSigned() {
		return 0
	}
	return small(x, math.Inf(-1))
}

// source returns the value of a variable that is assigned once.
func (e *estimator) source(x *ir.Load) ir.Expr {
	if v, ok := ir.Variable(x); ok {
		return e.sources[v]
	}
	return nil
}

// small returns the bound implied by an 8- or 16-bit type, or otherwise.
func small(x ir.Expr, otherwise float64) float64 {
	t := x.Type()
	if !t.IsInteger() || t.Size() > 2 {
		return otherwise
	}
	low, high := rangeOf(t)
	if otherwise > 0 {
		return high
	}
	return low
}

// rangeOf returns the smallest and the largest value of an integer type.
func rangeOf(t *ir.Type) (low, high float64) {
	bits := 8 * int(t.Size())
	if t.IsSigned() {
		return -math.Ldexp(1, bits-1), math.Ldexp(1, bits-1) - 1
	}
	return 0, math.Ldexp(1, bits) - 1
}

func integer(c *ir.Const) float64 {
	if c.T.IsSigned() {
		return float64(c.Int64())
	}
	return float64(c.Bits)
}
