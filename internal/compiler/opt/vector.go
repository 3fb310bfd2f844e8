package opt

import (
	"fmt"
	"math/bits"
	"reflect"
	"slices"
	"strings"

	"quern.dev/internal/compiler/ir"
)

// vectorise joins reads of neighbouring scalars, and likewise writes, into accesses of
// up to 16 bytes: the fields of a struct, the components of a kernel.Vec4, elements 4*i
// to 4*i+3. It works on slice parameters whose alignment can be a launch condition, in
// forms that have launch conditions, and on reads of 16 bytes of a shared variable. ptxas
// joins those too, but only after it has ordered what uses them, in an order that needs
// more reads of registers.
//
// Reads move up to the first of them and writes down to the last, within one statement
// list and never across anything that may write, or read, the same memory. Two places at
// constant offsets from the same address overlap or not; any others may overlap.
func vectorise(k *ir.Kernel) {
	if len(k.Limits) == 0 && len(k.Shared) == 0 {
		return
	}
	v := &vectoriser{kernel: k, uses: countUses(k.Func), values: map[*ir.Local]ir.Expr{}, aligned: map[int]int64{}, sharedOnly: len(k.Limits) == 0}
	values := ir.Visitor{Stmt: func(s ir.Stmt) bool {
		if a, ok := s.(*ir.Assign); ok {
			if p, ok := a.Dst.(*ir.VarPlace); ok && v.uses[p.Var].once() {
				v.values[p.Var] = a.Src
			}
		}
		return true
	}}
	values.Body(k.Func.Body)
	k.Func.Body = v.list(k.Func.Body)
	for i := range k.Func.Params {
		if a := v.aligned[i]; a > 0 {
			k.Limits = withLimit(k.Limits, alignment(i, a))
		}
	}
}

// alignment returns the condition that the address of slice parameter i is a multiple
// of a, a power of two.
func alignment(i int, a int64) ir.Limit {
	address := &ir.Sym{Op: ir.SymAddress, Value: int64(i)}
	if a == ir.VectorBytes {
		return ir.Limit{X: address}
	}
	units := &ir.Sym{Op: ir.SymMul, X: &ir.Sym{Value: a}, Y: &ir.Sym{Op: ir.SymDiv, X: address, Y: &ir.Sym{Value: a}}}
	return ir.Limit{X: &ir.Sym{Op: ir.SymSub, X: address, Y: units}}
}

// withLimit adds a condition that is not there yet.
func withLimit(list ir.Limits, l ir.Limit) ir.Limits {
	if slices.ContainsFunc(list, func(m ir.Limit) bool { return reflect.DeepEqual(l, m) }) {
		return list
	}
	return append(list, l)
}

type vectoriser struct {
	kernel  *ir.Kernel
	uses    usages
	values  map[*ir.Local]ir.Expr // of the variables that have only one
	aligned map[int]int64         // required alignment by slice parameter

	shared     bool // places in shared variables are located
	sharedOnly bool // places in slices are not
}

// location is a scalar in memory, relative to other scalars located by the same
// variables.
type location struct {
	param  int    // inShared in a shared variable
	base   string // the variable part of the address, for comparison
	vars   []*ir.Local
	align  int64 // of the base in bytes, as far as it matters
	offset int64 // from the base in bytes
	size   int64

	// The aggregate that is in range as a whole if the scalar is, relative to the base.
	from, to int64
}

// inShared is the parameter of locations in shared variables.
const inShared = -1

// overlaps reports whether two scalars with the same base share a byte.
func (l *location) overlaps(m *location) bool {
	return l.offset < m.offset+m.size && m.offset < l.offset+l.size
}

