package ptx

import (
	"fmt"

	"quern.dev/internal/compiler/ir"
)

// barrierOf waits for the threads in the barrier's reach.
func (g *generator) barrierOf(r ir.Reach) {
	switch r {
	case ir.OfCluster:
		g.needCluster()
		g.emit("barrier.cluster.arrive")
		g.emit("barrier.cluster.wait")
	case ir.OfGrid:
		g.gridBarrier()
	default:
		g.barrier()
	}
}

// needCluster raises the requirements to those of clusters.
func (g *generator) needCluster() {
	g.need(90)
	g.needVersion(78)
}

// appendCluster adds the cluster size, so that an ordinary launch forms clusters.
func (g *generator) appendCluster(b []byte) []byte {
	c := g.kernel.Options.Cluster
	if c[0] == 0 {
		return b
	}
	return fmt.Appendf(b, ".explicitcluster\n.reqnctapercluster %d, %d, %d\n", c[0], max(c[1], 1), max(c[2], 1))
}

// clusterAddress returns the generic address, in another block of the cluster, of the
// variable that a pointer to shared memory points to in this block.
func (g *generator) clusterAddress(e *ir.Intrinsic) operand {
	g.needCluster()
	p, space := g.pointer(e.Args[0])
	if space != sharedSpace && space != genericSpace {
		g.fail(e.Pos, "kernel.ClusterShared of a pointer that is not into shared memory; pass the address of a kernel.Shared or kernel.Dynamic variable, or of a part of it")
		return zeroOperand(b64Class)
	}
	if space == genericSpace && !g.kernel.Options.Unchecked {
		g.checkNil(p, space, e.Pos)
	}
	address := g.cast(p, space, genericSpace)
	rank := g.low(g.value(e.Args[1]))
	dst := g.register(b64Class)
	g.emit("mapa.u64", dst, address, rank)
	return dst
}

// controlArrivals is the offset in the control block of the number of blocks that have
// arrived at grid barriers. It is zero when the launch starts.
const controlArrivals = 32

// gridBarrier waits for all blocks of the grid, which are resident: the first thread of
// each block increments a counter and polls it until every block has arrived. If a
// thread of the launch has failed, the wait ends: some block may never arrive.
func (g *generator) gridBarrier() {
	g.need(60) // cooperative launches
	control := g.register(b64Class)
	at := func(offset int64) address { return address{space: globalSpace, base: control, offset: offset} }
	expected := g.expectedArrivals()

	g.barrier()
	rest := g.newLabel()
	linear, first := g.register(b32Class), g.register(predClass)
	x, y, z := g.coordinate(ir.ThreadIdxX), g.coordinate(ir.ThreadIdxY), g.coordinate(ir.ThreadIdxZ)
	g.emit("or.b32", linear, x, y)
	g.emit("or.b32", linear, linear, z)
	g.emit("setp.ne.u32", first, linear, zeroOperand(b32Class))
	g.emit("add.u64", g.arrivals, g.arrivals, expected)
	g.jumpIf(condition{pred: first}, rest)
	g.load("ld.param.u64", control, address{space: paramSpace, symbol: faultParam})
	g.emit("cvta.to.global.u64", control, control)
	g.emit("membar.gl")
	g.atomic("red.global.add.u64", operand{}, at(controlArrivals), intOperand(b64Class, 1))
	again := g.newLabel()
	g.placeHead(again)
	claim, failed := g.register(b32Class), g.register(predClass)
	g.load("ld.volatile.global.u32", claim, at(controlClaim))
	g.emit("setp.ne.u32", failed, claim, zeroOperand(b32Class))
	g.emitIf(condition{pred: failed}, "exit")
	arrived, waits := g.register(b64Class), g.register(predClass)
	g.load("ld.volatile.global.u64", arrived, at(controlArrivals))
	g.emit("setp.lt.u64", waits, arrived, g.arrivals)
	g.jumpIf(condition{pred: waits}, again)
	g.emit("membar.gl")
	g.place(rest)
	g.barrier()
}

// expectedArrivals returns the number of blocks in the grid.
func (g *generator) expectedArrivals() operand {
	if !g.arrivals.isNone() {
		return g.gridSize
	}
	g.arrivals, g.gridSize = g.register(b64Class), g.register(b64Class)
	x, y, z := g.coordinate(ir.GridDimX), g.coordinate(ir.GridDimY), g.coordinate(ir.GridDimZ)
	g.atEntry(func() {
		depth := g.register(b64Class)
		g.emit("mul.wide.u32", g.gridSize, x, y)
		g.emit("cvt.u64.u32", depth, z)
		g.emit("mul.lo.u64", g.gridSize, g.gridSize, depth)
		g.move(g.arrivals, zeroOperand(b64Class))
	})
	return g.gridSize
}
