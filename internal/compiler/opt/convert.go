package opt

import (
	"math"

	"quern.dev/internal/compiler/ir"
)

// conversions marks the conversions of floats to integers whose operand is known to
// be in range. All others take instructions for values that are not.
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

// converter finds the ranges of floats.
type converter struct {
	uses   usages
	values map[*ir.Local]ir.Expr // of variables that are assigned once
	known  map[*ir.Local]*numbers
}

func newConverter(f *ir.Func) *converter {
	c := &converter{uses: countUses(f), values: map[*ir.Local]ir.Expr{}, known: map[*ir.Local]*numbers{}}
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

// inRange reports whether the float that is converted is known to be no NaN, and to
// fit the integer type.
func (c *converter) inRange(e *ir.Convert) bool {
	x := c.rangeOf(e.X)
	if x == nil {
		return false
	}
	low, limit := integerLimits(e.T)
	return (x.low > low-1 || x.low == low) && x.high < limit // the fraction is dropped
}

// integerLimits are the least number of an integer type and that behind the greatest.
func integerLimits(t *ir.Type) (low, limit float64) {
	bits := int(8 * t.Size())
	if t.IsSigned() {
		return -math.Ldexp(1, bits-1), math.Ldexp(1, bits-1)
	}
	return 0, math.Ldexp(1, bits)
}

// numbers is a range of finite numbers. Where it is not known that a float is one, it
// has none.
type numbers struct{ low, high float64 }

// allOf is the range of an integer type. The greatest number of 64 bits is no
// float64, but the one behind it is.
func allOf(t *ir.Type) *numbers {
	low, limit := integerLimits(t)
	return &numbers{low, limit - 1}
}

// rangeOf returns the range of a number, nil if it is not known.
func (c *converter) rangeOf(e ir.Expr) *numbers {
	t := e.Type()
	switch e := e.(type) {
	case *ir.Const:
		switch {
		case t.IsFloat():
			return finite(t, e.Float, e.Float)
		case t.IsSigned():
			return &numbers{float64(e.Int64()), float64(e.Int64())}
		case t.IsInteger():
			return &numbers{float64(e.Bits), float64(e.Bits)}
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
			return &numbers{-x.high, -x.low}
		}
	case *ir.Binary:
		if t.IsFloat() {
			return roundedTo(t, c.arithmetic(e.Op, c.rangeOf(e.X), c.rangeOf(e.Y)))
		}
		if k := asConst(e.Y); k != nil && e.Op == ir.And && k.Int64() >= 0 {
			return &numbers{0, float64(k.Int64())}
		}
	case *ir.ThreadValue:
		return &numbers{0, math.MaxInt32}
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

// variable is the range of a variable that is assigned once.
func (c *converter) variable(v *ir.Local) *numbers {
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

func (c *converter) conversion(e *ir.Convert) *numbers {
	x := c.rangeOf(e.X)
	if x == nil {
		return nil
	}
	switch from := e.X.Type(); {
	case e.T.Kind == ir.Float32 && (from.IsFloat() || from.IsInteger()):
		return finite(e.T, float64(float32(x.low)), float64(float32(x.high)))
	case e.T.Kind == ir.Float64 && (from.IsFloat() || from.IsInteger()):
		return x
	case e.T.IsInteger() && from.IsFloat():
		full := allOf(e.T)
		return &numbers{min(max(math.Trunc(x.low), full.low), full.high), min(max(math.Trunc(x.high), full.low), full.high)}
	case e.T.IsInteger() && from.IsInteger():
		if full := allOf(e.T); full.low <= x.low && x.high <= full.high && x.high < math.Ldexp(1, 53) && x.low > -math.Ldexp(1, 53) {
			return x
		}
	}
	return nil
}

func (c *converter) arithmetic(op ir.BinaryOp, x, y *numbers) *numbers {
	if x == nil || y == nil {
		return nil
	}
	switch op {
	case ir.Add:
		return &numbers{x.low + y.low, x.high + y.high}
	case ir.Sub:
		return &numbers{x.low - y.high, x.high - y.low}
	case ir.Mul:
		return hull(x.low*y.low, x.low*y.high, x.high*y.low, x.high*y.high)
	case ir.Div:
		if y.low > 0 || y.high < 0 {
			return hull(x.low/y.low, x.low/y.high, x.high/y.low, x.high/y.high)
		}
	}
	return nil
}

func (c *converter) intrinsic(e *ir.Intrinsic) *numbers {
	if e.Op == ir.Bitcast {
		return nil
	}
	args := make([]*numbers, len(e.Args))
	for i, a := range e.Args {
		if args[i] = c.rangeOf(a); args[i] == nil {
			return nil
		}
	}
	x := args[0]
	switch e.Op {
	case ir.Min:
		return &numbers{min(x.low, args[1].low), min(x.high, args[1].high)}
	case ir.Max:
		return &numbers{max(x.low, args[1].low), max(x.high, args[1].high)}
	case ir.Floor, ir.Ceil, ir.Trunc, ir.RoundToEven:
		return &numbers{math.Floor(x.low), math.Ceil(x.high)}
	case ir.Abs:
		return &numbers{0, max(math.Abs(x.low), math.Abs(x.high))}
	case ir.Sqrt:
		if x.low >= 0 {
			return roundedTo(e.T, &numbers{math.Sqrt(x.low), math.Sqrt(x.high)})
		}
	case ir.FMA:
		if e.T.IsFloat() {
			return roundedTo(e.T, c.arithmetic(ir.Add, c.arithmetic(ir.Mul, x, args[1]), args[2]))
		}
	}
	return nil
}

// roundedTo is the range of results that are rounded to a type, once or several times.
func roundedTo(t *ir.Type, x *numbers) *numbers {
	if x == nil {
		return nil
	}
	const more = 0x1p-20
	return finite(t, x.low-more*math.Abs(x.low), x.high+more*math.Abs(x.high))
}

// finite is a range of a type's numbers, nil if there are infinities in it or NaN.
func finite(t *ir.Type, low, high float64) *numbers {
	limit := math.MaxFloat64
	if t.Kind == ir.Float32 {
		limit = math.MaxFloat32
	}
	if -limit <= low && low <= high && high <= limit {
		return &numbers{low, high}
	}
	return nil
}

func hull(list ...float64) *numbers {
	s := &numbers{list[0], list[0]}
	for _, x := range list {
		s.low, s.high = min(s.low, x), max(s.high, x)
	}
	return s
}

func union(x, y *numbers) *numbers {
	if x == nil || y == nil {
		return nil
	}
	return &numbers{min(x.low, y.low), max(x.high, y.high)}
}
