package opt

import (
	"strconv"
	"strings"

	"quern.dev/internal/compiler/ir"
)

// field is a variable, or a field in a variable that is a struct.
type field struct {
	root *ir.Local
	path string
}

// fieldAt returns the innermost field that contains a place; whole is false if the place is only a
// part of it, and ok is false if it is not in a variable.
func fieldAt(p ir.Place) (f field, whole, ok bool) {
	switch p := p.(type) {
	case *ir.VarPlace:
		return field{root: p.Var}, true, true
	case *ir.FieldPlace:
		f, whole, ok = fieldAt(p.X)
		if whole {
			f.path += "." + strconv.Itoa(p.Field)
		}
		return f, whole, ok
	case *ir.IndexPlace:
		f, _, ok = fieldAt(p.X)
	}
	return f, false, ok
}

// read returns the field that an expression reads.
func read(e ir.Expr) (field, bool) {
	l, ok := e.(*ir.Load)
	if !ok {
		return field{}, false
	}
	f, whole, ok := fieldAt(l.Place)
	return f, whole && ok
}

// decides reports whether copies of a loop's body are likely to know the results of conditions in
// it. Such a condition compares a variable with a constant, and the body gives the variable only
// constants or adds constants to it. A kernel.Random counts the words that it has left like that:
//
//	if r.left == 0 { r.w0, r.w1 = ...; r.left = 2 }
//	...
//	r.left--
func (u *unroller) decides(body []ir.Stmt) bool {
	compared, stepped := map[field]bool{}, map[field]bool{}
	var other []field
	conditions := ir.Visitor{Expr: func(e ir.Expr) bool {
		if b, ok := e.(*ir.Binary); ok && b.Op.IsComparison() {
			if f, ok := read(b.X); ok && asConst(b.Y) != nil && u.uses[f.root] != nil && !u.uses[f.root].addressed {
				compared[f] = true
			}
		}
		return true
	}}
	leaves(body, func(s ir.Stmt) bool {
		for v := range ir.Defined(s) {
			other = append(other, field{root: v})
		}
		for p := range ir.Targets(s) {
			f, whole, ok := fieldAt(*p)
			switch a, isAssign := s.(*ir.Assign); {
			case !ok:
			case whole && isAssign && advances(a.Src, f):
				stepped[f] = true
			default:
				other = append(other, f)
			}
		}
		if s, ok := s.(*ir.If); ok {
			conditions.Value(s.Cond)
		}
		return false
	})
	for f := range compared {
		if !stepped[f] {
			continue
		}
		known := true
		for _, o := range other {
			known = known && (o.root != f.root || !strings.HasPrefix(f.path, o.path))
		}
		if known {
			return true
		}
	}
	return false
}

// advances reports whether an expression is a constant, or a field plus or minus one.
func advances(e ir.Expr, f field) bool {
	if asConst(e) != nil {
		return true
	}
	b, ok := e.(*ir.Binary)
	if !ok || b.Op != ir.Add && b.Op != ir.Sub || asConst(b.Y) == nil {
		return false
	}
	g, ok := read(b.X)
	return ok && g == f
}
