package ptxvm

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/bits"
	"slices"
	"strings"
	"sync"
)

// Counter counts what kernels do. A launch with a Config.Counter runs the threads of a warp in
// lockstep, as a GPU does, so that the counts are of warps. It is safe for concurrent use.
type Counter struct {
	// Blocks is the largest number of blocks of a launch that run, if it is not 0. They are spread
	// evenly over the grid, and what they do is scaled to all blocks; the results of the launch are
	// incomplete. Blocks that wait for each other run all the same.
	Blocks int
	// Threads makes a launch of small blocks run more of them than Blocks says, until they have as
	// many threads: where only some blocks of a grid have work, few blocks tell how many roughly.
	Threads int
	// Touched makes the counter find out how much memory is accessed at all.
	Touched bool

	mu            sync.Mutex // guards the fields below
	entries       map[*Entry]*entryCount
	read, written float64 // bytes

	scattered, scatteredBytes float64 // see Totals
}

// entryCount holds what the launches of an entry have done.
type entryCount struct {
	name                             string
	launches, blocks, threads, warps uint64
	code                             []Count // by instruction
}

// Count is what some instructions have done.
type Count struct {
	Instructions uint64 `json:"instructions"` // that a warp has executed
	Lanes        uint64 `json:"lanes"`        // threads that took part, in all of them together
	Diverged     uint64 `json:"diverged"`     // branches at which a warp split
	Branches     uint64 `json:"branches"`     // branches that warps have executed
	// Operations are floating-point operations of all threads; a fused multiplication and addition
	// is two. As in Nsight Compute, minima and maxima are none.
	Operations uint64 `json:"operations"`

	Loads   uint64 `json:"loads"`   // instructions that read or write global memory
	Bytes   uint64 `json:"bytes"`   // that their threads read or wrote
	Sectors uint64 `json:"sectors"` // of 32 bytes that they touched
	Least   uint64 `json:"least"`   // sectors that as many bytes need if they are adjacent

	Shared uint64 `json:"shared"` // instructions that read or write shared memory
	Passes uint64 `json:"passes"` // that the banks need
	Fewest uint64 `json:"fewest"` // passes without conflicts
}

// fields returns all numbers.
func (c *Count) fields() []*uint64 {
	return []*uint64{
		&c.Instructions, &c.Lanes, &c.Diverged, &c.Branches, &c.Operations,
		&c.Loads, &c.Bytes, &c.Sectors, &c.Least, &c.Shared, &c.Passes, &c.Fewest,
	}
}

// Add adds o to c.
func (c *Count) Add(o *Count) { c.addScaled(o, 1) }

func (c *Count) addScaled(o *Count, by float64) {
	from := o.fields()
	for i, to := range c.fields() {
		*to += uint64(math.Round(by * float64(*from[i])))
	}
}

// LineCount is what the instructions of a source line have done.
type LineCount struct {
	File string `json:"file"`
	Line int    `json:"line"`
	Count
}

// KernelCount is what the launches of a kernel have done.
type KernelCount struct {
	Name     string      `json:"name"`
	Launches uint64      `json:"launches"`
	Blocks   uint64      `json:"blocks"`
	Threads  uint64      `json:"threads"`
	Lines    []LineCount `json:"lines"` // by file and line
}

// counting is what the blocks of a launch have done.
type counting struct {
	mu      sync.Mutex
	blocks  uint64 // that have run
	code    []Count
	touched map[uint64]touch // by number of the sector

	scattered map[uint64]uint64 // accesses, by slot of the memory's table
}

// touch says how a sector was accessed.
type touch uint8

const (
	wasRead touch = 1 << iota
	wasWritten
)

// add adds what the blocks of a machine have done.
func (c *counting) add(b *block) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.blocks += b.counted
	for i := range b.counts {
		c.code[i].Add(&b.counts[i])
	}
	for sector, how := range b.touched {
		c.touched[sector] |= how
	}
	for slot, n := range b.scattered {
		c.scattered[slot] += n
	}
}

// sampled returns the linear index of the i-th block that runs, and whether there is one.
func (l *launch) sampled(i uint64) (linear uint64, ok bool) {
	n := uint64(0)
	if c := l.config.Counter; c != nil && c.Blocks > 0 {
		n = uint64(max(c.Blocks, c.Threads/l.blockThreads()))
	}
	if n == 0 || n >= l.blocks {
		return i, i < l.blocks
	}
	// The middle of each of n equal parts of the grid.
	return (2*i + 1) * l.blocks / (2 * n), i < n
}

