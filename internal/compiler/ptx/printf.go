package ptx

import "quern.dev/internal/compiler/ir"

// Offsets in the control block, and of the words of a message; see package driver.
const (
	controlPrinted  = 4
	controlOutput   = 16
	controlCapacity = 24
	controlDropped  = 28

	recordPrinted = 12

	messageFormat = 4
	messageKernel = 8
	messageArgs   = 16
)

// print stores a message. A counter allocates the space, so messages do not wait for
// each other; the counter stops growing once it is past the end.
func (g *generator) print(s *ir.Effect) {
	var args []operand
	for _, x := range s.Args {
		args = append(args, g.messageWord(x))
	}
	size := intOperand(b32Class, uint64(messageArgs+8*len(args)))
	at := func(base operand, offset int64) address {
		return address{space: globalSpace, base: base, offset: offset}
	}
	dropped, done := g.newLabel(), g.newLabel()

	control, record := g.register(b64Class), g.register(b64Class)
	g.load("ld.param.u64", control, address{space: paramSpace, symbol: faultParam})
	g.emit("cvta.to.global.u64", control, control)
	g.load("ld.global.u64", record, at(control, controlRecord))
	g.emit("cvta.to.global.u64", record, record)

	used, capacity, full := g.register(b32Class), g.register(b32Class), g.register(predClass)
	g.load("ld.volatile.global.u32", used, at(control, controlPrinted))
	g.load("ld.global.u32", capacity, at(control, controlCapacity))
	g.emit("setp.gt.u32", full, used, capacity)
	g.jumpIf(condition{pred: full}, dropped)
	start, end := g.register(b32Class), g.register(b32Class)
	g.atomic("atom.global.add.u32", start, at(control, controlPrinted), size)
	g.emit("add.u32", end, start, size)
	g.emit("setp.gt.u32", full, end, capacity)
	g.jumpIf(condition{pred: full}, dropped)

	message, offset, number := g.register(b64Class), g.register(b64Class), g.register(b32Class)
	g.load("ld.global.u64", message, at(control, controlOutput))
	g.emit("cvta.to.global.u64", message, message)
	g.emit("cvt.u64.u32", offset, start)
	g.emit("add.u64", message, message, offset)
	g.load("ld.param.u32", number, address{space: paramSpace, symbol: kernelParam})
	g.store("st.global.u32", at(message, messageFormat), intOperand(b32Class, uint64(s.Format.ID)))
	g.store("st.global.u32", at(message, messageKernel), number)
	for i, x := range args {
		g.store("st.global.b64", at(message, messageArgs+8*int64(i)), x)
	}
	g.store("st.global.u32", at(message, 0), size)
	g.store("st.volatile.global.u32", at(record, recordPrinted), intOperand(b32Class, 1))
	g.jump(done)

	g.place(dropped)
	g.atomic("red.global.add.u32", operand{}, at(control, controlDropped), intOperand(b32Class, 1))
	g.store("st.volatile.global.u32", at(record, recordPrinted), intOperand(b32Class, 1))
	g.place(done)
}

// messageWord returns a scalar's bits as 64 bits, with integers extended by their
// signedness.
func (g *generator) messageWord(x ir.Expr) operand {
	t := x.Type()
	v := g.value(x)
	switch classOf(t) {
	case predClass:
		if v.immediate {
			return intOperand(b64Class, v.n)
		}
		return g.widen(g.choose(operand{}, condition{pred: v}, intOperand(b32Class, 1), intOperand(b32Class, 0)), false)
	case f32Class:
		bits := g.register(b32Class)
		g.emit("mov.b32", bits, g.inRegister(v))
		return g.widen(bits, false)
	case f64Class:
		bits := g.register(b64Class)
		g.emit("mov.b64", bits, g.inRegister(v))
		return bits
	case b64Class:
		return v
	}
	return g.widen(v, t.IsSigned())
}
