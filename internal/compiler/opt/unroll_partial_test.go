package opt

import (
	"testing"

	"quern.dev/internal/compiler/ir"
	. "quern.dev/internal/compiler/ir/irtest"
)

// hinted gives the loop at the end of a list a hint.
func hinted(list []ir.Stmt, hint ir.Unroll) []ir.Stmt {
	list[len(list)-1].(*ir.Loop).Unroll = hint
	return list
}

func TestHintsDecideHowManyCopiesALoopHas(t *testing.T) {
	out, n := func() *ir.Local { return Local("out", ints) }, func() *ir.Local { return Local("n", ir.TInt) }
	set := func(out, i *ir.Local) ir.Stmt { return SetPlace(Elem(out, ir.Get(i)), Int(1)) }
	checkPass(t, "unroll", []passCase{
		{"a loop of few iterations stays", func() *ir.Kernel {
			out, i := out(), Local("i", ir.TInt)
			return Kernel("k", locals(out), locals(i), hinted(For(i, Int(0), Int(2), set(out, i)), ir.NoUnroll)...)
		}, lines("i = 0", "unroll 1", "for L0.i i < 2 {", "out[?i] = 1", "} post {", "i = i + 1")},
		{"a loop to a length is followed by what remains", func() *ir.Kernel {
			out, i := out(), Local("i", ir.TInt)
			return Kernel("k", locals(out), locals(i), hinted(For(i, Int(0), Len(out), set(out, i)), 2)...)
		}, lines("i = 0",
			"unroll 1", "for L0.i i < (len(out) - 1) {", "out[?i] = 1", "i = i + 1", "out[?i] = 1", "} post {", "i = i + 1",
			"unroll 1", "for L1.i i < len(out) {", "out[?i] = 1", "} post {", "i = i + 1")},
		{"a bound that may be near the least integer is looked at first", func() *ir.Kernel {
			out, n, i := out(), n(), Local("i", ir.TInt)
			return Kernel("k", locals(out, n), locals(i), hinted(For(i, Int(0), ir.Get(n), set(out, i)), 2)...)
		}, lines("i = 0", "if n >= -9223372036854775807 {",
			"unroll 1", "for L0.i i < (n - 1) {", "out[?i] = 1", "i = i + 1", "out[?i] = 1", "} post {", "i = i + 1",
			"unroll 1", "for L1.i i < n {", "out[?i] = 1", "} post {", "i = i + 1")},
		{"a break leaves both loops", func() *ir.Kernel {
			out, i := out(), Local("i", ir.TInt)
			list := hinted(For(i, Int(0), Len(out)), 2)
			l := list[1].(*ir.Loop)
			l.Body = []ir.Stmt{If(Op(Load(Elem(out, ir.Get(i))), ir.Eq, Int(7)), &ir.Break{Label: l.Label})}
			return Kernel("k", locals(out), locals(i), list...)
		}, lines("i = 0", "block L0.i {",
			"unroll 1", "for L1.i i < (len(out) - 1) {", "if out[?i] == 7 {", "break L0.i", "i = i + 1", "if out[?i] == 7 {", "break L0.i", "} post {", "i = i + 1",
			"unroll 1", "for L2.i i < len(out) {", "if out[?i] == 7 {", "break L2.i", "} post {", "i = i + 1")},
		{"a bound that the loop changes keeps the loop", func() *ir.Kernel {
			n, i := n(), Local("i", ir.TInt)
			return Kernel("k", locals(n), locals(i), hinted(For(i, Int(0), ir.Get(n), Set(n, Int(3))), 2)...)
		}, lines("i = 0", "unroll 2", "for L0.i i < n {", "n = 3", "} post {", "i = i + 1")},
		{"a loop of fewer iterations than copies vanishes", func() *ir.Kernel {
			out, i := out(), Local("i", ir.TInt)
			return Kernel("k", locals(out), locals(i), hinted(For(i, Int(0), Int(2), set(out, i)), 4)...)
		}, lines("out[?0] = 1", "out[?1] = 1")},
	})
}
