package ptxvm

import "math"

// halfFormat is a 16-bit floating-point format.
type halfFormat struct {
	mantissa int // explicit bits of the significand
	low      int // exponent of the smallest normal value
	high     int // exponent of the largest value
}

var halfFormats = map[dataType]halfFormat{
	f16:    {mantissa: 10, low: -14, high: 15},
	f16x2:  {mantissa: 10, low: -14, high: 15},
	bf16:   {mantissa: 7, low: -126, high: 127},
	bf16x2: {mantissa: 7, low: -126, high: 127},
}

const canonicalNaN16 = 0x7fff

// decode returns the value of bits.
func (f halfFormat) decode(bits uint16) float64 {
	fraction := bits & (1<<f.mantissa - 1)
	exponent := int(bits & 0x7fff >> f.mantissa)
	var v float64
	switch {
	case exponent == f.high-f.low+2 && fraction != 0:
		return math.NaN()
	case exponent == f.high-f.low+2:
		v = math.Inf(1)
	case exponent == 0:
		v = math.Ldexp(float64(fraction), f.low-f.mantissa)
	default:
		v = math.Ldexp(float64(fraction|1<<f.mantissa), exponent-1+f.low-f.mantissa)
	}
	if bits>>15 != 0 {
		v = -v
	}
	return v
}

// encode returns the bits of x, rounded with m.
func (f halfFormat) encode(x float64, m rounding) uint16 {
	if x != x {
		return canonicalNaN16
	}
	var sign uint16
	if math.Signbit(x) {
		sign = 1 << 15
		x = -x
		switch m {
		case toNegative:
			m = toPositive
		case toPositive:
			m = toNegative
		}
	}
	if x == 0 {
		return sign
	}
	infinity := uint16(f.high-f.low+2) << f.mantissa
	if math.IsInf(x, 1) {
		return sign | infinity
	}
	_, exponent := math.Frexp(x)
	exponent = max(exponent-1, f.low)
	q := uint64(m.toIntegral(math.Ldexp(x, f.mantissa-exponent)))
	if q>>(f.mantissa+1) != 0 { // rounded up to the next power of two
		q >>= 1
		exponent++
	}
	if exponent > f.high {
		if m == toZero || m == toNegative {
			return sign | (infinity - 1)
		}
		return sign | infinity
	}
	return sign | (uint16(exponent-f.low)<<f.mantissa + uint16(q))
}

// decodeHalfArithmetic decodes arithmetic on 16-bit floats and on pairs of them.
func decodeHalfArithmetic(d *decoder) {
	m := d.floatMode()
	relu := d.mod("relu") != ""
	t := d.typ()
	sources := operandCount[d.opcode]
	d.want(sources+1, sources+1)
	d.in.d = d.destination(0, t.bits())
	d.in.a = d.source(1, t.bits())
	d.in.b, d.in.c = d.in.a, d.in.a
	if sources > 1 {
		d.in.b = d.source(2, t.bits())
	}
	if sources > 2 {
		d.in.c = d.source(3, t.bits())
	}
	op := halfOperation(d.opcode, m)
	if op == nil || m.round != toNearestEven {
		d.emit(nil)
	}
	format := halfFormats[t]
	one := func(a, b, c uint16) uint16 {
		x, y, z := format.decode(a), format.decode(b), format.decode(c)
		if m.flush {
			x, y, z = format.flush(x), format.flush(y), format.flush(z)
		}
		v := op(x, y, z)
		if m.sat {
			v = saturate(v)
		}
		if relu && v < 0 {
			v = 0
		}
		bits := format.encode(v, toNearestEven)
		if m.flush && bits&0x7fff>>format.mantissa == 0 {
			bits &= 1 << 15
		}
		return bits
	}
	if t.size() == 2 {
		d.emit(func(t *thread, in *instr) {
			t.regs[in.d] = uint64(one(uint16(t.regs[in.a]), uint16(t.regs[in.b]), uint16(t.regs[in.c])))
		})
		return
	}
	d.emit(func(t *thread, in *instr) {
		a, b, c := t.regs[in.a], t.regs[in.b], t.regs[in.c]
		low := one(uint16(a), uint16(b), uint16(c))
		high := one(uint16(a>>16), uint16(b>>16), uint16(c>>16))
		t.regs[in.d] = uint64(low) | uint64(high)<<16
	})
}

// flush applies .ftz to a value of the format.
func (f halfFormat) flush(x float64) float64 {
	if math.Abs(x) < math.Ldexp(1, f.low) {
		return math.Copysign(0, x)
	}
	return x
}

// bits returns the untyped type with the size of t. Registers of 16-bit floats are
// declared with it.
func (t dataType) bits() dataType {
	switch t.size() {
	case 1:
		return b8
	case 2:
		return b16
	case 4:
		return b32
	}
	return b64
}

// halfOperation returns an operation whose result may safely be rounded a second time.
func halfOperation(name string, m floatMode) func(a, b, c float64) float64 {
	switch name {
	case "add":
		return func(a, b, _ float64) float64 { return sumToOdd(a, b) }
	case "sub":
		return func(a, b, _ float64) float64 { return sumToOdd(a, -b) }
	case "mul":
		return func(a, b, _ float64) float64 { return a * b }
	case "fma":
		return func(a, b, c float64) float64 { return sumToOdd(a*b, c) }
	}
	return selection[float64](name, m.nan)
}
