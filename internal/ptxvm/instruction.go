package ptxvm

// exec executes one instruction of a thread.
//
// Slots hold raw bits. Bits above the width of a register are unspecified: every reader
// truncates a slot to the width of its own type.
type exec func(t *thread, in *instr)

// instr is a decoded instruction. Operands are slot indices. Constants, special registers
// and addresses of variables have slots too, so execution does not distinguish kinds of
// operands.
type instr struct {
	exec       exec
	d, a, b, c int32
	guard      int32 // slot of the guard predicate, or noGuard
	unless     bool  // run if the guard is false
	access     access
	target     int32      // pc of a branch
	e          int32      // second destination, or a small immediate
	collective collective // the operation that runs once all lanes of a warp operation have arrived
	slots      []int32    // elements of a vector, targets of brx.idx
	offset     uint64     // added to an address; a large immediate
	from       *instr     // the read of a copy, whose write this is
	operations uint16     // floating-point operations of a thread
	line       int32      // line in the PTX text
	loc        int32      // index in Entry.locations
	class      Class      // for counts
}

const noGuard = -1

// access describes the memory access of an instruction.
type access struct {
	space   space
	size    uint8 // bytes, of all vector elements together
	read    bool
	write   bool
	strong  bool // atomic, volatile, relaxed, acquire or release; two strong accesses never race
	acquire bool
	release bool
	narrow  bool // the address is a 32-bit register
}

// decoder decodes one parsed instruction into an instr.
type decoder struct {
	p      *parser
	f      *function
	opcode string
	text   string   // opcode with all modifiers, for errors
	mods   []string // not consumed yet
	args   []operand
	in     instr
}

// opcodes maps every supported instruction to its decoder.
var opcodes map[string]func(*decoder)

func init() {
	opcodes = map[string]func(*decoder){
		// arithmetic: integer.go, float.go
		"add": decodeArithmetic, "sub": decodeArithmetic, "mul": decodeArithmetic, "mad": decodeArithmetic,
		"div": decodeArithmetic, "rem": decodeArithmetic, "min": decodeArithmetic, "max": decodeArithmetic,
		"abs": decodeArithmetic, "neg": decodeArithmetic, "fma": decodeArithmetic,
		"addc": decodeCarry, "subc": decodeCarry, "madc": decodeCarry,
		"mul24": decodeArithmetic, "mad24": decodeArithmetic, "sad": decodeArithmetic,
		"dp4a": decodeDotProduct,
		"sqrt": decodeFloatFunction, "rsqrt": decodeFloatFunction, "rcp": decodeFloatFunction,
		"sin": decodeFloatFunction, "cos": decodeFloatFunction, "lg2": decodeFloatFunction,
		"ex2": decodeFloatFunction, "tanh": decodeFloatFunction,
		"copysign": decodeCopysign, "testp": decodeTestp,
		// bits: bits.go
		"and": decodeLogic, "or": decodeLogic, "xor": decodeLogic, "not": decodeLogic, "cnot": decodeLogic,
		"shl": decodeShift, "shr": decodeShift, "shf": decodeFunnelShift, "lop3": decodeLop3,
		"popc": decodeCount, "clz": decodeCount, "bfind": decodeFind, "brev": decodeLogic,
		"bfe": decodeExtract, "bfi": decodeInsert, "prmt": decodePermute,
		// comparison: compare.go
		"setp": decodeSetp, "set": decodeSet, "selp": decodeSelp, "slct": decodeSlct,
		// data movement: move.go, convert.go
		"mov": decodeMov, "cvt": decodeCvt, "cvta": decodeCvta, "isspacep": decodeIsspacep,
		// memory: load.go, atomic.go
		"ld": decodeLoad, "ldu": decodeLoad, "st": decodeStore, "atom": decodeAtomic, "red": decodeAtomic,
		"tex":      decodeTexture,
		"prefetch": decodeHint, "prefetchu": decodeHint, "applypriority": decodeHint,
		"membar": decodeFence, "fence": decodeFence,
		"tensormap": decodeTensorMap,                        // tensormap.go
		"cp":        decodeCopy, "mbarrier": decodeMbarrier, // async.go, mbarrier.go
		// synchronization: barrier.go, warp.go
		"bar": decodeBarrier, "barrier": decodeBarrier,
		"vote": decodeVote, "shfl": decodeShuffle, "match": decodeMatch, "redux": decodeRedux,
		"activemask": decodeActivemask,
		// clusters: together.go
		"mapa": decodeMapAddress,
		// matrices: matrix.go
		"ldmatrix": decodeLoadMatrix, "mma": decodeMMA, "wgmma": decodeGroup, // wgmma.go
		// control: branch.go
		"bra": decodeBra, "brx": decodeBrx, "ret": decodeExit, "exit": decodeExit, "trap": decodeTrap,
		"brkpt": decodeNothing, "nanosleep": decodeNanosleep, "pmevent": decodeNothing,
	}
}

