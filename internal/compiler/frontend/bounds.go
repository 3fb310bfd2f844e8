package frontend

import (
	"fmt"
	"go/ast"
	"go/token"
)

// maxParts bounds the fields that a type has, with those of the types of its
// fields: the type checker looks at every one, and each line of a text can double
// them.
const maxParts = 1 << 16

// maxDepth bounds how deep the syntax of a text is nested: a sum of n terms has a
// depth of n. The ifs of a chain of else-ifs are as deep as its first.
const maxDepth = 4096

// checkText reports what would take long to type-check: a text may come from
// anybody.
func checkText(fset *token.FileSet, f *ast.File) error {
	var above []ast.Node
	elses := 0 // of those above, the ifs in the else of another
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
			return fmt.Errorf("%s: type %s is too large: it has more than %d fields, with those of its fields' types", fset.Position(t.Pos()), name, maxParts)
		}
	}
	return nil
}

type partCounter struct {
	types map[string]*ast.TypeSpec
	parts map[string]int // 0 while it is counted: the type checker reports types that contain themselves
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

// of counts the parts of a type, at most one more than maxParts.
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