// blockThreads returns the number of threads of a block.
func (l *launch) blockThreads() int {
	return l.config.Block[0] * l.config.Block[1] * l.config.Block[2]
}

// add adds what a launch has done, scaled to all of its blocks.
func (c *Counter) add(l *launch) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.entries == nil {
		c.entries = map[*Entry]*entryCount{}
	}
	e := l.entry
	sum := c.entries[e]
	if sum == nil {
		sum = &entryCount{name: cmp.Or(l.config.Label, e.Name), code: make([]Count, len(e.code))}
		c.entries[e] = sum
	}
	sum.launches++
	ran := l.counting.blocks
	if ran == 0 {
		return
	}
	scale := 1.0
	if c.Blocks > 0 {
		scale = float64(l.blocks) / float64(ran)
		ran = l.blocks
	}
	threads := uint64(l.blockThreads())
	sum.blocks += ran
	sum.threads += ran * threads
	sum.warps += ran * ((threads + warpSize - 1) / warpSize)
	for i := range sum.code {
		sum.code[i].addScaled(&l.counting.code[i], scale)
	}
	c.addTouched(l, scale)
}

// addTouched adds the sizes of what a launch has accessed. They are scaled too, but an array does
// not become larger than it is.
func (c *Counter) addTouched(l *launch, scale float64) {
	type use struct{ read, written float64 }
	uses := map[uint64]use{} // by slot of the memory's table
	for sector, how := range l.counting.touched {
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
		most := math.Inf(1)
		if slot < uint64(len(l.table)) && l.table[slot] != nil {
			most = float64(l.table[slot].size)
		}
		read, written := min(most, u.read*scale), min(most, u.written*scale)
		c.read += read
		c.written += written
		n := scale * float64(l.counting.scattered[slot])
		c.scattered += n
		c.scatteredBytes += n * max(read, written)
	}
}

// Kernels returns the counts so far, by label or name of the kernel. Entries of one name, such
// as variants of a kernel, are added up.
func (c *Counter) Kernels() []KernelCount {
	c.mu.Lock()
	defer c.mu.Unlock()
	kernels := map[string]*KernelCount{}
	lines := map[string]map[location]*LineCount{}
	for e, sum := range c.entries {
		k := kernels[sum.name]
		if k == nil {
			k = &KernelCount{Name: sum.name}
			kernels[sum.name], lines[sum.name] = k, map[location]*LineCount{}
		}
		k.Launches += sum.launches
		k.Blocks += sum.blocks
		k.Threads += sum.threads
		for i := range sum.code {
			at := e.locations[e.code[i].loc]
			at.col = 0
			l := lines[sum.name][at]
			if l == nil {
				l = &LineCount{File: at.file, Line: int(at.line)}
				lines[sum.name][at] = l
			}
			l.Add(&sum.code[i])
		}
	}
	var list []KernelCount
	for _, name := range slices.Sorted(maps.Keys(kernels)) {
		k := kernels[name]
		for _, l := range lines[name] {
			if l.Instructions > 0 {
				k.Lines = append(k.Lines, *l)
			}
		}
		slices.SortFunc(k.Lines, func(a, b LineCount) int { return cmp.Or(cmp.Compare(a.File, b.File), a.Line-b.Line) })
		list = append(list, *k)
	}
	return list
}

// turnSteps is the number of instructions after which the lanes that run give way to the other
// lanes of their warp, and a warp to the other warps. They may wait for each other.
const turnSteps = 4096

// passLockstep is pass for a machine that counts: it runs the warps in turn, and the threads of
// a warp together.
func (b *block) passLockstep() (progress, pauses bool) {
	for i := range b.warps {
		w := &b.warps[i]
		for j := range w.threads {
			if t := &w.threads[j]; t.state == paused {
				t.state = ready
			}
		}
		var resting uint32 // lanes that have had their turn
		for b.err == nil {
			lanes, steps := w.lockstep(b, resting)
			if lanes == 0 {
				break
			}
			polls := true
			w.each(lanes, func(t *thread, _ int) {
				switch t.state {
				case polling:
					t.state = ready
				case paused:
					pauses, polls = true, false
				default:
					polls = false
				}
			})
			progress = progress || !polls || steps > pollSteps
			resting |= lanes
		}
		if b.err != nil {
			return progress, pauses
		}
	}
	return progress, pauses
}

