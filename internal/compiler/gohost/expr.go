package gohost

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"quern.dev/internal/compiler/ir"
)

// Precedences of printed expressions, Go's for binary operators.
const (
	precOr = iota + 1
	precAnd
	precCompare
	precAdd
	precMul
	precUnary
	precPrimary
)

var operators = [...]struct {
	text string
	prec int
}{
	ir.Add: {"+", precAdd}, ir.Sub: {"-", precAdd}, ir.Or: {"|", precAdd}, ir.Xor: {"^", precAdd},
	ir.Mul: {"*", precMul}, ir.Div: {"/", precMul}, ir.Rem: {"%", precMul}, ir.And: {"&", precMul},
	ir.AndNot: {"&^", precMul}, ir.Shl: {"<<", precMul}, ir.Shr: {">>", precMul},
	ir.Eq: {"==", precCompare}, ir.Ne: {"!=", precCompare}, ir.Lt: {"<", precCompare},
	ir.Le: {"<=", precCompare}, ir.Gt: {">", precCompare}, ir.Ge: {">=", precCompare},
	ir.LAnd: {"&&", precAnd}, ir.LOr: {"||", precOr},
}

var threadNames = [...]string{
	ir.ThreadIdxX: "threadX", ir.ThreadIdxY: "threadY", ir.ThreadIdxZ: "threadZ",
	ir.BlockIdxX: "blockX", ir.BlockIdxY: "blockY", ir.BlockIdxZ: "blockZ",
	ir.BlockDimX: "dimX", ir.BlockDimY: "dimY", ir.BlockDimZ: "dimZ",
	ir.GridDimX: "gridX", ir.GridDimY: "gridY", ir.GridDimZ: "gridZ",
}

// goType returns the Go type of an expression's printed form. It differs from the
// node's type only in name: a constant takes the type of the other operand.
func goType(x ir.Expr) *ir.Type {
	switch x := x.(type) {
	case *ir.Unary:
		return goType(x.X)
	case *ir.Binary:
		switch {
		case x.Op.IsComparison(), x.Op.IsLogical():
			return ir.TBool
		case !x.Op.IsShift() && isConst(x.X) && !isConst(x.Y):
			return goType(x.Y)
		}
		return goType(x.X)
	case *ir.Select:
		return goType(x.X)
	}
	return x.Type()
}

func isConst(x ir.Expr) bool {
	switch x := x.(type) {
	case *ir.Const:
		return true
	case *ir.Zero:
		return x.T.IsScalar() && x.T.Kind != ir.Pointer
	}
	return false
}

// constant returns the constant value of an expression.
func constant(x ir.Expr) (*ir.Const, bool) {
	switch x := x.(type) {
	case *ir.Const:
		return x, true
	case *ir.Zero:
		if isConst(x) {
			return &ir.Const{T: x.T}, true
		}
	}
	return nil, false
}

// value prints an expression where a value of type t is expected: constants are bare,
// and a conversion is added if the type's name differs. The result binds at least as
// tightly as prec.
func (e *emitter) value(x ir.Expr, t *ir.Type, prec int) string {
	if c, ok := constant(x); ok {
		return e.literal(c)
	}
	if !assignable(goType(x), t) && !isTruth(x, t) {
		return e.conversion(t, e.expr(x, precOr))
	}
	return e.expr(x, prec)
}

// isTruth reports whether x is an untyped bool in Go.
func isTruth(x ir.Expr, t *ir.Type) bool {
	b, ok := x.(*ir.Binary)
	return ok && b.Op.IsComparison() && t.Kind == ir.Bool
}

// expr prints an expression with its own type. The result binds at least as tightly as
// prec.
func (e *emitter) expr(x ir.Expr, prec int) string {
	if name := e.hoist(x); name != "" {
		return name
	}
	s, p := e.tree(x)
	if p < prec {
		return "(" + s + ")"
	}
	return s
}

