package gohost_test

import (
	"fmt"
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
			"sum += row[threadX + 32]", ""},
		{"the elements of lanes of several warps", "block=64",
			"sum := 0; for i := t.Warp()*n + t.Lane(); i < len(x); i += 32 { sum += x[i] }; x[t.ThreadIdx.X] = kernel.WarpReduceAdd(t, sum)",
			"sum += row[lane + 32]", ""},
		{"elements that all warps divide", "block=64",
			"sum := 0; for i := t.Lane(); i < len(x); i += 32 { sum += x[i] }; x[t.ThreadIdx.X] = kernel.WarpReduceAdd(t, sum)",
			"sum += x[i]", "quernRow3K"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := emitted(t, c.directive, c.statements)
			if !strings.Contains(text, c.want) || c.not != "" && strings.Contains(text, c.not) {
				t.Errorf("got\n%s\nwant in it %q and not %q", text, c.want, c.not)
			}
		})
	}
}

func TestRowsOfDeclaredLengthNeedFewInstructions(t *testing.T) {
	for _, c := range []struct{ name, directive, statements, want, not string }{
		{"four threads run in an iteration", "block=16",
			"x[t.ThreadIdx.X] = 2*x[t.ThreadIdx.X+1]; t.Sync(); x[t.ThreadIdx.X] += n",
			"threadX += 4", ""},
		{"threads of a long sum run side by side", "block=16x16", floats + longSum(16, "f[t.ThreadIdx.Y][%d] * f[%[1]d][t.ThreadIdx.X]"),
			"threadX += 4", ""},
		{"threads of a long sum that lives across barriers run side by side", "block=16x16",
			floats + "total := float32(0); for range n { " + longSum(16, "f[t.ThreadIdx.Y][%d] * f[%[1]d][t.ThreadIdx.X]") + "total -= sum; t.Sync() }; x[t.ThreadIdx.X] = int(total)",
			"threadX += 4", ""},
		{"threads of a short sum run one by one", "block=16x16", floats + longSum(7, "f[t.ThreadIdx.Y][%d] * f[%[1]d][t.ThreadIdx.X]"),
			"", "+= 4"},
		{"threads of a long sum that may fail run one by one", "block=16x16", floats + longSum(16, "f[x[t.ThreadIdx.X]][%d]"),
			"", "+= 4"},
		{"rows whose length is not a multiple run one by one", "block=6",
			"x[t.ThreadIdx.X] = 2*x[t.ThreadIdx.X+1]; t.Sync(); x[t.ThreadIdx.X] += n",
			"range 6", "+= 4"},
		{"threads that may fail run one by one", "block=16",
			"x[t.ThreadIdx.X] = 2*x[x[t.ThreadIdx.X+1]]; t.Sync(); x[t.ThreadIdx.X] /= n",
			"range 16", "+= 4"},
		{"a row of a tile is copied as an array", "block=8x8",
			"c := kernel.Shared[[8][8]int](t); c[t.ThreadIdx.Y][t.ThreadIdx.X] = x[t.ThreadIdx.Y*n+t.ThreadIdx.X]; t.Sync(); x[t.ThreadIdx.Y*n+t.ThreadIdx.X] = c[7-t.ThreadIdx.Y][t.ThreadIdx.X]",
			"= c[7 - threadY]", "copy("},
		{"a long row is copied by copy", "block=64",
			"a[0][t.ThreadIdx.X] = x[t.ThreadIdx.X]; t.Sync(); x[t.ThreadIdx.X] = a[0][63-t.ThreadIdx.X]",
			"copy(", "a[0] ="},
		{"lanes of full warps are a row", "block=64",
			"sum := 0; for i := t.Warp()*n + t.Lane(); i < len(x); i += 32 { sum += x[i] }; x[t.ThreadIdx.X] = kernel.WarpReduceAdd(t, sum)",
			"(*[32]int)", ""},
		{"lanes of a warp that may not be full are not", "block=48",
			"sum := 0; for i := t.Warp()*n + t.Lane(); i < len(x); i += 32 { sum += x[i] }; x[t.ThreadIdx.X] = kernel.WarpReduceAdd(t, sum)",
			"", "(*[32]int)"},
		{"an array with an element per warp has one for each", "block=64",
			"c := kernel.Shared[[2]int](t); if t.Lane() == 0 { c[t.Warp()] = n }; t.Sync(); a[0][t.ThreadIdx.X] = c[t.Warp()]",
			"c[threadX>>5]", "r.ThreadIdx.X"},
		{"an array that is shorter than a warp has no form for all lanes", "block=64",
			"c := kernel.Shared[[8]int](t); c[t.ThreadIdx.X&7] = n; t.Sync(); if t.Warp() == 0 { v := 0; if t.Lane() < len(c) { v = c[t.Lane()] }; x[t.Lane()] = kernel.WarpReduceAdd(t, v) }",
			"", "32 <= 8"},
		{"a block of one row needs no loop over rows", "block=64",
			"x[t.ThreadIdx.X] = n", "quernRow1K(r", "threadY"},
		{"rows of a block of any size are counted", "",
			"x[t.Global()] = t.ThreadIdx.Y", "threadY := r.ThreadIdx.Y", "dimZ"},
		{"a check in much work is not avoided", "block=64",
			"v := t.ThreadIdx.X; " + strings.Repeat("v ^= v*n + v>>3; ", 60) + "x[t.Global()] = v", "x[base + threadX] = v", "count"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := emitted(t, c.directive, c.statements)
			if !strings.Contains(text, c.want) || c.not != "" && strings.Contains(text, c.not) {
				t.Errorf("got\n%s\nwant in it %q and not %q", text, c.want, c.not)
			}
		})
	}
}