// lockstep runs the lanes of the warp that can run, except those that rest, until there are
// none, or some have used up their turn. It returns the lanes that have run last, 0 if none, and
// the number of instructions.
//
// Of lanes at different instructions, those at the first one run: code is laid out so that
// lanes that have left a loop or a branch wait behind it for the others. This is where a GPU's
// lanes converge too.
func (w *warp) lockstep(b *block, resting uint32) (lanes uint32, steps int) {
	together := false // the lanes that have run last can run on, and no others
	for steps < turnSteps {
		if !together {
			at, ready := w.first(resting)
			if at == 0 {
				return lanes, steps
			}
			lanes, together = at, at == ready
		}
		steps++
		if b.fuel <= 0 && !b.refuel(&w.threads[bits.TrailingZeros32(lanes)]) {
			return lanes, steps
		}
		b.fuel -= bits.OnesCount32(lanes)
		if w.step(b, lanes) {
			continue
		}
		together = false
		if b.err != nil {
			return lanes, steps
		}
		stopped := false
		w.each(lanes, func(t *thread, _ int) { stopped = stopped || t.state == polling || t.state == paused })
		if stopped {
			return lanes, steps
		}
	}
	return lanes, steps
}

// first returns which lanes are at the first instruction of those at which lanes can run, and
// which lanes can run at all.
func (w *warp) first(resting uint32) (at, able uint32) {
	first := int32(-1)
	for lane := range w.threads {
		t := &w.threads[lane]
		if t.state != ready || resting>>lane&1 != 0 {
			continue
		}
		able |= 1 << lane
		switch {
		case first < 0 || t.pc < first:
			first, at = t.pc, 1<<lane
		case t.pc == first:
			at |= 1 << lane
		}
	}
	return at, able
}

// step executes the next instruction of lanes that are at the same one, and counts it. It reports
// whether all of them can go on, from the same instruction.
func (w *warp) step(b *block, lanes uint32) (together bool) {
	pc := w.threads[bits.TrailingZeros32(lanes)].pc
	in := &b.code[pc]
	active := lanes
	if in.guard >= 0 {
		for m := lanes; m != 0; m &= m - 1 {
			if t := &w.threads[bits.TrailingZeros32(m)]; (t.regs[in.guard]&1 != 0) == in.unless {
				active &^= m & -m
			}
		}
	}
	c := &b.counts[pc]
	c.Instructions++
	c.Lanes += uint64(bits.OnesCount32(active))
	c.Operations += uint64(in.operations) * uint64(bits.OnesCount32(active))
	if in.access.size > 0 && active != 0 {
		w.countAccess(b, c, in, active)
		if in.from != nil {
			w.countAccess(b, c, in.from, active)
		}
	}
	jumps, split, waits := false, false, false
	next := int32(-1)
	for m := lanes; m != 0; m &= m - 1 {
		t := &w.threads[bits.TrailingZeros32(m)]
		t.pc++
		if active&m&-m != 0 && b.err == nil {
			in.exec(t, in)
		}
		jumps = jumps || t.pc != pc+1
		waits = waits || t.state != ready
		switch {
		case t.state == halted:
		case next < 0:
			next = t.pc
		case t.pc != next:
			split = true
		}
	}
	if jumps || in.guard >= 0 && in.target > 0 {
		c.Branches++
		if split {
			c.Diverged++
		}
	}
	if b.err != nil || !waits {
		return b.err == nil && !split
	}
	// Release waiting threads once all lanes have arrived.
	w.each(lanes, func(t *thread, _ int) {
		switch {
		case b.err != nil:
		case t.state == parked:
			b.barriers[t.mask].complete(b, int(t.mask))
		case t.state == gathered:
			w.perform(b, t)
		}
	})
	return false
}

const sectorShift = 5 // sectors of 32 bytes

// countAccess counts what the active lanes access.
func (w *warp) countAccess(b *block, c *Count, in *instr, active uint32) {
	var global, shared [warpSize]uint64
	var last *[warpSize]uint64
	if b.recent != nil {
		last = b.lastOf(w, in)
	}
	g, s := 0, 0
	w.each(active, func(t *thread, lane int) {
		address, sp := t.address(in), in.access.space
		if sp == genericSpace {
			sp = globalSpace
			if address >= firstWindow {
				sp = t.b.spaceOf(address)
				address &= windowOffset
			}
		}
		switch sp {
		case globalSpace:
			global[g] = address
			if last != nil {
				b.countScattered(last, lane, address, g > 0, global[max(g-1, 0)])
			}
			g++
		case sharedSpace:
			shared[s] = address
			s++
		}
	})
	size := int(in.access.size)
	if g > 0 {
		c.Loads++
		c.Bytes += uint64(g * size)
		sectors, distinct := sectorsOf(global[:g], size)
		c.Sectors += sectors
		c.Least += distinct
		b.touch(in, global[:g])
	}
	if s > 0 {
		c.Shared++
		passes, fewest := passesOf(shared[:s], size)
		c.Passes += passes
		c.Fewest += fewest
	}
}

