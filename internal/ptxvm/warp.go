package ptxvm

import "math/bits"

// collective executes a warp operation once all of its members have reached it. members is
// a mask of lanes.
type collective func(w *warp, in *instr, members uint32)

// joinWarp makes a thread wait for the lanes in slot a. PTX leaves the result undefined if
// a thread is not in its own mask; here it is a fault.
func joinWarp(t *thread, in *instr) {
	t.mask = uint32(t.regs[in.a])
	lane := t.index % warpSize
	if t.mask>>lane&1 == 0 {
		t.fault(IllegalOperand, in, 0, "lane %d is not in its own mask %#08x", lane, t.mask)
		return
	}
	t.state = gathered
	t.warp.waiting |= 1 << lane
}

// gather performs the operations that no longer wait for anyone, after a thread of the
// warp has exited.
func (w *warp) gather(b *block) {
	for lanes := w.waiting; lanes != 0; lanes &= lanes - 1 {
		if t := &w.threads[bits.TrailingZeros32(lanes)]; t.state == gathered {
			w.perform(b, t)
		}
	}
}

// perform executes the operation at which t waits, if all members that have not exited
// wait at the same instruction with the same mask. Only bar.warp.sync may be reached at
// different instructions.
func (w *warp) perform(b *block, t *thread) {
	members := t.mask & w.present
	if members&^w.waiting != 0 {
		return
	}
	in := &b.code[t.pc-1]
	for lanes := members; lanes != 0; lanes &= lanes - 1 {
		m := &w.threads[bits.TrailingZeros32(lanes)]
		other := &b.code[m.pc-1]
		if m.mask != t.mask || m.pc != t.pc && (in.e != warpBarrier || other.e != warpBarrier) {
			return
		}
	}
	in.collective(w, in, members)
	w.waiting &^= members
	for lanes := members; lanes != 0; lanes &= lanes - 1 {
		w.threads[bits.TrailingZeros32(lanes)].state = ready
	}
}

// warpBarrier in instr.e marks bar.warp.sync.
const warpBarrier = -1

func syncWarp(w *warp, _ *instr, _ uint32) { w.threads[0].b.synchronizeWarp(w) }

// each calls f for every member.
func (w *warp) each(members uint32, f func(t *thread, lane int)) {
	for lanes := members; lanes != 0; lanes &= lanes - 1 {
		lane := bits.TrailingZeros32(lanes)
		f(&w.threads[lane], lane)
	}
}

// ballot returns the members for which the predicate in slot is true, or false if unless
// is set.
func (w *warp) ballot(members uint32, slot int32, unless bool) uint32 {
	var set uint32
	w.each(members, func(t *thread, lane int) {
		if (t.regs[slot]&1 != 0) != unless {
			set |= 1 << lane
		}
	})
	return set
}

func decodeVote(d *decoder) {
	d.requireSync()
	d.want(3, 3)
	op := d.mod("ballot", "all", "any", "uni")
	result := pred
	if op == "ballot" {
		result = b32
	}
	if t := d.typ(); t != result {
		d.p.fail("%s: want type .%s", d.text, result)
	}
	d.in.d = d.destination(0, result)
	d.in.b = d.source(1, pred)
	d.in.a = d.source(2, b32)
	d.in.collective = map[string]collective{
		"ballot": vote(func(set, _ uint32) uint64 { return uint64(set) }),
		"all":    vote(func(set, members uint32) uint64 { return truth(set == members) }),
		"any":    vote(func(set, _ uint32) uint64 { return truth(set != 0) }),
		"uni":    vote(func(set, members uint32) uint64 { return truth(set == 0 || set == members) }),
	}[op]
	if d.in.collective == nil {
		d.emit(nil)
	}
	d.emit(joinWarp)
}

// requireSync rejects the forms without .sync. PTX ISA 6.0 deprecated them, and sm_70 and
// later do not have them.
func (d *decoder) requireSync() {
	if d.mod("sync") == "" {
		d.p.fail("%s: want the form %s.sync", d.text, d.opcode)
	}
}

func vote(result func(set, members uint32) uint64) collective {
	return func(w *warp, in *instr, members uint32) {
		v := result(w.ballot(members, in.b, false), members)
		w.each(members, func(t *thread, _ int) { t.regs[in.d] = v })
	}
}

func decodeShuffle(d *decoder) {
	d.requireSync()
	d.want(5, 5)
	mode := d.mod("idx", "up", "down", "bfly")
	if t := d.typ(); t != b32 {
		d.p.fail("%s: want type .b32", d.text)
	}
	d.destinationPair(0, b32)
	d.in.b = d.source(1, b32)
	d.in.c = d.source(2, b32)
	d.in.slots = []int32{d.source(3, b32)}
	d.in.a = d.source(4, b32)
	var source func(lane, b, segment int) (from int, up bool)
	switch mode {
	case "idx":
		source = func(lane, b, segment int) (int, bool) { return lane&segment | b&^segment, false }
	case "up":
		source = func(lane, b, _ int) (int, bool) { return lane - b, true }
	case "down":
		source = func(lane, b, _ int) (int, bool) { return lane + b, false }
	case "bfly":
		source = func(lane, b, _ int) (int, bool) { return lane ^ b, false }
	default:
		d.emit(nil)
	}
	d.in.collective = shuffle(source)
	d.emit(joinWarp)
}

