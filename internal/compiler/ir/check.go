package ir

// BoundsCheck returns the Check of a node that checks bounds, nil for all other nodes.
func BoundsCheck(node any) *bool {
	switch n := node.(type) {
	case *SliceExpr:
		return &n.Check
	case *IndexPlace:
		return &n.Check
	case *ElemPlace:
		return &n.Check
	case *ArrayPlace:
		return &n.Check
	}
	return nil
}

// EachBoundsCheck calls do with the Check of each node in a body that checks bounds.
func EachBoundsCheck(body []Stmt, do func(check *bool)) {
	see := func(node any) bool {
		if check := BoundsCheck(node); check != nil {
			do(check)
		}
		return true
	}
	v := Visitor{Expr: func(e Expr) bool { return see(e) }, Place: func(p Place) bool { return see(p) }}
	v.Body(body)
}

// BoundsChecks counts the bounds checks of a body that are made.
func BoundsChecks(body []Stmt) int {
	n := 0
	EachBoundsCheck(body, func(check *bool) {
		if *check {
			n++
		}
	})
	return n
}

// MayFault reports whether evaluating an expression can stop the thread.
func MayFault(e Expr) bool { return Faults(func(v *Visitor) { v.Value(e) }) }

// PlaceMayFault reports whether reaching a place can stop the thread.
func PlaceMayFault(p Place) bool { return Faults(func(v *Visitor) { v.Target(p) }) }

// Faults reports whether something that is visited can stop the thread.
func Faults(visit func(*Visitor)) bool {
	found := false
	v := Visitor{
		Expr: func(e Expr) bool {
			switch e := e.(type) {
			case *Binary:
				found = found || e.Check
			case *SliceExpr:
				found = found || e.Check
			}
			return !found
		},
		Place: func(p Place) bool {
			switch p := p.(type) {
			case *DerefPlace:
				found = true // the pointer may be nil
			default:
				check := BoundsCheck(p)
				found = found || check != nil && *check
			}
			return !found
		},
	}
	visit(&v)
	return found
}
