package ptx

import "quern.dev/internal/compiler/ir"

var specialRegisters = map[ir.ThreadOp]string{
	ir.ThreadIdxX: "%tid.x", ir.ThreadIdxY: "%tid.y", ir.ThreadIdxZ: "%tid.z",
	ir.BlockIdxX: "%ctaid.x", ir.BlockIdxY: "%ctaid.y", ir.BlockIdxZ: "%ctaid.z",
	ir.BlockDimX: "%ntid.x", ir.BlockDimY: "%ntid.y", ir.BlockDimZ: "%ntid.z",
	ir.GridDimX: "%nctaid.x", ir.GridDimY: "%nctaid.y", ir.GridDimZ: "%nctaid.z",
	ir.LaneID: "%laneid",
}

// coordinate returns a coordinate of the thread as 32 bits; all are below 1<<31. It is
// read once, at entry.
func (g *generator) coordinate(op ir.ThreadOp) operand {
	if o, ok := g.coords[op]; ok {
		return o
	}
	var o operand
	switch {
	case op >= ir.BlockDimX && op <= ir.BlockDimZ && g.kernel.Options.Block[0] > 0:
		n := g.kernel.Options.Block[op-ir.BlockDimX]
		o = intOperand(b32Class, uint64(max(n, 1)))
	case op == ir.GridDimX && g.kernel.Coarse != nil:
		o = g.gridBlocks()
	case op == ir.WarpID:
		o = g.warpID()
	default:
		o = g.register(b32Class)
		g.atEntry(func() { g.emitSymbol("mov.u32", o, specialRegisters[op]) })
	}
	g.coords[op] = o
	return o
}

// warpID returns the number of the thread's warp in its block, computed from the
// thread's linear index: the special register %warpid may change while a thread runs.
func (g *generator) warpID() operand {
	x, y, z := g.coordinate(ir.ThreadIdxX), g.coordinate(ir.ThreadIdxY), g.coordinate(ir.ThreadIdxZ)
	nx, ny := g.coordinate(ir.BlockDimX), g.coordinate(ir.BlockDimY)
	plane, linear, warp := g.register(b32Class), g.register(b32Class), g.register(b32Class)
	g.atEntry(func() {
		g.emit("mad.lo.u32", plane, z, ny, y)
		g.emit("mad.lo.u32", linear, plane, nx, x)
		g.emit("shr.u32", warp, linear, intOperand(b32Class, 5))
	})
	return warp
}