// site is an instruction of a warp.
type site struct {
	w  *warp
	in *instr
}

// lastOf returns the addresses at which the lanes of a warp last executed an instruction; those of
// lanes that have not are 0.
func (b *block) lastOf(w *warp, in *instr) *[warpSize]uint64 {
	last := b.recent[site{w, in}]
	if last == nil {
		last = new([warpSize]uint64)
		b.recent[site{w, in}] = last
	}
	return last
}

// nearby is the distance in bytes up to which a cache or its prefetcher has what is accessed next:
// two lines of 64 bytes.
const nearby = 128

// countScattered counts an access that is neither near the one of the lane before nor near the
// lane's last one at this instruction. The order in which a CPU executes threads makes both cheap.
func (b *block) countScattered(last *[warpSize]uint64, lane int, address uint64, hasBefore bool, before uint64) {
	near := func(a uint64) bool { return max(a, address)-min(a, address) <= nearby }
	was := last[lane]
	last[lane] = address
	if (was == 0 && !hasBefore) || (was != 0 && near(was)) || (hasBefore && near(before)) {
		return
	}
	b.scattered[address>>slotShift]++
}

// touch notes which sectors of global memory are accessed.
func (b *block) touch(in *instr, addresses []uint64) {
	if b.touched == nil {
		return
	}
	var how touch
	if in.access.read {
		how |= wasRead
	}
	if in.access.write {
		how |= wasWritten
	}
	last := uint64(math.MaxUint64)
	for _, a := range addresses {
		if s := a >> sectorShift; s != last {
			b.touched[s] |= how
			last = s
		}
	}
}

// sectorsOf sorts the addresses. It returns the number of sectors that accesses of the given size
// touch, and how many their distinct bytes would need if they were adjacent.
func sectorsOf(addresses []uint64, size int) (sectors, least uint64) {
	slices.Sort(addresses)
	var last, end uint64
	var covered uint64
	for i, a := range addresses {
		if s := a >> sectorShift; i == 0 || s != last { // accesses are aligned, so none spans two
			sectors++
			last = s
		}
		if i == 0 || a >= end {
			covered += uint64(size)
		}
		end = a + uint64(size)
	}
	return sectors, (covered + 1<<sectorShift - 1) >> sectorShift
}

const (
	banks    = 32
	bankSize = 4 // bytes
)

// passesOf returns how often the banks of shared memory serve accesses of the given size, and
// how often without conflicts. A pass serves 128 bytes: accesses of 8 bytes are served by half
// warps and those of 16 by quarters. A bank serves one word in each pass, to any number of
// lanes.
func passesOf(addresses []uint64, size int) (passes, fewest uint64) {
	together := max(1, banks*bankSize/max(size, bankSize))
	for len(addresses) > 0 {
		n := min(together, len(addresses))
		var words [banks][]uint64
		most := 0
		for _, a := range addresses[:n] {
			for off := uint64(0); off < uint64(size); off += bankSize {
				word := (a + off) / bankSize
				if list := &words[word%banks]; !slices.Contains(*list, word) {
					*list = append(*list, word)
					most = max(most, len(*list))
				}
			}
		}
		passes += uint64(most)
		fewest++
		addresses = addresses[n:]
	}
	return passes, fewest
}

// floatOperations returns the number of floating-point operations of a thread in an instruction:
// one, two of a multiplication with an addition, and a thread's part of a product of matrices.
func floatOperations(opcode, text string) uint16 {
	lanes := uint16(0)
	switch text[strings.LastIndexByte(text, '.')+1:] {
	case "f16", "bf16", "f32", "f64":
		lanes = 1
	case "f16x2", "bf16x2":
		lanes = 2
	}
	switch opcode {
	case "add", "sub", "mul", "div", "sqrt", "rsqrt", "rcp", "sin", "cos", "lg2", "ex2", "tanh":
		return lanes
	case "fma", "mad":
		return 2 * lanes
	case "mma":
		for part := range strings.SplitSeq(text, ".") {
			var m, n, k int
			if _, err := fmt.Sscanf(part, "m%dn%dk%d", &m, &n, &k); err == nil {
				return uint16(2 * m * n * k / warpSize)
			}
		}
	}
	return 0
}
