package ir

// BoundsCheck returns the Check of a node that checks bounds, nil for other nodes.
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

// EachNilCheck calls do with each place in a body that is reached through a pointer and
// checks that it is not nil.
func EachNilCheck(body []Stmt, do func(*DerefPlace)) {
	v := Visitor{Place: func(p Place) bool {
		if d, ok := p.(*DerefPlace); ok && d.Check {
			do(d)
		}
		return true
	}}
	v.Body(body)
}

// BoundsChecks returns the number of active bounds checks in a body.
func BoundsChecks(body []Stmt) int {
	n := 0
	EachBoundsCheck(body, func(check *bool) {
		if *check {
			n++
		}
	})
	return n
}

// MayFault reports whether evaluating an expression, which may be nil, can stop the thread.
func MayFault(e Expr) bool {
	switch e := e.(type) {
	case nil, *Const, *Zero, *ThreadValue:
		return false
	case *Load:
		if _, ok := e.Place.(*VarPlace); ok {
			return false
		}
	}
	var f faults
	f.value(&e)
	return f.found
}

// PlaceMayFault reports whether reaching a place can stop the thread.
func PlaceMayFault(p Place) bool {
	if _, ok := p.(*VarPlace); ok {
		return false
	}
	var f faults
	f.place(&p)
	return f.found
}

// faults looks for operations that can stop the thread.
type faults struct {
	ignore
	found bool
}

func (f *faults) value(e *Expr) {
	if f.found {
		return
	}
	switch e := (*e).(type) {
	case *Binary:
		f.found = e.Check
	case *SliceExpr:
		f.found = e.Check
	}
	if !f.found {
		(*e).parts(f)
	}
}

func (f *faults) place(p *Place) {
	if f.found {
		return
	}
	switch p := (*p).(type) {
	case *DerefPlace:
		f.found = true // Go checks the pointer even if Check is not set
	case *IndexPlace, *ElemPlace, *ArrayPlace:
		f.found = *BoundsCheck(p)
	}
	if !f.found {
		(*p).parts(f)
	}
}

func (f *faults) target(p *Place) { f.place(p) }

func (f *faults) body(list *[]Stmt) {
	for _, s := range *list {
		s.parts(f)
	}
}
