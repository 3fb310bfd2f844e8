package ir

import "fmt"

// UnaryOp is the operator of a Unary.
type UnaryOp uint8

// Unary operators.
const (
	Neg UnaryOp = iota
	Not
	LNot
)

// BinaryOp is the operator of a Binary.
type BinaryOp uint8

// Binary operators, with Go's semantics.
const (
	Add BinaryOp = iota
	Sub
	Mul
	Div
	Rem
	And
	Or
	Xor
	AndNot
	Shl
	Shr
	Eq
	Ne
	Lt
	Le
	Gt
	Ge
	LAnd
	LOr
)

// IsComparison reports whether the result is a bool computed from two numbers.
func (op BinaryOp) IsComparison() bool { return op >= Eq && op <= Ge }

// IsShift reports whether the operator is a shift.
func (op BinaryOp) IsShift() bool { return op == Shl || op == Shr }

// IsLogical reports whether the operator is && or ||.
func (op BinaryOp) IsLogical() bool { return op == LAnd || op == LOr }

var unaryNames = [...]string{Neg: "-", Not: "^", LNot: "!"}

var binaryNames = [...]string{Add: "+", Sub: "-", Mul: "*", Div: "/", Rem: "%", And: "&", Or: "|", Xor: "^",
	AndNot: "&^", Shl: "<<", Shr: ">>", Eq: "==", Ne: "!=", Lt: "<", Le: "<=", Gt: ">", Ge: ">=", LAnd: "&&", LOr: "||"}

func (op UnaryOp) String() string  { return name(unaryNames[:], int(op)) }
func (op BinaryOp) String() string { return name(binaryNames[:], int(op)) }

// name returns the name of an operation from a table of names.
func name(names []string, i int) string {
	if i < len(names) && names[i] != "" {
		return names[i]
	}
	return fmt.Sprintf("op%d", i)
}

// find returns the first of n operations for which is holds.
func find[Op ~uint8](n Op, is func(Op) bool) (op Op, ok bool) {
	for op := range n {
		if is(op) {
			return op, true
		}
	}
	return 0, false
}
