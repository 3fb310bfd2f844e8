package frontend

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quern.dev/internal/compiler/ir"
	"quern.dev/internal/testmodule"
)

var update = flag.Bool("update", false, "rewrite golden files")

// lower type-checks and lowers a file of source text.
func lower(t testing.TB, name, src string) (*Package, *ir.Program) {
	t.Helper()
	p, err := Text(t.Context(), name, src)
	if err != nil {
		t.Fatal(err)
	}
	prog, err := p.Lower()
	if err != nil {
		t.Fatal(err)
	}
	return p, prog
}

// The comment of each kernel in testdata/lower says what its representation, in the
// golden file beside it, shows.
func TestLower(t *testing.T) {
	testmodule.NeedSource(t)
	files, err := filepath.Glob("testdata/lower/*.go")
	if err != nil || len(files) == 0 {
		t.Fatal("no test files", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".go"), func(t *testing.T) {
			src, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			p, prog := lower(t, filepath.Base(file), string(src))
			golden := strings.TrimSuffix(file, ".go") + ".golden"
			want := readSections(t, golden)
			var all strings.Builder
			for _, k := range prog.Kernels {
				sentence := sentenceOf(p, k.Name)
				got := describe(k)
				fmt.Fprintf(&all, "=== %s\n%s", sentence, got)
				t.Run(sentence, func(t *testing.T) {
					if err := ir.Verify(k, ir.StageFront); err != nil {
						t.Error(err)
					}
					if *update {
						return
					}
					if diff := cmp.Diff(want[sentence], got); diff != "" {
						t.Errorf("-want +got:\n%s", diff)
					}
				})
			}
			if len(want) != len(prog.Kernels) && !*update {
				t.Errorf("%s has %d kernels; the source has %d", golden, len(want), len(prog.Kernels))
			}
			if *update {
				if err := os.WriteFile(golden, []byte(all.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// readSections reads a golden file. With -update, it may be missing.
func readSections(t *testing.T, name string) map[string]string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil && !*update {
		t.Fatal(err)
	}
	sections := map[string]string{}
	for _, s := range strings.Split(string(text), "=== ")[1:] {
		sentence, body, _ := strings.Cut(s, "\n")
		sections[sentence] = body
	}
	return sections
}

// sentenceOf returns the first line of a kernel's comment.
func sentenceOf(p *Package, kernel string) string {
	p.index()
	line, _, _ := strings.Cut(p.funcs[kernel].Doc.Text(), "\n")
	return strings.TrimSuffix(line, ".")
}

// describe prints a kernel and the functions of the test's package that it calls.
func describe(k *ir.Kernel) string {
	var b strings.Builder
	b.WriteString(k.String())
	seen := map[*ir.Func]bool{k.Func: true}
	var calls func(f *ir.Func)
	calls = func(f *ir.Func) {
		v := &ir.Visitor{Stmt: func(s ir.Stmt) bool {
			c, ok := s.(*ir.Call)
			if !ok || seen[c.Func] || c.Func.Go.Package != "main" {
				return true
			}
			seen[c.Func] = true
			b.WriteString(c.Func.String())
			calls(c.Func)
			return true
		}}
		v.Body(f.Body)
	}
	calls(k.Func)
	return b.String()
}

// A comment at the end of a line of this source lists what may fail on the line: kind
// and column.
// fail: kind and column.
const failing = `package p

import "quern.dev/kernel"

type row struct{ V [4]int32 }

//quern:kernel
func positions(t kernel.Thread, n int, x, y []int32, rows []row) {
	x[n] = y[n+1] // index 2, index 9
	x[0] = x[1] / // divide 14, index 2, index 9
		y[2] // index 3
	n = n / len(x)       // divide 8
	x[3] <<= n           // index 2, index 2, shift 2
	rows[n].V[n&3] = 1   // index 2, index 2
	s := x[1:n]          // slice 7
	for i := range s {
		s[i]++       // index 3, index 3
	}
	if n > 0 && x[n] > 0 { // index 14
		helper(x, n)
	}
}

func helper(x []int32, n int) {
	x[n] = 0     // index 2
	if n == 3 {
		panic("three") // panic 3
	}
}
`

// failures collects, by line, what may fail in a function and its callees.
func failures(f *ir.Func) map[int][]string {
	found := map[int][]string{}
	add := func(kind string, check bool, pos ir.Pos) bool {
		if check {
			found[pos.Line] = append(found[pos.Line], fmt.Sprintf("%s %d", kind, pos.Col))
		}
		return true
	}
	seen := map[*ir.Func]bool{}
	v := &ir.Visitor{}
	v.Place = func(p ir.Place) bool {
		switch p := p.(type) {
		case *ir.IndexPlace:
			return add("index", p.Check, p.Pos)
		case *ir.ElemPlace:
			return add("index", p.Check, p.Pos)
		}
		return true
	}
	v.Expr = func(e ir.Expr) bool {
		switch e := e.(type) {
		case *ir.SliceExpr:
			return add("slice", e.Check, e.Pos)
		case *ir.Binary:
			if e.Op.IsShift() {
				return add("shift", e.Check, e.Pos)
			}
			return add("divide", e.Check, e.Pos)
		}
		return true
	}
	v.Stmt = func(s ir.Stmt) bool {
		switch s := s.(type) {
		case *ir.Panic:
			add("panic", true, s.Pos)
		case *ir.Call:
			if !seen[s.Func] {
				seen[s.Func] = true
				v.Body(s.Func.Body)
			}
		}
		return true
	}
	v.Body(f.Body)
	return found
}

func TestCheckedOperationsHaveTheirPosition(t *testing.T) {
	_, prog := lower(t, "failing.go", failing)
	got := failures(prog.Kernels[0].Func)
	for i, line := range strings.Split(failing, "\n") {
		_, comment, _ := strings.Cut(line, "// ")
		var want []string
		if comment != "" {
			want = strings.Split(comment, ", ")
		}
		for _, list := range [][]string{want, got[i+1]} {
			slices.Sort(list)
		}
		if diff := cmp.Diff(want, got[i+1]); diff != "" {
			t.Errorf("line %d: %s\n-want +got:\n%s", i+1, strings.TrimSpace(line), diff)
		}
	}
}