func TestWhatAWarpDoesBrieflyNeedsNoFunction(t *testing.T) {
	const sum = "w := t.BlockIdx.X*2 + t.Warp(); if w >= n { return }; sum := 0; for i := x[w] + t.Lane(); i < x[w+1]; i += 32 { sum += x[i] }; "
	for _, c := range []struct {
		name, directive, statements, want, not string
		functions                              int
	}{
		{"a sum that one lane stores", "block=64", sum + "sum = kernel.WarpReduceAdd(t, sum); if t.Lane() == 0 { x[w] = sum }",
			"= host.Sum((*[32]int)(sums[first:]))", "ReduceAdd", 2},
		{"a maximum that the last lane adds", "block=64", sum + "sum = kernel.WarpReduceMax(t, sum); if t.Lane() == 31 && n > 2 { x[w] += sum }; if t.Lane() == 31 { x[w] += sum }",
			"host.ReduceMax(", "", 3},
		{"a sum that all lanes store", "block=64", sum + "x[t.ThreadIdx.X] = kernel.WarpReduceAdd(t, sum)",
			"= host.Sum(", "ReduceAdd", 3},
		{"a sum of each of several lanes", "block=64", sum + "sum += kernel.WarpReduceAdd(t, sum+t.Lane()); x[t.ThreadIdx.X] = sum",
			"= host.Sum(", "ReduceAdd", 4},
		{"a lane with a loop", "block=64", sum + "sum = kernel.WarpReduceAdd(t, sum); if t.Lane() == 0 { for i := range sum { x[i*i] = sum } }",
			"= host.Sum(", "", 3},
		{"a sum over warps that may not be full", "block=80", sum + "sum = kernel.WarpReduceAdd(t, sum); if t.Lane() == 0 { x[w] = sum }",
			"host.ReduceAdd(", "host.Sum(", 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := emitted(t, c.directive, c.statements)
			if !strings.Contains(text, c.want) || c.not != "" && strings.Contains(text, c.not) {
				t.Errorf("got\n%s\nwant in it %q and not %q", text, c.want, c.not)
			}
			if n := strings.Count(text, "\nfunc quernRow"); n != c.functions {
				t.Errorf("got\n%s\nwith %d functions, want %d", text, n, c.functions)
			}
		})
	}
}

