package ptxvm

import "strings"

// function is the state of parsing the body of an entry.
type function struct {
	*Entry
	p        *parser
	location int32 // of the instructions that follow
	sink     int32 // slot of operand "_"; -1 before its first use
	branches []branchFixup
	dynamic  []slotReloc // slots that hold addresses in dynamic shared memory

	constants    map[uint64]int32 // slot of each constant, by its bits
	specialSlots map[string]int32 // slot of each special register, by name
}

// branchFixup is a branch to a label that may be defined later.
type branchFixup struct {
	instr int32
	table int // index in instr.slots, or -1 for instr.target
	name  string
	scope *scope
	line  int32
}

// branchTable is the operand of brx.idx.
type branchTable struct {
	names []string
	scope *scope
	line  int32
}

// entry parses a kernel after the word .entry.
func (p *parser) entry() {
	e := &Entry{module: p.module, Name: p.expect(identifier, "a kernel name").text}
	if p.module.Entry(e.Name) != nil {
		p.fail("kernel %s is defined twice", e.Name)
	}
	e.SharedSize = p.shared
	e.locations = []location{{}}
	f := &function{Entry: e, p: p, sink: -1, constants: make(map[uint64]int32), specialSlots: make(map[string]int32)}
	p.scope = newScope(p.scope)
	outer := p.scope.outer
	defer func() { p.scope = outer }()
	if p.accept("(") {
		f.params()
	}
	p.launchBounds(e)
	p.module.entries = append(p.module.entries, e)
	open := p.peek()
	p.expectPunctuation("{")
	if closed := f.body(); !closed && len(p.errors) == 0 {
		p.errorAt(open.line, "the body of %s is not closed", e.Name)
	}
	p.scope = outer
	f.finish()
}

func (f *function) params() {
	p := f.p
	for !p.accept(")") {
		if len(f.Params) > 0 {
			p.expectPunctuation(",")
		}
		if t := p.expect(dotted, ".param"); t.text != "param" {
			p.fail("want .param, have %s", t)
		}
		v := p.declaration(paramSpace, false)[0]
		f.paramSize = v.place(f.paramSize)
		p.checkSize(paramSpace, f.paramSize, maxParams)
		p.declare(v.name, v)
		f.Params = append(f.Params, Param{Name: v.name, Size: v.size, Align: v.align, Offset: int(v.offset)})
	}
}

func (p *parser) launchBounds(e *Entry) {
	for p.peek().kind == dotted {
		switch word := p.next().text; word {
		case "maxntid":
			e.MaxThreads = p.dimension3()
		case "reqntid":
			e.RequiredThreads = p.dimension3()
		case "minnctapersm", "maxnctapersm", "maxnreg":
			p.constant()
		case "reqnctapercluster":
			e.Cluster = p.dimension3()
		case "noreturn", "explicitcluster":
		case "pragma":
			p.skipStatement()
		default:
			p.fail("kernel directive .%s is not supported", word)
		}
	}
}

func (p *parser) dimension3() [3]int {
	d := [3]int{1, 1, 1}
	for i := range d {
		n := p.constant()
		if n == 0 || n > maxThreads {
			p.fail("invalid block size %d: want 1 to 1024", n)
		}
		d[i] = int(n)
		if !p.accept(",") {
			break
		}
	}
	return d
}

// body parses statements up to the brace that closes the function. It returns false if
// there is no such brace.
func (f *function) body() bool {
	p := f.p
	depth := 1
	for depth > 0 && p.peek().kind != endOfText && len(p.errors) < maxErrors {
		switch {
		case p.accept("{"):
			depth++
			p.scope = newScope(p.scope)
		case p.accept("}"):
			depth--
			p.scope = p.scope.outer
		case p.accept(";"):
		default:
			p.recovering(f.statement)
		}
	}
	return depth == 0
}

func (f *function) statement() {
	p := f.p
	t := p.next()
	if t.kind == dotted {
		f.directive(t)
		return
	}
	if t.kind == identifier && p.accept(":") {
		if d := p.peek(); d.kind == dotted && d.text == "branchtargets" {
			f.branchTargets(t)
			return
		}
		p.declare(t.text, &label{pc: int32(len(f.code))})
		return
	}
	f.instruction(t)
}

