package opt

import (
	"math"
	"testing"

	"quern.dev/internal/compiler/ir"
	. "quern.dev/internal/compiler/ir/irtest"
)

func TestLoopsGoOnInBatches(t *testing.T) {
	defer func(saved []batchBudget) { batchBudgets = saved }(batchBudgets)
	batchBudgets = []batchBudget{{4, 640, true}}
	i32 := func(v int64) ir.Expr { return ir.IntConst(ir.TInt32, v) }
	counter := func() *ir.Local { return Local("i", ir.TInt32) }
	n, out := Local("n", ir.TInt32), Local("out", ir.SliceOf(ir.TInt32))
	unchecked := func(p ir.Place) ir.Expr {
		*ir.BoundsCheck(p) = false
		return Load(p)
	}
	down := func(i *ir.Local, from ir.Expr, op ir.BinaryOp, to ir.Expr, by int64, body ...ir.Stmt) []ir.Stmt {
		list := For(i, from, to, body...)
		l := list[1].(*ir.Loop)
		l.Cond.(*ir.Binary).Op = op
		l.Post = []ir.Stmt{Set(i, Op(ir.Get(i), ir.Sub, i32(by)))}
		return list
	}
	check := func(cases []passCase) {
		for _, c := range cases {
			t.Run(c.name, func(t *testing.T) {
				k := c.kernel()
				if err := batch(k); err != nil {
					t.Fatal(err)
				}
				if err := ir.Verify(k, ir.StageFinal); err != nil {
					t.Error(err)
				}
				if got := text(k); got != c.want {
					t.Errorf("got:\n%s\nwant:\n%s", got, c.want)
				}
			})
		}
	}
	check([]passCase{
		{"a loop up to a parameter, and the rest of its iterations", func() *ir.Kernel {
			i := counter()
			return Kernel("k", locals(out, n), locals(i), For(i, ir.Get(n), ir.Get(n), SetPlace(Elem(out, ir.Get(i)), ir.Get(i)))...)
		}, lines("i = n",
			"iLimit = max(n, -2147483645i32) - 3i32",
			"for L0.i.batch i < iLimit {",
			"out[?i] = i", "out[?i + 1i32] = i + 1i32", "out[?i + 2i32] = i + 2i32", "out[?i + 3i32] = i + 3i32",
			"} post {", "i = i + 4i32",
			"for L1.i i < n {", "out[?i] = i", "} post {", "i = i + 1i32")},
		{"a counter of 64 bits", func() *ir.Kernel {
			i, n := Local("i", ir.TInt), Local("n", ir.TInt)
			return Kernel("k", locals(out, n), locals(i), For(i, Int(0), ir.Get(n), SetPlace(Elem(out, ir.Get(i)), i32(7)))...)
		}, lines("i = 0",
			"iLimit = max(n, -9223372036854775805) - 3",
			"for L0.i.batch i < iLimit {",
			"out[?i] = 7i32", "out[?i + 1] = 7i32", "out[?i + 2] = 7i32", "out[?i + 3] = 7i32",
			"} post {", "i = i + 4",
			"for L1.i i < n {", "out[?i] = 7i32", "} post {", "i = i + 1")},
		{"a step that may have wrapped to a negative one", func() *ir.Kernel {
			i := counter()
			list := For(i, ir.Get(n), ir.Get(n), SetPlace(Elem(out, ir.Get(i)), i32(7)))
			list[1].(*ir.Loop).Post = []ir.Stmt{Set(i, Add(ir.Get(i), To(ir.TInt32, Thread(ir.GridDimX))))}
			return Kernel("k", locals(out, n), locals(i), list...)
		}, lines("i = n",
			"iLimit = int32(max(int64(n) - (int64(uint32(int32(GridDim.X))) * 3i64), -2147483648i64))",
			"for L0.i.batch i < iLimit {",
			"out[?i] = 7i32", "i = i + int32(GridDim.X)", "out[?i] = 7i32", "i = i + int32(GridDim.X)",
			"out[?i] = 7i32", "i = i + int32(GridDim.X)", "out[?i] = 7i32",
			"} post {", "i = i + int32(GridDim.X)",
			"for L1.i i < n {", "out[?i] = 7i32", "} post {", "i = i + int32(GridDim.X)")},
		{"a length that an int32 may not hold", func() *ir.Kernel {
			i := counter()
			return Kernel("k", locals(out), locals(i), For(i, i32(0), To(ir.TInt32, Len(out)), SetPlace(Elem(out, ir.Get(i)), i32(7)))...)
		}, lines("i = 0i32",
			"iLimit = max(int32(len(out)), -2147483645i32) - 3i32",
			"for L0.i.batch i < iLimit {",
			"out[?i] = 7i32", "out[?i + 1i32] = 7i32", "out[?i + 2i32] = 7i32", "out[?i + 3i32] = 7i32",
			"} post {", "i = i + 4i32",
			"for L1.i i < int32(len(out)) {", "out[?i] = 7i32", "} post {", "i = i + 1i32")},
		{"a step of which several may wrap", func() *ir.Kernel {
			i, n := Local("i", ir.TInt), Local("n", ir.TInt)
			list := For(i, Int(0), ir.Get(n), SetPlace(Elem(out, ir.Get(i)), i32(7)))
			list[1].(*ir.Loop).Post = []ir.Stmt{Set(i, Add(ir.Get(i), Mul(Thread(ir.GridDimX), Int(1<<40))))}
			return Kernel("k", locals(out, n), locals(i), list...)
		}, lines("i = 0",
			"iLimit = int(select(uint64(int64(GridDim.X * 1099511627776)) <= 288230376151711744u64, max(int64(n), (int64(GridDim.X * 1099511627776) * 3i64) + -9223372036854775808i64) - (int64(GridDim.X * 1099511627776) * 3i64), -9223372036854775808i64))",
			"for L0.i.batch i < iLimit {",
			"out[?i] = 7i32", "i = i + (GridDim.X * 1099511627776)", "out[?i] = 7i32", "i = i + (GridDim.X * 1099511627776)",
			"out[?i] = 7i32", "i = i + (GridDim.X * 1099511627776)", "out[?i] = 7i32",
			"} post {", "i = i + (GridDim.X * 1099511627776)",
			"for L1.i i < n {", "out[?i] = 7i32", "} post {", "i = i + (GridDim.X * 1099511627776)")},
		{"a loop that includes its bound: no int32 is below the smallest one", func() *ir.Kernel {
			i := counter()
			list := For(i, ir.Get(n), ir.Get(n), SetPlace(Elem(out, ir.Get(i)), ir.Get(i)))
			list[1].(*ir.Loop).Cond.(*ir.Binary).Op = ir.Le
			return Kernel("k", locals(out, n), locals(i), list...)
		}, lines("i = n",
			"iLimit = max(n, -2147483646i32) - 2i32",
			"for L0.i.batch i < iLimit {",
			"out[?i] = i", "out[?i + 1i32] = i + 1i32", "out[?i + 2i32] = i + 2i32", "out[?i + 3i32] = i + 3i32",
			"} post {", "i = i + 4i32",
			"for L1.i i <= n {", "out[?i] = i", "} post {", "i = i + 1i32")},
		{"constants come last", func() *ir.Kernel {
			i := counter()
			return Kernel("k", locals(out, n), locals(i), For(i, i32(0), i32(400), SetPlace(Elem(out, Add(Op(ir.Get(n), ir.Mul, i32(9)), Op(ir.Get(i), ir.Mul, i32(2)))), i32(7)))...)
		}, lines("i = 0i32", "for L0.i.batch i < 400i32 {",
			"out[?(n * 9i32) + (i * 2i32)] = 7i32", "out[?((n * 9i32) + (i * 2i32)) + 2i32] = 7i32", "out[?((n * 9i32) + (i * 2i32)) + 4i32] = 7i32", "out[?((n * 9i32) + (i * 2i32)) + 6i32] = 7i32",
			"} post {", "i = i + 4i32")},
		{"a multiple of the batch leaves no rest, and low bits of the counter are constant", func() *ir.Kernel {
			i := counter()
			return Kernel("k", locals(out), locals(i), For(i, i32(0), i32(400), SetPlace(Elem(out, Op(ir.Get(i), ir.And, i32(3))), i32(7)))...)
		}, lines("i = 0i32", "for L0.i.batch i < 400i32 {",
			"out[?0i32] = 7i32", "out[?1i32] = 7i32", "out[?2i32] = 7i32", "out[?3i32] = 7i32",
			"} post {", "i = i + 4i32")},
		{"a break leaves both loops", func() *ir.Kernel {
			i := counter()
			list := For(i, ir.Get(n), ir.Get(n))
			l := list[1].(*ir.Loop)
			l.Body = []ir.Stmt{If(Op(ir.Get(i), ir.Eq, i32(9)), &ir.Break{Label: l.Label})}
			return Kernel("k", locals(out, n), locals(i), Body(list, SetPlace(Elem(out, Int(0)), ir.Get(i)))...)
		}, lines("i = n", "block L0.i {",
			"iLimit = max(n, -2147483645i32) - 3i32",
			"for L1.i.batch i < iLimit {",
			"if i == 9i32 {", "break L0.i", "if (i + 1i32) == 9i32 {", "break L0.i",
			"if (i + 2i32) == 9i32 {", "break L0.i", "if (i + 3i32) == 9i32 {", "break L0.i",
			"} post {", "i = i + 4i32",
			"for L2.i i < n {", "if i == 9i32 {", "break L0.i", "} post {", "i = i + 1i32",
			"out[?0] = i")},
		{"iterations that only read make their checks before they use what they have read", func() *ir.Kernel {
			i, sum, j := counter(), Local("sum", ir.TInt32), Local("j", ir.TInt32)
			at := Local("at", ir.SliceOf(ir.TInt32))
			return Kernel("k", locals(out, at, n), locals(i, sum, j), Body(Set(sum, i32(0)),
				For(i, i32(0), ir.Get(n),
					Set(j, Load(Elem(at, ir.Get(i)))),
					Set(sum, Add(ir.Get(sum), Load(Elem(out, ir.Get(j)))))),
				SetPlace(Elem(out, Int(0)), ir.Get(sum)))...)
		}, lines("sum = 0i32", "i = 0i32",
			"iLimit = max(n, -2147483645i32) - 3i32",
			"for L0.i.batch i < iLimit {",
			"if (uint64(i) >= uint64(len(at))) || (uint64(i + 3i32) >= uint64(len(at))) {", "break L0.i.batch",
			"loaded = at[i]", "j = loaded", "loaded = at[i + 1i32]", "j = loaded", "loaded = at[i + 2i32]", "j = loaded", "loaded = at[i + 3i32]", "j = loaded",
			"if (((uint64(j) >= uint64(len(out))) || (uint64(j) >= uint64(len(out)))) || (uint64(j) >= uint64(len(out)))) || (uint64(j) >= uint64(len(out))) {", "break L0.i.batch",
			"loaded = out[j]", "loaded = out[j]", "loaded = out[j]", "loaded = out[j]",
			"sum = sum + loaded", "sum = sum + loaded", "sum = sum + loaded", "sum = sum + loaded",
			"} post {", "i = i + 4i32",
			"for L1.i i < n {", "j = at[?i]", "sum = sum + out[?j]", "} post {", "i = i + 1i32",
			"out[?0] = sum")},
		{"not if an index depends on the iteration before", func() *ir.Kernel {
			i, sum := counter(), Local("sum", ir.TInt32)
			return Kernel("k", locals(out, n), locals(i, sum), Body(Set(sum, i32(0)),
				For(i, i32(0), ir.Get(n), Set(sum, Load(Elem(out, ir.Get(sum))))),
				SetPlace(Elem(out, Int(0)), ir.Get(sum)))...)
		}, lines("sum = 0i32", "i = 0i32",
			"iLimit = max(n, -2147483645i32) - 3i32",
			"for L0.i.batch i < iLimit {",
			"sum = out[?sum]", "sum = out[?sum]", "sum = out[?sum]", "sum = out[?sum]",
			"} post {", "i = i + 4i32",
			"for L1.i i < n {", "sum = out[?sum]", "} post {", "i = i + 1i32",
			"out[?0] = sum")},
		{"a variable with two values in an iteration stays in order", func() *ir.Kernel {
			i, sum, j := counter(), Local("sum", ir.TInt32), Local("j", ir.TInt32)
			return Kernel("k", locals(out, n), locals(i, sum, j), Body(Set(sum, i32(0)),
				For(i, i32(0), ir.Get(n),
					Set(j, i32(5)), Set(sum, Add(ir.Get(sum), ir.Get(j))),
					Set(j, Load(Elem(out, ir.Get(i)))), Set(sum, Add(ir.Get(sum), ir.Get(j)))),
				SetPlace(Elem(out, Int(0)), ir.Get(sum)))...)
		}, lines("sum = 0i32", "i = 0i32",
			"iLimit = max(n, -2147483645i32) - 3i32",
			"for L0.i.batch i < iLimit {",
			"if (uint64(i) >= uint64(len(out))) || (uint64(i + 3i32) >= uint64(len(out))) {", "break L0.i.batch",
			"loaded = out[i]", "loaded = out[i + 1i32]", "loaded = out[i + 2i32]", "loaded = out[i + 3i32]",
			"j = 5i32", "sum = sum + j", "j = loaded", "sum = sum + j",
			"j = 5i32", "sum = sum + j", "j = loaded", "sum = sum + j",
			"j = 5i32", "sum = sum + j", "j = loaded", "sum = sum + j",
			"j = 5i32", "sum = sum + j", "j = loaded", "sum = sum + j",
			"} post {", "i = i + 4i32",
			"for L1.i i < n {", "j = 5i32", "sum = sum + j", "j = out[?i]", "sum = sum + j", "} post {", "i = i + 1i32",
			"out[?0] = sum")},
		{"iterations that write do so after all reads of the batch, unless slices overlap", func() *ir.Kernel {
			i, j := counter(), Local("j", ir.TInt32)
			at := Local("at", ir.SliceOf(ir.TInt32))
			atom := &ir.Atomic{Op: ir.AtomicAdd, Place: Elem(out, ir.Get(j)), Args: []ir.Expr{i32(1)}}
			return Kernel("k", locals(out, at, n), locals(i, j),
				For(i, i32(0), unchecked(Elem(at, ir.Get(n))),
					Set(j, unchecked(Elem(at, ir.Get(i)))),
					If(Op(unchecked(Elem(at, ir.Get(j))), ir.Gt, i32(0)), atom))...)
		}, lines("i = 0i32",
			"iLimit = max(at[n], -2147483645i32) - 3i32",
			"if (&at[0] < &out[len(out)]) && (&out[0] < &at[len(at)]) {", "iLimit = -2147483648i32",
			"for L0.i.batch i < iLimit {",
			"loaded = at[i]", "j = loaded", "loaded = at[j]", "ahead = loaded > 0i32",
			"loaded = at[i + 1i32]", "j = loaded", "loaded = at[j]", "ahead = loaded > 0i32",
			"loaded = at[i + 2i32]", "j = loaded", "loaded = at[j]", "ahead = loaded > 0i32",
			"loaded = at[i + 3i32]", "j = loaded", "loaded = at[j]", "ahead = loaded > 0i32",
			"if ahead {", "_ = atomic add(&out[?j], 1i32)", "if ahead {", "_ = atomic add(&out[?j], 1i32)",
			"if ahead {", "_ = atomic add(&out[?j], 1i32)", "if ahead {", "_ = atomic add(&out[?j], 1i32)",
			"} post {", "i = i + 4i32",
			"for L1.i i < at[n] {", "j = at[i]", "if at[j] > 0i32 {", "_ = atomic add(&out[?j], 1i32)", "} post {", "i = i + 1i32")},
		{"not if they read the slice that they write", func() *ir.Kernel {
			i, j := counter(), Local("j", ir.TInt32)
			return Kernel("k", locals(out, n), locals(i, j),
				For(i, i32(0), Load(Elem(out, ir.Get(n))),
					Set(j, Load(Elem(out, ir.Get(i)))), SetPlace(Elem(out, ir.Get(j)), i32(1)))...)
		}, lines("i = 0i32", "for L0.i i < out[?n] {", "j = out[?i]", "out[?j] = 1i32", "} post {", "i = i + 1i32")},
		{"a shift that may fail is checked ahead", func() *ir.Kernel {
			i, j := counter(), Local("j", ir.TInt32)
			at := Local("at", ir.SliceOf(ir.TInt32))
			shift := &ir.Binary{Op: ir.Shl, X: unchecked(Elem(at, ir.Get(j))), Y: ir.Get(j), Check: true}
			return Kernel("k", locals(out, at, n), locals(i, j),
				For(i, i32(0), ir.Get(n),
					Set(j, unchecked(Elem(at, ir.Get(i)))), SetPlace(Elem(out, ir.Get(i)), shift))...)
		}, lines("i = 0i32",
			"iLimit = max(n, -2147483645i32) - 3i32",
			"if (&at[0] < &out[len(out)]) && (&out[0] < &at[len(at)]) {", "iLimit = -2147483648i32",
			"for L0.i.batch i < iLimit {",
			"loaded = at[i]", "j = loaded", "loaded = at[j]", "ahead = loaded << j",
			"loaded = at[i + 1i32]", "j = loaded", "loaded = at[j]", "ahead = loaded << j",
			"loaded = at[i + 2i32]", "j = loaded", "loaded = at[j]", "ahead = loaded << j",
			"loaded = at[i + 3i32]", "j = loaded", "loaded = at[j]", "ahead = loaded << j",
			"if (((j < 0i32) || (j < 0i32)) || (j < 0i32)) || (j < 0i32) {", "break L0.i.batch",
			"out[?i] = ahead", "out[?i + 1i32] = ahead", "out[?i + 2i32] = ahead", "out[?i + 3i32] = ahead",
			"} post {", "i = i + 4i32",
			"for L1.i i < n {", "j = at[i]", "out[?i] = at[j] <<? j", "} post {", "i = i + 1i32")},
		{"a loop that counts down", func() *ir.Kernel {
			i, m := counter(), Local("m", ir.TInt32)
			return Kernel("k", locals(out, n, m), locals(i), down(i, ir.Get(n), ir.Gt, ir.Get(m), 2, SetPlace(Elem(out, ir.Get(i)), ir.Get(i)))...)
		}, lines("i = n",
			"iLimit = min(m, 2147483641i32) + 6i32",
			"for L0.i.batch i > iLimit {",
			"out[?i] = i", "out[?i + -2i32] = i + -2i32", "out[?i + -4i32] = i + -4i32", "out[?i + -6i32] = i + -6i32",
			"} post {", "i = i - 8i32",
			"for L1.i i > m {", "out[?i] = i", "} post {", "i = i - 2i32")},
		{"a loop that counts down and includes its bound: no int32 is above the largest one", func() *ir.Kernel {
			i, m := counter(), Local("m", ir.TInt32)
			return Kernel("k", locals(out, n, m), locals(i), down(i, ir.Get(n), ir.Ge, ir.Get(m), 1, SetPlace(Elem(out, ir.Get(i)), i32(7)))...)
		}, lines("i = n",
			"iLimit = min(m, 2147483645i32) + 2i32",
			"for L0.i.batch i > iLimit {",
			"out[?i] = 7i32", "out[?i + -1i32] = 7i32", "out[?i + -2i32] = 7i32", "out[?i + -3i32] = 7i32",
			"} post {", "i = i - 4i32",
			"for L1.i i >= m {", "out[?i] = 7i32", "} post {", "i = i - 1i32")},
		{"a loop that counts down to 0: the batches come last, and low bits of the counter are constant", func() *ir.Kernel {
			i := counter()
			return Kernel("k", locals(out, n), locals(i), down(i, ir.Get(n), ir.Gt, i32(0), 1, SetPlace(Elem(out, Op(ir.Get(i), ir.And, i32(1))), i32(7)))...)
		}, lines("i = n",
			"for L0.i (i > 0i32) && ((i & 3i32) != 0i32) {", "out[?i & 1i32] = 7i32", "} post {", "i = i - 1i32",
			"for L1.i.batch i > 0i32 {",
			"out[?0i32] = 7i32", "out[?1i32] = 7i32", "out[?0i32] = 7i32", "out[?1i32] = 7i32",
			"} post {", "i = i - 4i32")},
		{"a multiple of the batch that counts down", func() *ir.Kernel {
			i := counter()
			return Kernel("k", locals(out), locals(i), down(i, i32(399), ir.Ge, i32(0), 1, SetPlace(Elem(out, ir.Get(i)), i32(7)))...)
		}, lines("i = 399i32",
			"for L0.i.batch i >= 0i32 {",
			"out[?i] = 7i32", "out[?i + -1i32] = 7i32", "out[?i + -2i32] = 7i32", "out[?i + -3i32] = 7i32",
			"} post {", "i = i - 4i32")},
		{"a break leaves both loops that count down", func() *ir.Kernel {
			i := counter()
			list := down(i, ir.Get(n), ir.Gt, i32(0), 1)
			l := list[1].(*ir.Loop)
			l.Body = []ir.Stmt{If(Op(ir.Get(i), ir.Eq, i32(9)), &ir.Break{Label: l.Label})}
			return Kernel("k", locals(out, n), locals(i), Body(list, SetPlace(Elem(out, Int(0)), ir.Get(i)))...)
		}, lines("i = n", "block L0.i {",
			"for L1.i (i > 0i32) && ((i & 3i32) != 0i32) {", "if i == 9i32 {", "break L0.i", "} post {", "i = i - 1i32",
			"for L2.i.batch i > 0i32 {",
			"if i == 9i32 {", "break L0.i", "if (i + -1i32) == 9i32 {", "break L0.i",
			"if (i + -2i32) == 9i32 {", "break L0.i", "if (i + -3i32) == 9i32 {", "break L0.i",
			"} post {", "i = i - 4i32",
			"out[?0] = i")},
		{"not if it counts away from its bound", func() *ir.Kernel {
			i := counter()
			return Kernel("k", locals(out, n), locals(i), down(i, ir.Get(n), ir.Lt, i32(0), 1, SetPlace(Elem(out, ir.Get(i)), i32(7)))...)
		}, lines("i = n", "for L0.i i < 0i32 {", "out[?i] = 7i32", "} post {", "i = i - 1i32")},
		{"copies know that the counter has passed where it started", func() *ir.Kernel {
			i, m := counter(), Local("m", ir.TInt32)
			return Kernel("k", locals(out, n, m), locals(i), For(i, ir.Get(n), ir.Get(m),
				If(Op(ir.Get(i), ir.Gt, ir.Get(n)), SetPlace(Elem(out, Int(0)), i32(7))),
				Else(If(Op(ir.Get(n), ir.Eq, ir.Get(i)), SetPlace(Elem(out, Int(1)), i32(8))), SetPlace(Elem(out, Int(2)), i32(9))))...)
		}, lines("i = n",
			"iLimit = max(m, -2147483645i32) - 3i32",
			"for L0.i.batch i < iLimit {",
			"if i > n {", "out[?0] = 7i32", "if n == i {", "out[?1] = 8i32", "} else {", "out[?2] = 9i32",
			"out[?0] = 7i32", "out[?2] = 9i32", "out[?0] = 7i32", "out[?2] = 9i32", "out[?0] = 7i32", "out[?2] = 9i32",
			"} post {", "i = i + 4i32",
			"for L1.i i < m {", "if i > n {", "out[?0] = 7i32", "if n == i {", "out[?1] = 8i32", "} else {", "out[?2] = 9i32", "} post {", "i = i + 1i32")},
		{"not if the start has changed", func() *ir.Kernel {
			i, m, start := counter(), Local("m", ir.TInt32), Local("start", ir.TInt32)
			list := For(i, ir.Get(start), ir.Get(m), If(Op(ir.Get(i), ir.Gt, ir.Get(start)), SetPlace(Elem(out, Int(0)), i32(7))))
			return Kernel("k", locals(out, n, m), locals(i, start), Set(start, ir.Get(n)), list[0], Set(start, ir.Get(m)), list[1])
		}, lines("start = n", "i = start", "start = m",
			"iLimit = max(m, -2147483645i32) - 3i32",
			"for L0.i.batch i < iLimit {",
			"if i > start {", "out[?0] = 7i32", "if (i + 1i32) > start {", "out[?0] = 7i32", "if (i + 2i32) > start {", "out[?0] = 7i32", "if (i + 3i32) > start {", "out[?0] = 7i32",
			"} post {", "i = i + 4i32",
			"for L1.i i < m {", "if i > start {", "out[?0] = 7i32", "} post {", "i = i + 1i32")},
		{"nor if the counter may wrap", func() *ir.Kernel {
			i := counter()
			list := For(i, i32(1), ir.Get(n), If(Op(ir.Get(i), ir.Gt, i32(1)), SetPlace(Elem(out, Int(0)), i32(7))))
			list[1].(*ir.Loop).Cond.(*ir.Binary).Op = ir.Le
			return Kernel("k", locals(out, n), locals(i), list...)
		}, lines("i = 1i32",
			"iLimit = max(n, -2147483646i32) - 2i32",
			"for L0.i.batch i < iLimit {",
			"if i > 1i32 {", "out[?0] = 7i32", "if (i + 1i32) > 1i32 {", "out[?0] = 7i32", "if (i + 2i32) > 1i32 {", "out[?0] = 7i32", "if (i + 3i32) > 1i32 {", "out[?0] = 7i32",
			"} post {", "i = i + 4i32",
			"for L1.i i <= n {", "if i > 1i32 {", "out[?0] = 7i32", "} post {", "i = i + 1i32")},
		{"constants that the counter has passed", func() *ir.Kernel {
			i := counter()
			at := func(n int64) ir.Stmt { return SetPlace(Elem(out, Int(n)), i32(7)) }
			return Kernel("k", locals(out, n), locals(i), For(i, i32(5), ir.Get(n),
				If(Op(ir.Get(i), ir.Lt, i32(5)), at(0)),
				If(Op(ir.Get(i), ir.Ge, i32(7)), at(1)),
				If(Op(ir.Get(i), ir.Ne, i32(7)), at(2)))...)
		}, lines("i = 5i32",
			"iLimit = max(n, -2147483645i32) - 3i32",
			"for L0.i.batch i < iLimit {",
			"if i >= 7i32 {", "out[?1] = 7i32", "if i != 7i32 {", "out[?2] = 7i32",
			"if (i + 1i32) >= 7i32 {", "out[?1] = 7i32", "if (i + 1i32) != 7i32 {", "out[?2] = 7i32",
			"out[?1] = 7i32", "if (i + 2i32) != 7i32 {", "out[?2] = 7i32",
			"out[?1] = 7i32", "out[?2] = 7i32",
			"} post {", "i = i + 4i32",
			"for L1.i i < n {", "if i < 5i32 {", "out[?0] = 7i32", "if i >= 7i32 {", "out[?1] = 7i32", "if i != 7i32 {", "out[?2] = 7i32", "} post {", "i = i + 1i32")},
		{"and not those whose distance overflows", func() *ir.Kernel {
			i, m := Local("i", ir.TInt), Local("m", ir.TInt)
			return Kernel("k", locals(out, m), locals(i), For(i, Int(math.MinInt64), ir.Get(m), If(Op(ir.Get(i), ir.Gt, Int(1)), SetPlace(Elem(out, Int(0)), i32(7))))...)
		}, lines("i = -9223372036854775808",
			"iLimit = max(m, -9223372036854775805) - 3",
			"for L0.i.batch i < iLimit {",
			"if i > 1 {", "out[?0] = 7i32", "if (i + 1) > 1 {", "out[?0] = 7i32", "if (i + 2) > 1 {", "out[?0] = 7i32", "if (i + 3) > 1 {", "out[?0] = 7i32",
			"} post {", "i = i + 4",
			"for L1.i i < m {", "if i > 1 {", "out[?0] = 7i32", "} post {", "i = i + 1")},
		{"a continue in the copies after the first one ends them", func() *ir.Kernel {
			i, m := counter(), Local("m", ir.TInt32)
			list := For(i, ir.Get(n), ir.Get(m))
			l := list[1].(*ir.Loop)
			l.Body = []ir.Stmt{
				SetPlace(Elem(out, Int(1)), ir.Get(i)),
				If(Op(ir.Get(i), ir.Gt, ir.Get(n)), &ir.Continue{Label: l.Label}),
				SetPlace(Elem(out, Int(0)), ir.Get(i))}
			return Kernel("k", locals(out, n, m), locals(i), list...)
		}, lines("i = n",
			"iLimit = max(m, -2147483645i32) - 3i32",
			"for L0.i.batch i < iLimit {",
			"out[?1] = i", "if i > n {", "} else {", "out[?0] = i", "out[?1] = i + 1i32", "out[?1] = i + 2i32", "out[?1] = i + 3i32",
			"} post {", "i = i + 4i32",
			"for L1.i i < m {", "out[?1] = i", "if i > n {", "continue L1.i", "out[?0] = i", "} post {", "i = i + 1i32")},
		{"a loop that counts down has passed what is greater", func() *ir.Kernel {
			i, m := counter(), Local("m", ir.TInt32)
			return Kernel("k", locals(out, n, m), locals(i), down(i, ir.Get(n), ir.Gt, ir.Get(m), 1,
				If(Op(ir.Get(i), ir.Lt, ir.Get(n)), SetPlace(Elem(out, ir.Get(i)), i32(7))))...)
		}, lines("i = n",
			"iLimit = min(m, 2147483644i32) + 3i32",
			"for L0.i.batch i > iLimit {",
			"if i < n {", "out[?i] = 7i32", "out[?i + -1i32] = 7i32", "out[?i + -2i32] = 7i32", "out[?i + -3i32] = 7i32",
			"} post {", "i = i - 4i32",
			"for L1.i i > m {", "if i < n {", "out[?i] = 7i32", "} post {", "i = i - 1i32")},
		{"also where the batches come last", func() *ir.Kernel {
			i := counter()
			return Kernel("k", locals(out, n), locals(i), down(i, ir.Get(n), ir.Gt, i32(0), 1,
				If(Op(ir.Get(i), ir.Lt, ir.Get(n)), SetPlace(Elem(out, ir.Get(i)), i32(7))), If(Op(ir.Get(i), ir.Lt, i32(1)), SetPlace(Elem(out, ir.Get(i)), i32(8))))...)
		}, lines("i = n",
			"for L0.i (i > 0i32) && ((i & 3i32) != 0i32) {", "if i < n {", "out[?i] = 7i32", "if i < 1i32 {", "out[?i] = 8i32", "} post {", "i = i - 1i32",
			"for L1.i.batch i > 0i32 {",
			"if i < n {", "out[?i] = 7i32", "if i < 1i32 {", "out[?i] = 8i32",
			"out[?i + -1i32] = 7i32", "if (i + -1i32) < 1i32 {", "out[?i + -1i32] = 8i32",
			"out[?i + -2i32] = 7i32", "if (i + -2i32) < 1i32 {", "out[?i + -2i32] = 8i32",
			"out[?i + -3i32] = 7i32", "if (i + -3i32) < 1i32 {", "out[?i + -3i32] = 8i32",
			"} post {", "i = i - 4i32")},
		{"a loop whose bound changes stays", func() *ir.Kernel {
			i, m := counter(), Local("m", ir.TInt32)
			return Kernel("k", locals(out), locals(i, m), Body(Set(m, i32(50)), For(i, i32(0), ir.Get(m), Set(m, Add(ir.Get(m), i32(-1)))), SetPlace(Elem(out, Int(0)), ir.Get(m)))...)
		}, lines("m = 50i32", "i = 0i32", "for L0.i i < m {", "m = m + -1i32", "} post {", "i = i + 1i32", "out[?0] = m")},
	})
}