// locate returns the location of a place that is reached through a slice parameter, or in
// a shared variable, without checks.
func (v *vectoriser) locate(p ir.Place) (location, bool) {
	l := location{align: ir.VectorBytes}
	t := p.Type()
	if !t.IsScalar() || t.Kind == ir.Bool || t.Kind == ir.Pointer {
		return l, false
	}
	l.size = t.Size()
	inner, size := int64(-1), int64(0) // offset in the aggregate, and the aggregate's size
	var key strings.Builder
	for {
		switch q := p.(type) {
		case *ir.FieldPlace:
			l.offset += q.X.Type().Fields[q.Field].Offset
			p = q.X
		case *ir.IndexPlace:
			if asConst(q.Index) == nil && inner < 0 {
				inner, size = l.offset, q.Type().Size()
			}
			if q.Check || !v.index(&l, &key, q.Index, q.Type().Size()) {
				return l, false
			}
			p = q.X
		case *ir.ElemPlace:
			slice, ok := ir.Variable(q.Slice)
			if !ok || q.Check || v.sharedOnly || !v.uses[slice].once() {
				return l, false
			}
			if inner < 0 {
				inner, size = l.offset, q.Type().Size()
			}
			l.param = slices.Index(v.kernel.Func.Params, slice)
			if l.param < 0 || !v.index(&l, &key, q.Index, q.Type().Size()) {
				return l, false
			}
			l.base = fmt.Sprint(l.param, key.String())
			l.from = l.offset - inner
			l.to = l.from + size
			return l, true
		case *ir.SharedPlace:
			whole := q.Var.Type.Size()
			if !v.shared || q.Var.IsDynamic() || whole < ir.VectorBytes { // smaller ones may not be aligned
				return l, false
			}
			if inner < 0 {
				inner, size = l.offset, whole
			}
			l.param = inShared
			l.base = fmt.Sprintf("%p%s", q.Var, key.String())
			l.from = l.offset - inner
			l.to = l.from + size
			return l, true
		default:
			return l, false
		}
	}
}

// index adds index*size to a location.
func (v *vectoriser) index(l *location, key *strings.Builder, index ir.Expr, size int64) bool {
	variable, constant := index, int64(0)
	if c := asConst(index); c != nil {
		variable, constant = nil, c.Int64()
	} else if b, ok := index.(*ir.Binary); ok && b.Op == ir.Add && asConst(b.Y) != nil {
		variable, constant = b.X, asConst(b.Y).Int64()
	}
	const most = 1 << 24
	if constant < 0 || constant >= most || size >= most {
		return false
	}
	l.offset += constant * size
	if variable == nil {
		return true
	}
	fmt.Fprintf(key, " %d*", size)
	l.align = min(l.align, powerOfTwo(size)*v.divisor(variable))
	return l.describe(key, variable)
}

// describe writes an expression so that equal expressions have equal texts, and records
// the variables that it reads. It reports whether the expression reads no memory and
// cannot fail.
func (l *location) describe(b *strings.Builder, e ir.Expr) bool {
	switch e := e.(type) {
	case *ir.Const:
		fmt.Fprintf(b, "%dk%xf%v", e.T.Kind, e.Bits, e.Float) // 1<<s differs between int8 and uint8
		return true
	case *ir.Load:
		p, ok := e.Place.(*ir.VarPlace)
		if ok {
			l.vars = append(l.vars, p.Var)
			fmt.Fprintf(b, "%p", p.Var)
		}
		return ok && e.Type().IsScalar()
	case *ir.ThreadValue:
		fmt.Fprintf(b, "t%d", e.Op)
		return true
	case *ir.Convert:
		fmt.Fprintf(b, "c%d(", e.T.Kind)
		ok := l.describe(b, e.X)
		b.WriteByte(')')
		return ok
	case *ir.Unary:
		fmt.Fprintf(b, "u%d(", e.Op)
		ok := l.describe(b, e.X)
		b.WriteByte(')')
		return ok
	case *ir.Binary:
		b.WriteByte('(')
		ok := l.describe(b, e.X)
		fmt.Fprintf(b, " o%d ", e.Op)
		ok = ok && l.describe(b, e.Y)
		b.WriteByte(')')
		return ok && !e.Check
	}
	return false
}

