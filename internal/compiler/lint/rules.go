package lint

import (
	"fmt"
	"math/bits"
	"slices"

	"quern.dev/internal/compiler/ir"
)

const (
	sector      = 32 // bytes that global memory moves at once
	manySectors = 4  // times as many as are needed: worth a finding
	manyWays    = 8  // accesses that a bank serves one after another: worth a finding
	fewLanes    = 8  // an access of fewer lanes is not the kernel's work
)

// coalescing reports accesses to global memory that touch many more sectors than
// they need.
func (c *checker) coalescing(list []access) {
	for _, a := range list {
		v, ok := a.object.(*ir.Local)
		if !ok || bits.OnesCount32(a.active) < fewLanes {
			continue
		}
		if stride := a.symbolicStride(); stride != "" {
			c.report(a.pos, "uncoalesced", advice, "neighbouring threads access elements of %s that are %s apart", v.Name, stride)
			continue
		}
		// What every block reads again, as a table, comes from a cache.
		if a.at.spread() || a.at.base == 0 {
			continue
		}
		touched, needed := a.sectors(list)
		if touched >= manySectors*needed {
			c.report(a.pos, "uncoalesced", advice, "a warp touches %[2]d sectors of 32 bytes of %[1]s where %[3]d would do%[4]s", v.Name, touched, needed, a.stride())
		}
	}
}

const advice = "let neighbouring threads have neighbouring elements: exchange the indices, or go through shared memory"

// spread reports whether lanes are apart by factors that are not known.
func (v value) spread() bool { return len(v.terms) > 0 && !v.termsEqual() }

func (v value) termsEqual() bool {
	for _, t := range v.terms {
		if !t.lane.equal() {
			return false
		}
	}
	return true
}

// symbolicStride is the distance of neighbouring lanes if it is a multiple of a
// factor that is not known; "" if it is none, or few lanes take part in it.
func (a access) symbolicStride() string {
	elem := elementSize(a.place)
	for _, t := range a.at.terms {
		changes, first := 0, int64(0)
		for i := 1; i < len(t.lane); i++ {
			if d := t.lane[i] - t.lane[i-1]; d != 0 {
				changes++
				if first == 0 {
					first = d
				}
			}
		}
		if changes < len(t.lane)/2 {
			continue // rows of several threads each
		}
		if n := first / elem; n != 1 && n != -1 {
			return fmt.Sprintf("%d*%s", n, t.factor)
		}
		return t.factor
	}
	return ""
}

// elementSize is the size of an element of the slice that a place is in.
func elementSize(p ir.Place) int64 {
	if e, ok := ir.Root(p).(*ir.ElemPlace); ok {
		return e.Type().Size()
	}
	return max(p.Type().Size(), 1)
}

