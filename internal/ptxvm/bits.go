package ptxvm

import "math/bits"

func decodeLogic(d *decoder) {
	t := d.typ()
	if t.class() != bitsClass && t != pred {
		d.emit(nil)
	}
	n := 3
	switch d.opcode {
	case "not", "cnot", "brev":
		n = 2
	}
	d.want(n, n)
	d.in.d = d.destination(0, t)
	d.in.a = d.source(1, t)
	if n == 3 {
		d.in.b = d.source(2, t)
	}
	d.emit(logicExec(d.opcode, t))
}

func logicExec(opcode string, t dataType) exec {
	if t == b8 {
		return nil
	}
	switch opcode {
	case "and":
		return func(t *thread, in *instr) { r := t.regs; r[in.d] = r[in.a] & r[in.b] }
	case "or":
		return func(t *thread, in *instr) { r := t.regs; r[in.d] = r[in.a] | r[in.b] }
	case "xor":
		return func(t *thread, in *instr) { r := t.regs; r[in.d] = r[in.a] ^ r[in.b] }
	case "not":
		if t == pred {
			return notPred
		}
		return func(t *thread, in *instr) { r := t.regs; r[in.d] = ^r[in.a] }
	case "cnot":
		return selectBySize(t, logicalNot[uint16], logicalNot[uint32], logicalNot[uint64])
	case "brev":
		return selectBySize(t, nil,
			func(t *thread, in *instr) { t.regs[in.d] = uint64(bits.Reverse32(uint32(t.regs[in.a]))) },
			func(t *thread, in *instr) { t.regs[in.d] = bits.Reverse64(t.regs[in.a]) })
	}
	return nil
}

func notPred(t *thread, in *instr) { t.regs[in.d] = t.regs[in.a]&1 ^ 1 }

func logicalNot[T unsigned](t *thread, in *instr) {
	t.regs[in.d] = truth(T(t.regs[in.a]) == 0)
}

// decodeShift decodes shl and shr. A shift by the width or more shifts out all bits.
func decodeShift(d *decoder) {
	t := d.typ()
	d.want(3, 3)
	d.in.d = d.destination(0, t)
	d.in.a = d.source(1, t)
	d.in.b = d.source(2, u32)
	if d.opcode == "shl" {
		d.emit(selectBySize(t, shiftLeft[uint16], shiftLeft[uint32], shiftLeft[uint64]))
		return
	}
	d.emit(selectBySign(t, shiftRight[uint16], shiftRight[uint32], shiftRight[uint64],
		shiftRight[int16], shiftRight[int32], shiftRight[int64]))
}

func shiftLeft[T integerType](t *thread, in *instr) {
	r := t.regs
	r[in.d] = uint64(T(r[in.a]) << uint32(r[in.b]))
}

func shiftRight[T integerType](t *thread, in *instr) {
	r := t.regs
	r[in.d] = uint64(T(r[in.a]) >> uint32(r[in.b]))
}

func decodeFunnelShift(d *decoder) {
	direction := d.mod("l", "r")
	mode := d.mod("clamp", "wrap")
	if t := d.typ(); t != b32 || direction == "" || mode == "" {
		d.emit(nil)
	}
	d.want(4, 4)
	d.in.d = d.destination(0, b32)
	d.in.a = d.source(1, b32)
	d.in.b = d.source(2, b32)
	d.in.c = d.source(3, u32)
	left, wrap := direction == "l", mode == "wrap"
	d.emit(func(t *thread, in *instr) {
		v := t.regs[in.b]<<32 | t.regs[in.a]&(1<<32-1)
		n := uint32(t.regs[in.c])
		if wrap {
			n &= 31
		} else {
			n = min(n, 32)
		}
		if left {
			t.regs[in.d] = v << n >> 32
		} else {
			t.regs[in.d] = v >> n
		}
	})
}

func decodeLop3(d *decoder) {
	if d.typ() != b32 {
		d.emit(nil)
	}
	d.want(5, 5)
	d.in.d = d.destination(0, b32)
	d.in.a = d.source(1, b32)
	d.in.b = d.source(2, b32)
	d.in.c = d.source(3, b32)
	table := d.immediate(4)
	if table > 0xff {
		d.p.fail("%s: lookup table %#x has more than 8 bits", d.text, table)
	}
	d.emit(func(t *thread, in *instr) {
		a, b, c := t.regs[in.a], t.regs[in.b], t.regs[in.c]
		var v uint64
		for i := range 8 {
			if table>>i&1 == 0 {
				continue
			}
			x, y, z := a, b, c
			if i&4 == 0 {
				x = ^x
			}
			if i&2 == 0 {
				y = ^y
			}
			if i&1 == 0 {
				z = ^z
			}
			v |= x & y & z
		}
		t.regs[in.d] = v
	})
}

