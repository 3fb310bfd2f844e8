package lint

import "quern.dev/internal/compiler/ir"

// place records an access to memory and returns its location, in bytes relative to the
// object that contains it.
func (w *walker) place(p ir.Place, store bool) value {
	return w.access(p, p.Type().Size(), store)
}

// vector records an access of n adjacent scalars.
func (w *walker) vector(p ir.Place, n int, store bool) {
	w.access(p, p.Type().Size()*int64(n), store)
}

func (w *walker) access(p ir.Place, bytes int64, store bool) value {
	object, pos, at := w.way(p)
	if object == nil || !w.record || at.data || w.active == 0 {
		return at
	}
	a := access{p, pos, object, at, at, bytes, store, w.active, w.weight}
	if _, shared := object.(*ir.SharedVar); shared {
		w.padding, w.record = 1, false
		_, _, a.padded = w.way(p)
		w.padding, w.record = 0, true
	}
	w.accesses = append(w.accesses, a)
	return at
}

// way returns the object that contains a place, and the place's offset in it. The
// object is nil if it is unknown or not in global or shared memory.
func (w *walker) way(p ir.Place) (object any, pos ir.Pos, at value) {
	switch p := p.(type) {
	case *ir.VarPlace:
		return nil, pos, constant(0)
	case *ir.TablePlace:
		return nil, pos, constant(0)
	case *ir.SharedPlace:
		return p.Var, pos, constant(0)
	case *ir.FieldPlace:
		object, pos, at = w.way(p.X)
		return object, pos, add(at, constant(p.X.Type().Fields[p.Field].Offset), 1)
	case *ir.IndexPlace:
		object, _, at = w.way(p.X)
		return object, p.Pos, add(at, scale(w.value(p.Index), w.distance(p.Type())), 1)
	case *ir.ElemPlace:
		object, at = w.slice(p.Slice)
		return object, p.Pos, add(at, scale(w.value(p.Index), p.Type().Size()), 1)
	case *ir.ArrayPlace:
		object, at = w.slice(p.Slice)
		return object, p.Pos, at
	case *ir.DerefPlace:
		return nil, p.Pos, opaque(w.value(p.Ptr))
	}
	return nil, pos, unknown()
}

// distance returns the distance of neighbouring elements of a type in bytes.
func (w *walker) distance(t *ir.Type) int64 {
	if t.Kind != ir.Array || w.padding == 0 {
		return t.Size()
	}
	if t.Elem.Kind == ir.Array {
		return t.Len * w.distance(t.Elem)
	}
	return (t.Len + w.padding) * t.Elem.Size()
}

// part is the start of a slice: an object and an offset.
type part struct {
	object any // nil if unknown
	start  value
}

// slice returns the object that a slice is a part of, nil if unknown, and the start of
// the slice in it.
func (w *walker) slice(e ir.Expr) (object any, start value) {
	p := w.sliceOf(e)
	return p.object, p.start
}

func (w *walker) sliceOf(e ir.Expr) part {
	switch e := e.(type) {
	case *ir.Load:
		if shared, ok := e.Place.(*ir.SharedPlace); ok {
			return part{shared.Var, constant(0)} // dynamic shared memory
		}
		v, ok := ir.Variable(e)
		if !ok {
			break
		}
		for _, p := range w.kernel.Func.Params {
			if p == v {
				return part{v, constant(0)}
			}
		}
		if p, ok := w.slices[v]; ok {
			return p
		}
	case *ir.SliceExpr:
		var p part
		if e.X != nil {
			p = w.sliceOf(e.X)
		} else {
			p.object, _, p.start = w.way(e.Array)
		}
		if e.Lo != nil {
			p.start = add(p.start, scale(w.value(e.Lo), e.T.Elem.Size()), 1)
		}
		return p
	}
	return part{nil, unknown()}
}
