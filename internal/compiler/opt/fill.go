package opt

import (
	"slices"

	"quern.dev/internal/compiler/ir"
)

// fill moves writes to shared memory behind the reads of global memory that follow them:
//
//	tile[i] = x[j]         a := x[j]
//	tile[i+16] = x[j+n]    b := x[j+n]
//	                       tile[i] = a
//	                       tile[i+16] = b
//
// The loads are then in flight together. ptxas prefers few registers to that if it sees
// them alternate. The two memories are different ones, and no other thread may read what
// has been written before a barrier.
func fill(k *ir.Kernel) {
	f := filler{kernel: k, uses: countUses(k.Func)}
	k.Func.Body = f.list(k.Func.Body)
}

// mostFilled is the number of words that wait in registers for a move.
const mostFilled = 8

type filler struct {
	kernel *ir.Kernel
	uses   usages

	// Of the current run.
	waiting []ir.Stmt          // writes to shared memory
	words   int                // that they write
	needs   map[*ir.Local]bool // what they read
}

func (f *filler) list(list []ir.Stmt) []ir.Stmt {
	var out []ir.Stmt
	flush := func() {
		out = append(out, f.waiting...)
		f.waiting, f.words, f.needs = nil, 0, map[*ir.Local]bool{}
	}
	flush()
	for _, s := range list {
		words := f.shared(s)
		switch s := s.(type) {
		case *ir.If:
			flush()
			s.Then, s.Else = f.list(s.Then), f.list(s.Else)
		case *ir.Loop:
			flush()
			s.Pre, s.Body, s.Post = f.list(s.Pre), f.list(s.Body), f.list(s.Post)
		case *ir.Block:
			flush()
			s.Body = f.list(s.Body)
		}
		if f.words+words > mostFilled || words == 0 && len(f.waiting) > 0 && !f.passes(s) {
			flush()
		}
		if words == 0 {
			out = append(out, s)
			continue
		}
		if a, ok := s.(*ir.Assign); ok && !f.isPlain(a.Src) {
			v := &ir.Local{Name: "filled", Type: a.Src.Type(), Pos: a.Pos, Hidden: true}
			f.kernel.Func.Locals = append(f.kernel.Func.Locals, v)
			f.uses[v] = &usage{}
			out = append(out, &ir.Assign{Dst: &ir.VarPlace{Var: v}, Src: a.Src, Pos: a.Pos})
			a.Src = ir.Get(v)
		}
		f.waiting = append(f.waiting, s)
		f.words += words
		variablesOf(s, func(v *ir.Local) { f.needs[v] = true })
	}
	flush()
	return out
}

// shared returns how many words a statement writes to shared memory, or 0 if it is not a
// write that can wait: its value may come from global memory, and all else from variables.
func (f *filler) shared(s ir.Stmt) (words int) {
	switch s := s.(type) {
	case *ir.Assign:
		if !isShared(s.Dst) || !s.Dst.Type().IsScalar() || !f.readsGlobal(s.Src) || !f.isFixed(s.Dst) {
			return 0
		}
		return int(s.Dst.Type().Size()+3) / 4
	case *ir.StoreVector:
		if !isShared(s.Place) || !f.isFixed(s.Place) || slices.ContainsFunc(s.Src, func(e ir.Expr) bool { return !f.isPlain(e) }) {
			return 0
		}
		return int(s.Place.Type().Size()+3) / 4 * len(s.Src)
	}
	return 0
}

// passes reports whether a statement that does not write to shared memory may be executed
// before the writes that wait.
func (f *filler) passes(s ir.Stmt) bool {
	var to []*ir.Local
	switch s := s.(type) {
	case *ir.Assign:
		v, ok := s.Dst.(*ir.VarPlace)
		if !ok || !f.readsGlobal(s.Src) {
			return false
		}
		to = []*ir.Local{v.Var}
	case *ir.LoadVector:
		if !f.readsGlobal(&ir.Load{Place: s.Place}) { // nor may its index read shared memory
			return false
		}
		to = s.Dst
	default:
		return false
	}
	return !slices.ContainsFunc(to, func(v *ir.Local) bool { return v != nil && (f.needs[v] || f.uses[v].addressed) })
}

// isShared reports whether a place is in shared memory.
func isShared(p ir.Place) bool {
	switch root := ir.Root(p).(type) {
	case *ir.SharedPlace:
		return true
	case *ir.ElemPlace:
		_, dynamic := ir.Dynamic(root.Slice)
		return dynamic
	}
	return false
}

// isFixed reports whether the address of a place depends only on variables, and cannot fail.
func (f *filler) isFixed(p ir.Place) bool {
	if ir.PlaceMayFault(p) {
		return false
	}
	fixed := true
	v := ir.Visitor{Expr: func(e ir.Expr) bool {
		if _, dynamic := ir.Dynamic(e); dynamic {
			return false
		}
		fixed = fixed && f.isPlain(e)
		return false
	}}
	v.Target(p)
	return fixed
}

// isPlain reports whether an expression reads no memory, and cannot fail.
func (f *filler) isPlain(e ir.Expr) bool {
	return f.reads(e, func(ir.Place) bool { return false }) && !ir.MayFault(e)
}

// readsGlobal reports whether an expression reads only variables and elements of the
// kernel's slices.
func (f *filler) readsGlobal(e ir.Expr) bool { return f.reads(e, f.isGlobal) }

// isGlobal reports whether a place is in a slice that is a parameter.
func (f *filler) isGlobal(p ir.Place) bool {
	elem, ok := ir.Root(p).(*ir.ElemPlace)
	if !ok {
		return false
	}
	v, ok := ir.Variable(elem.Slice)
	return ok && f.uses[v].param && f.uses[v].writes == 1 && f.uses[v].parts == 0 && !f.uses[v].addressed
}

// reads reports whether an expression reads only variables that no pointer refers to, and
// places that may be read.
func (f *filler) reads(e ir.Expr, may func(ir.Place) bool) bool {
	ok := true
	v := ir.Visitor{
		Place: func(p ir.Place) bool {
			if v, isVar := p.(*ir.VarPlace); isVar {
				ok = ok && !f.uses[v.Var].addressed
				return ok
			}
			switch p.(type) {
			case *ir.ElemPlace, *ir.DerefPlace, *ir.ArrayPlace, *ir.SharedPlace:
				ok = ok && may(p)
			}
			return ok
		},
	}
	v.Value(e)
	return ok
}

// variablesOf calls visit for the variables that a statement mentions.
func variablesOf(s ir.Stmt, visit func(*ir.Local)) {
	v := ir.Visitor{Place: func(p ir.Place) bool {
		if p, ok := p.(*ir.VarPlace); ok {
			visit(p.Var)
		}
		return true
	}}
	v.Body([]ir.Stmt{s})
}
