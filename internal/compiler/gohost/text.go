package gohost

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"quern.dev/internal/compiler/ir"
)

// text is generated Go, stored as lines.
type text struct {
	lines []line
	depth int
}

// line is one line of Go.
type line struct {
	text  string
	depth int
	pos   ir.Pos // of the statement
	exact bool   // the statement can fail, so its position matters
	label *label // if set, the line is this label
}

// label is a Go label. It is printed only if something refers to it.
type label struct {
	name string
	used bool
}

func (t *text) add(format string, args ...any) {
	t.at(ir.Pos{}, false, format, args...)
}

// at adds a line for the source at pos; exact says that it can fail.
func (t *text) at(pos ir.Pos, exact bool, format string, args ...any) {
	s := format
	if len(args) > 0 {
		s = fmt.Sprintf(format, args...)
	}
	t.lines = append(t.lines, line{text: s, depth: t.depth, pos: pos, exact: exact})
}

func (t *text) label(l *label) {
	t.lines = append(t.lines, line{label: l, depth: t.depth})
}

// splice adds the lines of u, indented to the depth of t.
func (t *text) splice(u *text) {
	for _, l := range u.lines {
		l.depth += t.depth
		t.lines = append(t.lines, l)
	}
}

// joined returns the text with adjacent declarations of variables as one, if their values begin with
// call and depend on none of them.
func (t *text) joined(call string) *text {
	all := &text{depth: t.depth}
	names := map[string]bool{} // of the last declaration, if it is one of these
	for _, l := range t.lines {
		name, value, ok := strings.Cut(l.text, " := ")
		if !ok || l.label != nil || !strings.HasPrefix(value, call) || l.pos.Line != 0 {
			clear(names)
			all.lines = append(all.lines, l)
			continue
		}
		if slices.ContainsFunc(identifiers(value), func(s string) bool { return names[s] }) {
			clear(names)
		}
		if len(names) == 0 {
			all.lines = append(all.lines, l)
		} else {
			last := &all.lines[len(all.lines)-1]
			left, right, _ := strings.Cut(last.text, " := ")
			last.text = left + ", " + name + " := " + right + ", " + value
		}
		names[name] = true
	}
	return all
}

// mentions reports whether a line contains the name.
func (t *text) mentions(name string) bool {
	word := regexp.MustCompile(`\b` + name + `\b`)
	return slices.ContainsFunc(t.lines, func(l line) bool { return word.MatchString(l.text) })
}

// keepUsed puts those of the declarations before the text whose names it mentions.
func (t *text) keepUsed(list [][2]string) {
	all := &text{depth: t.depth}
	for _, d := range list {
		if t.mentions(d[0]) {
			all.add("%s", d[1])
		}
	}
	t.lines = append(all.lines, t.lines...)
}

// dropUnused removes the declarations, one a line, of names that no later line mentions.
func (t *text) dropUnused() {
	used := map[string]bool{}
	kept := t.lines[:0:0]
	for _, l := range slices.Backward(t.lines) {
		if name, _, ok := strings.Cut(l.text, " := "); ok && isIdentifier(name) && !used[name] {
			continue
		}
		for _, name := range words.FindAllString(l.text, -1) {
			used[name] = true // selectors start with a point, and keys end with a colon and a space
		}
		kept = append(kept, l)
	}
	slices.Reverse(kept)
	t.lines = kept
}

var words = regexp.MustCompile(`\.?[\pL_][\pL\d_]*(: )?`)

func isIdentifier(s string) bool {
	list := identifiers(s)
	return len(list) == 1 && list[0] == s
}

// maxDirectives limits the line directives of a function for lines that cannot fail:
// the Go compiler takes time for each directive in each basic block.
const maxDirectives = 1000

// String renders the lines. A line directive precedes each line whose source position
// differs from what the compiler would assume. Lines that cannot fail share the
// directive of the previous line if they are from the same source line.
func (t *text) String() string {
	if s, directives := t.render(false); directives <= maxDirectives {
		return s
	}
	s, _ := t.render(true)
	return s
}

// render renders the lines, with directives for all lines or, if sparse, only for those
// that can fail.
func (t *text) render(sparse bool) (_ string, directives int) {
	var b strings.Builder
	file, next, last := "", 0, 0 // the compiler's position for the next line; the last source line
	for _, l := range t.lines {
		if l.label != nil && !l.label.used {
			continue
		}
		if name := l.pos.File; l.pos.Line != 0 {
			if (name != file || l.pos.Line != next) && (l.exact || !sparse && (name != file || l.pos.Line != last)) {
				directives++
				file, next = name, l.pos.Line
				fmt.Fprintf(&b, "//line %s:%d\n", file, next)
			}
			last = l.pos.Line
		}
		if l.label != nil {
			fmt.Fprintf(&b, "%s%s:\n", strings.Repeat("\t", max(l.depth-1, 0)), l.label.name)
		} else {
			fmt.Fprintf(&b, "%s%s\n", strings.Repeat("\t", l.depth), l.text)
		}
		next++
	}
	return b.String(), directives
}
