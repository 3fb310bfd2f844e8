package opt

import (
	"math"
	"slices"
	"testing"

	"quern.dev/internal/compiler/ir"
	. "quern.dev/internal/compiler/ir/irtest"
)

func TestLoopsThatRunAFewTimesAtMostBecomeIfs(t *testing.T) {
	out, n := Local("out", ints), Local("n", ir.TInt)
	tid := func() ir.Expr { return Thread(ir.ThreadIdxX) }
	store := func(i *ir.Local) ir.Stmt { return SetPlace(Elem(out, ir.Get(i)), Int(1)) }
	// stride returns a loop with steps of a block's width.
	stride := func(i *ir.Local, from, cond ir.Expr, body ...ir.Stmt) (ir.Stmt, *ir.Loop) {
		return Set(i, from), &ir.Loop{Label: &ir.Label{Name: "i"}, Cond: cond, Body: body,
			Post: []ir.Stmt{Set(i, Add(ir.Get(i), Thread(ir.BlockDimX)))}}
	}
	// kernel returns a kernel with such a loop over an array, in blocks of the given
	// size.
	kernel := func(block int, length int64, hint ir.Unroll) func() *ir.Kernel {
		return func() *ir.Kernel {
			i := Local("i", ir.TInt)
			first, loop := stride(i, tid(), Lt(ir.Get(i), Int(length)), store(i))
			loop.Unroll = hint
			k := Kernel("k", locals(out), locals(i), first, loop)
			if block > 0 {
				k.Options.Block = [3]int{block, 1, 1}
			}
			return k
		}
	}
	// counted returns a kernel with a loop over an integer of a given type.
	counted := func(ty *ir.Type, from ir.Expr, op ir.BinaryOp, to int64, step ir.Expr) func() *ir.Kernel {
		return func() *ir.Kernel {
			i := Local("i", ty)
			k := Kernel("k", locals(out, n), locals(i), Set(i, ir.CloneExpr(from)),
				&ir.Loop{Label: &ir.Label{Name: "i"}, Cond: Op(ir.Get(i), op, ir.IntConst(ty, to)),
					Body: []ir.Stmt{SetPlace(Elem(out, Int(0)), To(ir.TInt, ir.Get(i)))},
					Post: []ir.Stmt{Set(i, Add(ir.Get(i), ir.CloneExpr(step)))}})
			k.Options.Block = [3]int{32, 1, 1}
			return k
		}
	}
	loop := func(bound string) string {
		return lines("i = ThreadIdx.X", "for L0.i i < "+bound+" {", "out[?i] = 1", "} post {", "i = i + BlockDim.X")
	}
	i32 := func(v int64) ir.Expr { return ir.IntConst(ir.TInt32, v) }
	thread32 := func() ir.Expr { return To(ir.TInt32, tid()) }
	checkPass(t, "trips", []passCase{
		{"an array that is no longer than the block", kernel(32, 32, 0),
			lines("i = ThreadIdx.X", "if i < 32 {", "out[?i] = 1")},
		{"an array that is longer has a copy for each stride", kernel(32, 80, 0),
			lines("i = ThreadIdx.X", "if i < 80 {", "out[?i] = 1",
				"if (i + 32) < 80 {", "out[?i + 32] = 1", "if (i + 64) < 80 {", "out[?i + 64] = 1")},
		{"one that is longer than a batch has the loop", kernel(32, 32*17, 0), loop("544")},
		{"a block of unknown width has the loop", kernel(0, 16, 0), loop("16")},
		{"unless one thread does all", kernel(0, 1, 0), lines("i = ThreadIdx.X", "if i < 1 {", "out[?i] = 1")},
		{"a hint against copies keeps a loop that runs twice", kernel(32, 64, ir.NoUnroll),
			lines("i = ThreadIdx.X", "unroll 1", "for L0.i i < 64 {", "out[?i] = 1", "} post {", "i = i + BlockDim.X")},
		{"and not one that runs once", kernel(32, 32, ir.NoUnroll), lines("i = ThreadIdx.X", "if i < 32 {", "out[?i] = 1")},

		{"a fault in the condition comes as often as it did", func() *ir.Kernel {
			i := Local("i", ir.TInt)
			first, loop := stride(i, tid(), Lt(ir.Get(i), Op(Int(16), ir.Rem, ir.Get(n))), store(i))
			k := Kernel("k", locals(out, n), locals(i), first, loop)
			k.Options.Block = [3]int{32, 1, 1}
			return k
		}, loop("(16 %? n)")},

		{"a bound that is reached exactly", counted(ir.TInt, tid(), ir.Le, 31, Int(32)),
			lines("i = ThreadIdx.X", "if i <= 31 {", "out[?0] = i")},
		{"a bound that is met one later", counted(ir.TInt, tid(), ir.Le, 32, Int(32)),
			lines("i = ThreadIdx.X", "if i <= 32 {", "out[?0] = i", "if (i + 32) <= 32 {", "out[?0] = i + 32")},
		{"downwards", counted(ir.TInt, tid(), ir.Ge, 30, Int(-4)),
			lines("i = ThreadIdx.X", "if i >= 30 {", "out[?0] = i")},
		{"a step that is not constant", counted(ir.TInt, tid(), ir.Lt, 16, ir.Get(n)),
			lines("i = ThreadIdx.X", "for L0.i i < 16 {", "out[?0] = i", "} post {", "i = i + n")},
		{"a start that is not bounded below", counted(ir.TInt, ir.Get(n), ir.Lt, 16, Int(32)),
			lines("i = n", "for L0.i i < 16 {", "out[?0] = i", "} post {", "i = i + 32")},
		{"up to the greatest number", counted(ir.TInt32, Add(thread32(), i32(1<<31-64)), ir.Le, 1<<31-33, i32(32)),
			lines("i = int32(ThreadIdx.X) + 2147483584i32", "if i <= 2147483615i32 {", "out[?0] = int(i)")},
		{"beyond it: what wraps is below the bound again", counted(ir.TInt32, Add(thread32(), i32(1<<31-32)), ir.Le, 1<<31-1, i32(32)),
			lines("i = int32(ThreadIdx.X) + 2147483616i32", "for L0.i i <= 2147483647i32 {", "out[?0] = int(i)", "} post {", "i = i + 32i32")},
	})
}

