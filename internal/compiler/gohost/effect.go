package gohost

import "quern.dev/internal/compiler/ir"

// effect prints an effect.
func (e *emitter) effect(s *ir.Effect) {
	switch s.Op {
	case ir.Print:
		e.print(s)
	default:
		e.failf("unexpected effect %s", s.Op)
	}
}
