package ptxvm

// specialSlot is a slot that holds a special register from the start of a thread.
type specialSlot struct {
	slot  int32
	value func(t *thread) uint64
}

// specialRegister is a predefined, read-only register. Its value is constant for a thread,
// or is read by each mov if changes is set.
type specialRegister struct {
	typ     dataType
	value   func(t *thread) uint64
	changes bool
}

var specialRegisters = func() map[string]specialRegister {
	registers := map[string]specialRegister{
		"%laneid":      {typ: u32, value: func(t *thread) uint64 { return t.lane() }},
		"%warpid":      {typ: u32, value: func(t *thread) uint64 { return uint64(t.index / warpSize) }},
		"%nwarpid":     {typ: u32, value: func(t *thread) uint64 { return uint64(len(t.b.warps)) }},
		"%smid":        {typ: u32, value: func(*thread) uint64 { return 0 }},
		"%nsmid":       {typ: u32, value: func(*thread) uint64 { return 1 }},
		"%gridid":      {typ: u64, value: func(*thread) uint64 { return 1 }},
		"%lanemask_eq": {typ: u32, value: func(t *thread) uint64 { return 1 << t.lane() }},
		"%lanemask_le": {typ: u32, value: func(t *thread) uint64 { return 1<<(t.lane()+1) - 1 }},
		"%lanemask_lt": {typ: u32, value: func(t *thread) uint64 { return 1<<t.lane() - 1 }},
		"%lanemask_ge": {typ: u32, value: func(t *thread) uint64 { return 1<<warpSize - 1<<t.lane() }},
		"%lanemask_gt": {typ: u32, value: func(t *thread) uint64 { return 1<<warpSize - 1<<(t.lane()+1) }},
		"%dynamic_smem_size": {typ: u32, value: func(t *thread) uint64 {
			return uint64(t.b.launch.config.DynamicShared)
		}},
		"%total_smem_size": {typ: u32, value: func(t *thread) uint64 { return uint64(len(t.b.shared)) }},
		// Clocks count instructions of the machine, so they are deterministic.
		"%clock":          {typ: u32, value: ticks, changes: true},
		"%clock_hi":       {typ: u32, value: func(t *thread) uint64 { return ticks(t) >> 32 }, changes: true},
		"%clock64":        {typ: u64, value: ticks, changes: true},
		"%globaltimer":    {typ: u64, value: ticks, changes: true},
		"%globaltimer_lo": {typ: u32, value: ticks, changes: true},
		"%globaltimer_hi": {typ: u32, value: func(t *thread) uint64 { return ticks(t) >> 32 }, changes: true},
	}
	for i, axis := range []string{".x", ".y", ".z"} {
		registers["%tid"+axis] = specialRegister{typ: u32, value: func(t *thread) uint64 { return uint64(t.b.coordinates(t.index)[i]) }}
		registers["%ntid"+axis] = specialRegister{typ: u32, value: func(t *thread) uint64 { return uint64(t.b.launch.config.Block[i]) }}
		registers["%ctaid"+axis] = specialRegister{typ: u32, value: func(t *thread) uint64 { return uint64(t.b.index[i]) }}
		registers["%nctaid"+axis] = specialRegister{typ: u32, value: func(t *thread) uint64 { return uint64(t.b.launch.config.Grid[i]) }}
	}
	return registers
}()

func (t *thread) lane() uint64 { return uint64(t.index % warpSize) }

func ticks(t *thread) uint64 { return t.b.granted - uint64(t.b.fuel) }

// special returns the slot of special register r, read as type t.
func (d *decoder) special(r specialRegister, name string, t dataType) int32 {
	if !t.accepts(r.typ) && !(t.size() < 4 && r.typ == u32) && !(t.size() == 8 && t.integral() && r.typ == u32) {
		d.p.fail("%s: register %s has type .%s, want .%s", d.text, name, r.typ, t)
	}
	if r.changes {
		in := instr{guard: noGuard, line: d.in.line, loc: d.in.loc, d: d.f.newSlot(0)}
		in.exec = func(t *thread, in *instr) { t.regs[in.d] = r.value(t) }
		d.f.code = append(d.f.code, in)
		return in.d
	}
	if slot, ok := d.f.specialSlots[name]; ok {
		return slot
	}
	slot := d.f.newSlot(0)
	d.f.specials = append(d.f.specials, specialSlot{slot, r.value})
	d.f.specialSlots[name] = slot
	return slot
}

