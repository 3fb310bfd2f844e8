package ptxvm

import (
	"strings"
	"sync"
)

// Class is a kind of instruction, by the part of a multiprocessor that executes it.
type Class uint8

// Classes of instructions.
const (
	Moves       Class = iota // moves, parameters, addresses: mostly free
	Integers                 // integer arithmetic, logic, comparisons
	Floats                   // float32, and half precision
	Doubles                  // float64
	Roots                    // divisions and roots of floats
	Functions                // exponentials, logarithms and other functions of floats
	Conversions              // between types
	Branches
	Globals  // loads and stores of global memory
	Shareds  // of shared memory
	Locals   // of local memory: spills and indexed arrays
	Atomics  // of any memory
	Barriers // of blocks
	Warps    // shuffles, votes
	Matrices // products of matrices
	Classes  // number of classes
)

// Counts is what the threads of launches have executed. If blocks were sampled, the numbers are
// estimates for all of them.
type Counts struct {
	Launches, Blocks, Threads, Warps float64

	Instructions [Classes]float64 // by threads
	// Issued is the number of instructions by warps: of the lanes of a warp that execute an
	// instruction several times, the one that does so most often counts.
	Issued [Classes]float64

	Flops32, Flops64 float64 // a fused multiplication and addition is two

	LoadBytes, StoreBytes float64 // of global memory, as asked for by threads
	// Sectors is the number of 32-byte sectors of global memory that the warps access, each
	// once per access of a warp.
	Sectors float64
	// ReadBytes and WrittenBytes are the sizes of the parts of global memory that are read and
	// written, each byte once.
	ReadBytes, WrittenBytes float64
}

// Add adds the counts of other launches.
func (c *Counts) Add(o *Counts) {
	c.Launches += o.Launches
	c.addScaled(o, 1)
	c.ReadBytes += o.ReadBytes
	c.WrittenBytes += o.WrittenBytes
}

// addScaled adds everything that grows with the number of blocks.
func (c *Counts) addScaled(o *Counts, by float64) {
	c.Blocks += by * o.Blocks
	c.Threads += by * o.Threads
	c.Warps += by * o.Warps
	for i := range c.Instructions {
		c.Instructions[i] += by * o.Instructions[i]
		c.Issued[i] += by * o.Issued[i]
	}
	c.Flops32 += by * o.Flops32
	c.Flops64 += by * o.Flops64
	c.LoadBytes += by * o.LoadBytes
	c.StoreBytes += by * o.StoreBytes
	c.Sectors += by * o.Sectors
}

// Counting makes a launch count what it executes. It may be used for several launches, also
// concurrently.
type Counting struct {
	// Blocks is the largest number of blocks of a launch that run; they are spread evenly over
	// the grid. Zero means all.
	Blocks int

	mu    sync.Mutex
	total Counts
}

// Counts returns the sum over the launches so far.
func (c *Counting) Counts() Counts {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.total
}

// estimate collects the counts of one launch from its machines.
type estimate struct {
	mu      sync.Mutex
	sum     Counts
	touched map[uint64]touch // by number of the sector
}

// touch says how a sector was accessed.
type touch uint8

const (
	wasRead touch = 1 << iota
	wasWritten
)

// counter counts for one machine.
type counter struct {
	times   []uint32 // of thread t at pc: [t*len(code)+pc], in the current block
	sectors map[sectorKey]struct{}
	touched map[uint64]touch
	sum     Counts
}

// sectorKey is a sector in one access of a warp: lanes that execute an instruction for the
// n-th time access memory together.
type sectorKey struct {
	warp, pc int32
	time     uint32
	sector   uint64
}

// prepareCounter sets up counting for a launch, or none.
func (b *block) prepareCounter(l *launch) {
	b.counter = nil
	if l.counted == nil {
		return
	}
	b.counter = &counter{
		times:   make([]uint32, len(b.threads)*len(b.code)),
		sectors: map[sectorKey]struct{}{},
		touched: map[uint64]touch{},
	}
}

// run is thread.run with counting.
func (c *counter) run(t *thread) {
	b := t.b
	ending := false // the quantum is used up: until the next jump backward
	times := c.times[int(t.index)*len(b.code):]
	for t.state == ready {
		if b.fuel <= 0 && !b.refuel(t) {
			return
		}
		b.fuel--
		pc := t.pc
		in := &b.code[pc]
		times[pc]++
		t.pc++
		if in.guard >= 0 && (t.regs[in.guard]&1 != 0) == in.unless {
			continue
		}
		if in.access.size > 0 {
			c.access(t, in, pc, times[pc])
		}
		in.exec(t, in)
		if ending && t.pc <= pc {
			return
		}
		ending = ending || b.fuel == 0
	}
}

// access counts an access to global memory.
func (c *counter) access(t *thread, in *instr, pc int32, time uint32) {
	switch in.access.space {
	case globalSpace, genericSpace:
	default:
		return
	}
	address, size := t.address(in), uint64(in.access.size)
	if in.access.space == genericSpace && address >= firstWindow {
		return
	}
	var how touch
	if in.access.read {
		c.sum.LoadBytes += float64(size)
		how |= wasRead
	}
	if in.access.write {
		c.sum.StoreBytes += float64(size)
		how |= wasWritten
	}
	for sector := address >> sectorShift; sector <= (address+size-1)>>sectorShift; sector++ {
		c.sectors[sectorKey{t.index / warpSize, pc, time, sector}] = struct{}{}
		c.touched[sector] |= how
	}
}

