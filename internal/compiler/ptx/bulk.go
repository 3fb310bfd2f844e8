package ptx

import "quern.dev/internal/compiler/ir"

// Bulk copies: one thread tells the barrier how many bytes to expect and starts the
// copy engine. All threads arrive at the barrier and wait for its phase to end, which
// it does when all threads and all bytes have arrived (PTX ISA, mbarrier and
// cp.async.bulk). On older devices the threads copy, and wait at the block's barrier.

const (
	smBulk      = 90 // compute capability, times ten, that introduced bulk copies
	versionBulk = 80 // of PTX, times ten
	// Addresses and sizes of bulk copies are multiples of bulkUnit.
	bulkUnit = 16
)

// copyBarrier is the type of copy barriers.
const copyBarrier = "quern.dev/kernel.CopyBarrier"

// usesBulk reports whether the kernel uses copy barriers.
func (g *generator) usesBulk() bool {
	found := false
	v := ir.Visitor{Stmt: func(s ir.Stmt) bool {
		m, ok := s.(*ir.Memory)
		found = found || ok && m.Op.IsBulk()
		return !found
	}}
	v.Body(g.kernel.Func.Body)
	return found
}

// initCopyBarriers makes the shared barriers expect all threads of the block.
func (g *generator) initCopyBarriers() {
	if !g.usesBulk() || !g.has(smBulk) {
		return
	}
	g.needVersion(versionBulk)
	skip := g.newLabel()
	g.jumpIf(g.isFirst().not(), skip)
	arrivals := g.threads()
	if g.kernel.Options.FullWarps() {
		arrivals = intOperand(b32Class, arrivals.n/ir.WarpSize)
	}
	for _, v := range g.kernel.Shared {
		if v.IsDynamic() {
			continue
		}
		at := g.sharedAddress(v)
		for _, offset := range barriersIn(v.Type, 0) {
			g.store("mbarrier.init.shared.b64", at.plus(offset), arrivals)
		}
	}
	g.emit("fence.mbarrier_init.release.cluster")
	g.emit("fence.proxy.async")
	g.place(skip)
	g.barrier()
}

// barriersIn returns the offsets of the barriers in a type.
func barriersIn(t *ir.Type, at int64) []int64 {
	var out []int64
	switch {
	case t.Name == copyBarrier:
		return []int64{at}
	case t.Kind == ir.Array:
		inner := barriersIn(t.Elem, 0)
		for i := int64(0); i < t.Len && len(inner) > 0; i++ {
			for _, offset := range inner {
				out = append(out, at+i*t.Elem.Size()+offset)
			}
		}
	case t.Kind == ir.Struct:
		for _, f := range t.Fields {
			out = append(out, barriersIn(f.Type, at+f.Offset)...)
		}
	}
	return out
}

// isFirst returns the condition that the thread is the first of its block.
func (g *generator) isFirst() condition {
	x, y, z := g.coordinate(ir.ThreadIdxX), g.coordinate(ir.ThreadIdxY), g.coordinate(ir.ThreadIdxZ)
	xy, any, first := g.register(b32Class), g.register(b32Class), g.register(predClass)
	g.emit("or.b32", xy, x, y)
	g.emit("or.b32", any, xy, z)
	g.emit("setp.eq.u32", first, any, zeroOperand(b32Class))
	return condition{pred: first}
}

// threads returns the number of threads in the block.
func (g *generator) threads() operand {
	x, y, z := g.coordinate(ir.BlockDimX), g.coordinate(ir.BlockDimY), g.coordinate(ir.BlockDimZ)
	if x.immediate && y.immediate && z.immediate {
		return intOperand(b32Class, x.n*y.n*z.n)
	}
	xy, n := g.register(b32Class), g.register(b32Class)
	g.emit("mul.lo.u32", xy, g.inRegister(x), y)
	g.emit("mul.lo.u32", n, xy, z)
	return n
}

// linearIndex returns the number of the thread in its block, with X running fastest.
func (g *generator) linearIndex() operand {
	x, y, z := g.coordinate(ir.ThreadIdxX), g.coordinate(ir.ThreadIdxY), g.coordinate(ir.ThreadIdxZ)
	nx, ny := g.coordinate(ir.BlockDimX), g.coordinate(ir.BlockDimY)
	plane, linear := g.register(b32Class), g.register(b32Class)
	g.emit("mad.lo.u32", plane, z, ny, y)
	g.emit("mad.lo.u32", linear, plane, nx, x)
	return linear
}

// barrierAddress returns the address of an operation's barrier.
func (g *generator) barrierAddress(s *ir.Memory) (address, bool) {
	a := g.address(s.Places[0])
	if a.space != sharedSpace {
		g.fail(s.Pos, "the barrier of %s is not known to be in shared memory; declare it with kernel.Shared and use it directly", s.Op.GoName())
		return a, false
	}
	return a, true
}

