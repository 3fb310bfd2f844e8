package ir

import (
	"math"
	"strings"
	"sync"
)

// Intrinsic is a pure operation supported by every back end.
type Intrinsic struct {
	Op     *IntrinsicOp
	T      *Type
	Args   []Expr
	Strict bool // for FMA-able float operations: must not be fused further
	Pos    Pos  // for a ClusterAddress
}

func (x *Intrinsic) Type() *Type    { return x.T }
func (x *Intrinsic) parts(p parts)  { p.pos(&x.Pos); values(p, &x.Args) }
func (x *Intrinsic) copyExpr() Expr { return shallow(x) }

// IntrinsicOp declares an intrinsic, in one place for the whole compiler. The
// declarations are in intrinsic_float.go, intrinsic_approx.go, intrinsic_bits.go and
// intrinsic_memory.go. The front end converts calls of the functions named here to the
// operation. Both back ends print what they find here; they have a function only for an
// operation that is more than one instruction or one call.
type IntrinsicOp struct {
	Name string // in printed kernels

	// Calls are the Go functions for the operation, each as the last element of the
	// package's path and a name. Names of package math/bits stand for all widths.
	Calls []string

	Args   int    // number of arguments
	Class  *Class // of the first argument; the others have the same type
	Count  bool   // except that the last is of any integer type
	Result Result

	// Fold computes the result, of type t, for constants. It is nil, or returns nil, if
	// the result is not known exactly. Approximate says that devices may differ in the
	// last bits: constants are then not folded.
	Fold        func(t *Type, x []*Const) *Const
	Approximate bool

	// Range bounds the result for floats in the given ranges. Rounds says that the
	// result is rounded, which Range does not account for.
	Range  func(x []Interval) Interval
	Rounds bool

	// PTX is the instruction; T stands for its type. It is empty if one instruction is
	// not enough.
	PTX string
	// Go is the Go function to call, written as in Calls, or empty.
	Go string
}

func (op *IntrinsicOp) String() string { return op.Name }

// Result is the result type of an intrinsic.
type Result uint8

// Results of intrinsics.
const (
	SameType Result = iota // as the first argument
	BitCount               // an int from 0 to the width of the first argument
	SameSize               // any scalar as large as the first argument
)

// Class is a set of types.
type Class struct {
	name string // with the indefinite article a
	has  func(*Type) bool
}

// Classes of arguments.
var (
	Floats   = &Class{"float", (*Type).IsFloat}
	Float32s = &Class{"float32", func(t *Type) bool { return t.Kind == Float32 }}
	Reals    = &Class{"float of 16 bits or more", func(t *Type) bool { return t.IsFloat() || t.IsHalf() }}
	Integers = &Class{"integer", (*Type).IsInteger}
	Words    = &Class{"32- or 64-bit unsigned integer", func(t *Type) bool { return t.IsInteger() && !t.IsSigned() && t.Size() >= 4 }}
	Numbers  = &Class{"number", func(t *Type) bool { return t.IsInteger() || t.IsFloat() }}
	Bits     = &Class{"number or 16-bit float", func(t *Type) bool { return t.IsInteger() || t.IsFloat() || t.IsHalf() }}
	Pointers = &Class{"pointer", func(t *Type) bool { return t.Kind == Pointer }}
)

// Interval is a range of finite numbers.
type Interval struct{ Low, High float64 }

// Intrinsics lists all declared intrinsics.
var Intrinsics []*IntrinsicOp

func declare(op IntrinsicOp) *IntrinsicOp {
	Intrinsics = append(Intrinsics, &op)
	return &op
}

var intrinsicsByCall = sync.OnceValue(func() map[string]*IntrinsicOp {
	m := map[string]*IntrinsicOp{}
	for _, op := range Intrinsics {
		for _, call := range op.Calls {
			m[call] = op
		}
	}
	return m
})

// IntrinsicFunction returns the intrinsic for a Go function, or nil.
func IntrinsicFunction(path, name string) *IntrinsicOp {
	pkg := path[strings.LastIndexByte(path, '/')+1:]
	if path == "math/bits" {
		name = strings.TrimRight(name, "0123456789")
	}
	return intrinsicsByCall()[pkg+"."+name]
}

func (v *verifier) intrinsic(e *Intrinsic) {
	op := e.Op
	if op == nil {
		v.fail("intrinsic without an operation")
	}
	if len(e.Args) != op.Args {
		v.fail("%s with %d arguments, want %d", op, len(e.Args), op.Args)
	}
	first := e.Args[0].Type()
	if !op.Class.has(first) {
		v.fail("%s of %s, want a %s", op, first, op.Class.name)
	}
	for i, a := range e.Args[1:] {
		if op.Count {
			v.checkKind(e, a.Type().IsInteger(), "count")
			continue
		}
		if !a.Type().Equal(first) {
			v.fail("%s: argument %d has type %s, want %s", op, i+1, a.Type(), first)
		}
	}
	switch op.Result {
	case SameSize:
		v.checkKind(e, e.T.IsScalar() && e.T.Size() == first.Size(), "result")
	case BitCount:
		v.checkKind(e, e.T.Kind == Int || e.T.Kind == Int32, "result")
	default:
		v.checkKind(e, e.T.Equal(first), "result")
	}
}

func (v *verifier) checkKind(e *Intrinsic, ok bool, what string) {
	if !ok {
		v.fail("%s: wrong type of %s", e.Op, what)
	}
}

// wrapped returns the integer constant with the low bits of v.
func wrapped(t *Type, v uint64) *Const { return &Const{T: t, Bits: WrapBits(t.Kind, v)} }

// ofFloat folds a function of one float. Rounding the result of a float64 function to
// float32 is exact for all functions that use ofFloat.
func ofFloat(f func(float64) float64) func(*Type, []*Const) *Const {
	return func(t *Type, x []*Const) *Const { return FloatConst(t, f(x[0].Float)) }
}

// ofWord folds a function of an integer's bits and their number.
func ofWord(f func(word uint64, size int) uint64) func(*Type, []*Const) *Const {
	return func(t *Type, x []*Const) *Const {
		size := int(8 * x[0].T.Size())
		return wrapped(t, f(x[0].Bits&(1<<(size-1)<<1-1), size))
	}
}

// integral returns the range of values rounded to an integer.
func integral(x []Interval) Interval { return Interval{math.Floor(x[0].Low), math.Ceil(x[0].High)} }
