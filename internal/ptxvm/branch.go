package ptxvm

func decodeNothing(d *decoder) {
	d.mods = nil
	d.emit(func(*thread, *instr) {})
}

func decodeNanosleep(d *decoder) {
	d.mod("u32")
	d.want(1, 1)
	d.source(0, u32)
	decodeNothing(d)
}

// decodeHint decodes a cache hint. It has no effect.
func decodeHint(d *decoder) { decodeNothing(d) }

func decodeBra(d *decoder) {
	d.drop("uni")
	d.want(1, 1)
	d.branch(d.args[0].name, d.p.scope, -1)
	d.emit(func(t *thread, in *instr) { t.pc = in.target })
}

// branch decodes a branch to the label name.
func (d *decoder) branch(name string, s *scope, table int) {
	d.f.branches = append(d.f.branches, branchFixup{
		instr: int32(len(d.f.code)), table: table, name: name, scope: s, line: d.in.line,
	})
}

func decodeBrx(d *decoder) {
	d.drop("idx", "uni")
	d.want(2, 2)
	targets, ok := d.args[1].symbol.(*branchTable)
	if !ok {
		d.p.fail("%s: want the name of a .branchtargets", d.text)
	}
	d.in.a = d.source(0, u32)
	d.in.slots = make([]int32, len(targets.names))
	for i, name := range targets.names {
		d.branch(name, targets.scope, i)
	}
	d.emit(func(t *thread, in *instr) {
		i := uint32(t.regs[in.a])
		if i >= uint32(len(in.slots)) {
			t.fault(IllegalOperand, in, 0, "branch index %d: the table has %d entries", i, len(in.slots))
			return
		}
		t.pc = in.slots[i]
	})
}

func decodeExit(d *decoder) {
	d.drop("uni")
	d.want(0, 0)
	d.emit(exit)
}

func decodeTrap(d *decoder) {
	d.want(0, 0)
	d.emit(func(t *thread, in *instr) { t.fault(Trap, in, 0, "") })
}
