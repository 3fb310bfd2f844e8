package ranges

import (
	"math"
	"slices"
	"strings"
	"testing"

	"quern.dev/internal/compiler/ir"
	. "quern.dev/internal/compiler/ir/irtest"
)

var floats, wholes = ir.SliceOf(ir.TFloat32), ir.SliceOf(ir.TInt)

// while returns a loop with a condition.
func while(cond ir.Expr, post []ir.Stmt, body ...ir.Stmt) ir.Stmt {
	return &ir.Loop{Label: &ir.Label{Name: "for"}, Cond: cond, Body: body, Post: post}
}

func and(x, y ir.Expr) ir.Expr { return Op(x, ir.LAnd, y) }

func or(x, y ir.Expr) ir.Expr { return Op(x, ir.LOr, y) }

// saxpy is y[i] += a*x[i], guarded by i < len(y), or strided over y.
func saxpy(stride bool) *ir.Kernel {
	a, x, y, i := Local("a", ir.TFloat32), Local("x", floats), Local("y", floats), Local("i", ir.TInt)
	body := SetPlace(Elem(y, ir.Get(i)), Add(Load(Elem(y, ir.Get(i))), Mul(ir.Get(a), Load(Elem(x, ir.Get(i))))))
	params, locals := []*ir.Local{a, x, y}, []*ir.Local{i}
	if !stride {
		return Kernel("saxpy", params, locals, Set(i, Global()), If(Lt(ir.Get(i), Len(y)), body))
	}
	return Kernel("saxpy", params, locals, Set(i, Global()),
		while(Lt(ir.Get(i), Len(y)), []ir.Stmt{Set(i, Add(ir.Get(i), Stride()))}, body))
}

// plane is out[y*w+x] = in[y*w+x] for x < w and y < h.
func plane() *ir.Kernel {
	w, h, in, out := Local("w", ir.TInt), Local("h", ir.TInt), Local("in", floats), Local("out", floats)
	x, y := Local("x", ir.TInt), Local("y", ir.TInt)
	index := func() ir.Expr { return Add(Mul(ir.Get(y), ir.Get(w)), ir.Get(x)) }
	return Kernel("plane", []*ir.Local{w, h, in, out}, []*ir.Local{x, y},
		Set(x, Global()),
		Set(y, Add(Mul(Thread(ir.BlockIdxY), Thread(ir.BlockDimY)), Thread(ir.ThreadIdxY))),
		If(and(Lt(ir.Get(x), ir.Get(w)), Lt(ir.Get(y), ir.Get(h))),
			SetPlace(Elem(out, index()), Load(Elem(in, index())))))
}

// tile reads and writes a shared [16][16]float32 by the thread's indices.
func tile(block [3]int) *ir.Kernel {
	s := &ir.SharedVar{Name: "tile", Type: ir.ArrayOf(16, ir.ArrayOf(16, ir.TFloat32))}
	sum, k := Local("sum", ir.TFloat32), Local("k", ir.TInt)
	at := func(y, x ir.Expr) ir.Place { return Index(Index(Shared(s), y), x) }
	ker := Kernel("tile", nil, []*ir.Local{sum, k}, Body(
		SetPlace(at(Thread(ir.ThreadIdxY), Thread(ir.ThreadIdxX)), F32(1)),
		&ir.Barrier{},
		Set(sum, F32(0)),
		For(k, Int(0), Int(16), Set(sum, Add(ir.Get(sum), Mul(Load(at(Thread(ir.ThreadIdxY), ir.Get(k))), Load(at(ir.Get(k), Thread(ir.ThreadIdxX))))))))...)
	ker.Shared = []*ir.SharedVar{s}
	ker.Options.Block = block
	return ker
}

// fragment builds a kernel from statements over the variables
// x, y []int; b []uint8; f []float32; w, n int (parameters), i, j, m int and row []int.
type fragment struct {
	x, y, b, f, w, n, i, j, m, row *ir.Local
	bins                           *ir.SharedVar
}

