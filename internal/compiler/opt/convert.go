package opt

import (
	"math"

	"quern.dev/internal/compiler/ir"
)

// conversions marks conversions of floats to integers whose operand is known to be in
// range. All others need instructions for operands out of range.
func conversions(f *ir.Func) {
	c := newConverter(f)
	v := ir.Visitor{Expr: func(e ir.Expr) bool {
		if e, ok := e.(*ir.Convert); ok && e.IsTruncation() && !e.InRange {
			e.InRange = c.inRange(e)
		}
		return true
	}}
	v.Body(f.Body)
}

// converter computes the ranges of floats.
type converter struct {
	uses   usages
	values map[*ir.Local]ir.Expr // of variables assigned once
	known  map[*ir.Local]*ir.Interval
}

func newConverter(f *ir.Func) *converter {
	c := &converter{uses: countUses(f), values: map[*ir.Local]ir.Expr{}, known: map[*ir.Local]*ir.Interval{}}
	leaves(f.Body, func(s ir.Stmt) bool {
		if a, ok := s.(*ir.Assign); ok {
			if dst, ok := a.Dst.(*ir.VarPlace); ok && c.uses[dst.Var].once() {
				c.values[dst.Var] = a.Src
			}
		}
		return false
	})
	return c
}

// inRange reports whether the operand is known not to be NaN and to fit the integer
// type.
func (c *converter) inRange(e *ir.Convert) bool {
	x := c.rangeOf(e.X)
	if x == nil {
		return false
	}
	low, limit := integerLimits(e.T)
	return (x.Low > low-1 || x.Low == low) && x.High < limit // the fraction is truncated
}

// integerLimits returns the smallest number of an integer type, and the largest plus
// one.
func integerLimits(t *ir.Type) (low, limit float64) {
	bits := int(8 * t.Size())
	if t.IsSigned() {
		return -math.Ldexp(1, bits-1), math.Ldexp(1, bits-1)
	}
	return 0, math.Ldexp(1, bits)
}

func interval(low, high float64) *ir.Interval { return &ir.Interval{Low: low, High: high} }

// allOf returns the range of an integer type. The largest 64-bit number is not a
// float64, but the next one is.
func allOf(t *ir.Type) *ir.Interval {
	low, limit := integerLimits(t)
	return interval(low, limit-1)
}

// rangeOf returns the range of a number, nil if it is not known to be finite.
func (c *converter) rangeOf(e ir.Expr) *ir.Interval {
	t := e.Type()
	switch e := e.(type) {
	case *ir.Const:
		switch {
		case t.IsFloat():
			return finite(t, e.Float, e.Float)
		case t.IsSigned():
			return interval(float64(e.Int64()), float64(e.Int64()))
		case t.IsInteger():
			return interval(float64(e.Bits), float64(e.Bits))
		}
	case *ir.Load:
		if v, ok := ir.Variable(e); ok {
			if s := c.variable(v); s != nil {
				return s
			}
		}
	case *ir.Convert:
		if s := c.conversion(e); s != nil {
			return s
		}
	case *ir.Unary:
		if x := c.rangeOf(e.X); x != nil && e.Op == ir.Neg && t.IsFloat() {
			return interval(-x.High, -x.Low)
		}
	case *ir.Binary:
		if t.IsFloat() {
			return roundedTo(t, c.arithmetic(e.Op, c.rangeOf(e.X), c.rangeOf(e.Y)))
		}
		if k := asConst(e.Y); k != nil && e.Op == ir.And && k.Int64() >= 0 {
			return interval(0, float64(k.Int64()))
		}
	case *ir.ThreadValue:
		return interval(0, math.MaxInt32)
	case *ir.Select:
		return union(c.rangeOf(e.X), c.rangeOf(e.Y))
	case *ir.Intrinsic:
		if s := c.intrinsic(e); s != nil {
			return s
		}
	}
	if t.IsInteger() {
		return allOf(t)
	}
	return nil
}

// variable returns the range of a variable that is assigned once.
func (c *converter) variable(v *ir.Local) *ir.Interval {
	s, ok := c.known[v]
	if ok {
		return s
	}
	c.known[v] = nil
	if e := c.values[v]; e != nil {
		c.known[v] = c.rangeOf(e)
	}
	return c.known[v]
}

func (c *converter) conversion(e *ir.Convert) *ir.Interval {
	x := c.rangeOf(e.X)
	if x == nil {
		return nil
	}
	switch from := e.X.Type(); {
	case e.T.Kind == ir.Float32 && (from.IsFloat() || from.IsInteger()):
		return finite(e.T, float64(float32(x.Low)), float64(float32(x.High)))
	case e.T.Kind == ir.Float64 && (from.IsFloat() || from.IsInteger()):
		return x
	case e.T.IsInteger() && from.IsFloat():
		full := allOf(e.T)
		return interval(min(max(math.Trunc(x.Low), full.Low), full.High), min(max(math.Trunc(x.High), full.Low), full.High))
	case e.T.IsInteger() && from.IsInteger():
		if full := allOf(e.T); full.Low <= x.Low && x.High <= full.High && x.High < math.Ldexp(1, 53) && x.Low > -math.Ldexp(1, 53) {
			return x
		}
	}
	return nil
}

func (c *converter) arithmetic(op ir.BinaryOp, x, y *ir.Interval) *ir.Interval {
	if x == nil || y == nil {
		return nil
	}
	switch op {
	case ir.Add:
		return interval(x.Low+y.Low, x.High+y.High)
	case ir.Sub:
		return interval(x.Low-y.High, x.High-y.Low)
	case ir.Mul:
		return hull(x.Low*y.Low, x.Low*y.High, x.High*y.Low, x.High*y.High)
	case ir.Div:
		if y.Low > 0 || y.High < 0 {
			return hull(x.Low/y.Low, x.Low/y.High, x.High/y.Low, x.High/y.High)
		}
	}
	return nil
}

func (c *converter) intrinsic(e *ir.Intrinsic) *ir.Interval {
	if e.Op.Range == nil || e.T.IsHalf() {
		return nil
	}
	args := make([]ir.Interval, len(e.Args))
	for i, a := range e.Args {
		x := c.rangeOf(a)
		if x == nil {
			return nil
		}
		args[i] = *x
	}
	r := e.Op.Range(args)
	if e.Op.Rounds {
		return roundedTo(e.T, &r)
	}
	return &r
}

// roundedTo returns the range of results that are rounded to a type, once or several
// times.
func roundedTo(t *ir.Type, x *ir.Interval) *ir.Interval {
	if x == nil {
		return nil
	}
	const more = 0x1p-20
	return finite(t, x.Low-more*math.Abs(x.Low), x.High+more*math.Abs(x.High))
}

// finite returns a range of a type's numbers, nil if it includes infinities or NaN.
func finite(t *ir.Type, low, high float64) *ir.Interval {
	limit := math.MaxFloat64
	if t.Kind == ir.Float32 {
		limit = math.MaxFloat32
	}
	if -limit <= low && low <= high && high <= limit {
		return interval(low, high)
	}
	return nil
}

func hull(list ...float64) *ir.Interval {
	s := interval(list[0], list[0])
	for _, x := range list {
		s.Low, s.High = min(s.Low, x), max(s.High, x)
	}
	return s
}

func union(x, y *ir.Interval) *ir.Interval {
	if x == nil || y == nil {
		return nil
	}
	return interval(min(x.Low, y.Low), max(x.High, y.High))
}
