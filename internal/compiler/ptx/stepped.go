package ptx

import (
	"iter"
	"maps"
	"math"
	"slices"
	"strings"

	"quern.dev/internal/compiler/ir"
)

// The address of an element is computed from that of an earlier one of the same slice if
// their indices differ by one value, such as the width of an image:
//
//	a[y*w+x], a[(y+1)*w+x]
//
// That takes one instruction, where a product, a sum and a scaled sum take three or four.
// ptxas does not find it, because a product of 32 bits may wrap where an address does not.
//
// The earlier element must have been accessed whenever the later one is: then both indices
// are known to be at least 0 and below the slice's length.

// mostTerms is the number of terms of an index that is considered.
const mostTerms = 8

// mostPassed is the number of addresses that are remembered.
const mostPassed = 16

// passed is the address of an element that has been accessed: base + index*size, where
// base is the slice's pointer.
type passed struct {
	slice     *variable
	size      int64
	class     class // of the index
	terms     terms
	versions  []version // of the variables that the index and the slice depend on
	constants []int64   // that have been added to the index for accesses
	base      operand
	stepped   bool // it has been computed from an earlier one
}

// version is the number of assignments to a variable that have been emitted.
type version struct {
	v *ir.Local
	n int
}

// terms is an index as a sum: coefficients by the text of a product. Arithmetic is modulo
// the size of its type.
type terms map[string]term

type term struct {
	factors []ir.Expr
	n       int64
}

// stepped is what is known about addresses at the current position.
type stepped struct {
	passed      []passed
	assignments map[*ir.Local]int
}

// within emits code that may be skipped or repeated: what has been accessed in it need not
// have been accessed after it.
func (g *generator) within(emit func()) {
	before := slices.Clip(g.stepped.passed)
	emit()
	g.stepped.passed = before
}

// assigned notes that a statement has assigned its variables.
func (g *generator) assigned(s ir.Stmt) {
	note := func(v *ir.Local) {
		if g.stepped.assignments == nil {
			g.stepped.assignments = map[*ir.Local]int{}
		}
		g.stepped.assignments[v]++
	}
	for p := range ir.Targets(s) {
		if root, ok := ir.Root(*p).(*ir.VarPlace); ok {
			note(root.Var)
		}
	}
	for v := range ir.Defined(s) {
		note(v)
	}
}

// element returns the register with the address of an element of a slice without a constant
// that is added to its index. It steps from an earlier address if possible. Otherwise it calls
// scaled. s is nil for an array.
func (g *generator) element(s *slice, index ir.Expr, constant, size int64, scaled func() operand) operand {
	if s == nil || s.variable == nil || g.steady.keeping || size == 0 || size > math.MaxInt32/mostTimes || index.Type().Size() < 4 {
		return scaled()
	}
	p := passed{slice: s.variable, size: size, class: classOf(index.Type()), constants: []int64{constant}}
	if p.class == b32Class && s.maxLength > 1<<31 && !index.Type().IsSigned() {
		return scaled() // a difference may take more than 32 bits
	}
	var ok bool
	if p.terms, ok = g.products(index); !ok {
		return scaled()
	}
	p.versions = append(p.versions, g.versionOf(s.variable.local))
	for _, t := range p.terms {
		for _, f := range t.factors {
			for v := range readBy(f) {
				p.versions = append(p.versions, g.versionOf(v))
			}
		}
	}
	var from *passed
	var by []ir.Expr
	var times int64
	for i, q := range g.stepped.passed {
		if p.slice != q.slice || p.size != q.size || p.class != q.class || !g.current(q.versions) {
			continue
		}
		known := slices.Contains(q.constants, constant)
		factors, n, same := difference(p.terms, q.terms)
		switch {
		case same:
			if !known {
				g.stepped.passed = slices.Clone(g.stepped.passed)
				g.stepped.passed[i].constants = append(slices.Clip(q.constants), constant)
			}
			if q.stepped {
				return q.base
			}
			return scaled() // ptxas finds equal instructions, and keeps the result if that pays
		case n != 0 && (known || p.class == b64Class):
			// In 32 bits, both sums with the constant are known not to wrap.
			from, by, times = &g.stepped.passed[i], factors, n // the latest is probably the nearest one
		}
	}
	if p.stepped = from != nil; p.stepped {
		p.base = g.addScaled(from.base, by, times, size, p.class)
	} else {
		p.base = scaled()
	}
	if len(g.stepped.passed) == mostPassed {
		g.stepped.passed = g.stepped.passed[1:]
	}
	g.stepped.passed = append(g.stepped.passed, p)
	return p.base
}

func (g *generator) versionOf(v *ir.Local) version { return version{v, g.stepped.assignments[v]} }

// current reports whether no variable has been assigned since.
func (g *generator) current(versions []version) bool {
	return !slices.ContainsFunc(versions, func(v version) bool { return g.versionOf(v.v) != v })
}

