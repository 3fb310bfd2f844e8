package frontend

import (
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strings"
)

const directivePrefix = "//quern:"

// directive is one //quern: comment above a declaration.
type directive struct {
	pos  token.Pos
	verb string
	args []word
}

// word is a part of a directive between spaces.
type word struct {
	text string
	pos  token.Pos
}

// words splits a text that starts at pos.
func words(text string, pos token.Pos) []word {
	var list []word
	at := 0
	for field := range strings.FieldsSeq(text) {
		at += strings.Index(text[at:], field)
		list = append(list, word{field, pos + token.Pos(at)})
		at += len(field)
	}
	return list
}

// directives returns those of a declaration's doc comment.
func directives(doc *ast.CommentGroup) []directive {
	if doc == nil {
		return nil
	}
	var list []directive
	for _, c := range doc.List {
		text, ok := strings.CutPrefix(c.Text, directivePrefix)
		if !ok {
			continue
		}
		fields := words(text, c.Pos()+token.Pos(len(directivePrefix)))
		d := directive{pos: c.Pos()}
		if len(fields) > 0 {
			d.verb, d.args = fields[0].text, fields[1:]
		}
		list = append(list, d)
	}
	return list
}

// spaced returns the verb of a comment that is a kernel's directive or a loop hint
// but for the space after its slashes, which makes it an ordinary comment; "" for
// others.
func spaced(comment string) string {
	text := strings.TrimLeft(strings.TrimPrefix(comment, "//"), " ")
	text, ok := strings.CutPrefix(text, "quern:")
	fields := words(text, token.NoPos)
	if !ok || len(fields) == 0 || !strings.HasPrefix(text, fields[0].text) {
		return ""
	}
	verb := fields[0].text
	switch {
	case verb == "kernel":
		if _, wrong := kernelOptions(fields[1:], verb); len(wrong) > 0 {
			return ""
		}
	case isHint(verb):
		if _, wrong := parseHint(directive{verb: verb, args: fields[1:]}); wrong != "" {
			return ""
		}
	default:
		return ""
	}
	return verb
}

// strayDirectives reports comments that were meant as directives and are not:
// those that do not belong to a declaration, and those with a space.
func (l *lowering) strayDirectives(attached map[token.Pos]bool) {
	hints := l.checkHints()
	for _, f := range l.pkg.Files {
		for _, group := range f.Comments {
			for _, c := range group.List {
				switch {
				case attached[c.Pos()] || hints[c.Pos()]:
				case strayHint(c.Text) != "":
					l.errorAt(c.Pos(), "", "%s", strayHint(c.Text))
				case strings.HasPrefix(c.Text, directivePrefix):
					l.errorAt(c.Pos(), "", "the directive must stand directly above the function, without a blank line")
				case spaced(c.Text) != "":
					l.errorAt(c.Pos(), "", "a directive has no space after the slashes; write //quern:%s", spaced(c.Text))
				}
			}
		}
	}
}

// mentioned matches the source text of files that may have kernels, also with
// directives that strayDirectives reports.
var mentioned = regexp.MustCompile(`(?m)^// *quern:`)

// uncheckedVerb is the directive of functions whose own code, as it is on GPUs,
// does not check indices. That of functions which they call does.
const uncheckedVerb = "unchecked"

func isUnchecked(fd *ast.FuncDecl) bool {
	return slices.ContainsFunc(directives(fd.Doc), func(d directive) bool { return d.verb == uncheckedVerb })
}
