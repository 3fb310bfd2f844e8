package ptx

import (
	"strconv"

	"quern.dev/internal/compiler/ir"
)

// loadVector reads neighbouring scalars with accesses of up to 16 bytes.
func (g *generator) loadVector(s *ir.LoadVector) {
	t := s.Place.Type()
	a := g.address(s.Place)
	dst := make([]operand, len(s.Dst))
	for i, v := range s.Dst {
		if v != nil {
			dst[i] = g.scalar(g.variable(v))
		}
	}
	opcode := "ld" + a.space.directive()
	if size := t.Size(); size >= 4 {
		eachVector(len(dst), size, func(from, to int, suffix string) {
			parts := make([]operand, to-from)
			for i := range parts {
				parts[i] = g.into(dst[from+i], classOf(t))
			}
			g.vector(opcode+suffix+"."+memoryType(t.Kind), parts, a.plus(int64(from)*size), true)
		})
		return
	}
	perWord, words := packing(len(dst), t)
	whole := make([]operand, words)
	for i := range whole {
		whole[i] = g.register(b32Class)
	}
	if perWord*t.Size() < 4 { // two bytes
		g.load(opcode+".u16", whole[0], a)
	} else {
		eachVector(words, 4, func(from, to int, suffix string) {
			g.vector(opcode+suffix+".u32", whole[from:to], a.plus(int64(from)*4), true)
		})
	}
	for i, d := range dst {
		if !d.isNone() {
			g.extract(t, d, whole[i/int(perWord)], i%int(perWord))
		}
	}
}

// storeVector writes neighbouring scalars with accesses of up to 16 bytes.
func (g *generator) storeVector(s *ir.StoreVector) {
	t := s.Place.Type()
	src := make([]operand, len(s.Src))
	for i, e := range s.Src {
		src[i] = g.value(e)
	}
	a := g.address(s.Place)
	opcode := "st" + a.space.directive()
	if size := t.Size(); size >= 4 {
		eachVector(len(src), size, func(from, to int, suffix string) {
			g.vector(opcode+suffix+"."+memoryType(t.Kind), src[from:to], a.plus(int64(from)*size), false)
		})
		return
	}
	perWord, words := packing(len(src), t)
	whole := make([]operand, words)
	for i := range whole {
		whole[i] = g.pack(t, src[i*int(perWord):(i+1)*int(perWord)])
	}
	if perWord*t.Size() < 4 {
		g.store(opcode+".u16", a, whole[0])
		return
	}
	eachVector(words, 4, func(from, to int, suffix string) {
		g.vector(opcode+suffix+".u32", whole[from:to], a.plus(int64(from)*4), false)
	})
}

// eachVector splits n elements of 4 or 8 bytes into accesses; the suffix is .v4, .v2 or
// empty.
func eachVector(n int, size int64, access func(from, to int, suffix string)) {
	most := int(ir.VectorBytes / size)
	for from := 0; from < n; from += most {
		to := min(n, from+most)
		suffix := ""
		if to-from > 1 {
			suffix = ".v" + strconv.Itoa(to-from)
		}
		access(from, to, suffix)
	}
}

// packing returns how n elements of 1 or 2 bytes are packed into 32-bit words.
func packing(n int, t *ir.Type) (perWord int64, words int) {
	perWord = min(int64(n), 4/t.Size())
	return perWord, n / int(perWord)
}

// extract extracts element i of a word.
func (g *generator) extract(t *ir.Type, dst, word operand, i int) {
	if t.IsHalf() {
		g.extractHalf(dst, word, i)
		return
	}
	bits := uint64(8 * t.Size())
	opcode := "bfe.u32"
	if t.IsSigned() {
		opcode = "bfe.s32"
	}
	g.emit(opcode, dst, word, intOperand(b32Class, uint64(i)*bits), intOperand(b32Class, bits))
}

// Selectors of prmt.b32: which bytes of two words form the result. Bytes 0 to 3 are
// those of the first word.
const (
	lowBytes  = 0x0040 // low bytes of both, in the low half
	lowHalves = 0x5410
)

// pack packs two or four elements into a word.
func (g *generator) pack(t *ir.Type, parts []operand) operand {
	if t.IsHalf() {
		return g.packHalves(parts)
	}
	select2 := func(x, y operand, selector uint64) operand {
		d := g.register(b32Class)
		g.emit("prmt.b32", d, g.inRegister(x), g.inRegister(y), intOperand(b32Class, selector))
		return d
	}
	switch {
	case len(parts) == 4:
		return select2(select2(parts[0], parts[1], lowBytes), select2(parts[2], parts[3], lowBytes), lowHalves)
	case t.Size() == 1:
		return select2(parts[0], parts[1], lowBytes)
	}
	return select2(parts[0], parts[1], lowHalves)
}

// vector emits an access of one or several registers.
func (w *writer) vector(opcode string, parts []operand, a address, load bool) {
	if len(parts) == 1 {
		if load {
			w.load(opcode, parts[0], a)
		} else {
			w.store(opcode, a, parts[0])
		}
		return
	}
	list := func() {
		w.text = append(w.text, '{')
		for i, p := range parts {
			if i > 0 {
				w.text = append(w.text, ", "...)
			}
			w.text = p.append(w.text)
		}
		w.text = append(w.text, '}')
	}
	w.text = append(append(append(w.text, '\t'), opcode...), ' ')
	if load {
		list()
		w.text = a.append(append(w.text, ", "...))
	} else {
		w.text = append(a.append(w.text), ", "...)
		list()
	}
	w.text = append(w.text, ";\n"...)
}