// decodeCount decodes popc and clz.
func decodeCount(d *decoder) {
	t := d.typ()
	d.want(2, 2)
	d.in.d = d.destination(0, b32)
	d.in.a = d.source(1, t)
	if d.opcode == "popc" {
		d.emit(selectBySize(t, nil,
			func(t *thread, in *instr) { t.regs[in.d] = uint64(bits.OnesCount32(uint32(t.regs[in.a]))) },
			func(t *thread, in *instr) { t.regs[in.d] = uint64(bits.OnesCount64(t.regs[in.a])) }))
		return
	}
	d.emit(selectBySize(t, nil,
		func(t *thread, in *instr) { t.regs[in.d] = uint64(bits.LeadingZeros32(uint32(t.regs[in.a]))) },
		func(t *thread, in *instr) { t.regs[in.d] = uint64(bits.LeadingZeros64(t.regs[in.a])) }))
}

// decodeFind decodes bfind, which finds the highest bit that differs from the sign. The
// result is all ones if there is none.
func decodeFind(d *decoder) {
	shift := d.mod("shiftamt") != ""
	t := d.typ()
	if t.size() < 4 || t.class() != integerClass {
		d.emit(nil)
	}
	d.want(2, 2)
	d.in.d = d.destination(0, u32)
	d.in.a = d.source(1, t)
	width := 8 * t.size()
	d.emit(func(th *thread, in *instr) {
		v := th.regs[in.a] << (64 - width)
		if t.signed() && int64(v) < 0 {
			v = ^v
		}
		v >>= 64 - width
		found := uint32(bits.Len64(v) - 1)
		if shift && v != 0 {
			found = uint32(width-1) - found
		}
		th.regs[in.d] = uint64(found)
	})
}

// field returns the low eight bits of the position and length operands of bfe and bfi.
func field(position, length uint64) (pos, n uint64) { return position & 0xff, length & 0xff }

func decodeExtract(d *decoder) {
	t := d.typ()
	if t.size() < 4 || t.class() != integerClass {
		d.emit(nil)
	}
	d.want(4, 4)
	d.in.d = d.destination(0, t)
	d.in.a = d.source(1, t)
	d.in.b = d.source(2, u32)
	d.in.c = d.source(3, u32)
	width := uint64(8 * t.size())
	d.emit(func(th *thread, in *instr) {
		v := th.regs[in.a] & (^uint64(0) >> (64 - width))
		pos, n := field(th.regs[in.b], th.regs[in.c])
		mask := uint64(1)<<n - 1
		result := v >> pos & mask
		if t.signed() && n > 0 && v>>min(pos+n-1, width-1)&1 != 0 {
			inside := min(n, width-min(pos, width))
			result |= ^uint64(0) << inside
		}
		th.regs[in.d] = result
	})
}

func decodeInsert(d *decoder) {
	t := d.typ()
	if t != b32 && t != b64 {
		d.emit(nil)
	}
	d.want(5, 5)
	d.in.d = d.destination(0, t)
	d.in.a = d.source(1, t)
	d.in.b = d.source(2, t)
	d.in.c = d.source(3, u32)
	d.in.slots = []int32{d.source(4, u32)}
	d.emit(func(t *thread, in *instr) {
		pos, n := field(t.regs[in.c], t.regs[in.slots[0]])
		mask := (uint64(1)<<n - 1) << pos
		t.regs[in.d] = t.regs[in.b]&^mask | t.regs[in.a]<<pos&mask
	})
}

// decodePermute decodes prmt, which selects four of the eight bytes of two registers.
func decodePermute(d *decoder) {
	mode := d.mod("f4e", "b4e", "rc8", "ecl", "ecr", "rc16")
	if t := d.typ(); t != b32 {
		d.emit(nil)
	}
	d.want(4, 4)
	d.in.d = d.destination(0, b32)
	d.in.a = d.source(1, b32)
	d.in.b = d.source(2, b32)
	d.in.c = d.source(3, b32)
	d.emit(func(t *thread, in *instr) {
		v := t.regs[in.b]<<32 | t.regs[in.a]&(1<<32-1)
		selectors := permuteSelectors(mode, uint32(t.regs[in.c]))
		var result uint64
		for i := range 4 {
			s := selectors >> (4 * i) & 0xf
			b := v >> (8 * (s & 7)) & 0xff
			if s&8 != 0 { // replicate the sign
				b = uint64(uint8(int8(b) >> 7))
			}
			result |= b << (8 * i)
		}
		t.regs[in.d] = result
	})
}

// permuteSelectors returns the four selectors, four bits each, of a prmt mode
// (PTX ISA, prmt, table of modes).
func permuteSelectors(mode string, c uint32) uint32 {
	n := c & 3
	nibbles := func(a, b, c, d uint32) uint32 { return a | b<<4 | c<<8 | d<<12 }
	switch mode {
	case "f4e":
		return nibbles(n, n+1, n+2, n+3)
	case "b4e":
		return nibbles(n, (n-1)&7, (n-2)&7, (n-3)&7)
	case "rc8":
		return nibbles(n, n, n, n)
	case "ecl":
		return nibbles(max(n, 0), max(n, 1), max(n, 2), max(n, 3))
	case "ecr":
		return nibbles(min(n, 0), min(n, 1), min(n, 2), min(n, 3))
	case "rc16":
		n &= 1
		return nibbles(2*n, 2*n+1, 2*n, 2*n+1)
	}
	return c
}
