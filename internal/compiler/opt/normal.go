package opt

import "quern.dev/internal/compiler/ir"

// smallestNormal is the smallest positive normal float32.
const smallestNormal = 0x1p-126

// isNormal reports whether a float32 is never subnormal: it is at least a positive
// constant, such as a softened sum of squares, or NaN.
func isNormal(e ir.Expr) bool {
	switch e := e.(type) {
	case *ir.Const:
		return e.Float >= smallestNormal
	case *ir.Binary:
		return e.Op == ir.Add && (isNormal(e.X) && isNotNegative(e.Y) || isNotNegative(e.X) && isNormal(e.Y))
	case *ir.Intrinsic:
		return e.Op == ir.FMA && isSquare(e.Args[0], e.Args[1]) && isNormal(e.Args[2])
	}
	return false
}

// isNotNegative reports whether a float32 is at least 0, or NaN.
func isNotNegative(e ir.Expr) bool {
	switch e := e.(type) {
	case *ir.Const:
		return e.Float >= 0
	case *ir.Binary:
		switch e.Op {
		case ir.Add:
			return isNotNegative(e.X) && isNotNegative(e.Y)
		case ir.Mul:
			return isSquare(e.X, e.Y) || isNotNegative(e.X) && isNotNegative(e.Y)
		}
	case *ir.Intrinsic:
		switch e.Op {
		case ir.FMA:
			return (isSquare(e.Args[0], e.Args[1]) || isNotNegative(e.Args[0]) && isNotNegative(e.Args[1])) && isNotNegative(e.Args[2])
		case ir.Abs, ir.Sqrt:
			return true
		}
	}
	return false
}

// isSquare reports whether both factors are the same variable.
func isSquare(x, y ir.Expr) bool {
	v, ok := ir.Variable(x)
	w, same := ir.Variable(y)
	return ok && same && v == w
}
