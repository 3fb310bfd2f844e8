package ptx

import (
	"math"
	"math/bits"
	"strconv"

	"quern.dev/internal/compiler/ir"
)

// address is the address of a place: a symbol or a register, and an offset.
type address struct {
	space  space
	symbol string
	base   operand // a register, if there is no symbol
	memory *memory // memory of the symbol, in shared and local memory
	offset int64
	table  *table // table that contains it, for constant data
}

func (a address) plus(n int64) address {
	a.offset += n
	return a
}

func (a address) append(b []byte) []byte {
	b = append(b, '[')
	if a.symbol != "" {
		b = append(b, a.symbol...)
	} else {
		b = a.base.append(b)
	}
	if a.offset != 0 {
		b = strconv.AppendInt(append(b, '+'), a.offset, 10)
	}
	return append(b, ']')
}

// address computes the address of a place in memory, including the checks on the way.
func (g *generator) address(p ir.Place) address {
	switch p := p.(type) {
	case *ir.VarPlace:
		v := g.variable(p.Var)
		switch v.home {
		case inMemory:
			return address{space: localSpace, symbol: v.memory.name, memory: v.memory}
		case inParam:
			return address{space: paramSpace, symbol: v.param.name}
		}
		g.fail(p.Var.Pos, "variable %s has no address", p.Var.Name)
	case *ir.SharedPlace:
		return g.sharedAddress(p.Var)
	case *ir.TablePlace:
		t := g.table(p.Table)
		return address{space: t.space, symbol: t.name, table: t}
	case *ir.DerefPlace:
		g.at(p.Pos)
		base, space := g.pointer(p.Ptr)
		if p.Check {
			g.checkNil(base, space, p.Pos)
		}
		return address{space: space, base: g.inRegister(base)}
	case *ir.FieldPlace:
		a := g.address(p.X)
		return a.plus(p.X.Type().Fields[p.Field].Offset)
	case *ir.IndexPlace:
		if a, ok := g.settledFirst(p); ok {
			return a
		}
		a := g.address(p.X)
		n := p.X.Type().Len
		return g.index(a, p.Index, p.Check, p.Pos, p.Type().Size(), length{constant: n, most: n})
	case *ir.ArrayPlace:
		s := g.slice(p.Slice)
		if p.Check {
			g.at(p.Pos)
			g.checkBound(intOperand(b64Class, uint64(p.T.Len)), g.sliceLength(s), p.Pos, s.origin(p.T.Elem))
		}
		return address{space: s.space, base: g.inRegister(g.slicePointer(s))}
	case *ir.ElemPlace:
		s := g.slice(p.Slice)
		a := address{space: s.space, base: g.inRegister(g.slicePointer(s))}
		return g.index(a, p.Index, p.Check, p.Pos, p.Type().Size(), length{slice: &s, most: s.maxLength, text: s.origin(p.Type())})
	}
	return address{space: globalSpace, base: zeroOperand(b64Class)}
}

// length is the length that an index is checked against.
type length struct {
	constant int64
	slice    *slice // unless constant
	most     int64  // upper bound
	text     string // of the site
}

// index adds the offset of an element to a, which is the address of an array or of a
// slice's first element.
func (g *generator) index(a address, index ir.Expr, check bool, pos ir.Pos, size int64, n length) address {
	index = stripWidening(index)
	if c, ok := index.(*ir.Const); ok && 0 <= c.Int64() && c.Int64() < 1<<24 && size < 1<<24 {
		if check && (n.slice != nil || c.Int64() >= n.constant) {
			g.at(pos)
			g.checkIndex(constOperand(c), true, n, pos)
		}
		return g.offset(a, c.Int64()*size)
	}
	variable, constant := splitIndex(index, n.most)
	variable = stripWidening(variable)
	near := n.slice
	if constant > 0 && n.most > 1<<31 && classOf(variable.Type()) != classOf(index.Type()) {
		near = nil // from -constant to 1<<31-1: a difference may take more than 32 bits
	}
	if !check {
		key, base, known := g.steadyBase(a, variable, size)
		if !known {
			base = g.element(near, variable, constant, size, func() operand { return g.scaledBy(a, variable, size) })
			if g.steady.keeping && key.size != 0 {
				g.steady.known[key] = base
			}
		}
		return g.offset(address{space: a.space, base: base, offset: a.offset, table: a.table}, constant*size)
	}
	x, signed := g.indexValue(variable)
	g.at(pos)
	full := x
	if constant != 0 {
		if full.class != classOf(index.Type()) {
			full = g.widen(full, signed)
		}
		sum := g.register(full.class)
		g.emit("add."+arithmeticType(index.Type().Kind), sum, full, intOperand(full.class, uint64(constant)))
		full = sum
	}
	g.checkIndex(full, signed, n, pos)
	a.base = g.element(near, variable, constant, size, func() operand { return g.scaled(a, x, signed, size).base })
	a.symbol = ""
	return g.offset(a, constant*size)
}

