package opt

import "quern.dev/internal/compiler/ir"

// writeResults lets products of matrices write their results to the variables to which they
// are copied next. A product of tiles that is added to its sum then changes it in place.
func writeResults(k *ir.Kernel) error {
	uses := map[*ir.Local]int{}
	v := ir.Visitor{Place: func(p ir.Place) bool {
		if p, ok := p.(*ir.VarPlace); ok {
			uses[p.Var]++
		}
		return true
	}}
	v.Body(k.Func.Body)
	k.Func.Body = directResults(k.Func.Body, uses)
	return nil
}

func directResults(list []ir.Stmt, uses map[*ir.Local]int) []ir.Stmt {
	out := list[:0]
	at := map[*ir.Local]**ir.Local{} // destinations of the last operation
	taken := map[*ir.Local]bool{}
	for _, s := range list {
		if a, ok := s.(*ir.Assign); ok {
			to, isVar := a.Dst.(*ir.VarPlace)
			from, isCopy := ir.Variable(a.Src)
			if isVar && isCopy && at[from] != nil && uses[from] == 1 && !taken[to.Var] && to.Var.Type.Equal(from.Type) {
				*at[from] = to.Var
				taken[to.Var] = true
				continue
			}
		}
		clear(at)
		clear(taken)
		switch s := s.(type) {
		case *ir.If:
			s.Then, s.Else = directResults(s.Then, uses), directResults(s.Else, uses)
		case *ir.Loop:
			s.Pre, s.Body, s.Post = directResults(s.Pre, uses), directResults(s.Body, uses), directResults(s.Post, uses)
		case *ir.Block:
			s.Body = directResults(s.Body, uses)
		case *ir.Warp:
			if !s.Op.IsMMA() && !s.Op.IsGroupMMA() {
				break
			}
			for i, d := range s.Dst {
				if d != nil {
					at[d], taken[d] = &s.Dst[i], true
				}
			}
		}
		out = append(out, s)
	}
	return out
}
