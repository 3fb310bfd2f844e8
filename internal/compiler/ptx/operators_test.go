package ptx

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"quern.dev/internal/compiler/ir"
	"quern.dev/internal/compiler/ir/irtest"
)

// operands returns n values of type t, edge cases first.
func operands(t *ir.Type, n int, random *rand.Rand) []irtest.Value {
	var edges []irtest.Value
	if t.IsFloat() {
		for _, v := range []float64{0, math.Copysign(0, -1), 1, -1, 0.5, -0.5, 1.5, 2.5, -2.5, math.Inf(1), math.Inf(-1), math.NaN(),
			math.MaxFloat32, math.SmallestNonzeroFloat32, 1e-310, 1e300, 16777217, 1e18, -3.7, 8388609.5} {
			if t.Kind == ir.Float32 {
				v = float64(float32(v))
			}
			edges = append(edges, floatValue(v))
		}
	} else {
		for _, v := range []int64{0, 1, -1, 2, 3, 7, 8, 15, 16, 31, 32, 33, 63, 64, 127, 128, 255, 256, -128, -129, 32767, 32768, -32768,
			math.MaxInt32, math.MinInt32, math.MaxUint32, math.MaxInt64, math.MinInt64} {
			edges = append(edges, irtest.Value{Bits: ir.WrapBits(t.Kind, uint64(v))})
		}
	}
	out := make([]irtest.Value, n)
	for i := range out {
		switch {
		case i < len(edges):
			out[i] = edges[i]
		case random.IntN(3) == 0:
			out[i] = edges[random.IntN(len(edges))]
		case t.Kind == ir.Float32:
			out[i] = floatValue(float64(float32(random.NormFloat64() * math.Exp2(float64(random.IntN(40)-20)))))
		case t.Kind == ir.Float64:
			out[i] = floatValue(random.NormFloat64() * math.Exp2(float64(random.IntN(60)-30)))
		default:
			out[i] = irtest.Value{Bits: ir.WrapBits(t.Kind, random.Uint64()>>random.IntN(64))}
		}
	}
	return out
}

// operatorCase is an expression of two operands of one type. Each result is stored to a
// separate element of the slice for its type.
type operatorCase struct {
	name string
	expr func(x, y ir.Expr) ir.Expr
}

// sameOperators evaluates the cases for random operands.
func sameOperators(t *testing.T, typ *ir.Type, cases []operatorCase) {
	t.Helper()
	const threads = 128
	x, y := irtest.Local("x", ir.SliceOf(typ)), irtest.Local("y", ir.SliceOf(typ))
	i, v, w := irtest.Local("i", ir.TInt), irtest.Local("v", typ), irtest.Local("w", typ)
	params, locals := []*ir.Local{x, y}, []*ir.Local{i, v, w}
	random := rand.New(rand.NewPCG(1, uint64(typ.Kind)))
	xs, ys := operands(typ, threads, random), operands(typ, threads, random)
	random.Shuffle(threads, func(i, j int) { ys[i], ys[j] = ys[j], ys[i] })
	args := []irtest.Value{values(xs), values(ys)}

	outs := map[ir.Kind]*ir.Local{}
	body := []ir.Stmt{
		irtest.Set(i, irtest.Thread(ir.ThreadIdxX)),
		irtest.Set(v, irtest.Load(irtest.Elem(x, ir.Get(i)))),
		irtest.Set(w, irtest.Load(irtest.Elem(y, ir.Get(i)))),
	}
	for n, c := range cases {
		e := c.expr(ir.Get(v), ir.Get(w))
		out := outs[e.Type().Kind]
		if out == nil {
			out = irtest.Local("out_"+e.Type().String(), ir.SliceOf(e.Type()))
			outs[e.Type().Kind] = out
			params = append(params, out)
			args = append(args, irtest.SliceValue(e.Type(), threads*len(cases)))
		}
		body = append(body, irtest.SetPlace(irtest.Elem(out, irtest.Add(ir.Get(i), irtest.Int(int64(n*threads)))), e))
		if e.Type().Equal(typ) { // also assigned to a variable that the expression reads
			r := irtest.Local(fmt.Sprintf("r%d", n), typ)
			locals = append(locals, r)
			body = append(body, irtest.Set(r, ir.Get(v)), irtest.Set(r, c.expr(ir.Get(r), ir.Get(w))),
				irtest.SetPlace(irtest.Elem(out, irtest.Add(ir.Get(i), irtest.Int(int64(n*threads)))), ir.Get(r)))
		}
	}
	k := irtest.Kernel("operators", params, locals, body...)
	m := emit(t, k)
	d := newDevice(t, k, args)
	if r := d.launch(m, threads); r.failed {
		t.Fatalf("fault %v", m.Sites[r.site])
	}
	for i := range threads {
		if err := irtest.Run(k, irtest.Coordinates{ir.ThreadIdxX: int64(i)}, args...); err != nil {
			t.Fatal(err)
		}
	}
	for p := 2; p < len(params); p++ {
		elem := params[p].Type.Elem
		array := ir.ArrayOf(int64(args[p].Len), elem)
		got := decode(nil, array, d.read(d.buffers[p], int(array.Size())))
		for n, c := range cases {
			for i := range threads {
				want, have := args[p].Object.Cells[n*threads+i], got[n*threads+i]
				if elem.IsFloat() {
					want = floatValue(math.Float64frombits(want.Bits))
				}
				if want.Bits != have.Bits {
					t.Errorf("%s of %s (%#x, %#x) = %#x, want %#x", c.name, typ, xs[i].Bits, ys[i].Bits, have.Bits, want.Bits)
					break
				}
			}
		}
	}
}