func TestElementsThatLanesDivideNeedOneLoop(t *testing.T) {
	const (
		row   = "w := t.BlockIdx.X*2 + t.Warp(); if w >= n { return }; "
		loop  = "for i := x[w] + t.Lane(); i < x[w+1]; i += 32 { "
		store = " }; x[t.ThreadIdx.X] = kernel.WarpReduceAdd(t, sum)"
		flat  = " & 31"
	)
	for _, c := range []struct{ name, directive, statements, want, not string }{
		{"a sum", "block=64", row + "sum := 0; " + loop + "sum += x[i]" + store,
			"sum += row2[i2]", "r.ThreadIdx.X = threadX\n\t\t\t\tsum"},
		{"a sum in blocks of one warp", "block=32", "sum := 0; for i := t.Lane(); i < n; i += 32 { sum += x[i]" + store,
			"threadX := i2 & 31", ""},
		{"a gather stores the thread only for an index out of range", "block=64", row + "sum := 0; " + loop + "sum += x[x[i]]" + store,
			"\t\t\t\tif uint(at2) >= uint(len(x)) {\n\t\t\t\t\tr.ThreadIdx.X = startX + lane\n", ""},
		{"what may fail besides keeps its order", "block=64", row + "sum := 0; " + loop + "sum += n/i + x[x[i]]" + store,
			"i2 & 31", "uint("},
		{"a condition decides whether an index is checked", "block=64", row + "sum := 0; " + loop + "if i > 3 && x[x[i]] > 2 { sum += x[x[i+1]] }" + store,
			"i2 & 31", "uint("},
		{"two variables and a count", "block=64", row + "sum, least, odd := 0, 0, 0; " + loop + "sum += x[i]; least = min(least, x[i]); if x[i]&1 == 1 { odd++ } }; sum += kernel.WarpReduceMin(t, least) + odd; {" + store,
			"oddRow[lane] = odd", ""},
		{"blocks whose last warp is not full", "block=80", row + "sum := 0; " + loop + "sum += x[i]" + store,
			"", flat},
		{"blocks of several rows", "block=32x2", row + "sum := 0; " + loop + "sum += x[i]" + store,
			"", flat},
		{"a step other than the size of a warp", "block=64", row + "sum := 0; for i := x[w] + t.Lane(); i < x[w+1]; i += 16 { sum += x[i]" + store,
			"", flat},
		{"a step that is a multiple of the size of a warp", "block=64", row + "sum := 0; for i := x[w] + t.Lane(); i < x[w+1]; i += 64 { sum += x[i]" + store,
			"", flat},
		{"lanes that write elements", "block=64", row + "sum := 0; " + loop + "sum += x[i]; x[i] = sum" + store,
			"", flat},
		{"elements that are not adjacent", "block=64", row + "sum := 0; " + loop + "sum += x[2*i]" + store,
			"", flat},
		{"a lane that leaves the loop", "block=64", row + "sum := 0; " + loop + "sum += x[i]; if sum > 9 { break }" + store,
			"", flat},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := emitted(t, c.directive, c.statements)
			if !strings.Contains(text, c.want) || c.not != "" && strings.Contains(text, c.not) {
				t.Errorf("got\n%s\nwant in it %q and not %q", text, c.want, c.not)
			}
		})
	}
}

// floats declares a tile for the terms of longSum.
const floats = "f := kernel.Shared[[16][16]float32](t); "

// longSum returns statements that compute a sum of n terms, whose number is in the format.
func longSum(n int, term string) string {
	s := "sum := float32(0); "
	for i := range n {
		s += fmt.Sprintf("sum += "+term+"; ", i)
	}
	return s + "x[t.ThreadIdx.X] = int(sum); "
}

// emitted returns the Go of a kernel with the statements.
func emitted(t *testing.T, directive, statements string) string {
	t.Helper()
	p, err := frontend.Text(t.Context(), "k.go", `package main

import "quern.dev/kernel"

//quern:kernel `+directive+`
func k(t kernel.Thread, n int, x []int) {
	a := kernel.Shared[[2][64]int](t)
	b := kernel.Shared[[8][9]int](t)
	_, _ = a, b
	`+statements+`
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
	return text
}
