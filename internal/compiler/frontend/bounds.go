package frontend

import (
	"fmt"
	"go/ast"
	"go/token"
)

// maxParts is the maximum number of fields of a type, including those of the types of
// its fields. The type checker visits each of them, and each line of source can double
// them.
const maxParts = 1 << 16

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
		return fmt.Errorf("%s: the text is nested deeper than %d levels; use variables for parts of the expression, or a loop", fset.Position(deepest), maxDepth)
	}
	return checkParts(fset, f)
}

// checkParts reports types with too many parts.
func checkParts(fset *token.FileSet, f *ast.File) error {
	c := partCounter{types: map[string]*ast.TypeSpec{}, parts: map[string]int{}}
	for _, d := range f.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.TYPE {
			continue
		}
		for _, s := range g.Specs {
			t := s.(*ast.TypeSpec)
			c.types[t.Name.Name] = t
		}
	}
	for name, t := range c.types {
		if c.named(name) > maxParts {
			return fmt.Errorf("%s: type %s is too large: it has more than %d fields, including those of its fields' types", fset.Position(t.Pos()), name, maxParts)
		}
	}
	return nil
}

type partCounter struct {
	types map[string]*ast.TypeSpec
	parts map[string]int // 0 while being counted: the type checker reports types that contain themselves
}

func (c *partCounter) named(name string) int {
	t := c.types[name]
	if t == nil {
		return 1
	}
	if n, ok := c.parts[name]; ok {
		return n
	}
	c.parts[name] = 0
	n := c.of(t.Type)
	c.parts[name] = n
	return n
}

// of counts the parts of a type, up to maxParts + 1.
func (c *partCounter) of(e ast.Expr) int {
	n := 0
	ast.Inspect(e, func(e ast.Node) bool {
		switch e := e.(type) {
		case *ast.Field:
			n += max(1, len(e.Names)) * (1 + c.of(e.Type))
		case *ast.Ident:
			n += c.named(e.Name)
		default:
			return n <= maxParts
		}
		return false
	})
	return min(n, maxParts+1)
}
