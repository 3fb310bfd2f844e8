package ptx

import "fmt"

// appendBounds adds the directives that limit the registers used by the driver's
// compiler (PTX ISA, performance-tuning directives).
func (g *generator) appendBounds(b []byte) []byte {
	if n := g.kernel.Options.MinBlocks; n > 0 {
		b = fmt.Appendf(b, ".minnctapersm %d\n", n)
	}
	if n := g.kernel.Options.MaxRegs; n > 0 {
		b = fmt.Appendf(b, ".maxnreg %d\n", n)
	}
	return b
}

// pragma passes a string to the driver's compiler. "nounroll" is placed at the head of
// a loop (PTX ISA, pragma strings).
func (w *writer) pragma(word string) {
	w.text = fmt.Appendf(w.text, "\t.pragma %q;\n", word)
}