var integerTypes = []*ir.Type{ir.TInt8, ir.TInt16, ir.TInt32, ir.TInt64, ir.TInt, ir.TUint8, ir.TUint16, ir.TUint32, ir.TUint64, ir.TUint}

func operator(name string, op ir.BinaryOp) operatorCase {
	return operatorCase{name, func(x, y ir.Expr) ir.Expr { return irtest.Op(x, op, y) }}
}

var comparisons = []operatorCase{
	operator("==", ir.Eq), operator("!=", ir.Ne), operator("<", ir.Lt), operator("<=", ir.Le), operator(">", ir.Gt), operator(">=", ir.Ge),
	{"!(<)", func(x, y ir.Expr) ir.Expr { return &ir.Unary{Op: ir.LNot, X: irtest.Op(x, ir.Lt, y)} }},
	{"< == >", func(x, y ir.Expr) ir.Expr {
		return irtest.Op(irtest.Lt(x, y), ir.Eq, irtest.Op(ir.CloneExpr(x), ir.Gt, ir.CloneExpr(y)))
	}},
	{"< != >=", func(x, y ir.Expr) ir.Expr {
		return irtest.Op(irtest.Lt(x, y), ir.Ne, &ir.Unary{Op: ir.LNot, X: irtest.Op(ir.CloneExpr(x), ir.Ge, ir.CloneExpr(y))})
	}},
	{"< && ==", func(x, y ir.Expr) ir.Expr {
		return irtest.Op(irtest.Lt(x, y), ir.LAnd, irtest.Op(ir.CloneExpr(x), ir.Eq, ir.CloneExpr(y)))
	}},
	{"< || ==", func(x, y ir.Expr) ir.Expr {
		return irtest.Op(irtest.Lt(x, y), ir.LOr, irtest.Op(ir.CloneExpr(x), ir.Eq, ir.CloneExpr(y)))
	}},
	{"select of bools", func(x, y ir.Expr) ir.Expr {
		return &ir.Select{Cond: irtest.Lt(x, y), X: irtest.Bool(true), Y: irtest.Op(ir.CloneExpr(x), ir.Ne, ir.CloneExpr(y))}
	}},
}

func intrinsic(name string, op *ir.IntrinsicOp, arity int, result func(*ir.Type) *ir.Type) operatorCase {
	return operatorCase{name, func(x, y ir.Expr) ir.Expr {
		t := x.Type()
		if result != nil {
			t = result(t)
		}
		return &ir.Intrinsic{Op: op, T: t, Args: []ir.Expr{x, y}[:arity]}
	}}
}

func toInt(*ir.Type) *ir.Type { return ir.TInt }

