package ptx

import "quern.dev/internal/compiler/ir"

// countAs emits a count of bits in the width of the intrinsic's type.
func (g *generator) countAs(e *ir.Intrinsic, dst operand) operand {
	if classOf(e.T) == b32Class {
		return g.count(e, dst)
	}
	return g.widenTo(dst, g.count(e, operand{}), false)
}

// count emits a count of bits as 32 bits.
func (g *generator) count(e *ir.Intrinsic, dst operand) operand {
	k := e.Args[0].Type().Kind
	size := uint64(width(k))
	x, typ := g.value(e.Args[0]), bitType(k)
	switch e.Op {
	case ir.OnesCount:
		x = g.zeroExtended(k, x)
		dst = g.into(dst, b32Class)
		g.emit("popc."+typ, dst, x)
		return dst
	case ir.LeadingZeros:
		x = g.zeroExtended(k, x)
		if size >= 32 {
			dst = g.into(dst, b32Class)
			g.emit("clz."+typ, dst, x)
			return dst
		}
		n := g.register(b32Class)
		g.emit("clz.b32", n, x)
		dst = g.into(dst, b32Class)
		g.emit("sub.s32", dst, n, intOperand(b32Class, 32-size))
		return dst
	case ir.TrailingZeros:
		if size < 32 { // a bit above the value stops the count
			marked := g.register(b32Class)
			g.emit("or.b32", marked, x, intOperand(b32Class, 1<<size))
			x = marked
		}
		reversed := g.register(x.class)
		g.emit("brev."+typ, reversed, x)
		dst = g.into(dst, b32Class)
		g.emit("clz."+typ, dst, reversed)
		return dst
	}
	g.fail(e.Pos, "intrinsic %s on %s", e.Op, k)
	return zeroOperand(b32Class)
}

// zeroExtended clears the bits above a signed kind of less than 32 bits.
func (g *generator) zeroExtended(k ir.Kind, x operand) operand {
	var unsigned ir.Kind
	switch k {
	case ir.Int8:
		unsigned = ir.Uint8
	case ir.Int16:
		unsigned = ir.Uint16
	default:
		return x
	}
	r := g.register(b32Class)
	g.extend(unsigned, r, x)
	return r
}

func (g *generator) reverseBits(e *ir.Intrinsic, dst operand) operand {
	k := e.T.Kind
	x := g.value(e.Args[0])
	if size := uint64(width(k)); size < 32 {
		r, s := g.register(b32Class), g.register(b32Class)
		g.emit("brev.b32", r, x)
		g.emit("shr.u32", s, r, intOperand(b32Class, 32-size))
		if !e.T.IsSigned() {
			return s
		}
		dst = g.into(dst, b32Class)
		g.extend(k, dst, s)
		return dst
	}
	dst = g.into(dst, classOf(e.T))
	g.emit("brev."+bitType(k), dst, x)
	return dst
}

func (g *generator) reverseBytes(e *ir.Intrinsic, dst operand) operand {
	// Digits of a prmt selector select bytes, lowest digit first: 0 to 3 of the first
	// operand, 4 to 7 of the second.
	const (
		swap32 = 0x0123
		swap16 = 0x4401
	)
	x := g.value(e.Args[0])
	permute := func(dst, x operand, selector uint64) operand {
		dst = g.into(dst, b32Class)
		g.emit("prmt.b32", dst, x, zeroOperand(b32Class), intOperand(b32Class, selector))
		return dst
	}
	switch width(e.T.Kind) {
	case 8:
		return x
	case 16:
		if e.T.IsSigned() {
			r := permute(operand{}, x, swap16)
			dst = g.into(dst, b32Class)
			g.extend(e.T.Kind, dst, r)
			return dst
		}
		return permute(dst, x, swap16)
	case 32:
		return permute(dst, x, swap32)
	}
	lo, hi := g.register(b32Class), g.register(b32Class)
	g.split(lo, hi, g.inRegister(x))
	lo, hi = permute(operand{}, lo, swap32), permute(operand{}, hi, swap32)
	dst = g.into(dst, b64Class)
	g.join(dst, hi, lo)
	return dst
}

// rotate emits a left rotation. Only the low bits of the count matter, whatever its
// sign.
func (g *generator) rotate(e *ir.Intrinsic, dst operand) operand {
	k := e.T.Kind
	size := uint64(width(k))
	x, count := g.value(e.Args[0]), g.low32(e.Args[1], operand{})
	if size == 32 {
		dst = g.into(dst, b32Class)
		g.emit("shf.l.wrap.b32", dst, x, x, count)
		return dst
	}
	x = g.zeroExtended(k, x)
	var left, right operand
	if count.immediate {
		left = intOperand(b32Class, count.n&(size-1))
		right = intOperand(b32Class, size-left.n)
	} else {
		left, right = g.register(b32Class), g.register(b32Class)
		g.emit("and.b32", left, count, intOperand(b32Class, size-1))
		g.emit("sub.s32", right, intOperand(b32Class, size), left)
	}
	class, typ := classOf(e.T), bitType(k)
	high, low := g.register(class), g.register(class)
	g.emit("shl."+typ, high, x, left)
	g.emit("shr.u"+typ[1:], low, x, right)
	dst = g.into(dst, class)
	// ptxas finds rotations of 64 bits in sums only, not in disjunctions.
	g.emit("add.u"+typ[1:], dst, high, low)
	g.extend(k, dst, dst)
	return dst
}