func (e *emitter) tree(x ir.Expr) (string, int) {
	if c, ok := constant(x); ok {
		s := e.literal(c)
		if c.T.IsHalf() {
			return s, precPrimary
		}
		if c.T.Name == "" && (c.T.Kind == ir.Int || c.T.Kind == ir.Bool) {
			if strings.HasPrefix(s, "-") {
				return s, precUnary
			}
			return s, precPrimary
		}
		return e.conversion(c.T, s), precPrimary
	}
	switch x := x.(type) {
	case *ir.Zero:
		return e.zero(x.T), precPrimary
	case *ir.Load:
		if s := e.fixedValue(x.Place); s != "" {
			return s, precPrimary
		}
		s := e.place(x.Place)
		if strings.HasPrefix(s, "*") {
			return s, precUnary
		}
		return s, precPrimary
	case *ir.Unary:
		return e.unary(x), precUnary
	case *ir.Binary:
		return e.binary(x)
	case *ir.Convert:
		return e.convert(x), precPrimary
	case *ir.Len:
		return "len(" + e.expr(x.X, precOr) + ")", precPrimary
	case *ir.Cap:
		return "cap(" + e.expr(x.X, precOr) + ")", precPrimary
	case *ir.SliceExpr:
		return e.slice(x), precPrimary
	case *ir.Addr:
		return e.addr(x)
	case *ir.ThreadValue:
		return e.threadValue(x.Op)
	case *ir.Intrinsic:
		return e.intrinsic(x)
	case *ir.Composite:
		return e.composite(x), precPrimary
	case *ir.Select:
		t := goType(x)
		return fmt.Sprintf("func() %s { if %s { return %s }; return %s }()", e.typ(t),
			e.value(x.Cond, ir.TBool, precOr), e.value(x.X, t, precOr), e.value(x.Y, t, precOr)), precPrimary
	}
	e.failf("unknown expression %T", x)
	return "0", precPrimary
}

// literal prints a constant without its type.
func (e *emitter) literal(c *ir.Const) string {
	switch {
	case c.T.IsHalf():
		return e.halfLiteral(c)
	case c.T.Kind == ir.Bool:
		return strconv.FormatBool(c.Bits != 0)
	case c.T.IsSigned():
		return strconv.FormatInt(c.Int64(), 10)
	case c.T.IsInteger():
		return strconv.FormatUint(c.Bits, 10)
	}
	bits := 64
	if c.T.Kind == ir.Float32 {
		bits = 32
	}
	if v := c.Float; v-v == 0 && !(v == 0 && math.Signbit(v)) {
		return strconv.FormatFloat(v, 'g', -1, bits)
	}
	// Go has no constants for infinities, NaN and -0.
	name := e.member("math", fmt.Sprintf("Float%dfrombits", bits))
	pattern := math.Float64bits(c.Float)
	if bits == 32 {
		pattern = uint64(math.Float32bits(float32(c.Float)))
	}
	s := fmt.Sprintf("%s(%#x)", name, pattern)
	if c.T.Name != "" {
		return e.conversion(c.T, s)
	}
	return s
}

// opaque prints an operand so that Go does not treat it as a constant: constant
// arithmetic rejects overflow and operations that would panic.
func (e *emitter) opaque(x ir.Expr, prec int) string {
	c, ok := constant(x)
	if !ok {
		return e.expr(x, prec)
	}
	return e.root.value("c", e.typ(c.T), e.conversion(c.T, e.literal(c)))
}

func (e *emitter) zero(t *ir.Type) string {
	if t.IsComplex() {
		return e.conversion(t, "0")
	}
	switch t.Kind {
	case ir.Array, ir.Struct:
		return e.typ(t) + "{}"
	}
	s := e.typ(t)
	if t.Name == "" {
		s = "(" + s + ")"
	}
	return s + "(nil)"
}

// negation prints the negation of a condition.
func (e *emitter) negation(cond ir.Expr) string {
	if x, ok := cond.(*ir.Unary); ok && x.Op == ir.LNot {
		return e.value(x.X, ir.TBool, precOr)
	}
	return "!" + e.value(cond, ir.TBool, precUnary)
}