func TestIntegerOperatorsAreGos(t *testing.T) {
	for _, typ := range integerTypes {
		t.Run(typ.String(), func(t *testing.T) {
			constant := func(v int64) ir.Expr { return ir.IntConst(typ, v) }
			odd := func(y ir.Expr) ir.Expr { return irtest.Op(y, ir.Or, constant(1)) }
			to := irtest.To
			cases := append([]operatorCase{
				operator("+", ir.Add), operator("-", ir.Sub), operator("*", ir.Mul),
				operator("&", ir.And), operator("|", ir.Or), operator("^", ir.Xor), operator("&^", ir.AndNot),
				{"/", func(x, y ir.Expr) ir.Expr { return irtest.Op(x, ir.Div, odd(y)) }},
				{"%", func(x, y ir.Expr) ir.Expr { return irtest.Op(x, ir.Rem, odd(y)) }},
				{"/ 7", func(x, y ir.Expr) ir.Expr { return irtest.Op(x, ir.Div, constant(7)) }},
				{"% 7", func(x, y ir.Expr) ir.Expr { return irtest.Op(x, ir.Rem, constant(7)) }},
				{"/ constant -1 or its bits", func(x, y ir.Expr) ir.Expr { return irtest.Op(x, ir.Div, constant(-1)) }},
				{"% constant -1 or its bits", func(x, y ir.Expr) ir.Expr { return irtest.Op(x, ir.Rem, constant(-1)) }},
				{"100 / y", func(x, y ir.Expr) ir.Expr { return irtest.Op(constant(100), ir.Div, odd(y)) }},
				{"&^ constant", func(x, y ir.Expr) ir.Expr { return irtest.Op(x, ir.AndNot, constant(0x55)) }},
				{"+ -3", func(x, y ir.Expr) ir.Expr { return irtest.Add(x, constant(-3)) }},
				{"5 - y", func(x, y ir.Expr) ir.Expr { return irtest.Sub(constant(5), y) }},
				{"x*y + 11", func(x, y ir.Expr) ir.Expr { return irtest.Add(irtest.Mul(x, y), constant(11)) }},
				{"y + x*x", func(x, y ir.Expr) ir.Expr { return irtest.Add(y, irtest.Mul(x, ir.CloneExpr(x))) }},
				{"<< uint8", func(x, y ir.Expr) ir.Expr { return irtest.Op(x, ir.Shl, to(ir.TUint8, y)) }},
				{">> uint8", func(x, y ir.Expr) ir.Expr { return irtest.Op(x, ir.Shr, to(ir.TUint8, y)) }},
				{"<< uint64", func(x, y ir.Expr) ir.Expr { return irtest.Op(x, ir.Shl, to(ir.TUint64, y)) }},
				{">> uint64", func(x, y ir.Expr) ir.Expr { return irtest.Op(x, ir.Shr, to(ir.TUint64, y)) }},
				{"<< int", func(x, y ir.Expr) ir.Expr {
					return irtest.Op(x, ir.Shl, irtest.Op(to(ir.TInt, y), ir.And, irtest.Int(127)))
				}},
				{">> int32", func(x, y ir.Expr) ir.Expr {
					return irtest.Op(x, ir.Shr, irtest.Op(to(ir.TInt32, y), ir.And, ir.IntConst(ir.TInt32, 127)))
				}},
				{"<< 3", func(x, y ir.Expr) ir.Expr { return irtest.Op(x, ir.Shl, irtest.Int(3)) }},
				{">> 3", func(x, y ir.Expr) ir.Expr { return irtest.Op(x, ir.Shr, irtest.Int(3)) }},
				{"<< 70", func(x, y ir.Expr) ir.Expr { return irtest.Op(x, ir.Shl, irtest.Int(70)) }},
				{">> 70", func(x, y ir.Expr) ir.Expr { return irtest.Op(x, ir.Shr, irtest.Int(70)) }},
				{"1 << y", func(x, y ir.Expr) ir.Expr { return irtest.Op(constant(1), ir.Shl, to(ir.TUint16, y)) }},
				{"-x", func(x, y ir.Expr) ir.Expr { return &ir.Unary{Op: ir.Neg, X: x} }},
				{"^x", func(x, y ir.Expr) ir.Expr { return &ir.Unary{Op: ir.Not, X: x} }},
				{"select", func(x, y ir.Expr) ir.Expr {
					return &ir.Select{Cond: irtest.Lt(ir.CloneExpr(x), ir.CloneExpr(y)), X: x, Y: y}
				}},
				{"select of constants by a negation", func(x, y ir.Expr) ir.Expr {
					return &ir.Select{Cond: &ir.Unary{Op: ir.LNot, X: irtest.Lt(x, y)}, X: constant(3), Y: constant(-4)}
				}},
				intrinsic("min", ir.Min, 2, nil), intrinsic("max", ir.Max, 2, nil),
				intrinsic("leading zeros", ir.LeadingZeros, 1, toInt),
				intrinsic("trailing zeros", ir.TrailingZeros, 1, toInt),
				intrinsic("ones count", ir.OnesCount, 1, toInt),
				intrinsic("reverse bits", ir.ReverseBits, 1, nil),
				intrinsic("reverse bytes", ir.ReverseBytes, 1, nil),
				{"rotate left", func(x, y ir.Expr) ir.Expr {
					return &ir.Intrinsic{Op: ir.RotateLeft, T: typ, Args: []ir.Expr{x, to(ir.TInt, y)}}
				}},
				{"rotate left by -5", func(x, y ir.Expr) ir.Expr {
					return &ir.Intrinsic{Op: ir.RotateLeft, T: typ, Args: []ir.Expr{x, irtest.Int(-5)}}
				}},
				{"int32 of leading zeros", func(x, y ir.Expr) ir.Expr {
					return to(ir.TInt32, &ir.Intrinsic{Op: ir.LeadingZeros, T: ir.TInt, Args: []ir.Expr{x}})
				}},
			}, comparisons...)
			if typ == ir.TUint32 || typ == ir.TUint64 {
				cases = append(cases, intrinsic("high product", ir.MulHi, 2, nil))
			}
			sameOperators(t, typ, cases)
		})
	}
}

