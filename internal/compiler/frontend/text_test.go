package frontend

import (
	"errors"
	"fmt"
	"go/token"
	"strings"
	"sync"
	"testing"
)

const textHead = "package p\nimport (\n\"math\"\n\"quern.dev/kernel\"\n)\n//quern:kernel\nfunc k(t kernel.Thread, x []float64) {\n"

func TestAClosedTextLeavesNothingBehind(t *testing.T) {
	files := func() (n int) {
		texts().Fset.Iterate(func(*token.File) bool { n++; return true })
		return n
	}
	compile := func(body string) {
		p, err := Text(t.Context(), "k.go", textHead+body+"}\n")
		if err != nil {
			return
		}
		defer p.Close()
		if _, err := p.Lower(); err != nil && !errors.As(err, new(Diagnostics)) {
			t.Error(err)
		}
	}
	const good = "x[0] = math.Sin(x[1])\n"
	compile(good) // reads the imports
	before := files()
	for _, body := range []string{good, "x[0] = y\n", "x[0] = = 1\n", strings.Repeat("{", 5000) + strings.Repeat("}", 5000)} {
		compile(body)
	}
	if after := files(); after != before {
		t.Errorf("%d files, after %d", after, before)
	}
}

func TestTextsAreCompiledAtATime(t *testing.T) {
	var all sync.WaitGroup
	for i, f := range []string{"Sin", "Log", "Sin", "Exp", "Cbrt", "Atan"} {
		all.Go(func() {
			p, err := Text(t.Context(), "k.go", textHead+fmt.Sprintf("//quern:unroll\nfor i := range 4 {\nx[i+%d] = math.%s(x[1])\n}\nx[1] += float64(kernel.V2(1, float32(x[2])).Y)\n}\n", i, f))
			if err != nil {
				t.Error(err)
				return
			}
			defer p.Close()
			if _, err := p.Lower(); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

func TestATextWithManyErrorsIsGivenUp(t *testing.T) {
	for _, c := range []struct{ name, line string }{
		{"of types", "x[%d] = y\n"},
		{"of unused variables", "y%d := 1\n"},
		{"of kernels", "go func() { x[%d]++ }()\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var body strings.Builder
			for i := range 3000 {
				fmt.Fprintf(&body, c.line, i)
			}
			p, err := Text(t.Context(), "k.go", textHead+body.String()+"x[0] = math.Pi\n}\n")
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			_, err = p.Lower()
			var found Diagnostics
			if !errors.As(err, &found) || len(found) != maxErrors {
				t.Fatalf("got %d errors, %.200v", len(found), err)
			}
			if at := found[maxErrors-1].Pos; at.Line != 1007 {
				t.Errorf("the last error is at %v", at)
			}
		})
	}
}