// divisor returns a power of two, up to 16, that divides an integer.
func (v *vectoriser) divisor(e ir.Expr) int64 {
	switch e := e.(type) {
	case *ir.Const:
		return powerOfTwo(e.Int64())
	case *ir.Load:
		if x, ok := ir.Variable(e); ok && v.values[x] != nil {
			return v.divisor(v.values[x])
		}
	case *ir.Convert:
		if e.X.Type().IsInteger() {
			return v.divisor(e.X)
		}
	case *ir.Binary:
		switch e.Op {
		case ir.Add, ir.Sub:
			return min(v.divisor(e.X), v.divisor(e.Y))
		case ir.Mul:
			return min(v.divisor(e.X)*v.divisor(e.Y), ir.VectorBytes)
		case ir.Shl:
			if c := asConst(e.Y); c != nil {
				return min(v.divisor(e.X)<<min(c.Bits, 4), ir.VectorBytes)
			}
		}
	}
	return 1
}

// powerOfTwo returns the largest power of two, up to 16, that divides n.
func powerOfTwo(n int64) int64 {
	return 1 << min(bits.TrailingZeros64(uint64(n)), 4)
}

// access is a scalar that is read or written.
type access struct {
	location
	place  ir.Place
	load   *ir.Load   // of a read
	store  *ir.Assign // of a write
	at     int        // index of the statement
	pos    ir.Pos     // of the statement
	checks int        // number of checks before it
}

// list rewrites a statement list and those within it.
func (v *vectoriser) list(list []ir.Stmt) []ir.Stmt {
	for _, s := range list {
		switch s := s.(type) {
		case *ir.If:
			s.Then, s.Else = v.list(s.Then), v.list(s.Else)
		case *ir.Loop:
			s.Pre, s.Body, s.Post = v.list(s.Pre), v.list(s.Body), v.list(s.Post)
		case *ir.Block:
			s.Body = v.list(s.Body)
		}
	}
	v.shared = true
	list = v.rewrite(list, v.reads)
	v.shared = false
	return v.rewrite(list, v.writes)
}

// rewriting is the state for one statement list.
type rewriting struct {
	list          []ir.Stmt
	before, after [][]ir.Stmt      // vector accesses to insert, by statement
	guards        []*ir.ElemPlace  // of statements that only one check can stop
	settled       map[int]struct{} // statements whose guard moves in front of them
}

// rewrite runs one of the two kinds of joining. It sets the guards aside meanwhile; the
// guards of statements that take part move in front of them.
func (v *vectoriser) rewrite(list []ir.Stmt, join func(*rewriting)) []ir.Stmt {
	n := len(list)
	r := &rewriting{list: list, before: make([][]ir.Stmt, n), after: make([][]ir.Stmt, n), guards: make([]*ir.ElemPlace, n), settled: map[int]struct{}{}}
	for i, s := range list {
		if p, ok := onlyCheck(s); ok {
			r.guards[i] = p
			p.Check = false
		}
	}
	join(r)
	out := make([]ir.Stmt, 0, n)
	for i, s := range r.list {
		if p := r.guards[i]; p != nil {
			p.Check = true
			if _, ok := r.settled[i]; ok {
				out = append(out, &ir.Check{Place: ir.ClonePlace(p)})
				p.Check = false
			}
		}
		out = append(append(append(out, r.before[i]...), s), r.after[i]...)
	}
	return out
}

// onlyCheck returns the element whose check is always made and is all that can fail in
// an assignment or condition.
func onlyCheck(s ir.Stmt) (elem *ir.ElemPlace, ok bool) {
	ok = true
	v := ir.Visitor{
		Expr: func(e ir.Expr) bool {
			switch e := e.(type) {
			case *ir.Binary:
				ok = ok && !e.Check && !e.Op.IsLogical()
			case *ir.SliceExpr:
				ok = ok && !e.Check
			}
			return ok
		},
		Place: func(p ir.Place) bool {
			switch p := p.(type) {
			case *ir.IndexPlace:
				ok = ok && !p.Check
			case *ir.DerefPlace:
				ok = false
			case *ir.ArrayPlace:
				ok = ok && !p.Check
			case *ir.ElemPlace:
				if p.Check {
					ok = ok && elem == nil
					elem = p
				}
			}
			return ok
		},
	}
	switch s := s.(type) {
	case *ir.Assign:
		v.Value(s.Src)
		v.Target(s.Dst)
	case *ir.If:
		v.Value(s.Cond)
	}
	return elem, ok && elem != nil
}

