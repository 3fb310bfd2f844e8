package ir

// expr checks an expression and all below it.
func (v *verifier) expr(e Expr) {
	if e == nil {
		v.fail("nil expression")
	}
	v.once(e)
	e.parts(v)
	switch e := e.(type) {
	case *Const:
		v.constant(e)
	case *Zero:
		if v.stage >= StageFinal && e.T.IsAggregate() {
			v.fail("zero of type %s", e.T)
		}
	case *Load:
		if v.stage >= StageFinal && e.Place.Type().IsAggregate() {
			v.fail("load of type %s", e.Place.Type())
		}
	case *Unary:
		v.unary(e)
	case *Binary:
		v.binary(e)
	case *Convert:
		v.convert(e)
	case *Len:
		v.sliceOperand(e.X)
	case *Cap:
		v.sliceOperand(e.X)
	case *SliceExpr:
		v.sliceExpr(e)
	case *Addr:
		if e.T.Kind != Pointer || !e.T.Elem.Equal(e.Place.Type()) {
			v.fail("address of %s has type %s", e.Place.Type(), e.T)
		}
	case *ThreadValue:
		if e.Op > WarpID {
			v.fail("unknown thread value %d", e.Op)
		}
	case *Intrinsic:
		v.intrinsic(e)
	case *Composite:
		v.composite(e)
	case *Select:
		v.cond(e.Cond)
		v.typed(e.Y, e.X.Type(), "second value of select")
	default:
		v.fail("unknown expression %T", e)
	}
}

func (v *verifier) constant(e *Const) {
	switch {
	case e.T.IsFloat():
		if c := FloatConst(e.T, e.Float); c.Float != e.Float && e.Float == e.Float {
			v.fail("constant %v is not a %s", e.Float, e.T)
		}
	case e.T.IsInteger() || e.T.IsHalf() || e.T.Kind == Bool:
		if WrapBits(e.T.Kind, e.Bits) != e.Bits {
			v.fail("constant %#x is not extended as a %s", e.Bits, e.T)
		}
	default:
		v.fail("constant of type %s", e.T)
	}
}

func (v *verifier) unary(e *Unary) {
	t := e.X.Type()
	ok := false
	switch e.Op {
	case Neg:
		ok = t.IsInteger() || t.IsFloat()
	case Not:
		ok = t.IsInteger()
	case LNot:
		ok = t.Kind == Bool
	}
	if !ok {
		v.fail("operator %s on %s", e.Op, t)
	}
}

func (v *verifier) binary(e *Binary) {
	x, y := e.X.Type(), e.Y.Type()
	number := x.IsInteger() || x.IsFloat()
	ok := false
	switch e.Op {
	case Add, Sub, Mul, Div:
		ok = number && x.Equal(y)
	case Rem, And, Or, Xor, AndNot:
		ok = x.IsInteger() && x.Equal(y)
	case Shl, Shr:
		ok = x.IsInteger() && y.IsInteger()
	case Eq, Ne:
		ok = x.Equal(y) && (x.IsScalar() || x.Kind == Slice)
	case Lt, Le, Gt, Ge:
		ok = number && x.Equal(y) || x.Kind == Pointer && y.Kind == Pointer
	case LAnd, LOr:
		ok = x.Kind == Bool && y.Kind == Bool
	}
	if !ok {
		v.fail("operator %s on %s and %s", e.Op, x, y)
	}
	if e.Check && e.Op != Div && e.Op != Rem && !e.Op.IsShift() {
		v.fail("operator %s has a check", e.Op)
	}
}

func (v *verifier) convert(e *Convert) {
	x := e.X.Type()
	if v.stage >= StageFinal && e.T.IsAggregate() {
		v.fail("conversion to type %s", e.T)
	}
	number := func(t *Type) bool { return t.IsInteger() || t.IsFloat() }
	if number(x) && number(e.T) || x.Equal(e.T) || x.IsHalf() && e.T.IsFloat() || x.IsFloat() && e.T.IsHalf() {
		return
	}
	v.fail("conversion of %s to %s", x, e.T)
}

func (v *verifier) sliceOperand(e Expr) {
	if e.Type().Kind != Slice {
		v.fail("length or capacity of %s", e.Type())
	}
}

func (v *verifier) sliceExpr(e *SliceExpr) {
	if (e.X == nil) == (e.Array == nil) {
		v.fail("slice expression needs a slice or an array")
	}
	var elem *Type
	if e.X != nil {
		v.sliceOperand(e.X)
		elem = e.X.Type().Elem
	} else {
		if e.Array.Type().Kind != Array {
			v.fail("slice of %s", e.Array.Type())
		}
		elem = e.Array.Type().Elem
	}
	if e.T.Kind != Slice || !e.T.Elem.Equal(elem) {
		v.fail("slice of %s has type %s", elem, e.T)
	}
	for _, b := range [...]Expr{e.Lo, e.Hi, e.Max} {
		if b != nil {
			v.integer(b, "slice bound")
		}
	}
}

func (v *verifier) composite(e *Composite) {
	if v.stage >= StageFinal {
		v.fail("composite of type %s", e.T)
	}
	n := int64(len(e.T.Fields))
	if e.T.Kind == Array {
		n = e.T.Len
	}
	if !e.T.IsAggregate() || int64(len(e.Elems)) != n {
		v.fail("composite of type %s with %d elements", e.T, len(e.Elems))
	}
	for i, x := range e.Elems {
		if x == nil {
			continue
		}
		t := e.T.Elem
		if e.T.Kind == Struct {
			t = e.T.Fields[i].Type
		}
		v.typed(x, t, "element")
	}
}
