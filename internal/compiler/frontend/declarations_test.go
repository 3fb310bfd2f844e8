package frontend

import (
	"go/ast"
	"go/constant"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"strings"
	"sync"
	"testing"
)

func TestDeclarationsAreThoseOfTheStandardLibrary(t *testing.T) {
	for path, text := range declarations {
		fset := token.NewFileSet()
		want, err := importer.ForCompiler(fset, "source", nil).Import(path)
		if err != nil {
			t.Fatal(err)
		}
		f, err := parser.ParseFile(fset, path, text, 0)
		if err != nil {
			t.Fatal(err)
		}
		got, err := new(types.Config).Check(path, fset, []*ast.File{f}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range want.Scope().Names() {
			o := want.Scope().Lookup(name)
			if !o.Exported() {
				continue
			}
			d := got.Scope().Lookup(name)
			if d == nil {
				t.Errorf("%s.%s is missing", path, name)
				continue
			}
			if !types.Identical(d.Type(), o.Type()) {
				t.Errorf("%s.%s has type %v, want %v", path, name, d.Type(), o.Type())
			}
			if c, ok := o.(*types.Const); ok && !constant.Compare(c.Val(), token.EQL, d.(*types.Const).Val()) {
				t.Errorf("%s.%s is %v, want %v", path, name, d.(*types.Const).Val(), c.Val())
			}
		}
		for _, name := range got.Scope().Names() {
			if want.Scope().Lookup(name) == nil {
				t.Errorf("package %s has no %s", path, name)
			}
		}
	}
}

// A machine without Go compiles to the same code, or reports what is missing.
func TestTextWithoutGo(t *testing.T) {
	const head = "package p\n\nimport (\n\t\"math\"\n\n\t\"quern.dev/kernel\"\n)\n\nconst zero = 0 * math.Pi\n\n//quern:kernel\nfunc k(t kernel.Thread, x []float32, y []float64) {\n\ti := t.Global()\n\tif i >= len(x) || i >= len(y) {\n\t\treturn\n\t}\n\t"
	defer func() { texts = sync.OnceValue(newWorld) }()
	for _, c := range []struct{ body, err string }{
		{"x[i] = kernel.Exp(x[i]) + kernel.Tanh(x[i]) + kernel.Pow(x[i], math.Pi)", ""},
		{"x[i] = kernel.Log1p(kernel.Sin(x[i])) + kernel.Cbrt(x[i]) + kernel.Atan2(x[i], 2)", ""},
		{"y[i] = math.Sqrt(math.Abs(y[i])) + math.MaxFloat64*math.Float64frombits(3)", ""},
		{"y[i] = kernel.Exp(math.Sin(y[i]))", "math.Sin: the Go standard library's source was not found"},
	} {
		lower := func() (string, error) {
			texts = sync.OnceValue(newWorld)
			p, err := Text(t.Context(), "p.go", head+c.body+"\n}\n")
			if err != nil {
				return "", err
			}
			prog, err := p.Lower()
			if err != nil {
				return "", err
			}
			return prog.Kernels[0].String(), nil
		}
		want, err := lower()
		if err != nil {
			t.Fatal(err)
		}
		t.Setenv("GOROOT", t.TempDir())
		got, err := lower()
		os.Unsetenv("GOROOT")
		switch {
		case c.err == "" && err != nil, c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)):
			t.Errorf("%s: error %v, want %q", c.body, err, c.err)
		case err == nil && got != want:
			t.Errorf("%s: compiles to another kernel without Go", c.body)
		}
	}
}