// reads joins the reads of a list.
func (v *vectoriser) reads(r *rewriting) {
	groups := map[string][]access{}
	written := map[string][]location{} // since the first read of the group
	var order []string                 // of the groups, for deterministic output
	flush := func(dies func(a *access) bool) {
		order = slices.DeleteFunc(order, func(base string) bool {
			g := groups[base]
			if !dies(&g[0]) {
				return false
			}
			v.joinReads(r, g)
			delete(groups, base)
			delete(written, base)
			return true
		})
	}
	all := func(*access) bool { return true }
	checks := 0
	for i, s := range r.list {
		reads, fails := v.readsOf(s)
		if fails {
			checks++
			reads = nil // their checks may be what puts them in range
		}
		if g := r.guards[i]; g != nil {
			checks++
			reads = slices.DeleteFunc(reads, func(a access) bool { return readBy(g, a.load) })
		}
		for _, a := range reads {
			a.at, a.pos, a.checks = i, positionOf(s), checks
			if slices.ContainsFunc(written[a.base], func(l location) bool { return l.overlaps(&a.location) }) {
				flush(func(b *access) bool { return b.base == a.base })
			}
			if groups[a.base] == nil {
				order = append(order, a.base)
			}
			groups[a.base] = append(groups[a.base], a)
		}
		if assign, ok := s.(*ir.Assign); ok {
			if p, ok := assign.Dst.(*ir.VarPlace); ok && !v.uses[p.Var].addressed {
				flush(func(a *access) bool { return slices.Contains(a.vars, p.Var) })
				continue
			}
			if !writesGlobal(assign.Dst) {
				if _, ok := ir.Root(assign.Dst).(*ir.SharedPlace); ok {
					flush(func(a *access) bool { return a.param == inShared })
				}
				continue
			}
			if l, ok := v.locate(assign.Dst); ok {
				flush(func(a *access) bool { return a.base != l.base })
				if groups[l.base] != nil {
					written[l.base] = append(written[l.base], l)
				}
				continue
			}
		} else if load, ok := s.(*ir.LoadVector); ok {
			flush(func(a *access) bool {
				return slices.ContainsFunc(load.Dst, func(d *ir.Local) bool { return slices.Contains(a.vars, d) })
			})
			continue
		} else if _, ok := s.(*ir.Check); ok {
			continue
		}
		flush(all)
	}
	flush(all)
}

// readBy reports whether a guard needs what a load reads: the guard moves in front of
// the vector load.
func readBy(guard *ir.ElemPlace, load *ir.Load) bool {
	found := false
	v := ir.Visitor{Expr: func(e ir.Expr) bool {
		found = found || e == ir.Expr(load)
		return !found
	}}
	v.Value(guard.Slice)
	v.Value(guard.Index)
	return found
}

// writesGlobal reports whether a place may be in global memory.
func writesGlobal(p ir.Place) bool {
	switch ir.Root(p).(type) {
	case *ir.SharedPlace, *ir.VarPlace:
		return false
	}
	return true
}