func TestIntegerConversionsAreGos(t *testing.T) {
	for _, typ := range integerTypes {
		t.Run(typ.String(), func(t *testing.T) {
			var cases []operatorCase
			for _, target := range append(integerTypes, ir.TFloat32, ir.TFloat64) {
				cases = append(cases,
					operatorCase{"to " + target.String(), func(x, y ir.Expr) ir.Expr { return irtest.To(target, x) }},
					operatorCase{"to int to " + target.String(), func(x, y ir.Expr) ir.Expr { return irtest.To(target, irtest.To(ir.TInt, x)) }},
					operatorCase{"sum to " + target.String(), func(x, y ir.Expr) ir.Expr { return irtest.To(target, irtest.Add(x, y)) }},
				)
				if !target.IsInteger() {
					continue
				}
				cases = append(cases,
					operatorCase{"product of " + target.String(), func(x, y ir.Expr) ir.Expr { return irtest.Mul(irtest.To(target, x), irtest.To(target, y)) }},
					operatorCase{"product and sum of " + target.String(), func(x, y ir.Expr) ir.Expr {
						return irtest.Add(irtest.To(target, y), irtest.Mul(irtest.To(target, x), ir.IntConst(target, 100)))
					}})
			}
			sameOperators(t, typ, cases)
		})
	}
}

func TestFloatOperatorsAreGos(t *testing.T) {
	for _, typ := range []*ir.Type{ir.TFloat32, ir.TFloat64} {
		t.Run(typ.String(), func(t *testing.T) {
			constant := func(v float64) ir.Expr { return ir.FloatConst(typ, v) }
			word := map[ir.Kind]*ir.Type{ir.Float32: ir.TUint32, ir.Float64: ir.TUint64}[typ.Kind]
			sameOperators(t, typ, append([]operatorCase{
				operator("+", ir.Add), operator("-", ir.Sub), operator("*", ir.Mul), operator("/", ir.Div),
				{"-x", func(x, y ir.Expr) ir.Expr { return &ir.Unary{Op: ir.Neg, X: x} }},
				{"x + 0.1", func(x, y ir.Expr) ir.Expr { return irtest.Add(x, constant(0.1)) }},
				{"1 / y", func(x, y ir.Expr) ir.Expr { return irtest.Op(constant(1), ir.Div, y) }},
				{"float64", func(x, y ir.Expr) ir.Expr { return irtest.To(ir.TFloat64, x) }},
				{"float32", func(x, y ir.Expr) ir.Expr { return irtest.To(ir.TFloat32, x) }},
				{"explicitly rounded product and sum", func(x, y ir.Expr) ir.Expr {
					return irtest.Add(irtest.To(typ, irtest.Mul(x, y)), constant(1))
				}},
				{"select", func(x, y ir.Expr) ir.Expr {
					return &ir.Select{Cond: irtest.Lt(ir.CloneExpr(x), ir.CloneExpr(y)), X: x, Y: y}
				}},
				intrinsic("sqrt", ir.Sqrt, 1, nil), intrinsic("abs", ir.Abs, 1, nil),
				intrinsic("floor", ir.Floor, 1, nil), intrinsic("ceil", ir.Ceil, 1, nil),
				intrinsic("trunc", ir.Trunc, 1, nil), intrinsic("round to even", ir.RoundToEven, 1, nil),
				intrinsic("copysign", ir.Copysign, 2, nil), intrinsic("min", ir.Min, 2, nil), intrinsic("max", ir.Max, 2, nil),
				intrinsic("bits", ir.Bitcast, 1, func(*ir.Type) *ir.Type { return word }),
				{"from bits", func(x, y ir.Expr) ir.Expr {
					bits := &ir.Intrinsic{Op: ir.Bitcast, T: word, Args: []ir.Expr{x}}
					return &ir.Intrinsic{Op: ir.Bitcast, T: typ, Args: []ir.Expr{irtest.Op(bits, ir.Xor, ir.IntConst(word, 1))}}
				}},
				{"min with a constant", func(x, y ir.Expr) ir.Expr {
					return &ir.Intrinsic{Op: ir.Min, T: typ, Args: []ir.Expr{constant(0.25), x}}
				}},
				{"max with NaN", func(x, y ir.Expr) ir.Expr {
					return &ir.Intrinsic{Op: ir.Max, T: typ, Args: []ir.Expr{x, constant(math.NaN())}}
				}},
			}, comparisons...))
		})
	}
}

