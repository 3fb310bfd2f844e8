package ranges

import (
	"encoding/binary"
	"slices"
)

// poly is a polynomial over atoms with integer coefficients: c plus the terms, which
// are sorted by monomial and have no zero coefficients. It is immutable. nil stands for
// a polynomial that is too large to keep.
type poly struct {
	c     int64
	terms []polyTerm
	shape shapeID // of the terms; 0 until requested
}

type polyTerm struct {
	mono monoID
	coef int64
}

// atomID identifies an unknown: a launch argument, a coordinate, or a value that is not
// analysed further. monoID identifies a product of atoms. shapeID identifies a list of
// terms: polynomials that differ by a constant share it.
type (
	atomID  int32
	monoID  int32
	shapeID int32
)

const (
	maxTerms  = 16
	maxDegree = 6
)

// monomials interns products of atoms and lists of terms.
type monomials struct {
	factors  [][]atomID // by monoID, sorted; 0 is the empty product
	byKey    map[string]monoID
	products map[[2]monoID]monoID
	shapes   map[string]shapeID
	key      []byte
}

func (m *monomials) init() {
	*m = monomials{
		factors:  [][]atomID{nil},
		byKey:    map[string]monoID{"": 0},
		products: map[[2]monoID]monoID{},
		shapes:   map[string]shapeID{"": 1},
	}
}

// of interns a sorted product.
func (m *monomials) of(atoms []atomID) monoID {
	m.key = m.key[:0]
	for _, a := range atoms {
		m.key = binary.LittleEndian.AppendUint32(m.key, uint32(a))
	}
	if id, ok := m.byKey[string(m.key)]; ok {
		return id
	}
	id := monoID(len(m.factors))
	m.factors = append(m.factors, slices.Clone(atoms))
	m.byKey[string(m.key)] = id
	return id
}

func (m *monomials) join(x, y monoID) monoID {
	if x == 0 || y == 0 {
		return x + y
	}
	if x > y {
		x, y = y, x
	}
	if id, ok := m.products[[2]monoID{x, y}]; ok {
		return id
	}
	var buf [2 * maxDegree]atomID
	atoms := append(append(buf[:0], m.factors[x]...), m.factors[y]...)
	slices.Sort(atoms)
	id := m.of(atoms)
	m.products[[2]monoID{x, y}] = id
	return id
}

// quotient returns x/y if y divides x.
func (m *monomials) quotient(x, y monoID) (monoID, bool) {
	if x == y {
		return 0, true
	}
	if y == 0 {
		return x, true
	}
	num, den := m.factors[x], m.factors[y]
	if len(den) >= len(num) {
		return 0, false
	}
	var buf [2 * maxDegree]atomID
	out := buf[:0]
	for _, a := range num {
		if len(den) > 0 && den[0] == a {
			den = den[1:]
			continue
		}
		out = append(out, a)
	}
	if len(den) > 0 {
		return 0, false
	}
	return m.of(out), true
}

// degree returns the largest number of atoms in a term of p.
func (m *monomials) degree(p *poly) int {
	n := 0
	for _, t := range p.terms {
		n = max(n, len(m.factors[t.mono]))
	}
	return n
}

// shape returns the shape of the terms of p.
func (m *monomials) shape(p *poly) shapeID {
	if p.shape != 0 {
		return p.shape
	}
	m.key = m.key[:0]
	for _, t := range p.terms {
		m.key = binary.LittleEndian.AppendUint32(m.key, uint32(t.mono))
		m.key = binary.LittleEndian.AppendUint64(m.key, uint64(t.coef))
	}
	id, ok := m.shapes[string(m.key)]
	if !ok {
		id = shapeID(len(m.shapes) + 1)
		m.shapes[string(m.key)] = id
	}
	p.shape = id
	return id
}

func constPoly(c int64) *poly { return &poly{c: c} }

// isConst reports whether p is a known constant.
func (p *poly) isConst() bool { return p != nil && len(p.terms) == 0 }

