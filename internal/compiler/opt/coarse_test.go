package opt

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"quern.dev/internal/compiler/ir"
	. "quern.dev/internal/compiler/ir/irtest"
)

// elementwise generates kernels in which each thread changes only its own elements.
type elementwise struct {
	*rand.Rand
	k       *ir.Kernel
	n, i    *ir.Local
	own     []*ir.Local // slices of which only element i is accessed
	read    []*ir.Local // slices that are only read
	counter *ir.Local
	ints    []*ir.Local
	line    int
}

func newElementwise(seed uint64) *elementwise {
	g := &elementwise{Rand: rand.New(rand.NewPCG(seed, 11)), n: Local("n", ir.TInt), i: Local("i", ir.TInt)}
	params := []*ir.Local{g.n}
	for _, t := range []*ir.Type{ir.TInt32, ir.TUint8, ir.TInt16, ir.TInt} {
		g.own = append(g.own, Local("own"+t.String(), ir.SliceOf(t)))
	}
	for _, t := range []*ir.Type{ir.TInt32, ir.TInt8} {
		g.read = append(g.read, Local("read"+t.String(), ir.SliceOf(t)))
	}
	g.counter = Local("counter", ir.SliceOf(ir.TInt))
	params = append(append(append(params, g.own...), g.read...), g.counter)
	g.k = Kernel("elementwise", params, []*ir.Local{g.i})
	body := g.list(2 + g.IntN(3))
	number := Set(g.i, Global())
	guard := Lt(ir.Get(g.i), choose2(g, ir.Get(g.n), Len(g.own[0])))
	switch g.IntN(5) {
	case 0:
		g.k.Func.Body = append([]ir.Stmt{number, If(Op(ir.Get(g.i), ir.Ge, ir.Get(g.n)), Return())}, body...)
	case 1:
		g.k.Func.Body = []ir.Stmt{number, If(Op(guard, ir.LAnd, g.cond()), body...)}
	case 2:
		g.k.Func.Body = append([]ir.Stmt{number, If(&ir.Unary{Op: ir.LNot, X: guard}, Return()), If(g.cond(), Return())}, body...)
	case 3:
		g.k.Func.Body = append([]ir.Stmt{number}, body...)
	default:
		g.k.Func.Body = []ir.Stmt{number, If(guard, body...)}
	}
	return g
}

func choose2[T any](g *elementwise, list ...T) T { return list[g.IntN(len(list))] }

func (g *elementwise) pos() ir.Pos {
	g.line++
	return ir.Pos{File: "k.go", Line: g.line, Col: 1}
}

func (g *elementwise) elem(s *ir.Local, index ir.Expr) ir.Place {
	return &ir.ElemPlace{Slice: ir.Get(s), Index: index, Check: true, Pos: g.pos()}
}

func (g *elementwise) list(n int) []ir.Stmt {
	depth := len(g.ints)
	var out []ir.Stmt
	for range n {
		out = append(out, g.stmt())
	}
	g.ints = g.ints[:depth]
	return out
}

func (g *elementwise) stmt() ir.Stmt {
	switch g.IntN(10) {
	case 0, 1:
		v := Local(fmt.Sprintf("v%d", len(g.k.Func.Locals)), ir.TInt)
		g.k.Func.Locals = append(g.k.Func.Locals, v)
		s := Set(v, g.number(2))
		g.ints = append(g.ints, v)
		return s
	case 2:
		if len(g.ints) > 0 {
			v := choose2(g, g.ints...)
			return If(g.cond(), Set(v, g.number(1)))
		}
	case 3:
		s := If(g.cond(), g.list(1)...)
		if g.IntN(2) == 0 {
			s.Else = g.list(1)
		}
		return s
	case 4:
		return &ir.Atomic{Op: ir.AtomicAdd, Place: g.elem(g.counter, Op(g.number(1), ir.And, Int(3))), Args: []ir.Expr{g.number(1)}}
	}
	s := choose2(g, g.own...)
	return SetPlace(g.elem(s, ir.Get(g.i)), To(s.Type.Elem, g.number(3)))
}

func (g *elementwise) cond() ir.Expr {
	return Op(g.number(1), choose2(g, ir.Lt, ir.Ge, ir.Ne), g.number(1))
}

func (g *elementwise) number(depth int) ir.Expr {
	if depth == 0 || g.IntN(4) == 0 {
		switch g.IntN(9) {
		case 0:
			return Int(int64(g.IntN(9) - 2))
		case 1:
			return ir.Get(g.i)
		case 2:
			return Thread(choose2(g, ir.GridDimX, ir.BlockIdxY, ir.GridDimX, ir.LaneID))
		case 3:
			if len(g.ints) > 0 {
				return ir.Get(choose2(g, g.ints...))
			}
		}
		return To(ir.TInt, Load(g.elem(choose2(g, g.own...), ir.Get(g.i))))
	}
	x := g.number(depth - 1)
	switch g.IntN(8) {
	case 0:
		s := choose2(g, g.read...)
		return To(ir.TInt, Load(g.elem(s, choose2(g, Op(x, ir.And, Int(7)), x, Add(ir.Get(g.i), Int(1))))))
	case 1:
		return &ir.Select{Cond: g.cond(), X: x, Y: g.number(depth - 1)}
	}
	return Op(x, choose2(g, ir.Add, ir.Sub, ir.Xor, ir.Mul), g.number(depth-1))
}

