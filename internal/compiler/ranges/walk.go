package ranges

import (
	"math"

	"quern.dev/internal/compiler/ir"
)

// walker interprets a body over polynomials: each tracked variable is bound to what is
// known about it at the current point. Findings are recorded per node. A loop's body
// may be walked more than once; the last walk counts, because its assumptions are
// proven.
type walker struct {
	*prover
	*scan
	kernel  *ir.Kernel
	variant Variant

	env    environment // by the scan's numbers
	thread [ir.WarpID + 1]*poly
	fields map[string]*poly // of stable parameters, by path
	exits  map[*ir.Label]*exits
	loops  map[*ir.Loop]*loopMemo

	fits    map[ir.Expr]bool        // of int expressions: value fits int32
	stored  map[*ir.Assign]bool     // of reached assignments to int variables: value fits int32
	natural map[*ir.Binary]dividend // of divisions without a negative operand
	proven  map[*bool]bool          // by the Check of a node: it cannot fail
	limits  map[ir.Expr][2]*poly    // bounds that must fit int32: upper, lower; nil for none
	// decisions are what is known about conditions.
	decisions map[*ir.If]decision
	// promises are what launches must keep non-negative so that a check cannot fail.
	promises map[*bool][]*poly

	copied bool         // the walked expression is a copy that is no code
	trips  *tripCounter // nil if not requested
}

// binding is what a variable is bound to: the value of an integer, the length of a
// slice, or the condition of a bool. Empty means unknown.
type binding struct {
	num  *poly
	cond *condition
}

// decision says that a condition is always or never true where it is evaluated.
type decision struct{ always, never bool }

// exits collects the states in which a Block or Loop is left and continued.
type exits struct{ left, continued *joiner }

func newWalker(k *ir.Kernel, v Variant) *walker {
	w := &walker{
		prover: newProver(), scan: newScan(k.Func), kernel: k, variant: v,
		fields: map[string]*poly{}, exits: map[*ir.Label]*exits{}, loops: map[*ir.Loop]*loopMemo{},
		fits: map[ir.Expr]bool{}, stored: map[*ir.Assign]bool{}, natural: map[*ir.Binary]dividend{},
		proven: map[*bool]bool{}, limits: map[ir.Expr][2]*poly{}, promises: map[*bool][]*poly{},
		decisions: map[*ir.If]decision{},
	}
	w.env = newEnvironment(len(w.tracked))
	w.bindThread()
	w.bindParams()
	return w
}

// The maximum number of threads and blocks along each axis, on every device.
var (
	maxBlockDim = [3]int64{1024, 1024, 64}
	maxGridDim  = [3]int64{math.MaxInt32, 65535, 65535}
)

// maxElements bounds the length of every slice: more would not fit an address space.
const maxElements = 1 << 56

func (w *walker) bindThread() {
	for axis := range 3 {
		block := constPoly(int64(w.kernel.Options.Block[axis]))
		if block.c == 0 {
			block = w.launchAtom(ir.SymDim, int64(3+axis), interval{1, maxBlockDim[axis]})
		}
		grid := w.launchAtom(ir.SymDim, int64(axis), interval{1, maxGridDim[axis]})
		w.thread[ir.BlockDimX+ir.ThreadOp(axis)] = block
		w.thread[ir.GridDimX+ir.ThreadOp(axis)] = grid
		w.thread[ir.ThreadIdxX+ir.ThreadOp(axis)] = w.below(block)
		w.thread[ir.BlockIdxX+ir.ThreadOp(axis)] = w.below(grid)
	}
	w.thread[ir.LaneID] = w.fresh(interval{0, 31})
	w.thread[ir.WarpID] = w.fresh(interval{0, w.kernel.Options.Warps() - 1})
}

// below creates an atom in [0, n).
func (w *walker) below(n *poly) *poly {
	if n.isConst() && n.c == 1 {
		return constPoly(0)
	}
	return w.derived(interval{0, w.rangeOf(n).hi - 1}, func(a *poly) []*poly {
		return []*poly{n.plus(-1, a).plusConst(-1)}
	})
}

// derived creates an atom with its own facts.
func (w *walker) derived(r interval, facts func(a *poly) []*poly) *poly {
	p := w.fresh(r)
	w.newest().facts = facts(p)
	return p
}

func (w *walker) maxLen() int64 {
	if w.variant != Wide {
		return math.MaxInt32
	}
	return maxElements
}

