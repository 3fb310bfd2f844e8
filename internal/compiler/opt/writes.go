package opt

import "quern.dev/internal/compiler/ir"

// writes finds the slice parameters whose elements a kernel may write, on any device.
// It needs a kernel without calls that still contains both sides of what differs
// between PTX and Go. It ignores the order of statements. A variable of a type that can
// hold an address has the origins of all its assignments, and a write through an
// address counts for all of its origins.
func writes(k *ir.Kernel) error {
	w := &writers{of: map[*ir.Local]origins{}, written: origins{}}
	for i, p := range k.Func.Params {
		if p.Type.Kind == ir.Slice {
			w.of[p] = origins{i: true}
		}
	}
	for w.changed = true; w.changed; {
		w.changed = false
		w.body(k.Func.Body)
	}
	k.Written = make([]bool, len(k.Func.Params))
	for i := range w.written {
		k.Written[i] = true
	}
	return nil
}

// origins are the numbers of the slice parameters that an address may come from.
type origins map[int]bool

// writers finds what a kernel writes.
type writers struct {
	of      map[*ir.Local]origins // of the addresses that a variable may hold
	written origins
	changed bool
}

// merge adds origins to a set.
func (w *writers) merge(into, from origins) {
	for i := range from {
		if !into[i] {
			into[i] = true
			w.changed = true
		}
	}
}

func (w *writers) body(list []ir.Stmt) {
	v := ir.Visitor{Stmt: w.stmt, Expr: func(ir.Expr) bool { return false }, Place: func(ir.Place) bool { return false }}
	v.Body(list)
}

func (w *writers) stmt(s ir.Stmt) bool {
	switch s := s.(type) {
	case *ir.Assign:
		w.assign(s.Dst, s.Src)
	case *ir.Memory:
		w.memory(s)
	case *ir.If:
		if c, ok := s.Cond.(*ir.Const); ok {
			body := s.Then
			if c.IsZero() {
				body = s.Else
			}
			w.body(body)
			return false
		}
	case *ir.Call:
		w.leave(s.Args)
	case *ir.Effect:
		w.leave(s.Args)
	default:
		for p := range ir.Targets(s) {
			w.write(*p)
		}
	}
	return true
}

// leave records that addresses escape to where this pass does not follow them.
func (w *writers) leave(args []ir.Expr) {
	for _, e := range args {
		w.merge(w.written, w.value(e))
	}
}

// assign records an assignment.
func (w *writers) assign(dst ir.Place, src ir.Expr) {
	v, ok := ir.Root(dst).(*ir.VarPlace)
	if !ok {
		w.write(dst)
		w.leave([]ir.Expr{src}) // possibly an address in memory
		return
	}
	from := w.value(src)
	if len(from) == 0 {
		return
	}
	if w.of[v.Var] == nil {
		w.of[v.Var] = origins{}
	}
	w.merge(w.of[v.Var], from)
}

// memory records an operation on memory. The destination of a copy is written, and so
// is a barrier, which is in shared memory.
func (w *writers) memory(s *ir.Memory) {
	for i, p := range s.Places {
		if s.Op.Writes(i) {
			w.write(p)
		}
	}
	if s.Op == ir.BulkCopy || s.Op == ir.BulkCopyTile || s.Op == ir.SliceCopy {
		w.merge(w.written, w.value(s.Args[0]))
	}
}

// write records that a place is written.
func (w *writers) write(p ir.Place) { w.merge(w.written, w.place(p)) }

// place returns the origins of the address of a place and, if that is a variable, of
// what the variable holds.
func (w *writers) place(p ir.Place) origins {
	switch root := ir.Root(p).(type) {
	case *ir.VarPlace:
		return w.of[root.Var]
	case *ir.DerefPlace:
		return w.value(root.Ptr)
	case *ir.ElemPlace:
		return w.value(root.Slice)
	case *ir.ArrayPlace:
		return w.value(root.Slice)
	}
	return nil // shared memory and tables do not hold addresses
}

// value returns the origins of the addresses in a value.
func (w *writers) value(e ir.Expr) origins {
	if e == nil || !holdsAddress(e.Type()) {
		return nil
	}
	switch e := e.(type) {
	case *ir.Load:
		return w.place(e.Place)
	case *ir.Addr:
		return w.place(e.Place)
	case *ir.SliceExpr:
		if e.Array != nil {
			return w.place(e.Array)
		}
		return w.value(e.X)
	case *ir.Convert:
		return w.value(e.X)
	case *ir.Select:
		return w.all(e.X, e.Y)
	case *ir.Composite:
		return w.all(e.Elems...)
	case *ir.Intrinsic:
		return w.all(e.Args...)
	}
	return nil
}

func (w *writers) all(list ...ir.Expr) origins {
	sum := origins{}
	for _, e := range list {
		for i := range w.value(e) {
			sum[i] = true
		}
	}
	return sum
}

// holdsAddress reports whether values of a type hold addresses.
func holdsAddress(t *ir.Type) bool {
	switch t.Kind {
	case ir.Slice, ir.Pointer:
		return true
	case ir.Array:
		return holdsAddress(t.Elem)
	case ir.Struct:
		for _, f := range t.Fields {
			if holdsAddress(f.Type) {
				return true
			}
		}
	}
	return false
}
