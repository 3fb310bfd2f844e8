package ir

import (
	"fmt"
)

// Stage is a stage of compilation. Each stage adds invariants to those of earlier
// stages.
type Stage uint8

// The stages.
const (
	StageFront   Stage = iota // produced by the front end
	StageInlined              // no calls; Return has no results
	StageFinal                // every value and every assignment is a scalar, a pointer or a slice
)

// Verify checks that a kernel, and before inlining all functions that it calls, is well
// typed and satisfies the invariants of its stage. The error is about the first
// violation.
func Verify(k *Kernel, stage Stage) error {
	v := &verifier{stage: stage, kernel: k, done: map[*Func]bool{}, shared: map[*SharedVar]bool{}}
	for i, s := range k.Shared {
		if s.ID != i {
			return fmt.Errorf("shared variable %s has ID %d at index %d", s.Name, s.ID, i)
		}
		v.shared[s] = true
	}
	return v.verify(k.Func)
}

// verifier checks functions one after the other. It stops at the first violation by
// panicking with a fault, which verify turns into an error.
type verifier struct {
	stage   Stage
	kernel  *Kernel
	shared  map[*SharedVar]bool
	done    map[*Func]bool
	pending []*Func

	// State of the function being checked.
	fn      *Func
	locals  map[*Local]bool
	written map[*Local]bool // as a whole, in part or through its address
	reads   []*Local
	seen    map[any]bool
	labels  map[*Label]bool // true for the label of a loop
	defined map[*Label]bool
}

type fault string

func (v *verifier) fail(format string, args ...any) {
	panic(fault(fmt.Sprintf("%s: ", v.fn.Name) + fmt.Sprintf(format, args...)))
}

func (v *verifier) verify(f *Func) (err error) {
	defer func() {
		if r := recover(); r != nil {
			msg, ok := r.(fault)
			if !ok {
				panic(r)
			}
			err = fmt.Errorf("ir: %s", string(msg))
		}
	}()
	v.pending = []*Func{f}
	for len(v.pending) > 0 {
		f := v.pending[len(v.pending)-1]
		v.pending = v.pending[:len(v.pending)-1]
		if v.done[f] {
			continue
		}
		v.done[f] = true
		v.function(f)
	}
	return nil
}

func (v *verifier) function(f *Func) {
	v.fn = f
	v.locals, v.seen = map[*Local]bool{}, map[any]bool{}
	v.written, v.reads = map[*Local]bool{}, nil
	for _, p := range f.Params {
		v.written[p] = true
	}
	v.labels, v.defined = map[*Label]bool{}, map[*Label]bool{}
	for _, list := range [...][]*Local{f.Params, f.Results, f.Locals} {
		for _, l := range list {
			if v.locals[l] {
				v.fail("variable %s is listed twice", l.Name)
			}
			if l.Type == nil || l.Type.Kind == Invalid {
				v.fail("variable %s has no type", l.Name)
			}
			v.locals[l] = true
		}
	}
	v.body(&f.Body)
	for _, l := range v.reads {
		if !v.written[l] {
			v.fail("variable %s is read and never assigned", l.Name)
		}
	}
}

// once rejects a node that occurs twice.
func (v *verifier) once(node any) {
	if v.seen[node] {
		v.fail("node %T occurs twice", node)
	}
	v.seen[node] = true
}

func (v *verifier) stmt(s Stmt) {
	switch s := s.(type) {
	case *Loop:
		v.enter(s.Label, true)
		defer delete(v.labels, s.Label)
	case *Block:
		v.enter(s.Label, false)
		defer delete(v.labels, s.Label)
	}
	s.parts(v)
	switch s := s.(type) {
	case *Assign:
		v.typed(s.Src, s.Dst.Type(), "assigned value")
		if v.stage >= StageFinal && s.Src.Type().IsAggregate() {
			v.fail("assignment of type %s", s.Src.Type())
		}
		if _, ok := Root(s.Dst).(*TablePlace); ok {
			v.fail("assignment to a table")
		}
	case *If:
		v.cond(s.Cond)
	case *Loop:
		if s.Cond != nil {
			v.cond(s.Cond)
		}
	case *Break:
		if _, ok := v.labels[s.Label]; !ok {
			v.fail("break out of a label that does not enclose it")
		}
	case *Continue:
		if !v.labels[s.Label] {
			v.fail("continue of a label that is not an enclosing loop's")
		}
	case *Return:
		v.returns(s)
	case *Call:
		v.call(s)
	case operation:
		s.verify(v)
	case *Block, *Check, *Barrier, *Fence, *Panic:
	default:
		v.fail("unknown statement %T", s)
	}
}

// The parts of a node are checked by kind; verifying a node then checks how they fit
// together.
func (v *verifier) value(e *Expr)  { v.expr(*e) }
func (v *verifier) place(p *Place) { v.placed(*p) }
func (v *verifier) label(**Label)  {}
func (v *verifier) pos(*Pos)       {}

