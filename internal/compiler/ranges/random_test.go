package ranges

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"quern.dev/internal/compiler/ir"
	. "quern.dev/internal/compiler/ir/irtest"
	"quern.dev/internal/limits"
)

// indexing generates kernels that test indices: guards, counting loops, strides,
// divisions, slices. Every node that can fail has a unique position.
type indexing struct {
	*rand.Rand
	k      *ir.Kernel
	ints   []*ir.Local // of type int, params included
	small  []*ir.Local // of other integer types
	bools  []*ir.Local
	slices []*ir.Local // []int
	bytes  *ir.Local   // []uint8
	array  *ir.Local   // [8]int
	held   []*ir.Local // loop variables assigned only by the loop
	breaks []*ir.Label
	loops  []*ir.Label
	budget int
	line   int
}

func newIndexing(seed uint64) *indexing {
	g := &indexing{Rand: rand.New(rand.NewPCG(seed, 7)), budget: 40}
	n, m := Local("n", ir.TInt), Local("m", ir.TInt)
	x, y := Local("x", ir.SliceOf(ir.TInt)), Local("y", ir.SliceOf(ir.TInt))
	g.bytes, g.array = Local("b", ir.SliceOf(ir.TUint8)), Local("a", ir.ArrayOf(8, ir.TInt))
	q := Local("q", ir.TInt32)
	g.k = Kernel("indexing", []*ir.Local{n, m, q, x, y, g.bytes}, []*ir.Local{g.array})
	g.ints, g.slices, g.small = []*ir.Local{n, m}, []*ir.Local{x, y}, []*ir.Local{q}
	if g.IntN(3) == 0 {
		g.k.Options.Block = [3]int{4, 2, 1}
	}
	g.k.Func.Body = []ir.Stmt{SetPlace(&ir.IndexPlace{X: Var(g.array), Index: Int(0)}, Int(3))}
	for i := range 4 {
		v := g.local(fmt.Sprintf("v%d", i), ir.TInt)
		g.k.Func.Body = append(g.k.Func.Body, Set(v, g.number(2)))
		g.ints = append(g.ints, v)
	}
	for range 2 {
		v := g.local("c", ir.TBool)
		g.k.Func.Body = append(g.k.Func.Body, Set(v, g.cond(1)))
		g.bools = append(g.bools, v)
	}
	v := g.local("u", ir.TUint32)
	g.k.Func.Body = append(g.k.Func.Body, Set(v, To(ir.TUint32, g.number(1))))
	g.small = append(g.small, v)
	w := g.local("z", ir.TUint)
	g.k.Func.Body = append(g.k.Func.Body, Set(w, To(ir.TUint, g.number(1))))
	g.small = append(g.small, w)
	g.k.Func.Body = append(g.k.Func.Body, g.list(8)...)
	return g
}

func (g *indexing) local(name string, t *ir.Type) *ir.Local {
	v := Local(name, t)
	g.k.Func.Locals = append(g.k.Func.Locals, v)
	return v
}

func (g *indexing) pos() ir.Pos {
	g.line++
	return ir.Pos{File: "k.go", Line: g.line, Col: 1}
}

func choose[T any](g *indexing, list ...T) T { return list[g.IntN(len(list))] }

