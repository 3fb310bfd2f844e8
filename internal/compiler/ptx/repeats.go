package ptx

import (
	"bytes"
	"math"
	"slices"
	"strconv"

	"quern.dev/internal/compiler/ir"
)

// An instruction that computes what another register holds already is removed. ptxas would
// find most repetitions itself, but only after it has decided about the order of loads and
// about the unrolling of loops, and then it decides as if they stayed.
//
// The registers that are assigned once are known from the text, and so are the jumps. An
// instruction is available at those behind it that it dominates: at a label, these are the
// instructions before all jumps to it. A register that is assigned several times has a new
// version wherever its value may be another one.
//
// A register that is kept for a repetition is missing in between, so only as many are kept at
// the same time as mostKept says; other results are computed again.

// mostKept is how many 32-bit registers may hold a value longer than they would if nothing that is
// repeated were removed.
const mostKept = 24

// repeatable lists the instructions whose result depends on their operands only.
var repeatable = map[string]bool{
	"add": true, "sub": true, "mul": true, "mad": true, "fma": true, "max": true, "min": true,
	"neg": true, "abs": true, "div": true, "rem": true,
	"and": true, "or": true, "xor": true, "not": true, "shl": true, "shr": true, "shf": true,
	"lop3": true, "prmt": true, "bfe": true, "bfi": true, "popc": true, "clz": true, "brev": true, "bfind": true,
	"mov": true, "cvt": true, "cvta": true, "selp": true, "setp": true,
	"rcp": true, "rsqrt": true, "sqrt": true, "ex2": true, "lg2": true, "sin": true, "cos": true, "tanh": true,
}

// withoutResult lists the instructions that assign no register.
var withoutResult = map[string]bool{"st": true, "red": true, "bra": true, "bar": true, "ret": true, "exit": true, "trap": true, "membar": true, "fence": true}

// line is a line of a body.
type line struct {
	text       []byte // with its end
	opcode     []byte
	label      int  // that it defines, or -1
	target     int  // of the jump, or -1
	leaves     bool // the next line is not reached from here
	result     int  // the register that it assigns alone, or 0
	none       bool // if it assigns no register
	repeatable bool // if nothing but its operands decides about its result
}

// repeats finds repeated instructions.
type repeats struct {
	f           *ir.Func
	lines       []line
	outside     bool            // the lines that follow are outside of the body
	counts      [numClasses]int // first register of each class
	definitions []int           // of each register
	changes     []change        // of registers that are assigned several times
	firstJump   map[int]int     // to each label
	lastJump    map[int]int
	place       map[int]int // of each label
	loops       []extent    // by their ends
	lastUse     []int       // line of the last use of each register
	kept        []int       // how many 32-bit registers are kept for a repetition in each line

	available []string       // keys in the order of their instructions
	holds     map[string]int // register with the value of a key
	pending   map[int]mark   // what is available at the labels that have been jumped to
	least     []mark         // the least that was available since each label, where it grew afterwards
	version   []int
	block     int    // line of the last label
	text      []byte // of a key
	same      []int  // the register that replaces another one, or 0
}

// mark is how much is available from the label at a line on.
type mark struct{ line, n int }

// extent is the lines of a loop.
type extent struct{ from, to int }

// change is an assignment of a register in a line.
type change struct{ line, register int }