// arguments returns launch arguments for the kernel. Most launches are large enough.
func (g *elementwise) arguments(threads int) []Value {
	fill := func(t *ir.Type, n int) Value {
		v := SliceValue(t, n)
		for i := range v.Object.Cells {
			v.Object.Cells[i] = Value{Bits: ir.WrapBits(t.Kind, g.Uint64N(40)-4)}
		}
		return v
	}
	n := threads
	switch g.IntN(4) {
	case 0:
		n = g.IntN(threads + 1)
	case 1:
		n += g.IntN(4)
	}
	args := []Value{IntValue(int64(n))}
	for _, s := range g.own {
		length := n
		if g.IntN(8) == 0 {
			length = max(0, n-g.IntN(3))
		}
		args = append(args, fill(s.Type.Elem, length))
	}
	for _, s := range g.read {
		args = append(args, fill(s.Type.Elem, 64+n))
	}
	return append(args, fill(ir.TInt, 4))
}

// runGrid runs all threads of a grid. It returns the memory and the positions of the
// faults.
func runGrid(k *ir.Kernel, blocks, stated, threads int, args []Value) (memory []uint64, faults map[ir.Pos]bool, err error) {
	faults = map[ir.Pos]bool{}
	for b := range blocks {
		for t := range threads {
			at := Coordinates{ir.ThreadIdxX: int64(t), ir.BlockIdxX: int64(b), ir.BlockDimX: int64(threads), ir.GridDimX: int64(stated),
				ir.BlockDimY: 1, ir.BlockDimZ: 1, ir.GridDimY: 1, ir.GridDimZ: 1, ir.LaneID: int64(t % 32)}
			var f *Fault
			if err := Run(k, at, args...); errors.As(err, &f) {
				faults[f.Pos] = true
				if isUnchecked(err) {
					return nil, nil, err
				}
			}
		}
	}
	for _, a := range args {
		if a.Object != nil {
			for _, c := range a.Object.Cells {
				memory = append(memory, c.Bits)
			}
		}
	}
	return memory, faults, nil
}

func copied(args []Value) []Value {
	out := make([]Value, len(args))
	for i, a := range args {
		if a.Object != nil {
			a.Object = &Object{Cells: append([]Value(nil), a.Object.Cells...)}
		}
		out[i] = a
	}
	return out
}

func TestACoarseKernelDoesWhatItsThreadsDo(t *testing.T) {
	ran := map[string]int{}
	for seed := range uint64(*seeds * 4) {
		g := newElementwise(seed)
		if err := ir.Verify(g.k, ir.StageFront); err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, g.k)
		}
		variants, err := PTX(g.k)
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, g.k)
		}
		v := variants[0]
		if v.Name != "coarse" {
			ran["plain"]++
			continue
		}
		for range 4 {
			blocks, threads := 1+g.IntN(2*v.Coarse.Threads+1), 1+g.IntN(5)
			args := g.arguments(blocks * threads)
			sizes := make([]int64, len(args))
			for i, a := range args {
				sizes[i] = int64(a.Len)
				if a.Object == nil {
					sizes[i] = int64(a.Bits)
				}
			}
			const ofSize = 2 // the first conditions require large launches
			if !v.Limits[ofSize:].Encode().Hold(sizes, &[6]int64{int64(blocks), 1, 1, int64(threads), 1, 1}) {
				ran["beyond the limits"]++
				continue
			}
			before := copied(args)
			want, wantFaults, err := runGrid(g.k, blocks, blocks, threads, args)
			if err != nil {
				t.Fatal(err)
			}
			got, gotFaults, err := runGrid(v.Kernel, (blocks-1)/v.Coarse.Threads+1, blocks, threads, before)
			report := func(what string) {
				t.Fatalf("seed %d, %d blocks of %d: %s\ngot  %v %v %v\nwant %v %v\nof: %s\nto: %s", seed, blocks, threads, what, got, gotFaults, err, want, wantFaults, g.k, v)
			}
			switch {
			case err != nil:
				report("an index that was not checked")
			case (len(gotFaults) > 0) != (len(wantFaults) > 0):
				report("other faults")
			case len(wantFaults) > 0:
				ran["fault"]++
				for p := range gotFaults {
					if !wantFaults[p] {
						report("a fault of its own")
					}
				}
			case !reflect.DeepEqual(got, want):
				report("other results")
			default:
				ran[fmt.Sprintf("adjacent %v", v.Coarse.Adjacent)]++
			}
		}
	}
	for _, what := range []string{"plain", "fault", "adjacent true", "adjacent false"} {
		if ran[what] < *seeds/10 {
			t.Errorf("of %d kernels these ran: %v", *seeds*4, ran)
		}
	}
	t.Log(ran)
}