// destinationPair decodes a destination d or d|p. p is a predicate.
func (d *decoder) destinationPair(i int, t dataType) {
	d.in.d, d.in.e = d.pair(d.args[i], t)
}

// pair returns the slots of destination o: a register of type t, optionally with a
// predicate as in d|p. The second slot is a sink if there is no predicate.
func (d *decoder) pair(o operand, t dataType) (first, second int32) {
	if o.kind == pairOperand {
		return d.target(o.list[0], t, false), d.target(o.list[1], pred, false)
	}
	return d.target(o, t, false), d.target(operand{kind: sinkOperand}, pred, false)
}

// shuffle implements the pseudocode of shfl.sync in the PTX ISA. A lane that reads from a
// non-member gets its own value; PTX leaves that undefined.
func shuffle(source func(lane, b, segment int) (from int, up bool)) collective {
	return func(w *warp, in *instr, members uint32) {
		var values [warpSize]uint64
		w.each(members, func(t *thread, lane int) { values[lane] = t.regs[in.b] })
		w.each(members, func(t *thread, lane int) {
			b := int(t.regs[in.c] & 0x1f)
			c := int(t.regs[in.slots[0]])
			clamp, segment := c&0x1f, c>>8&0x1f
			last := lane&segment | clamp&^segment
			from, up := source(lane, b, segment)
			inside := from <= last
			if up {
				inside = from >= last
			}
			if !inside {
				from = lane
			}
			if members>>from&1 == 0 {
				from = lane
			}
			t.regs[in.d] = values[from]
			t.regs[in.e] = truth(inside)
		})
	}
}

func decodeMatch(d *decoder) {
	mode := d.mod("any", "all")
	d.requireSync()
	d.want(3, 3)
	t := d.typ()
	if t != b32 && t != b64 {
		d.p.fail("%s: want type .b32 or .b64", d.text)
	}
	d.in.b = d.source(1, t)
	d.in.a = d.source(2, b32)
	keep := ^uint64(0) >> (64 - 8*t.size())
	switch mode {
	case "any":
		d.in.d = d.destination(0, b32)
		d.in.collective = func(w *warp, in *instr, members uint32) {
			w.each(members, func(t *thread, _ int) {
				t.regs[in.d] = uint64(w.equal(in, members, t.regs[in.b], keep))
			})
		}
	case "all":
		d.destinationPair(0, b32)
		d.in.collective = func(w *warp, in *instr, members uint32) {
			first := &w.threads[bits.TrailingZeros32(members)]
			same := w.equal(in, members, first.regs[in.b], keep) == members
			var mask uint64
			if same {
				mask = uint64(members)
			}
			w.each(members, func(t *thread, _ int) {
				t.regs[in.d] = mask
				t.regs[in.e] = truth(same)
			})
		}
	default:
		d.emit(nil)
	}
	d.emit(joinWarp)
}

// equal returns the members whose operand b equals v in the bits of keep.
func (w *warp) equal(in *instr, members uint32, v, keep uint64) uint32 {
	var set uint32
	w.each(members, func(t *thread, lane int) {
		if (t.regs[in.b]^v)&keep == 0 {
			set |= 1 << lane
		}
	})
	return set
}

func decodeRedux(d *decoder) {
	d.requireSync()
	d.want(3, 3)
	op := d.mod("add", "min", "max", "and", "or", "xor")
	t := d.typ()
	if t.size() != 4 || !t.integral() {
		d.emit(nil)
	}
	d.in.d = d.destination(0, t)
	d.in.b = d.source(1, t)
	d.in.a = d.source(2, b32)
	combine := atomicInt32(op, t)
	if combine == nil {
		d.emit(nil)
	}
	d.in.collective = func(w *warp, in *instr, members uint32) {
		result := uint32(w.threads[bits.TrailingZeros32(members)].regs[in.b])
		w.each(members&(members-1), func(t *thread, _ int) {
			result = combine(result, uint32(t.regs[in.b]))
		})
		w.each(members, func(t *thread, _ int) { t.regs[in.d] = uint64(result) })
	}
	d.emit(joinWarp)
}

func decodeActivemask(d *decoder) {
	d.want(1, 1)
	d.mod("b32")
	d.in.d = d.destination(0, b32)
	d.emit(func(t *thread, _ *instr) { t.state = merging })
}

// merge releases the threads that wait at activemask and reports whether there were any.
// Threads of a warp at the same instruction continue together. merge runs only when no
// other thread of the block can, so the mask holds all threads that reach the instruction
// on this path: divergent threads reconverge as late as possible.
func (b *block) merge() bool {
	merged := false
	for i := range b.warps {
		w := &b.warps[i]
		var lanes uint32
		first := int32(-1)
		for lane := range w.threads {
			t := &w.threads[lane]
			if t.state != merging || first >= 0 && t.pc > first {
				continue
			}
			if t.pc != first {
				first, lanes = t.pc, 0
			}
			lanes |= 1 << lane
		}
		w.each(lanes, func(t *thread, _ int) {
			t.regs[b.code[t.pc-1].d] = uint64(lanes)
			t.state = ready
		})
		merged = merged || lanes != 0
	}
	return merged
}