func newFragment() *fragment {
	return &fragment{
		x: Local("x", wholes), y: Local("y", wholes), b: Local("b", ir.SliceOf(ir.TUint8)), f: Local("f", floats),
		w: Local("w", ir.TInt), n: Local("n", ir.TInt),
		i: Local("i", ir.TInt), j: Local("j", ir.TInt), m: Local("m", ir.TInt), row: Local("row", wholes),
		bins: &ir.SharedVar{Name: "bins", Type: ir.ArrayOf(256, ir.TInt32)},
	}
}

func (f *fragment) kernel(body ...any) *ir.Kernel {
	k := Kernel("k", []*ir.Local{f.x, f.y, f.b, f.f, f.w, f.n}, []*ir.Local{f.i, f.j, f.m, f.row}, Body(body...)...)
	k.Shared = []*ir.SharedVar{f.bins}
	return k
}

func TestRanges(t *testing.T) {
	f := newFragment()
	get, i, j, m := ir.Get, f.i, f.j, f.m
	start := []ir.Stmt{Set(i, Global())}
	at := func(s *ir.Local, e ir.Expr) ir.Stmt { return SetPlace(Elem(s, e), Int(0)) }
	bin := func(e ir.Expr) ir.Stmt { return SetPlace(Index(Shared(f.bins), e), ir.IntConst(ir.TInt32, 0)) }
	up := func(v *ir.Local, by ir.Expr) []ir.Stmt { return []ir.Stmt{Set(v, Add(get(v), by))} }
	data := func() ir.Expr { return Load(Elem(f.x, Int(0))) }
	minOf := func(x, y ir.Expr) ir.Expr { return &ir.Intrinsic{Op: ir.Min, T: ir.TInt, Args: []ir.Expr{x, y}} }
	maxOf := func(x, y ir.Expr) ir.Expr { return &ir.Intrinsic{Op: ir.Max, T: ir.TInt, Args: []ir.Expr{x, y}} }
	const x0 = "v0.x[?0i32]" // the check on data
	for _, test := range []struct {
		name    string
		kernel  *ir.Kernel
		variant Variant
		want    []string // all must occur in the printed kernel
		checks  int      // number of checks left
	}{
		{"a guard proves the index of its own slice only", saxpy(false), Narrow, []string{
			"var v3.i int32", "if v3.i < int32(len(v2.y))", "v2.y[v3.i] = v2.y[v3.i] + (v0.a * v1.x[?v3.i])",
			"limit p1 <= 2147483647", "limit p2 <= 2147483647", "limit (BlockDim.X * GridDim.X) <= 2147483648"}, 1},
		{"without launch conditions the grid may have more threads than an int32 counts", saxpy(false), Wide, []string{
			"var v3.i int\n", "v2.y[v3.i] = v2.y[v3.i] + (v0.a * v1.x[?v3.i])"}, 1},
		{"a launch condition promises what a guard does not say", saxpy(false), Proven, []string{
			"v1.x[v3.i]", "limit (-1 * max((p1 - p2), (p1 - (BlockDim.X * GridDim.X)))) <= 0"}, 0},
		{"a grid-stride loop stays in 32 bits behind its last element too", saxpy(true), Narrow, []string{
			"var v3.i int32", "for L0.for v3.i < int32(len(v2.y))", "v3.i = v3.i + (int32(GridDim.X) * int32(BlockDim.X))",
			"v2.y[v3.i] = ", "limit (p2 + (BlockDim.X * GridDim.X)) <= 2147483648"}, 1},
		{"a row-major index is 32 bits wide where the plane is", plane(), Narrow, []string{
			"v3.out[?(v5.y * int32(v0.w)) + v4.x] = v2.in[?(v5.y * int32(v0.w)) + v4.x]", "limit (p0 * p1) <= 2147483648"}, 2},
		{"a plane that covers the grid needs no checks", plane(), Proven, []string{"v3.out[(v5.y * int32(v0.w)) + v4.x]"}, 0},
		{"declared block dimensions prove the thread's indices", tile([3]int{16, 16, 1}), Wide, []string{
			"shared tile.0[int32(ThreadIdx.Y)][v1.k]"}, 0},
		{"undeclared ones leave a check in 32 bits; its repetition is gone", tile([3]int{}), Wide, []string{
			"shared tile.0[?int32(ThreadIdx.Y)][?int32(ThreadIdx.X)]", "shared tile.0[int32(ThreadIdx.Y)][v1.k]"}, 2},

		{"a repeated check is gone", f.kernel(start, at(f.x, get(i)), at(f.x, get(i))), Narrow, []string{"v0.x[?v6.i] = 0", "v0.x[v6.i] = 0"}, 1},
		{"another slice has a check of its own", f.kernel(start, at(f.x, get(i)), at(f.y, get(i))), Narrow, nil, 2},
		{"an assignment to the index ends what its check proved", f.kernel(start, at(f.x, get(i)), up(i, Int(1)), at(f.x, get(i))), Narrow, nil, 2},
		{"the middle of a stencil follows from its ends", f.kernel(start,
			at(f.x, Sub(get(i), Int(1))), at(f.x, Add(get(i), Int(1))), at(f.x, get(i))), Narrow, nil, 2},
		{"a check in a branch says nothing behind it", f.kernel(start, If(Lt(get(f.n), Int(3)), at(f.x, get(i))), at(f.x, get(i))), Narrow, nil, 2},
		{"an early return guards what follows", f.kernel(start,
			If(or(Lt(get(i), Int(1)), Op(Add(get(i), Int(1)), ir.Ge, Len(f.x))), Return()),
			at(f.x, Sub(get(i), Int(1))), at(f.x, Add(get(i), Int(1)))), Narrow, nil, 0},
		{"an unsigned comparison guards both ends", f.kernel(Set(i, data()),
			If(Lt(To(ir.TUint, get(i)), To(ir.TUint, Len(f.x))), at(f.x, get(i)))), Narrow, []string{x0}, 1},
		{"guards of rows and columns prove a plane as large as the slice", f.kernel(
			Set(i, data()), Set(j, data()),
			If(Lt(Len(f.x), Mul(get(f.w), get(f.n))), Return()),
			If(and(and(Op(get(i), ir.Ge, Int(0)), Lt(get(i), get(f.w))), and(Op(get(j), ir.Ge, Int(0)), Lt(get(j), get(f.n)))),
				at(f.x, Add(Mul(get(j), get(f.w)), get(i))))), Narrow, nil, 1},

		{"a loop upwards", f.kernel(For(i, Int(0), Len(f.x), at(f.x, get(i)))), Wide, nil, 0},
		{"a loop downwards", f.kernel(Set(i, Sub(Len(f.x), Int(1))),
			while(Op(get(i), ir.Ge, Int(0)), up(i, Int(-1)), at(f.x, get(i)))), Narrow, []string{"var v6.i int32"}, 0},
		{"a loop with its condition inside", f.kernel(Set(i, Int(0)), func() ir.Stmt {
			l := &ir.Loop{Label: &ir.Label{Name: "for"}, Post: up(i, Int(1))}
			l.Body = []ir.Stmt{If(Op(get(i), ir.Ge, Len(f.x)), &ir.Break{Label: l.Label}), at(f.x, get(i))}
			return l
		}()), Narrow, []string{"var v6.i int32"}, 0},
		{"a loop whose variable its body changes", f.kernel(For(i, Int(0), Len(f.x), Set(i, Sub(get(i), Int(2))), at(f.x, get(i)))), Narrow, nil, 1},
		{"a reduction by halves", f.kernel(Set(i, Thread(ir.ThreadIdxX)), Set(m, Int(128)),
			while(Op(get(m), ir.Gt, Int(0)), []ir.Stmt{Set(m, Op(get(m), ir.Div, Int(2)))},
				If(Lt(get(i), get(m)), bin(Add(get(i), get(m)))))), Wide, []string{"var v8.m int32", "uint32(v8.m) / 2u32"}, 0},
		{"a binary search", f.kernel(Set(i, Int(0)), Set(j, Len(f.x)),
			while(Lt(get(i), get(j)), nil,
				Set(m, Op(Add(get(i), get(j)), ir.Div, Int(2))),
				Else(If(Lt(Load(Elem(f.x, get(m))), get(f.n)), Set(i, Add(get(m), Int(1)))), Set(j, get(m))))), Narrow,
			[]string{"var v6.i int32", "var v7.j int32", "var v8.m int32"}, 0},

		{"three planes in one slice", f.kernel(start, Set(m, Op(Len(f.x), ir.Div, Int(3))), If(Op(get(i), ir.Ge, get(m)), Return()),
			at(f.x, get(i)), at(f.x, Add(get(m), get(i))), at(f.x, Add(Mul(Int(2), get(m)), get(i)))), Narrow, nil, 0},

		{"a byte indexes 256 bins", f.kernel(If(Lt(Int(0), Len(f.b)), bin(To(ir.TInt, Load(Elem(f.b, Int(0))))))), Wide, []string{"int32(v2.b[0i32])"}, 0},
		{"a mask bounds an index", f.kernel(bin(Op(get(f.n), ir.And, Int(255)))), Wide, []string{"int32(v5.n) & 255i32"}, 0},
		{"a remainder is below its divisor", f.kernel(start, at(f.x, Op(get(i), ir.Rem, Len(f.x)))), Narrow, []string{
			"int32(uint32(v6.i) %? uint32(int32(len(v0.x))))"}, 0},
		{"a remainder of a negative number is not an index", f.kernel(bin(Op(get(f.n), ir.Rem, Int(256)))), Narrow, nil, 1},
		{"a clamped float is 32 bits wide", f.kernel(
			Set(i, maxOf(minOf(To(ir.TInt, Load(&ir.ElemPlace{Slice: get(f.f), Index: Int(0)})), Sub(Len(f.x), Int(1))), Int(0))),
			If(Lt(Int(0), Len(f.x)), at(f.x, get(i)))), Narrow, []string{"var v6.i int32"}, 0},
		{"a row is as long as its bounds are apart", f.kernel(start,
			Set(f.row, &ir.SliceExpr{T: wholes, X: get(f.x), Lo: get(i), Hi: Add(get(i), get(f.n)), Check: true}),
			For(j, Int(0), get(f.n), at(f.row, get(j)))), Narrow, []string{"v9.row[v7.j] = 0"}, 1},
		{"an index from memory is compared in 64 bits", f.kernel(at(f.y, data())), Narrow, []string{"v1.y[?v0.x[?0i32]] = 0"}, 2},
		{"a divisor that a guard keeps from zero", f.kernel(If(Op(get(f.n), ir.Gt, Int(0)), Set(i, Op(Int(7), ir.Div, get(f.n))))), Wide,
			[]string{"v6.i = int32(", "7u64 / uint64(v5.n)"}, 0},

		{"a hash is not asked to fit", f.kernel(start, Set(j, Mul(get(i), Int(2654435761))),
			at(f.x, Op(Op(get(j), ir.Shr, Int(7)), ir.And, Int(15)))), Narrow, []string{"v7.j = int(v6.i) * 2654435761"}, 1},
		{"a parameter that is assigned is copied", f.kernel(Set(f.n, Op(get(f.n), ir.Rem, Int(8))), at(f.x, get(f.n))), Narrow,
			[]string{"var v10.n int32", "v10.n = v10.n % 8i32"}, 1},
		{"unreachable code keeps its checks", f.kernel(Return(), at(f.x, Int(0))), Narrow, nil, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			k := ir.CloneKernel(test.kernel)
			Apply(k, test.variant)
			if err := ir.Verify(k, ir.StageFinal); err != nil {
				t.Fatalf("%v\n%s", err, k)
			}
			got := k.String()
			for _, want := range test.want {
				if !strings.Contains(got, want) {
					t.Errorf("no %q in\n%s", want, got)
				}
			}
			if n := ir.BoundsChecks(k.Func.Body); n != test.checks {
				t.Errorf("%d checks are left, want %d:\n%s", n, test.checks, got)
			}
		})
	}
}

