package opt

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime/debug"
	"testing"

	"quern.dev/internal/compiler/ir"
	. "quern.dev/internal/compiler/ir/irtest"
)

func init() { debug.SetGCPercent(400) } // the live heap is so small that collections took 40 % of the time

// program generates kernels that use everything the passes handle: calls, pointers,
// slices of arrays, structs, arrays, loops with and without constant bounds, and every
// kind of jump.
type program struct {
	*rand.Rand
	inner, outer *ir.Type
	funcs        []*ir.Func
}

// frame is what a generated function can use.
type frame struct {
	p       *program
	fn      *ir.Func
	ints    []*ir.Local
	fixed   []*ir.Local // ints that no statement assigns
	structs []*ir.Local
	arrays  []*ir.Local // [4]int
	slices  []*ir.Local // []int
	out     *ir.Local   // []int
	labels  []*ir.Label // breaks
	loops   []*ir.Label // continues
	budget  *int
}

func newProgram(seed uint64) *program {
	p := &program{Rand: rand.New(rand.NewPCG(seed, 1))}
	p.inner = ir.StructOf("t.Inner", ir.Field{Name: "a", Type: ir.TInt}, ir.Field{Name: "b", Type: ir.ArrayOf(3, ir.TInt)})
	p.outer = ir.StructOf("t.Outer", ir.Field{Name: "x", Type: ir.TInt}, ir.Field{Name: "in", Type: p.inner}, ir.Field{Name: "y", Type: ir.TInt})
	return p
}

// kernel generates a kernel with parameters n int, s t.Outer, out []int.
func (p *program) kernel() *ir.Kernel {
	for range 3 {
		p.funcs = append(p.funcs, p.function(len(p.funcs)))
	}
	n, s, out := Local("n", ir.TInt), Local("s", p.outer), Local("out", ir.SliceOf(ir.TInt))
	k := Kernel("random", []*ir.Local{n, s, out}, nil)
	budget := 60
	sc := &frame{p: p, fn: k.Func, ints: []*ir.Local{n}, structs: []*ir.Local{s}, slices: []*ir.Local{out}, out: out, budget: &budget}
	k.Func.Body = sc.body(14)
	for i, v := range sc.ints {
		k.Func.Body = append(k.Func.Body, SetPlace(Elem(out, Int(int64(i%8))), Add(Load(Elem(out, Int(int64(i%8)))), ir.Get(v))))
	}
	for _, v := range sc.structs {
		k.Func.Body = append(k.Func.Body, SetPlace(Elem(out, Int(1)), Add(Load(Elem(out, Int(1))), Load(Field(Var(v), 2)))))
	}
	return k
}

// function generates func(a int, s t.Outer, q *int, w []int) (int, t.Outer).
func (p *program) function(i int) *ir.Func {
	a, s, q, w := Local("a", ir.TInt), Local("s", p.outer), Local("q", ir.PointerTo(ir.TInt)), Local("w", ir.SliceOf(ir.TInt))
	r0, r1 := Local("r0", ir.TInt), Local("r1", p.outer)
	f := Func(fmt.Sprintf("f%d", i), []*ir.Local{a, s, q, w}, []*ir.Local{r0, r1}, nil)
	budget := 15
	sc := &frame{p: p, fn: f, ints: []*ir.Local{a}, structs: []*ir.Local{s}, slices: []*ir.Local{w}, out: w, budget: &budget}
	f.Body = Body(sc.body(4),
		If(Op(sc.intExpr(2), ir.Gt, sc.intExpr(2)), Return(Load(Deref(q)), sc.structExpr())),
		SetPlace(Deref(q), sc.intExpr(3)),
		sc.nested(3),
		Return(sc.intExpr(3), sc.structExpr()))
	return f
}

func (s *frame) local(name string, t *ir.Type) *ir.Local {
	v := Local(name, t)
	s.fn.Locals = append(s.fn.Locals, v)
	return v
}

// nested generates a list in its own scope.
func (s *frame) nested(n int) []ir.Stmt {
	in := *s
	return in.body(n)
}

func (s *frame) body(n int) []ir.Stmt {
	var out []ir.Stmt
	for range n {
		if *s.budget--; *s.budget < 0 {
			break
		}
		out = append(out, s.stmt()...)
	}
	return out
}

func pick[T any](s *frame, list []T) T { return list[s.p.IntN(len(list))] }