func (e *emitter) unary(x *ir.Unary) string {
	op := [...]string{ir.Neg: "-", ir.Not: "^", ir.LNot: "!"}[x.Op]
	if x.Op == ir.LNot {
		if twice, ok := x.X.(*ir.Unary); ok && twice.Op == ir.LNot {
			return e.expr(twice.X, precUnary)
		}
		return op + e.expr(x.X, precUnary)
	}
	s := e.opaque(x.X, precUnary)
	if strings.HasPrefix(s, op) {
		s = "(" + s + ")"
	}
	return op + s
}

func (e *emitter) binary(x *ir.Binary) (string, int) {
	x = e.regroup(x)
	op := operators[x.Op]
	if x.Op.IsLogical() {
		if s := e.ofRow(x); s != "" {
			return s, op.prec
		}
		return e.logical(x), op.prec
	}
	if x.Op.IsShift() {
		return e.shift(x)
	}
	if f := quotient(x); f != "" {
		return fmt.Sprintf("%s(%s, %s)", e.member(hostPath, f), e.value(x.X, ir.TInt, precOr), e.value(x.Y, ir.TInt, precOr)), precPrimary
	}
	t := goType(x.X)
	if isConst(x.X) {
		t = goType(x.Y)
	}
	left, right := "", ""
	switch {
	case isConst(x.X) && isConst(x.Y) && !x.Op.IsComparison():
		left = e.opaque(x.X, op.prec)
		t = x.X.Type()
	case isConst(x.X) && isConst(x.Y):
		left = e.expr(x.X, op.prec)
	default:
		left = e.value(x.X, t, op.prec)
	}
	if c, ok := constant(x.Y); ok && mayFaultBinary(x) && c.Bits == 0 {
		right = e.opaque(x.Y, op.prec+1)
	} else {
		right = e.value(x.Y, t, op.prec+1)
	}
	if t.IsFloat() && x.Strict && (x.Op == ir.Add || x.Op == ir.Sub) {
		left, right = e.rounded(x.X, t, left), e.rounded(x.Y, t, right)
	}
	s := left + " " + op.text + " " + right
	if t.IsFloat() && x.Strict && x.Op == ir.Mul {
		return e.conversion(t, s), precPrimary
	}
	return s, op.prec
}

// logical prints a chain of && or ||. It leaves out what was evaluated before, which go vet
// would report.
func (e *emitter) logical(x *ir.Binary) string {
	op := operators[x.Op]
	var parts []string
	var add func(y ir.Expr)
	add = func(y ir.Expr) {
		s := ""
		if b, ok := y.(*ir.Binary); ok && b.Op == x.Op && assignable(goType(b), ir.TBool) {
			if s = e.ofRow(b); s == "" {
				add(b.X)
				add(b.Y)
				return
			}
		} else {
			s = e.value(y, ir.TBool, op.prec+1)
		}
		if !slices.Contains(parts, s) {
			parts = append(parts, s)
		}
	}
	add(x.X)
	add(x.Y)
	return strings.Join(parts, " "+op.text+" ")
}

// quotient returns the function of package host that divides integers whose divisor is
// not a constant, or "".
func quotient(x *ir.Binary) string {
	if isConst(x.Y) || !identical(x.X.Type(), ir.TInt) || !identical(x.Y.Type(), ir.TInt) {
		return ""
	}
	switch x.Op {
	case ir.Div:
		return "Div"
	case ir.Rem:
		return "Rem"
	}
	return ""
}

// rounded prevents an operand of a strict sum from being fused with it.
func (e *emitter) rounded(x ir.Expr, t *ir.Type, s string) string {
	if m, ok := x.(*ir.Binary); ok && m.Op == ir.Mul && !m.Strict {
		return e.conversion(t, s)
	}
	return s
}