// emit appends the instruction with the given execution. It fails if run is nil.
func (d *decoder) emit(run exec) {
	if run == nil {
		d.p.unsupported("%s is not supported", d.text)
	}
	in := d.in
	in.exec = run
	in.operations = floatOperations(d.opcode, d.text)
	d.f.code = append(d.f.code, in)
}

// mod consumes the first modifier that is one of names. It returns "" if there is none.
func (d *decoder) mod(names ...string) string {
	for i, m := range d.mods {
		for _, n := range names {
			if m == n {
				d.mods = append(d.mods[:i], d.mods[i+1:]...)
				return m
			}
		}
	}
	return ""
}

// drop consumes all modifiers in names. They do not affect the result.
func (d *decoder) drop(names ...string) {
	for d.mod(names...) != "" {
	}
}

// typ consumes the next modifier that is a type.
func (d *decoder) typ() dataType {
	for i, m := range d.mods {
		if t, ok := dataTypeByName[m]; ok {
			d.mods = append(d.mods[:i], d.mods[i+1:]...)
			return t
		}
	}
	d.p.fail("%s: no type", d.text)
	return noType
}

// want fails unless the instruction has between lo and hi operands.
func (d *decoder) want(lo, hi int) {
	n := len(d.args)
	switch {
	case n >= lo && n <= hi:
	case lo == hi:
		d.p.fail("%s: want %d operands, have %d", d.text, lo, n)
	default:
		d.p.fail("%s: want %d to %d operands, have %d", d.text, lo, hi, n)
	}
}

// destination returns the slot of operand i, which must be a register of type t.
func (d *decoder) destination(i int, t dataType) int32 {
	return d.target(d.args[i], t, false)
}

// target returns the slot of o, a register or sink that receives a value of type t. If
// wide is set, the register may be wider than t.
func (d *decoder) target(o operand, t dataType, wide bool) int32 {
	if o.kind == sinkOperand {
		if d.f.sink < 0 {
			d.f.sink = d.f.newSlot(0)
		}
		return d.f.sink
	}
	return d.register(o, t, wide)
}

// register returns the slot of o, which must be a register compatible with t.
func (d *decoder) register(o operand, t dataType, wide bool) int32 {
	r, ok := o.symbol.(*register)
	if o.kind != nameOperand || !ok || o.negated {
		switch {
		case o.kind != nameOperand || o.symbol != nil:
		case exists(o.name):
			d.p.unsupported("%s: register %s is not supported", d.text, o.name)
		default:
			d.p.fail("%s: %s is not declared", d.text, o.name)
		}
		d.p.fail("%s: want a register", d.text)
	}
	if !t.accepts(r.typ) && !(wide && t.acceptsWide(r.typ)) {
		d.p.fail("%s: register %s has type .%s, want .%s", d.text, o.name, r.typ, t)
	}
	if r.slot < 0 {
		r.slot = d.f.newSlot(0)
		d.f.Registers++
	}
	return r.slot
}

// source returns the slot of operand i, read as type t.
func (d *decoder) source(i int, t dataType) int32 { return d.value(d.args[i], t, false) }