func TestLaunchConditionsAskOnlyForWhatIsUsedAsASize(t *testing.T) {
	seed, n, x := Local("seed", ir.TInt), Local("n", ir.TInt), Local("x", wholes)
	i := Local("i", ir.TInt)
	k := Kernel("k", []*ir.Local{seed, n, x}, []*ir.Local{i}, For(i, Int(0), ir.Get(n),
		SetPlace(Elem(x, ir.Get(i)), Op(ir.Get(seed), ir.Xor, Mul(ir.Get(i), Int(0x9E3779B97F4A7C1)))))...)
	Apply(k, Narrow)
	p := k.Limits.Encode()
	dim := [6]int64{1, 1, 1, 1, 1, 1}
	for _, test := range []struct {
		name string
		args []int64
		want bool
	}{
		{"a small size", []int64{1, 100, 100}, true},
		{"a seed of 64 bits", []int64{math.MinInt64 + 1, 100, 100}, true},
		{"a size of 64 bits", []int64{1, 1 << 40, 100}, false},
		{"a slice of more than 1<<31 elements", []int64{1, 100, 1 << 31}, false},
	} {
		if got := p.Hold(test.args, &dim); got != test.want {
			t.Errorf("%s: narrow is %v, want %v\n%s", test.name, got, test.want, p)
		}
	}
}