func (e *emitter) shift(x *ir.Binary) (string, int) {
	op := operators[x.Op]
	left := ""
	if isConst(x.X) {
		left = e.opaque(x.X, op.prec)
	} else {
		left = e.expr(x.X, op.prec)
	}
	if _, err := strconv.Atoi(left); err == nil { // a size of the block: without a type it would take that of a conversion around it
		left = e.conversion(ir.TInt, left)
	}
	right := ""
	if c, ok := constant(x.Y); ok && !mayFaultBinary(x) {
		right = e.literal(c)
	} else {
		right = e.opaque(x.Y, op.prec+1)
	}
	return left + " " + op.text + " " + right, op.prec
}

func (e *emitter) slice(x *ir.SliceExpr) string {
	base := ""
	if x.X != nil {
		base = e.expr(x.X, precPrimary)
	} else {
		base = e.base(x.Array)
	}
	lo, hi := e.bound(x.Lo), e.bound(x.Hi)
	s := base + "[" + lo + ":" + hi
	if x.Max != nil {
		s += ":" + e.bound(x.Max)
	}
	s += "]"
	var t *ir.Type
	if x.X != nil {
		t = goType(x.X)
	} else {
		t = ir.SliceOf(x.Array.Type().Elem)
	}
	if !assignable(t, x.T) {
		return e.conversion(x.T, s)
	}
	return s
}

// bound prints a bound of a slice expression. Constants that the front end produced are
// small; others might be rejected by Go instead of panicking.
func (e *emitter) bound(x ir.Expr) string {
	if x == nil {
		return ""
	}
	if c, ok := constant(x); ok && c.Bits == 0 {
		return "0"
	}
	return e.opaque(x, precOr)
}

func (e *emitter) addr(x *ir.Addr) (string, int) {
	s, prec := e.address(x.Place)
	if !assignable(ir.PointerTo(x.Place.Type()), x.T) {
		return e.conversion(x.T, s), precPrimary
	}
	return s, prec
}

// address prints a pointer to a place.
func (e *emitter) address(p ir.Place) (string, int) {
	switch p := p.(type) {
	case *ir.DerefPlace:
		return e.expr(p.Ptr, precUnary), precUnary
	case *ir.SharedPlace:
		return e.shared(p.Var), precPrimary
	case *ir.VarPlace:
		if s := e.variable(p.Var); strings.HasPrefix(s, "*") {
			return s[1:], precPrimary
		}
	case *ir.ArrayPlace:
		return strings.TrimPrefix(e.place(p), "*"), precPrimary
	}
	return "&" + e.place(p), precUnary
}

func (e *emitter) threadValue(op ir.ThreadOp) (string, int) {
	if e.warp != nil && op == ir.WarpID {
		return e.outer(e.warp.first, "int") + ">>5", precMul
	}
	switch op {
	case ir.LaneID:
		if e.wholeWarps() {
			return e.warp.lane, precPrimary
		}
		return e.linear() + "&31", precMul
	case ir.WarpID:
		return e.linear() + ">>5", precMul
	}
	return e.coordinate(op), precPrimary
}

// linear returns the thread's number in its block, with X running fastest.
func (e *emitter) linear() string {
	switch {
	case e.warp != nil:
		return "(" + e.outer(e.warp.at, "int") + " + " + e.warp.lane + ")"
	case e.isOneRow() && e.current > perBlock:
		return e.coordinate(ir.ThreadIdxX)
	}
	return "(" + e.coordinate(ir.ThreadIdxX) + " + " + e.firstOfRow() + ")"
}

func (e *emitter) composite(x *ir.Composite) string {
	if x.T.IsComplex() {
		return e.complexComposite(x)
	}
	elems := make([]string, 0, len(x.Elems))
	for i, v := range x.Elems {
		if v == nil {
			continue
		}
		if x.T.Kind == ir.Array {
			s := e.value(v, x.T.Elem, precOr)
			if i != len(elems) { // a gap before it
				s = strconv.Itoa(i) + ": " + s
			}
			elems = append(elems, s)
			continue
		}
		f := x.T.Fields[i]
		if f.Name != "_" {
			e.field(x.T, i)
			elems = append(elems, f.Name+": "+e.value(v, f.Type, precOr))
		}
	}
	return e.typ(x.T) + "{" + strings.Join(elems, ", ") + "}"
}
