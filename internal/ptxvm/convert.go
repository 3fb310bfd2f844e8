package ptxvm

import (
	"math"
	"math/big"
)

// decodeCvt decodes cvt. Operand registers may be wider than their types.
func decodeCvt(d *decoder) {
	if len(d.mods) > 1 && d.mods[1] == "tf32" {
		decodeTF32(d)
		return
	}
	integral := d.mod("rni", "rzi", "rmi", "rpi")
	m := d.floatMode()
	if integral != "" {
		m.round = roundings[integral]
	}
	relu := d.mod("relu") != ""
	to, from := d.typ(), d.typ()
	if to == f16x2 || to == bf16x2 {
		d.convertPair(to, from, m, relu)
		return
	}
	d.want(2, 2)
	d.in.d = d.target(d.args[0], to.register(), true)
	d.in.a = d.value(d.args[1], from.register(), true)
	run := conversion(to, from, m, integral != "")
	if relu && run != nil {
		convert := run
		run = func(t *thread, in *instr) {
			convert(t, in)
			if t.regs[in.d]>>(8*to.size()-1)&1 != 0 {
				t.regs[in.d] = 0
			}
		}
	}
	d.emit(run)
}

// register returns the type of the register that holds a t. Registers of 16-bit floats are
// untyped.
func (t dataType) register() dataType {
	switch t {
	case f16, bf16:
		return b16
	}
	return t
}

// convertPair decodes the conversion of two f32 to a pair of 16-bit floats.
func (d *decoder) convertPair(to, from dataType, m floatMode, relu bool) {
	if from != f32 {
		d.emit(nil)
	}
	d.want(3, 3)
	d.in.d = d.destination(0, b32)
	d.in.a = d.source(1, f32)
	d.in.b = d.source(2, f32)
	format := halfFormats[to]
	d.emit(func(t *thread, in *instr) {
		high, low := float64(float32At(t, in.a)), float64(float32At(t, in.b))
		if relu {
			high, low = max(high, 0), max(low, 0)
		}
		t.regs[in.d] = uint64(format.encode(high, m.round))<<16 | uint64(format.encode(low, m.round))
	})
}

// conversion returns the execution of cvt.to.from.
func conversion(to, from dataType, m floatMode, integral bool) exec {
	toFloat, fromFloat := to.class() == floatClass, from.class() == floatClass
	if to.class() == bitsClass || from.class() == bitsClass {
		return nil
	}
	switch {
	case !toFloat && !fromFloat:
		if m.sat {
			return saturateInteger(to, from)
		}
		return resizeInteger(to, from)
	case !toFloat:
		return floatToInteger(to, from, m)
	case !fromFloat:
		return integerToFloat(to, from, m)
	}
	return floatToFloat(to, from, m, integral)
}

type anyInteger interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64
}

func resizeInteger(to, from dataType) exec {
	switch from {
	case u8:
		return resizeFrom[uint8](to)
	case u16:
		return resizeFrom[uint16](to)
	case u32:
		return resizeFrom[uint32](to)
	case u64:
		return resizeFrom[uint64](to)
	case s8:
		return resizeFrom[int8](to)
	case s16:
		return resizeFrom[int16](to)
	case s32:
		return resizeFrom[int32](to)
	case s64:
		return resizeFrom[int64](to)
	}
	return nil
}

func resizeFrom[S anyInteger](to dataType) exec {
	switch to {
	case u8:
		return resize[S, uint8]
	case u16:
		return resize[S, uint16]
	case u32:
		return resize[S, uint32]
	case u64:
		return resize[S, uint64]
	case s8:
		return resize[S, int8]
	case s16:
		return resize[S, int16]
	case s32:
		return resize[S, int32]
	case s64:
		return resize[S, int64]
	}
	return nil
}

func resize[S, D anyInteger](t *thread, in *instr) {
	t.regs[in.d] = uint64(D(S(t.regs[in.a])))
}

// extend returns the value of integer type t in the low bits of v, sign-extended if t is
// signed.
func extend(v uint64, t dataType) uint64 {
	shift := 64 - 8*t.size()
	if t.signed() {
		return uint64(int64(v<<shift) >> shift)
	}
	return v << shift >> shift
}

func saturateInteger(to, from dataType) exec {
	bits := 8 * to.size()
	return func(t *thread, in *instr) {
		v := extend(t.regs[in.a], from)
		negative := from.signed() && int64(v) < 0
		switch {
		case to.signed() && negative:
			v = uint64(max(int64(v), -1<<(bits-1)))
		case to.signed():
			v = min(v, 1<<(bits-1)-1)
		case negative:
			v = 0
		default:
			v = min(v, ^uint64(0)>>(64-bits))
		}
		t.regs[in.d] = v
	}
}