func TestLaunchConditionsStayFew(t *testing.T) {
	// A stencil over 5x5 pixels, as unrolled: the conditions of all but the outermost
	// indices are implied.
	w, in, out := Local("w", ir.TInt), Local("in", floats), Local("out", floats)
	x, y, sum := Local("x", ir.TInt), Local("y", ir.TInt), Local("sum", ir.TFloat32)
	k := Kernel("stencil", []*ir.Local{w, in, out}, []*ir.Local{x, y, sum},
		Set(x, Global()), Set(y, Thread(ir.BlockIdxY)), Set(sum, F32(0)))
	for dy := range int64(5) {
		for dx := range int64(5) {
			row := Mul(Add(ir.Get(y), Int(dy)), ir.Get(w))
			k.Func.Body = append(k.Func.Body, Set(sum, Add(ir.Get(sum), Load(Elem(in, Add(row, Add(ir.Get(x), Int(dx))))))))
		}
	}
	for _, v := range []Variant{Narrow, Proven} {
		c := ir.CloneKernel(k)
		Apply(c, v)
		if n := len(c.Limits); n > 10 {
			t.Errorf("%s: %d limits:\n%s", v, n, c.Limits.Encode())
		}
	}
}

func TestRangesAreDeterministic(t *testing.T) {
	text := func() string {
		k := newIndexing(11).k
		Apply(k, Proven)
		return k.String()
	}
	first := text()
	for range 10 {
		if again := text(); again != first {
			t.Fatalf("first\n%s\nthen\n%s", first, again)
		}
	}
}