func TestBoundsInMemoryAreReadOnce(t *testing.T) {
	ends, out := Local("ends", ir.SliceOf(ir.TInt)), Local("out", ir.SliceOf(ir.TInt))
	sum, i, n := Local("sum", ir.TInt), Local("i", ir.TInt), Local("n", ir.TInt)
	checkPass(t, "hoist", []passCase{
		{"in a loop that stores nothing", func() *ir.Kernel {
			return Kernel("k", locals(ends, out, n), locals(sum, i), Body(Set(sum, Int(0)),
				For(i, Int(0), Load(Elem(ends, ir.Get(n))), Set(sum, Add(ir.Get(sum), Load(Elem(out, ir.Get(i)))))),
				SetPlace(Elem(out, Int(0)), ir.Get(sum)))...)
		}, lines("sum = 0", "i = 0", "bound = ends[?n]", "for L0.i i < bound {", "sum = sum + out[?i]", "} post {", "i = i + 1", "out[?0] = sum")},
		{"not in a loop that stores to memory", func() *ir.Kernel {
			return Kernel("k", locals(ends, out, n), locals(i),
				For(i, Int(0), Load(Elem(ends, ir.Get(n))), SetPlace(Elem(out, ir.Get(i)), Int(1)))...)
		}, lines("i = 0", "for L0.i i < ends[?n] {", "out[?i] = 1", "} post {", "i = i + 1")},
		{"not if the element that holds it changes", func() *ir.Kernel {
			return Kernel("k", locals(ends, out), locals(sum, i), Body(Set(sum, Int(0)),
				For(i, Int(0), Load(Elem(ends, ir.Get(i))), Set(sum, Add(ir.Get(sum), Int(1)))),
				SetPlace(Elem(out, Int(0)), ir.Get(sum)))...)
		}, lines("sum = 0", "i = 0", "for L0.i i < ends[?i] {", "sum = sum + 1", "} post {", "i = i + 1", "out[?0] = sum")},
	})
}