// assignable returns an int variable or a part of a variable, possibly in memory.
func (s *frame) assignable() ir.Place {
	switch s.p.IntN(7) {
	case 0:
		return s.structPart()
	case 1:
		if len(s.arrays) > 0 {
			return Index(Var(pick(s, s.arrays)), s.index(4))
		}
	case 2:
		return Elem(pick(s, s.slices), s.index(8))
	}
	var free []*ir.Local
	for _, v := range s.ints {
		if !contains(s.fixed, v) {
			free = append(free, v)
		}
	}
	if len(free) == 0 {
		return s.structPart()
	}
	return Var(pick(s, free))
}

func contains(list []*ir.Local, v *ir.Local) bool {
	for _, w := range list {
		if v == w {
			return true
		}
	}
	return false
}

func (s *frame) structPart() ir.Place {
	v := Var(pick(s, s.structs))
	switch s.p.IntN(4) {
	case 0:
		return Field(v, 2*s.p.IntN(2))
	case 1:
		return Field(Field(v, 1), 0)
	}
	return Index(Field(Field(v, 1), 1), s.index(3))
}

// index returns an index that is mostly constant and mostly in range.
func (s *frame) index(n int) ir.Expr {
	switch s.p.IntN(10) {
	case 0:
		return s.intExpr(2)
	case 1, 2, 3:
		return Op(s.intExpr(2), ir.And, Int(int64(n)-1))
	}
	return Int(int64(s.p.IntN(n)))
}

func (s *frame) intExpr(depth int) ir.Expr {
	if depth == 0 || s.p.IntN(4) == 0 {
		switch s.p.IntN(6) {
		case 0, 1:
			return Int(int64(s.p.IntN(12) - 3))
		case 2:
			return Load(s.structPart())
		case 3:
			return Load(Elem(pick(s, s.slices), s.index(8)))
		case 4:
			return Thread(ir.ThreadIdxX)
		}
		return ir.Get(pick(s, s.ints))
	}
	x, y := s.intExpr(depth-1), s.intExpr(depth-1)
	ops := []ir.BinaryOp{ir.Add, ir.Sub, ir.Mul, ir.And, ir.Or, ir.Xor, ir.AndNot}
	switch s.p.IntN(12) {
	case 0:
		return Op(x, ir.Shl, Int(int64(s.p.IntN(70))))
	case 1:
		return Op(x, ir.Shr, Op(y, ir.And, Int(15)))
	case 2:
		return Op(x, ir.Div, y)
	case 3:
		return Op(x, ir.Rem, Int(int64(s.p.IntN(7)+1)))
	case 4:
		return To(ir.TInt, To(ir.TUint8, To(ir.TInt32, x)))
	case 5:
		return &ir.Intrinsic{Op: ir.Min, T: ir.TInt, Args: []ir.Expr{x, y}}
	}
	return Op(x, pick(s, ops), y)
}

func (s *frame) cond() ir.Expr {
	ops := []ir.BinaryOp{ir.Lt, ir.Le, ir.Eq, ir.Ne, ir.Gt, ir.Ge}
	c := Op(s.intExpr(2), pick(s, ops), s.intExpr(1))
	switch s.p.IntN(5) {
	case 0:
		return Op(c, ir.LAnd, s.boolLeaf())
	case 1:
		return Op(c, ir.LOr, s.boolLeaf())
	case 2:
		return &ir.Unary{Op: ir.LNot, X: c}
	}
	return c
}

func (s *frame) boolLeaf() ir.Expr { return Op(s.intExpr(1), ir.Lt, s.intExpr(1)) }

func (s *frame) structExpr() ir.Expr {
	switch s.p.IntN(4) {
	case 0:
		return &ir.Zero{T: s.p.outer}
	case 1:
		v := pick(s, s.structs)
		return Composite(s.p.outer, Load(Field(Var(v), 2)), Load(Field(Var(pick(s, s.structs)), 1)), Load(Field(Var(v), 0)))
	case 2:
		b := Composite(ir.ArrayOf(3, ir.TInt), s.intExpr(1), nil, s.intExpr(2))
		return Composite(s.p.outer, s.intExpr(2), Composite(s.p.inner, s.intExpr(1), b), nil)
	}
	return ir.Get(pick(s, s.structs))
}

