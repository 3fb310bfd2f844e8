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

// word is a space-separated part of a directive.
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

// directives returns the directives in a declaration's doc comment.
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

// misspelt says what is wrong with a comment that was meant as a directive but is an
// ordinary comment because of its spelling; "" for others.
func misspelt(comment string) string {
	text, block := strings.CutPrefix(comment, "/*")
	if block {
		text = strings.TrimRight(strings.TrimSuffix(text, "*/"), " ")
	} else {
		text = strings.TrimPrefix(text, "//")
	}
	spaced := strings.HasPrefix(text, " ")
	text = strings.TrimLeft(text, " ")
	prefix, verbs := directivePrefix[2:], ""
	if len(text) < len(prefix) || !strings.EqualFold(text[:len(prefix)], prefix) {
		return ""
	}
	verbs = text[len(prefix):]
	fields := words(verbs, token.NoPos)
	if len(fields) == 0 || !strings.HasPrefix(verbs, fields[0].text) {
		return ""
	}
	verb := strings.ToLower(fields[0].text)
	if !acceptable(verb, fields[1:]) {
		return ""
	}
	write := "; write " + directivePrefix + verb
	switch {
	case block:
		return "a directive is a comment with two slashes" + write
	case spaced:
		return "a directive has no space after the slashes" + write
	case text[:len(prefix)] != prefix || verb != fields[0].text:
		return "a directive is in lower case" + write
	}
	return ""
}

// acceptable reports whether a directive with these words is valid.
func acceptable(verb string, args []word) bool {
	switch {
	case verb == "kernel" || verb == actorVerb:
		_, wrong := kernelOptions(args, verb)
		return len(wrong) == 0
	case isHint(verb):
		_, wrong := parseHint(directive{verb: verb, args: args})
		return wrong == ""
	case verb == uncheckedVerb:
		return len(args) == 0
	}
	return verb == assemblyVerb || verb == operatorVerb || verb == templateVerb
}

// strayDirectives reports comments that were meant as directives but are not: those
// that do not belong to a declaration, and misspelt ones.
func (l *lowering) strayDirectives(attached map[token.Pos]bool) {
	hints := l.checkHints()
	for _, f := range l.pkg.Files {
		for _, group := range f.Comments {
			l.pkg.poll()
			for _, c := range group.List {
				switch {
				case attached[c.Pos()] || hints[c.Pos()]:
				case strayHint(c.Text) != "":
					l.errorAt(c.Pos(), "", "%s", strayHint(c.Text))
				case strings.HasPrefix(c.Text, directivePrefix) && insideFunction(f, c.Pos()) && unknownInside(c.Text) != "":
					l.errorAt(c.Pos(), "", "%s", unknownInside(c.Text))
				case strings.HasPrefix(c.Text, directivePrefix) && insideFunction(f, c.Pos()):
					l.errorAt(c.Pos(), "", "the directive is inside a function, where it has no effect; put it directly above the function")
				case strings.HasPrefix(c.Text, directivePrefix):
					l.errorAt(c.Pos(), "", "the directive must be directly above the function, without a blank line")
				case misspelt(c.Text) != "":
					l.errorAt(c.Pos(), "", "%s", misspelt(c.Text))
				}
			}
		}
	}
}

// verbs are the first words of all directives.
var verbs = []string{"kernel", actorVerb, uncheckedVerb, assemblyVerb, operatorVerb, templateVerb, unrollVerb, noUnrollVerb}

// similarVerb returns the verb that an unknown one resembles, or "".
func similarVerb(unknown string) string {
	best, least := "", max(1, len(unknown)/3)+1
	for _, verb := range verbs {
		if d := edits(strings.ToLower(unknown), verb); d < least {
			best, least = verb, d
		}
	}
	return best
}

// unknownInside returns the error for a directive inside a function that was meant as a loop
// hint, or as none of the directives; "" for others.
func unknownInside(comment string) string {
	verb := ""
	if fields := words(strings.TrimPrefix(comment, directivePrefix), token.NoPos); len(fields) > 0 {
		verb = fields[0].text
	}
	write := "; those inside a function are " + directivePrefix + unrollVerb + " and " + directivePrefix + noUnrollVerb
	switch similar := similarVerb(verb); {
	case slices.Contains(verbs, verb), similar != "" && !isHint(similar):
		return ""
	case similar != "":
		write = "; did you mean " + directivePrefix + similar + "?"
	}
	return "unknown directive " + directivePrefix + verb + write
}

// insideFunction reports whether a position is on or after the first line of a function
// of a file.
func insideFunction(f *ast.File, pos token.Pos) bool {
	return slices.ContainsFunc(f.Decls, func(d ast.Decl) bool {
		fd, ok := d.(*ast.FuncDecl)
		return ok && fd.Type.Pos() < pos && pos < fd.End()
	})
}

// mentioned matches source files that may contain kernels, including directives that
// strayDirectives reports.
var mentioned = regexp.MustCompile(`(?im)(^|[{};)])[ \t]*(//|/\*) *quern:`)

// uncheckedVerb is the directive of functions whose own GPU code does not check
// indices. Functions that they call still do.
const uncheckedVerb = "unchecked"

func isUnchecked(fd *ast.FuncDecl) bool {
	return slices.ContainsFunc(directives(fd.Doc), func(d directive) bool { return d.verb == uncheckedVerb })
}
