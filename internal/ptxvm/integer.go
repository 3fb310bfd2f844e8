package ptxvm

import (
	"math/bits"
	"unsafe"
)

type unsigned interface{ ~uint16 | ~uint32 | ~uint64 }

type signed interface{ ~int16 | ~int32 | ~int64 }

type integerType interface{ unsigned | signed }

// decodeArithmetic decodes the arithmetic instructions that exist for integers and for
// floating-point types.
func decodeArithmetic(d *decoder) {
	if len(d.mods) > 0 {
		switch d.mods[len(d.mods)-1] {
		case "f16", "f16x2", "bf16", "bf16x2":
			decodeHalfArithmetic(d)
			return
		case "f32", "f64":
			decodeFloatArithmetic(d)
			return
		}
	}
	if d.mod("cc") != "" {
		d.mods = append(d.mods, "cc")
		decodeCarry(d)
		return
	}
	decodeIntegerArithmetic(d)
}

// operandCount maps an arithmetic instruction to its number of sources.
var operandCount = map[string]int{
	"abs": 1, "neg": 1,
	"add": 2, "sub": 2, "mul": 2, "mul24": 2, "div": 2, "rem": 2, "min": 2, "max": 2,
	"mad": 3, "mad24": 3, "fma": 3, "sad": 3,
}

func decodeIntegerArithmetic(d *decoder) {
	part := d.mod("lo", "hi", "wide")
	saturate := d.mod("sat") != ""
	t := d.typ()
	result, last := t, t
	if part == "wide" {
		result = t.wide()
		last = result
		if result == noType {
			d.emit(nil)
		}
	}
	sources := operandCount[d.opcode]
	d.want(sources+1, sources+1)
	d.in.d = d.destination(0, result)
	d.in.a = d.source(1, t)
	if sources > 1 {
		d.in.b = d.source(2, t)
	}
	if sources > 2 {
		d.in.c = d.source(3, last)
	}
	if saturate {
		d.emit(d.saturating(part, t))
		return
	}
	d.emit(integerExec(d.opcode, part, t))
}

// saturating returns the execution of the .sat forms, which exist only for .s32.
func (d *decoder) saturating(part string, t dataType) exec {
	if t != s32 {
		return nil
	}
	switch d.opcode {
	case "add":
		return func(t *thread, in *instr) {
			t.regs[in.d] = clampInt32(int64(int32(t.regs[in.a])) + int64(int32(t.regs[in.b])))
		}
	case "sub":
		return func(t *thread, in *instr) {
			t.regs[in.d] = clampInt32(int64(int32(t.regs[in.a])) - int64(int32(t.regs[in.b])))
		}
	case "mad":
		if part == "hi" {
			return func(t *thread, in *instr) {
				p := int64(int32(t.regs[in.a])) * int64(int32(t.regs[in.b]))
				t.regs[in.d] = clampInt32(p>>32 + int64(int32(t.regs[in.c])))
			}
		}
	}
	return nil
}

func clampInt32(v int64) uint64 {
	return uint64(uint32(max(-1<<31, min(1<<31-1, v))))
}

func integerExec(opcode, part string, t dataType) exec {
	switch opcode + part {
	case "add":
		return selectBySize(t, add[uint16], add[uint32], add[uint64])
	case "sub":
		return selectBySize(t, sub[uint16], sub[uint32], sub[uint64])
	case "mullo":
		return selectBySize(t, mul[uint16], mul[uint32], mul[uint64])
	case "madlo":
		return selectBySize(t, mad[uint16], mad[uint32], mad[uint64])
	case "mulhi":
		return selectBySign(t, mulHigh[uint16], mulHigh[uint32], mulHighU64, mulHigh[int16], mulHigh[int32], mulHighS64)
	case "madhi":
		return selectBySign(t, madHigh[uint16], madHigh[uint32], madHighU64, madHigh[int16], madHigh[int32], madHighS64)
	case "mulwide":
		return selectBySign(t, mulWide[uint16], mulWide[uint32], nil, mulWide[int16], mulWide[int32], nil)
	case "madwide":
		return selectBySign(t, madWide[uint16], madWide[uint32], nil, madWide[int16], madWide[int32], nil)
	case "div":
		return selectBySign(t, div[uint16], div[uint32], div[uint64], div[int16], div[int32], div[int64])
	case "rem":
		return selectBySign(t, rem[uint16], rem[uint32], rem[uint64], rem[int16], rem[int32], rem[int64])
	case "min":
		return selectBySign(t, minimum[uint16], minimum[uint32], minimum[uint64], minimum[int16], minimum[int32], minimum[int64])
	case "max":
		return selectBySign(t, maximum[uint16], maximum[uint32], maximum[uint64], maximum[int16], maximum[int32], maximum[int64])
	case "abs":
		return selectBySign(t, nil, nil, nil, absolute[int16], absolute[int32], absolute[int64])
	case "neg":
		return selectBySize(t, negate[uint16], negate[uint32], negate[uint64])
	case "sad":
		return selectBySign(t, sad[uint16], sad[uint32], sad[uint64], sad[int16], sad[int32], sad[int64])
	case "mul24lo", "mul24hi", "mad24lo", "mad24hi":
		return exec24(opcode, part, t)
	}
	return nil
}

