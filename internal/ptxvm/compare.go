package ptxvm

import "math"

// comparisons lists the comparison operators of setp and set.
var comparisons = []string{
	"eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs",
	"equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan",
}

// comparison decodes operator, .ftz and type of setp and set. It returns the type and the
// execution that writes the result of the comparison to slot d.
func (d *decoder) comparison() (exec, dataType) {
	op := d.mod(comparisons...)
	flush := d.mod("ftz") != ""
	t := d.typ()
	run := comparisonExec(op, t)
	if run == nil {
		d.emit(nil)
	}
	if flush && t == f32 {
		run = floatComparison(op, func(t *thread, slot int32) float64 { return float64(flush32(float32At(t, slot))) })
	}
	return run, t
}

// comparisonExec returns the execution of operator op on type t.
func comparisonExec(op string, t dataType) exec {
	switch t {
	case f32:
		return comparisonF32(op)
	case f64:
		return comparisonF64(op)
	case f16, bf16:
		return floatComparison(op, func(th *thread, slot int32) float64 { return halfFormats[t].decode(uint16(th.regs[slot])) })
	}
	switch op {
	case "eq":
		return selectBySize(t, equal[uint16], equal[uint32], equal[uint64])
	case "ne":
		return selectBySize(t, notEqual[uint16], notEqual[uint32], notEqual[uint64])
	case "lo":
		op, t = "lt", t.unsigned()
	case "ls":
		op, t = "le", t.unsigned()
	case "hi":
		op, t = "gt", t.unsigned()
	case "hs":
		op, t = "ge", t.unsigned()
	}
	switch op {
	case "lt":
		return selectBySign(t, less[uint16], less[uint32], less[uint64], less[int16], less[int32], less[int64])
	case "le":
		return selectBySign(t, lessEqual[uint16], lessEqual[uint32], lessEqual[uint64], lessEqual[int16], lessEqual[int32], lessEqual[int64])
	case "gt":
		return selectBySign(t, greater[uint16], greater[uint32], greater[uint64], greater[int16], greater[int32], greater[int64])
	case "ge":
		return selectBySign(t, greaterEqual[uint16], greaterEqual[uint32], greaterEqual[uint64], greaterEqual[int16], greaterEqual[int32], greaterEqual[int64])
	}
	return nil
}

// unsigned returns the unsigned integer type with the size of t.
func (t dataType) unsigned() dataType {
	if t.signed() {
		return t - s8 + u8
	}
	return t
}

func equal[T integerType](t *thread, in *instr) {
	r := t.regs
	r[in.d] = truth(T(r[in.a]) == T(r[in.b]))
}

func notEqual[T integerType](t *thread, in *instr) {
	r := t.regs
	r[in.d] = truth(T(r[in.a]) != T(r[in.b]))
}

func less[T integerType](t *thread, in *instr) {
	r := t.regs
	r[in.d] = truth(T(r[in.a]) < T(r[in.b]))
}

func lessEqual[T integerType](t *thread, in *instr) {
	r := t.regs
	r[in.d] = truth(T(r[in.a]) <= T(r[in.b]))
}

func greater[T integerType](t *thread, in *instr) {
	r := t.regs
	r[in.d] = truth(T(r[in.a]) > T(r[in.b]))
}

func greaterEqual[T integerType](t *thread, in *instr) {
	r := t.regs
	r[in.d] = truth(T(r[in.a]) >= T(r[in.b]))
}

// ordering is a set of possible outcomes of comparing two floating-point values.
type ordering uint8

const (
	isLess ordering = 1 << iota
	isEqual
	isGreater
	isUnordered
)

// holdsFor maps each floating-point comparison to the outcomes for which it is true.
var holdsFor = map[string]ordering{
	"eq": isEqual, "ne": isLess | isGreater, "lt": isLess, "le": isLess | isEqual, "gt": isGreater, "ge": isGreater | isEqual,
	"equ": isUnordered | isEqual, "neu": isUnordered | isLess | isGreater,
	"ltu": isUnordered | isLess, "leu": isUnordered | isLess | isEqual,
	"gtu": isUnordered | isGreater, "geu": isUnordered | isGreater | isEqual,
	"num": isLess | isEqual | isGreater, "nan": isUnordered,
}

func compareFloats[T float32 | float64](a, b T) ordering {
	switch {
	case a < b:
		return isLess
	case a > b:
		return isGreater
	case a == b:
		return isEqual
	}
	return isUnordered
}

// floatComparison returns the execution of operator op. at reads the operands.
func floatComparison(op string, at func(t *thread, slot int32) float64) exec {
	holds, ok := holdsFor[op]
	if !ok {
		return nil
	}
	return func(t *thread, in *instr) {
		t.regs[in.d] = truth(compareFloats(at(t, in.a), at(t, in.b))&holds != 0)
	}
}

// comparisonF32 and comparisonF64 are floatComparison without a call per operand.
func comparisonF32(op string) exec {
	holds, ok := holdsFor[op]
	if !ok {
		return nil
	}
	return func(t *thread, in *instr) {
		t.regs[in.d] = truth(compareFloats(float32At(t, in.a), float32At(t, in.b))&holds != 0)
	}
}

