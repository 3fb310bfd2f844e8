package opt

import "quern.dev/internal/compiler/ir"

// mayFault reports whether evaluating an expression can stop the thread.
func mayFault(e ir.Expr) bool { return faults(func(v *ir.Visitor) { v.Value(e) }) }

// placeMayFault reports whether reaching a place can stop the thread.
func placeMayFault(p ir.Place) bool { return faults(func(v *ir.Visitor) { v.Target(p) }) }

func faults(visit func(*ir.Visitor)) bool {
	found := false
	v := ir.Visitor{
		Expr: func(e ir.Expr) bool {
			switch e := e.(type) {
			case *ir.Binary:
				found = found || e.Check
			case *ir.SliceExpr:
				found = found || e.Check
			}
			return !found
		},
		Place: func(p ir.Place) bool {
			switch p := p.(type) {
			case *ir.IndexPlace:
				found = found || p.Check
			case *ir.ElemPlace:
				found = found || p.Check
			case *ir.ArrayPlace:
				found = found || p.Check
			case *ir.DerefPlace:
				found = true // the pointer may be nil
			}
			return !found
		},
	}
	visit(&v)
	return found
}
