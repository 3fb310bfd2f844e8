package opt

import (
	"math"
	"math/bits"
	"slices"

	"quern.dev/internal/compiler/ir"
)

// A loop without nested loops and hints runs several iterations at a time: the largest
// batch size whose copies stay within the node budget. The loads of a batch are in
// flight together, which hides more of their latency than more threads could, and they
// share cache lines while these are resident.
//
// ptxas unrolls a longer loop itself if the number of its iterations is constant. If it is
// not, such a loop runs in batches of four or two.
var batchBudgets = []batchBudget{{mostTrips, 320, true}, {8, 320, true}, {4, 640, true}, {4, 1024, false}, {2, 1024, false}}

// sizeOfRest is the size of the batches that what larger ones leave runs in.
const sizeOfRest = 4

type batchBudget struct {
	size, nodes int
	constant    bool // also if the bound is constant
}

// batch makes loops over an integer that counts up to a bound run several iterations at a
// time, here four:
//
//	for ; i < n; i += s { body(i) }
//
// becomes the following, which overflows only where the original did:
//
//	for ; i < n-3*s; i += 4*s { body(i); body(i+s); body(i+2*s); body(i+3*s) }
//	for ; i < n; i += s { body(i) }
//
// After larger batches, there are some of four.
//
// It runs after everything provable about the loop has been proven.
func batch(k *ir.Kernel) error {
	b := batcher{newUnroller(k.Func), k}
	k.Func.Body = b.list(k.Func.Body)
	return nil
}

type batcher struct {
	*unroller
	kernel *ir.Kernel
}

func (b *batcher) list(list []ir.Stmt) []ir.Stmt {
	var out []ir.Stmt
	for _, s := range list {
		switch s := s.(type) {
		case *ir.If:
			s.Then, s.Else = b.list(s.Then), b.list(s.Else)
		case *ir.Block:
			s.Body = b.list(s.Body)
		case *ir.Loop:
			if leaves(s.Body, isLoop) {
				s.Body = b.list(s.Body)
				break
			}
			if s.Unroll != 0 {
				break // the programmer has given a hint
			}
			if c := b.counts(out, s); c != nil {
				if loops := b.batches(s, c); loops != nil {
					out = append(out, loops...)
					continue
				}
			}
		}
		out = append(out, s)
	}
	return out
}

func isLoop(s ir.Stmt) bool {
	_, ok := s.(*ir.Loop)
	return ok
}

// counting is a loop that counts to a bound that the loop does not change, unless what it
// writes is where the bound is.
type counting struct {
	v     *ir.Local
	cond  *ir.Binary  // v < bound or v <= bound; v > bound or v >= bound if it counts down
	step  ir.Expr     // positive in batches, unless the loop counts down
	fixed *ir.Const   // the step, nil if it is not constant
	start *ir.Const   // of v, nil if it is not constant
	begin *ir.Local   // variable that v starts from and that the loop does not change, or nil
	phase *ir.Const   // instead of start, but for a multiple of the size; only in batches that come last
	size  int         // iterations per batch
	from  []*ir.Local // the slices that contain the bound
}

// counts returns how a loop counts, or nil if it cannot run in batches.
func (b *batcher) counts(before []ir.Stmt, s *ir.Loop) *counting {
	cond, ok := s.Cond.(*ir.Binary)
	if !ok || len(s.Pre) != 0 || len(s.Post) != 1 {
		return nil
	}
	v, ok := ir.Variable(cond.X)
	if !ok || v.Type.Kind != ir.Int32 && v.Type.Kind != ir.Int && v.Type.Kind != ir.Int64 || b.uses[v] == nil || b.uses[v].addressed || assigns(s.Body, v) {
		return nil
	}
	post, ok := s.Post[0].(*ir.Assign)
	if !ok {
		return nil
	}
	if dst, ok := post.Dst.(*ir.VarPlace); !ok || dst.Var != v {
		return nil
	}
	c := &counting{v: v, cond: cond, step: stepOf(post.Src, v), start: initial(before, v), size: sizeOfBatch(s, v.Type.Size(), asConst(cond.Y) != nil)}
	if c.step == nil {
		return nil
	}
	c.fixed = asConst(c.step)
	if w, ok := ir.Variable(initialValue(before, v)); ok && w != v && b.constantIn(s, ir.Get(w)) && keepsAfter(before, v, w) {
		c.begin = w
	}
	switch {
	case !c.down() && cond.Op != ir.Lt && cond.Op != ir.Le:
		return nil
	case c.fixed != nil && (c.distance() <= 0 || c.distance() > math.MaxInt32/64):
		return nil
	case c.fixed == nil && !b.constantIn(s, c.step):
		return nil
	case c.size == 0:
		return nil
	case !b.constantIn(s, cond.Y):
		var ok bool
		if c.from, ok = b.slicesReadBy(cond.Y); !ok || !b.constantButFor(s, cond.Y, c.from) {
			return nil
		}
	}
	return c
}

