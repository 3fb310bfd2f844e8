package irtest

import (
	"fmt"

	"quern.dev/internal/compiler/ir"
)

// Coordinates are the thread coordinates, by ir.ThreadOp.
type Coordinates [ir.WarpID + 1]int64

// Fault is what stopped a thread.
type Fault struct {
	Kind string // index, slice, divide, shift, panic, nil, steps
	Pos  ir.Pos
}

func (f *Fault) Error() string { return fmt.Sprintf("%s: %s", f.Pos, f.Kind) }

// MaxSteps is the maximum number of statements that a run executes; a run that needs
// more stops with the fault "steps".
var MaxSteps = 1 << 20

// Run executes the kernel for one thread. Arguments of array and struct type
// are pointers to their contents. The error, if any, is a *Fault.
func Run(k *ir.Kernel, at Coordinates, args ...Value) error {
	m := &machine{at: at, shared: map[*ir.SharedVar]*Object{}}
	if f := m.run(k, args); f != nil {
		return f
	}
	return nil
}

// run executes the kernel and returns what stopped it, or nil.
func (m *machine) run(k *ir.Kernel, args []Value) (fault *Fault) {
	defer func() {
		if r := recover(); r != nil {
			f, ok := r.(*Fault)
			if !ok {
				panic(r)
			}
			fault = f
		}
	}()
	in := make([][]Value, len(args))
	for i, a := range args {
		in[i] = []Value{a}
		if t := k.Func.Params[i].Type; t.IsAggregate() {
			in[i] = a.Object.Cells[a.Off : a.Off+cells(t)]
		}
	}
	m.call(k.Func, in)
	return nil
}

type machine struct {
	at     Coordinates
	shared map[*ir.SharedVar]*Object
	vars   map[*ir.Local]*Object
	result [][]Value
	steps  int

	barrier func()            // waits for the other threads of the block; nil: there are none
	meet    func(x *exchange) // waits for the other threads of the warp, and computes the results
}

// exit says how a statement list ended.
type exit uint8

const (
	falls exit = iota
	breaks
	continues
	returns
)

func (m *machine) call(f *ir.Func, args [][]Value) [][]Value {
	saved := m.vars
	m.vars = map[*ir.Local]*Object{}
	for i, p := range f.Params {
		m.vars[p] = &Object{Cells: append([]Value(nil), args[i]...)}
	}
	m.result = nil
	m.body(f.Body)
	m.vars = saved
	return m.result
}

func (m *machine) body(list []ir.Stmt) (exit, *ir.Label) {
	for _, s := range list {
		if e, l := m.stmt(s); e != falls {
			return e, l
		}
	}
	return falls, nil
}

func (m *machine) stmt(s ir.Stmt) (exit, *ir.Label) {
	if m.steps++; m.steps > MaxSteps {
		panic(&Fault{Kind: "steps"})
	}
	switch s := s.(type) {
	case *ir.Assign:
		v := m.eval(s.Src)
		o, off := m.place(s.Dst)
		copy(o.Cells[off:], v)
	case *ir.If:
		if m.scalar(s.Cond).Bits != 0 {
			return m.body(s.Then)
		}
		return m.body(s.Else)
	case *ir.Loop:
		return m.loop(s)
	case *ir.Block:
		if e, l := m.body(s.Body); e != falls && (e != breaks || l != s.Label) {
			return e, l
		}
	case *ir.Break:
		return breaks, s.Label
	case *ir.Continue:
		return continues, s.Label
	case *ir.Return:
		m.result = m.list(s.Results)
		return returns, nil
	case *ir.Call:
		out := m.call(s.Func, m.list(s.Args))
		for i, d := range s.Dst {
			if d != nil {
				m.vars[d] = m.variable(d)
				copy(m.vars[d].Cells, out[i])
			}
		}
	case *ir.Atomic:
		m.atomic(s)
	case *ir.Check:
		m.place(s.Place)
	case *ir.Memory:
		m.memory(s)
	case *ir.LoadVector:
		o, off := m.place(s.Place)
		for i, v := range s.Dst {
			if v != nil {
				m.variable(v).Cells[0] = o.Cells[off+i]
			}
		}
	case *ir.StoreVector:
		values := m.list(s.Src)
		o, off := m.place(s.Place)
		for i, v := range values {
			o.Cells[off+i] = v[0]
		}
	case *ir.Effect: // it changes nothing that tests compare
	case *ir.Warp:
		m.warp(s)
	case *ir.Barrier:
		if m.barrier != nil {
			m.barrier()
		}
	case *ir.Panic:
		panic(&Fault{"panic", s.Pos})
	}
	return falls, nil
}

// memory runs those operations on memory that need only one thread.
func (m *machine) memory(s *ir.Memory) {
	if s.Op != ir.SliceCopy {
		panic("irtest: " + s.Op.String())
	}
	dst, src := m.scalar(s.Args[0]), m.scalar(s.Args[1])
	if n := min(dst.Len, src.Len) * cells(s.Args[0].Type().Elem); n > 0 {
		copy(dst.Object.Cells[dst.Off:][:n], src.Object.Cells[src.Off:][:n])
	}
}

