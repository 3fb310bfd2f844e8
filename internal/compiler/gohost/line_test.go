package gohost_test

import (
	"strings"
	"testing"

	"quern.dev/internal/compiler/frontend"
	"quern.dev/internal/compiler/gohost"
)

func TestStatementsThatCanFailHaveTheirOwnLine(t *testing.T) {
	p, err := frontend.Text(t.Context(), "k.go", `package main

import "quern.dev/kernel"

//quern:kernel
func k(t kernel.Thread, x []int32) {
	i := t.Global()
	if i > 3 {

		x[i] = 1; x[i+1] = 2
	}
}
`)
	if err != nil {
		t.Fatal(err)
	}
	prog, err := p.Lower()
	if err != nil {
		t.Fatal(err)
	}
	text, err := gohost.Emit(prog.Kernels[0], gohost.NewImports("main"))
	if err != nil {
		t.Fatal(err)
	}
	text = strings.ReplaceAll(text, "\t", "")
	for _, want := range []string{
		"//line k.go:10\nx[i] = 1\n//line k.go:10\nx[i + 1] = 2\n", // either may be out of range
		"//line k.go:10\nrow[lane] = 1\nrow2[lane] = 2\n",          // known to be in range
	} {
		if !strings.Contains(text, want) {
			t.Errorf("got\n%s\nwant in it\n%s", text, want)
		}
	}
}
