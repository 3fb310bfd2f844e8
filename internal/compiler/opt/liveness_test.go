package opt

import (
	"reflect"
	"testing"

	"quern.dev/internal/compiler/ir"
	. "quern.dev/internal/compiler/ir/irtest"
)

func TestUnreadValuesAreNotStored(t *testing.T) {
	four := ir.ArrayOf(4, ir.TInt)
	out, n, i := Local("out", ints), Local("n", ir.TInt), Local("i", ir.TInt)
	v, w, a, p := Local("v", ir.TInt), Local("w", ir.TInt), Local("a", four), Local("p", ir.PointerTo(ir.TInt))
	store := func(e ir.Expr) ir.Stmt { return SetPlace(Elem(out, Int(0)), e) }
	positive := func() ir.Expr { return Op(ir.Get(n), ir.Gt, Int(0)) }
	count := func(s ...ir.Stmt) *ir.Loop {
		return &ir.Loop{Label: &ir.Label{Name: "loop"}, Cond: Lt(ir.Get(i), ir.Get(n)), Body: s, Post: []ir.Stmt{Set(i, Add(ir.Get(i), Int(1)))}}
	}
	jumping := func(jump func(*ir.Label) ir.Stmt, s ...ir.Stmt) ir.Stmt {
		l := count()
		l.Body = Body(s, Set(v, ir.Get(n)), If(positive(), jump(l.Label)), Set(v, Int(1)))
		return l
	}
	read := Func("read", locals(Local("q", ir.TInt)), locals(Local("x", ir.TInt), Local("y", ir.TInt)), nil)
	for _, c := range []struct {
		name string
		body []ir.Stmt
		want string
	}{
		{"a value that is overwritten on both ways", Body(Set(v, Int(0)), Else(If(positive(), Set(v, Int(1))), Set(v, Int(2))), store(ir.Get(v))),
			lines("if n > 0 {", "v = 1", "} else {", "v = 2", "out[?0] = v")},
		{"one that is overwritten on one way stays", Body(Set(v, Int(0)), If(positive(), Set(v, Int(1))), store(ir.Get(v))),
			lines("v = 0", "if n > 0 {", "v = 1", "out[?0] = v")},
		{"the last update of a variable that was read", Body(Set(v, ir.Get(n)), store(ir.Get(v)), Set(v, Add(ir.Get(v), Int(1)))),
			lines("v = n", "out[?0] = v")},
		{"a condition that decides about nothing else", Body(store(ir.Get(n)), If(positive(), Set(v, Int(1)))),
			"out[?0] = n"},
		{"a condition that can fail stays", Body(If(Op(Load(Elem(out, Int(1))), ir.Gt, Int(0)), Set(v, Int(1)))),
			"if out[?1] > 0 {"},
		{"what can fail stays, as another variable", Body(Set(v, Load(Elem(out, ir.Get(n)))), Set(v, Int(1)), store(ir.Get(v))),
			lines("unread = out[?n]", "v = 1", "out[?0] = v")},
		{"a value that the next iteration reads stays", Body(Set(i, Int(0)), Set(v, Int(0)), count(store(ir.Get(v)), Set(v, ir.Get(i)))),
			lines("i = 0", "v = 0", "for L0.loop i < n {", "out[?0] = v", "v = i", "} post {", "i = i + 1")},
		{"a counter that only counts itself", Body(Set(i, Int(0)), Set(v, Int(0)), count(store(ir.Get(i)), Set(v, Add(ir.Get(v), Int(1))))),
			lines("i = 0", "for L0.loop i < n {", "out[?0] = i", "} post {", "i = i + 1")},
		{"a value that a break takes along stays", Body(Set(i, Int(0)), Set(v, Int(0)),
			jumping(func(l *ir.Label) ir.Stmt { return &ir.Break{Label: l} }), store(ir.Get(v))),
			lines("i = 0", "v = 0", "for L0.loop i < n {", "v = n", "if n > 0 {", "break L0.loop", "v = 1", "} post {", "i = i + 1", "out[?0] = v")},
		{"a value that a continue takes along stays", Body(Set(i, Int(0)), Set(v, Int(0)),
			jumping(func(l *ir.Label) ir.Stmt { return &ir.Continue{Label: l} }, store(ir.Get(v)))),
			lines("i = 0", "v = 0", "for L0.loop i < n {", "out[?0] = v", "v = n", "if n > 0 {", "continue L0.loop", "v = 1", "} post {", "i = i + 1")},
		{"a value that a return ends", Body(Set(v, ir.Get(n)), If(positive(), Set(v, Int(2)), Return()), store(ir.Get(v))),
			lines("v = n", "if n > 0 {", "return", "out[?0] = v")},
		{"an element of an array that is read stays", Body(Set(a, &ir.Zero{T: four}), SetPlace(Index(Var(a), Int(1)), Int(7)), store(Load(Index(Var(a), ir.Get(n))))),
			lines("a = zero([4]int)", "a[?1] = 7", "out[?0] = a[?n]")},
		{"a variable whose address is taken stays", Body(Set(p, Addr(Var(v))), Set(v, Int(3)), store(Load(Deref(p))), Set(v, Int(4))),
			lines("p = &v", "v = 3", "out[?0] = (*p)", "v = 4")},
		{"one of two results", Body(&ir.Call{Dst: locals(v, w), Func: read, Args: []ir.Expr{ir.Get(n)}}, Set(v, Int(1)), store(Add(ir.Get(v), ir.Get(w)))),
			lines("_, w = read(n)", "v = 1", "out[?0] = v + w")},
		{"an atomic operation stays without its result", Body(&ir.Atomic{Dst: v, Op: ir.AtomicAdd, Place: Elem(out, Int(0)), Args: []ir.Expr{Int(1)}}, Set(v, Int(1)), store(ir.Get(v))),
			lines("_ = atomic add(&out[?0], 1)", "v = 1", "out[?0] = v")},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := Kernel("k", locals(out, n), locals(i, v, w, a, p), c.body...)
			deadStores(k.Func)
			if got := text(k); got != c.want {
				t.Errorf("got:\n%s\nwant:\n%s", got, c.want)
			}
		})
	}
}

func TestARandomKernelDoesTheSameWithoutItsDeadStores(t *testing.T) {
	shorter := 0
	for seed := range uint64(*seeds) {
		for _, passes := range [][]pass{nil, common[:len(common)-1]} {
			k := newProgram(seed).kernel()
			if err := all.run(k, passes, target{}); err != nil {
				t.Fatal(err)
			}
			c := ir.CloneKernel(k)
			deadStores(c.Func)
			got, gotErr := outcome(c, seed)
			want, wantErr := outcome(k, seed)
			if !reflect.DeepEqual(got, want) || !reflect.DeepEqual(gotErr, wantErr) {
				t.Fatalf("seed %d\ngot  %v, %v\nwant %v, %v\nbefore: %s\nafter: %s", seed, got, gotErr, want, wantErr, k, c)
			}
			if len(c.String()) < len(k.String()) {
				shorter++
			}
		}
	}
	if shorter == 0 {
		t.Error("no kernel has a dead store")
	}
}
