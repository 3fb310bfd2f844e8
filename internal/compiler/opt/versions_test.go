package opt

import (
	"testing"

	"quern.dev/internal/compiler/ir"
	"quern.dev/internal/compiler/ir/irtest"
)

func TestReassignedVariablesAreRenamed(t *testing.T) {
	x, v, sum := irtest.Local("x", ir.SliceOf(ir.TInt32)), irtest.Local("v", ir.TInt32), irtest.Local("sum", ir.TInt32)
	reduce := func(from *ir.Local, to *ir.Local) ir.Stmt {
		return &ir.Warp{Op: ir.WarpReduceAdd, Args: []ir.Expr{ir.Get(from)}, Dst: []*ir.Local{to}}
	}
	element := func(i ir.Expr) ir.Expr { return &ir.Load{Place: irtest.Elem(x, i)} }
	// A vote under a condition on the current value of v.
	vote := func(v *ir.Local) ir.Stmt {
		return &ir.If{
			Cond: &ir.Binary{Op: ir.Gt, X: ir.Get(v), Y: ir.IntConst(ir.TInt32, 0)},
			Then: []ir.Stmt{&ir.Warp{Op: ir.WarpAny, Args: []ir.Expr{ir.BoolConst(true)}, Dst: []*ir.Local{nil}}},
		}
	}
	for _, c := range []struct {
		name   string
		body   []ir.Stmt
		errors int
		locals int
	}{
		{"a sum in the variable that was summed", []ir.Stmt{
			irtest.Set(v, element(irtest.Thread(ir.LaneID))), reduce(v, sum), irtest.Set(v, ir.Get(sum)), vote(v),
		}, 0, 3},
		{"a value of the thread after the sum", []ir.Stmt{
			irtest.Set(v, element(irtest.Thread(ir.LaneID))), reduce(v, sum), irtest.Set(v, ir.Get(sum)),
			irtest.Set(v, element(irtest.Thread(ir.LaneID))), vote(v),
		}, 1, 4},
		{"an assignment that some threads make", []ir.Stmt{
			irtest.Set(v, ir.IntConst(ir.TInt32, 1)),
			&ir.If{
				Cond: &ir.Binary{Op: ir.Eq, X: irtest.Thread(ir.LaneID), Y: ir.IntConst(ir.TInt, 0)},
				Then: []ir.Stmt{irtest.Set(v, ir.IntConst(ir.TInt32, 2))},
			},
			vote(v),
		}, 1, 1},
		{"a loop that needs the value of the round before", []ir.Stmt{
			irtest.Set(v, ir.IntConst(ir.TInt32, 1)),
			&ir.Loop{Label: &ir.Label{}, Body: []ir.Stmt{vote(v), irtest.Set(v, element(irtest.Thread(ir.LaneID)))}},
		}, 1, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			used := []*ir.Local{v}
			for _, s := range c.body {
				if _, ok := s.(*ir.Warp); ok {
					used = []*ir.Local{v, sum}
				}
			}
			k := irtest.Kernel("k", []*ir.Local{x}, used, c.body...)
			if err := versions(k); err != nil {
				t.Fatal(err)
			}
			if err := ir.Verify(k, ir.StageInlined); err != nil {
				t.Errorf("%v in\n%s", err, k)
			}
			if len(k.Func.Locals) != c.locals {
				t.Errorf("%d variables, want %d:\n%s", len(k.Func.Locals), c.locals, k)
			}
			if list := Uniform(k); len(list) != c.errors {
				t.Errorf("%d errors, want %d: %v", len(list), c.errors, list)
			}
		})
	}
}
