package frontend

import (
	"fmt"
	"go/ast"
	"go/token"
	"regexp"
	"strconv"
	"strings"

	"quern.dev/internal/compiler/ir"
)

const directivePrefix = "//quern:"

// directive is one //quern: comment above a declaration.
type directive struct {
	pos  token.Pos
	verb string
	args []string
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
		fields := strings.Fields(text)
		d := directive{pos: c.Pos()}
		if len(fields) > 0 {
			d.verb, d.args = fields[0], fields[1:]
		}
		list = append(list, d)
	}
	return list
}

// spaced reports whether a comment is a kernel's directive but for the space
// after its slashes, which makes it an ordinary comment.
func spaced(comment string) bool {
	text := strings.TrimLeft(strings.TrimPrefix(comment, "//"), " ")
	fields := strings.Fields(text)
	if !strings.HasPrefix(text, "quern:kernel") || fields[0] != "quern:kernel" {
		return false
	}
	_, err := kernelOptions(fields[1:])
	return err == nil
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

// maxBlock is the largest number of threads in a block, on every device.
const maxBlock = 1024

// kernelOptions reads the words after //quern:kernel.
func kernelOptions(args []string) (ir.Options, error) {
	var o ir.Options
	for _, arg := range args {
		name, value, hasValue := strings.Cut(arg, "=")
		switch {
		case name == "unchecked" && !hasValue:
			o.Unchecked = true
		case name == "fastmath" && !hasValue:
			o.FastMath = true
		case name == "block" && hasValue:
			block, err := parseBlock(value)
			if err != nil {
				return o, err
			}
			o.Block = block
		default:
			return o, fmt.Errorf("unknown kernel option %q; the options are unchecked, fastmath and block=X[xY[xZ]]", arg)
		}
	}
	return o, nil
}

func parseBlock(s string) ([3]int, error) {
	block := [3]int{1, 1, 1}
	parts := strings.Split(s, "x")
	if len(parts) > 3 {
		return block, fmt.Errorf("block=%s has more than three dimensions", s)
	}
	count := 1
	for i, part := range parts {
		n, err := strconv.Atoi(part)
		if err != nil || n < 1 {
			return block, fmt.Errorf("block=%s: %q is not a positive number", s, part)
		}
		if n > maxBlock {
			return block, fmt.Errorf("block=%s: a block has at most %d threads", s, maxBlock)
		}
		block[i] = n
		count *= n
	}
	if count > maxBlock {
		return block, fmt.Errorf("block=%s is %d threads; a block has at most %d", s, count, maxBlock)
	}
	if block[2] > 64 {
		return block, fmt.Errorf("block=%s: the third dimension is at most 64", s)
	}
	return block, nil
}
