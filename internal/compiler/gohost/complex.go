package gohost

import (
	"fmt"

	"quern.dev/internal/compiler/ir"
)

// complexPart prints the real or imaginary part of a complex place.
func (e *emitter) complexPart(p *ir.FieldPlace) string {
	return [...]string{"real", "imag"}[p.Field] + "(" + e.place(p.X) + ")"
}

// complexComposite prints a complex number built from two floats.
func (e *emitter) complexComposite(x *ir.Composite) string {
	var parts [2]string
	for i, v := range x.Elems {
		parts[i] = "0"
		if v != nil {
			parts[i] = e.value(v, x.T.Fields[i].Type, precOr)
		}
	}
	s := fmt.Sprintf("complex(%s, %s)", parts[0], parts[1])
	typed := func(v ir.Expr) bool { return v != nil && !isConst(v) }
	if x.T.Name == "" && (typed(x.Elems[0]) || typed(x.Elems[1])) {
		return s
	}
	return e.conversion(x.T, s)
}