// endBlock adds the counts of a block that has ended.
func (c *counter) endBlock(b *block) {
	s := &c.sum
	s.Blocks++
	s.Threads += float64(len(b.threads))
	s.Warps += float64(len(b.warps))
	s.Sectors += float64(len(c.sectors))
	clear(c.sectors)
	for w := range b.warps {
		lanes := b.warps[w].threads
		for pc := range b.code {
			var sum, most uint32
			for i := range lanes {
				n := c.times[int(lanes[i].index)*len(b.code)+pc]
				sum += n
				most = max(most, n)
			}
			in := &b.code[pc]
			s.Instructions[in.class] += float64(sum)
			s.Issued[in.class] += float64(most)
			switch in.class {
			case Floats, Roots, Functions:
				s.Flops32 += float64(sum) * float64(in.flops)
			case Doubles:
				s.Flops64 += float64(sum) * float64(in.flops)
			}
		}
	}
	clear(c.times)
}

// endCounting adds the counts of a machine to those of the launch.
func (l *launch) endCounting(c *counter) {
	l.counted.mu.Lock()
	defer l.counted.mu.Unlock()
	l.counted.sum.addScaled(&c.sum, 1)
	for sector, how := range c.touched {
		l.counted.touched[sector] |= how
	}
}

// finishCounting adds the counts of a launch that has ended, scaled to all of its blocks. What
// is touched is scaled too, but an array does not become larger than it is.
func (l *launch) finishCounting(to *Counting) {
	sum := &l.counted.sum
	if sum.Blocks == 0 {
		return
	}
	scale := float64(l.blocks) / sum.Blocks
	all := Counts{Launches: 1}
	all.addScaled(sum, scale)
	type use struct{ read, written float64 }
	uses := map[uint64]use{}
	for sector, how := range l.counted.touched {
		slot := sector << sectorShift >> slotShift
		u := uses[slot]
		if how&wasRead != 0 {
			u.read += 1 << sectorShift
		}
		if how&wasWritten != 0 {
			u.written += 1 << sectorShift
		}
		uses[slot] = u
	}
	for slot, u := range uses {
		most := u.read*scale + u.written*scale
		if slot < uint64(len(l.table)) && l.table[slot] != nil {
			most = float64(l.table[slot].size)
		}
		all.ReadBytes += min(most, u.read*scale)
		all.WrittenBytes += min(most, u.written*scale)
	}
	to.mu.Lock()
	defer to.mu.Unlock()
	to.total.Add(&all)
}

// sampled returns the linear index of the i-th block that runs, and whether there is one.
func (l *launch) sampled(i uint64) (linear uint64, ok bool) {
	if l.counted == nil || l.sample == 0 || l.sample >= l.blocks {
		return i, i < l.blocks
	}
	if i >= l.sample {
		return 0, false
	}
	// The middle of each of sample equal parts of the grid.
	return (2*i + 1) * l.blocks / (2 * l.sample), true
}

// specialOpcodes are the classes of opcodes that a unit of its own executes if their type is a
// float.
var specialOpcodes = map[string]Class{
	"div": Roots, "sqrt": Roots, "rsqrt": Roots, "rcp": Roots,
	"sin": Functions, "cos": Functions, "lg2": Functions, "ex2": Functions, "tanh": Functions,
}

// classes are the classes of opcodes whose type does not matter.
var classes = map[string]Class{
	"mov": Moves, "cvta": Moves, "isspacep": Moves, "cvt": Conversions, "mapa": Moves,
	"bra": Branches, "brx": Branches, "ret": Branches, "exit": Branches, "trap": Branches,
	"atom": Atomics, "red": Atomics,
	"bar": Barriers, "barrier": Barriers, "mbarrier": Barriers, "membar": Barriers, "fence": Barriers,
	"vote": Warps, "shfl": Warps, "match": Warps, "redux": Warps, "activemask": Warps,
	"ldmatrix": Matrices, "mma": Matrices, "wgmma": Matrices, "tex": Globals,
	"selp": Integers, "setp": Integers,
}

// classify returns the class of an instruction, and the floating-point operations of a thread.
func classify(opcode, text string, in *instr) (c Class, flops uint8) {
	if c, ok := classes[opcode]; ok {
		return c, 0
	}
	switch opcode {
	case "ld", "ldu", "st", "cp":
		switch in.access.space {
		case sharedSpace:
			return Shareds, 0
		case localSpace:
			return Locals, 0
		case constSpace, paramSpace:
			return Moves, 0
		}
		return Globals, 0
	}
	double := strings.Contains(text, ".f64")
	if !double && !strings.Contains(text, ".f32") && !strings.Contains(text, "f16") {
		return Integers, 0
	}
	flops = 1
	switch opcode {
	case "fma", "mad":
		flops = 2
	case "neg", "abs", "min", "max", "copysign", "testp", "set":
		flops = 0
	}
	special, isSpecial := specialOpcodes[opcode]
	switch {
	case isSpecial:
		return special, flops
	case double:
		return Doubles, flops
	}
	return Floats, flops
}
