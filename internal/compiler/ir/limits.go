package ir

import (
	"fmt"
	"strconv"

	"quern.dev/internal/limits"
)

// Limits is a conjunction of conditions Expr <= Max on launch arguments.
type Limits []Limit

// Limit is the condition X <= Max.
type Limit struct {
	X   *Sym
	Max int64
}

// Sym is an integer expression over launch arguments. Its value is mathematical: if it
// does not fit 64 bits, a condition on it fails.
type Sym struct {
	Op    SymOp
	Value int64 // SymConst: the constant; SymArg: index of the kernel parameter, or the next index for the bytes of dynamic shared memory; SymDim: 0..2 Grid
	X, Y  *Sym  // operands of the others
}

// SymOp is the operation of a Sym.
type SymOp uint8

// Operations of symbolic expressions. SymArg is the value of an integer parameter or
// the length of a slice parameter.
const (
	SymConst SymOp = iota
	SymArg
	SymDim
	SymAdd
	SymSub
	SymMul
	SymMin
	SymMax
	SymDiv // truncated; 0 when the divisor is 0

	SymAddress // Value: index of a slice parameter; the slice's address modulo VectorBytes
)

// String formats a symbolic expression; p3 is the value or length of parameter 3.
func (s *Sym) String() string {
	switch s.Op {
	case SymConst:
		return strconv.FormatInt(s.Value, 10)
	case SymArg:
		return fmt.Sprintf("p%d", s.Value)
	case SymDim:
		return [...]string{"GridDim.X", "GridDim.Y", "GridDim.Z", "BlockDim.X", "BlockDim.Y", "BlockDim.Z"}[s.Value]
	case SymAddress:
		return fmt.Sprintf("&p%d%%%d", s.Value, VectorBytes)
	case SymMin:
		return fmt.Sprintf("min(%s, %s)", s.X, s.Y)
	case SymMax:
		return fmt.Sprintf("max(%s, %s)", s.X, s.Y)
	}
	op := map[SymOp]string{SymAdd: "+", SymSub: "-", SymMul: "*", SymDiv: "/"}[s.Op]
	return fmt.Sprintf("(%s %s %s)", s.X, op, s.Y)
}

// Encode converts the conditions to the form that a launcher evaluates.
func (list Limits) Encode() limits.Program {
	var p limits.Program
	for _, l := range list {
		p = append(l.X.encode(p), limits.AtMost, l.Max)
	}
	return p
}

// limitCodes are the operations of a limits.Program by SymOp.
var limitCodes = [...]int64{
	SymConst: limits.Const, SymArg: limits.Arg, SymDim: limits.Dim, SymAdd: limits.Add, SymSub: limits.Sub,
	SymAddress: limits.Address, SymMul: limits.Mul, SymMin: limits.Min, SymMax: limits.Max, SymDiv: limits.Div,
}

func (s *Sym) encode(p limits.Program) limits.Program {
	if s.Op <= SymDim || s.Op == SymAddress {
		return append(p, limitCodes[s.Op], s.Value)
	}
	return append(s.Y.encode(s.X.encode(p)), limitCodes[s.Op])
}