func add[T integerType](t *thread, in *instr) {
	r := t.regs
	r[in.d] = uint64(T(r[in.a]) + T(r[in.b]))
}

func sub[T integerType](t *thread, in *instr) {
	r := t.regs
	r[in.d] = uint64(T(r[in.a]) - T(r[in.b]))
}

func mul[T integerType](t *thread, in *instr) {
	r := t.regs
	r[in.d] = uint64(T(r[in.a]) * T(r[in.b]))
}

func mad[T integerType](t *thread, in *instr) {
	r := t.regs
	r[in.d] = uint64(T(r[in.a])*T(r[in.b]) + T(r[in.c]))
}

// width returns the number of bits of T.
func width[T integerType]() int { return 8 * int(unsafe.Sizeof(T(0))) }

// product returns the full product of two operands of at most 32 bits.
func product[T integerType](a, b uint64) int64 { return int64(T(a)) * int64(T(b)) }

func mulWide[T integerType](t *thread, in *instr) {
	r := t.regs
	r[in.d] = uint64(product[T](r[in.a], r[in.b]))
}

func madWide[T integerType](t *thread, in *instr) {
	r := t.regs
	r[in.d] = uint64(product[T](r[in.a], r[in.b])) + r[in.c]
}

func mulHigh[T integerType](t *thread, in *instr) {
	r := t.regs
	r[in.d] = uint64(product[T](r[in.a], r[in.b])) >> width[T]()
}

func madHigh[T integerType](t *thread, in *instr) {
	r := t.regs
	r[in.d] = uint64(product[T](r[in.a], r[in.b]))>>width[T]() + r[in.c]
}

func mulHighU64(t *thread, in *instr) {
	t.regs[in.d], _ = bits.Mul64(t.regs[in.a], t.regs[in.b])
}

func mulHighS64(t *thread, in *instr) {
	t.regs[in.d] = highS64(t.regs[in.a], t.regs[in.b])
}

func madHighU64(t *thread, in *instr) {
	high, _ := bits.Mul64(t.regs[in.a], t.regs[in.b])
	t.regs[in.d] = high + t.regs[in.c]
}

func madHighS64(t *thread, in *instr) {
	t.regs[in.d] = highS64(t.regs[in.a], t.regs[in.b]) + t.regs[in.c]
}

// highS64 returns the high half of the product of two signed integers.
func highS64(a, b uint64) uint64 {
	high, _ := bits.Mul64(a, b)
	return high - uint64(int64(a)>>63)&b - uint64(int64(b)>>63)&a
}

// div and rem return all ones for a zero divisor, as the hardware does. PTX leaves the
// result undefined.
func div[T integerType](t *thread, in *instr) {
	r := t.regs
	if b := T(r[in.b]); b != 0 {
		r[in.d] = uint64(T(r[in.a]) / b)
		return
	}
	r[in.d] = ^uint64(0)
}

func rem[T integerType](t *thread, in *instr) {
	r := t.regs
	if b := T(r[in.b]); b != 0 {
		r[in.d] = uint64(T(r[in.a]) % b)
		return
	}
	r[in.d] = ^uint64(0)
}

func minimum[T integerType](t *thread, in *instr) {
	r := t.regs
	r[in.d] = uint64(min(T(r[in.a]), T(r[in.b])))
}

func maximum[T integerType](t *thread, in *instr) {
	r := t.regs
	r[in.d] = uint64(max(T(r[in.a]), T(r[in.b])))
}

