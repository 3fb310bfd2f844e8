package ptx

import "quern.dev/internal/compiler/ir"

func (g *generator) effect(s *ir.Effect) {
	switch s.Op {
	case ir.Print:
		g.print(s)
	case ir.Inline:
		g.assembly(s)
	case ir.Sample:
		g.sample(s)
	default:
		g.fail(s.Pos, "effect %s", s.Op)
	}
}