func (f *function) directive(t token) {
	p := f.p
	switch t.text {
	case "reg":
		f.registers()
	case "shared":
		for _, v := range p.declaration(sharedSpace, true) {
			f.SharedSize = v.place(f.SharedSize)
			p.checkSize(sharedSpace, f.SharedSize, maxShared)
			p.declare(v.name, v)
		}
	case "local":
		for _, v := range p.declaration(localSpace, true) {
			f.LocalSize = v.place(f.LocalSize)
			p.checkSize(localSpace, f.LocalSize, maxLocal)
			p.declare(v.name, v)
		}
	case "global":
		p.moduleVariables(globalSpace)
	case "const":
		p.moduleVariables(constSpace)
	case "loc":
		f.loc(t.line)
	case "file":
		p.file(t.line)
	case "pragma":
		p.skipStatement()
	default:
		p.fail("directive .%s is not supported in a kernel", t.text)
	}
}

// registers parses .reg .type name, name<count>, ... ;
func (f *function) registers() {
	p := f.p
	word := p.expect(dotted, "a type").text
	typ, ok := dataTypeByName[word]
	if !ok {
		p.fail("unknown register type .%s", word)
	}
	for {
		name := p.expect(identifier, "a register name").text
		if p.accept("<") {
			count := p.constant()
			p.expectPunctuation(">")
			p.scope.ranges = append(p.scope.ranges, registerRange{name, count, typ})
		} else {
			p.declare(name, &register{slot: -1, typ: typ})
		}
		if !p.accept(",") {
			break
		}
	}
	p.expectPunctuation(";")
}

// loc parses a .loc and sets the source position of the instructions that follow.
func (f *function) loc(line int32) {
	p := f.p
	file := p.expect(integer, "a file number").value
	row := p.expect(integer, "a line").value
	col := p.expect(integer, "a column").value
	p.skipLine(line)
	at := location{file: p.module.files[file], line: int32(row), col: int32(col)}
	if f.locations[len(f.locations)-1] != at {
		f.locations = append(f.locations, at)
	}
	f.location = int32(len(f.locations) - 1)
}

func (f *function) branchTargets(name token) {
	p := f.p
	p.next()
	table := &branchTable{scope: p.scope, line: name.line}
	for {
		table.names = append(table.names, p.expect(identifier, "a label").text)
		if !p.accept(",") {
			break
		}
	}
	p.expectPunctuation(";")
	p.declare(name.text, table)
}

// instruction parses and decodes one instruction. first is its first token.
func (f *function) instruction(first token) {
	p := f.p
	d := decoder{p: p, f: f}
	d.in.guard = noGuard
	d.in.line = first.line
	d.in.loc = f.location
	if first.kind == punctuation && first.text == "@" {
		d.in.unless = p.accept("!")
		guard := p.operand()
		d.in.guard = d.register(guard, pred, false)
		first = p.next()
	}
	if first.kind != identifier {
		p.fail("want an instruction, have %s", first)
	}
	d.opcode = first.text
	d.text = first.text
	for p.peek().kind == dotted {
		m := p.next().text
		d.mods = append(d.mods, m)
		d.text += "." + m
	}
	decode, ok := opcodes[d.opcode]
	switch {
	case ok:
	case otherOpcodes[d.opcode]:
		p.unsupported("instruction %s is not supported", d.text)
	default:
		p.fail("there is no instruction %s", d.opcode)
	}
	for !p.at(";") {
		if len(d.args) > 0 {
			p.expectPunctuation(",")
		}
		d.args = append(d.args, p.operand())
	}
	p.next()
	begin := len(f.code)
	decode(&d)
	for i := begin; i < len(f.code); i++ {
		f.code[i].class = classify(d.opcode, d.text, &f.code[i])
	}
	if len(d.mods) > 0 {
		p.unsupported("%s: modifier .%s is not supported", d.text, d.mods[0])
	}
}

// finish completes the code: it adds a final exit and resolves branch targets and the
// addresses that depend on the amount of static shared memory.
func (f *function) finish() {
	f.code = append(f.code, instr{exec: exit, guard: noGuard, loc: f.location})
	for _, b := range f.branches {
		target, ok := b.scope.lookup(b.name).(*label)
		if !ok {
			f.p.errorAt(b.line, "no label %s", b.name)
			continue
		}
		in := &f.code[b.instr]
		if b.table < 0 {
			in.target = target.pc
		} else {
			in.slots[b.table] = target.pc
		}
	}
	for _, r := range f.dynamic {
		f.initial[r.slot] = uint64(f.dynamicStart()) + r.addend
	}
}

