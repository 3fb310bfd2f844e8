package gohost_test

import (
	"strings"
	"testing"

	"quern.dev/internal/compiler/frontend"
	"quern.dev/internal/compiler/gohost"
)

func TestWorkThatARowHasInCommonIsDoneOnce(t *testing.T) {
	for _, c := range []struct{ name, directive, statements, want, not string }{
		{"the check of a pointer that all threads take", "block=64",
			"p := &a[n&1]; p[t.ThreadIdx.X] = 1; t.Sync(); x[t.ThreadIdx.X] = p[63-t.ThreadIdx.X]",
			"_ = a[t4]", "quernRow3K"},
		{"an element of adjacent arrays", "block=8x8",
			"b[t.ThreadIdx.Y][t.ThreadIdx.X] = n; t.Sync(); x[t.ThreadIdx.X] = b[t.ThreadIdx.X][n]",
			"n < 9", ""},
		{"the thread that a warp's failure names", "block=64",
			"for k := x[t.Warp()]; k < x[t.Warp()+1]; k++ { x[k] = kernel.WarpReduceAdd(t, t.Lane()+k) }",
			"r.ThreadIdx = kernel.Dim3{X: first", "SetThread"},
		{"the first thread of a block of one row", "block=64",
			"x[t.ThreadIdx.X] = t.Lane() + t.Warp()",
			"threadX&31 + threadX>>5", "first"},
		{"the elements of lanes that divide a range", "block=32",
			"sum := 0; for i := t.Lane(); i < len(x); i += 32 { sum += x[i] }; x[t.ThreadIdx.X] = kernel.WarpReduceAdd(t, sum)",
			"sum += row2[threadX]", ""},
		{"the elements of lanes of several warps", "block=64",
			"sum := 0; for i := t.Warp()*n + t.Lane(); i < len(x); i += 32 { sum += x[i] }; x[t.ThreadIdx.X] = kernel.WarpReduceAdd(t, sum)",
			"sum += row2[lane]", ""},
		{"elements that all warps divide", "block=64",
			"sum := 0; for i := t.Lane(); i < len(x); i += 32 { sum += x[i] }; x[t.ThreadIdx.X] = kernel.WarpReduceAdd(t, sum)",
			"sum += x[i]", "quernRow3K"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := frontend.Text(t.Context(), "k.go", `package main

import "quern.dev/kernel"

//quern:kernel `+c.directive+`
func k(t kernel.Thread, n int, x []int) {
	a := kernel.Shared[[2][64]int](t)
	b := kernel.Shared[[8][9]int](t)
	_, _ = a, b
	`+c.statements+`
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
			if !strings.Contains(text, c.want) || c.not != "" && strings.Contains(text, c.not) {
				t.Errorf("got\n%s\nwant in it %q and not %q", text, c.want, c.not)
			}
		})
	}
}