// scaledBy returns the register with a + index*size, without a's offset.
func (g *generator) scaledBy(a address, index ir.Expr, size int64) operand {
	if size == 0 {
		return g.base(a)
	}
	if a.space.class() == b32Class {
		return g.scaled(a, g.low32(index, operand{}), true, size).base
	}
	x, signed := g.indexValue(index)
	return g.scaled(a, x, signed, size).base
}

// indexValue evaluates an index. Thread coordinates need only 32 bits.
func (g *generator) indexValue(e ir.Expr) (value operand, signed bool) {
	if t, ok := e.(*ir.ThreadValue); ok {
		return g.coordinate(t.Op), true
	}
	return g.value(e), e.Type().IsSigned()
}

// stripWidening removes conversions to 64 bits from 64 or fewer bits: the converted
// value is the same index.
func stripWidening(e ir.Expr) ir.Expr {
	for {
		c, ok := e.(*ir.Convert)
		if !ok || !c.T.IsInteger() || !c.X.Type().IsInteger() || classOf(c.T) != b64Class {
			return e
		}
		e = c.X
	}
}

// splitIndex splits an index into a variable part and a constant that can be added to
// the address instead, if that is exact.
//
// In 64 bits it always is, because address arithmetic is modulo 1<<64. In 32 bits the
// sum i+c may have wrapped. It is known to be at least 0 and below the length (by its
// check, or because a pass proved it). So for c > 0 it has not wrapped. For c < 0, a
// wrapped sum is at least 1<<31 + c, and no length is above that.
func splitIndex(e ir.Expr, maxLength int64) (variable ir.Expr, constant int64) {
	b, ok := e.(*ir.Binary)
	if !ok || b.Op != ir.Add && b.Op != ir.Sub {
		return e, 0
	}
	x, y := b.X, b.Y
	if _, ok := x.(*ir.Const); ok && b.Op == ir.Add {
		x, y = y, x
	}
	c, ok := y.(*ir.Const)
	if !ok {
		return e, 0
	}
	v := c.Int64()
	if b.Op == ir.Sub {
		v = -v
	}
	const most = 1 << 20 // instructions have 24-bit offsets
	if v < -most || v > most {
		return e, 0
	}
	switch t := b.Type(); {
	case classOf(t) == b64Class,
		t.Kind == ir.Int32 && (v > 0 || maxLength <= 1<<31+v):
		return x, v
	}
	return e, 0
}

// offset adds a constant number of bytes.
func (g *generator) offset(a address, n int64) address {
	if a.offset+n == int64(int32(a.offset+n)) {
		return a.plus(n)
	}
	base := g.materialise(a)
	sum := g.register(base.class)
	g.emit("add."+addressType(a.space), sum, base, intOperand(base.class, uint64(n)))
	return address{space: a.space, base: sum, table: a.table}
}

