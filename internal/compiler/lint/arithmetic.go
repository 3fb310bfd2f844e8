package lint

import (
	"fmt"
	"go/types"
	"math/bits"

	"quern.dev/internal/compiler/ir"
)

// Number of instructions of a 64-bit and of a 32-bit division on an H100 (ptxas 13.5).
const (
	instructions64         = 80
	instructions32         = 20
	constantInstructions64 = 15
	constantInstructions32 = 4
)

// wide reports 64-bit arithmetic for which 32 bits would be enough.
func (c *checker) wide(body []ir.Stmt) {
	weight := 1
	pos := c.kernel.Func.Pos
	var v ir.Visitor
	v.Stmt = func(s ir.Stmt) bool {
		if p := position(s); p.Line > 0 {
			pos = p
		}
		if l, ok := s.(*ir.Loop); ok {
			weight *= iterations
			v.Body(l.Pre)
			v.Value(l.Cond)
			v.Body(l.Body)
			v.Body(l.Post)
			weight /= iterations
			return false
		}
		return true
	}
	v.Place = func(p ir.Place) bool {
		if e, ok := p.(*ir.ElemPlace); ok {
			if k := origin(e.Index).Type().Kind; k == ir.Int64 || k == ir.Uint64 || k == ir.Uint {
				if _, constant := e.Index.(*ir.Const); !constant && c.indexes(e.Pos) {
					c.report(e.Pos, "64-bit arithmetic", "use int, which is narrowed where it is safe",
						"the index is computed in %s", k)
				}
			}
		}
		return true
	}
	v.Expr = func(e ir.Expr) bool {
		switch e := e.(type) {
		case *ir.Binary:
			at := e.Pos
			if at.Line == 0 {
				at = pos
			}
			c.division(e, at, weight)
		case *ir.Convert:
			if e.T.Kind != ir.Float32 || e.X.Type().Kind != ir.Float64 || !raised(e.X, 0) {
				break
			}
			advice := "compute in float32: package kernel has the functions of math for it"
			if c.isComplex(pos) {
				advice = "mark the kernel fastmath, which multiplies complex64 in float32"
			}
			c.report(pos, "64-bit arithmetic", advice, "float32 numbers are computed with in float64 and rounded again")
		}
		return true
	}
	v.Body(body)
}

// division reports a 64-bit division that is a large part of the kernel's work. A
// division by a constant, which becomes a multiplication, is reported only in a loop.
func (c *checker) division(e *ir.Binary, at ir.Pos, weight int) {
	t := e.X.Type()
	if e.Op != ir.Div && e.Op != ir.Rem || !t.IsInteger() || t.Size() != 8 || isProduct(e.X) {
		return
	}
	slow, fast := instructions64, instructions32
	if k, ok := e.Y.(*ir.Const); ok {
		if weight == 1 || bits.OnesCount64(k.Bits) == 1 {
			return
		}
		slow, fast = constantInstructions64, constantInstructions32
	}
	const part = 10
	if 2*(slow-fast)*weight*part < c.work {
		return
	}
	narrow := map[bool]string{true: "int32", false: "uint32"}[t.IsSigned()]
	what, declared := c.quotient(at)
	if declared == nil {
		return // in a function of a library
	}
	if b, ok := types.Default(declared).(*types.Basic); ok { // the compiler may have made it unsigned
		narrow = map[bool]string{true: "uint32", false: "int32"}[b.Info()&types.IsUnsigned != 0]
	}
	if what == "" {
		what = "this"
	}
	why := ""
	if t.Kind == ir.Int || t.Kind == ir.Uint {
		why = ", since its operands are not known to fit 32"
	}
	c.report(at, "64-bit arithmetic", fmt.Sprintf("use %s if the numbers fit", narrow),
		"%s is a division of 64 bits%s: some %d instructions where 32 bits take %d", what, why, slow, fast)
}

// isProduct reports whether a value is a product of numbers that are not small: it has
// 64 bits if its factors have 32.
func isProduct(e ir.Expr) bool {
	switch e := e.(type) {
	case *ir.Convert:
		return e.X.Type().IsInteger() && isProduct(e.X)
	case *ir.Binary:
		switch e.Op {
		case ir.Mul:
			return !isSmall(e.X) && !isSmall(e.Y)
		case ir.Add, ir.Sub:
			return isProduct(e.X) || isProduct(e.Y)
		}
	}
	return false
}

// origin removes conversions between integers.
func origin(e ir.Expr) ir.Expr {
	for {
		c, ok := e.(*ir.Convert)
		if !ok || !c.X.Type().IsInteger() {
			return e
		}
		e = c.X
	}
}

// raised reports whether a float64 value is an operation on float32 numbers. A
// conversion alone is not an operation.
func raised(e ir.Expr, depth int) bool {
	switch e := e.(type) {
	case *ir.Convert:
		return depth > 0 && e.X.Type().Kind == ir.Float32
	case *ir.Unary:
		return raised(e.X, depth+1)
	case *ir.Binary:
		return raised(e.X, depth+1) && (isConst(e.Y) || raised(e.Y, depth+1)) || isConst(e.X) && raised(e.Y, depth+1)
	case *ir.Intrinsic:
		for _, a := range e.Args {
			if !isConst(a) && !raised(a, depth+1) {
				return false
			}
		}
		return len(e.Args) > 0
	}
	return false
}

func isSmall(e ir.Expr) bool {
	k, ok := e.(*ir.Const)
	return ok && k.Bits < 1<<16
}

func isConst(e ir.Expr) bool {
	_, ok := e.(*ir.Const)
	return ok
}

// position returns the position of a statement, if it has one.
func position(s ir.Stmt) ir.Pos {
	switch s := s.(type) {
	case *ir.Assign:
		return s.Pos
	case *ir.If:
		return s.Pos
	case *ir.Loop:
		return s.Pos
	case *ir.Return:
		return s.Pos
	case *ir.Atomic:
		return s.Pos
	}
	return ir.Pos{}
}
