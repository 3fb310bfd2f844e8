package ir

// Relocate gives all of a body one position.
func Relocate(body []Stmt, pos Pos) {
	v := Visitor{
		Stmt: func(s Stmt) bool {
			switch s := s.(type) {
			case *Assign:
				s.Pos = pos
			case *If:
				s.Pos = pos
			case *Loop:
				s.Pos = pos
			case *Return:
				s.Pos = pos
			case *Call:
				s.Pos = pos
			case *Atomic:
				s.Pos = pos
			case *Barrier:
				s.Pos = pos
			case *Fence:
				s.Pos = pos
			case *Panic:
				s.Pos = pos
			case *Memory:
				s.Pos = pos
			case *Warp:
				s.Pos = pos
			case *Effect:
				s.Pos = pos
			case *LoadVector:
				s.Pos = pos
			case *StoreVector:
				s.Pos = pos
			}
			return true
		},
		Expr: func(e Expr) bool {
			switch e := e.(type) {
			case *Binary:
				e.Pos = pos
			case *SliceExpr:
				e.Pos = pos
			case *Intrinsic:
				e.Pos = pos
			}
			return true
		},
		Place: func(p Place) bool {
			switch p := p.(type) {
			case *DerefPlace:
				p.Pos = pos
			case *IndexPlace:
				p.Pos = pos
			case *ElemPlace:
				p.Pos = pos
			case *ArrayPlace:
				p.Pos = pos
			}
			return true
		},
	}
	v.Body(body)
}