func (v *verifier) target(p *Place) {
	v.placed(*p)
	if r, ok := Root(*p).(*VarPlace); ok {
		v.written[r.Var] = true
	}
}

func (v *verifier) variable(l **Local) {
	v.local(*l)
	v.reads = append(v.reads, *l)
}

func (v *verifier) result(l **Local) {
	if *l != nil {
		v.local(*l)
		v.written[*l] = true
	}
}

func (v *verifier) body(list *[]Stmt) {
	for _, s := range *list {
		if s == nil {
			v.fail("nil statement")
		}
		v.once(s)
		v.stmt(s)
	}
}

// enter opens a Loop or Block. The label may be nil if there are no breaks.
func (v *verifier) enter(l *Label, loop bool) {
	if l == nil {
		return
	}
	if v.defined[l] {
		v.fail("label %s belongs to two statements", l.Name)
	}
	v.defined[l] = true
	v.labels[l] = loop
}

func (v *verifier) returns(s *Return) {
	if v.stage >= StageInlined || v.fn == v.kernel.Func {
		if len(s.Results) > 0 {
			v.fail("return with results in a kernel")
		}
		return
	}
	if len(s.Results) != len(v.fn.Results) {
		v.fail("return of %d results, want %d", len(s.Results), len(v.fn.Results))
	}
	for i, e := range s.Results {
		v.typed(e, v.fn.Results[i].Type, "result")
	}
}

func (v *verifier) call(s *Call) {
	if v.stage >= StageInlined {
		v.fail("call of %s after inlining", s.Func.Name)
	}
	if len(s.Args) != len(s.Func.Params) {
		v.fail("call of %s with %d arguments, want %d", s.Func.Name, len(s.Args), len(s.Func.Params))
	}
	for i, e := range s.Args {
		v.typed(e, s.Func.Params[i].Type, "argument of "+s.Func.Name)
	}
	if len(s.Dst) != 0 && len(s.Dst) != len(s.Func.Results) {
		v.fail("call of %s with %d destinations, want %d", s.Func.Name, len(s.Dst), len(s.Func.Results))
	}
	for i, d := range s.Dst {
		v.destination(d, s.Func.Results[i].Type, "call of "+s.Func.Name)
	}
	v.pending = append(v.pending, s.Func)
}

func (v *verifier) local(l *Local) {
	if !v.locals[l] {
		v.fail("variable %s is not the function's", l.Name)
	}
}

// cond checks a bool expression.
func (v *verifier) cond(e Expr) { v.typed(e, TBool, "condition") }

// destination checks a variable that receives a result of type t; nil drops it.
func (v *verifier) destination(d *Local, t *Type, of string) {
	if d != nil && (t == nil || !d.Type.Equal(t)) {
		v.fail("%s: destination %s has type %s, want %v", of, d.Name, d.Type, t)
	}
}

// typed checks an expression that must have type t.
func (v *verifier) typed(e Expr, t *Type, what string) {
	if e == nil {
		v.fail("nil expression")
	}
	if !e.Type().Equal(t) {
		v.fail("%s has type %s, want %s", what, e.Type(), t)
	}
}

func (v *verifier) integer(e Expr, what string) {
	if !e.Type().IsInteger() {
		v.fail("%s has type %s, want an integer", what, e.Type())
	}
}

func (v *verifier) placed(p Place) {
	if p == nil {
		v.fail("nil place")
	}
	v.once(p)
	p.parts(v)
	switch p := p.(type) {
	case *VarPlace:
	case *SharedPlace:
		if !v.shared[p.Var] {
			v.fail("shared variable %s is not the kernel's", p.Var.Name)
		}
	case *TablePlace:
		if int64(len(p.Table.Data)) != p.Table.Type.Size() {
			v.fail("table %s has %d bytes, want %d", p.Table.Name, len(p.Table.Data), p.Table.Type.Size())
		}
	case *DerefPlace:
		if p.Ptr.Type().Kind != Pointer {
			v.fail("dereference of %s", p.Ptr.Type())
		}
	case *FieldPlace:
		if t := p.X.Type(); t.Kind != Struct || p.Field < 0 || p.Field >= len(t.Fields) {
			v.fail("field %d of %s", p.Field, t)
		}
	case *IndexPlace:
		v.integer(p.Index, "index")
		if p.X.Type().Kind != Array {
			v.fail("index of %s", p.X.Type())
		}
	case *ElemPlace:
		v.integer(p.Index, "index")
		if p.Slice.Type().Kind != Slice {
			v.fail("element of %s", p.Slice.Type())
		}
	case *ArrayPlace:
		if t := p.Slice.Type(); p.T.Kind != Array || t.Kind != Slice || !t.Elem.Equal(p.T.Elem) {
			v.fail("array %s at %s", p.T, t)
		}
	default:
		v.fail("unknown place %T", p)
	}
}