// value returns the slot of o read as type t. o is a register, a constant, a special
// register or the address of a variable.
func (d *decoder) value(o operand, t dataType, wide bool) int32 {
	switch o.kind {
	case constOperand:
		if t.class() == floatClass || t == pred && o.value > 1 {
			d.p.fail("%s: %d is not a value of type .%s", d.text, int64(o.value), t)
		}
		return d.f.constant(o.value)
	case floatOperand:
		bits, ok := floatBits(o.number, t, o.negated)
		if !ok {
			d.p.fail("%s: %s is not a value of type .%s", d.text, o.number, t)
		}
		return d.f.constant(bits)
	case nameOperand:
		if v, ok := o.symbol.(*variable); ok {
			if t.size() < 4 || t.class() == floatClass {
				d.p.fail("%s: the address of %s is not a value of type .%s", d.text, v.name, t)
			}
			return d.f.address(v, o.value)
		}
		if o.symbol == nil {
			if sp, ok := specialRegisters[o.name]; ok {
				return d.special(sp, o.name, t)
			}
		}
		if o.negated {
			return d.negated(o)
		}
	}
	return d.register(o, t, wide)
}

// negated returns a slot that holds the complement of predicate o at this point.
func (d *decoder) negated(o operand) int32 {
	o.negated = false
	in := instr{exec: notPred, guard: noGuard, line: d.in.line, loc: d.in.loc}
	in.a = d.register(o, pred, false)
	in.d = d.f.newSlot(0)
	d.f.code = append(d.f.code, in)
	return in.d
}

// immediate returns the value of operand i, which must be an integer constant.
func (d *decoder) immediate(i int) uint64 {
	if d.args[i].kind != constOperand {
		d.p.fail("%s: operand %d must be a constant", d.text, i+1)
	}
	return d.args[i].value
}

// elements returns the slots of o, a vector operand with n elements. slot returns the slot
// of one element.
func (d *decoder) elements(o operand, n int, slot func(operand) int32) []int32 {
	if o.kind != vectorOperand || len(o.list) != n {
		d.p.fail("%s: want a vector of %d operands", d.text, n)
	}
	slots := make([]int32, n)
	for i := range slots {
		slots[i] = slot(o.list[i])
	}
	return slots
}

// address decodes the address operand o of an access in space sp into in.a, in.offset and
// in.access.
func (d *decoder) address(o operand, sp space) {
	if o.kind != addressOperand {
		d.p.fail("%s: want an address in brackets", d.text)
	}
	base := o.list[0]
	d.in.access.space = sp
	d.in.offset = o.value
	switch base.kind {
	case constOperand:
		if sp != localSpace { // as ptxas does
			d.p.fail("%s: a constant address is allowed only in local memory", d.text)
		}
		d.in.a = d.f.constant(base.value)
		return
	case nameOperand:
		switch s := base.symbol.(type) {
		case *variable:
			if sp != s.space && (sp != genericSpace || s.space != globalSpace && s.space != constSpace) {
				d.p.fail("%s: variable %s is in %s memory", d.text, s.name, s.space)
			}
			d.in.a = d.f.address(s, base.value)
			return
		case *register:
			if s.typ.size() == 4 && s.typ.class() != floatClass && sp != globalSpace && sp != genericSpace {
				d.in.access.narrow = true
				d.in.a = d.register(base, b32, false)
				return
			}
		}
	}
	d.in.a = d.register(base, b64, false)
}

// selectBySize returns the execution for the size of integer type t, for operations that
// ignore the sign.
func selectBySize(t dataType, e16, e32, e64 exec) exec {
	if t.integral() {
		switch t.size() {
		case 2:
			return e16
		case 4:
			return e32
		case 8:
			return e64
		}
	}
	return nil
}

// selectBySign returns the execution for integer type t.
func selectBySign(t dataType, eu16, eu32, eu64, es16, es32, es64 exec) exec {
	if t.signed() {
		return selectBySize(t, es16, es32, es64)
	}
	return selectBySize(t, eu16, eu32, eu64)
}
