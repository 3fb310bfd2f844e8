package ir

// Relocate gives what of a body is in some files another position.
func Relocate(body []Stmt, pos Pos, in func(file string) bool) {
	move := func(p *Pos) {
		if in(p.File) {
			*p = pos
		}
	}
	v := Visitor{
		Stmt: func(s Stmt) bool {
			switch s := s.(type) {
			case *Assign:
				move(&s.Pos)
			case *If:
				move(&s.Pos)
			case *Loop:
				move(&s.Pos)
			case *Return:
				move(&s.Pos)
			case *Call:
				move(&s.Pos)
			case *Atomic:
				move(&s.Pos)
			case *Barrier:
				move(&s.Pos)
			case *Fence:
				move(&s.Pos)
			case *Panic:
				move(&s.Pos)
			case *Memory:
				move(&s.Pos)
			case *Warp:
				move(&s.Pos)
			case *Effect:
				move(&s.Pos)
			case *LoadVector:
				move(&s.Pos)
			case *StoreVector:
				move(&s.Pos)
			}
			return true
		},
		Expr: func(e Expr) bool {
			switch e := e.(type) {
			case *Binary:
				move(&e.Pos)
			case *SliceExpr:
				move(&e.Pos)
			case *Intrinsic:
				move(&e.Pos)
			}
			return true
		},
		Place: func(p Place) bool {
			switch p := p.(type) {
			case *DerefPlace:
				move(&p.Pos)
			case *IndexPlace:
				move(&p.Pos)
			case *ElemPlace:
				move(&p.Pos)
			case *ArrayPlace:
				move(&p.Pos)
			}
			return true
		},
	}
	v.Body(body)
}
