package gohost

import (
	"fmt"
	"strconv"

	"quern.dev/internal/compiler/ir"
)

// rowRange is the rows of a block that a loop runs: those from first to end-1. If step is
// set, only multiples of it. Its texts mean the same for the
// whole block.
type rowRange struct {
	firsts, ends []string
	step         string
}

// rowRange returns rows outside which no thread passes the guards around all statements of
// a list. Inside, the guards are tested as ever, so the range may be too large.
func (e *emitter) rowRange(list []item, rows string) *rowRange {
	r := &rowRange{firsts: []string{"0"}, ends: []string{rows}}
	if !e.allRows || len(list) != 1 {
		return r
	}
	f := e.facts
	f.once = e.plan.block
	defer func() { f.once = nil }()
	guards, _ := f.splitGuards(list[0].(*region).stmts, true)
	for _, guard := range guards {
		if b, ok := guard.(*ir.Binary); ok && b.X.Type().Kind == ir.Int {
			switch divided, isRem := b.X.(*ir.Binary); {
			case b.Op == ir.Eq && isZero(b.Y) && isRem && divided.Op == ir.Rem && f.isRowNumber(divided.X) && f.isOfRegion(divided.Y):
				r.step = fmt.Sprintf("min(max(%s, 1), %s)", e.ofRows(divided.Y), rows)
			case f.isRowNumber(b.X) && f.isOfRegion(b.Y):
				r.limit(b.Op, e.ofRows(b.Y), rows)
			case f.isRowNumber(b.Y) && f.isOfRegion(b.X):
				r.limit(mirrored[b.Op], e.ofRows(b.X), rows)
			}
		}
		if f.exprMayFault(guard) {
			break // whether the next ones are evaluated depends on the thread
		}
	}
	return r
}

// limit adds the condition that the row's number compares with a value, which may be any
// integer.
func (r *rowRange) limit(op ir.BinaryOp, value, rows string) {
	after := fmt.Sprintf("min(%s, %s) + 1", value, rows) // does not overflow
	if n, err := strconv.ParseInt(value, 10, 32); err == nil {
		after = strconv.FormatInt(n+1, 10)
	}
	switch op {
	case ir.Lt:
		r.ends = append(r.ends, value)
	case ir.Le:
		r.ends = append(r.ends, after)
	case ir.Ge:
		r.firsts = append(r.firsts, value)
	case ir.Gt:
		r.firsts = append(r.firsts, after)
	case ir.Eq:
		r.firsts, r.ends = append(r.firsts, value), append(r.ends, after)
	}
}

// isRowNumber reports whether a value is the thread's Y coordinate.
func (f *facts) isRowNumber(x ir.Expr) bool {
	if v, ok := ir.Variable(x); ok && f.source[v] != nil && f.local(v) == perRow {
		return f.isRowNumber(f.source[v])
	}
	t, ok := x.(*ir.ThreadValue)
	return ok && t.Op == ir.ThreadIdxY
}

// isOfRegion reports whether a value is the same for all rows and can be computed before
// them.
func (f *facts) isOfRegion(x ir.Expr) bool { return f.level(x) < perRow && !f.exprMayFault(x) }

// ofRows prints a value that isOfRegion, to be computed before the loops over the rows.
func (e *emitter) ofRows(x ir.Expr) (s string) {
	e.at(perRegion, func() { s = e.value(x, ir.TInt, precAdd) })
	return s
}

// overRows prints the head of the loop over a range of rows with the variable y.
func (e *emitter) overRows(r *rowRange, y string) string {
	variable := func(want, value string) string {
		if _, err := strconv.Atoi(value); err == nil || isIdentifier(value) {
			return value
		}
		return e.sections[perRegion].value(want, "int", value)
	}
	first, end := extreme("max", r.firsts), variable("end", extreme("min", r.ends))
	switch {
	case r.step != "": // row 0 is a multiple
		return fmt.Sprintf("for %s := 0; %s < %s; %s += %s {", y, y, end, y, variable("step", r.step))
	case first != "0":
		return fmt.Sprintf("for %s := %s; %s < %s; %s++ {", y, variable("first", first), y, end, y)
	}
	return fmt.Sprintf("for %s := range %s {", y, end)
}