// readsOf returns the reads that a statement always executes, and whether it may fail.
func (v *vectoriser) readsOf(s ir.Stmt) (reads []access, fails bool) {
	var visitor ir.Visitor
	visitor = ir.Visitor{Expr: func(e ir.Expr) bool {
		switch e := e.(type) {
		case *ir.Binary:
			if e.Op.IsLogical() { // the right side is not always evaluated
				visitor.Value(e.X)
				return false
			}
		case *ir.Load:
			if l, ok := v.locate(e.Place); ok {
				reads = append(reads, access{location: l, place: e.Place, load: e})
				return false
			}
		}
		return true
	}}
	switch s := s.(type) {
	case *ir.Assign:
		visitor.Value(s.Src)
		if _, ok := s.Dst.(*ir.VarPlace); !ok {
			visitor.Target(s.Dst)
		}
		return reads, ir.MayFault(s.Src) || ir.PlaceMayFault(s.Dst)
	case *ir.If:
		visitor.Value(s.Cond)
		return reads, ir.MayFault(s.Cond)
	case *ir.Effect:
		for _, e := range s.Args {
			visitor.Value(e)
			fails = fails || ir.MayFault(e)
		}
		return reads, fails
	case *ir.Check:
		return nil, true
	}
	return nil, false
}

// row is a set of neighbouring scalars that one access can move.
type row struct {
	first *access
	n     int
	parts [][]*access // by position
}

// positionOf returns the position of a statement that readsOf supports.
func positionOf(s ir.Stmt) ir.Pos {
	switch s := s.(type) {
	case *ir.Assign:
		return s.Pos
	case *ir.If:
		return s.Pos
	case *ir.Effect:
		return s.Pos
	}
	return ir.Pos{}
}

// rows finds the parts of a group that can move together. A read of global memory may
// include more than was requested, within the same aggregate; a write may not.
func rows(group []access, reading bool) []row {
	slices.SortStableFunc(group, func(a, b access) int { return int(a.offset - b.offset) })
	var out []row
	for i := 0; i < len(group); {
		w := widest(group[i:], reading)
		if w.n == 0 {
			i++
			continue
		}
		out = append(out, w)
		end := group[i].offset + int64(w.n)*group[i].place.Type().Size()
		for i < len(group) && group[i].offset < end {
			i++
		}
	}
	return out
}

// widest returns the widest row at the start of a group, empty if there is none.
func widest(group []access, reading bool) row {
	first := &group[0]
	size := first.place.Type().Size()
	for n := int(ir.VectorBytes / size); n >= 2; n /= 2 {
		bytes := int64(n) * size
		if first.align%bytes != 0 || first.offset%bytes != 0 || first.param == inShared && bytes < ir.VectorBytes {
			continue
		}
		w := row{first: first, n: n, parts: make([][]*access, n)}
		found, fits, checks := 0, true, false
		for i := range group {
			a := &group[i]
			at := a.offset - first.offset
			if at >= bytes {
				break
			}
			if a.place.Type().Size() != size || at%size != 0 {
				fits = false
				break
			}
			if w.parts[at/size] == nil {
				found++
			}
			w.parts[at/size] = append(w.parts[at/size], a)
			checks = checks || a.checks != first.checks
		}
		inside := first.from <= first.offset && first.offset+bytes <= first.to
		if fits && (found == n && (inside || !checks) || reading && first.param != inShared && inside && found > 1 && 2*found >= n) {
			return w
		}
	}
	return row{}
}

// joinReads turns the reads of a group into vector accesses where they fit.
func (v *vectoriser) joinReads(r *rewriting, group []access) {
	for _, w := range rows(group, true) {
		load := &ir.LoadVector{Dst: make([]*ir.Local, w.n), Place: ir.ClonePlace(w.first.place)}
		t := w.first.place.Type()
		at := w.first.at
		var renamed []ir.Stmt
		for i, list := range w.parts {
			values := map[ir.Kind]*ir.Local{}
			for _, a := range list {
				r.settled[a.at] = struct{}{}
				if a.at <= at {
					at, load.Pos = a.at, a.pos
				}
				if load.Dst[i] == nil {
					load.Dst[i] = v.temp(t)
					values[t.Kind] = load.Dst[i]
				}
				u := a.place.Type()
				if values[u.Kind] == nil {
					values[u.Kind] = v.temp(u)
					renamed = append(renamed, &ir.Assign{Dst: &ir.VarPlace{Var: values[u.Kind]},
						Src: &ir.Intrinsic{Op: ir.Bitcast, T: u, Args: []ir.Expr{ir.Get(load.Dst[i])}}})
				}
				a.load.Place = &ir.VarPlace{Var: values[u.Kind]}
			}
		}
		r.before[at] = append(append(r.before[at], load), renamed...)
		v.rely(w)
	}
}

