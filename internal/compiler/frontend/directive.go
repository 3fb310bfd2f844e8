package frontend

import (
	"go/ast"
	"go/token"
	"regexp"
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

// spaced reports whether a comment is a kernel's directive but for the space
// after its slashes, which makes it an ordinary comment.
func spaced(comment string) bool {
	text := strings.TrimLeft(strings.TrimPrefix(comment, "//"), " ")
	fields := words(text, token.NoPos)
	if !strings.HasPrefix(text, "quern:kernel") || fields[0].text != "quern:kernel" {
		return false
	}
	_, wrong := kernelOptions(fields[1:])
	return len(wrong) == 0
}

// strayDirectives reports comments that were meant as directives and are not:
// those that do not belong to a declaration, and those with a space.
func (l *lowering) strayDirectives(attached map[token.Pos]bool) {
	for _, f := range l.pkg.Files {
		for _, group := range f.Comments {
			for _, c := range group.List {
				switch {
				case attached[c.Pos()]:
				case strings.HasPrefix(c.Text, directivePrefix):
					l.errorAt(c.Pos(), "", "the directive must stand directly above the function, without a blank line")
				case spaced(c.Text):
					l.errorAt(c.Pos(), "", "a directive has no space after the slashes; write //quern:kernel")
				}
			}
		}
	}
}

// mentioned matches the source text of files that may have kernels, also with
// directives that strayDirectives reports.
var mentioned = regexp.MustCompile(`(?m)^// *quern:`)