// floatAt returns a function that reads a slot as floating-point type t.
func floatAt(t dataType, flush bool) func(t *thread, slot int32) float64 {
	switch t {
	case f32:
		if flush {
			return func(t *thread, slot int32) float64 { return float64(flush32(float32At(t, slot))) }
		}
		return func(t *thread, slot int32) float64 { return float64(float32At(t, slot)) }
	case f64:
		return float64At
	}
	format := halfFormats[t]
	return func(t *thread, slot int32) float64 { return format.decode(uint16(t.regs[slot])) }
}

// floatToInteger returns the execution that rounds and then clamps to the range of the
// integer type. NaN becomes zero, or the value with only the highest bit set if either
// type has 64 bits.
func floatToInteger(to, from dataType, m floatMode) exec {
	read := floatAt(from, m.flush)
	bits := 8 * to.size()
	var nan uint64
	if from.size() == 8 || to.size() == 8 {
		nan = 1 << (bits - 1)
	}
	if to.signed() {
		limit := math.Ldexp(1, bits-1)
		return func(t *thread, in *instr) {
			x := read(t, in.a)
			y := m.round.toIntegral(x)
			switch {
			case y != y:
				t.regs[in.d] = nan
			case y >= limit:
				t.regs[in.d] = 1<<(bits-1) - 1
			case y < -limit:
				t.regs[in.d] = -(1 << (bits - 1))
			default:
				t.regs[in.d] = uint64(int64(y))
			}
		}
	}
	limit := math.Ldexp(1, bits)
	return func(t *thread, in *instr) {
		x := read(t, in.a)
		y := m.round.toIntegral(x)
		switch {
		case y != y:
			t.regs[in.d] = nan
		case y >= limit:
			t.regs[in.d] = ^uint64(0) >> (64 - bits)
		case y <= 0:
			t.regs[in.d] = 0
		default:
			t.regs[in.d] = uint64(y)
		}
	}
}

// integerToFloat returns the execution that rounds an integer once to the floating-point
// type.
func integerToFloat(to, from dataType, m floatMode) exec {
	signed := from.signed()
	nearest := m.round == toNearestEven && !m.sat
	switch {
	case to == f64 && nearest && signed:
		return func(t *thread, in *instr) { setFloat64(t, in.d, float64(int64(extend(t.regs[in.a], from)))) }
	case to == f64 && nearest:
		return func(t *thread, in *instr) { setFloat64(t, in.d, float64(extend(t.regs[in.a], from))) }
	case to == f32 && nearest && signed:
		return func(t *thread, in *instr) { setFloat32(t, in.d, float32(int64(extend(t.regs[in.a], from)))) }
	case to == f32 && nearest:
		return func(t *thread, in *instr) { setFloat32(t, in.d, float32(extend(t.regs[in.a], from))) }
	case to == f64:
		return func(t *thread, in *instr) {
			exact := new(big.Float).SetPrec(64).SetUint64(extend(t.regs[in.a], from))
			if signed {
				exact.SetInt64(int64(extend(t.regs[in.a], from)))
			}
			near, _ := exact.Float64()
			v := m.round.correct64(near, exact.Cmp(exactly(near)))
			if m.sat {
				v = saturate(v)
			}
			setFloat64(t, in.d, v)
		}
	}
	store := floatStore(to, m)
	return func(t *thread, in *instr) {
		v := extend(t.regs[in.a], from)
		high := math.Ldexp(float64(v>>32), 32)
		if signed {
			high = math.Ldexp(float64(int64(v)>>32), 32)
		}
		store(t, in.d, sumToOdd(high, float64(v&(1<<32-1))))
	}
}

// floatStore returns a function that rounds a value to the type and stores it in a slot.
// The value must be exact or rounded to odd.
func floatStore(to dataType, m floatMode) func(t *thread, slot int32, v float64) {
	switch to {
	case f64:
		return func(t *thread, slot int32, v float64) {
			if m.sat {
				v = saturate(v)
			}
			setFloat64(t, slot, v)
		}
	case f32:
		return func(t *thread, slot int32, v float64) {
			near := float32(v)
			if m.round != toNearestEven && near == near && !math.IsInf(v, 0) {
				near = m.round.correct32(near, compareSign(v, float64(near)))
			}
			if m.flush {
				near = flush32(near)
			}
			if m.sat {
				near = saturate(near)
			}
			setFloat32(t, slot, near)
		}
	}
	format := halfFormats[to]
	return func(t *thread, slot int32, v float64) {
		if m.sat {
			v = saturate(v)
		}
		t.regs[slot] = uint64(format.encode(v, m.round))
	}
}

func compareSign(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func floatToFloat(to, from dataType, m floatMode, integral bool) exec {
	read := floatAt(from, m.flush)
	round := m.round
	if integral {
		m.round = toNearestEven
	}
	store := floatStore(to, m)
	return func(t *thread, in *instr) {
		x := read(t, in.a)
		if integral {
			x = round.toIntegral(x)
		}
		store(t, in.d, x)
	}
}
