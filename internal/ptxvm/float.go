package ptxvm

import "math"

// NaN results are canonical: the same as on the hardware, and the same on every host.
const (
	canonicalNaN32 = 0x7fffffff
	canonicalNaN64 = 0x7ff8000000000000
)

func float32At(t *thread, slot int32) float32 { return math.Float32frombits(uint32(t.regs[slot])) }

func float64At(t *thread, slot int32) float64 { return math.Float64frombits(t.regs[slot]) }

func setFloat32(t *thread, slot int32, v float32) {
	if v != v {
		t.regs[slot] = canonicalNaN32
		return
	}
	t.regs[slot] = uint64(math.Float32bits(v))
}

func setFloat64(t *thread, slot int32, v float64) {
	if v != v {
		t.regs[slot] = canonicalNaN64
		return
	}
	t.regs[slot] = math.Float64bits(v)
}

// flush32 implements .ftz: subnormal values become zero with the same sign.
func flush32(v float32) float32 {
	if v > -0x1p-126 && v < 0x1p-126 {
		return float32(math.Copysign(0, float64(v)))
	}
	return v
}

// saturate implements .sat: it clamps to [0, 1], and NaN becomes 0.
func saturate[T float32 | float64](v T) T {
	if !(v > 0) {
		return 0
	}
	return min(v, 1)
}

// floatMode holds the modifiers of a floating-point instruction.
type floatMode struct {
	round      rounding
	flush, sat bool
	nan        bool // min and max propagate NaN
}

func (d *decoder) floatMode() floatMode {
	var m floatMode
	m.round = roundings[d.mod("rn", "rz", "rm", "rp")]
	m.flush = d.mod("ftz") != ""
	m.sat = d.mod("sat") != ""
	m.nan = d.mod("NaN") != ""
	return m
}

func decodeFloatArithmetic(d *decoder) {
	d.drop("approx", "full") // of div, which is correctly rounded here
	m := d.floatMode()
	t := d.typ()
	sources := operandCount[d.opcode]
	d.want(sources+1, sources+1)
	d.in.d = d.destination(0, t)
	d.in.a = d.source(1, t)
	d.in.b, d.in.c = d.in.a, d.in.a
	if sources > 1 {
		d.in.b = d.source(2, t)
	}
	if sources > 2 {
		d.in.c = d.source(3, t)
	}
	name := d.opcode
	if name == "mad" {
		name = "fma"
	}
	if t == f32 {
		d.emit(floatExec32(name, m))
	} else {
		d.emit(floatExec64(name, m))
	}
}

// floatExec32 returns the execution of an f32 arithmetic operation.
func floatExec32(name string, m floatMode) exec {
	if (m == floatMode{}) {
		switch name {
		case "add":
			return func(t *thread, in *instr) { setFloat32(t, in.d, float32At(t, in.a)+float32At(t, in.b)) }
		case "sub":
			return func(t *thread, in *instr) { setFloat32(t, in.d, float32At(t, in.a)-float32At(t, in.b)) }
		case "mul":
			return func(t *thread, in *instr) { setFloat32(t, in.d, float32At(t, in.a)*float32At(t, in.b)) }
		case "div":
			return func(t *thread, in *instr) { setFloat32(t, in.d, float32At(t, in.a)/float32At(t, in.b)) }
		case "fma":
			return func(t *thread, in *instr) {
				setFloat32(t, in.d, fma32(float32At(t, in.a), float32At(t, in.b), float32At(t, in.c)))
			}
		}
	}
	op := operation32(name, m)
	if op == nil {
		return nil
	}
	return func(t *thread, in *instr) {
		a, b, c := float32At(t, in.a), float32At(t, in.b), float32At(t, in.c)
		if m.flush {
			a, b, c = flush32(a), flush32(b), flush32(c)
		}
		v := op(a, b, c)
		if m.flush {
			v = flush32(v)
		}
		if m.sat {
			v = saturate(v)
		}
		setFloat32(t, in.d, v)
	}
}

// floatExec64 returns the execution of an f64 arithmetic operation.
func floatExec64(name string, m floatMode) exec {
	if (m == floatMode{}) {
		switch name {
		case "add":
			return func(t *thread, in *instr) { setFloat64(t, in.d, float64At(t, in.a)+float64At(t, in.b)) }
		case "sub":
			return func(t *thread, in *instr) { setFloat64(t, in.d, float64At(t, in.a)-float64At(t, in.b)) }
		case "mul":
			return func(t *thread, in *instr) { setFloat64(t, in.d, float64At(t, in.a)*float64At(t, in.b)) }
		case "div":
			return func(t *thread, in *instr) { setFloat64(t, in.d, float64At(t, in.a)/float64At(t, in.b)) }
		case "fma":
			return func(t *thread, in *instr) {
				setFloat64(t, in.d, math.FMA(float64At(t, in.a), float64At(t, in.b), float64At(t, in.c)))
			}
		}
	}
	op := operation64(name, m)
	if op == nil || m.flush || m.sat {
		return nil
	}
	return func(t *thread, in *instr) {
		setFloat64(t, in.d, op(float64At(t, in.a), float64At(t, in.b), float64At(t, in.c)))
	}
}

