package gohost

import (
	"slices"
	"strconv"

	"quern.dev/internal/compiler/ir"
)

// A loop over a row of declared length whose body has at most maxUnrolled nodes runs
// unrolledThreads threads in an iteration. The Go compiler does not unroll loops, and
// the counter would take as long as the work. More of the row's loads are then under way
// at the same time.
const (
	unrolledThreads = 4
	maxUnrolled     = 24
)

// isUnrolled reports whether a loop that ends at limit runs several threads in an
// iteration: their number is known, and the body only consists of assignments.
func (e *emitter) isUnrolled(stmts []ir.Stmt, limit string) bool {
	n, err := strconv.Atoi(limit)
	if err != nil || n == 0 || n%unrolledThreads != 0 || nodes(stmts) > maxUnrolled {
		return false
	}
	return !hasStmt(stmts, func(s ir.Stmt) bool { _, ok := s.(*ir.Assign); return !ok })
}

// unrolled returns a loop over the threads of a row, with the variable x for the thread.
func unrolled(x, limit string, body *text) *text {
	t := &text{}
	t.add("for %s := 0; %s < %s; %s += %d {", x, x, limit, x, unrolledThreads)
	t.depth++
	t.splice(body)
	again := &text{lines: slices.Clone(body.lines)}
	for i := range again.lines {
		again.lines[i].pos = ir.Pos{} // that of the first copy
	}
	for i := range unrolledThreads - 1 {
		t.add("{")
		t.add("\t%s := %s + %d", x, x, i+1)
		t.depth++
		t.splice(again)
		t.depth--
		t.add("}")
	}
	t.depth--
	t.add("}")
	return t
}