func (s *frame) stmt() []ir.Stmt {
	switch s.p.IntN(20) {
	case 0, 1:
		v := s.local("i", ir.TInt)
		list := []ir.Stmt{Set(v, s.intExpr(3))}
		s.ints = append(s.ints, v)
		return list
	case 2:
		v := s.local("s", s.p.outer)
		list := []ir.Stmt{Set(v, s.structExpr())}
		s.structs = append(s.structs, v)
		return list
	case 3:
		v := s.local("arr", ir.ArrayOf(4, ir.TInt))
		s.arrays = append(s.arrays, v)
		return []ir.Stmt{Set(v, &ir.Zero{T: v.Type})}
	case 4:
		return []ir.Stmt{SetPlace(Var(pick(s, s.structs)), s.structExpr())}
	case 5, 6:
		st := If(s.cond(), s.nested(3)...)
		if s.p.IntN(2) == 0 {
			st.Else = s.nested(3)
		}
		return []ir.Stmt{st}
	case 7, 8, 9:
		return s.loop()
	case 10:
		l := &ir.Label{Name: "block"}
		in := *s
		in.labels = append(in.labels[:len(in.labels):len(in.labels)], l)
		return []ir.Stmt{&ir.Block{Label: l, Body: in.body(4)}}
	case 11:
		return s.jump()
	case 12:
		return s.call()
	case 13:
		return s.pointer()
	case 14:
		return s.slice()
	case 15:
		old := s.local("old", ir.TInt)
		list := []ir.Stmt{&ir.Atomic{Dst: old, Op: ir.AtomicAdd, Place: Elem(s.out, s.index(8)), Args: []ir.Expr{s.intExpr(2)}}}
		s.ints = append(s.ints, old)
		return list
	}
	return []ir.Stmt{SetPlace(s.assignable(), s.intExpr(3))}
}

func (s *frame) loop() []ir.Stmt {
	v := s.local("k", ir.TInt)
	in := *s
	in.ints = append(in.ints[:len(in.ints):len(in.ints)], v)
	in.fixed = append(in.fixed[:len(in.fixed):len(in.fixed)], v)
	var to ir.Expr = Int(int64(s.p.IntN(5)))
	if s.p.IntN(4) == 0 {
		to = Op(s.intExpr(1), ir.And, Int(3))
	}
	list := For(v, Int(int64(s.p.IntN(3))), to)
	l := list[1].(*ir.Loop)
	in.labels = append(in.labels[:len(in.labels):len(in.labels)], l.Label)
	in.loops = append(in.loops[:len(in.loops):len(in.loops)], l.Label)
	l.Body = in.body(4)
	if len(s.arrays) > 0 {
		a := pick(s, s.arrays)
		l.Body = append(l.Body, SetPlace(Index(Var(a), ir.Get(v)), Add(Load(Index(Var(a), ir.Get(v))), in.intExpr(1))))
	}
	return list
}

// jump generates a conditional jump.
func (s *frame) jump() []ir.Stmt {
	var j ir.Stmt
	switch {
	case len(s.loops) > 0 && s.p.IntN(2) == 0:
		j = &ir.Continue{Label: pick(s, s.loops)}
	case len(s.labels) > 0:
		j = &ir.Break{Label: pick(s, s.labels)}
	case len(s.fn.Results) == 0:
		j = Return()
	default:
		j = Return(s.intExpr(1), s.structExpr())
	}
	return []ir.Stmt{If(s.cond(), append(s.nested(2), j)...)}
}

func (s *frame) call() []ir.Stmt {
	if len(s.p.funcs) == 0 || s.fn == s.p.funcs[0] {
		return nil
	}
	x, st := s.local("x", ir.TInt), s.local("st", s.p.outer)
	target := s.local("target", ir.TInt)
	list := []ir.Stmt{Set(target, s.intExpr(2)), &ir.Call{Dst: []*ir.Local{x, st}, Func: pick(s, s.p.funcs),
		Args: []ir.Expr{s.intExpr(2), s.structExpr(), Addr(Var(target)), ir.Get(pick(s, s.slices))}}}
	s.ints, s.structs = append(s.ints, x, target), append(s.structs, st)
	return list
}

// pointer takes an address and uses it.
func (s *frame) pointer() []ir.Stmt {
	i := s.local("at", ir.TInt)
	list := []ir.Stmt{Set(i, s.index(3))}
	place := []ir.Place{Var(pick(s, s.ints)), Field(Var(pick(s, s.structs)), 0),
		Index(Field(Field(Var(pick(s, s.structs)), 1), 1), ir.Get(i)), Elem(s.out, ir.Get(i))}[s.p.IntN(4)]
	if root, ok := place.(*ir.VarPlace); ok && contains(s.fixed, root.Var) {
		return nil
	}
	p, q := s.local("p", ir.PointerTo(ir.TInt)), s.local("q", ir.PointerTo(ir.TInt))
	list = append(list, Set(p, Addr(place)))
	list = append(list, s.nested(2)...)
	list = append(list, Set(q, ir.Get(p)), SetPlace(Deref(q), Add(Load(Deref(p)), s.intExpr(2))))
	if s.p.IntN(3) == 0 {
		list = append(list, Set(q, Addr(Elem(s.out, Int(1)))), SetPlace(Deref(q), s.intExpr(1)))
	}
	return list
}

