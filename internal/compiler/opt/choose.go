package opt

import "quern.dev/internal/compiler/ir"

// choose replaces an if that only decides between two values by a selection:
//
//	if d > half { r = d - box } else if d < -half { r = d + box } else { r = d }
//
// becomes r = a selection of d - box and of another selection. On a GPU, both values together
// cost less than the threads of a warp that part and meet again. ptxas does so for one
// value, but not for chains.
func choose(f *ir.Func) { f.Body = chooseIn(f.Body) }

func chooseIn(list []ir.Stmt) []ir.Stmt {
	for i, s := range list {
		switch s := s.(type) {
		case *ir.If:
			s.Then, s.Else = chooseIn(s.Then), chooseIn(s.Else)
			if a := chosen(s); a != nil {
				list[i] = a
			}
		case *ir.Loop:
			s.Pre, s.Body, s.Post = chooseIn(s.Pre), chooseIn(s.Body), chooseIn(s.Post)
		case *ir.Block:
			s.Body = chooseIn(s.Body)
		}
	}
	return list
}

// chosen returns the selection that does what s does, or nil.
func chosen(s *ir.If) *ir.Assign {
	yes, v, ok := onlyAssignment(s.Then)
	no, w, also := onlyAssignment(s.Else)
	if !ok || !also || v != w || !(v.Type.IsInteger() || v.Type.IsFloat()) {
		return nil
	}
	const most = 8
	if n, cheap := simpleOps(yes.Src); !cheap || n > most {
		return nil
	} else if m, cheap := simpleOps(no.Src); !cheap || n+m > most {
		return nil
	}
	return &ir.Assign{Dst: yes.Dst, Src: &ir.Select{Cond: s.Cond, X: yes.Src, Y: no.Src}, Pos: s.Pos}
}

// onlyAssignment returns the only statement of a list, which assigns to a variable.
func onlyAssignment(list []ir.Stmt) (a *ir.Assign, v *ir.Local, ok bool) {
	if len(list) != 1 {
		return nil, nil, false
	}
	if a, ok = list[0].(*ir.Assign); !ok {
		return nil, nil, false
	}
	p, ok := a.Dst.(*ir.VarPlace)
	if !ok {
		return nil, nil, false
	}
	return a, p.Var, true
}

// simpleOps returns the number of operations of a value, and whether each is about one
// instruction that cannot fail.
func simpleOps(e ir.Expr) (n int, cheap bool) {
	cheap = !ir.MayFault(e)
	v := ir.Visitor{Expr: func(e ir.Expr) bool {
		switch e := e.(type) {
		case *ir.Const:
		case *ir.Load:
			_, isVar := e.Place.(*ir.VarPlace)
			cheap = cheap && isVar
			return false
		case *ir.Binary:
			cheap = cheap && e.Op != ir.Div && e.Op != ir.Rem
			n++
		case *ir.Intrinsic:
			cheap = cheap && (e.Op == ir.FMA || e.Op == ir.Abs || e.Op == ir.Min || e.Op == ir.Max)
			n++
		case *ir.Unary, *ir.Convert, *ir.Select:
			n++
		default:
			cheap = false
		}
		return cheap
	}}
	v.Value(e)
	return n, cheap
}
