package opt

import (
	"slices"

	"quern.dev/internal/compiler/ir"
)

// stores uses what a thread has written to a scalar in a slice where the thread would read
// it again, and removes a write that the next one replaces:
//
//	p[i].V += a          v := p[i].V + a
//	p[i].X += p[i].V     p[i].V = v
//	                     p[i].X += v
//
// No other thread can tell, since the thread does not synchronize in between. Without the
// reads, writes of neighbours can become one access.
//
// A write that may reach the same memory ends what is known, unless both places are at
// different constant offsets from one address.
func stores(k *ir.Kernel) error {
	s := &storing{vectoriser: &vectoriser{kernel: k, uses: countUses(k.Func)}}
	k.Func.Body = s.list(k.Func.Body)
	return nil
}

// storing finds places as the vectoriser does.
type storing struct{ *vectoriser }

// maxStored limits what is known at a time: each access is compared with all of it.
const maxStored = 256

// stored is a scalar in memory that the thread has written.
type stored struct {
	location
	kind  ir.Kind
	write *ir.Assign
	value *ir.Local // has been written; nil until somebody reads it
	at    int       // where the write stands
	seen  bool      // something may depend on this write
}

// list rewrites a statement list and those within it.
func (s *storing) list(list []ir.Stmt) []ir.Stmt {
	var known []*stored
	out := make([][]ir.Stmt, len(list))
	for i, stmt := range list {
		out[i] = []ir.Stmt{stmt}
		switch stmt := stmt.(type) {
		case *ir.Assign:
			known = s.assign(stmt, i, known, out)
			continue
		case *ir.If:
			s.read(known, out, func(v *ir.Visitor) { v.Value(stmt.Cond) })
			stmt.Then, stmt.Else = s.list(stmt.Then), s.list(stmt.Else)
		case *ir.Loop:
			stmt.Pre, stmt.Body, stmt.Post = s.list(stmt.Pre), s.list(stmt.Body), s.list(stmt.Post)
		case *ir.Block:
			stmt.Body = s.list(stmt.Body)
		}
		known = nil
	}
	return slices.Concat(out...)
}

// assign follows an assignment, which is statement i, and returns what is known after it.
func (s *storing) assign(a *ir.Assign, i int, known []*stored, out [][]ir.Stmt) []*stored {
	s.kernel.Func.Poll()
	s.read(known, out, func(v *ir.Visitor) {
		v.Value(a.Src)
		v.Target(a.Dst)
	})
	if ir.MayFault(a.Src) || ir.PlaceMayFault(a.Dst) {
		for _, k := range known {
			k.seen = true
		}
	}
	if v, ok := a.Dst.(*ir.VarPlace); ok {
		if s.uses[v.Var].addressed {
			return nil
		}
		return slices.DeleteFunc(known, func(k *stored) bool { return slices.Contains(k.vars, v.Var) })
	}
	if !writesGlobal(a.Dst) {
		return known
	}
	l, ok := s.locate(a.Dst)
	if !ok {
		return nil
	}
	known = slices.DeleteFunc(known, func(k *stored) bool {
		if k.base == l.base && k.offset == l.offset && k.size == l.size && !k.seen {
			out[k.at] = slices.DeleteFunc(out[k.at], func(stmt ir.Stmt) bool { return stmt == ir.Stmt(k.write) })
		}
		return k.base != l.base || k.overlaps(&l)
	})
	if len(known) == maxStored {
		known = known[1:]
	}
	return append(known, &stored{location: l, kind: a.Dst.Type().Kind, write: a, at: i})
}

// read lets the reads of a statement, which visit visits, use what is known.
func (s *storing) read(known []*stored, out [][]ir.Stmt, visit func(*ir.Visitor)) {
	if len(known) == 0 {
		return
	}
	visit(&ir.Visitor{
		Expr: func(e ir.Expr) bool {
			load, ok := e.(*ir.Load)
			if !ok {
				return true
			}
			l, ok := s.locate(load.Place)
			if !ok || l.base != known[0].base {
				return true
			}
			for _, k := range known {
				switch {
				case !k.overlaps(&l):
				case k.offset == l.offset && k.kind == load.Place.Type().Kind:
					load.Place = &ir.VarPlace{Var: s.valueOf(k, out)}
					return false
				default:
					k.seen = true
				}
			}
			return false
		},
		Place: func(p ir.Place) bool {
			if reached(p) {
				for _, k := range known {
					k.seen = true
				}
			}
			return true
		},
	})
}

// valueOf returns the variable that has what was written.
func (s *storing) valueOf(k *stored, out [][]ir.Stmt) *ir.Local {
	if k.value == nil {
		k.value = s.temp(k.write.Dst.Type())
		set := &ir.Assign{Dst: &ir.VarPlace{Var: k.value}, Src: k.write.Src, Pos: k.write.Pos}
		k.write.Src = ir.Get(k.value)
		out[k.at] = []ir.Stmt{set, k.write}
	}
	return k.value
}