// number returns an int expression.
func (g *indexing) number(depth int) ir.Expr {
	if depth <= 0 || g.IntN(4) == 0 {
		return g.leaf()
	}
	switch g.IntN(16) {
	case 0, 1, 2:
		return Add(g.number(depth-1), g.number(depth-1))
	case 3, 4:
		return Sub(g.number(depth-1), g.number(depth-1))
	case 5, 6:
		return Mul(g.number(depth-1), g.number(depth-1))
	case 7:
		op := choose(g, ir.Div, ir.Rem)
		if g.IntN(4) == 0 { // row and column of an index
			x, y := g.number(depth-1), g.leaf()
			row := g.at(Op(x, ir.Div, y))
			column := g.at(Op(ir.CloneExpr(x), ir.Rem, ir.CloneExpr(y)))
			return Add(Mul(row, choose(g, ir.CloneExpr(y), g.leaf())), column)
		}
		if g.IntN(2) == 0 {
			return Op(g.number(depth-1), op, Int(choose[int64](g, 1, 2, 3, 4, 7, -1, -2, 16)))
		}
		return g.at(Op(g.number(depth-1), op, g.number(depth-1)))
	case 8:
		return Op(g.number(depth-1), choose(g, ir.And, ir.And, ir.Or, ir.Xor, ir.AndNot), choose(g, Int(7), Int(-4), g.number(depth-1)))
	case 9:
		count := choose(g, Int(1), Int(2), Int(31), Int(33), g.number(depth-1))
		if c, ok := count.(*ir.Const); ok && c.Int64() < 0 {
			count = Int(3) // Go rejects a negative constant
		}
		return g.at(Op(g.number(depth-1), choose(g, ir.Shl, ir.Shr, ir.Shr), count))
	case 10:
		return &ir.Intrinsic{Op: choose(g, ir.Min, ir.Max), T: ir.TInt, Args: []ir.Expr{g.number(depth - 1), g.number(depth - 1)}}
	case 11:
		t := choose(g, ir.TInt32, ir.TUint8, ir.TInt16, ir.TUint32, ir.TUint, ir.TUint64)
		return To(ir.TInt, To(t, g.number(depth-1)))
	case 12:
		return &ir.Select{Cond: g.cond(1), X: g.number(depth - 1), Y: g.number(depth - 1)}
	case 13:
		return &ir.Unary{Op: choose(g, ir.Neg, ir.Not), X: g.number(depth - 1)}
	case 14:
		return Load(g.element(depth - 1))
	}
	return To(ir.TInt, Load(g.elem(g.bytes, g.number(depth-1))))
}

// at gives an expression a position.
func (g *indexing) at(e ir.Expr) ir.Expr {
	e.(*ir.Binary).Pos = g.pos()
	return e
}

func (g *indexing) leaf() ir.Expr {
	switch g.IntN(9) {
	case 0, 1, 2:
		return ir.Get(choose(g, g.ints...))
	case 3:
		return Int(choose[int64](g, 0, 1, 1, 2, 3, -1, 4, 8, 100, 1<<31-1, 1<<31, -1<<31, 1<<62))
	case 4:
		return Global()
	case 5:
		return Thread(choose(g, ir.ThreadIdxX, ir.ThreadIdxY, ir.BlockIdxX, ir.BlockDimX, ir.GridDimX, ir.BlockDimY, ir.LaneID))
	case 6:
		return Len(choose(g, g.slices...))
	case 7:
		return To(ir.TInt, ir.Get(choose(g, g.small...)))
	}
	if len(g.held) > 0 {
		return ir.Get(choose(g, g.held...))
	}
	return ir.Get(choose(g, g.ints...))
}

// subscript returns an index, mostly one that a guard or a loop can bound.
func (g *indexing) subscript(depth int) ir.Expr {
	if g.IntN(3) == 0 {
		return g.number(depth)
	}
	e := g.leaf()
	if g.IntN(3) == 0 {
		e = Op(e, choose(g, ir.Add, ir.Sub), Int(choose[int64](g, 1, 2)))
	}
	return e
}

func (g *indexing) elem(s *ir.Local, i ir.Expr) ir.Place {
	return &ir.ElemPlace{Slice: ir.Get(s), Index: i, Check: true, Pos: g.pos()}
}

func (g *indexing) element(depth int) ir.Place {
	if g.IntN(4) == 0 {
		return &ir.IndexPlace{X: Var(g.array), Index: g.subscript(depth), Check: true, Pos: g.pos()}
	}
	return g.elem(choose(g, g.slices...), g.subscript(depth))
}

func (g *indexing) cond(depth int) ir.Expr {
	if depth > 0 {
		switch g.IntN(6) {
		case 0, 1:
			return Op(g.cond(depth-1), choose(g, ir.LAnd, ir.LAnd, ir.LOr), g.cond(depth-1))
		case 2:
			return &ir.Unary{Op: ir.LNot, X: g.cond(depth - 1)}
		case 3:
			if len(g.bools) > 0 {
				return ir.Get(choose(g, g.bools...))
			}
		case 4:
			v := choose(g, g.small...)
			return Op(ir.Get(v), g.comparison(), To(v.Type, g.number(1)))
		}
	}
	y := g.leaf()
	if g.IntN(2) == 0 {
		y = Len(choose(g, g.slices...))
	}
	if g.IntN(8) == 0 {
		return Op(To(ir.TUint, g.subscript(1)), ir.Lt, To(ir.TUint, y))
	}
	return Op(g.subscript(1), g.comparison(), y)
}

