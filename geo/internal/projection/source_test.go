package projection

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"strings"
	"testing"
)

// A product that is not rounded explicitly may be fused with a sum it becomes part of, on some devices and
// processors but not on others.
func TestEveryProductIsRounded(t *testing.T) {
	fset := token.NewFileSet()
	names, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	var files []*ast.File
	for _, n := range names {
		if name := n.Name(); strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") {
			f, err := parser.ParseFile(fset, name, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, f)
		}
	}
	info := types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	config := types.Config{Importer: importer.ForCompiler(fset, "source", nil)}
	if _, err := config.Check("projection", fset, files, &info); err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		var parents []ast.Node
		ast.Inspect(f, func(n ast.Node) bool {
			if n == nil {
				parents = parents[:len(parents)-1]
				return true
			}
			parents = append(parents, n)
			if unrounded(info, n) && !rounded(info, parents[:len(parents)-1]) {
				t.Errorf("%s: the product is not rounded by a conversion", fset.Position(n.Pos()))
			}
			return true
		})
	}
}

// unrounded reports whether n is a product of numbers that are not constants or powers of two.
func unrounded(info types.Info, n ast.Node) bool {
	if a, ok := n.(*ast.AssignStmt); ok {
		return a.Tok == token.MUL_ASSIGN && isFloat(info, a.Lhs[0])
	}
	b, ok := n.(*ast.BinaryExpr)
	if !ok || b.Op != token.MUL || !isFloat(info, b) || info.Types[b].Value != nil {
		return false
	}
	x := info.Types[b.X].Value
	return x == nil || x.String() != "2" && x.String() != "0.5" && x.String() != "4"
}

func isFloat(info types.Info, e ast.Expr) bool {
	b, ok := info.TypeOf(e).Underlying().(*types.Basic)
	return ok && b.Info()&types.IsFloat != 0
}

// rounded reports whether the use of a product rounds it: a conversion, another product, a quotient, or an
// argument of a function that does not begin with a sum.
func rounded(info types.Info, parents []ast.Node) bool {
	for i := len(parents) - 1; i >= 0; i-- {
		switch p := parents[i].(type) {
		case *ast.ParenExpr, *ast.UnaryExpr:
			continue
		case *ast.BinaryExpr:
			return p.Op == token.MUL || p.Op == token.QUO
		case *ast.CallExpr:
			if f, ok := p.Fun.(*ast.Ident); ok {
				return f.Name == "float64" || f.Name == "fma" || f.Name == "sincos" || f.Name == "exp" || f.Name == "log" || f.Name == "sin"
			}
			f, ok := p.Fun.(*ast.SelectorExpr)
			return ok && strings.HasPrefix(types.ExprString(f), "math.")
		default:
			return false
		}
	}
	return false
}