// removeRepeats removes repeated instructions from the body.
func (g *generator) removeRepeats() {
	r := &repeats{f: g.kernel.Func, firstJump: map[int]int{}, lastJump: map[int]int{}, place: map[int]int{}, holds: map[string]int{}, pending: map[int]mark{}}
	n := 1
	for c := range r.counts {
		r.counts[c] = n
		n += int(g.counts[c]) + 1
	}
	r.definitions, r.version, r.same = make([]int, n), make([]int, n), make([]int, n)
	r.lines = make([]line, 0, bytes.Count(g.entry, []byte{'\n'})+bytes.Count(g.text, []byte{'\n'})+bytes.Count(g.cold, []byte{'\n'}))
	r.read(g.entry)
	body := len(r.lines)
	if !r.read(g.text) {
		return
	}
	cold := len(r.lines)
	r.outside = true
	if !r.read(g.cold) {
		return
	}
	r.findChanges()
	r.findUses(body, cold)
	text := make([]byte, 0, len(g.text))
	reached := true
	for i := body; i < cold; i++ {
		g.kernel.Func.Poll()
		l := &r.lines[i]
		if l.label >= 0 {
			r.arrive(i, reached, r.lastJump[l.label] >= cold)
			reached = true
		}
		if l.target >= 0 {
			r.depart(l.target)
		}
		if !r.repeated(i) {
			text = r.replace(text, l.text)
		}
		reached = reached && !l.leaves
	}
	rest := make([]byte, 0, len(g.cold))
	for _, l := range r.lines[cold:] {
		rest = r.replace(rest, l.text)
	}
	g.text, g.cold = text, rest
	g.replaced = map[operand]operand{}
	for n, m := range r.same {
		if m != 0 {
			g.replaced[r.operand(n)] = r.operand(m)
		}
	}
}

// read appends the lines of a text. It reports false if they are not understood.
func (r *repeats) read(text []byte) bool {
	for len(text) > 0 {
		end := bytes.IndexByte(text, '\n') + 1
		if end == 0 {
			return false
		}
		l := line{text: text[:end:end], label: -1, target: -1}
		text = text[end:]
		if !r.parse(&l) {
			return false
		}
		r.lines = append(r.lines, l)
	}
	return true
}

// parse finds what a line does. It reports false if it does not understand it.
func (r *repeats) parse(l *line) bool {
	s := bytes.TrimSuffix(l.text, []byte{'\n'})
	at := len(r.lines)
	if bytes.HasPrefix(s, []byte("$")) && !bytes.HasPrefix(s, []byte("$L")) {
		return r.outside // where a fault is reported, which never returns
	}
	if bytes.HasPrefix(s, []byte("$L")) {
		n, err := strconv.Atoi(string(bytes.TrimSuffix(s[2:], []byte{':'})))
		l.label = n
		r.place[n] = at
		return err == nil
	}
	if len(s) > 1 && s[0] == '\t' && s[1] == '.' {
		return true // a directive
	}
	guarded := false
	if len(s) > 1 && s[0] == '\t' && s[1] == '@' {
		guarded = true
		s = s[bytes.IndexByte(s, ' '):]
	}
	operands, whole := bytes.CutSuffix(s[min(1, len(s)):], []byte{';'})
	opcode, operands, _ := bytes.Cut(operands, []byte{' '})
	name, _, _ := bytes.Cut(opcode, []byte{'.'})
	if !whole || bytes.ContainsAny(operands, ";") {
		for n := range r.registers(l.text) {
			r.definitions[n] += 2
		}
		return !bytes.ContainsAny(l.text, ":$")
	}
	l.opcode = opcode
	if string(name) == "bra" {
		l.leaves = !guarded
		label, ok := bytes.CutPrefix(operands, []byte("$L"))
		if !ok {
			l.none = true
			return true
		}
		n, err := strconv.Atoi(string(label))
		l.target = n
		if _, seen := r.firstJump[n]; !seen {
			r.firstJump[n] = at
		}
		r.lastJump[n] = at
		return err == nil
	}
	if bytes.IndexByte(operands, '$') >= 0 {
		return false
	}
	l.leaves = !guarded && (string(name) == "ret" || string(name) == "exit" || string(name) == "trap")
	if withoutResult[string(name)] {
		l.none = true
		return true
	}
	result, rest, _ := bytes.Cut(operands, []byte{','})
	known := repeatable[string(name)] || string(name) == "ld"
	if n, size := r.register(result); known && n > 0 && size == len(result) {
		r.definitions[n]++
		l.result = n
		l.repeatable = !guarded && !bytes.Contains(l.opcode, []byte(".cc")) && onlyRegisters(rest, r) &&
			(string(name) != "ld" || bytes.HasPrefix(l.opcode, []byte("ld.param")))
		return true
	}
	// Several results, or something unknown: each register outside of an address may be one.
	depth := 0
	for i := 0; i < len(operands); i++ {
		switch operands[i] {
		case '[':
			depth++
		case ']':
			depth--
		case '%':
			if n, _ := r.register(operands[i:]); n > 0 && depth == 0 {
				r.definitions[n] += 2
			}
		}
	}
	return true
}

