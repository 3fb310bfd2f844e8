package opt

import (
	"strings"
	"testing"

	"quern.dev/internal/compiler/ir"
	. "quern.dev/internal/compiler/ir/irtest"
)

func TestLanesThatDivideARangeRunInLockstep(t *testing.T) {
	in, n, i, sum := Local("in", ints), Local("n", ir.TInt), Local("i", ir.TInt), Local("sum", ir.TInt)
	lane := Thread(ir.LaneID)
	add := func(at ir.Expr) ir.Stmt { return Set(sum, Add(ir.Get(sum), Load(Elem(in, at)))) }
	reduce := &ir.Warp{Op: ir.WarpReduceAdd, Dst: []*ir.Local{sum}, Args: []ir.Expr{ir.Get(sum)}}
	loop := func(from, to, step ir.Expr, body ...ir.Stmt) []ir.Stmt {
		return []ir.Stmt{Set(i, from), &ir.Loop{
			Label: &ir.Label{Name: "l"}, Cond: Lt(ir.Get(i), to), Body: body,
			Post: []ir.Stmt{Set(i, Add(ir.Get(i), step))},
		}}
	}
	plain := func(from, to, step ir.Expr) []ir.Stmt { return loop(from, to, step, add(ir.Get(i))) }
	for _, c := range []struct {
		name    string
		body    []ir.Stmt
		changes bool
	}{
		{"from the lane to a parameter", append(plain(lane, ir.Get(n), Int(32)), reduce), true},
		{"from a sum with the lane to a length", append(plain(Add(ir.Get(n), lane), Len(in), Int(32)), reduce), true},
		{"up to a constant", append(plain(lane, Int(100), Int(8)), reduce), true},
		{"from the lane and a value of the thread", append(plain(Add(Thread(ir.ThreadIdxX), lane), ir.Get(n), Int(32)), reduce), false},
		{"from a multiple of the lane", append(plain(Mul(lane, Int(4)), ir.Get(n), Int(128)), reduce), false},
		{"to a bound of the thread", append(plain(lane, Thread(ir.ThreadIdxX), Int(32)), reduce), false},
		{"without steps", append(plain(lane, ir.Get(n), Int(0)), reduce), false},
		{"no operation of the warp follows", append([]ir.Stmt{reduce}, plain(lane, ir.Get(n), Int(32))...), false},
		{"some lanes return before the operation", append(append(plain(lane, ir.Get(n), Int(32)), If(Lt(lane, Int(3)), Return())), reduce), false},
		{"a lane changes the bound", append(loop(lane, ir.Get(n), Int(32), add(ir.Get(i)), Set(n, Sub(ir.Get(n), Int(1)))), reduce), false},
		{"neighbours do not access adjacent elements", append(loop(lane, ir.Get(n), Int(32), add(Mul(ir.Get(i), Int(2)))), reduce), false},
		{"the counter is read behind the loop", append(append(plain(lane, ir.Get(n), Int(32)), add(ir.Get(i))), reduce), false},
	} {
		k := ir.CloneKernel(Kernel("k", locals(in, n), locals(i, sum), Body(Set(sum, Int(0)), c.body)...))
		k.Options.Block = [3]int{32}
		laneLoops(k)
		if got := leaves(k.Func.Body, func(s ir.Stmt) bool {
			w, ok := s.(*ir.Warp)
			return ok && w.Op == ir.WarpSync
		}); got != c.changes {
			t.Errorf("%s: changes: %v\n%s", c.name, got, strings.TrimSpace(k.String()))
		}
	}
}

func TestLanesRunTheEndOfARangeInTheirOwnLoop(t *testing.T) {
	in, n, i, sum := Local("in", ints), Local("n", ir.TInt), Local("i", ir.TInt), Local("sum", ir.TInt)
	body := func(step int64, more ...ir.Stmt) []ir.Stmt {
		return Body(Set(sum, Int(0)), Set(i, Thread(ir.LaneID)), &ir.Loop{
			Label: &ir.Label{Name: "l"}, Cond: Lt(ir.Get(i), ir.Get(n)),
			Body: append([]ir.Stmt{Set(sum, Add(ir.Get(sum), Load(Elem(in, ir.Get(i)))))}, more...),
			Post: []ir.Stmt{Set(i, Add(ir.Get(i), Int(step)))},
		}, &ir.Warp{Op: ir.WarpReduceAdd, Dst: []*ir.Local{sum}, Args: []ir.Expr{ir.Get(sum)}})
	}
	store := &ir.Assign{Dst: Elem(in, ir.Get(i)), Src: ir.Get(sum)}
	for _, c := range []struct {
		name  string
		block [3]int
		body  []ir.Stmt
		own   bool
	}{
		{"a block of one warp", [3]int{32}, body(32), true},
		{"a warp that is not full", [3]int{16}, body(32), false},
		{"a step of half a warp", [3]int{32}, body(16), false},
		{"a lane that writes", [3]int{32}, body(32, store), false},
	} {
		k := ir.CloneKernel(Kernel("k", locals(in, n), locals(i, sum), c.body...))
		k.Options.Block = c.block
		laneLoops(k)
		own := false
		for _, s := range k.Func.Body {
			_, isLoop := s.(*ir.Loop)
			own = own || isLoop
		}
		if own != c.own {
			t.Errorf("%s: a loop of the lane behind the others: %v\n%s", c.name, own, strings.TrimSpace(k.String()))
		}
	}
}
