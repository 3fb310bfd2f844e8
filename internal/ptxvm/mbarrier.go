package ptxvm

import "unsafe"

// mbarrier is a barrier in shared memory. Its phase ends when all expected arrivals and
// all bytes of the copies it tracks have come. Its state is kept outside shared memory;
// the 64 bits in shared memory are opaque. With checks, copies complete only when nothing
// else prevents the end of the phase.
type mbarrier struct {
	count   int64 // expected arrivals per phase
	pending int64 // missing arrivals
	bytes   int64 // missing bytes of copies
	phase   uint64
	copies  []bulkCopy
}

// bulkCopy is a bulk copy that has started.
type bulkCopy struct {
	t    *thread
	in   *instr // the write, 16 bytes at a time
	off  uint64
	data []byte
}

// mbarrierSize is the size of an mbarrier in bytes.
const mbarrierSize = 8

// decodeMbarrier decodes operations on an mbarrier.
func decodeMbarrier(d *decoder) {
	op := d.mod("init", "inval", "expect_tx", "arrive", "test_wait", "try_wait")
	expect := op == "arrive" && d.mod("expect_tx") != ""
	parity := d.mod("parity") != ""
	d.drop("relaxed", "acquire", "release")
	d.drop(scopeModifiers...)
	if d.mod("shared", "shared::cta") == "" {
		d.p.fail("%s: want a barrier in shared memory", d.text)
	}
	if d.typ() != b64 {
		d.p.fail("%s: want type .b64", d.text)
	}
	d.in.access = access{write: true, strong: true, size: mbarrierSize}
	at := func(i int) { d.address(d.args[i], sharedSpace) }
	switch op {
	case "init":
		d.want(2, 2)
		at(0)
		d.in.b = d.source(1, b32)
		d.emit(initBarrier)
	case "inval":
		d.want(1, 1)
		at(0)
		d.emit(func(t *thread, in *instr) {
			if b, off := t.mbarrier(in); b != nil {
				delete(t.b.mbarriers, off)
			}
		})
	case "expect_tx":
		d.want(2, 2)
		at(0)
		d.in.b = d.source(1, b32)
		d.emit(func(t *thread, in *instr) {
			if b, _ := t.mbarrier(in); b != nil {
				b.bytes += int64(uint32(t.regs[in.b]))
			}
		})
	case "arrive":
		last := 2
		if expect {
			last = 3
		}
		d.want(last, last)
		d.in.d = d.target(d.args[0], b64, false)
		at(1)
		d.in.c = noOperand
		if expect {
			d.in.c = d.source(2, b32)
		}
		d.emit(arriveAtBarrier)
	case "test_wait", "try_wait":
		d.want(3, 4) // the time limit is ignored
		d.in.d = d.destination(0, pred)
		at(1)
		d.in.b = d.source(2, b64)
		if parity {
			d.in.b, d.in.e = d.source(2, b32), 1
		}
		d.emit(waitAtBarrier)
	default:
		d.emit(nil)
	}
}

// mbarrier returns the barrier of instruction in and its offset in shared memory. It
// returns nil if a fault has stopped t.
func (t *thread) mbarrier(in *instr) (*mbarrier, uint64) {
	off := t.address(in)
	if t.pointer(in) == nil {
		return nil, 0
	}
	b := t.b.mbarriers[off]
	if b == nil {
		t.fault(IllegalOperand, in, off, "a barrier that has not been initialized")
	}
	return b, off
}

func initBarrier(t *thread, in *instr) {
	off, n := t.address(in), int64(uint32(t.regs[in.b]))
	switch {
	case t.pointer(in) == nil:
		return
	case n < 1 || n > 1<<20-1:
		t.fault(IllegalOperand, in, off, "a barrier for %d arrivals", n)
		return
	}
	if t.b.mbarriers == nil {
		t.b.mbarriers = map[uint64]*mbarrier{}
	}
	t.b.mbarriers[off] = &mbarrier{count: n, pending: n}
}