// keepsAfter reports whether w keeps its value after the last assignment to v in a list.
func keepsAfter(list []ir.Stmt, v, w *ir.Local) bool {
	for i := len(list) - 1; i >= 0 && !assigns(list[i:i+1], w); i-- {
		if assigns(list[i:i+1], v) {
			return true
		}
	}
	return false
}

// isExtent reports whether an expression is a product of grid and block extents, and
// therefore positive unless it wraps.
func isExtent(e ir.Expr) bool {
	_, ok := bitsOfExtent(e)
	return ok
}

// mayWrap is the number of bits of an extent that a type on the way may have cut.
const mayWrap = 64

// bitsOfExtent returns the number of bits of an extent at most.
func bitsOfExtent(e ir.Expr) (n int, ok bool) {
	switch e := e.(type) {
	case *ir.Const:
		return bits.Len64(e.Bits), e.Int64() > 0
	case *ir.Convert:
		n, ok = bitsOfExtent(e.X)
	case *ir.Binary:
		x, ok1 := bitsOfExtent(e.X)
		y, ok2 := bitsOfExtent(e.Y)
		n, ok = x+y, e.Op == ir.Mul && ok1 && ok2
	case *ir.ThreadValue:
		switch e.Op {
		case ir.BlockDimX, ir.BlockDimY, ir.BlockDimZ:
			return 11, true
		case ir.GridDimX:
			return 31, true
		case ir.GridDimY, ir.GridDimZ:
			return 16, true
		}
	}
	if int64(n) >= 8*e.Type().Size() {
		n = mayWrap
	}
	return n, ok
}

// bitsOfStep is the number of bits of the largest steps of which mostTrips do not overflow.
const bitsOfStep = 58

// isStep reports whether an expression of 64 bits is an extent of which a batch does not
// overflow.
func isStep(e ir.Expr) bool {
	n, ok := bitsOfExtent(e)
	return ok && n <= bitsOfStep
}

// constantIn reports whether an expression is invariant in a loop and cannot fail.
func (b *batcher) constantIn(s *ir.Loop, e ir.Expr) bool { return b.constantButFor(s, e, nil) }

// constantButFor is constantIn for an expression that may read elements of slices.
func (b *batcher) constantButFor(s *ir.Loop, e ir.Expr, from []*ir.Local) bool {
	ok := !ir.MayFault(e)
	v := ir.Visitor{Expr: func(e ir.Expr) bool {
		if l, isLoad := e.(*ir.Load); isLoad && from != nil && b.sliceOf(l.Place) != nil {
			return true
		} else if isLoad {
			w, isVar := ir.Variable(l)
			ok = ok && isVar && b.uses[w] != nil && !b.uses[w].addressed && !assigns(s.Body, w) && !assigns(s.Post, w)
			return false
		}
		return ok
	}}
	v.Value(e)
	return ok
}

