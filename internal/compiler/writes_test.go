package compiler

import (
	"strings"
	"testing"
)

// A slice that a kernel only reads may be passed a read-only view. A slice that may be
// written in some way must not count as read-only.
func TestWrittenSlices(t *testing.T) {
	tests := []struct {
		name, params, body string
		want               string // names of the written slices
	}{
		{"none", "x []float32, n int", "_ = x[n]", ""},
		{"an element", "x, y []float32", "y[0] = x[0]", "y"},
		{"an element that is also read", "x []int32", "x[0]++", "x"},
		{"a field of an element", "x []pair", "x[1].b = 2", "x"},
		{"an element of an array in an element", "x []pair", "x[1].rows[2] = 2", "x"},
		{"a part", "x, y []float32", "z := y[1:]\nz[0] = x[0]", "y"},
		{"one of two, by a condition", "x, y, z []float32, n int", "w := x\nif n > 0 {\nw = y\n}\nw[0] = z[0]", "x y"},
		{"through a pointer to an element", "x, y []float32", "p := &y[2]\n*p = x[0]", "y"},
		{"through a pointer to a field", "x []pair, y []float32", "p := &x[2].b\n*p = y[0]", "x"},
		{"through a pointer to an array", "x, y []float32", "p := (*[4]float32)(y)\np[1] = x[0]", "y"},
		{"a copy of an array out of a slice", "x, y []float32", "a := *(*[4]float32)(x)\ny[0] = a[1]", "y"},
		{"a slice of such an array", "x, y []float32", "p := (*[4]float32)(x)\ns := p[:]\ns[0] = y[0]", "x"},
		{"in a function", "x, y []float32", "set(y, x[0])", "y"},
		{"in a function, through a pointer", "x, y []float32", "add(&x[1], y[0])", "x"},
		{"by a method of an element", "x []pair, y []float32", "x[1].set(y[0])", "x"},
		{"what a function returns", "x, y, z []float32, n int", "w := choose(x, y, n)\nw[0] = z[0]", "x y"},
		{"read in a function", "x, y []float32", "y[0] = sum(x)", "y"},
		{"in a closure", "x, y []float32", "f := func(v float32) { y[0] = v }\nf(x[0])", "y"},
		{"swapped in a loop", "x, y, z []float32", "a, b := x, y\nfor range 3 {\na[0] = b[0] + z[0]\na, b = b, a\n}", "x y"},
		{"in a struct", "x, y []float32", "v := view{x, y}\nv.out[0] = v.in[0]", "x y"},
		{"atomically", "x, y []uint32", "kernel.AtomicAdd(&y[0], x[0])", "y"},
		{"with an order", "x, y []uint32", "kernel.StoreRelease(&y[0], kernel.LoadAcquire(&x[0]))", "y"},
		{"asynchronous copies read", "x, y []float32", "tile := kernel.Shared[[4]float32](t)\nkernel.AsyncCopy(t, &tile[0], &x[0])\nkernel.AsyncCommit(t)\nkernel.AsyncWait(t, 0)\ny[0] = tile[0]", "y"},
		{"bulk copies read", "x, y []float32", "tile := kernel.Shared[[256]float32](t)\nb := kernel.Shared[kernel.CopyBarrier](t)\nkernel.BulkCopy(t, b, tile[:], x[:256])\nkernel.BulkWait(t, b)\ny[t.ThreadIdx.X] = tile[t.ThreadIdx.X]", "y"},
		{"what cannot be reached", "x, y []float32", "if debug {\nx[0] = y[0]\n}", ""},
		{"printed", "x []float32", `kernel.Printf("%v", x[0])`, ""},
		{"a loop over its elements", "x, y []float32", "for i, v := range x {\ny[i] = v\n}", "y"},
		{"a pointer to a slice", "x, y []float32", "p := &x\n(*p)[0] = y[0]", "x"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			k, err := Text(t.Context(), "k.go", `package p

import "quern.dev/kernel"

const debug = false

type pair struct {
	a, b float32
	rows [4]float32
}

func (p *pair) set(v float32) { p.a = v }

type view struct{ in, out []float32 }

func set(x []float32, v float32) { x[0] = v }

func add(p *float32, v float32) { *p += v }

func sum(x []float32) (s float32) {
	for _, v := range x {
		s += v
	}
	return s
}

func choose(x, y []float32, n int) []float32 {
	if n > 0 {
		return x
	}
	return y
}

//quern:kernel
func k(t kernel.Thread, `+tt.params+`) {
`+tt.body+`
}
`, "k")
			if err != nil {
				t.Fatal(err)
			}
			var written []string
			for i, p := range k.IR.Func.Params {
				if k.Written[i] {
					written = append(written, p.Name)
				}
			}
			if got := strings.Join(written, " "); got != tt.want {
				t.Errorf("written: %q, want %q", got, tt.want)
			}
		})
	}
}
