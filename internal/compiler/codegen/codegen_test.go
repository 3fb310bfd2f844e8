package codegen

import (
	"flag"
	"fmt"
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"quern.dev/internal/compiler"
	"quern.dev/internal/compiler/frontend"
	"quern.dev/internal/testmodule"
)

var update = flag.Bool("update", false, "rewrite golden files")

// source is a file of kernels with expectations.
type source struct {
	name    string
	lines   []string
	kernels []kernelSource
}

// kernelSource is a compiled kernel and the lines of its declaration.
type kernelSource struct {
	*compiler.Kernel
	doc         []string
	first, last int
}

// sources compiles testdata/*.go.
func sources(t testing.TB) []source {
	t.Helper()
	files, err := filepath.Glob("testdata/*.go")
	if err != nil || len(files) == 0 {
		t.Fatal("no test files", err)
	}
	var out []source
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		p, err := frontend.Text(t.Context(), filepath.Base(file), string(text))
		if err != nil {
			t.Fatal(err)
		}
		prog, err := p.Lower()
		if err != nil {
			t.Fatal(err)
		}
		s := source{name: strings.TrimSuffix(filepath.Base(file), ".go"), lines: strings.Split(string(text), "\n")}
		for _, k := range prog.Kernels {
			compiled, err := compiler.Compile(t.Context(), k)
			if err != nil {
				t.Fatalf("%s: %v", k.Name, err)
			}
			ks := kernelSource{Kernel: compiled, first: k.Func.Pos.Line}
			for _, d := range p.Files[0].Decls {
				if fd, ok := d.(*ast.FuncDecl); ok && fd.Name.Name == k.Name {
					ks.doc = strings.Split(fd.Doc.Text(), "\n")
				}
			}
			for ks.last = ks.first; s.lines[ks.last-1] != "}"; ks.last++ {
			}
			s.kernels = append(s.kernels, ks)
		}
		out = append(out, s)
	}
	return out
}

// expectation is one regular expression in a comment.
type expectation struct {
	variant string // ptx selects the fastest variant with one thread per kernel
	not     bool
	text    string
}

var expectationForm = regexp.MustCompile("(ptx|coarse|proven|narrow|wide):(-?)(\"(?:[^\"\\\\]|\\\\.)*\")")

// expectations parses the expectations in a comment. Expressions are written as in a
// regular expression, so backslashes are not escaped.
func expectations(comment string) []expectation {
	var list []expectation
	for _, m := range expectationForm.FindAllStringSubmatch(comment, -1) {
		list = append(list, expectation{m[1], m[2] == "-", m[3][1 : len(m[3])-1]})
	}
	return list
}

func TestInstructions(t *testing.T) {
	testmodule.NeedSource(t)
	for _, s := range sources(t) {
		t.Run(s.name, func(t *testing.T) {
			for _, k := range s.kernels {
				t.Run(k.IR.Name, func(t *testing.T) {
					count := 0
					for _, line := range k.doc {
						for _, e := range expectations(line) {
							k.expect(t, "the kernel", e, 0)
							count++
						}
					}
					for n := k.first; n <= k.last; n++ {
						_, comment, _ := strings.Cut(s.lines[n-1], "//")
						for _, e := range expectations(comment) {
							k.expect(t, fmt.Sprintf("%s.go:%d: %s", s.name, n, strings.TrimSpace(s.lines[n-1])), e, n)
							count++
						}
					}
					if count == 0 {
						t.Error("the kernel expects nothing")
					}
				})
			}
		})
	}
}

// expect checks an expectation for a line, or for the whole body if line is 0.
func (k *kernelSource) expect(t *testing.T, where string, e expectation, line int) {
	t.Helper()
	v := &k.Variants[0]
	if v.Name == "coarse" {
		v = &k.Variants[1]
	}
	if e.variant != "ptx" {
		v = nil
		for i := range k.Variants {
			if k.Variants[i].Name == e.variant {
				v = &k.Variants[i]
			}
		}
	}
	switch {
	case e.not && e.text == "":
		if v != nil {
			t.Errorf("%s: the kernel has a variant %s", where, e.variant)
		}
		return
	case v == nil:
		t.Errorf("%s: the kernel has no variant %s", where, e.variant)
		return
	}
	re, err := regexp.Compile(e.text)
	if err != nil {
		t.Errorf("%s: %v", where, err)
		return
	}
	text := body(v.Text)
	if line > 0 {
		text = linesOf(text)[line]
	}
	if re.MatchString(text) == e.not {
		what := "lacks"
		if e.not {
			what = "has"
		}
		t.Errorf("%s\nvariant %s %s %q:\n%s", where, v.Name, what, e.text, text)
	}
}

var (
	faultLabel = regexp.MustCompile(`(?m)^\$F\d+:|^\$fault:`)
	locForm    = regexp.MustCompile(`^\s*\.loc 1 (\d+) \d+`)
)

// body returns the text of a module between the head of the entry and the code that
// reports faults.
func body(module string) string {
	_, text, _ := strings.Cut(module, "\n{\n")
	if at := faultLabel.FindStringIndex(text); at != nil {
		text = text[:at[0]]
	}
	return text
}

// linesOf splits a body by the source lines of its .loc directives.
func linesOf(body string) map[int]string {
	out := map[int]string{}
	line := 0
	for text := range strings.Lines(body) {
		if m := locForm.FindStringSubmatch(text); m != nil {
			line, _ = strconv.Atoi(m[1])
		}
		out[line] += text
	}
	return out
}