func (p *poly) equal(q *poly) bool {
	return p == q || p != nil && q != nil && p.c == q.c && slices.Equal(p.terms, q.terms)
}

// plus returns p + k*q.
func (p *poly) plus(k int64, q *poly) *poly {
	if p == nil || q == nil {
		return nil
	}
	kc, ok := exactMul(k, q.c)
	c, ok2 := exactAdd(p.c, kc)
	if !ok || !ok2 {
		return nil
	}
	if len(q.terms) == 0 || k == 0 {
		return &poly{c: c, terms: p.terms, shape: p.shape}
	}
	out := &poly{c: c, terms: make([]polyTerm, 0, len(p.terms)+len(q.terms))}
	x, y := p.terms, q.terms
	for len(x) > 0 || len(y) > 0 {
		switch {
		case len(y) == 0 || len(x) > 0 && x[0].mono < y[0].mono:
			out.terms = append(out.terms, x[0])
			x = x[1:]
			continue
		case len(x) == 0 || y[0].mono < x[0].mono:
			v, ok := exactMul(k, y[0].coef)
			if !ok {
				return nil
			}
			out.terms = append(out.terms, polyTerm{y[0].mono, v})
			y = y[1:]
			continue
		}
		v, ok := exactMul(k, y[0].coef)
		v, ok2 := exactAdd(v, x[0].coef)
		if !ok || !ok2 {
			return nil
		}
		if v != 0 {
			out.terms = append(out.terms, polyTerm{x[0].mono, v})
		}
		x, y = x[1:], y[1:]
	}
	if len(out.terms) > maxTerms {
		return nil
	}
	return out
}

// plusConst returns p + c.
func (p *poly) plusConst(c int64) *poly {
	if p == nil {
		return nil
	}
	v, ok := exactAdd(p.c, c)
	if !ok {
		return nil
	}
	return &poly{c: v, terms: p.terms, shape: p.shape}
}

// negated returns -p.
func (p *poly) negated() *poly { return constPoly(0).plus(-1, p) }

// scaled returns k*p.
func (p *poly) scaled(k int64) *poly { return constPoly(0).plus(k, p) }

// dividedBy returns p/k for k > 0, with the constant rounded down, if k divides all
// coefficients.
func (p *poly) dividedBy(k int64) *poly {
	out := &poly{c: floorDiv(p.c, k), terms: make([]polyTerm, len(p.terms))}
	for i, t := range p.terms {
		if t.coef%k != 0 {
			return nil
		}
		out.terms[i] = polyTerm{t.mono, t.coef / k}
	}
	return out
}

// timesMono returns k * x * p for a monomial x.
func (m *monomials) timesMono(p *poly, k int64, x monoID) *poly {
	if p == nil || x == 0 {
		return p.scaledOrNil(k)
	}
	out := &poly{terms: make([]polyTerm, 0, len(p.terms)+1)}
	for _, t := range append(slices.Clip(p.terms), polyTerm{0, p.c}) {
		v, ok := exactMul(t.coef, k)
		if !ok || len(m.factors[t.mono])+len(m.factors[x]) > maxDegree {
			return nil
		}
		if v != 0 {
			out.terms = append(out.terms, polyTerm{m.join(t.mono, x), v})
		}
	}
	slices.SortFunc(out.terms, func(a, b polyTerm) int { return int(a.mono - b.mono) })
	return out
}

func (p *poly) scaledOrNil(k int64) *poly {
	if p == nil {
		return nil
	}
	return p.scaled(k)
}

// times returns p*q.
func (m *monomials) times(p, q *poly) *poly {
	switch {
	case p == nil || q == nil:
		return nil
	case p.isConst():
		return q.scaled(p.c)
	case q.isConst():
		return p.scaled(q.c)
	}
	out := p.scaled(q.c)
	for _, t := range q.terms {
		if out = out.plus(1, m.timesMono(p, t.coef, t.mono)); out == nil {
			return nil
		}
	}
	return out
}
