package ptxvm

import (
	"cmp"
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"strings"
	"sync"
)

// Counter counts what kernels do. A launch with a Config.Counter runs the threads of a warp in
// lockstep, as a GPU does, so that the counts are of warps. It is safe for concurrent use.
type Counter struct {
	mu      sync.Mutex
	entries map[*Entry]*entryCount
}

// entryCount holds what the launches of an entry have done.
type entryCount struct {
	name                      string
	launches, blocks, threads uint64
	code                      []Count // by instruction
}

// Count is what some instructions have done.
type Count struct {
	Instructions uint64 `json:"instructions"` // that a warp has executed
	Lanes        uint64 `json:"lanes"`        // threads that took part, in all of them together
	Diverged     uint64 `json:"diverged"`     // branches at which a warp split
	Branches     uint64 `json:"branches"`     // branches that warps have executed
	Operations   uint64 `json:"operations"`   // floating-point operations of all threads

	Loads   uint64 `json:"loads"`   // instructions that read or write global memory
	Bytes   uint64 `json:"bytes"`   // that their threads read or wrote
	Sectors uint64 `json:"sectors"` // of 32 bytes that they touched
	Least   uint64 `json:"least"`   // sectors that as many bytes need if they are adjacent

	Shared uint64 `json:"shared"` // instructions that read or write shared memory
	Passes uint64 `json:"passes"` // that the banks need
	Fewest uint64 `json:"fewest"` // passes without conflicts
}

// Add adds o to c.
func (c *Count) Add(o *Count) {
	c.Instructions += o.Instructions
	c.Lanes += o.Lanes
	c.Diverged += o.Diverged
	c.Branches += o.Branches
	c.Operations += o.Operations
	c.Loads += o.Loads
	c.Bytes += o.Bytes
	c.Sectors += o.Sectors
	c.Least += o.Least
	c.Shared += o.Shared
	c.Passes += o.Passes
	c.Fewest += o.Fewest
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

// NewCounter returns a counter of nothing.
func NewCounter() *Counter { return &Counter{entries: map[*Entry]*entryCount{}} }

// add adds what one launch or worker has done.
func (c *Counter) add(e *Entry, label string, launches, blocks, threads uint64, code []Count) {
	c.mu.Lock()
	defer c.mu.Unlock()
	sum := c.entries[e]
	if sum == nil {
		sum = &entryCount{name: cmp.Or(label, e.Name), code: make([]Count, len(e.code))}
		c.entries[e] = sum
	}
	sum.launches += launches
	sum.blocks += blocks
	sum.threads += threads
	for i := range code {
		sum.code[i].Add(&code[i])
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
	for steps < turnSteps {
		first := int32(-1)
		var at uint32
		for lane := range w.threads {
			t := &w.threads[lane]
			if t.state != ready || resting>>lane&1 != 0 || first >= 0 && t.pc > first {
				continue
			}
			if t.pc != first {
				first, at = t.pc, 0
			}
			at |= 1 << lane
		}
		if at == 0 {
			return lanes, steps
		}
		lanes = at
		steps++
		if b.fuel <= 0 && !b.refuel(&w.threads[bits.TrailingZeros32(at)]) {
			return lanes, steps
		}
		b.fuel -= bits.OnesCount32(at)
		w.step(b, at)
		if b.err != nil {
			return lanes, steps
		}
		stopped := false
		w.each(at, func(t *thread, _ int) { stopped = stopped || t.state == polling || t.state == paused })
		if stopped {
			return lanes, steps
		}
	}
	return lanes, steps
}

// step executes the next instruction of lanes that are at the same one, and counts it.
func (w *warp) step(b *block, lanes uint32) {
	pc := w.threads[bits.TrailingZeros32(lanes)].pc
	in := &b.code[pc]
	active := lanes
	w.each(lanes, func(t *thread, lane int) {
		t.pc++
		if in.guard >= 0 && (t.regs[in.guard]&1 != 0) == in.unless {
			active &^= 1 << lane
		}
	})
	c := &b.counts[pc]
	c.Instructions++
	c.Lanes += uint64(bits.OnesCount32(active))
	c.Operations += uint64(in.operations) * uint64(bits.OnesCount32(active))
	if in.access.size > 0 && active != 0 {
		w.countAccess(c, in, active)
		if in.from != nil {
			w.countAccess(c, in.from, active)
		}
	}
	jumps, split := false, false
	next := int32(-1)
	w.each(lanes, func(t *thread, lane int) {
		if active>>lane&1 != 0 && b.err == nil {
			in.exec(t, in)
		}
		jumps = jumps || t.pc != pc+1
		switch {
		case t.state == halted:
		case next < 0:
			next = t.pc
		case t.pc != next:
			split = true
		}
	})
	if jumps || in.guard >= 0 && in.target > 0 {
		c.Branches++
		if split {
			c.Diverged++
		}
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
}

const sectorShift = 5 // sectors of 32 bytes

// countAccess counts what the active lanes access.
func (w *warp) countAccess(c *Count, in *instr, active uint32) {
	var global, shared [warpSize]uint64
	g, s := 0, 0
	w.each(active, func(t *thread, _ int) {
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
	}
	if s > 0 {
		c.Shared++
		passes, fewest := passesOf(shared[:s], size)
		c.Passes += passes
		c.Fewest += fewest
	}
}

// sectorsOf returns the number of sectors that accesses of the given size touch, and how many
// their distinct bytes would need if they were adjacent.
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
	case "add", "sub", "mul", "div", "min", "max", "sqrt", "rsqrt", "rcp", "sin", "cos", "lg2", "ex2", "tanh":
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