// bulkCopy copies as much as possible with the engine, and the rest with all threads.
func (g *generator) bulkCopy(s *ir.Memory) {
	bar, ok := g.barrierAddress(s)
	if !ok {
		return
	}
	dst, src := g.slice(s.Args[0]), g.slice(s.Args[1])
	switch {
	case dst.space != sharedSpace:
		g.fail(s.Pos, "the destination of kernel.BulkCopy is not known to be in shared memory; use a part of a kernel.Shared or kernel.Dynamic variable directly")
		return
	case src.space != globalSpace:
		g.fail(s.Pos, "the source of kernel.BulkCopy is not known to be in global memory; use a part of a slice parameter directly")
		return
	}
	elem := s.Args[0].Type().Elem
	n := g.register(b64Class)
	g.emit("min.u64", n, g.inRegister(g.sliceLength(dst)), g.inRegister(g.sliceLength(src)))
	bytes := g.register(b32Class)
	g.emit("mul.lo.u32", bytes, g.low(n), intOperand(b32Class, uint64(elem.Size())))
	to := address{space: sharedSpace, base: g.inRegister(g.slicePointer(dst))}
	from := address{space: globalSpace, base: g.inRegister(g.slicePointer(src))}

	done := zeroOperand(b32Class)
	if g.has(smBulk) {
		g.needVersion(versionBulk)
		done = g.startEngine(bar, to, from, bytes)
	}
	g.shareCopy(to, from, done, bytes, min(unitOf(elem), 8))
}

// startEngine makes the first thread start a copy of as many bytes as the engine
// supports, and returns their number.
func (g *generator) startEngine(bar, to, from address, bytes operand) operand {
	both, stray := g.register(b32Class), g.register(b32Class)
	g.emit("or.b32", both, to.base, g.low(from.base))
	g.emit("and.b32", stray, both, intOperand(b32Class, bulkUnit-1))
	whole, aligned, done := g.register(b32Class), g.register(predClass), g.register(b32Class)
	g.emit("and.b32", whole, bytes, intOperand(b32Class, 1<<32-bulkUnit))
	g.emit("setp.eq.u32", aligned, stray, zeroOperand(b32Class))
	g.emit("selp.u32", done, whole, zeroOperand(b32Class), aligned)

	skip, some, starts := g.newLabel(), g.register(predClass), g.register(predClass)
	g.emit("setp.ne.u32", some, done, zeroOperand(b32Class))
	g.emit("and.pred", starts, some, g.isFirst().pred)
	g.jumpIf(condition{pred: starts, negated: true}, skip)
	g.emit("fence.proxy.async")
	g.store("mbarrier.expect_tx.relaxed.cta.shared::cta.b64", bar, done)
	b := append(g.text, "\tcp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "...)
	b = append(to.append(b), ", "...)
	b = append(from.append(b), ", "...)
	b = append(done.append(b), ", "...)
	g.text = append(bar.append(b), ";\n"...)
	g.place(skip)
	return done
}

// shareCopy copies the bytes from done on in units, one per thread at a time.
func (g *generator) shareCopy(to, from address, done, bytes operand, unit int64) {
	at := g.register(b32Class)
	g.emit("mad.lo.u32", at, g.linearIndex(), intOperand(b32Class, uint64(unit)), done)
	step := g.register(b32Class)
	g.emit("mul.lo.u32", step, g.inRegister(g.threads()), intOperand(b32Class, uint64(unit)))
	head, end := g.newLabel(), g.newLabel()
	over := g.register(predClass)
	g.emit("setp.ge.u32", over, at, bytes)
	g.jumpIf(condition{pred: over}, end)
	g.placeHead(head)
	src, dst := g.register(b64Class), g.register(b32Class)
	wide := g.register(b64Class)
	g.emit("cvt.u64.u32", wide, at)
	g.emit("add.u64", src, from.base, wide)
	g.emit("add.u32", dst, to.base, at)
	g.copyWords(address{space: sharedSpace, base: dst}, address{space: globalSpace, base: src}, unit, unit)
	g.emit("add.u32", at, at, step)
	g.emit("setp.lt.u32", over, at, bytes)
	g.jumpIf(condition{pred: over}, head)
	g.place(end)
}

// arrive makes the thread arrive at a barrier. Of a whole warp the first thread does, and
// tells the others the phase.
func (g *generator) arrive(phase operand, bar address) {
	if !g.kernel.Options.FullWarps() {
		g.load("mbarrier.arrive.shared.b64", phase, bar)
		return
	}
	all := intOperand(b32Class, 1<<32-1)
	skip, other, low, high := g.newLabel(), g.register(predClass), g.register(b32Class), g.register(b32Class)
	g.move(phase, zeroOperand(b64Class))
	g.emit("bar.warp.sync", all)
	g.emit("setp.ne.u32", other, g.coordinate(ir.LaneID), zeroOperand(b32Class))
	g.jumpIf(condition{pred: other}, skip)
	g.load("mbarrier.arrive.shared.b64", phase, bar)
	g.place(skip)
	g.split(low, high, phase)
	for _, x := range [...]operand{low, high} {
		g.emit("shfl.sync.idx.b32", x, x, zeroOperand(b32Class), intOperand(b32Class, 31), all)
	}
	g.join(phase, low, high)
}

// bulkWait waits for the copies and for all threads of the block.
func (g *generator) bulkWait(s *ir.Memory) {
	bar, ok := g.barrierAddress(s)
	if !ok {
		return
	}
	if !g.has(smBulk) {
		g.barrier()
		return
	}
	g.needVersion(versionBulk)
	g.tileFence()
	phase, over, again := g.register(b64Class), g.register(predClass), g.newLabel()
	g.arrive(phase, bar)
	g.placeHead(again)
	g.atomic("mbarrier.try_wait.shared.b64", over, bar, phase)
	g.jumpIf(condition{pred: over, negated: true}, again)
}
