package gohost_test

import (
	"strings"
	"testing"

	"quern.dev/internal/compiler/frontend"
	"quern.dev/internal/compiler/gohost"
)

// Go rejects constants that overflow or are out of range. In a kernel, such a value is
// computed only by a thread that reaches it.
func TestDimensionsOfADeclaredBlockAreNotConstantsThatGoRejects(t *testing.T) {
	for _, c := range []struct{ name, statement, want string }{
		{"an index beyond an array", "x[0] = a[t.BlockDim.X]", "a[c]"},
		{"an index below 0", "x[t.BlockDim.X-5] = 1", "x[c]"},
		{"an index within an array", "x[0] = a[t.BlockDim.X-1]", "a[3]"},
		{"an index by another name", "size := t.BlockDim.X; same := size; x[0] = a[same]", "a[c]"},
		{"a bound of a slice", "x[0] = len(a[t.BlockDim.X-1:][:t.BlockDim.X])", "[:c]"},
		{"a conversion that overflows", "size := t.BlockDim.X; x[0] = int(uint8(size * 64))", "x[0] = 0"},
		{"a division by 0", "x[0] /= t.BlockDim.X - 4", "/ c"},
		{"a negative shift", "x[0] <<= t.BlockDim.X - 5", "<< c"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := frontend.Text(t.Context(), "k.go", `package main

import "quern.dev/kernel"

//quern:kernel block=4
func k(t kernel.Thread, n int, x []int) {
	a := [4]int{n, n, n, n}
	if a[n&3] == t.ThreadIdx.X {
		`+c.statement+`
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
			if !strings.Contains(text, c.want) {
				t.Errorf("got\n%s\nwant in it %s", text, c.want)
			}
		})
	}
}