// sizeOfBatch returns the number of iterations per batch, or 0. Checked indices of eight bytes
// take twice the registers. The bound is constant or not.
func sizeOfBatch(s *ir.Loop, bytes int64, constant bool) int {
	nodes := 0
	v := ir.Visitor{
		Stmt:  func(ir.Stmt) bool { nodes++; return true },
		Expr:  func(ir.Expr) bool { nodes++; return true },
		Place: func(ir.Place) bool { nodes++; return true },
	}
	v.Body(s.Body)
	if bytes == 8 && ir.BoundsChecks(s.Body) > 0 {
		nodes *= 2
	}
	for _, b := range batchBudgets {
		if nodes*b.size <= b.nodes && (b.constant || !constant) {
			return b.size
		}
	}
	return 0
}

// batches returns the batched loop and the loop over the remaining iterations, nil if the loop
// cannot run in batches.
func (b *batcher) batches(s *ir.Loop, c *counting) []ir.Stmt {
	breaks := leaves(s.Body, breaksOut(s.Label))
	main := &ir.Loop{Label: &ir.Label{Name: s.Label.Name + ".batch"}, Cond: c.cond, Pos: s.Pos}
	private := b.private(s.Body, b.regions[s])
	if c.down() {
		return b.batchesDown(s, c, private)
	}
	plan := b.planAhead(s, c, private)
	if c.from != nil && (plan == nil || plan.written == nil) {
		return nil
	}
	var out []ir.Stmt
	rest := !c.isMultiple() || plan != nil
	if !c.isMultiple() || plan != nil && plan.written != nil {
		var limit *ir.Local
		out, limit = b.limit(c, s.Pos)
		if plan != nil && plan.written != nil {
			out = append(out, plan.unlessApart(slices.Concat(c.from, plan.read), limit, s.Pos)...)
		}
		main.Cond = &ir.Binary{Op: ir.Lt, X: ir.Get(c.v), Y: ir.Get(limit), Pos: c.cond.Pos}
	}
	b.repeat(main, s, c, private, plan)
	if !breaks {
		switch out = append(out, main); {
		case !rest:
		case c.size > sizeOfRest && !c.isMultiple():
			smaller := *c
			smaller.size = sizeOfRest
			out = append(out, b.batches(s, &smaller)...) // as it can run in larger ones
		default:
			out = append(out, s)
		}
		return out
	}
	// A break leaves both loops, so its label moves to a block around them.
	whole := s.Label
	if out = append(out, main); rest {
		s.Label = &ir.Label{Name: whole.Name}
		s.Body = continueFrom(s.Body, whole, s.Label)
		out = append(out, s)
	}
	return dissolve(&ir.Block{Label: whole, Body: out})
}

// repeat makes the iterations of a batch the body of main.
func (b *batcher) repeat(main, s *ir.Loop, c *counting, private []*ir.Local, plan *aheadPlan) {
	outside := outerLabels(s.Body)
	if plan != nil {
		private = append(private, plan.temps...)
	}
	var copies []iteration
	at := func() ir.Expr { return ir.Get(c.v) } // the copy's counter
	for j := range c.size {
		cl := &ir.Cloner{Vars: map[*ir.Local]*ir.Local{}}
		for _, l := range outside {
			cl.Keep(l)
		}
		for _, v := range private {
			cl.Vars[v] = b.copyOf(v)
		}
		if j > 0 {
			if c.fixed != nil {
				at = func() ir.Expr { return plus(c.v, int64(j)*c.fixed.Int64()) }
			} else {
				next := b.copyOf(c.v)
				main.Body = append(main.Body, &ir.Assign{
					Dst: &ir.VarPlace{Var: next},
					Src: &ir.Binary{Op: ir.Add, X: at(), Y: ir.CloneExpr(c.step)},
					Pos: s.Pos,
				})
				at = func() ir.Expr { return ir.Get(next) }
			}
		}
		here := at
		copied := func(list []ir.Stmt) []ir.Stmt { return c.substitute(cl.Body(list), j, here) }
		if plan != nil {
			copies = append(copies, copied)
			continue
		}
		main.Body = append(main.Body, continueBehind(decide(copied(s.Body)), s.Label)...)
	}
	if plan != nil {
		main.Body = append(main.Body, plan.body(copies, main.Label, s.Pos)...)
	}
	last := at()
	if c.fixed != nil {
		last = plus(c.v, int64(c.size-1)*c.fixed.Int64())
	}
	main.Post = []ir.Stmt{&ir.Assign{
		Dst: &ir.VarPlace{Var: c.v},
		Src: simplifyExpr(&ir.Binary{Op: ir.Add, X: last, Y: ir.CloneExpr(c.step)}),
		Pos: s.Pos,
	}}
}

