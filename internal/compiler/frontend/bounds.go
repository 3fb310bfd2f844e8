package frontend

import (
	"fmt"
	"go/ast"
	"go/token"
)

// maxDepth is the maximum nesting depth of a source's syntax: a sum of n terms has
// depth n. In a chain of else-ifs, all ifs have the depth of the first.
const maxDepth = 4096

// checkText reports source that would take long to type-check: the text may be
// untrusted.
func checkText(fset *token.FileSet, f *ast.File) error {
	var above []ast.Node
	elses := 0 // ancestors that are ifs in the else of another if
	isElse := func(n ast.Node) bool {
		_, ok := n.(*ast.IfStmt)
		if !ok || len(above) == 0 {
			return false
		}
		in, ok := above[len(above)-1].(*ast.IfStmt)
		return ok && in.Else == n
	}
	var deepest token.Pos
	ast.Inspect(f, func(n ast.Node) bool {
		if n == nil {
			n, above = above[len(above)-1], above[:len(above)-1]
			if isElse(n) {
				elses--
			}
			return false
		}
		if isElse(n) {
			elses++
		}
		if above = append(above, n); len(above)-elses > maxDepth && deepest == 0 {
			deepest = n.Pos()
		}
		return true
	})
	if deepest != 0 {
		return Diagnostics{{Pos: fset.Position(deepest), Msg: fmt.Sprintf("the text is nested deeper than %d levels; use variables for parts of the expression, or a loop", maxDepth)}}
	}
	return nil
}
