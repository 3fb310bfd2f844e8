package gohost

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

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

// A thread that assigns a floating-point variable minChain times, such as an unrolled sum of
// products, waits for each operation before the next. Threads of such a loop run statement
// by statement side by side if it has at most maxChained nodes: they do not wait for each
// other. The processor finds too few of them if they run one after another.
const (
	minChain   = 8
	maxChained = 400
)

// unrolled returns a loop over the threads of a row that runs several threads in an
// iteration: their number is known, and the statements are assignments. The result is nil
// if the loop does not gain from it.
func (e *emitter) unrolled(stmts []ir.Stmt, limit string, body *text) *text {
	n, err := strconv.Atoi(limit)
	if err != nil || n == 0 || n%unrolledThreads != 0 || hasStmt(stmts, func(s ir.Stmt) bool { _, ok := s.(*ir.Assign); return !ok }) {
		return nil
	}
	size := nodes(stmts)
	isShort := size <= maxUnrolled
	if !isShort && (size > maxChained || longestChain(stmts) < minChain) {
		return nil
	}
	x := e.inRow()
	switch {
	case !body.mentions(x):
		return nil
	case isShort:
		return inSequence(x, limit, body)
	default:
		return e.sideBySideLines(x, limit, body)
	}
}

// longestChain returns how often assignments change a floating-point variable by its own
// value.
func longestChain(assignments []ir.Stmt) int {
	longest, lengths := 0, map[*ir.Local]int{}
	for _, s := range assignments {
		a := s.(*ir.Assign)
		if v, ok := a.Dst.(*ir.VarPlace); ok && v.Var.Type.IsFloat() && readsOf(a.Src).mentions(v.Var) {
			lengths[v.Var]++
			longest = max(longest, lengths[v.Var])
		}
	}
	return longest
}

// inSequence returns a loop over the threads of a row, with the variable x for the thread.
// An iteration runs several threads, one after another.
func inSequence(x, limit string, body *text) *text {
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

// sideBySideLines is like inSequence, but runs each line for all threads of the iteration
// before the next line. The result is nil if the body has other lines than assignments and
// declarations.
func (e *emitter) sideBySideLines(x, limit string, body *text) *text {
	t := &text{}
	t.add("for %s := 0; %s < %s; %s += %d {", x, x, limit, x, unrolledThreads)
	t.depth++
	own := make([]map[string]string, unrolledThreads-1) // names of the other threads' variables
	for i := range own {
		own[i] = map[string]string{x: e.names.fresh(x)}
		t.add("%s := %s + %d", own[i][x], x, i+1)
	}
	for _, l := range body.lines {
		if l.label != nil || l.depth != body.lines[0].depth || strings.ContainsAny(l.text, "{}\"'`") {
			return nil
		}
		if m := declaration.FindStringSubmatch(l.text); m != nil {
			for i := range own {
				for _, name := range identifiers(m[1] + m[2]) {
					own[i][name] = e.names.fresh(name)
				}
			}
		}
		l.depth += t.depth
		t.lines = append(t.lines, l)
		l.pos = ir.Pos{} // that of the first thread
		text := l.text
		for i := range own {
			l.text = words.ReplaceAllStringFunc(text, func(word string) string {
				if name, ok := own[i][word]; ok {
					return name
				}
				return word
			})
			t.lines = append(t.lines, l)
		}
	}
	t.depth--
	t.add("}")
	return t
}

// declaration matches a line that declares variables.
var declaration = regexp.MustCompile(`^(?:var ([\pL_][\pL\d_]*) |([\pL_][\pL\d_, ]*) := )`)
