package ptxvm

// warpSize is the number of threads in a warp.
const warpSize = 32

// threadState says whether a thread can run and, if not, what it waits for.
type threadState uint8

const (
	ready     threadState = iota
	parked                // at a block barrier
	gathered              // at a warp operation
	merging               // at activemask, until no other thread of its warp can run
	clustered             // at a cluster barrier
	paused                // until the other blocks have had a turn
	polling               // at an mbarrier whose phase has not ended
	halted                // exited, or stopped by a fault
)

// quantum is the number of instructions after which a thread checks the context and the
// step budget. It is also about how long a thread runs before the other threads of its
// block get a turn.
const quantum = 4096

// thread is one thread of the block that a machine runs.
type thread struct {
	b     *block
	warp  *warp
	regs  []uint64 // slots
	pc    int32
	index int32 // x + y*blockDim.x + z*blockDim.x*blockDim.y
	state threadState
	carry uint64 // condition code of add.cc and similar instructions, 0 or 1
	mask  uint32 // operand of the warp operation or barrier that t waits at

	// Pending copies, and the number of the current copy group; see async.go.
	copies []pendingCopy
	groups int

	// Timestamps of the race checker; see shadow.go.
	acquired, observed, fenced uint32

	phase uint32 // phase of the cluster barrier at which t has arrived
}

// warp is 32 consecutive threads.
type warp struct {
	threads []thread
	present uint32 // lanes that have not exited
	waiting uint32 // lanes waiting at a warp operation
	barrier uint32 // timestamp of the last bar.warp.sync

	products []groupProduct // by groups, in order
	groups   int            // of products
}

// block is a machine that runs the blocks of a launch one after another. One worker uses
// it at a time.
type block struct {
	entry  *Entry
	launch *launch
	code   []instr
	table  []*allocation // allocations of the memory
	direct bool
	checks bool

	index   [3]int   // of the current block
	linear  uint64   // its linear index
	cluster *cluster // nil unless several blocks take turns; see together.go
	threads []thread
	warps   []warp
	slots   []uint64 // registers of all threads
	initial []uint64 // slots of a thread before its first instruction
	live    int      // threads that have not exited

	params     []byte
	shared     []byte
	sharedInit initialized
	sharedRace shadow
	local      []byte // of all threads
	localInit  []initialized
	barriers   [16]barrier
	mbarriers  map[uint64]*mbarrier // by offset in shared memory

	*clock            // of the race checker
	blockStart uint32 // timestamps of the start of the block, its last barrier, and its cluster's last barrier
	barrier    uint32
	clusterAt  uint32
	granted    uint64 // instructions granted in all quanta so far
	fuel       int    // instructions left in the quantum
	err        error
	fences     uint32 // number of fences executed; see decodeFence

	counts  []Count          // by instruction; nil unless the launch counts
	touched map[uint64]touch // by number of the sector; nil unless the launch counts them
	counted uint64           // blocks

	// Nil unless the launch counts what is touched:
	recent    map[site]*[warpSize]uint64 // where the lanes of a warp last accessed global memory
	scattered map[uint64]uint64          // accesses far from those, by slot of the memory's table
}

// coordinates returns the x, y and z of the thread with the given linear index.
func (b *block) coordinates(index int32) [3]int {
	d := b.launch.config.Block
	i := int(index)
	return [3]int{i % d[0], i / d[0] % d[1], i / (d[0] * d[1])}
}

// blockIndex returns the x, y and z of the block with the given linear index.
func (b *block) blockIndex(linear uint64) [3]int {
	g := b.launch.config.Grid
	x, y := uint64(g[0]), uint64(g[1])
	return [3]int{int(linear % x), int(linear / x % y), int(linear / (x * y))}
}

// start prepares the machine to run the block with the given linear index.
func (b *block) start(linear uint64) {
	b.index, b.linear = b.blockIndex(linear), linear
	b.live = len(b.threads)
	b.counted++
	clear(b.recent)
	clear(b.barriers[:])
	clear(b.mbarriers)
	if b.checks {
		b.beginBlock()
		b.sharedInit.clear()
		for i := range b.localInit {
			b.localInit[i].clear()
		}
	} else {
		clear(b.shared)
	}
	slots := len(b.initial)
	for i := range b.threads {
		t := &b.threads[i]
		t.regs = b.slots[i*slots : (i+1)*slots : (i+1)*slots]
		copy(t.regs, b.initial)
		t.pc, t.state, t.carry = 0, ready, 0
		t.acquired, t.observed, t.fenced = 0, 0, 0
		t.copies, t.groups = t.copies[:0], 0
		for _, s := range b.entry.specials {
			t.regs[s.slot] = s.value(t)
		}
	}
	for i := range b.warps {
		w := &b.warps[i]
		w.present = 1<<len(w.threads) - 1
		w.waiting = 0
		w.products, w.groups = w.products[:0], 0
		w.barrier = b.now
	}
}