func TestMonomialsDivide(t *testing.T) {
	pr := newProver()
	a, b := pr.fresh(interval{0, 9}), pr.fresh(interval{0, 9})
	aab := pr.times(pr.times(a, b), a)
	mono := func(p *poly) monoID { return p.terms[0].mono }
	for _, test := range []struct {
		name string
		x, y *poly
		want []atomID
		ok   bool
	}{
		{"by a factor", aab, b, []atomID{0, 0}, true},
		{"by a product", aab, pr.times(b, a), []atomID{0}, true},
		{"by itself", aab, aab, nil, true},
		{"by something greater", b, aab, nil, false},
		{"by a higher power", aab, pr.times(b, b), nil, false},
	} {
		q, ok := pr.quotient(mono(test.x), mono(test.y))
		if ok != test.ok || ok && !slices.Equal(pr.factors[q], test.want) {
			t.Errorf("%s: %v, %v", test.name, pr.factors[q], ok)
		}
	}
}

func TestTheEndsOfInt64AreNoFacts(t *testing.T) {
	pr := newProver()
	word := pr.fresh(kindRange(ir.Uint64)) // may exceed every int64
	room := constPoly(math.MaxInt64).plus(-1, word)
	if pr.proves(room) {
		t.Error("a uint64 is at most the largest int64")
	}
	pr.learn(pr.fresh(kindRange(ir.Int)).plusConst(-1)) // of another shape, later than room's
	if pr.proves(room) {
		t.Error("a uint64 of which nothing is known is at most the largest int64")
	}
	pr.assume(word.plusConst(-math.MaxInt64)) // word >= MaxInt64
	if r := pr.rangeOf(word); r.lo == noHi {
		t.Errorf("the range of a word is %v: its lower end reads as no bound", r)
	}
}