// dynamicStart returns the offset of the dynamic shared memory of a block.
func (e *Entry) dynamicStart() int { return (e.SharedSize + 15) &^ 15 }

// newSlot adds a slot with the given initial value to every thread and returns its index.
func (f *function) newSlot(initial uint64) int32 {
	if len(f.initial) == maxRegisters {
		f.p.fail("%s uses more than %d registers", f.Name, maxRegisters)
	}
	f.initial = append(f.initial, initial)
	return int32(len(f.initial) - 1)
}

// constant returns the slot that holds the constant bits.
func (f *function) constant(bits uint64) int32 {
	slot, ok := f.constants[bits]
	if !ok {
		slot = f.newSlot(bits)
		f.constants[bits] = slot
	}
	return slot
}

// address returns the slot that holds the address of v plus addend, in v's state space.
func (f *function) address(v *variable, addend uint64) int32 {
	switch {
	case v.space == globalSpace || v.space == constSpace:
		slot := f.newSlot(0)
		f.relocs = append(f.relocs, slotReloc{slot, v, addend})
		return slot
	case v.space == sharedSpace && v.size == 0:
		slot := f.newSlot(0)
		f.dynamic = append(f.dynamic, slotReloc{slot, v, addend})
		return slot
	}
	return f.constant(v.offset + addend)
}

// operandKind is the form of an operand.
type operandKind uint8

const (
	nameOperand    operandKind = iota // register, variable, label or special register
	constOperand                      // integer constant
	floatOperand                      // floating-point constant
	vectorOperand                     // {a, b}
	addressOperand                    // [a+n], [a, {b, c}]
	pairOperand                       // a|b
	sinkOperand                       // _
)

type operand struct {
	kind    operandKind
	name    string
	symbol  any
	value   uint64 // value of a constant, or the offset added to a name or address
	number  token  // of a floating-point constant
	negated bool   // !p, or a negative floating-point constant
	list    []operand
}

func (p *parser) operand() operand {
	o := p.simpleOperand()
	if p.accept("|") {
		return operand{kind: pairOperand, list: []operand{o, p.simpleOperand()}}
	}
	return o
}

func (p *parser) simpleOperand() operand {
	t := p.peek()
	switch t.kind {
	case identifier:
		if t.text == "WARP_SZ" {
			return operand{kind: constOperand, value: p.constant()}
		}
		return p.nameOperand()
	case integer:
		return operand{kind: constOperand, value: p.constant()}
	case float32Text, float64Text:
		return operand{kind: floatOperand, number: p.next()}
	case punctuation:
		switch t.text {
		case "-":
			return p.negativeOperand()
		case "~":
			return operand{kind: constOperand, value: p.constant()}
		case "!":
			p.next()
			o := p.nameOperand()
			o.negated = true
			return o
		case "{":
			return p.vectorOperand()
		case "[":
			return p.addressOperand()
		}
	}
	p.next()
	p.fail("want an operand, have %s", t)
	return operand{}
}

func (p *parser) nameOperand() operand {
	name := p.expect(identifier, "a name").text
	if name == "_" {
		return operand{kind: sinkOperand}
	}
	if strings.HasPrefix(name, "%") && p.peek().kind == dotted {
		name += "." + p.next().text
	}
	o := operand{kind: nameOperand, name: name, symbol: p.scope.lookup(name)}
	if _, ok := o.symbol.(*variable); ok {
		if p.accept("+") {
			o.value = p.constant()
		} else if p.at("-") {
			o.value = p.constant()
		}
	}
	return o
}

func (p *parser) negativeOperand() operand {
	p.next()
	if k := p.peek().kind; k == float32Text || k == float64Text {
		return operand{kind: floatOperand, number: p.next(), negated: true}
	}
	return operand{kind: constOperand, value: -p.constant()}
}

func (p *parser) vectorOperand() operand {
	p.next()
	o := operand{kind: vectorOperand}
	for {
		o.list = append(o.list, p.simpleOperand())
		if !p.accept(",") {
			break
		}
	}
	p.expectPunctuation("}")
	return o
}

func (p *parser) addressOperand() operand {
	p.next()
	o := operand{kind: addressOperand, list: []operand{p.simpleOperand()}}
	for p.accept(",") {
		o.list = append(o.list, p.simpleOperand())
	}
	switch {
	case p.accept("+"):
		o.value = p.constant()
	case p.at("-"):
		o.value = p.constant()
	}
	p.expectPunctuation("]")
	return o
}