func (g *indexing) comparison() ir.BinaryOp {
	return choose(g, ir.Lt, ir.Lt, ir.Le, ir.Gt, ir.Ge, ir.Ge, ir.Eq, ir.Ne)
}

func (g *indexing) list(n int) []ir.Stmt {
	var out []ir.Stmt
	for range n {
		if g.budget--; g.budget < 0 {
			break
		}
		out = append(out, g.stmt()...)
	}
	return out
}

// free returns an int variable that may be assigned here.
func (g *indexing) free() *ir.Local {
	for {
		if v := choose(g, g.ints...); !slices.Contains(g.held, v) {
			return v
		}
	}
}

func (g *indexing) stmt() []ir.Stmt {
	switch g.IntN(14) {
	case 0, 1:
		return []ir.Stmt{Set(g.free(), g.number(3))}
	case 2:
		v := g.free()
		return []ir.Stmt{Set(v, Add(ir.Get(v), choose(g, Int(1), Int(1), Int(-1), Stride(), g.leaf())))}
	case 3, 4:
		return []ir.Stmt{SetPlace(g.element(2), g.number(2))}
	case 5, 6:
		s := If(g.cond(2), g.list(3)...)
		if g.IntN(3) == 0 {
			s.Else = g.list(2)
		}
		return []ir.Stmt{s}
	case 7:
		exit := choose[ir.Stmt](g, Return(), Return())
		if len(g.loops) > 0 && g.IntN(2) == 0 {
			exit = &ir.Continue{Label: choose(g, g.loops...)}
		} else if len(g.breaks) > 0 && g.IntN(3) > 0 {
			exit = &ir.Break{Label: choose(g, g.breaks...)}
		}
		return []ir.Stmt{If(g.cond(2), exit)}
	case 8, 9:
		return g.counting()
	case 10:
		return g.halving()
	case 11:
		l := &ir.Label{Name: "b"}
		g.breaks = append(g.breaks, l)
		b := &ir.Block{Label: l, Body: g.list(4)}
		g.breaks = g.breaks[:len(g.breaks)-1]
		return []ir.Stmt{b}
	case 12:
		return []ir.Stmt{Set(choose(g, g.bools...), g.cond(2))}
	}
	s := g.local("s", ir.SliceOf(ir.TInt))
	e := &ir.SliceExpr{T: s.Type, X: ir.Get(choose(g, g.slices...)), Check: true, Pos: g.pos()}
	if g.IntN(2) == 0 {
		e.Lo = g.leaf()
	}
	if g.IntN(2) == 0 {
		e.Hi = g.leaf()
	}
	out := []ir.Stmt{Set(s, e)}
	if len(g.loops) == 0 && len(g.breaks) == 0 {
		g.slices = append(g.slices, s)
	}
	return out
}

// counting returns a loop over a variable, up or down.
func (g *indexing) counting() []ir.Stmt {
	v := g.free()
	held := g.IntN(4) > 0 && len(g.held) < 3
	if held {
		g.held = append(g.held, v)
	}
	l := &ir.Label{Name: "for"}
	from, bound := g.subscript(1), choose(g, Len(choose(g, g.slices...)), g.leaf(), Int(6))
	loop := &ir.Loop{Label: l, Cond: Op(ir.Get(v), choose(g, ir.Lt, ir.Lt, ir.Le, ir.Ne), bound),
		Post: []ir.Stmt{Set(v, Add(ir.Get(v), choose(g, Int(1), Int(1), Int(3), Stride())))}}
	if g.IntN(3) == 0 {
		loop.Cond = Op(ir.Get(v), choose(g, ir.Gt, ir.Ge), choose(g, Int(0), g.leaf()))
		loop.Post = []ir.Stmt{Set(v, Sub(ir.Get(v), Int(1)))}
	}
	if g.IntN(5) == 0 {
		loop.Body = []ir.Stmt{If(&ir.Unary{Op: ir.LNot, X: loop.Cond}, &ir.Break{Label: l})}
		loop.Cond = nil
	}
	g.breaks, g.loops = append(g.breaks, l), append(g.loops, l)
	loop.Body = append(loop.Body, g.list(4)...)
	g.breaks, g.loops = g.breaks[:len(g.breaks)-1], g.loops[:len(g.loops)-1]
	if held {
		g.held = g.held[:len(g.held)-1]
	}
	return []ir.Stmt{Set(v, from), loop}
}