func absolute[T signed](t *thread, in *instr) {
	v := T(t.regs[in.a])
	t.regs[in.d] = uint64(max(v, -v))
}

func negate[T integerType](t *thread, in *instr) {
	t.regs[in.d] = uint64(-T(t.regs[in.a]))
}

func sad[T integerType](t *thread, in *instr) {
	r := t.regs
	a, b := T(r[in.a]), T(r[in.b])
	r[in.d] = uint64(max(a, b) - min(a, b) + T(r[in.c]))
}

// exec24 returns the execution of a 24-bit multiplication: bits 0 to 31 or 16 to 47 of the
// 48-bit product.
func exec24(opcode, part string, t dataType) exec {
	if t != u32 && t != s32 {
		return nil
	}
	shift := 0
	if part == "hi" {
		shift = 16
	}
	signed, accumulate := t == s32, opcode == "mad24"
	extend := func(v uint64) int64 {
		if signed {
			return int64(v<<40) >> 40
		}
		return int64(v & (1<<24 - 1))
	}
	return func(t *thread, in *instr) {
		v := uint64(extend(t.regs[in.a])*extend(t.regs[in.b])) >> shift
		if accumulate {
			v += t.regs[in.c]
		}
		t.regs[in.d] = v
	}
}

// decodeCarry decodes the extended-precision instructions: those with .cc, which write the
// carry, and addc, subc and madc, which read it.
func decodeCarry(d *decoder) {
	writes := d.mod("cc") != ""
	part := d.mod("lo", "hi")
	t := d.typ()
	if t.size() < 4 || !t.integral() {
		d.emit(nil)
	}
	op := d.opcode
	reads := op == "addc" || op == "subc" || op == "madc"
	n := 3
	multiply := op == "mad" || op == "madc"
	if multiply {
		n = 4
	}
	d.want(n, n)
	d.in.d = d.destination(0, t)
	d.in.a = d.source(1, t)
	d.in.b = d.source(2, t)
	if multiply {
		d.in.c = d.source(3, t)
	}
	wide := t.size() == 8
	signed := t.signed()
	subtract := op == "sub" || op == "subc"
	d.emit(func(t *thread, in *instr) {
		x, y := t.regs[in.a], t.regs[in.b]
		if multiply {
			x, y = multiplyPart(x, y, part == "hi", wide, signed), t.regs[in.c]
		}
		carry := uint64(0)
		if reads {
			carry = t.carry
		}
		var sum, out uint64
		switch {
		case wide && subtract:
			sum, out = bits.Sub64(x, y, carry)
		case wide:
			sum, out = bits.Add64(x, y, carry)
		case subtract:
			s, o := bits.Sub32(uint32(x), uint32(y), uint32(carry))
			sum, out = uint64(s), uint64(o)
		default:
			s, o := bits.Add32(uint32(x), uint32(y), uint32(carry))
			sum, out = uint64(s), uint64(o)
		}
		t.regs[in.d] = sum
		if writes {
			t.carry = out
		}
	})
}

// multiplyPart returns the low or high half of a product.
func multiplyPart(x, y uint64, high, wide, signed bool) uint64 {
	switch {
	case wide && high && signed:
		return highS64(x, y)
	case wide && high:
		h, _ := bits.Mul64(x, y)
		return h
	case wide:
		return x * y
	case high && signed:
		return uint64(product[int32](x, y)) >> 32
	case high:
		return uint64(product[uint32](x, y)) >> 32
	}
	return x * y
}

// decodeDotProduct decodes dp4a, the dot product of four bytes.
func decodeDotProduct(d *decoder) {
	ta, tb := d.typ(), d.typ()
	if ta.size() != 4 || tb.size() != 4 || !ta.integral() || !tb.integral() {
		d.emit(nil)
	}
	d.want(4, 4)
	d.in.d = d.destination(0, b32)
	d.in.a = d.source(1, ta)
	d.in.b = d.source(2, tb)
	d.in.c = d.source(3, b32)
	element := func(v uint64, i int, signed bool) uint32 {
		b := byte(v >> (8 * i))
		if signed {
			return uint32(int8(b))
		}
		return uint32(b)
	}
	d.emit(func(t *thread, in *instr) {
		sum := uint32(t.regs[in.c])
		for i := range 4 {
			sum += element(t.regs[in.a], i, ta.signed()) * element(t.regs[in.b], i, tb.signed())
		}
		t.regs[in.d] = uint64(sum)
	})
}
