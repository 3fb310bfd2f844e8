package gohost_test

import (
	"errors"
	"strings"
	"testing"

	"quern.dev/internal/compiler/gohost"
	"quern.dev/internal/compiler/ir"
)

func TestNamesThatGeneratedCodeCannotUseAreErrors(t *testing.T) {
	hidden := ir.StructOf("example.org/noise.state", ir.Field{Name: "seed", Type: ir.TUint32})
	half := ir.StructOf("example.org/noise.State", ir.Field{Name: "seed", Type: ir.TUint32})
	variable := func(typ *ir.Type) *ir.Local { return &ir.Local{Name: "v", Type: typ} }
	call := func(f *ir.Func, args ...ir.Expr) []ir.Stmt { return []ir.Stmt{&ir.Call{Func: f, Args: args}} }
	s, h, out := variable(hidden), variable(half), variable(ir.SliceOf(half))
	for _, c := range []struct {
		name   string
		locals []*ir.Local
		body   []ir.Stmt
		want   string
	}{
		{
			"a function of another package", nil,
			call(&ir.Func{Name: "noise.mix", Go: ir.GoRef{Package: "example.org/noise", Name: "mix"}}),
			"example.org/noise.mix is not exported",
		},
		{
			"a method of another package", []*ir.Local{h},
			append([]ir.Stmt{&ir.Assign{Dst: &ir.VarPlace{Var: h}, Src: &ir.Zero{T: half}}},
				call(&ir.Func{Name: "noise.State.mix", Params: []*ir.Local{variable(half)}, Go: ir.GoRef{Package: "example.org/noise", Name: "mix", Method: true}}, ir.Get(h))...),
			"method mix of package example.org/noise is not exported",
		},
		{
			"a type of another package", []*ir.Local{s},
			append([]ir.Stmt{&ir.Assign{Dst: &ir.VarPlace{Var: s}, Src: &ir.Zero{T: hidden}}},
				call(&ir.Func{Name: "noise.Mix", Params: []*ir.Local{variable(hidden)}, Go: ir.GoRef{Package: "example.org/noise", Name: "Mix"}}, ir.Get(s))...),
			"example.org/noise.state is not exported",
		},
		{
			"a field of another package's type", []*ir.Local{out},
			[]ir.Stmt{&ir.Assign{Dst: &ir.FieldPlace{X: &ir.ElemPlace{Slice: ir.Get(out), Index: ir.IntConst(ir.TInt, 0), Check: true}}, Src: ir.IntConst(ir.TUint32, 1)}},
			"field seed of example.org/noise.State is not exported",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := &ir.Kernel{Name: "k", Func: &ir.Func{Name: "main.k", Locals: c.locals, Body: c.body}}
			_, err := gohost.Emit(k, gohost.NewImports("main"))
			var e *gohost.Error
			if !errors.As(err, &e) || e.Kernel != "k" || !strings.Contains(e.Msg, c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}
