package ir_test

import (
	"strings"
	"testing"

	"quern.dev/internal/compiler/ir"
	. "quern.dev/internal/compiler/ir/irtest"
)

func TestVerifyNamesWhatIsWrong(t *testing.T) {
	pair := ir.StructOf("t.Pair", ir.Field{Name: "a", Type: ir.TInt}, ir.Field{Name: "b", Type: ir.TInt})
	n, f, s, p := Local("n", ir.TInt), Local("f", ir.TFloat32), Local("s", ir.SliceOf(ir.TInt)), Local("p", pair)
	v, foreign := Local("v", ir.TInt), Local("foreign", ir.TInt)
	label, other := &ir.Label{Name: "l"}, &ir.Label{Name: "other"}
	shared := ir.Get(n)
	callee := Func("callee", []*ir.Local{n}, []*ir.Local{Local("r", ir.TInt)}, nil, Return(Int(1)))
	for _, c := range []struct {
		name  string
		stage ir.Stage
		body  []ir.Stmt
		want  string // "" if it is valid
	}{
		{"a sum of numbers", ir.StageFinal, Body(Set(v, Add(ir.Get(n), Int(1)))), ""},
		{"operands of two types", ir.StageFront, Body(Set(v, Add(ir.Get(n), ir.Get(f)))), "operator + on int and float32"},
		{"a value of another type", ir.StageFront, Body(Set(v, ir.Get(f))), "assigned value has type float32, want int"},
		{"a condition that is no bool", ir.StageFront, Body(If(ir.Get(n))), "condition has type int, want bool"},
		{"a node in two places", ir.StageFront, Body(Set(v, Add(shared, shared))), "node *ir.Load occurs twice"},
		{"a variable of another function", ir.StageFront, Body(Set(foreign, Int(1))), "variable foreign is not the function's"},
		{"a variable that is never assigned", ir.StageFront, Body(SetPlace(Elem(s, ir.Get(v)), Int(1))), "variable v is read and never assigned"},
		{"an element of a number", ir.StageFront, Body(SetPlace(&ir.ElemPlace{Slice: ir.Get(n), Index: Int(0)}, Int(1))), "element of int"},
		{"an index that is no integer", ir.StageFront, Body(SetPlace(Elem(s, ir.Get(f)), Int(1))), "index has type float32, want an integer"},
		{"a break out of its loop", ir.StageFront, Body(&ir.Loop{Label: label, Body: []ir.Stmt{&ir.Break{Label: label}}}), ""},
		{"a break out of nothing", ir.StageFront, Body(&ir.Break{Label: other}), "break out of a label that does not enclose it"},
		{"a continue of a block", ir.StageFront, Body(&ir.Block{Label: label, Body: []ir.Stmt{&ir.Continue{Label: label}}}), "continue of a label that is not an enclosing loop's"},
		{"a label of two statements", ir.StageFront, Body(&ir.Block{Label: label}, &ir.Block{Label: label}), "label l belongs to two statements"},
		{"a call before inlining", ir.StageFront, Body(Call(v, callee, Int(1))), ""},
		{"a call after inlining", ir.StageInlined, Body(Call(v, callee, Int(1))), "call of callee after inlining"},
		{"a call with too few arguments", ir.StageFront, Body(Call(v, callee)), "call of callee with 0 arguments, want 1"},
		{"a struct value before scalarisation", ir.StageInlined, Body(SetPlace(Var(p), Composite(pair, Int(1), nil))), ""},
		{"a struct value after scalarisation", ir.StageFinal, Body(SetPlace(Var(p), Composite(pair, Int(1), nil))), "composite of type t.Pair"},
		{"a composite with too many elements", ir.StageFront, Body(SetPlace(Var(p), Composite(pair, Int(1), nil, nil))), "composite of type t.Pair with 3 elements"},
		{"a constant that its type cannot hold", ir.StageFront, Body(Set(v, To(ir.TInt, &ir.Const{T: ir.TUint8, Bits: 256}))), "constant 0x100 is not extended as a uint8"},
		{"an atomic addition to a bool", ir.StageFront, Body(&ir.Atomic{Op: ir.AtomicAdd, Place: &ir.DerefPlace{Ptr: &ir.Zero{T: ir.PointerTo(ir.TBool)}}, Args: []ir.Expr{Bool(true)}}), "atomic add on bool"},
		{"a check of an addition", ir.StageFront, Body(Set(v, &ir.Binary{Op: ir.Add, X: Int(1), Y: Int(2), Check: true})), "operator + has a check"},
		{"a square root of an integer", ir.StageFront, Body(Set(v, &ir.Intrinsic{Op: ir.Sqrt, T: ir.TInt, Args: []ir.Expr{Int(4)}})), "sqrt of int, want a float"},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := Kernel("k", []*ir.Local{n, f, s, p}, []*ir.Local{v}, c.body...)
			err := ir.Verify(k, c.stage)
			switch {
			case c.want == "" && err != nil:
				t.Errorf("unexpected error: %v", err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("got error %v, want %q", err, c.want)
			}
		})
	}
}