// continueFrom redirects the continues of one loop to another.
func continueFrom(body []ir.Stmt, from, to *ir.Label) []ir.Stmt {
	continues := continuesWith(from)
	r := ir.Rewriter{Stmt: func(s ir.Stmt) []ir.Stmt {
		if continues(s) {
			return []ir.Stmt{&ir.Continue{Label: to}}
		}
		return []ir.Stmt{s}
	}}
	return r.Body(body)
}

// isMultiple reports whether all iterations are known to form whole batches.
func (c *counting) isMultiple() bool {
	end := asConst(c.cond.Y)
	if c.start == nil || c.fixed == nil || end == nil {
		return false
	}
	distance, step := end.Int64()-c.start.Int64(), c.distance()
	if c.down() {
		distance = -distance
	}
	if c.cond.Op == ir.Le || c.cond.Op == ir.Ge {
		distance++
	}
	return distance > 0 && (distance+step-1)/step%int64(c.size) == 0
}

// limit assigns to a variable the bound below which a whole batch remains. It is the
// loop's bound minus the steps within a batch, or the smallest integer if that would
// underflow or the step is negative.
func (b *batcher) limit(c *counting, pos ir.Pos) ([]ir.Stmt, *ir.Local) {
	t := c.v.Type
	limit := &ir.Local{Name: c.v.Name + "Limit", Type: t, Hidden: true}
	b.f.Locals = append(b.f.Locals, limit)
	lowest := leastOf(t)
	within, more := int64(c.size-1), int64(0)
	if c.cond.Op == ir.Le {
		more = 1 // v <= the smallest integer may hold; v < it cannot
	}
	bound := ir.CloneExpr(c.cond.Y)
	minus := func(x, y ir.Expr) ir.Expr { return &ir.Binary{Op: ir.Sub, X: x, Y: y} }
	atLeast := func(x, y ir.Expr) ir.Expr { return &ir.Intrinsic{Op: ir.Max, T: x.Type(), Args: []ir.Expr{x, y}} }
	var src ir.Expr
	if c.fixed != nil {
		steps := within*c.fixed.Int64() - more
		if k := asConst(bound); !b.isLength(bound) && (k == nil || k.Int64() < 0) {
			bound = atLeast(bound, ir.IntConst(t, lowest+steps))
		}
		src = minus(bound, ir.IntConst(t, steps))
	} else {
		wide := func(e ir.Expr) ir.Expr { return &ir.Convert{T: ir.TInt64, X: e} }
		step := ir.CloneExpr(c.step)
		if t.Kind == ir.Int32 { // a negative step is larger than all distances
			step = &ir.Convert{T: ir.TUint32, X: step}
		}
		steps := ir.Expr(&ir.Binary{Op: ir.Mul, X: wide(step), Y: ir.IntConst(ir.TInt64, within)})
		if more > 0 {
			steps = minus(steps, ir.IntConst(ir.TInt64, more))
		}
		if t.Kind == ir.Int32 {
			src = atLeast(minus(wide(bound), steps), ir.IntConst(ir.TInt64, lowest))
		} else {
			src = minus(atLeast(wide(bound), &ir.Binary{Op: ir.Add, X: ir.CloneExpr(steps), Y: ir.IntConst(ir.TInt64, lowest)}), steps)
			if !isStep(c.step) {
				src = &ir.Select{
					Cond: &ir.Binary{Op: ir.Le, X: &ir.Convert{T: ir.TUint64, X: wide(ir.CloneExpr(step))}, Y: ir.IntConst(ir.TUint64, 1<<bitsOfStep)},
					X:    src,
					Y:    ir.IntConst(ir.TInt64, lowest),
				}
			}
		}
		src = &ir.Convert{T: t, X: src}
	}
	return []ir.Stmt{&ir.Assign{Dst: &ir.VarPlace{Var: limit}, Src: simplifyExpr(src), Pos: pos}}, limit
}