func (m *machine) loop(s *ir.Loop) (exit, *ir.Label) {
	for {
		if m.steps++; m.steps > MaxSteps {
			panic(&Fault{Kind: "steps"})
		}
		for i, part := range [...][]ir.Stmt{s.Pre, s.Body, s.Post} {
			if i == 1 && s.Cond != nil && m.scalar(s.Cond).Bits == 0 {
				return falls, nil
			}
			e, l := m.body(part)
			switch {
			case e == breaks && l == s.Label:
				return falls, nil
			case e == continues && l == s.Label:
			case e != falls:
				return e, l
			}
		}
	}
}

func (m *machine) atomic(s *ir.Atomic) {
	args := m.list(s.Args)
	o, off := m.place(s.Place)
	old := o.Cells[off]
	t := s.Place.Type()
	v := args[0][0]
	switch s.Op {
	case ir.AtomicAdd:
		v = arith(t, ir.Add, old, v)
	case ir.AtomicSub:
		v = arith(t, ir.Sub, old, v)
	case ir.AtomicAnd:
		v = arith(t, ir.And, old, v)
	case ir.AtomicOr:
		v = arith(t, ir.Or, old, v)
	case ir.AtomicXor:
		v = arith(t, ir.Xor, old, v)
	case ir.AtomicMin:
		v = minmax(t, false, old, v)
	case ir.AtomicMax:
		v = minmax(t, true, old, v)
	case ir.AtomicCompareAndSwap:
		v = old
		if old.Bits == args[0][0].Bits {
			v = args[1][0]
		}
	}
	o.Cells[off] = v
	if s.Dst != nil {
		m.variable(s.Dst).Cells[0] = old
	}
}

func (m *machine) variable(v *ir.Local) *Object {
	o, ok := m.vars[v]
	if !ok {
		o = zeroObject(v.Type)
		m.vars[v] = o
	}
	return o
}

// place returns the location of a place: an object and the offset of its first cell.
func (m *machine) place(p ir.Place) (*Object, int) {
	switch p := p.(type) {
	case *ir.VarPlace:
		return m.variable(p.Var), 0
	case *ir.SharedPlace:
		if m.shared[p.Var] == nil {
			m.shared[p.Var] = zeroObject(p.Var.Type)
		}
		return m.shared[p.Var], 0
	case *ir.TablePlace:
		return tableObject(p.Table), 0
	case *ir.DerefPlace:
		v := m.scalar(p.Ptr)
		if v.Object == nil {
			panic(&Fault{"nil", p.Pos})
		}
		return v.Object, v.Off
	case *ir.FieldPlace:
		o, off := m.place(p.X)
		return o, off + fieldOffset(p.X.Type(), p.Field)
	case *ir.IndexPlace:
		o, off := m.place(p.X)
		t := p.X.Type()
		return o, off + m.index(p.Index, int(t.Len), p.Check, p.Pos)*cells(t.Elem)
	case *ir.ArrayPlace:
		v := m.scalar(p.Slice)
		if int64(v.Len) < p.T.Len {
			panic(&Fault{"slice", p.Pos})
		}
		return v.Object, v.Off
	case *ir.ElemPlace:
		v := m.scalar(p.Slice)
		return v.Object, v.Off + m.index(p.Index, v.Len, p.Check, p.Pos)*cells(p.Type())
	}
	panic(fmt.Sprintf("irtest: place %T", p))
}

// index evaluates an index. An unchecked index out of range is an error of the pass
// that cleared the check, and has its own kind of fault.
func (m *machine) index(e ir.Expr, n int, check bool, pos ir.Pos) int {
	v := m.scalar(e).Bits
	if v < uint64(n) {
		return int(v)
	}
	if !check {
		panic(&Fault{"unchecked index", pos})
	}
	panic(&Fault{"index", pos})
}

func (m *machine) list(list []ir.Expr) [][]Value {
	out := make([][]Value, len(list))
	for i, e := range list {
		out[i] = m.eval(e)
	}
	return out
}

// tableObject unpacks a table's bytes.
func tableObject(t *ir.Table) *Object {
	o := &Object{}
	unpack(o, t.Type, t.Data)
	return o
}

func unpack(o *Object, t *ir.Type, data []byte) {
	switch t.Kind {
	case ir.Array:
		for i := range t.Len {
			unpack(o, t.Elem, data[i*t.Elem.Size():])
		}
		return
	case ir.Struct:
		for _, f := range t.Fields {
			unpack(o, f.Type, data[f.Offset:])
		}
		return
	}
	var bits uint64
	for i := range t.Size() {
		bits |= uint64(data[i]) << (8 * i)
	}
	if t.IsFloat() {
		o.Cells = append(o.Cells, fromBits(t, bits))
		return
	}
	o.Cells = append(o.Cells, Value{Bits: ir.WrapBits(t.Kind, bits)})
}