func decodeMov(d *decoder) {
	t := d.typ()
	d.want(2, 2)
	switch {
	case d.args[1].kind == vectorOperand:
		d.packVector(t)
	case d.args[0].kind == vectorOperand:
		d.unpackVector(t)
	default:
		d.in.d = d.destination(0, t)
		d.in.a = d.source(1, t)
		d.emit(move)
	}
}

func move(t *thread, in *instr) {
	r := t.regs
	r[in.d] = r[in.a]
}

// part returns the type of one of n equal parts of t.
func (d *decoder) part(t dataType, n int) dataType {
	if n == 2 || n == 4 {
		switch t.size() / n {
		case 1:
			return b8
		case 2:
			return b16
		case 4:
			return b32
		}
	}
	d.p.fail("%s: a vector of %d parts of type .%s is not supported", d.text, n, t)
	return noType
}

func (d *decoder) packVector(t dataType) {
	o := d.args[1]
	part := d.part(t, len(o.list))
	d.in.d = d.destination(0, t)
	d.in.slots = d.elements(o, len(o.list), func(o operand) int32 { return d.value(o, part, part == b8) })
	width := 8 * part.size()
	d.emit(func(t *thread, in *instr) {
		var v uint64
		for i, s := range in.slots {
			v |= t.regs[s] & (1<<width - 1) << (i * width)
		}
		t.regs[in.d] = v
	})
}

func (d *decoder) unpackVector(t dataType) {
	o := d.args[0]
	part := d.part(t, len(o.list))
	d.in.slots = d.elements(o, len(o.list), func(o operand) int32 { return d.target(o, part, part == b8) })
	d.in.a = d.source(1, t)
	width := 8 * part.size()
	d.emit(func(t *thread, in *instr) {
		v := t.regs[in.a]
		for i, s := range in.slots {
			t.regs[s] = v >> (i * width) & (1<<width - 1)
		}
	})
}

// windows maps each space to the generic address of its start. Global and constant
// addresses are generic addresses.
var windows = map[space]uint64{
	globalSpace: 0,
	constSpace:  0,
	sharedSpace: sharedWindow,
	localSpace:  localWindow,
	paramSpace:  paramWindow,
}

// space consumes the modifier that names a state space. ok is false if there is none.
func (d *decoder) space() (space, bool) {
	for name, sp := range spaceByModifier {
		if d.mod(name) != "" {
			return sp, true
		}
	}
	return genericSpace, false
}

func decodeCvta(d *decoder) {
	toSpace := d.mod("to") != ""
	sp, ok := d.space()
	if !ok {
		d.p.fail("%s: no state space", d.text)
	}
	t := d.typ()
	if t != u64 {
		d.p.fail("%s: want type .u64", d.text)
	}
	d.want(2, 2)
	d.in.d = d.destination(0, t)
	d.in.a = d.source(1, t)
	d.in.offset = windows[sp]
	if toSpace {
		d.in.offset = -d.in.offset
	}
	d.emit(func(t *thread, in *instr) { t.regs[in.d] = t.regs[in.a] + in.offset })
}

func decodeIsspacep(d *decoder) {
	sp, ok := d.space()
	if !ok {
		d.p.fail("%s: no state space", d.text)
	}
	d.want(2, 2)
	d.in.d = d.destination(0, pred)
	d.in.a = d.source(1, u64)
	d.emit(func(t *thread, in *instr) { t.regs[in.d] = truth(t.b.spaceOf(t.regs[in.a]) == sp) })
}

// spaceOf returns the state space that a generic address points into.
func (b *block) spaceOf(address uint64) space {
	switch address >> windowShift {
	case sharedWindow >> windowShift:
		return sharedSpace
	case localWindow >> windowShift:
		return localSpace
	case paramWindow >> windowShift:
		return paramSpace
	}
	if slot := address >> slotShift; !b.direct && slot < uint64(len(b.table)) && b.table[slot] != nil && b.table[slot].readOnly {
		return constSpace
	}
	return globalSpace
}
