package frontend_test

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"quern.dev/internal/compiler"
	"quern.dev/internal/compiler/frontend"
	"quern.dev/internal/compiler/ir"
	"quern.dev/internal/compiler/opt"
	"quern.dev/internal/testmodule"
)

// FuzzText passes arbitrary source text to the compiler. It must not panic, the front
// end's output must be valid, and errors of later stages must be errors of the kernel,
// not of the compiler.
func FuzzText(f *testing.F) {
	testmodule.NeedSource(f)
	for _, src := range sources(f) {
		f.Add(src)
	}
	f.Fuzz(compileAny)
}

// FuzzMutation does the same with kernels in which some expressions and statements were
// replaced.
func FuzzMutation(f *testing.F) {
	testmodule.NeedSource(f)
	c := newCorpus(f)
	for seed := range uint64(100) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) { compileAny(t, c.mutate(seed)) })
}

func init() { opt.VerifyPasses = true }

func compileAny(t *testing.T, src string) {
	defer func() {
		if r := recover(); r != nil {
			t.Errorf("panic: %v\n%s", r, debug.Stack())
		}
		if t.Failed() {
			t.Logf("in\n%s", src)
		}
	}()
	p, err := frontend.Text(t.Context(), "fuzz.go", src)
	if err != nil {
		return
	}
	prog, err := p.Lower()
	if err != nil {
		if diags := (frontend.Diagnostics)(nil); !errors.As(err, &diags) {
			t.Errorf("Lower: %v", err)
		}
		return
	}
	for _, k := range prog.Kernels {
		if err := ir.Verify(k, ir.StageFront); err != nil {
			t.Errorf("%v\n%v", err, k)
		}
		if _, err := compiler.Compile(t.Context(), k); err != nil && !errors.As(err, new(opt.Errors)) {
			t.Error(err)
		}
	}
}

// sources returns the source texts of the kernels of this package's tests and the
// conformance tests.
func sources(t testing.TB) []string {
	t.Helper()
	var out []string
	for _, pattern := range []string{"testdata/*/*.go", "../../conformance/*.go", "../../conformance/generic/*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("no seeds in %s: %v", pattern, err)
		}
		for _, file := range files {
			if filepath.Base(file) == frontend.GeneratedFile || strings.HasSuffix(file, "_test.go") {
				continue
			}
			src, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, string(src))
		}
	}
	return out
}

// corpus holds source texts with the expressions and statements in them.
type corpus struct {
	files, exprs, stmts []string
}

func newCorpus(t testing.TB) *corpus {
	c := &corpus{}
	for _, src := range sources(t) {
		exprs, stmts, err := nodes(src)
		if err != nil {
			t.Fatal(err)
		}
		c.files = append(c.files, src)
		for _, s := range exprs {
			c.exprs = append(c.exprs, src[s.lo:s.hi])
		}
		for _, s := range stmts {
			c.stmts = append(c.stmts, src[s.lo:s.hi])
		}
	}
	return c
}

// span is a part of a text.
type span struct{ lo, hi int }

// nodes finds the expressions and statements in function bodies.
func nodes(src string) (exprs, stmts []span, err error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", src, parser.SkipObjectResolution)
	if err != nil {
		return nil, nil, err
	}
	for _, d := range file.Decls {
		fd, ok := d.(*ast.FuncDecl)
		if !ok || fd.Body == nil {
			continue
		}
		ast.Inspect(fd.Body, func(n ast.Node) bool {
			if n == nil || n == ast.Node(fd.Body) {
				return true
			}
			s := span{fset.Position(n.Pos()).Offset, fset.Position(n.End()).Offset}
			switch n.(type) {
			case ast.Expr:
				exprs = append(exprs, s)
			case ast.Stmt:
				stmts = append(stmts, s)
			}
			return true
		})
	}
	return exprs, stmts, nil
}

// mutate replaces up to four parts of a file.
func (c *corpus) mutate(seed uint64) string {
	r := rand.New(rand.NewPCG(seed, 1))
	src := c.files[r.IntN(len(c.files))]
	for range 1 + r.IntN(4) {
		exprs, stmts, err := nodes(src)
		if err != nil || len(exprs) == 0 || len(stmts) == 0 {
			return src
		}
		at, by := exprs[r.IntN(len(exprs))], c.exprs[r.IntN(len(c.exprs))]
		if r.IntN(4) == 0 {
			at, by = stmts[r.IntN(len(stmts))], c.stmts[r.IntN(len(c.stmts))]
		}
		src = src[:at.lo] + by + src[at.hi:]
	}
	return src
}