func (w *walker) bindParams() {
	for i, v := range w.kernel.Func.Params {
		n, ok := w.index[v]
		if !ok {
			continue
		}
		switch t := v.Type; {
		case t.Kind == ir.Slice:
			w.env.bind(n, binding{num: w.launchAtom(ir.SymArg, int64(i), interval{0, w.maxLen()})})
		case t.Kind == ir.Uint || t.Kind == ir.Uint64:
			w.env.bind(n, binding{num: w.fresh(kindRange(t.Kind))}) // launch conditions see a signed value
		case t.IsInteger():
			r := kindRange(t.Kind)
			if w.variant != Wide && w.sizes[v] {
				r = w.launchable(v)
			}
			w.env.bind(n, binding{num: w.launchAtom(ir.SymArg, int64(i), r)})
		}
	}
}

// launchable returns the values of a size that launch conditions allow.
func (w *walker) launchable(v *ir.Local) interval {
	if w.strides[v] {
		return interval{0, math.MaxInt32}
	}
	return int32s
}

// list walks statements and reports whether control reaches their end.
func (w *walker) list(list []ir.Stmt) bool {
	for _, s := range list {
		if !w.stmt(s) {
			return false
		}
	}
	return true
}

func (w *walker) stmt(s ir.Stmt) bool {
	w.kernel.Func.Poll()
	switch s := s.(type) {
	case *ir.Assign:
		w.assign(s)
	case *ir.If:
		return w.branch(s)
	case *ir.Loop:
		return w.loop(s)
	case *ir.Block:
		return w.block(s)
	case *ir.Break:
		w.exits[s.Label].left.arrive(w.env)
		return false
	case *ir.Continue:
		w.exits[s.Label].continued.arrive(w.env)
		return false
	case *ir.Return:
		for _, e := range s.Results {
			w.visit(e)
		}
		return false
	case *ir.Panic:
		return false
	case *ir.Check:
		w.place(s.Place)
	default:
		w.operation(s)
	}
	return true
}

func (w *walker) assign(s *ir.Assign) {
	dst, ok := s.Dst.(*ir.VarPlace)
	if !ok {
		w.visit(s.Src)
		w.place(s.Dst)
		return
	}
	b := w.visit(s.Src)
	i, ok := w.index[dst.Var]
	if !ok {
		return
	}
	if dst.Var.Type.Kind == ir.Int {
		w.stored[s] = w.fitsInt32(b.num)
	}
	w.env.bind(i, b)
}

// operation walks the operands of an operation independently: the back end chooses
// their order, so none may rely on a check of another. Its results are unknown.
func (w *walker) operation(s ir.Stmt) {
	for e := range ir.Args(s) {
		w.apart(func() { w.visit(*e) })
	}
	if a, ok := s.(*ir.Atomic); ok {
		w.place(a.Place) // always reached
	} else {
		for p := range ir.Places(s) {
			w.apart(func() { w.place(*p) })
		}
	}
	for v := range ir.Defined(s) {
		if i, ok := w.index[v]; ok {
			w.env.bind(i, binding{})
		}
	}
}

// apart runs f and discards what was learned in it.
func (w *walker) apart(f func()) {
	m := w.mark()
	f()
	w.release(m)
}

func (w *walker) branch(s *ir.If) bool {
	cond := w.condition(s.Cond)
	start, base, m := w.now(), w.env, w.mark()
	join := w.newJoiner(w.regions[s].assigned, start)

	isTrue, isFalse := w.decided(cond, true), w.decided(cond, false)
	w.decisions[s] = decision{isTrue, isFalse}

	w.env = base.clone()
	w.assumeCondition(cond, true)
	thenEnds := w.list(s.Then) && !isFalse
	if thenEnds {
		join.arrive(w.env)
	}
	thenEnv := w.env
	w.release(m)

	w.env = base.clone()
	w.assumeCondition(cond, false)
	elseEnds := w.list(s.Else) && !isTrue
	switch {
	case thenEnds && elseEnds:
		join.arrive(w.env)
		late := join.lateBounds(w.env)
		w.release(m)
		w.assumeCondition(cond, true)
		join.addBounds(late, thenEnv)
		w.release(m)
		w.env = base
		join.finish()
	case thenEnds:
		w.release(m)
		w.assumeCondition(cond, true)
		w.env = thenEnv
	case !elseEnds:
		w.release(m)
		w.env = base
	}
	return thenEnds || elseEnds
}

func (w *walker) block(s *ir.Block) bool {
	base, m := w.env.clone(), w.mark()
	join := w.newJoiner(w.regions[s].assigned, w.now())
	w.exits[s.Label] = &exits{left: join}
	ends := w.list(s.Body)
	if join.arrivals == 0 {
		return ends
	}
	if ends {
		join.arrive(w.env)
	}
	w.release(m)
	w.env = base
	join.finish()
	return true
}

// now is a point in the order in which atoms are created.
func (w *walker) now() atomID { return atomID(len(w.atoms)) }

// dividend is what is known about a dividend.
type dividend struct {
	least int64
	below bool // the divisor
}