// slice creates a slice of an array or of a slice.
func (s *frame) slice() []ir.Stmt {
	v := s.local("w", ir.SliceOf(ir.TInt))
	e := &ir.SliceExpr{T: v.Type, Check: true}
	if len(s.arrays) > 0 && s.p.IntN(2) == 0 {
		e.Array = Var(pick(s, s.arrays))
	} else {
		e.X = ir.Get(pick(s, s.slices))
	}
	if s.p.IntN(2) == 0 {
		e.Lo = Int(int64(s.p.IntN(2)))
		e.Hi = Int(int64(1 + s.p.IntN(4)))
	}
	s.slices = append(s.slices, v)
	return []ir.Stmt{Set(v, e)}
}

var seeds = flag.Int("seeds", 60, "number of random kernels")

func TestThePassesKeepWhatARandomKernelDoes(t *testing.T) {
	faults := 0
	for seed := range uint64(*seeds) {
		k := newProgram(seed).kernel()
		if err := ir.Verify(k, ir.StageFront); err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, k)
		}
		want, wantErr := outcome(k, seed)
		if wantErr != nil {
			faults++
		}
		c := ir.CloneKernel(k)
		for i, p := range common {
			if err := all.run(c, []pass{p}, target{}); err != nil {
				t.Fatalf("seed %d: %v\n%s", seed, err, c)
			}
			got, gotErr := outcome(c, seed)
			if (gotErr == nil) == (wantErr == nil) && reflect.DeepEqual(got, want) && !isUnchecked(gotErr) {
				continue
			}
			before := ir.CloneKernel(k)
			if err := all.run(before, common[:i], target{}); err != nil {
				t.Fatal(err)
			}
			t.Fatalf("seed %d: after %s\ngot  %v, %v\nwant %v, %v\nbefore: %s\nafter: %s", seed, p.name, got, gotErr, want, wantErr, before, c)
		}
	}
	if faults == 0 || faults == *seeds {
		t.Errorf("%d of %d kernels stop with a fault, want some", faults, *seeds)
	}
}

func TestEveryVariantKeepsWhatARandomKernelDoes(t *testing.T) {
	ran := map[string]int{}
	for seed := range uint64(*seeds / 2) {
		k := newProgram(seed).kernel()
		want, wantErr := outcome(k, seed)
		variants, err := PTX(k)
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, k)
		}
		for _, v := range variants {
			n, length := int64(arguments(seed)[0].Bits), int64(8)
			if !v.Limits.Encode().Hold([]int64{n, 0, length}, &[6]int64{1, 1, 1, 4, 1, 1}) {
				continue
			}
			ran[v.Name]++
			got, gotErr := outcome(v.Kernel, seed)
			// A failing thread may fail before stores that come earlier in the source.
			if (gotErr == nil) != (wantErr == nil) || wantErr == nil && !reflect.DeepEqual(got, want) || isUnchecked(gotErr) {
				t.Fatalf("seed %d, %s variant\ngot  %v, %v\nwant %v, %v\nof: %s\nto: %s", seed, v.Name, got, gotErr, want, wantErr, k, v)
			}
		}
	}
	if ran["narrow"] < *seeds/4 || ran["wide"] == 0 {
		t.Errorf("of %d kernels these variants can be launched: %v", *seeds/2, ran)
	}
}

func isUnchecked(err error) bool {
	f, ok := err.(*Fault)
	return ok && f.Kind == "unchecked index"
}

// arguments returns arguments for a random kernel: n, s and out.
func arguments(seed uint64) []Value {
	rnd := rand.New(rand.NewPCG(seed, 2))
	s := &Object{}
	for range 6 {
		s.Cells = append(s.Cells, IntValue(int64(rnd.IntN(9)-2)))
	}
	return []Value{IntValue(int64(rnd.IntN(10))), {Object: s}, SliceValue(ir.TInt, 8)}
}

// outcome runs a kernel and returns the contents of out.
func outcome(k *ir.Kernel, seed uint64) ([]uint64, error) {
	args := arguments(seed)
	err := Run(k, Coordinates{ir.ThreadIdxX: 3, ir.BlockDimX: 4, ir.BlockDimY: 1, ir.BlockDimZ: 1, ir.GridDimX: 1, ir.GridDimY: 1, ir.GridDimZ: 1}, args...)
	var cells []uint64
	for _, c := range args[2].Object.Cells {
		cells = append(cells, c.Bits)
	}
	return cells, err
}