// halving returns the loop of a reduction, or a binary search.
func (g *indexing) halving() []ir.Stmt {
	l := &ir.Label{Name: "halve"}
	if g.IntN(2) == 0 {
		v := g.free()
		body := []ir.Stmt{SetPlace(g.element(1), ir.Get(v))}
		post := choose(g, Op(ir.Get(v), ir.Div, Int(2)), Op(ir.Get(v), ir.Shr, Int(1)))
		return []ir.Stmt{Set(v, choose(g, Thread(ir.BlockDimX), Int(64), g.leaf())),
			&ir.Loop{Label: l, Cond: Op(ir.Get(v), ir.Gt, Int(0)), Body: body, Post: []ir.Stmt{Set(v, post)}}}
	}
	lo, hi, mid := g.local("lo", ir.TInt), g.local("hi", ir.TInt), g.local("mid", ir.TInt)
	s := choose(g, g.slices...)
	sum := Add(ir.Get(lo), ir.Get(hi))
	return []ir.Stmt{Set(lo, Int(0)), Set(hi, Len(s)), &ir.Loop{Label: l, Cond: Lt(ir.Get(lo), ir.Get(hi)), Body: []ir.Stmt{
		Set(mid, choose(g, Op(sum, ir.Div, Int(2)), Op(ir.CloneExpr(sum), ir.Shr, Int(1)))),
		Else(If(Lt(Load(g.elem(s, ir.Get(mid))), g.leaf()), Set(lo, Add(ir.Get(mid), Int(1)))), Set(hi, ir.Get(mid))),
	}}}
}

// launch is the thread coordinates and arguments for an indexing kernel.
type launch struct {
	at   Coordinates
	dim  [6]int64
	n, m int64
	q    int64
	lens [3]int
}

func (g *indexing) launch() launch {
	size := func(max int64) int64 { return 1 + g.Int64N(max) }
	argument := func() int64 {
		switch g.IntN(6) {
		case 0:
			return choose[int64](g, math.MaxInt32, math.MinInt32, 46341, 1<<40, -1<<40, math.MaxInt64, math.MinInt64)
		case 1:
			return -g.Int64N(10)
		}
		return g.Int64N(20)
	}
	l := launch{n: argument(), m: argument(), q: int64(int32(argument()))}
	l.dim = [6]int64{size(5), size(3), 1, size(6), size(3), 1}
	if g.k.Options.Block[0] > 0 {
		l.dim[3], l.dim[4] = 4, 2
	}
	if g.IntN(8) == 0 {
		l.dim[0], l.dim[3] = 1<<31-1, 1024
		if g.k.Options.Block[0] > 0 {
			l.dim[3] = 4
		}
	}
	for axis := range 3 {
		l.at[ir.BlockIdxX+ir.ThreadOp(axis)] = g.Int64N(l.dim[axis])
		l.at[ir.ThreadIdxX+ir.ThreadOp(axis)] = g.Int64N(l.dim[3+axis])
		l.at[ir.GridDimX+ir.ThreadOp(axis)] = l.dim[axis]
		l.at[ir.BlockDimX+ir.ThreadOp(axis)] = l.dim[3+axis]
	}
	l.at[ir.LaneID] = l.at[ir.ThreadIdxX] % 32
	for i := range l.lens {
		l.lens[i] = g.IntN(12)
	}
	return l
}