// register returns the register whose name a text begins with and the length of the name, or 0.
func (r *repeats) register(s []byte) (n, size int) {
	if len(s) < 3 || s[0] != '%' {
		return 0, 0
	}
	i, c := 2, noClass
	switch s[1] {
	case 'r':
		if c = b32Class; s[2] == 'd' {
			i, c = 3, b64Class
		}
	case 'f':
		if c = f32Class; s[2] == 'd' {
			i, c = 3, f64Class
		}
	case 'p':
		c = predClass
	case 'h':
		c = b16Class
	}
	digits := i
	for i < len(s) && '0' <= s[i] && s[i] <= '9' {
		n = 10*n + int(s[i]-'0')
		i++
	}
	if c == noClass || i == digits || r.counts[c]+n >= len(r.definitions) {
		return 0, 0
	}
	return r.counts[c] + n, i
}

// registers yields the registers of a line and where their names are.
func (r *repeats) registers(s []byte) func(yield func(n int, at [2]int) bool) {
	return func(yield func(n int, at [2]int) bool) {
		for i := 0; i < len(s); i++ {
			if s[i] != '%' {
				continue
			}
			if n, size := r.register(s[i:]); n > 0 && !yield(n, [2]int{i, i + size}) {
				return
			}
		}
	}
}

// onlyRegisters reports whether operands contain no special register.
func onlyRegisters(operands []byte, r *repeats) bool {
	names := 0
	for range r.registers(operands) {
		names++
	}
	return bytes.Count(operands, []byte{'%'}) == names
}

// findChanges notes the assignments of registers that are assigned several times.
func (r *repeats) findChanges() {
	for i, l := range r.lines {
		if l.label >= 0 || l.target >= 0 || l.none {
			continue
		}
		for n := range r.registers(l.text) {
			if r.definitions[n] > 1 && (l.result == n || l.result == 0) {
				r.changes = append(r.changes, change{i, n})
			}
		}
	}
}

// findUses finds the last use of each register in the body. A loop needs what it uses from
// before it until it ends.
func (r *repeats) findUses(body, end int) {
	r.lastUse, r.kept = make([]int, len(r.definitions)), make([]int, end)
	first := make([]int, len(r.definitions))
	for i, l := range r.lines[:end] {
		for n := range r.registers(l.text) {
			if first[n] == 0 {
				first[n] = i + 1
			}
			r.lastUse[n] = i
		}
		if at, ok := r.place[l.target]; ok && l.target >= 0 && at <= i && i >= body {
			r.loops = append(r.loops, extent{at, i})
		}
	}
	for _, loop := range r.loops {
		r.f.Poll()
		for n, last := range r.lastUse {
			if first[n] <= loop.from && loop.from <= last && last < loop.to {
				r.lastUse[n] = loop.to
			}
		}
	}
}

// keep reports whether a register can hold its value until line i, and notes that it does.
func (r *repeats) keep(n, i int) bool {
	o := r.operand(n)
	words := 1
	switch o.class {
	case predClass:
		words = 0
	case b64Class, f64Class:
		words = 2
	}
	from, to := r.lastUse[n]+1, i
	for _, loop := range r.loops {
		if loop.from < i && i < loop.to && from <= loop.from {
			to = max(to, loop.to)
		}
	}
	if from > to || words == 0 {
		return true
	}
	for _, kept := range r.kept[from : to+1] {
		if kept+words > mostKept {
			return false
		}
	}
	for l := from; l <= to; l++ {
		r.kept[l] += words
	}
	r.used(n, to)
	return true
}

// free reports whether a line's result takes no register: ptxas finds it where it is used.
func (r *repeats) free(l *line) bool {
	return bytes.HasPrefix(l.opcode, []byte("mov")) || bytes.HasPrefix(l.opcode, []byte("ld.param"))
}

// used notes that a register is used in a line.
func (r *repeats) used(n, line int) { r.lastUse[n] = max(r.lastUse[n], line) }

