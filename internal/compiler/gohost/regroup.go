package gohost

import (
	"cmp"
	"slices"

	"quern.dev/internal/compiler/ir"
)

// regroup moves the terms of an integer sum that have a lower level than the sum to its
// front, so that they can be computed together outside. Integers wrap, so the sum does
// not change.
func (e *emitter) regroup(x *ir.Binary) *ir.Binary {
	if x.Op != ir.Add && x.Op != ir.Sub || !x.X.Type().IsInteger() {
		return x
	}
	t := goType(x)
	var early, late []term
	for _, term := range terms(x, false, nil) {
		if !identical(goType(term.x), t) && !isConst(term.x) {
			return x
		}
		if !isConst(term.x) && e.facts.level(term.x) < e.current {
			early = append(early, term)
		} else {
			late = append(late, term)
		}
	}
	if len(early) < 2 || len(late) == 0 {
		return x
	}
	slices.SortStableFunc(early, func(a, b term) int {
		return cmp.Compare(e.facts.level(a.x), e.facts.level(b.x))
	})
	first := slices.IndexFunc(early, func(t term) bool { return !t.negative })
	if first < 0 {
		return x
	}
	total := early[first].x
	for i, term := range append(slices.Delete(early, first, first+1), late...) {
		e.grouped[total] = i > 0
		op := ir.Add
		if term.negative {
			op = ir.Sub
		}
		total = &ir.Binary{Op: op, X: total, Y: term.x, Pos: x.Pos}
	}
	return total.(*ir.Binary)
}

// term is a term of a sum.
type term struct {
	x        ir.Expr
	negative bool
}

func terms(x ir.Expr, negative bool, list []term) []term {
	b, ok := x.(*ir.Binary)
	if !ok || b.Op != ir.Add && b.Op != ir.Sub {
		return append(list, term{x, negative})
	}
	list = terms(b.X, negative, list)
	return terms(b.Y, negative != (b.Op == ir.Sub), list)
}

// ofRow prints a conjunction or disjunction of which at least two terms are the same for
// the row of threads, and none has an effect: these terms are computed together outside
// the loop. For others, the result is "".
func (e *emitter) ofRow(x *ir.Binary) string {
	if e.current <= perRow || e.facts.level(x) >= varying {
		return ""
	}
	var same, own ir.Expr
	n := 0
	add := func(to *ir.Expr, term ir.Expr) {
		if *to != nil {
			term = &ir.Binary{Op: x.Op, X: *to, Y: term}
		}
		*to = term
	}
	var walk func(t ir.Expr)
	walk = func(t ir.Expr) {
		if v, ok := ir.Variable(t); ok && e.facts.source[v] != nil && e.facts.local(v) == perThread {
			if b, ok := e.facts.source[v].(*ir.Binary); ok && b.Op == x.Op {
				walk(b)
				return
			}
		}
		if b, ok := t.(*ir.Binary); ok && b.Op == x.Op {
			walk(b.X)
			walk(b.Y)
			return
		}
		if e.facts.level(t) <= perRow {
			n++
			add(&same, t)
		} else {
			add(&own, t)
		}
	}
	walk(x)
	if n < 2 || own == nil {
		return ""
	}
	text := ""
	e.at(perRow, func() { text = e.value(same, ir.TBool, precOr) })
	name := e.sections[perRow].value("same", "bool", text)
	op := operators[x.Op]
	return name + " " + op.text + " " + e.value(own, ir.TBool, op.prec+1)
}