// leastOf returns the smallest integer of a counter's type.
func leastOf(t *ir.Type) int64 {
	if t.Kind == ir.Int32 {
		return math.MinInt32
	}
	return math.MinInt64
}

// isLength reports whether an expression is a slice's length, which an int32 can hold if the
// launch promises that.
func (b *batcher) isLength(e ir.Expr) bool {
	if c, ok := e.(*ir.Convert); ok {
		if e = c.X; c.T.Size() < 8 && !b.lengthsFit() {
			return false
		}
	}
	_, ok := e.(*ir.Len)
	return ok
}

// lengthsFit reports whether all slices are known to have fewer than 1<<31 elements.
func (b *batcher) lengthsFit() bool {
	for i, p := range b.kernel.Func.Params {
		if p.Type.Kind == ir.Slice && !slices.ContainsFunc(b.kernel.Limits, func(l ir.Limit) bool {
			return l.X.Op == ir.SymArg && l.X.Value == int64(i) && l.Max <= math.MaxInt32
		}) {
			return false
		}
	}
	return true
}

// copyOf creates a variable like v.
func (b *batcher) copyOf(v *ir.Local) *ir.Local {
	w := *v
	b.f.Locals = append(b.f.Locals, &w)
	b.uses[&w] = b.uses[v]
	return &w
}

func plus(v *ir.Local, n int64) ir.Expr {
	if n == 0 {
		return ir.Get(v)
	}
	return &ir.Binary{Op: ir.Add, X: ir.Get(v), Y: ir.IntConst(v.Type, n)}
}

// substitute replaces the loop's counter in a body with the counter of copy j. Bits of
// it that are the same in all batches become constant, and so do comparisons with where the
// counter started, which it has passed in all copies but the first.
func (c *counting) substitute(body []ir.Stmt, j int, at func() ir.Expr) []ir.Stmt {
	same, low := 0, int64(0)
	phase := c.start
	if c.phase != nil {
		phase = c.phase
	}
	if phase != nil && c.fixed != nil {
		same = bits.TrailingZeros64(uint64(int64(c.size) * c.fixed.Int64()))
		low = phase.Int64() + int64(j)*c.fixed.Int64()
	}
	r := ir.Rewriter{Expr: func(e ir.Expr) ir.Expr {
		if w, ok := ir.Variable(e); ok && w == c.v {
			return at()
		}
		return c.constantLast(simplifyExpr(e))
	}}
	masks := ir.Rewriter{Expr: func(e ir.Expr) ir.Expr {
		m, ok := e.(*ir.Binary)
		if ok && m.Op.IsComparison() {
			return c.passed(m, j)
		}
		if !ok || m.Op != ir.And {
			return e
		}
		mask := asConst(m.Y)
		if mask == nil || mask.Int64() < 0 || bits.Len64(mask.Bits) > same {
			return e
		}
		if value, known := lowBits(m.X, c.v, low); known {
			return ir.IntConst(m.Type(), value&mask.Int64())
		}
		return e
	}}
	return r.Body(masks.Body(body))
}