// run runs the current block to completion.
func (b *block) run() {
	for b.live > 0 {
		progress, _ := b.pass()
		if b.err != nil {
			return
		}
		if !progress && !b.merge() {
			b.deadlock()
			return
		}
	}
}

// pass runs each ready thread until it waits. It reports whether any thread ran, and
// whether any thread waits for other blocks.
func (b *block) pass() (progress, pauses bool) {
	if b.counts != nil {
		return b.passLockstep()
	}
	for i := range b.threads {
		t := &b.threads[i]
		if t.state == paused {
			t.state = ready
		}
		if t.state != ready {
			continue
		}
		granted, fuel := b.granted, b.fuel
		t.run()
		progress = progress || t.state != polling || b.granted+uint64(fuel)-granted-uint64(b.fuel) > pollSteps
		// Release waiting threads here, not in the instruction, so that they continue in
		// index order.
		switch t.state {
		case parked:
			b.barriers[t.mask].complete(b, int(t.mask))
		case gathered:
			t.warp.perform(b, t)
		case polling:
			t.state = ready
		case paused:
			pauses = true
		}
		if b.err != nil {
			return progress, pauses
		}
	}
	return progress, pauses
}

// pollSteps is the largest number of instructions in one iteration of a loop that polls a
// barrier. A thread that executes no more than this per turn makes no progress.
const pollSteps = 4

// run runs t until it waits, exits or uses up its quantum.
func (t *thread) run() {
	b := t.b
	code := b.code
	for t.state == ready {
		if b.fuel <= 0 && !b.refuel(t) {
			return
		}
		b.fuel--
		in := &code[t.pc]
		t.pc++
		if in.guard >= 0 && (t.regs[in.guard]&1 != 0) == in.unless {
			continue
		}
		in.exec(t, in)
		if b.fuel == 0 {
			t.runStraightLine()
			return // t may depend on other threads
		}
	}
}

// runStraightLine runs t until it waits, exits or jumps backward. No other thread runs in
// between, so a thread that fails one of the kernel's own checks always completes its
// record.
func (t *thread) runStraightLine() {
	b := t.b
	for t.state == ready && (b.fuel > 0 || b.refuel(t)) {
		b.fuel--
		pc := t.pc
		in := &b.code[pc]
		t.pc++
		if in.guard >= 0 && (t.regs[in.guard]&1 != 0) == in.unless {
			continue
		}
		in.exec(t, in)
		if t.pc <= pc {
			return
		}
	}
}

// refuel starts the next quantum. It returns false if the launch has ended.
func (b *block) refuel(t *thread) bool {
	n, err := b.launch.grant()
	if err == errStopped {
		t.state = halted
		b.err = err
		return false
	}
	if err != nil {
		t.fault(GivenUp, &b.code[t.pc], 0, "")
		if f, ok := b.err.(*Fault); ok {
			f.Cause = err
		}
		return false
	}
	if n == 0 {
		t.fault(StepBudget, &b.code[t.pc], 0, "after %d instructions", b.launch.config.MaxSteps)
		return false
	}
	b.fuel = n
	b.granted += uint64(n)
	return true
}

// exit ends a thread.
func exit(t *thread, in *instr) {
	t.state = halted
	b := t.b
	b.live--
	w := t.warp
	w.present &^= 1 << (t.index % warpSize)
	if w.waiting != 0 {
		w.gather(b)
	}
	for id := range b.barriers {
		if b.barriers[id].parked > 0 {
			b.barriers[id].complete(b, id)
		}
	}
	if b.cluster != nil {
		b.cluster.complete()
	}
}

// deadlock reports the fault of a block in which no thread can continue.
func (b *block) deadlock() {
	var first *thread
	for i := range b.threads {
		t := &b.threads[i]
		if t.state == gathered {
			w := t.warp
			t.fault(DivergentWarp, &b.code[t.pc-1], 0, "waits for lanes %#08x, of which %#08x never arrive",
				t.mask, t.mask&w.present&^w.waiting)
			return
		}
		if t.state == clustered {
			t.fault(DivergentBarrier, &b.code[t.pc-1], 0, "waits for threads of its cluster that never arrive")
			return
		}
		if t.state != parked {
			continue
		}
		if first == nil {
			first = t
			continue
		}
		if first.pc != t.pc {
			other := b.entry.site(&b.code[first.pc-1], b.index, b.coordinates(first.index))
			t.fault(DivergentBarrier, &b.code[t.pc-1], 0, "another thread waits at %s", other)
			return
		}
	}
	for i := 0; first == nil; i++ {
		if t := &b.threads[i]; t.state == ready {
			t.fault(DivergentBarrier, &b.code[t.pc-1], 0, "waits at an mbarrier for arrivals or copies that never come")
			return
		}
	}
	first.fault(DivergentBarrier, &b.code[first.pc-1], 0, "%d of %d threads wait for others that never arrive",
		b.barriers[first.mask].parked, len(b.threads))
}
