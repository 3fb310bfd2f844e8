package opt_test

import (
	"slices"
	"strings"
	"testing"

	"quern.dev/internal/compiler/frontend"
	"quern.dev/internal/compiler/ir"
	"quern.dev/internal/compiler/opt"
)

// endlessSource contains loops. Those that may run long have a comment.
const endlessSource = `package p

import "quern.dev/kernel"

//quern:kernel
func loops(t kernel.Thread, n int, m uint8, x []int32, bounds []int) {
	for i := range 1000 {
		x[i] = 1
	}
	for i := range n { // long
		x[i&7] = 1
	}
	for i := range n { // ends at the end of x
		x[i] = 1
	}
	for i := 0; i < n && i < 100; i++ {
		x[0]++
	}
	for i := range x {
		x[i]++
	}
	for i := t.Global(); i < len(x); i += t.Stride() {
		x[i&1]++
	}
	for i := t.ThreadIdx.X; i < 256; i += 32 {
		x[0]++
	}
	for e := bounds[0]; e < bounds[1]; e++ { // long
		x[0]++
	}
	for e := bounds[0]; e < bounds[1]; e++ {
		x[0] += x[e]
	}
	for e := bounds[0]; e < bounds[1]; e++ { // long
		if e == 3 {
			continue
		}
		x[0] += x[e]
	}
	for i := uint8(0); i <= 255; i++ { // long
		x[0]++
	}
	for i := uint8(0); i < m; i++ {
		x[0]++
	}
	for i := uint8(0); i < 250; i += 10 { // long
		x[0]++
	}
	for i := len(x) - 1; i >= 0; i-- {
		x[0]++
	}
	for i := uint(n); i >= 0; i-- { // long
		x[0]++
	}
	for range x { // long
		for range x {
			x[0]++
		}
	}
	for range 1 << 13 { // long
		for range 1 << 13 {
			x[0]++
		}
	}
	for range 16 { // long
		for range len(x) / 8 {
			x[0]++
		}
	}
	for range 4 {
		for range len(x) / 8 {
			x[0]++
		}
	}
	for range 3 {
		for x[0] > 0 { // long
		}
	}
	for { // long
		if x[0] > 0 {
			break
		}
	}
	for x[1] = 0; x[1] < 3; x[1]++ { // long
	}
}
`

func TestLoopsThatMayGoOnForLong(t *testing.T) {
	p, err := frontend.Text(t.Context(), "p.go", endlessSource)
	if err != nil {
		t.Fatal(err)
	}
	prog, err := p.Lower()
	if err != nil {
		t.Fatal(err)
	}
	var got, want []int
	v := ir.Visitor{Stmt: func(s ir.Stmt) bool {
		if l, ok := s.(*ir.Loop); ok && l.Long && !slices.Contains(got, l.Pos.Line) {
			got = append(got, l.Pos.Line)
		}
		return true
	}}
	v.Body(opt.Host(prog.Kernels[0]).Func.Body)
	lines := strings.Split(endlessSource, "\n")
	for i, line := range lines {
		if strings.Contains(line, "// long") {
			want = append(want, i+1)
		}
	}
	for _, n := range want {
		if !slices.Contains(got, n) {
			t.Errorf("%q is not asked whether it was given up", lines[n-1])
		}
	}
	for _, n := range got {
		if !slices.Contains(want, n) {
			t.Errorf("%q is asked whether it was given up", lines[n-1])
		}
	}
}