func arriveAtBarrier(t *thread, in *instr) {
	b, off := t.mbarrier(in)
	if b == nil {
		return
	}
	if in.c != noOperand {
		b.bytes += int64(uint32(t.regs[in.c]))
	}
	if b.pending == 0 {
		t.fault(IllegalOperand, in, off, "more arrivals than the barrier expects, %d", b.count)
		return
	}
	t.regs[in.d] = b.phase
	b.pending--
	if t.b.checks {
		t.b.released = t.b.tick()
	}
	b.complete(t.b)
}

// waitAtBarrier tests whether a phase has ended. If it has not, another thread gets a
// turn.
func waitAtBarrier(t *thread, in *instr) {
	b, _ := t.mbarrier(in)
	if b == nil {
		return
	}
	b.complete(t.b)
	over := b.phase != t.regs[in.b]
	if in.e == 1 {
		over = b.phase&1 != t.regs[in.b]&1
	}
	t.regs[in.d] = truth(over)
	switch {
	case !over && t.state == ready:
		t.state = polling
	case over && t.b.checks:
		t.acquired = max(t.acquired, t.b.released)
	}
}

// complete ends the phase if only copies are missing, and completes those copies.
func (m *mbarrier) complete(b *block) {
	if m.pending > 0 {
		return
	}
	for _, c := range m.copies {
		if !c.arrive() {
			return
		}
		m.bytes -= int64(len(c.data))
	}
	if len(m.copies) > 0 {
		b.released = b.tick()
	}
	m.copies = m.copies[:0]
	if m.bytes == 0 {
		m.pending = m.count
		m.phase++
	}
}

// arrive writes the data of the copy to shared memory. It returns false after a fault.
func (c *bulkCopy) arrive() bool {
	for i := 0; i < len(c.data); i += int(c.in.access.size) {
		dst := c.t.blockPointer(c.in, sharedSpace, c.off+uint64(i))
		if dst == nil {
			return false
		}
		copy(unsafe.Slice((*byte)(dst), c.in.access.size), c.data[i:])
	}
	return true
}

// decodeBulkCopy decodes a bulk copy from global to shared memory that an mbarrier tracks.
func decodeBulkCopy(d *decoder) {
	if d.mod("tensor") != "" {
		decodeTileCopy(d)
		return
	}
	if d.mod("shared::cluster", "shared::cta") == "" || d.mod("global") == "" || d.mod("mbarrier::complete_tx::bytes") == "" {
		d.p.fail("%s: want a copy from global to shared memory with a barrier", d.text)
	}
	d.drop(cacheModifiers...)
	d.want(4, 4)
	d.in.c = d.source(2, b32)
	d.in.access = access{read: true, size: bulkUnit}
	d.address(d.args[1], globalSpace)
	from := d.in
	d.in.offset, d.in.access = 0, access{write: true, strong: true, size: mbarrierSize}
	d.address(d.args[3], sharedSpace)
	bar := d.in
	d.in.offset, d.in.access = 0, access{write: true, size: bulkUnit}
	d.address(d.args[0], sharedSpace)
	d.emit(func(t *thread, in *instr) { t.copyBulk(in, &from, &bar) })
}

// bulkUnit divides all sizes and addresses of bulk copies.
const bulkUnit = 16

func (t *thread) copyBulk(in, from, bar *instr) {
	size := int(uint32(t.regs[in.c]))
	if size%bulkUnit != 0 {
		t.fault(IllegalOperand, in, 0, "a bulk copy of %d bytes, which is not a multiple of %d", size, bulkUnit)
		return
	}
	m, _ := t.mbarrier(bar)
	if m == nil {
		return
	}
	c := bulkCopy{t: t, in: in, off: t.address(in), data: make([]byte, size)}
	src, dst := *from, *in
	for i := 0; i < size; i += bulkUnit {
		p := t.pointer(&src)
		if p == nil || t.pointer(&dst) == nil {
			return
		}
		copy(c.data[i:], unsafe.Slice((*byte)(p), bulkUnit))
		if t.b.checks {
			t.b.sharedInit.unset(c.off+uint64(i), bulkUnit)
		}
		src.offset += bulkUnit
		dst.offset += bulkUnit
	}
	if t.b.checks {
		m.copies = append(m.copies, c)
		return
	}
	if c.arrive() {
		m.bytes -= int64(size)
	}
}
