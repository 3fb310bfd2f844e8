package frontend

import (
	"go/ast"
	"go/token"
	"strconv"
	"strings"

	"quern.dev/internal/compiler/ir"
)

// A loop hint is a comment on the line before a loop:
//
//	//quern:unroll      one copy of the body for each iteration
//	//quern:unroll 4    four copies
//	//quern:nounroll    the body as it is

// maxUnroll is the maximum number of copies in a hint.
const maxUnroll = 64

// Verbs of loop hints.
const (
	unrollVerb   = "unroll"
	noUnrollVerb = "nounroll"
)

// isHint reports whether a directive is a loop hint.
func isHint(verb string) bool { return verb == unrollVerb || verb == noUnrollVerb }

// parseHint parses a hint; wrong describes an error.
func parseHint(d directive) (hint ir.Unroll, wrong string) {
	if d.verb == noUnrollVerb {
		if len(d.args) > 0 {
			return 0, "nounroll has no argument; for a number of copies write //quern:unroll N"
		}
		return ir.NoUnroll, ""
	}
	if len(d.args) == 0 {
		return ir.UnrollAll, ""
	}
	n, err := strconv.Atoi(d.args[0].text)
	if len(d.args) > 1 || err != nil || n < 1 || n > maxUnroll {
		return 0, "unroll takes one number of copies from 1 to " + strconv.Itoa(maxUnroll) + ", or nothing for one copy per iteration"
	}
	return ir.Unroll(n), ""
}

// loopHints finds the hints of a package's loops: comments alone on the line before the
// loop or its label. It returns the hints by loop, and which comments are hints.
func (p *Package) loopHints() (map[ast.Stmt]directive, map[token.Pos]bool) {
	if p.hints != nil {
		return p.hints, p.hinting
	}
	p.hints, p.hinting = map[ast.Stmt]directive{}, map[token.Pos]bool{}
	for _, f := range p.Files {
		p.hintsOf(f)
	}
	return p.hints, p.hinting
}

func (p *Package) hintsOf(f *ast.File) {
	line := func(pos token.Pos) int { return p.world.Fset.Position(pos).Line }
	byLine := map[int]directive{}
	for _, group := range f.Comments {
		for _, d := range directives(group) {
			if isHint(d.verb) {
				byLine[line(d.pos)] = d
			}
		}
	}
	if len(byLine) == 0 {
		return
	}
	// A comment after code belongs to that code.
	ast.Inspect(f, func(n ast.Node) bool {
		if n == nil {
			return false
		}
		at := []token.Pos{n.Pos(), n.End()}
		if b, ok := n.(*ast.BlockStmt); ok {
			at = append(at, b.Lbrace)
		}
		switch n.(type) {
		case ast.Stmt, ast.Decl:
			for _, pos := range at {
				if d, ok := byLine[line(pos)]; ok && pos <= d.pos {
					delete(byLine, line(pos))
				}
			}
		}
		return true
	})
	attach := func(s ast.Stmt, first token.Pos) {
		d, ok := byLine[line(first)-1]
		if ok && !p.hinting[d.pos] {
			p.hints[s] = d
			p.hinting[d.pos] = true
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.LabeledStmt:
			switch n.Stmt.(type) {
			case *ast.ForStmt, *ast.RangeStmt:
				attach(n.Stmt, n.Pos())
			}
		case *ast.ForStmt, *ast.RangeStmt:
			attach(n.(ast.Stmt), n.Pos())
		}
		return true
	})
}

// hintOf returns the hint of a loop.
func (fn *function) hintOf(s ast.Stmt) ir.Unroll {
	hints, _ := fn.src.loopHints()
	d, ok := hints[s]
	if !ok {
		return ir.UnrollAsWorthwhile
	}
	hint, _ := parseHint(d)
	return hint
}

// checkHints reports invalid hints and returns the positions of hints that belong to a
// loop.
func (l *lowering) checkHints() map[token.Pos]bool {
	hints, attached := l.pkg.loopHints()
	for _, d := range hints {
		if _, wrong := parseHint(d); wrong != "" {
			l.errorAt(d.pos, "", "%s", wrong)
		}
	}
	return attached
}

// strayHint returns the error for a hint that belongs to no loop.
func strayHint(comment string) string {
	verb, _, _ := strings.Cut(strings.TrimPrefix(comment, directivePrefix), " ")
	if !isHint(verb) {
		return ""
	}
	return directivePrefix + verb + " must stand alone on the line before a for statement"
}
