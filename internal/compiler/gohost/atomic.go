package gohost

import (
	"fmt"

	"quern.dev/internal/compiler/ir"
)

var atomicFunctions = [...]string{
	ir.AtomicAdd: "AtomicAdd", ir.AtomicSub: "AtomicSub", ir.AtomicMin: "AtomicMin", ir.AtomicMax: "AtomicMax",
	ir.AtomicAnd: "AtomicAnd", ir.AtomicOr: "AtomicOr", ir.AtomicXor: "AtomicXor",
	ir.AtomicExchange: "AtomicExchange", ir.AtomicCompareAndSwap: "AtomicCompareAndSwap",
}

// atomic prints an atomic operation. The threads of a block run on one worker, so an
// operation on shared memory is an ordinary update.
func (e *emitter) atomic(s *ir.Atomic) {
	if e.isShared(s.Place) && s.Op != ir.AtomicCompareAndSwap && !e.readsItsResult(s) {
		e.sharedUpdate(s)
		return
	}
	t := s.Place.Type()
	ptr, _ := e.address(s.Place)
	args := ptr
	for _, a := range s.Args {
		args += ", " + e.value(a, t, precOr)
	}
	call := ""
	if name := addFunctions[t.Kind]; s.Op == ir.AtomicAdd && name != "" && t.Name == "" {
		call = fmt.Sprintf("%s(%s)", e.member("sync/atomic", name), args)
		if e.wants(s.Dst) {
			call += " - " + e.opaque(s.Args[0], precMul)
		}
	} else {
		call = fmt.Sprintf("%s(%s)", e.member(kernelPath, atomicFunctions[s.Op]), args)
	}
	e.old(s, call)
}

// addFunctions are the additions in sync/atomic.
var addFunctions = map[ir.Kind]string{ir.Int32: "AddInt32", ir.Uint32: "AddUint32", ir.Int64: "AddInt64", ir.Uint64: "AddUint64"}

// old prints a statement that assigns a value to the operation's destination, or only
// evaluates it.
func (e *emitter) old(s *ir.Atomic, value string) {
	switch {
	case !e.wants(s.Dst):
		e.out.at(s.Pos, true, "%s", value)
	case e.scopes.define[s][s.Dst]:
		e.out.at(s.Pos, true, "%s := %s", e.names.name(s.Dst, s.Dst.Name), value)
	default:
		e.out.at(s.Pos, true, "%s = %s", e.variable(s.Dst), value)
	}
}

// readsItsResult reports whether the operands or the place depend on the
// destination's value before the operation.
func (e *emitter) readsItsResult(s *ir.Atomic) bool {
	return e.wants(s.Dst) && uses(&ir.Check{Place: s.Place}, &ir.Return{Results: s.Args}).mentions(s.Dst)
}

func (e *emitter) sharedUpdate(s *ir.Atomic) {
	place, t := e.place(s.Place), s.Place.Type()
	arg := e.value(s.Args[0], t, precUnary)
	if e.wants(s.Dst) {
		e.old(s, place)
	}
	if t.IsHalf() {
		e.out.at(s.Pos, true, "%s = %s.Add(%s)", place, e.base(s.Place), arg)
		return
	}
	switch s.Op {
	case ir.AtomicMin:
		e.out.at(s.Pos, true, "%s = min(%s, %s)", place, place, arg)
	case ir.AtomicMax:
		e.out.at(s.Pos, true, "%s = max(%s, %s)", place, place, arg)
	case ir.AtomicExchange:
		e.out.at(s.Pos, true, "%s = %s", place, arg)
	default:
		op := map[ir.AtomicOp]string{ir.AtomicAdd: "+=", ir.AtomicSub: "-=", ir.AtomicAnd: "&=", ir.AtomicOr: "|=", ir.AtomicXor: "^="}[s.Op]
		e.out.at(s.Pos, true, "%s %s %s", place, op, arg)
	}
}

// isShared reports whether a place is known to be in shared memory.
func (e *emitter) isShared(p ir.Place) bool {
	switch root := ir.Root(p).(type) {
	case *ir.SharedPlace:
		return true
	case *ir.ElemPlace:
		return e.sharedSlice(root.Slice)
	case *ir.ArrayPlace:
		return e.sharedSlice(root.Slice)
	case *ir.DerefPlace:
		switch ptr := root.Ptr.(type) {
		case *ir.Addr:
			return e.isShared(ptr.Place)
		case *ir.Load:
			v, ok := ptr.Place.(*ir.VarPlace)
			if !ok {
				return false
			}
			if a, ok := e.facts.source[v.Var].(*ir.Addr); ok {
				return e.isShared(a.Place)
			}
		}
	}
	return false
}

func (e *emitter) sharedSlice(x ir.Expr) bool {
	switch x := x.(type) {
	case *ir.SliceExpr:
		if x.X != nil {
			return e.sharedSlice(x.X)
		}
		return e.isShared(x.Array)
	case *ir.Load:
		switch p := x.Place.(type) {
		case *ir.SharedPlace:
			return true
		case *ir.VarPlace:
			src := e.facts.source[p.Var]
			return src != nil && e.sharedSlice(src)
		}
	}
	return false
}