// scaled adds x*size to the address.
func (g *generator) scaled(a address, x operand, signed bool, size int64) address {
	base := g.base(a)
	sum := g.register(base.class)
	factor := intOperand(x.class, uint64(size))
	switch {
	case size == 0:
		return a
	case base.class == b32Class:
		if x.class == b64Class {
			x = g.low(x)
		}
		factor.class = b32Class
		if size == 1 {
			g.emit("add.u32", sum, base, x)
		} else {
			g.emit("mad.lo.u32", sum, x, factor, base)
		}
	case size == 1 && (a.space == constSpace || a.space == paramSpace):
		// The compiler of driver 580 crashes if the index of a byte in constant memory is a
		// selection of 0 or 1 that is added in 64 bits, but not if it is multiplied in 32 bits.
		if x.class == b64Class {
			x, signed = g.low(x), false // such memory is small
		}
		g.addProduct(sum, base, x, intOperand(b32Class, 1), signed)
	case x.class == b32Class && 1 < size && size <= math.MaxInt32:
		g.addProduct(sum, base, x, factor, signed)
	default:
		if x.class == b32Class {
			x = g.widen(x, signed)
			factor.class = b64Class
		}
		switch {
		case size == 1:
			g.emit("add.u64", sum, base, x)
		case bits.OnesCount64(uint64(size)) == 1:
			t := g.register(b64Class)
			g.emit("shl.b64", t, x, intOperand(b32Class, uint64(bits.TrailingZeros64(uint64(size)))))
			g.emit("add.u64", sum, base, t)
		default:
			g.emit("mad.lo.u64", sum, x, factor, base)
		}
	}
	return address{space: a.space, base: sum, offset: a.offset, table: a.table}
}

// addProduct sets the 64-bit register sum to base + x*y for x and y of 32 bits. ptxas (13.5) shares
// products between sums and folds their constants if they are instructions of their own, and
// often takes twice as many instructions for mad.wide.
func (g *generator) addProduct(sum, base, x, y operand, signed bool) {
	product := g.register(b64Class)
	if signed {
		g.emit("mul.wide.s32", product, x, y)
	} else {
		g.emit("mul.wide.u32", product, x, y)
	}
	g.emit("add.u64", sum, base, product)
}

// addressType returns the instruction type for address arithmetic in a space.
func addressType(s space) string {
	if s.class() == b32Class {
		return "u32"
	}
	return "u64"
}

// base returns a register with the address without its offset.
func (g *generator) base(a address) operand {
	if a.symbol == "" {
		return a.base
	}
	var cached *operand
	switch {
	case a.memory != nil:
		cached = &a.memory.base
	case a.table != nil:
		cached = &a.table.base
	default:
		r := g.register(b64Class)
		g.emitSymbol("mov.b64", r, a.symbol)
		return r
	}
	if cached.isNone() {
		*cached = g.register(a.space.class())
		g.atEntry(func() { g.emitSymbol("mov."+addressType(a.space), *cached, a.symbol) })
	}
	return *cached
}

// materialise returns a register with the whole address.
func (g *generator) materialise(a address) operand {
	base := g.base(a)
	if a.offset == 0 {
		return base
	}
	sum := g.register(base.class)
	g.emit("add."+addressType(a.space), sum, base, intOperand(base.class, uint64(a.offset)))
	return sum
}

// loadPlace reads a scalar place.
func (g *generator) loadPlace(p ir.Place, dst operand) operand {
	t := p.Type()
	if v, ok := p.(*ir.VarPlace); ok {
		if v := g.variable(v.Var); v.home == inRegisters {
			return g.scalar(v)
		}
	}
	a := g.address(p)
	if a.table != nil && a.symbol != "" {
		if o, ok := a.table.constant(t, a.offset); ok {
			return o
		}
	}
	opcode := "ld" + a.space.directive()
	if a.table != nil && a.space == globalSpace {
		opcode += ".nc"
	}
	opcode += "." + memoryType(t.Kind)
	if t.Kind == ir.Bool {
		b := g.register(b32Class)
		g.load(opcode, b, a)
		dst = g.into(dst, predClass)
		g.emit("setp.ne.u32", dst, b, zeroOperand(b32Class))
		return dst
	}
	dst = g.into(dst, classOf(t))
	g.load(opcode, dst, a)
	return dst
}

// storePlace writes a scalar to a place in memory.
func (g *generator) storePlace(p ir.Place, value operand) {
	a := g.address(p)
	if a.table != nil || a.space == paramSpace {
		g.fail(ir.Pos{}, "assignment to constant memory")
	}
	g.store("st"+a.space.directive()+"."+memoryType(p.Type().Kind), a, g.byteOf(value))
}

// byteOf returns the register or immediate that is stored for a value: predicates
// become 0 or 1.
func (g *generator) byteOf(value operand) operand {
	if value.class != predClass {
		return value
	}
	if value.immediate {
		return intOperand(b32Class, value.n)
	}
	r := g.register(b32Class)
	g.emit("selp.u32", r, intOperand(b32Class, 1), zeroOperand(b32Class), value)
	return r
}