// What a flag implies is computed again where the flag is read. That is no code, so its launch
// conditions are not required, and must not be relied on.
func TestFlagsNeedNoLaunchConditions(t *testing.T) {
	n, x := Local("n", ir.TInt), Local("x", wholes)
	i, k, flag := Local("i", ir.TInt), Local("k", ir.TInt), Local("flag", ir.TBool)
	times := func() ir.Expr { return Mul(Int(16), ir.Get(i)) }
	kernel := Kernel("k", []*ir.Local{n, x}, []*ir.Local{i, k, flag}, Body(
		Set(flag, Bool(false)),
		Set(i, Global()),
		If(Lt(ir.Get(i), Int(1000)), Set(flag, Lt(times(), ir.Get(n)))),
		If(ir.Get(flag), SetPlace(Elem(x, Int(0)), Int(1))),
		Set(k, times()),
		If(Lt(ir.Get(k), Len(x)), SetPlace(Elem(x, ir.Get(k)), Int(2))))...)
	const blocks, threads = 1 << 18, 1024
	dim := [6]int64{blocks, 1, 1, threads, 1, 1}
	at := Coordinates{ir.BlockIdxX: blocks / 2, ir.BlockDimX: threads, ir.GridDimX: blocks, ir.BlockDimY: 1, ir.BlockDimZ: 1, ir.GridDimY: 1, ir.GridDimZ: 1}
	for _, v := range []Variant{Narrow, Proven, Wide} {
		c := ir.CloneKernel(kernel)
		Apply(c, v)
		if !c.Limits.Encode().Hold([]int64{8, 4}, &dim) {
			continue
		}
		if err := Run(c, at, IntValue(8), SliceValue(ir.TInt, 4)); err != nil {
			t.Errorf("%s: 16*i is 1<<31: %v\n%s", v, err, c)
		}
	}
}

// A flag that is assigned before a variable has its value implies nothing of that value.
func TestFlagsImplyNothingOfLaterValues(t *testing.T) {
	n, x := Local("n", ir.TInt), Local("x", wholes)
	i, m, flag := Local("i", ir.TInt), Local("m", ir.TInt), Local("flag", ir.TBool)
	at := func() ir.Expr { return Sub(ir.Get(i), ir.Get(m)) }
	k := Kernel("k", []*ir.Local{n, x}, []*ir.Local{i, m, flag}, Body(
		Set(flag, Bool(false)),
		Set(i, Thread(ir.ThreadIdxX)),
		If(Lt(ir.Get(i), Int(1000)), Set(flag, Op(ir.Get(i), ir.Ge, ir.Get(m)))), // m is 0
		Set(m, ir.Get(n)),
		If(and(ir.Get(flag), Lt(at(), Len(x))), SetPlace(Elem(x, at()), Int(1))))...)
	Apply(k, Narrow)
	if n := ir.BoundsChecks(k.Func.Body); n != 1 {
		t.Errorf("%d checks, want 1\n%s", n, k)
	}
}