func TestLongOperationsOfInvariantsLeaveLoops(t *testing.T) {
	f32 := ir.TFloat32
	x, h, tile := Local("x", f32), Local("h", f32), Local("tile", ir.SliceOf(f32))
	i, n, out := Local("i", ir.TInt), Local("n", ir.TInt), Local("out", ir.SliceOf(f32))
	six := ir.FloatConst(f32, 6)
	div := func(a, b ir.Expr) ir.Expr { return &ir.Binary{Op: ir.Div, X: a, Y: b} }
	root := func(a ir.Expr) ir.Expr { return &ir.Intrinsic{Op: ir.Sqrt, T: f32, Args: []ir.Expr{a}} }
	kernel := func(body ...ir.Stmt) func() *ir.Kernel {
		return func() *ir.Kernel {
			return ir.CloneKernel(Kernel("k", locals(out, tile, h, n), locals(x, i), Body(Set(x, ir.FloatConst(f32, 0)), For(i, Int(0), ir.Get(n), body...), SetPlace(Elem(out, Int(0)), ir.Get(x)))...))
		}
	}
	checkPass(t, "hoist", []passCase{
		{"a division, and the root of it", kernel(Set(x, Add(ir.Get(x), root(div(ir.Get(h), six))))),
			lines("x = 0.0f32", "i = 0", "steady = sqrt(h / 6.0f32)", "for L0.i i < n {", "x = x + steady", "} post {", "i = i + 1", "out[?0] = x")},
		{"not of what the loop changes", kernel(Set(x, div(ir.Get(x), six))),
			lines("x = 0.0f32", "i = 0", "for L0.i i < n {", "x = x / 6.0f32", "} post {", "i = i + 1", "out[?0] = x")},
		{"not of memory", kernel(Set(x, Add(ir.Get(x), root(Load(Elem(tile, Int(0))))))),
			lines("x = 0.0f32", "i = 0", "for L0.i i < n {", "x = x + sqrt(tile[?0])", "} post {", "i = i + 1", "out[?0] = x")},
		{"not what only some iterations compute", kernel(&ir.If{Cond: &ir.Binary{Op: ir.Lt, X: ir.Get(x), Y: six}, Then: []ir.Stmt{Set(x, div(ir.Get(h), six))}}),
			lines("x = 0.0f32", "i = 0", "for L0.i i < n {", "if x < 6.0f32 {", "x = h / 6.0f32", "} post {", "i = i + 1", "out[?0] = x")},
	})
}

