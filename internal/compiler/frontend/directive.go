package frontend

import (
	"fmt"
	"go/ast"
	"go/token"
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
