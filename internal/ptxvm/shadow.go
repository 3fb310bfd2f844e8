package ptxvm

import "sort"

// initialized has one bit per byte of a memory. The bit is set if the byte was written.
type initialized []uint64

func newInitialized(size int) initialized { return make(initialized, (size+63)/64) }

func (m initialized) clear() { clear(m) }

// has reports whether all size bytes at off are written. Accesses are aligned and have at
// most 32 bytes, so they never straddle words.
func (m initialized) has(off uint64, size uint8) bool {
	bits := uint64(1)<<size - 1
	return m[off>>6]>>(off&63)&bits == bits
}

func (m initialized) set(off uint64, size uint8) {
	m[off>>6] |= (1<<size - 1) << (off & 63)
}

func (m initialized) setRange(off, n uint64) {
	for ; n > 0 && off&63 != 0; off, n = off+1, n-1 {
		m[off>>6] |= 1 << (off & 63)
	}
	for ; n >= 64; off, n = off+64, n-64 {
		m[off>>6] = ^uint64(0)
	}
	if n > 0 {
		m[off>>6] |= 1<<n - 1
	}
}

// copyRange copies n bits of src, starting at from, to off.
func (m initialized) copyRange(off uint64, src *initialized, from, n uint64) {
	s := *src
	if off&63 == 0 && from&63 == 0 {
		whole := n / 64
		copy(m[off/64:off/64+whole], s[from/64:from/64+whole])
		off, from, n = off+whole*64, from+whole*64, n-whole*64
	}
	backwards := off > from
	for i := range n {
		if backwards {
			i = n - 1 - i
		}
		bit := s[(from+i)>>6] >> ((from + i) & 63) & 1
		word := &m[(off+i)>>6]
		*word = *word&^(1<<((off+i)&63)) | bit<<((off+i)&63)
	}
}

// The race checker.
//
// Blocks run one after another, and so do the threads of a block between two barriers, but
// the checker counts only the order that barriers establish: two accesses to the same
// bytes by different threads race if at least one is a write and not both are strong,
// unless something orders them. They race even if both threads write the same value.
//
// Time is a counter that advances at every barrier, at the start of every block, and at
// every release. The checker records each access with its time. An access is ordered
// before another access
//   - of the same thread;
//   - of the same block, if the block has passed a barrier since;
//   - of the same warp, if the warp has passed a bar.warp.sync since;
//   - of a thread that has acquired, itself or across a barrier, what some
//     thread released since the access. A fence before a strong write
//     releases, and so does .release; a fence after a strong read acquires,
//     and so does .acquire.
//
// The checker ignores which location a release and an acquire use, and which threads take
// part in a partial barrier. It may therefore miss a race, but it never reports ordered
// accesses.

// clock is the state of the race checker in one machine.
type clock struct {
	now         uint32
	launchStart uint32
	released    uint32   // accesses up to this time are released
	starts      []uint32 // start of each interval in which one block runs
	owners      []uint64 // block that runs in each interval
}

// record is an access in shadow memory: the time in the high 32 bits, then 10 bits for the
// thread, one for strong, and 21 bits for the pc.
type record uint64

const (
	recordPCBits  = 21
	recordUnknown = 1<<recordPCBits - 1 // the pc does not fit
)

func (r record) time() uint32  { return uint32(r >> 32) }
func (r record) thread() int32 { return int32(r >> 22 & (maxThreads - 1)) }
func (r record) strong() bool  { return r>>recordPCBits&1 != 0 }

// sameAs reports whether both records are of the same thread at the same time.
func (r record) sameAs(o record) bool { return r>>22 == o>>22 }

func (t *thread) record(in *instr) record {
	r := record(t.b.now)<<32 | record(t.index)<<22 | min(record(t.pc-1), recordUnknown)
	if in.access.strong {
		r |= 1 << recordPCBits
	}
	return r
}

// granule is the shadow of one or four bytes: the last write, and two reads since then by
// different threads. Every later writer therefore finds a read by another thread, if there
// was one.
type granule struct{ write, read, otherRead record }

// shadow is the shadow of a memory, in chunks that are allocated on first access. A chunk
// has one granule per four bytes until the first narrower access.
type shadow []*shadowChunk

const chunkBytes = 1 << 12

type shadowChunk struct {
	shift    uint8 // log2 of the bytes per granule
	granules []granule
}

func newShadow(size int) shadow { return make(shadow, (size+chunkBytes-1)/chunkBytes) }

// chunk returns the shadow of the chunk that holds off, with granules fine enough for an
// access of size bytes.
func (s shadow) chunk(off uint64, size uint8) *shadowChunk {
	c := s[off/chunkBytes]
	if c == nil {
		c = &shadowChunk{shift: 2, granules: make([]granule, chunkBytes/4)}
		s[off/chunkBytes] = c
	}
	if size < 4 && c.shift != 0 {
		fine := make([]granule, chunkBytes)
		for i := range fine {
			fine[i] = c.granules[i/4]
		}
		c.shift, c.granules = 0, fine
	}
	return c
}