// passed returns the result of a comparison of the counter with a value that copy j of an
// iteration is known to have passed, otherwise the comparison. The counter must not wrap: it
// counts by one up to what is greater, or down to what is less.
func (c *counting) passed(e *ir.Binary, j int) ir.Expr {
	if c.fixed == nil || c.distance() != 1 || c.cond.Op != ir.Lt && c.cond.Op != ir.Gt {
		return e
	}
	op, y := e.Op, e.Y
	if !isVariable(e.X, c.v) {
		if op, y = mirrored[op], e.X; !isVariable(e.Y, c.v) {
			return e
		}
	}
	ahead := int64(j) // the counter has passed y by at least this
	if k := asConst(y); k != nil && c.start != nil {
		const far = 1 << 62 // no difference of nearer numbers overflows
		from, to := c.start.Int64(), k.Int64()
		if min(from, to) < -far || max(from, to) > far {
			return e
		}
		if ahead += from - to; c.down() {
			ahead = int64(j) + to - from
		}
	} else if w, ok := ir.Variable(y); !ok || w != c.begin {
		return e
	}
	if c.down() {
		op = mirrored[op]
	}
	switch {
	case ahead < 0:
	case op == ir.Ge, ahead > 0 && (op == ir.Gt || op == ir.Ne):
		return ir.BoolConst(true)
	case op == ir.Lt, ahead > 0 && (op == ir.Le || op == ir.Eq):
		return ir.BoolConst(false)
	}
	return e
}

// constantLast moves a constant that is added within an integer expression to its end:
// n*row + (v + 3) becomes (n*row + v) + 3. What stands before it is the same in every
// copy, and as an index the constant is a part of the address.
func (c *counting) constantLast(e ir.Expr) ir.Expr {
	switch e := e.(type) {
	case *ir.Binary:
		if !e.Type().IsInteger() || e.Check {
			return e
		}
		x, cx := constantOf(e.X)
		y, cy := constantOf(e.Y)
		switch {
		case e.Op == ir.Mul && cx != 0 && asConst(e.Y) != nil:
			return withConstant(&ir.Binary{Op: ir.Mul, X: x, Y: e.Y, Pos: e.Pos}, cx*asConst(e.Y).Int64())
		case e.Op == ir.Add && asConst(e.Y) == nil && cx|cy != 0:
			return withConstant(&ir.Binary{Op: ir.Add, X: x, Y: y, Pos: e.Pos}, cx+cy)
		case e.Op == ir.Sub && asConst(e.Y) == nil && cx|cy != 0:
			return withConstant(&ir.Binary{Op: ir.Sub, X: x, Y: y, Pos: e.Pos}, cx-cy)
		}
	case *ir.Convert:
		// The counter does not overflow within a batch.
		if x, n := constantOf(e.X); n != 0 && (e.T.Kind == ir.Int || e.T.Kind == ir.Int64) && isVariable(x, c.v) {
			return withConstant(&ir.Convert{T: e.T, X: x}, n)
		}
	}
	return e
}

// constantOf splits an expression into a part and a constant that is added to it.
func constantOf(e ir.Expr) (ir.Expr, int64) {
	if b, ok := e.(*ir.Binary); ok && b.Op == ir.Add && !b.Check && b.Type().IsInteger() {
		if c := asConst(b.Y); c != nil {
			return b.X, c.Int64()
		}
	}
	return e, 0
}

func withConstant(e ir.Expr, n int64) ir.Expr {
	if n == 0 {
		return e
	}
	return &ir.Binary{Op: ir.Add, X: e, Y: ir.IntConst(e.Type(), n)}
}

// lowBits computes the low bits of an expression from those of v. known is false if
// they depend on anything else.
func lowBits(e ir.Expr, v *ir.Local, value int64) (_ int64, known bool) {
	switch e := e.(type) {
	case *ir.Const:
		return e.Int64(), e.T.IsInteger()
	case *ir.Load:
		w, ok := ir.Variable(e)
		return value, ok && w == v
	case *ir.Convert:
		if e.T.IsInteger() && e.T.Size() >= 4 && e.X.Type().IsInteger() {
			return lowBits(e.X, v, value)
		}
	case *ir.Binary:
		x, knownX := lowBits(e.X, v, value)
		y, knownY := lowBits(e.Y, v, value)
		if !knownX || !knownY {
			return 0, false
		}
		switch e.Op {
		case ir.Add:
			return x + y, true
		case ir.Sub:
			return x - y, true
		case ir.Mul:
			return x * y, true
		case ir.Xor:
			return x ^ y, true
		case ir.And:
			return x & y, true
		case ir.Or:
			return x | y, true
		}
	}
	return 0, false
}
