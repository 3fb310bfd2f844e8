package gohost

import (
	"strconv"
	"strings"

	"quern.dev/internal/compiler/ir"
)

// print prints a call of host.Printf. The arguments have the predeclared types that the
// host prints on other devices.
func (e *emitter) print(s *ir.Effect) {
	args := []string{"r", strconv.Quote(s.Format.Text)}
	values := s.Args
	for _, a := range s.Format.Args {
		if a.Type == nil {
			args = append(args, strconv.Quote(a.Text))
			continue
		}
		args = append(args, e.conversion(a.Type, e.value(values[0], a.Type, precOr)))
		values = values[1:]
	}
	e.out.at(s.Pos, true, "%s(%s)", e.member(hostPath, "Printf"), strings.Join(args, ", "))
}