// run executes a kernel and returns the resulting memory and its fault.
func (l launch) run(k *ir.Kernel) ([]*Object, *Fault) {
	x, y, b := SliceValue(ir.TInt, l.lens[0]), SliceValue(ir.TInt, l.lens[1]), SliceValue(ir.TUint8, l.lens[2])
	for i := range x.Object.Cells {
		x.Object.Cells[i] = IntValue(int64(i * i))
	}
	for i := range b.Object.Cells {
		b.Object.Cells[i] = IntValue(int64(i))
	}
	var f *Fault
	errors.As(Run(k, l.at, IntValue(l.n), IntValue(l.m), IntValue(l.q), x, y, b), &f)
	return []*Object{x.Object, y.Object}, f
}

// cleared returns the positions of divisions, shifts and slice expressions without a
// check: the interpreter stops there anyway.
func cleared(k *ir.Kernel) map[ir.Pos]bool {
	out := map[ir.Pos]bool{}
	v := ir.Visitor{Expr: func(e ir.Expr) bool {
		switch e := e.(type) {
		case *ir.Binary:
			out[e.Pos] = !e.Check
		case *ir.SliceExpr:
			out[e.Pos] = !e.Check
		}
		return true
	}}
	v.Body(k.Func.Body)
	return out
}

var seeds = flag.Int("seeds", 60, "number of random kernels")

func TestRangesKeepTheMeaningOfRandomKernels(t *testing.T) {
	defer func(n int) { MaxSteps = n }(MaxSteps)
	MaxSteps = 400
	kernels, narrowed := uint64(*seeds), 0
	var held [3]int // number of launches, by variant
	promised := 0   // number of checks, in launches that keep the promise
	for seed := range kernels {
		g := newIndexing(seed)
		if err := ir.Verify(g.k, ir.StageFinal); err != nil {
			t.Fatalf("seed %d: the generator: %v", seed, err)
		}
		variants := [3]*ir.Kernel{ir.CloneKernel(g.k), ir.CloneKernel(g.k), ir.CloneKernel(g.k)}
		var programs [3]limits.Program
		for v, k := range variants {
			Apply(k, Variant(v))
			if err := ir.Verify(k, ir.StageFinal); err != nil {
				t.Fatalf("seed %d, variant %d: %v\n%s", seed, v, err, k)
			}
			programs[v] = k.Limits.Encode()
			if err := programs[v].Validate(len(g.k.Func.Params)); err != nil {
				t.Fatalf("seed %d, variant %d: %v", seed, v, err)
			}
		}
		for range 12 {
			l := g.launch()
			memory, fault := l.run(g.k)
			for v, k := range variants {
				args := []int64{l.n, l.m, l.q, int64(l.lens[0]), int64(l.lens[1]), int64(l.lens[2])}
				if !programs[v].Hold(args, &l.dim) {
					continue
				}
				held[v]++
				if Variant(v) == Proven {
					promised += ir.BoundsChecks(variants[Narrow].Func.Body) - ir.BoundsChecks(k.Func.Body)
				}
				gotMemory, gotFault := l.run(k)
				if fault != nil && fault.Kind == "steps" {
					continue
				}
				if !reflect.DeepEqual(fault, gotFault) || !reflect.DeepEqual(memory, gotMemory) {
					t.Fatalf("seed %d, variant %d, launch %+v: fault %v, want %v\nmemory %v\nwant   %v\nfrom %s\nto %s",
						seed, v, l, gotFault, fault, cells(gotMemory), cells(memory), g.k, k)
				}
				if gotFault != nil && gotFault.Kind != "index" && cleared(k)[gotFault.Pos] {
					t.Fatalf("seed %d, variant %d, launch %+v: cleared check fails: %v\nfrom %s\nto %s", seed, v, l, gotFault, g.k, k)
				}
			}
		}
		for _, v := range variants[Narrow].Func.Locals {
			if v.Type.Kind == ir.Int32 {
				narrowed++
			}
		}
	}
	if held[Narrow] < int(kernels) || narrowed < int(kernels) || promised < int(kernels)/10 {
		t.Errorf("launches by variant %v, %d narrow variables, %d promised checks: the test says little", held, narrowed, promised)
	}
	t.Logf("launches by variant %v, %d promised checks", held, promised)
}

func cells(list []*Object) [][]int64 {
	out := make([][]int64, len(list))
	for i, o := range list {
		for _, c := range o.Cells {
			out[i] = append(out[i], int64(c.Bits))
		}
	}
	return out
}