func operation32(name string, m floatMode) func(a, b, c float32) float32 {
	switch name {
	case "add":
		return directed32(name, m.round, func(a, b, _ float32) float32 { return a + b })
	case "sub":
		return directed32(name, m.round, func(a, b, _ float32) float32 { return a - b })
	case "mul":
		return directed32(name, m.round, func(a, b, _ float32) float32 { return a * b })
	case "div":
		return directed32(name, m.round, func(a, b, _ float32) float32 { return a / b })
	case "fma":
		return directed32(name, m.round, fma32)
	case "sqrt":
		return directed32(name, m.round, func(a, _, _ float32) float32 { return float32(math.Sqrt(float64(a))) })
	}
	return selection[float32](name, m.nan)
}

func operation64(name string, m floatMode) func(a, b, c float64) float64 {
	switch name {
	case "add":
		return directed64(name, m.round, func(a, b, _ float64) float64 { return a + b })
	case "sub":
		return directed64(name, m.round, func(a, b, _ float64) float64 { return a - b })
	case "mul":
		return directed64(name, m.round, func(a, b, _ float64) float64 { return a * b })
	case "div":
		return directed64(name, m.round, func(a, b, _ float64) float64 { return a / b })
	case "fma":
		return directed64(name, m.round, math.FMA)
	case "sqrt":
		return directed64(name, m.round, func(a, _, _ float64) float64 { return math.Sqrt(a) })
	}
	return selection[float64](name, m.nan)
}

// selection returns the function of an operation that does not round, or nil.
func selection[T float32 | float64](name string, nan bool) func(a, b, c T) T {
	switch name {
	case "min":
		return func(a, b, _ T) T { return pick(a, b, min(a, b), nan) }
	case "max":
		return func(a, b, _ T) T { return pick(a, b, max(a, b), nan) }
	case "abs":
		return func(a, _, _ T) T { return T(math.Abs(float64(a))) }
	case "neg":
		return func(a, _, _ T) T { return -a }
	}
	return nil
}

// pick returns m, the minimum or maximum of a and b, if both are numbers. If one is NaN,
// pick returns the other one or, with nan set, NaN.
func pick[T float32 | float64](a, b, m T, nan bool) T {
	switch {
	case nan:
	case a != a:
		return b
	case b != b:
		return a
	}
	return m
}

// approximations maps the functions that the hardware approximates. Here each is the exact
// value rounded once.
var approximations = map[string]func(x float64) float64{
	"rsqrt": func(x float64) float64 { return 1 / math.Sqrt(x) },
	"sin":   math.Sin,
	"cos":   math.Cos,
	"lg2":   math.Log2,
	"ex2":   math.Exp2,
	"tanh":  math.Tanh,
}

func decodeFloatFunction(d *decoder) {
	d.drop("approx")
	m := d.floatMode()
	t := d.typ()
	d.want(2, 2)
	if t != f32 && t != f64 {
		d.emit(nil)
	}
	d.in.d = d.destination(0, t)
	d.in.a = d.source(1, t)
	d.in.b, d.in.c = d.in.a, d.in.a
	switch d.opcode {
	case "sqrt":
		if t == f32 {
			d.emit(floatExec32("sqrt", m))
		} else {
			d.emit(floatExec64("sqrt", m))
		}
		return
	case "rcp":
		d.in.b = d.in.a
		if t == f32 {
			d.in.a = d.f.constant(uint64(math.Float32bits(1)))
			d.emit(floatExec32("div", m))
		} else {
			d.in.a = d.f.constant(math.Float64bits(1))
			m.flush = false // rcp.approx.ftz.f64
			d.emit(floatExec64("div", m))
		}
		return
	}
	f := approximations[d.opcode]
	if t == f64 {
		d.emit(func(t *thread, in *instr) { setFloat64(t, in.d, f(float64At(t, in.a))) })
		return
	}
	d.emit(func(t *thread, in *instr) {
		x := float32At(t, in.a)
		if m.flush {
			x = flush32(x)
		}
		v := float32(f(float64(x)))
		if m.flush {
			v = flush32(v)
		}
		setFloat32(t, in.d, v)
	})
}

// decodeCopysign decodes copysign, which gives its second operand the sign of the first.
func decodeCopysign(d *decoder) {
	t := d.typ()
	if t != f32 && t != f64 {
		d.emit(nil)
	}
	d.want(3, 3)
	d.in.d = d.destination(0, t)
	d.in.a = d.source(1, t)
	d.in.b = d.source(2, t)
	sign := uint64(1) << (8*t.size() - 1)
	d.emit(func(t *thread, in *instr) {
		r := t.regs
		r[in.d] = r[in.b]&^sign | r[in.a]&sign
	})
}