// check records the access of t and returns an access that races with it, or zero. It
// ignores records before floor.
func (s shadow) check(t *thread, in *instr, off uint64, floor uint32) record {
	size := in.access.size
	c := s.chunk(off, size)
	self := t.record(in)
	lo := off % chunkBytes >> c.shift
	hi := (off%chunkBytes + uint64(size) + 1<<c.shift - 1) >> c.shift
	granules := c.granules[lo:hi]
	for i := range granules {
		g := &granules[i]
		if t.conflicts(g.write, self, floor) {
			return g.write
		}
		if !in.access.write {
			switch {
			case g.read.sameAs(self):
				g.read = self.orPlain(g.read)
			case t.precedes(g.read, floor):
				g.read = self
			case t.precedes(g.otherRead, floor):
				g.otherRead = self.orPlain(g.otherRead)
			}
			continue
		}
		if t.conflicts(g.read, self, floor) {
			return g.read
		}
		if t.conflicts(g.otherRead, self, floor) {
			return g.otherRead
		}
		g.write = self.orPlain(g.write)
		g.read, g.otherRead = 0, 0
	}
	return 0
}

// orPlain returns old instead of r if old is a plain access of the same thread and r a
// strong one. Other threads race with the plain access.
func (r record) orPlain(old record) record {
	if old.sameAs(r) && !old.strong() {
		return old
	}
	return r
}

func (t *thread) conflicts(r, self record, floor uint32) bool {
	return !(r.strong() && self.strong()) && !t.precedes(r, floor)
}

// precedes reports whether access r is ordered before what t does now. It returns true if
// r is empty.
func (t *thread) precedes(r record, floor uint32) bool {
	at := r.time()
	if at < floor {
		return true
	}
	b := t.b
	if b.cluster != nil && b.clusterPrecedes(at) {
		return true
	}
	if b.mine(at) {
		if at < b.barrier || r.thread() == t.index {
			return true
		}
		if at < t.warp.barrier && r.thread()/warpSize == t.index/warpSize {
			return true
		}
	}
	return at <= t.acquired
}

// beginLaunch continues the clock of the memory.
func (c *clock) beginLaunch(now uint32) {
	*c = clock{now: now + 1, launchStart: now + 1, starts: c.starts[:0], owners: c.owners[:0]}
}

// beginBlock starts the next block.
func (b *block) beginBlock() {
	b.beginTurn()
	b.blockStart, b.barrier, b.clusterAt = b.now, b.now, b.now
}

// beginTurn attributes the time from now on to the block.
func (b *block) beginTurn() {
	b.now++
	b.starts, b.owners = append(b.starts, b.now), append(b.owners, b.linear)
}

// owner returns the linear index of the block that ran at the given time.
func (c *clock) owner(at uint32) uint64 {
	return c.owners[sort.Search(len(c.starts), func(i int) bool { return c.starts[i] > at })-1]
}

// mine reports whether the block ran at the given time of the launch.
func (b *block) mine(at uint32) bool {
	return at >= b.blockStart && (b.cluster == nil || b.owner(at) == b.linear)
}

// synchronizeBlock orders all earlier accesses of the block before all later ones.
func (b *block) synchronizeBlock() {
	if !b.checks {
		return
	}
	b.now++
	b.barrier = b.now
	var acquired uint32
	for i := range b.threads {
		acquired = max(acquired, b.threads[i].acquired)
	}
	for i := range b.threads {
		b.threads[i].acquired = acquired
	}
}

// synchronizeWarp does the same for the threads of a warp.
func (b *block) synchronizeWarp(w *warp) {
	b.now++
	w.barrier = b.now
	var acquired uint32
	for i := range w.threads {
		acquired = max(acquired, w.threads[i].acquired)
	}
	for i := range w.threads {
		w.threads[i].acquired = acquired
	}
}

// publish records what a strong access releases and acquires.
func (t *thread) publish(a access) {
	b := t.b
	if a.write {
		if a.release {
			b.released = b.tick()
		} else if t.fenced > b.released {
			b.released = t.fenced
		}
	}
	if a.read {
		t.observed = b.released
		if a.acquire {
			t.acquired = t.observed
		}
	}
}

// fence applies a fence of t to the race checker.
func (t *thread) fence() {
	t.fenced = t.b.tick()
	t.acquired = max(t.acquired, t.observed)
}

// tick ends the current time and returns it.
func (c *clock) tick() uint32 {
	c.now++
	return c.now - 1
}

// raceFault stops the block because t races with access r.
func (t *thread) raceFault(kind Kind, in *instr, address uint64, r record, detail string) *Fault {
	f := t.fault(kind, in, address, "%s", detail)
	if f == nil {
		return nil
	}
	b := t.b
	linear := b.owner(r.time())
	unknown := instr{}
	other := &unknown
	if pc := r & recordUnknown; pc < recordUnknown {
		other = &b.code[pc]
	}
	site := b.entry.site(other, b.blockIndex(linear), b.coordinates(r.thread()))
	f.Other = &site
	return f
}