func TestDivisionsOfIntegersLeaveLoopsThatSurelyRun(t *testing.T) {
	i, n, m, sum, out := Local("i", ir.TInt), Local("n", ir.TInt), Local("m", ir.TInt), Local("sum", ir.TInt), Local("out", ir.SliceOf(ir.TInt))
	rest := func(x, y ir.Expr) ir.Expr { return &ir.Binary{Op: ir.Rem, X: x, Y: y, Check: true} }
	add := func(x ir.Expr) ir.Stmt { return Set(sum, Add(ir.Get(sum), x)) }
	kernel := func(end ir.Expr, body ...ir.Stmt) func() *ir.Kernel {
		return func() *ir.Kernel {
			return ir.CloneKernel(Kernel("k", locals(out, n, m), locals(sum, i), Body(Set(sum, Int(0)), For(i, Int(0), end, body...), SetPlace(Elem(out, Int(0)), ir.Get(sum)))...))
		}
	}
	checkPass(t, "hoist", []passCase{
		{"the first one", kernel(Int(900), add(rest(ir.Get(n), ir.Get(m)))),
			lines("sum = 0", "i = 0", "steady = n %? m", "for L0.i i < 900 {", "sum = sum + steady", "} post {", "i = i + 1", "out[?0] = sum")},
		{"one after others by the same number", kernel(Int(900), add(rest(ir.Get(i), ir.Get(m))), add(rest(ir.Get(n), ir.Get(m)))),
			lines("sum = 0", "i = 0", "steady = n %? m", "for L0.i i < 900 {", "sum = sum + (i %? m)", "sum = sum + steady", "} post {", "i = i + 1", "out[?0] = sum")},
		{"not if the loop may not run", kernel(ir.Get(n), add(rest(ir.Get(n), ir.Get(m)))),
			lines("sum = 0", "i = 0", "for L0.i i < n {", "sum = sum + (n %? m)", "} post {", "i = i + 1", "out[?0] = sum")},
		{"not if something else fails before", kernel(Int(900), add(rest(ir.Get(i), ir.Get(n))), add(rest(ir.Get(n), ir.Get(m)))),
			lines("sum = 0", "i = 0", "for L0.i i < 900 {", "sum = sum + (i %? n)", "sum = sum + (n %? m)", "} post {", "i = i + 1", "out[?0] = sum")},
		{"not after a write", kernel(Int(900), SetPlace(Elem(out, ir.Get(i)), Int(1)), add(rest(ir.Get(n), ir.Get(m)))),
			lines("sum = 0", "i = 0", "for L0.i i < 900 {", "out[?i] = 1", "sum = sum + (n %? m)", "} post {", "i = i + 1", "out[?0] = sum")},
	})
}
