package devicemath

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"maps"
	"os"
	"slices"
	"testing"

	"quern.dev/internal/testmodule"
)

// source parses the embedded files.
func source(t *testing.T) map[string]*ast.File {
	t.Helper()
	files := map[string]*ast.File{}
	entries, err := fs.ReadDir(Source, ".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		text, err := fs.ReadFile(Source, e.Name())
		if err != nil {
			t.Fatal(err)
		}
		f, err := parser.ParseFile(token.NewFileSet(), e.Name(), text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files[e.Name()] = f
	}
	return files
}

func functions(files map[string]*ast.File) map[string]*ast.FuncDecl {
	list := map[string]*ast.FuncDecl{}
	for _, f := range files {
		for _, d := range f.Decls {
			if fd, ok := d.(*ast.FuncDecl); ok {
				list[fd.Name.Name] = fd
			}
		}
	}
	return list
}

func TestSourceIsComplete(t *testing.T) {
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	var missing []string
	embedded := source(t)
	for _, e := range entries {
		name := e.Name()
		isSource := !e.IsDir() && len(name) > 3 && name[len(name)-3:] == ".go"
		isTest := len(name) > 8 && name[len(name)-8:] == "_test.go"
		if isSource && !isTest && name != "source.go" && name != "table.go" && embedded[name] == nil {
			missing = append(missing, name)
		}
	}
	if missing != nil {
		t.Errorf("%v are not embedded", missing)
	}
}

// TestTheTablesNameFunctions checks both sides: the functions in the tables exist here,
// and in package kernel with the same number of arguments.
func TestTheTablesNameFunctions(t *testing.T) {
	testmodule.NeedSource(t)
	const kernelMath = "../../../kernel/math.go"
	k, err := parser.ParseFile(token.NewFileSet(), kernelMath, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	public, here := functions(map[string]*ast.File{kernelMath: k}), functions(source(t))
	for _, table := range []map[string]string{Functions, Fast} {
		for _, name := range slices.Sorted(maps.Keys(table)) {
			f, g := public[name], here[table[name]]
			if f == nil || g == nil {
				t.Errorf("%s is implemented by %s, but one of them does not exist", name, table[name])
				continue
			}
			if f.Type.Params.NumFields() != g.Type.Params.NumFields() {
				t.Errorf("%s takes other arguments than %s", table[name], name)
			}
			for _, p := range append(g.Type.Params.List, g.Type.Results.List...) {
				if types.ExprString(p.Type) != "float32" {
					t.Errorf("%s has a parameter or result of type %s", table[name], types.ExprString(p.Type))
				}
			}
		}
	}
}

// TestSourceStaysInTheLanguage checks that a device can run the code: except in the
// primitives, it uses no packages beyond conversions to and from bits, and there are no
// package-level variables.
func TestSourceStaysInTheLanguage(t *testing.T) {
	for name, f := range source(t) {
		if name == "prim.go" {
			continue
		}
		for _, d := range f.Decls {
			if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.VAR {
				t.Errorf("%s declares variables", name)
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				if s := types.ExprString(n); s != "math.Float32bits" && s != "math.Float32frombits" {
					t.Errorf("%s uses %s", name, s)
				}
			case *ast.Ident:
				if n.Name == "float64" {
					t.Errorf("%s uses float64", name)
				}
			}
			return true
		})
	}
}
