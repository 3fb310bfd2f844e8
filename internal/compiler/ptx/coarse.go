package ptx

import "quern.dev/internal/compiler/ir"

// blocksParam is the parameter of a coarse kernel with the number of blocks along X
// that the launch states.
const blocksParam = "quern_blocks"

// gridBlocks reads that parameter.
func (g *generator) gridBlocks() operand {
	n := g.register(b32Class)
	g.atEntry(func() { g.load("ld.param.u32", n, address{space: paramSpace, symbol: blocksParam}) })
	return n
}

// failingThread returns the block and the thread index along X of the kernel's thread
// that a failing path belongs to; see ir.Coarsening.
func (g *generator) failingThread(c *ir.Coarsening) (block, thread operand) {
	block, thread = g.register(b32Class), g.register(b32Class)
	g.emitSymbol("mov.u32", block, "%ctaid.x")
	g.emitSymbol("mov.u32", thread, "%tid.x")
	number := g.scalar(g.variable(c.Number))
	n := intOperand(b32Class, uint64(c.Threads))
	if !c.Adjacent {
		g.emit("mad.lo.u32", block, block, n, number)
		return block, thread
	}
	size, carry := g.register(b32Class), g.register(b32Class)
	g.emitSymbol("mov.u32", size, "%ntid.x")
	g.emit("mad.lo.u32", thread, thread, n, number)
	g.emit("div.u32", carry, thread, size)
	g.emit("rem.u32", thread, thread, size)
	g.emit("mad.lo.u32", block, block, n, carry)
	return block, thread
}