// rely records the alignment that an access needs.
func (v *vectoriser) rely(w row) {
	param := w.first.param
	if param == inShared {
		return
	}
	bytes := int64(w.n) * w.first.place.Type().Size()
	if bytes > v.kernel.Func.Params[param].Type.Elem.Align() {
		v.aligned[param] = max(v.aligned[param], bytes)
	}
}

func (v *vectoriser) temp(t *ir.Type) *ir.Local {
	l := &ir.Local{Name: "part", Type: ir.Basic(t.Kind), Hidden: true}
	v.kernel.Func.Locals = append(v.kernel.Func.Locals, l)
	v.uses[l] = &usage{}
	return l
}

// writes joins the writes of a list.
func (v *vectoriser) writes(r *rewriting) {
	var group []access
	flush := func() {
		v.joinWrites(r, group)
		group = nil
	}
	for i, s := range r.list {
		assign, ok := s.(*ir.Assign)
		if !ok {
			flush()
			continue
		}
		p, isVar := assign.Dst.(*ir.VarPlace)
		l, ok := v.locate(assign.Dst)
		if len(group) > 0 {
			switch first := &group[0]; {
			case v.readsBeside(assign.Src, group), ir.MayFault(assign.Src), r.guards[i] != nil,
				isVar && (v.uses[p.Var].addressed || slices.Contains(first.vars, p.Var)),
				!isVar && (!ok || l.base != first.base),
				!isVar && slices.ContainsFunc(group, func(a access) bool { return a.offset == l.offset }):
				flush()
			}
		}
		if ok && !ir.MayFault(assign.Src) {
			group = append(group, access{location: l, place: assign.Dst, store: assign, at: i})
		}
	}
	flush()
}

// readsBeside reports whether an expression may read what the writes of a group write:
// global memory, except for scalars with the same base that none of them overlaps.
func (v *vectoriser) readsBeside(e ir.Expr, group []access) bool {
	found := false
	visitor := ir.Visitor{
		Expr: func(e ir.Expr) bool {
			load, ok := e.(*ir.Load)
			if !ok || found {
				return !found
			}
			l, ok := v.locate(load.Place)
			if !ok || l.base != group[0].base {
				return true
			}
			found = slices.ContainsFunc(group, func(a access) bool { return a.overlaps(&l) })
			return false
		},
		Place: func(p ir.Place) bool {
			found = found || reached(p)
			return !found
		},
	}
	visitor.Value(e)
	return found
}

// joinWrites turns the writes of a group into vector accesses where they fit: each
// value is computed where it was, and all are written at the last write.
func (v *vectoriser) joinWrites(r *rewriting, group []access) {
	for _, w := range rows(group, false) {
		t := w.first.place.Type()
		store := &ir.StoreVector{Place: ir.ClonePlace(w.first.place), Src: make([]ir.Expr, w.n), Pos: w.first.store.Pos}
		last := 0
		for i, parts := range w.parts {
			a := parts[0]
			last = max(last, a.at)
			src := a.store.Src
			if u := src.Type(); u.Kind != t.Kind {
				src = &ir.Intrinsic{Op: ir.Bitcast, T: ir.Basic(t.Kind), Args: []ir.Expr{src}}
			}
			value := v.temp(t)
			r.settled[a.at] = struct{}{}
			r.list[a.at] = &ir.Assign{Dst: &ir.VarPlace{Var: value}, Src: src, Pos: a.store.Pos}
			store.Src[i] = ir.Get(value)
		}
		r.after[last] = append(r.after[last], store)
		v.rely(w)
	}
}