func TestFloatToIntegerConversionsTruncate(t *testing.T) {
	for _, typ := range []*ir.Type{ir.TFloat32, ir.TFloat64} {
		t.Run(typ.String(), func(t *testing.T) {
			var cases []operatorCase
			for _, target := range integerTypes {
				limit := math.Exp2(float64(width(target.Kind)) - 2)
				low := -limit
				if !target.IsSigned() {
					low = 0
				}
				clamp := func(x ir.Expr) ir.Expr { // NaN becomes the lower bound
					in := irtest.Op(irtest.Op(ir.CloneExpr(x), ir.Ge, ir.FloatConst(typ, low)), ir.LAnd, irtest.Lt(ir.CloneExpr(x), ir.FloatConst(typ, limit)))
					return &ir.Select{Cond: in, X: x, Y: ir.FloatConst(typ, low)}
				}
				cases = append(cases, operatorCase{"to " + target.String(), func(x, y ir.Expr) ir.Expr { return irtest.To(target, clamp(x)) }})
			}
			sameOperators(t, typ, cases)
		})
	}
}

func TestConstantOperandsAreAllowedEverywhere(t *testing.T) {
	// Passes fold constants. PTX accepts immediates in most places, but not in all.
	for _, typ := range append(integerTypes, ir.TFloat32, ir.TFloat64) {
		t.Run(typ.String(), func(t *testing.T) {
			constant := func(v int64) ir.Expr {
				if typ.IsFloat() {
					return ir.FloatConst(typ, float64(v))
				}
				return ir.IntConst(typ, v)
			}
			ops := []ir.BinaryOp{ir.Add, ir.Sub, ir.Mul, ir.Div, ir.Eq, ir.Lt}
			intrinsics := []*ir.IntrinsicOp{ir.Min, ir.Max}
			if typ.IsInteger() {
				ops = append(ops, ir.Rem, ir.And, ir.AndNot, ir.Shl, ir.Shr)
				intrinsics = append(intrinsics, ir.ReverseBits, ir.ReverseBytes)
			} else {
				intrinsics = append(intrinsics, ir.Sqrt, ir.Floor, ir.Abs, ir.Copysign)
			}
			var cases []operatorCase
			for _, op := range ops {
				cases = append(cases, operatorCase{fmt.Sprint("operator ", op), func(x, y ir.Expr) ir.Expr { return irtest.Op(constant(100), op, constant(3)) }})
			}
			for _, op := range intrinsics {
				cases = append(cases, operatorCase{fmt.Sprint("intrinsic ", op), func(x, y ir.Expr) ir.Expr {
					args := []ir.Expr{constant(100), constant(3)}
					if op != ir.Min && op != ir.Max && op != ir.Copysign {
						args = args[:1]
					}
					return &ir.Intrinsic{Op: op, T: typ, Args: args}
				}})
			}
			for _, target := range append(integerTypes, ir.TFloat32, ir.TFloat64) {
				cases = append(cases, operatorCase{"conversion to " + target.String(), func(x, y ir.Expr) ir.Expr { return irtest.To(target, constant(100)) }})
			}
			sameOperators(t, typ, cases)
		})
	}
}
