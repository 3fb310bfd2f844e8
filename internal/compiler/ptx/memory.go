package ptx

import "quern.dev/internal/compiler/ir"

// memory emits an operation on memory.
func (g *generator) memory(s *ir.Memory) {
	switch {
	case s.Op.IsLoad(), s.Op.IsStore():
		g.orderedAccess(s)
	case s.Op == ir.AsyncCopy:
		g.asyncCopy(s)
	case s.Op == ir.AsyncCommit:
		if g.has(smAsyncCopy) {
			g.needVersion(70)
			g.emit("cp.async.commit_group")
		}
	case s.Op == ir.AsyncWait:
		if g.has(smAsyncCopy) {
			g.needVersion(70)
			g.emit("cp.async.wait_group", intOperand(b32Class, uint64(s.Count)))
		}
	case s.Op == ir.GroupWait:
		g.groupWait(s)
	case s.Op == ir.BulkCopy:
		g.bulkCopy(s)
	case s.Op == ir.MapTiles:
		g.mapTiles(s)
	case s.Op == ir.BulkCopyTile:
		g.bulkCopyTile(s)
	case s.Op == ir.BulkWait:
		g.bulkWait(s)
	case s.Op == ir.Clock:
		g.readClock(s, "%clock64")
	case s.Op == ir.GlobalTimer:
		g.readClock(s, "%globaltimer")
	default:
		g.fail(s.Pos, "operation %s", s.Op)
	}
}

// readClock reads a clock. The assembler does not reorder volatile moves.
func (g *generator) readClock(s *ir.Memory, register string) {
	if s.Dst == nil {
		return
	}
	g.resultTo(s.Dst, func(dst operand) { g.emitSymbol("mov.u64", dst, register) })
}

// resultTo lets f compute a value of the class of v's type and assigns it to v.
func (g *generator) resultTo(v *ir.Local, f func(dst operand)) {
	if d := g.variable(v); d.home == inRegisters {
		f(g.scalar(d))
		return
	}
	r := g.register(classOf(v.Type))
	f(r)
	g.storePlace(&ir.VarPlace{Var: v}, r)
}

// smOrdered is the compute capability, times ten, that introduced the PTX memory model:
// loads and stores with an order and a scope.
const smOrdered = 70

var scopeNames = [...]string{ir.BlockScope: "cta", ir.DeviceScope: "gpu", ir.SystemScope: "sys"}

// orderedAccess emits a load or store that other threads may react to. On older
// devices, volatile accesses are ordered by fences.
func (g *generator) orderedAccess(s *ir.Memory) {
	a := g.visibleAddress(s.Places[0], s)
	t := s.Places[0].Type()
	kind, order := "ld", ".relaxed."
	switch s.Op {
	case ir.LoadAcquire:
		order = ".acquire."
	case ir.StoreRelaxed:
		kind = "st"
	case ir.StoreRelease:
		kind, order = "st", ".release."
	}
	modern := g.has(smOrdered)
	opcode := kind + ".volatile"
	if modern {
		opcode = kind + order + scopeNames[s.Scope]
	}
	opcode += a.space.directive() + "." + memoryType(t.Kind)
	if s.Op.IsStore() {
		v := g.value(s.Args[0])
		if !modern && s.Op == ir.StoreRelease {
			g.fence(s.Scope)
		}
		g.store(opcode, a, v)
		return
	}
	if s.Dst == nil {
		g.load(opcode, g.register(classOf(t)), a)
	} else {
		g.resultTo(s.Dst, func(dst operand) { g.load(opcode, dst, a) })
	}
	if !modern && s.Op == ir.LoadAcquire {
		g.fence(s.Scope)
	}
}

// visibleAddress returns the address of a place that other threads can access.
func (g *generator) visibleAddress(p ir.Place, s *ir.Memory) address {
	a := g.address(p)
	switch {
	case a.space == localSpace:
		g.fail(s.Pos, "%s on a variable that belongs to one thread: use an element of a slice or of a shared variable", s.Op.GoName())
	case a.space == paramSpace || a.table != nil:
		g.fail(s.Pos, "%s on constant memory", s.Op.GoName())
	}
	return a
}
