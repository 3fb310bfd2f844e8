package ptxvm

// barrier is one of the 16 barriers of a block.
type barrier struct {
	parked  int   // waiting threads
	arrived int   // threads that wait or have executed bar.arrive
	count   int   // threads to wait for; zero means all of the block
	pc      int32 // after the instruction of the first waiting thread
	trues   int   // number of true bar.red predicates
}

// What bar.red computes, in instr.e.
const (
	noReduction = iota
	reducePopulation
	reduceAnd
	reduceOr
)

func decodeBarrier(d *decoder) {
	if d.mod("warp") != "" {
		d.mod("sync")
		d.want(1, 1)
		d.in.a = d.source(0, b32)
		d.in.collective = syncWarp
		d.in.e = warpBarrier
		d.emit(joinWarp)
		return
	}
	if d.mod("cluster") != "" {
		d.clusterBarrier()
		return
	}
	d.drop("cta", "aligned")
	d.in.b, d.in.c = noOperand, noOperand
	switch d.mod("sync", "arrive", "red") {
	case "sync":
		d.want(1, 2)
		d.barrierOperands(0, len(d.args))
		d.emit(barrierSync)
	case "arrive":
		d.want(2, 2)
		d.barrierOperands(0, 2)
		d.emit(barrierArrive)
	case "red":
		d.want(3, 4)
		result := pred
		switch d.mod("popc", "and", "or") {
		case "popc":
			d.in.e, result = reducePopulation, u32
		case "and":
			d.in.e = reduceAnd
		case "or":
			d.in.e = reduceOr
		}
		if d.typ() != result {
			d.p.fail("%s: want type .%s", d.text, result)
		}
		d.in.d = d.destination(0, result)
		last := len(d.args) - 1
		d.barrierOperands(1, last)
		d.in.c = d.source(last, pred)
		d.emit(barrierSync)
	default:
		d.emit(nil)
	}
}

// noOperand marks an absent operand of a barrier.
const noOperand = -1

// barrierOperands decodes the barrier number and the optional thread count, which are
// operands [from, to).
func (d *decoder) barrierOperands(from, to int) {
	d.in.a = d.source(from, b32)
	if to-from > 1 {
		d.in.b = d.source(from+1, b32)
	}
}

func barrierSync(t *thread, in *instr) {
	id, ok := t.arrive(in)
	if !ok {
		return
	}
	b := t.b
	bar := &b.barriers[id]
	if b.checks && bar.count == 0 && bar.parked > 0 && bar.pc != t.pc {
		at := b.entry.site(&b.code[bar.pc-1], [3]int{}, [3]int{}).position()
		t.fault(DivergentBarrier, in, 0, "other threads wait at %s", at)
		return
	}
	bar.pc = t.pc
	bar.parked++
	if in.c != noOperand && t.regs[in.c]&1 != 0 {
		bar.trues++
	}
	t.state = parked
	t.mask = uint32(id)
}

func barrierArrive(t *thread, in *instr) {
	if id, ok := t.arrive(in); ok {
		t.b.barriers[id].complete(t.b, id)
	}
}

// arrive counts t at the barrier that in names. ok is false if t has faulted.
func (t *thread) arrive(in *instr) (id int, ok bool) {
	b := t.b
	id = int(uint32(t.regs[in.a]))
	count := 0
	if in.b != noOperand {
		count = int(uint32(t.regs[in.b]))
		if count == 0 || count%warpSize != 0 || count > (len(b.threads)+warpSize-1)/warpSize*warpSize {
			t.fault(IllegalOperand, in, 0, "barrier for %d threads: want a positive multiple of 32, at most the threads of the block", count)
			return 0, false
		}
	}
	if id >= len(b.barriers) {
		t.fault(IllegalOperand, in, 0, "barrier %d: a block has barriers 0 to 15", id)
		return 0, false
	}
	bar := &b.barriers[id]
	if bar.arrived > 0 && bar.count != count {
		t.fault(DivergentBarrier, in, 0, "thread count %d: other threads at this barrier have %d", count, bar.count)
		return 0, false
	}
	bar.count = count
	bar.arrived++
	return id, true
}

// complete releases the threads that wait at barrier id if all have arrived. It does not
// wait for threads that have exited.
func (bar *barrier) complete(b *block, id int) {
	want := b.live
	if bar.count > 0 {
		// The hardware counts whole warps.
		want = min(bar.count, len(b.threads))
	}
	if bar.arrived < want {
		return
	}
	b.synchronizeBlock()
	for i := range b.threads {
		t := &b.threads[i]
		if t.state != parked || t.mask != uint32(id) {
			continue
		}
		t.state = ready
		in := &b.code[t.pc-1]
		switch in.e {
		case reducePopulation:
			t.regs[in.d] = uint64(bar.trues)
		case reduceAnd:
			t.regs[in.d] = truth(bar.trues == bar.arrived)
		case reduceOr:
			t.regs[in.d] = truth(bar.trues > 0)
		}
	}
	*bar = barrier{}
}

// truth returns the register value of a predicate.
func truth(v bool) uint64 {
	if v {
		return 1
	}
	return 0
}
