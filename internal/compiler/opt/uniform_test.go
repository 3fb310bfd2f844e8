package opt

import (
	"testing"

	"quern.dev/internal/compiler/ir"
	. "quern.dev/internal/compiler/ir/irtest"
)

func at(line int) ir.Pos { return ir.Pos{File: "k.go", Line: line, Col: 2} }

func sync(line int) ir.Stmt { return &ir.Barrier{Pos: at(line)} }

func ifAt(line int, cond ir.Expr, then ...ir.Stmt) *ir.If {
	return &ir.If{Cond: cond, Then: then, Pos: at(line)}
}

func TestBarriersUnderControlFlowThatDivergesAreErrors(t *testing.T) {
	n, s := Local("n", ir.TInt), Local("s", ints)
	i, x := Local("i", ir.TInt), Local("x", ir.TInt)
	tile := &ir.SharedVar{Name: "tile", Type: ir.ArrayOf(4, ir.TInt)}
	loop := func(line int, cond ir.Expr, body ...ir.Stmt) *ir.Loop {
		return &ir.Loop{Label: &ir.Label{}, Cond: cond, Body: body, Post: []ir.Stmt{Set(x, Add(ir.Get(x), Int(1)))}, Pos: at(line)}
	}
	tx := func() ir.Expr { return Thread(ir.ThreadIdxX) }
	breaking := loop(2, Lt(ir.Get(x), ir.Get(n)))
	breaking.Body = []ir.Stmt{sync(3), ifAt(4, Lt(tx(), ir.Get(x)), &ir.Break{Label: breaking.Label})}
	continuing := loop(2, Lt(ir.Get(x), ir.Get(n)))
	continuing.Body = []ir.Stmt{sync(3), ifAt(4, Lt(tx(), ir.Get(x)), &ir.Continue{Label: continuing.Label})}
	continuing.Post = append(continuing.Post, sync(5))
	late := &ir.Loop{Label: &ir.Label{}, Cond: Lt(ir.Get(x), ir.Get(n)), Pos: at(2)}
	late.Body = []ir.Stmt{ifAt(3, Lt(tx(), Int(3)), &ir.Continue{Label: late.Label}), sync(4)}
	block := &ir.Label{}
	const advice = "; guard the work around Sync, not Sync itself"
	const prefix = ": kernel k: Sync is not reached by all threads of the block together: "
	for _, c := range []struct {
		name string
		body []ir.Stmt
		want string
	}{
		{"no control flow", Body(sync(1)), ""},
		{"a loop over a parameter", Body(Set(x, Int(0)), loop(2, Lt(ir.Get(x), ir.Get(n)), sync(3))), ""},
		{"a condition on the block", Body(ifAt(1, Lt(Thread(ir.BlockIdxX), Int(3)), sync(2))), ""},
		{"a condition on shared memory at a uniform index", Body(ifAt(1, Lt(Load(Index(Shared(tile), Int(0))), Int(3)), sync(2))), ""},
		{"a condition on the thread", Body(ifAt(1, Lt(tx(), Int(3)), sync(2))),
			"k.go:2:2" + prefix + "the if at k.go:1:2 depends on ThreadIdx.X"},
		{"the else branch of one", Body(Else(ifAt(1, Lt(tx(), Int(3))), sync(2))),
			"k.go:2:2" + prefix + "the if at k.go:1:2 depends on ThreadIdx.X"},
		{"a condition on a variable", Body(Set(i, Add(Global(), Int(1))), ifAt(2, Lt(ir.Get(i), ir.Get(n)), sync(3))),
			"k.go:3:2" + prefix + "the if at k.go:2:2 depends on ThreadIdx.X through i"},
		{"a condition on what was assigned under one", Body(Set(x, Int(0)), ifAt(1, Lt(tx(), Int(3)), Set(x, Int(1))), ifAt(2, Lt(ir.Get(x), Int(1)), sync(3))),
			"k.go:3:2" + prefix + "the if at k.go:2:2 depends on ThreadIdx.X through x"},
		{"a condition on memory at the thread's index", Body(ifAt(1, Lt(Load(Elem(s, tx())), Int(3)), sync(2))),
			"k.go:2:2" + prefix + "the if at k.go:1:2 depends on ThreadIdx.X"},
		{"a condition on an atomic's result", Body(&ir.Atomic{Dst: x, Op: ir.AtomicAdd, Place: Elem(s, Int(0)), Args: []ir.Expr{Int(1)}}, ifAt(1, Lt(ir.Get(x), Int(3)), sync(2))),
			"k.go:2:2" + prefix + "the if at k.go:1:2 depends on the result of an atomic operation through x"},
		{"behind an early return", Body(ifAt(1, Lt(ir.Get(n), tx()), Return()), sync(2)),
			"k.go:2:2" + prefix + "the if at k.go:1:2 depends on ThreadIdx.X"},
		{"behind a uniform early return", Body(ifAt(1, Lt(ir.Get(n), Int(3)), Return()), sync(2)), ""},
		{"in a loop that some threads leave earlier", Body(Set(x, Int(0)), breaking, sync(6)),
			"k.go:3:2" + prefix + "the if at k.go:4:2 depends on ThreadIdx.X"},
		{"in a loop whose iteration some threads end earlier", Body(Set(x, Int(0)), continuing), ""},
		{"behind a continue of some threads", Body(Set(x, Int(0)), late),
			"k.go:4:2" + prefix + "the if at k.go:3:2 depends on ThreadIdx.X"},
		{"behind a block that some threads leave", Body(&ir.Block{Label: block, Body: []ir.Stmt{ifAt(1, Lt(tx(), Int(3)), &ir.Break{Label: block})}}, sync(2)), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := Kernel("k", locals(n, s), locals(i, x), c.body...)
			k.Shared = []*ir.SharedVar{tile}
			got := ""
			if err := uniform(k); err != nil {
				got = err.Error()
			}
			if c.want != "" {
				c.want += advice
			}
			if got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

func TestUniformValues(t *testing.T) {
	n, a, b, c, p := Local("n", ir.TInt), Local("a", ir.TInt), Local("b", ir.TInt), Local("c", ir.TInt), Local("p", ir.PointerTo(ir.TInt))
	k := Kernel("k", locals(n), locals(a, b, c, p),
		Set(a, Add(ir.Get(n), Thread(ir.BlockIdxX))),
		Set(b, Mul(ir.Get(a), Thread(ir.ThreadIdxY))),
		Set(c, Int(1)), Set(p, Addr(Var(c))), SetPlace(Deref(p), ir.Get(b)))
	u := Analyse(k)
	for v, want := range map[*ir.Local]bool{n: true, a: true, b: false, c: false, p: false} {
		if got := u.IsUniform(v); got != want {
			t.Errorf("IsUniform(%s) = %v, want %v", v.Name, got, want)
		}
	}
	k.Options.Block = [3]int{64, 1, 1}
	if !Analyse(k).IsUniform(b) {
		t.Error("ThreadIdx.Y of a block of height 1 is not uniform")
	}
}