// addScaled returns base plus the product of factors, times and size.
func (g *generator) addScaled(base operand, factors []ir.Expr, times, size int64, class class) operand {
	if base.class == b32Class {
		class = b32Class
	}
	var x operand
	for _, f := range factors {
		y := g.value(f)
		if class == b32Class {
			y = g.low(y)
		}
		if x.isNone() {
			x = y
			continue
		}
		product := g.register(class)
		g.emit("mul.lo.s"+class.bits()[1:], product, x, y)
		x = product
	}
	n := times * size
	if count := max(times, -times); count != 1 && base.class != class {
		// The difference of two indices fits 32 bits, its part that is counted need not.
		product := g.register(class)
		g.emit("mul.lo.s32", product, x, intOperand(class, uint64(count)))
		x, n = product, times/count*size
	}
	sum := g.register(base.class)
	switch {
	case base.class == b32Class:
		g.emit("mad.lo.s32", sum, x, intOperand(b32Class, uint64(n)), base)
	case class == b32Class:
		g.addProduct(sum, base, x, intOperand(b32Class, uint64(n)), true)
	default:
		bytes := g.register(b64Class)
		g.emit("mul.lo.s64", bytes, x, intOperand(b64Class, uint64(max(n, -n))))
		if n < 0 {
			g.emit("sub.s64", sum, base, bytes)
		} else {
			g.emit("add.s64", sum, base, bytes)
		}
	}
	return sum
}

// mostTimes is how often an index may be changed by one product in a step.
const mostTimes = 1 << 10

// difference returns the only product by which x and y differ and how often, or 0.
func difference(x, y terms) (factors []ir.Expr, times int64, same bool) {
	same = true
	for text := range maps.Keys(x) {
		if _, both := y[text]; !both || x[text].n != y[text].n {
			same = false
		}
	}
	same = same && len(x) == len(y)
	if same {
		return nil, 0, true
	}
	all := maps.Clone(x)
	for text, t := range y {
		if _, both := all[text]; !both {
			all[text] = term{t.factors, 0}
		}
	}
	for text, t := range all {
		n := x[text].n - y[text].n
		switch {
		case n == 0:
		case times != 0 || max(n, -n) > mostTimes || len(t.factors) == 0:
			return nil, 0, false
		default:
			factors, times = t.factors, n
		}
	}
	return factors, times, false
}

// products returns an integer as a sum of at most mostTerms products. It reports false if it
// is anything else than sums and products of thread coordinates and of integer variables in
// registers.
func (g *generator) products(e ir.Expr) (terms, bool) {
	sum := terms{}
	add := func(factors []ir.Expr, n int64) {
		text := g.textOf(factors)
		if n += sum[text].n; n == 0 {
			delete(sum, text)
		} else {
			sum[text] = term{factors, n}
		}
	}
	if c, ok := e.(*ir.Const); ok && c.T.IsInteger() {
		add(nil, c.Int64())
		return sum, true
	}
	b, ok := e.(*ir.Binary)
	if !ok || b.Check || b.Op != ir.Add && b.Op != ir.Sub && b.Op != ir.Mul {
		var text strings.Builder
		ok := e.Type().IsInteger() && g.describe(&text, e, nil)
		add([]ir.Expr{e}, 1)
		return sum, ok
	}
	x, ok := g.products(b.X)
	if !ok {
		return nil, false
	}
	y, ok := g.products(b.Y)
	if !ok || len(x)+len(y) > mostTerms || b.Op == ir.Mul && len(x)*len(y) > mostTerms {
		return nil, false
	}
	if b.Op == ir.Mul {
		for s := range x.inOrder() {
			for t := range y.inOrder() {
				add(g.product(s.factors, t.factors), s.n*t.n)
			}
		}
		return sum, true
	}
	sign := int64(1)
	if b.Op == ir.Sub {
		sign = -1
	}
	for t := range x.inOrder() {
		add(t.factors, t.n)
	}
	for t := range y.inOrder() {
		add(t.factors, sign*t.n)
	}
	return sum, true
}

// inOrder yields the terms in the order of their texts: which of two equal products is kept must
// not depend on chance.
func (x terms) inOrder() iter.Seq[term] {
	return func(yield func(term) bool) {
		for _, text := range slices.Sorted(maps.Keys(x)) {
			if !yield(x[text]) {
				return
			}
		}
	}
}

// product returns the factors of a product in the order of their texts.
func (g *generator) product(x, y []ir.Expr) []ir.Expr {
	return slices.SortedFunc(slices.Values(slices.Concat(x, y)), func(a, b ir.Expr) int {
		return strings.Compare(g.textOf([]ir.Expr{a}), g.textOf([]ir.Expr{b}))
	})
}

func (g *generator) textOf(factors []ir.Expr) string {
	var b strings.Builder
	for i, f := range factors {
		if i > 0 {
			b.WriteByte('*')
		}
		g.describe(&b, f, nil)
	}
	return b.String()
}

// readBy yields the variables that an expression reads.
func readBy(e ir.Expr) map[*ir.Local]bool {
	read := map[*ir.Local]bool{}
	v := ir.Visitor{Expr: func(e ir.Expr) bool {
		if l, ok := ir.Variable(e); ok {
			read[l] = true
		}
		return true
	}}
	v.Value(e)
	return read
}