// changed gives the registers that some lines assign a new version.
func (r *repeats) changed(from, to, version int) {
	i, _ := slices.BinarySearchFunc(r.changes, from, func(c change, from int) int { return c.line - from })
	for ; i < len(r.changes) && r.changes[i].line < to; i++ {
		r.version[r.changes[i].register] = version
	}
}

// depart notes what is available at a label that is jumped to.
func (r *repeats) depart(label int) {
	if n, ok := r.jumpedWith(label); !ok || n > len(r.available) {
		r.pending[label] = mark{r.block, len(r.available)}
	}
}

// jumpedWith returns how much is available on all paths so far that jump to a label: what
// is still available of what was there.
func (r *repeats) jumpedWith(label int) (n int, ok bool) {
	m, ok := r.pending[label]
	i, _ := slices.BinarySearchFunc(r.least, m.line+1, func(l mark, line int) int { return l.line - line })
	if i < len(r.least) {
		return min(m.n, r.least[i].n), ok
	}
	return m.n, ok
}

// arrive makes available at a label what is available on all paths to it. reached says whether
// the line before it is one, and outside whether code outside of the body jumps to it.
func (r *repeats) arrive(i int, reached, outside bool) {
	label := r.lines[i].label
	r.block = i
	most := math.MaxInt
	if reached {
		most = len(r.available)
	}
	first, jumped := r.firstJump[label]
	if n, ok := r.jumpedWith(label); ok {
		most = min(most, n)
	} else if !reached {
		most = 0
	}
	if outside {
		most = 0
	}
	delete(r.pending, label)
	for _, key := range r.available[most:] {
		delete(r.holds, key)
	}
	r.available = r.available[:most]
	for len(r.least) > 0 && r.least[len(r.least)-1].n >= most {
		r.least = r.least[:len(r.least)-1]
	}
	r.least = append(r.least, mark{i, most})
	if jumped {
		r.changed(min(first, i), max(r.lastJump[label], i)+1, i)
	}
}

// repeated reports whether a register holds what a line computes. If none does, it notes that
// the line's result does from now on.
func (r *repeats) repeated(i int) bool {
	l := &r.lines[i]
	if l.repeatable && r.definitions[l.result] == 1 {
		text := r.key(l)
		if n, ok := r.holds[string(text)]; ok && (r.free(l) || r.keep(n, i)) {
			r.same[l.result] = n
			r.used(n, r.lastUse[l.result])
			return true
		}
		key := string(text)
		r.holds[key] = l.result
		r.available = append(r.available, key)
	}
	r.changed(i, i+1, i)
	return false
}

// key returns a text that is equal for lines that compute the same.
func (r *repeats) key(l *line) []byte {
	text := l.text[bytes.IndexByte(l.text, ',')+1:]
	b := append(append(r.text[:0], l.opcode...), ' ')
	b = append(strconv.AppendInt(b, int64(r.operand(l.result).class), 10), ' ') // a move of bits has results of two classes
	if bytes.HasPrefix(l.opcode, []byte("setp")) {
		b = strconv.AppendInt(b, int64(r.block), 10) // there are few predicate registers
	}
	last := 0
	for n, at := range r.registers(text) {
		b = append(b, text[last:at[0]]...)
		last = at[1]
		if r.same[n] != 0 {
			n = r.same[n]
		}
		b = append(strconv.AppendInt(append(b, '%'), int64(n), 10), '.')
		b = strconv.AppendInt(b, int64(r.version[n]), 10)
	}
	r.text = append(b, text[last:]...)
	return r.text
}

// replace appends a line whose registers are replaced by those that hold the same.
func (r *repeats) replace(text, s []byte) []byte {
	last := 0
	for n, at := range r.registers(s) {
		if m := r.same[n]; m != 0 {
			text = append(text, s[last:at[0]]...)
			text = r.operand(m).append(text)
			last = at[1]
		}
	}
	return append(text, s[last:]...)
}

// operand returns a register.
func (r *repeats) operand(n int) operand {
	c := len(r.counts) - 1
	for r.counts[c] > n {
		c--
	}
	return operand{class: class(c), n: uint64(n - r.counts[c])}
}