func comparisonF64(op string) exec {
	holds, ok := holdsFor[op]
	if !ok {
		return nil
	}
	return func(t *thread, in *instr) {
		t.regs[in.d] = truth(compareFloats(float64At(t, in.a), float64At(t, in.b))&holds != 0)
	}
}

// boolOps maps the operators that combine a comparison with a predicate.
var boolOps = map[string]func(a, b uint64) uint64{
	"and": func(a, b uint64) uint64 { return a & b },
	"or":  func(a, b uint64) uint64 { return a | b },
	"xor": func(a, b uint64) uint64 { return a ^ b },
}

func decodeSetp(d *decoder) {
	combine := boolOps[d.mod("and", "or", "xor")]
	compare, t := d.comparison()
	n := 3
	if combine != nil {
		n = 4
	}
	d.want(n, n)
	pair := d.args[0].kind == pairOperand
	d.in.a = d.source(1, t)
	d.in.b = d.source(2, t)
	if combine != nil {
		d.in.c = d.source(3, pred)
	}
	if !pair {
		d.in.d = d.destination(0, pred)
	} else {
		d.destinationPair(0, pred)
	}
	switch {
	case combine == nil && !pair:
		d.emit(compare)
	case combine == nil:
		d.emit(func(t *thread, in *instr) {
			compare(t, in)
			t.regs[in.e] = t.regs[in.d] ^ 1
		})
	default:
		d.emit(func(t *thread, in *instr) {
			c := t.regs[in.c] & 1
			compare(t, in)
			holds := t.regs[in.d]
			t.regs[in.d] = combine(holds, c)
			if pair {
				t.regs[in.e] = combine(holds^1, c)
			}
		})
	}
}

// decodeSet decodes set, whose result for true is all ones or 1.0.
func decodeSet(d *decoder) {
	combine := boolOps[d.mod("and", "or", "xor")]
	op := d.mod(comparisons...)
	result := d.typ()
	d.mods = append(d.mods, op)
	compare, t := d.comparison()
	n := 3
	if combine != nil {
		n = 4
	}
	d.want(n, n)
	var yes uint64
	switch result {
	case u32, s32, b32:
		yes = 1<<32 - 1
	case f32:
		yes = uint64(math.Float32bits(1))
	default:
		d.emit(nil)
	}
	d.in.d = d.destination(0, result)
	d.in.a = d.source(1, t)
	d.in.b = d.source(2, t)
	if combine != nil {
		d.in.c = d.source(3, pred)
	}
	d.emit(func(t *thread, in *instr) {
		c := uint64(0)
		if combine != nil {
			c = t.regs[in.c] & 1
		}
		compare(t, in)
		holds := t.regs[in.d]
		if combine != nil {
			holds = combine(holds, c)
		}
		t.regs[in.d] = yes * holds
	})
}

func decodeSelp(d *decoder) {
	t := d.typ()
	d.want(4, 4)
	d.in.d = d.destination(0, t)
	d.in.a = d.source(1, t)
	d.in.b = d.source(2, t)
	d.in.c = d.source(3, pred)
	d.emit(func(t *thread, in *instr) {
		r := t.regs
		if r[in.c]&1 != 0 {
			r[in.d] = r[in.a]
		} else {
			r[in.d] = r[in.b]
		}
	})
}

// decodeSlct decodes slct, which selects by the sign of its last operand.
func decodeSlct(d *decoder) {
	flush := d.mod("ftz") != ""
	t, by := d.typ(), d.typ()
	d.want(4, 4)
	d.in.d = d.destination(0, t)
	d.in.a = d.source(1, t)
	d.in.b = d.source(2, t)
	d.in.c = d.source(3, by)
	var first func(v uint64) bool
	switch by {
	case s32:
		first = func(v uint64) bool { return int32(v) >= 0 }
	case f32:
		first = func(v uint64) bool {
			f := math.Float32frombits(uint32(v))
			if flush {
				f = flush32(f)
			}
			return f >= 0
		}
	default:
		d.emit(nil)
	}
	d.emit(func(t *thread, in *instr) {
		r := t.regs
		if first(r[in.c]) {
			r[in.d] = r[in.a]
		} else {
			r[in.d] = r[in.b]
		}
	})
}

// decodeTestp decodes testp, which tests the class of a floating-point value.
func decodeTestp(d *decoder) {
	class := d.mod("finite", "infinite", "number", "notanumber", "normal", "subnormal")
	t := d.typ()
	if t != f32 && t != f64 || class == "" {
		d.emit(nil)
	}
	d.want(2, 2)
	d.in.d = d.destination(0, pred)
	d.in.a = d.source(1, t)
	smallest := 0x1p-126
	if t == f64 {
		smallest = 0x1p-1022
	}
	d.emit(func(th *thread, in *instr) {
		v := th.regs[in.a]
		x := math.Float64frombits(v)
		if t == f32 {
			x = float64(math.Float32frombits(uint32(v)))
		}
		var holds bool
		switch size := math.Abs(x); class {
		case "finite":
			holds = size <= math.MaxFloat64
		case "infinite":
			holds = math.IsInf(x, 0)
		case "number":
			holds = x == x
		case "notanumber":
			holds = x != x
		case "normal":
			// Zero counts as normal.
			holds = x == 0 || size >= smallest && size <= math.MaxFloat64
		case "subnormal":
			holds = x != 0 && size < smallest
		}
		th.regs[in.d] = truth(holds)
	})
}
