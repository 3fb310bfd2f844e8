package ptx

import "quern.dev/internal/compiler/ir"

// warp emits a warp operation. After the pass collectives, only shuffles, votes and
// barriers are left.
func (g *generator) warp(s *ir.Warp) {
	switch s.Op {
	case ir.WarpShuffle, ir.WarpShuffleUp, ir.WarpShuffleDown, ir.WarpShuffleXor:
		g.shuffle(s)
	case ir.WarpBallot:
		g.vote("vote.sync.ballot.b32", s)
	case ir.WarpAny:
		g.vote("vote.sync.any.pred", s)
	case ir.WarpAll:
		g.vote("vote.sync.all.pred", s)
	case ir.WarpSync:
		g.emit("bar.warp.sync", g.members().mask)
	case ir.WarpLoadMatrix, ir.WarpLoadMatrixTransposed:
		g.loadMatrix(s)
	default:
		switch {
		case s.Op.IsMMA():
			g.mma(s)
			return
		case s.Op.IsGroupMMA():
			g.groupMMA(s)
			return
		}
		g.fail(s.Pos, "warp operation %s", s.Op)
	}
}

func (g *generator) vote(opcode string, s *ir.Warp) {
	x := g.inRegister(g.value(s.Args[0]))
	class := predClass
	if s.Op == ir.WarpBallot {
		class = b32Class
	}
	g.result(s.Dst[0], class, func(dst operand) { g.emit(opcode, dst, x, g.members().mask) })
}

var shuffleModes = map[ir.WarpOp]string{
	ir.WarpShuffle: "idx", ir.WarpShuffleUp: "up", ir.WarpShuffleDown: "down", ir.WarpShuffleXor: "bfly",
}

// shuffle emits one shfl per 32 bits of the value. The operand that limits the lanes
// makes the thread's own value replace that of a missing lane.
func (g *generator) shuffle(s *ir.Warp) {
	x := g.inRegister(g.value(s.Args[0]))
	lane := g.low(g.value(s.Args[1]))
	m := g.members()
	limit := m.last
	if s.Op == ir.WarpShuffleUp {
		limit = zeroOperand(b32Class)
	}
	opcode := "shfl.sync." + shuffleModes[s.Op] + ".b32"
	word := func(dst, src operand) { g.emit(opcode, dst, src, lane, limit, m.mask) }
	g.result(s.Dst[0], x.class, func(dst operand) {
		switch x.class {
		case predClass:
			from, to := g.choose(operand{}, condition{pred: x}, intOperand(b32Class, 1), zeroOperand(b32Class)), g.register(b32Class)
			word(to, from)
			g.emit("setp.ne.u32", dst, to, zeroOperand(b32Class))
		case b64Class, f64Class:
			lo, hi := g.register(b32Class), g.register(b32Class)
			g.split(lo, hi, x)
			word(lo, lo)
			word(hi, hi)
			g.join(dst, lo, hi)
		default:
			word(dst, x)
		}
	})
	if s.Dst[1] != nil {
		g.result(s.Dst[1], predClass, func(dst operand) { g.hasLane(s.Op, dst, lane, m.last) })
	}
}

// hasLane sets dst to whether the lane that a shuffle reads exists. The instruction has
// such a result, but if the shuffled value is the same in all lanes, ptxas (13.0, 13.5)
// assumes that this result is the same too, and then omits shuffles of values that
// depend on it.
func (g *generator) hasLane(op ir.WarpOp, dst, distance, last operand) {
	own, other := g.coordinate(ir.LaneID), g.register(b32Class)
	if distance.immediate {
		distance.n &= ir.WarpSize - 1
	} else {
		low := g.register(b32Class)
		g.emit("and.b32", low, distance, intOperand(b32Class, ir.WarpSize-1))
		distance = low
	}
	switch op {
	case ir.WarpShuffleUp:
		g.emit("setp.ge.u32", dst, own, distance)
		return
	case ir.WarpShuffleDown:
		g.emit("add.u32", other, own, distance)
	case ir.WarpShuffleXor:
		g.emit("xor.b32", other, own, distance)
	default:
		g.move(other, distance)
	}
	g.emit("setp.le.u32", dst, other, last)
}

// result lets compute store a value of class c in the register of the destination
// variable, or in a fresh one.
func (g *generator) result(v *ir.Local, c class, compute func(dst operand)) {
	if v == nil {
		compute(g.register(c))
		return
	}
	if home := g.variable(v); home.home == inRegisters {
		compute(g.scalar(home))
		return
	}
	dst := g.register(c)
	compute(dst)
	g.storePlace(&ir.VarPlace{Var: v}, dst)
}

// members describes the lanes of the thread's warp: a mask and the number of the last
// lane.
type members struct{ mask, last operand }

// members returns the lanes of the warp. Only the last warp of a block can have fewer
// than 32; a declared block tells whether it does.
func (g *generator) members() members {
	if g.kernel.Options.FullWarps() {
		return members{intOperand(b32Class, ^uint64(0)), intOperand(b32Class, 31)}
	}
	if !g.lanes.mask.isNone() {
		return g.lanes
	}
	x, y, z := g.coordinate(ir.BlockDimX), g.coordinate(ir.BlockDimY), g.coordinate(ir.BlockDimZ)
	warp := g.coordinate(ir.WarpID)
	m := members{g.register(b32Class), g.register(b32Class)}
	area, threads, first, lanes := g.register(b32Class), g.register(b32Class), g.register(b32Class), g.register(b32Class)
	g.atEntry(func() {
		g.emit("mul.lo.u32", area, x, y)
		g.emit("mul.lo.u32", threads, area, z)
		g.emit("shl.b32", first, warp, intOperand(b32Class, 5))
		g.emit("sub.u32", lanes, threads, first)
		g.emit("min.u32", lanes, lanes, intOperand(b32Class, 32))
		g.emit("sub.u32", m.last, lanes, intOperand(b32Class, 1))
		// PTX shifts by 32 to 0.
		g.emit("shl.b32", m.mask, intOperand(b32Class, 1), lanes)
		g.emit("sub.u32", m.mask, m.mask, intOperand(b32Class, 1))
	})
	g.lanes = m
	return m
}
