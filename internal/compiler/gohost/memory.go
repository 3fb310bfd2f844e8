package gohost

import (
	"fmt"
	"strings"

	"quern.dev/internal/compiler/ir"
)

// memory prints an operation on memory. Loads are passed the Run: a thread that waits
// for another must end when the launch fails.
func (e *emitter) memory(s *ir.Memory) {
	switch {
	case s.Op.IsLoad():
		ptr, _ := e.address(s.Places[0])
		load := "Load"
		if s.Places[0].Type() == ir.TUint64 {
			load = "Load64" // which the Go compiler inlines
		}
		e.result(s, fmt.Sprintf("%s(r, %s)", e.member(hostPath, load), ptr))
	case s.Op.IsStore():
		ptr, _ := e.address(s.Places[0])
		e.out.at(s.Pos, true, "%s(%s, %s)", e.member(kernelPath, strings.TrimPrefix(s.Op.GoName(), "kernel.")), ptr, e.value(s.Args[0], s.Places[0].Type(), precOr))
	case s.Op == ir.Clock:
		e.result(s, e.member(kernelPath, "Clock")+"()")
	case s.Op == ir.GlobalTimer:
		e.result(s, e.member(kernelPath, "GlobalTimer")+"()")
	case s.Op == ir.SliceCopy, s.Op == ir.BulkCopy:
		e.out.at(s.Pos, true, "copy(%s, %s)", e.expr(s.Args[0], precOr), e.expr(s.Args[1], precOr))
	case s.Op == ir.BulkCopyTile:
		m, _ := e.address(s.Places[1])
		args := []string{m}
		for _, x := range s.Args {
			args = append(args, e.value(x, x.Type(), precOr))
		}
		e.out.at(s.Pos, true, "%s(%s)", e.member(hostPath, "CopyTile"), strings.Join(args, ", "))
	default:
		e.failf("unexpected operation %s", s.Op)
	}
}

// result prints a statement that assigns a value to the destination, or only evaluates
// it.
func (e *emitter) result(s *ir.Memory, value string) {
	v := s.Dst
	switch {
	case !e.wants(v):
		e.out.at(s.Pos, true, "%s", value)
	case e.scopes.define[s][v]:
		e.out.at(s.Pos, true, "%s := %s", e.names.name(v, v.Name), value)
	default:
		e.out.at(s.Pos, true, "%s = %s", e.variable(v), value)
	}
}
