package ptx

import (
	"strconv"

	"quern.dev/internal/compiler/ir"
)

// writer holds the text of the body under construction, in three streams: the body;
// entry, which runs first and grows as the body needs parameters and coordinates; and
// cold, which follows the body.
type writer struct {
	text   []byte // the current stream
	entry  []byte
	cold   []byte
	counts [numClasses]uint64
	labels []int // number of jumps to each label
}

// label is a jump target.
type label int

// register returns a fresh register.
func (w *writer) register(c class) operand {
	w.counts[c]++
	return operand{class: c, n: w.counts[c]}
}

// into returns dst, or a fresh register if dst is none.
func (w *writer) into(dst operand, c class) operand {
	if dst.isNone() {
		return w.register(c)
	}
	return dst
}

// atEntry puts what f emits into the entry stream.
func (w *writer) atEntry(f func()) {
	text := w.text
	w.text = w.entry
	f()
	w.entry, w.text = w.text, text
}

// emit writes one instruction.
func (w *writer) emit(opcode string, args ...operand) {
	w.text = append(w.text, '\t')
	w.instruction(opcode, args)
}

// emitIf writes one instruction under a guard.
func (w *writer) emitIf(c condition, opcode string, args ...operand) {
	w.text = append(w.text, '\t')
	w.guard(c)
	w.instruction(opcode, args)
}

func (w *writer) guard(c condition) {
	w.text = append(w.text, '@')
	if c.negated {
		w.text = append(w.text, '!')
	}
	w.text = append(c.pred.append(w.text), ' ')
}

func (w *writer) instruction(opcode string, args []operand) {
	w.text = append(w.text, opcode...)
	for i, a := range args {
		if i > 0 {
			w.text = append(w.text, ',')
		}
		w.text = append(w.text, ' ')
		w.text = a.append(w.text)
	}
	w.text = append(w.text, ";\n"...)
}

// emitSymbol writes an instruction whose only source is a name.
func (w *writer) emitSymbol(opcode string, dst operand, symbol string) {
	w.text = append(append(append(w.text, '\t'), opcode...), ' ')
	w.text = append(append(append(dst.append(w.text), ", "...), symbol...), ";\n"...)
}

// split and join move 64 bits to and from a register pair.
func (w *writer) split(lo, hi, src operand) {
	w.text = append(hi.append(append(lo.append(append(w.text, "\tmov.b64 {"...)), ", "...)), "}, "...)
	w.text = append(src.append(w.text), ";\n"...)
}

func (w *writer) join(dst, lo, hi operand) {
	w.text = append(dst.append(append(w.text, "\tmov.b64 "...)), ", {"...)
	w.text = append(hi.append(append(lo.append(w.text), ", "...)), "};\n"...)
}

// load and store write a memory access; atomic writes an instruction with an address
// between its destination and its sources.
func (w *writer) load(opcode string, dst operand, a address) { w.atomic(opcode, dst, a) }

func (w *writer) store(opcode string, a address, src operand) { w.atomic(opcode, operand{}, a, src) }

func (w *writer) atomic(opcode string, dst operand, a address, args ...operand) {
	w.text = append(append(append(w.text, '\t'), opcode...), ' ')
	if !dst.isNone() {
		w.text = append(dst.append(w.text), ", "...)
	}
	w.text = a.append(w.text)
	for _, x := range args {
		w.text = x.append(append(w.text, ", "...))
	}
	w.text = append(w.text, ";\n"...)
}

// move copies src to dst of the same class.
func (w *writer) move(dst, src operand) {
	if dst == src {
		return
	}
	w.emit("mov."+dst.class.bits(), dst, src)
}

func (w *writer) newLabel() label {
	w.labels = append(w.labels, 0)
	return label(len(w.labels) - 1)
}

func (l label) append(b []byte) []byte {
	return strconv.AppendInt(append(b, "$L"...), int64(l), 10)
}

// jump jumps to l.
func (w *writer) jump(l label) {
	w.labels[l]++
	w.text = append(l.append(append(w.text, "\tbra.uni "...)), ";\n"...)
}

// jumpIf jumps to l if c holds.
func (w *writer) jumpIf(c condition, l label) {
	w.labels[l]++
	w.text = append(w.text, '\t')
	w.guard(c)
	w.text = append(l.append(append(w.text, "bra "...)), ";\n"...)
}

// place defines l here, unless nothing jumps to it.
func (w *writer) place(l label) {
	if w.labels[l] > 0 {
		w.placeHead(l)
	}
}

// placeHead defines l here, as the target of a later jump back.
func (w *writer) placeHead(l label) {
	w.text = append(l.append(w.text), ":\n"...)
}

// lines writes .loc directives.
type lines struct {
	files   map[string]int
	names   []string
	current ir.Pos
}

// at sets the position of the instructions that follow.
func (g *generator) at(pos ir.Pos) {
	if pos.Line == 0 || g.options.OmitLines || pos.File == g.lines.current.File && pos.Line == g.lines.current.Line {
		return
	}
	g.lines.current = pos
	n, ok := g.lines.files[pos.File]
	if !ok {
		n = len(g.lines.names) + 1
		if g.lines.files == nil {
			g.lines.files = map[string]int{}
		}
		g.lines.files[pos.File] = n
		g.lines.names = append(g.lines.names, pos.File)
	}
	g.text = strconv.AppendInt(append(g.text, "\t.loc "...), int64(n), 10)
	g.text = strconv.AppendInt(append(g.text, ' '), int64(pos.Line), 10)
	g.text = strconv.AppendInt(append(g.text, ' '), int64(max(pos.Col, 1)), 10)
	g.text = append(g.text, '\n')
}
