package opt

import (
	"slices"

	"quern.dev/internal/compiler/ir"
)

// maxConstant is the constant memory of a module in bytes (PTX ISA, Constant
// State Space).
const maxConstant = 64 << 10

// constantTables finds the tables to put into constant memory: those that all threads
// of a warp read at the same index. The constant cache serves different indices one
// after another.
func constantTables(k *ir.Kernel) {
	k.Constant = nil
	if len(k.Tables) == 0 {
		return
	}
	var together *lockstep
	unfit := map[*ir.Table]bool{}
	var used []*ir.Table
	var visit ir.Visitor
	visit = ir.Visitor{
		Place: func(p ir.Place) bool {
			root, ok := ir.Root(p).(*ir.TablePlace)
			if !ok {
				return true
			}
			for ir.Place(root) != p {
				switch q := p.(type) {
				case *ir.FieldPlace:
					p = q.X
				case *ir.IndexPlace:
					if asConst(q.Index) == nil {
						if together == nil {
							together = newLockstep(k)
						}
						if together.varies(q.Index) {
							unfit[root.Table] = true
						}
						visit.Value(q.Index)
						if !slices.Contains(used, root.Table) {
							used = append(used, root.Table)
						}
					}
					p = q.X
				}
			}
			return false
		},
		Expr: func(e ir.Expr) bool {
			// The address of a table is an address in global memory.
			var p ir.Place
			switch e := e.(type) {
			case *ir.Addr:
				p = e.Place
			case *ir.SliceExpr:
				p = e.Array
			}
			if p != nil {
				if root, ok := ir.Root(p).(*ir.TablePlace); ok {
					unfit[root.Table] = true
				}
			}
			return true
		},
	}
	visit.Body(k.Func.Body)
	free := int64(maxConstant)
	for _, t := range used {
		if size := (t.Type.Size() + 15) &^ 15; !unfit[t] && size <= free {
			free -= size
			k.Constant = append(k.Constant, t)
		}
	}
}

// lockstep guesses which values are the same for the threads of a warp that are at the
// same statement. Unlike Uniformity it assumes that they run loops in lockstep and
// leave them together. It may be wrong: only speed depends on it.
type lockstep struct {
	coordinates Uniformity
	varying     map[*ir.Local]bool
	branch      map[*ir.Local]*ir.If // the divergent branch that assigns a variable, or nil
	assigned    map[*ir.Local]bool
	changed     bool
}

func newLockstep(k *ir.Kernel) *lockstep {
	l := &lockstep{coordinates: Uniformity{group: ofWarp, options: k.Options}, varying: map[*ir.Local]bool{}}
	for l.changed = true; l.changed; {
		l.changed = false
		l.branch, l.assigned = map[*ir.Local]*ir.If{}, map[*ir.Local]bool{}
		l.body(k.Func.Body, nil)
	}
	return l
}

// varies reports whether threads of a warp are likely to have different values.
func (l *lockstep) varies(e ir.Expr) bool {
	found := false
	v := ir.Visitor{
		Expr: func(e ir.Expr) bool {
			if t, ok := e.(*ir.ThreadValue); ok && l.coordinates.variesInWarp(t.Op) {
				found = true
			}
			return !found
		},
		Place: func(p ir.Place) bool {
			if p, ok := p.(*ir.VarPlace); ok && l.varying[p.Var] {
				found = true
			}
			return !found
		},
	}
	v.Value(e)
	return found
}

// body processes a list in a divergent branch, or nil for none.
func (l *lockstep) body(list []ir.Stmt, branch *ir.If) {
	for _, s := range list {
		switch s := s.(type) {
		case *ir.Assign:
			if root, ok := ir.Root(s.Dst).(*ir.VarPlace); ok {
				l.define(root.Var, l.varies(s.Src), branch)
			}
		case *ir.If:
			inner := branch
			if l.varies(s.Cond) {
				inner = s
			}
			l.body(s.Then, inner)
			l.body(s.Else, inner)
		case *ir.Loop:
			l.body(s.Pre, branch)
			l.body(s.Body, branch)
			l.body(s.Post, branch)
		case *ir.Block:
			l.body(s.Body, branch)
		default:
			for v := range ir.Defined(s) {
				l.define(v, true, branch)
			}
		}
	}
}

// define records an assignment. A variable that is assigned both in a divergent branch
// and outside it diverges after the branch.
func (l *lockstep) define(v *ir.Local, varies bool, branch *ir.If) {
	if l.assigned[v] && l.branch[v] != branch {
		varies = true
	}
	l.assigned[v], l.branch[v] = true, branch
	if varies && !l.varying[v] {
		l.varying[v], l.changed = true, true
	}
}
