package gohost

import (
	"strconv"
	"strings"

	"quern.dev/internal/compiler/ir"
)

// place prints a place as an operand or as the left side of an assignment. The text
// starts with * if it is an indirection, otherwise it is a primary expression.
func (e *emitter) place(p ir.Place) string {
	switch p := p.(type) {
	case *ir.VarPlace:
		return e.variable(p.Var)
	case *ir.SharedPlace:
		if p.Var.Type.Kind == ir.Slice {
			return e.shared(p.Var)
		}
		return "*" + e.shared(p.Var)
	case *ir.TablePlace:
		if p.Table.IsString() {
			return strconv.Quote(string(p.Table.Data))
		}
		return e.member(p.Table.Go.Package, p.Table.Go.Name)
	case *ir.DerefPlace:
		if a, ok := p.Ptr.(*ir.Addr); ok {
			return e.place(a.Place)
		}
		return "*" + e.expr(p.Ptr, precUnary)
	case *ir.FieldPlace:
		if p.X.Type().IsComplex() {
			return e.complexPart(p)
		}
		return e.base(p.X) + "." + e.field(p.X.Type(), p.Field)
	case *ir.IndexPlace:
		if w := e.window(p); w != "" {
			return w
		}
		base := e.base(p.X)
		if c, ok := constant(p.Index); ok && c.Bits >= uint64(p.X.Type().Len) {
			return base + "[" + e.opaque(p.Index, precOr) + "]"
		}
		return base + "[" + e.index(p.Index) + "]"
	case *ir.ArrayPlace:
		return "*(*" + e.typ(p.T) + ")(" + e.expr(p.Slice, precOr) + ")"
	case *ir.ElemPlace:
		if w := e.window(p); w != "" {
			return w
		}
		base := e.expr(p.Slice, precPrimary)
		if c, ok := constant(p.Index); ok && c.Int64() < 0 {
			return base + "[" + e.opaque(p.Index, precOr) + "]"
		}
		return base + "[" + e.index(p.Index) + "]"
	}
	e.failf("unknown place %T", p)
	return "_"
}

// base prints a place followed by a selector or an index, where Go dereferences
// pointers implicitly.
func (e *emitter) base(p ir.Place) string {
	s := e.place(p)
	if rest, ok := strings.CutPrefix(s, "*"); ok {
		if strings.HasPrefix(rest, "*") || strings.HasPrefix(rest, "&") {
			return "(" + s + ")"
		}
		return rest
	}
	return s
}

func (e *emitter) index(x ir.Expr) string {
	if c, ok := constant(x); ok {
		return e.literal(c)
	}
	return e.expr(x, precOr)
}

// field prints the name of a field, which must be visible to this package.
func (e *emitter) field(t *ir.Type, i int) string {
	name := t.Fields[i].Name
	if t.IsFloat8() {
		return "Bits()" // only package kernel writes the field
	}
	if dot := strings.LastIndexByte(strings.SplitN(t.Name, "[", 2)[0], '.'); dot >= 0 {
		pkg := t.Name[:dot]
		if pkg != e.imports.pkg && !isExported(name) {
			e.failf("field %s of %s is not exported, so the generated code of package %s cannot name it", name, t.Name, e.imports.pkg)
		}
	}
	return name
}