// sectors counts those that the active lanes touch, and those that they would
// touch side by side. Accesses that are this one moved by a constant count with
// it: as those to the other fields of a struct, they use the same sectors.
func (a access) sectors(list []access) (touched, needed int) {
	own := map[int64]bool{} // bytes of a lane, relative to the access
	for _, b := range list {
		if b.object != a.object || !a.at.pattern(b.at) || b.at.base != a.at.base {
			continue
		}
		moved := b.at.lane[0] - a.at.lane[0]
		for k := moved; k < moved+b.bytes; k++ {
			own[k] = true
		}
	}
	seen := map[int64]bool{}
	for i, at := range a.at.lane {
		if a.active>>i&1 == 0 {
			continue
		}
		for k := range own {
			seen[floorDiv(at+k, sector)] = true
		}
	}
	return len(seen), (bits.OnesCount32(a.active)*len(own) + sector - 1) / sector
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// stride describes the distance of neighbouring lanes.
func (a access) stride() string {
	d := a.at.lane[1] - a.at.lane[0]
	for i := 2; i < len(a.at.lane); i++ {
		if a.at.lane[i]-a.at.lane[i-1] != d {
			return ""
		}
	}
	return fmt.Sprintf(" (a stride of %d bytes)", d)
}

// banks reports accesses to shared memory of which many go to one bank.
func (c *checker) banks(list []access) {
	for _, a := range list {
		v, ok := a.object.(*ir.SharedVar)
		if !ok || a.at.spread() {
			continue
		}
		if ways := a.ways(); ways >= manyWays {
			c.report(a.pos, "bank conflict", "make rows of the array one element longer, as in [32][33]float32, or exchange the indices",
				"%d accesses of a warp to %s go to one bank of shared memory, one after another", ways, name(v))
		}
	}
}

// ways is the most words that one bank has to serve for one access. Of accesses
// of 8 and 16 bytes, half and a quarter of the warp is served at a time.
func (a access) ways() int {
	const banks, word = 32, 4
	group := 32 * word / int(min(max(a.bytes, word), 16))
	worst := 0
	for first := 0; first < 32; first += group {
		var words [banks][]int64
		for i := first; i < first+group; i++ {
			if a.active>>i&1 == 0 {
				continue
			}
			for b := floorDiv(a.at.lane[i], word); b*word < a.at.lane[i]+a.bytes; b++ {
				bank := ((b % banks) + banks) % banks
				if !slices.Contains(words[bank], b) {
					words[bank] = append(words[bank], b)
				}
			}
		}
		for _, w := range words {
			worst = max(worst, len(w))
		}
	}
	return worst
}

// heavy is the cost, in nodes, from which a divergent branch matters.
const heavy = 80

// divergence reports branches that send neighbouring threads different ways with
// much to do.
func (c *checker) divergence(w *walker) {
	for _, b := range w.branches {
		then, other := cost(b.s.Then), cost(b.s.Else)
		const hint = "give whole warps one way each, or compute both short ways and select"
		switch {
		case b.known && scattered(b.taken) && max(then, other) >= heavy:
			c.report(b.s.Pos, "divergence", "let the threads that have work be neighbours: "+hint,
				"every other thread or so does the work of the branch, while its neighbours wait")
		case !b.known && min(then, other) >= heavy && !w.boundary(b.cond) && !w.same(b.cond):
			c.report(b.s.Pos, "divergence", hint,
				"threads of a warp that go different ways here wait for each other, and both ways are long")
		}
	}
}

// scattered reports whether the lanes that are taken alternate with others.
func scattered(taken uint32) bool {
	return bits.OnesCount32(taken^bits.RotateLeft32(taken, 1)) > 4
}

// boundary reports whether a condition compares what grows with the lane with
// what all lanes agree on, so that few warps are divided.
func (w *walker) boundary(e ir.Expr) bool {
	b, ok := e.(*ir.Binary)
	if !ok {
		u, ok := e.(*ir.Unary)
		return ok && u.Op == ir.LNot && w.boundary(u.X)
	}
	if b.Op.IsLogical() {
		return (w.boundary(b.X) || w.same(b.X)) && (w.boundary(b.Y) || w.same(b.Y))
	}
	if b.Op < ir.Lt || b.Op > ir.Ge || !b.X.Type().IsInteger() {
		return false
	}
	record := w.record
	w.record = false
	defer func() { w.record = record }()
	return !w.value(b.X).data && !w.value(b.Y).data
}

// cost estimates the work of statements; that of loops counts several times.
func cost(list []ir.Stmt) int {
	n := 0
	for _, s := range list {
		if l, ok := s.(*ir.Loop); ok {
			n += 8 * (cost(l.Pre) + cost(l.Body) + cost(l.Post))
			continue
		}
		v := ir.Visitor{
			Expr: func(ir.Expr) bool { n++; return true },
			Stmt: func(t ir.Stmt) bool {
				if l, ok := t.(*ir.Loop); ok {
					n += cost([]ir.Stmt{l})
					return false
				}
				n++
				return true
			},
		}
		v.Body([]ir.Stmt{s})
	}
	return n
}

// wide reports 64-bit arithmetic that 32 bits would do for.
func (c *checker) wide(body []ir.Stmt) {
	pos := c.kernel.Func.Pos
	v := ir.Visitor{}
	v.Stmt = func(s ir.Stmt) bool {
		if p := position(s); p.Line > 0 {
			pos = p
		}
		return true
	}
	v.Place = func(p ir.Place) bool {
		if e, ok := p.(*ir.ElemPlace); ok {
			if k := origin(e.Index).Type().Kind; k == ir.Int64 || k == ir.Uint64 || k == ir.Uint {
				if _, constant := e.Index.(*ir.Const); !constant {
					c.report(e.Pos, "64-bit arithmetic", "use int, which is narrowed where it is safe",
						"the index is computed in %s", k)
				}
			}
		}
		return true
	}
	v.Expr = func(e ir.Expr) bool {
		switch e := e.(type) {
		case *ir.Binary:
			t := e.X.Type()
			if (e.Op == ir.Div || e.Op == ir.Rem) && t.IsInteger() && t.Size() == 8 && !powerOfTwo(e.Y) {
				at := e.Pos
				if at.Line == 0 {
					at = pos
				}
				c.report(at, "64-bit arithmetic", "use int32 or uint32 if the numbers fit: a division of 64 bits is a call of some 70 instructions",
					"a division of %s", t.Kind)
			}
		case *ir.Convert:
			if e.T.Kind == ir.Float32 && e.X.Type().Kind == ir.Float64 && raised(e.X, 0) {
				c.report(pos, "64-bit arithmetic", "compute in float32: package kernel has the functions of math for it",
					"float32 numbers are computed with in float64 and rounded again")
			}
		}
		return true
	}
	v.Body(body)
}

// origin removes conversions between integers.
func origin(e ir.Expr) ir.Expr {
	for {
		c, ok := e.(*ir.Convert)
		if !ok || !c.X.Type().IsInteger() {
			return e
		}
		e = c.X
	}
}

func powerOfTwo(e ir.Expr) bool {
	c, ok := e.(*ir.Const)
	return ok && bits.OnesCount64(c.Bits) == 1
}

// raised reports whether a float64 value is an operation on float32 numbers: one
// that only converts is not arithmetic.
func raised(e ir.Expr, depth int) bool {
	switch e := e.(type) {
	case *ir.Convert:
		return depth > 0 && e.X.Type().Kind == ir.Float32
	case *ir.Unary:
		return raised(e.X, depth+1)
	case *ir.Binary:
		return raised(e.X, depth+1) && (isConst(e.Y) || raised(e.Y, depth+1)) || isConst(e.X) && raised(e.Y, depth+1)
	case *ir.Intrinsic:
		for _, a := range e.Args {
			if !isConst(a) && !raised(a, depth+1) {
				return false
			}
		}
		return len(e.Args) > 0
	}
	return false
}

func isConst(e ir.Expr) bool {
	_, ok := e.(*ir.Const)
	return ok
}

// position is where a statement stands, if it says so.
func position(s ir.Stmt) ir.Pos {
	switch s := s.(type) {
	case *ir.Assign:
		return s.Pos
	case *ir.If:
		return s.Pos
	case *ir.Loop:
		return s.Pos
	case *ir.Return:
		return s.Pos
	case *ir.Atomic:
		return s.Pos
	}
	return ir.Pos{}
}