// Every thread stores the same values and leaves the same value in the variable, for
// any start, end and step of the loop and any way of leaving it.
func TestLoopsThatBecomeIfsKeepTheirMeaning(t *testing.T) {
	defer func(n int) { MaxSteps = n }(MaxSteps)
	MaxSteps = 200 // some of the loops are endless
	const threads = 4
	tid := func() ir.Expr { return Thread(ir.ThreadIdxX) }
	exits := map[string]func(i, n *ir.Local, l *ir.Label) ir.Stmt{
		"none": func(i, n *ir.Local, l *ir.Label) ir.Stmt { return If(Lt(ir.Get(n), Int(0)), Return()) },
		"break": func(i, n *ir.Local, l *ir.Label) ir.Stmt {
			return If(Op(ir.Get(i), ir.Eq, ir.Get(n)), &ir.Break{Label: l})
		},
		"continue": func(i, n *ir.Local, l *ir.Label) ir.Stmt {
			return If(Op(ir.Get(i), ir.Eq, ir.Get(n)), &ir.Continue{Label: l})
		},
	}
	starts := []func() ir.Expr{tid, func() ir.Expr { return Sub(Int(5), tid()) }, func() ir.Expr { return Add(tid(), Int(math.MaxInt64-5)) }}
	expanded, kept := 0, 0
	for name, exit := range exits {
		for from, start := range starts {
			for _, op := range []ir.BinaryOp{ir.Lt, ir.Le, ir.Gt, ir.Ge, ir.Ne, ir.Eq} {
				for _, bound := range []int64{-1, 0, 1, 3, 4, 7, math.MaxInt64 - 4, math.MaxInt64} {
					for _, step := range []int64{1, 2, threads, -1, -threads, 0} {
						out, n, i := Local("out", ints), Local("n", ir.TInt), Local("i", ir.TInt)
						label := &ir.Label{Name: "i"}
						k := Kernel("k", locals(out, n), locals(i), Set(i, start()),
							&ir.Loop{Label: label, Cond: Op(ir.Get(i), op, Int(bound)),
								Body: []ir.Stmt{
									exit(i, n, label),
									SetPlace(Elem(out, Int(0)), Add(Mul(Load(Elem(out, Int(0))), Int(10)), ir.Get(i))),
								},
								Post: []ir.Stmt{Set(i, Add(ir.Get(i), Int(step)))}},
							SetPlace(Elem(out, Int(1)), ir.Get(i)))
						k.Options.Block = [3]int{threads, 1, 1}
						after := ir.CloneKernel(k)
						if err := all.run(after, common, target{}); err != nil {
							t.Fatal(err)
						}
						if leaves(after.Func.Body, isLoop) {
							kept++
						} else {
							expanded++
						}
						for thread := range int64(threads) {
							for _, n := range []int64{-1, 2, 5} {
								outcome := func(k *ir.Kernel) (cells []uint64, fails bool) {
									out := SliceValue(ir.TInt, 2)
									err := Run(k, Coordinates{ir.ThreadIdxX: thread, ir.BlockDimX: threads, ir.BlockDimY: 1, ir.BlockDimZ: 1,
										ir.GridDimX: 1, ir.GridDimY: 1, ir.GridDimZ: 1}, out, IntValue(n))
									if err != nil {
										return nil, true
									}
									return []uint64{out.Object.Cells[0].Bits, out.Object.Cells[1].Bits}, false
								}
								want, fails := outcome(k)
								if got, fails2 := outcome(after); !slices.Equal(got, want) || fails != fails2 {
									t.Fatalf("exit %s, start %d, i %v %d, i += %d, thread %d, n = %d: got %v, want %v\n%s", name, from, op, bound, step, thread, n, got, want, after)
								}
							}
						}
					}
				}
			}
		}
	}
	if expanded < 100 || kept < 100 {
		t.Errorf("%d loops became ifs and %d did not; both are to be tested", expanded, kept)
	}
}
