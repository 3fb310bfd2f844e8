package frontend

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quern.dev/internal/testmodule"
)

// library has two kinds of operators.
const library = `
-- lib/lib.go --
package lib

import "quern.dev/gpu"

type Combine[T any] struct {
	Kernels *CombineKernels
	Bind    func(*gpu.Launch)
}

type CombineKernels struct{ Rows, Columns *gpu.Kernel }

type Map[T, U any] struct {
	Kernels *MapKernels
	Bind    func(*gpu.Launch)
}

type MapKernels struct{ Each *gpu.Kernel }
-- lib/internal/template/template.go --
package template

import "quern.dev/kernel"

//quern:template Combine block=64
func Rows[T any](t kernel.Thread, combine func(a, b T) T, n int, in, out []T) {
	out[t.Global()] = combine(in[0], in[n-1])
}

//quern:template Combine only=cpu
func Columns[T any](t kernel.Thread, combine func(a, b T) T, in []T) {}

//quern:template Map
func Each[T, U any](t kernel.Thread, f func(x T) U, in []T, out []U) {
	if i := t.Global(); i < len(out) {
		out[i] = f(in[i])
	}
}
`

func TestOperators(t *testing.T) {
	for _, tt := range []struct {
		name, source string
		kernels      []string
		errors       []string
	}{
		{
			name: "operators become kernels, and their variables may be missing",
			source: `
//quern:op lib.Combine
func larger(a, b point) point { return a }

//quern:op lib.Combine instantiate=int32,float64 fastmath
func plus[T int32 | float64](a, b T) T { return a + b }

//quern:op lib.Map
func limited(x point, n, limit float32) bool { return x.X+n > limit }

var use, other, bound = OpLarger, OpPlus[int32](), OpLimited(1, 2)
`,
			kernels: []string{"largerRows", "largerColumns", "plusRows[int32]", "plusRows[float64]", "plusColumns[int32]", "plusColumns[float64]", "limitedEach"},
		},
		{
			name: "what is wrong with an operator",
			source: `
//quern:op
func kindless(a, b int32) int32 { return a }

//quern:op lib.Sum
func unknown(a, b int32) int32 { return a }

//quern:op elsewhere.Combine
func foreign(a, b int32) int32 { return a }

//quern:op lib.Combine block=64
func option(a, b int32) int32 { return a }

//quern:op lib.Combine
func (p point) method(a, b int32) int32 { return a }

//quern:op lib.Combine
func generic[T int32](a, b T) T { return a }

//quern:op lib.Combine
func mixed(a int32, b int64) int32 { return a }

//quern:op lib.Combine
func one(a int32) int32 { return a }

//quern:op lib.Combine
func silent(a, b int32) {}

//quern:op lib.Map
func text(x string) int32 { return 0 }
`,
			errors: []string{
				"a/a.go:13:1: kernel kindless: //quern:op needs the kind of the operator, as in //quern:op algo.Combine",
				"a/a.go:16:12: kernel unknown: package example.test/demo/lib has no operators of kind Sum; its kinds are Combine, Map",
				"a/a.go:19:12: kernel foreign: package quern.dev/elsewhere has no kinds of operators: ",
				`a/a.go:22:24: kernel option: unknown op option "block=64"; the options are instantiate and fastmath`,
				"a/a.go:26:16: kernel method: an operator cannot be a method; write a function",
				"a/a.go:29:6: kernel generic: a generic operator needs the types to compile it for; add instantiate=float32,float64 to its directive",
				"a/a.go:32:6: kernel mixed: an operator of kind Combine is declared as mixed(a, b T) T; parameters after these are bound when it is used",
				"a/a.go:35:6: kernel one: an operator of kind Combine is declared as one(a, b T) T; parameters after these are bound when it is used",
				"a/a.go:38:6: kernel silent: an operator of kind Combine is declared as silent(a, b T) T; parameters after these are bound when it is used",
				"a/a.go:41:6: kernel text: in[i] is of type string: strings are not supported in kernels",
				"a/a.go:41:11: kernel text: strings are not supported in kernels",
			},
		},
		{
			name: "errors in an operator are at its lines",
			source: `
//quern:op lib.Combine
func channels(a, b int32) int32 {
	c := make(chan int32)
	return <-c
}
`,
			errors: []string{
				"a/a.go:15:2: kernel channels: channels are not supported in kernels",
				"a/a.go:15:7: kernel channels: make allocates",
				"a/a.go:16:9: kernel channels: channels are not supported in kernels",
			},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := testmodule.New(t, library+`
-- a/a.go --
package a

import (
	"example.test/demo/lib"
	"quern.dev/kernel"
)

var _ lib.Combine[kernel.Dim3]

type point struct{ X, Y float32 }

`+tt.source)
			packages, err := Load(t.Context(), dir, "./a")
			if err != nil {
				t.Fatal(err)
			}
			prog, err := packages[0].Lower()
			var kernels, got []string
			var diags Diagnostics
			if errors.As(err, &diags) {
				for _, d := range diags {
					got = append(got, strings.ReplaceAll(d.Error(), dir+"/", ""))
				}
			} else if err != nil {
				t.Fatal(err)
			} else {
				for _, k := range prog.Kernels {
					kernels = append(kernels, k.Name)
				}
			}
			if diff := cmp.Diff(tt.kernels, kernels); diff != "" {
				t.Errorf("kernels: %s", diff)
			}
			for i, want := range tt.errors {
				if i >= len(got) || !strings.HasPrefix(got[i], want) {
					t.Errorf("error %d: want %q", i, want)
				}
			}
			if len(got) != len(tt.errors) {
				t.Errorf("%d errors, want %d:\n%s", len(got), len(tt.errors), strings.Join(got, "\n"))
			}
		})
	}
}
