package gohost

import (
	"strings"

	"quern.dev/internal/compiler/ir"
)

// givenMatrices adds the threads' operands of a matrix operation: their pointers, or
// their fragments as arrays.
func (s *splitter) givenMatrices(l *layout, c *collective) {
	t := c.stmt
	if t.Op.IsLoadMatrix() {
		c.fragments = []*ir.Local{s.given(l, t.Args[0], t.Pos)}
		return
	}
	if t.Op.IsGroupMMA() {
		for _, p := range t.Args[:2] {
			c.fragments = append(c.fragments, s.given(l, p, t.Pos))
		}
		p := t.Args[2].(*ir.Load).Place.(*ir.IndexPlace).X.(*ir.IndexPlace).X
		c.fragments = append(c.fragments, s.given(l, &ir.Load{Place: p}, t.Pos))
		return
	}
	for at := 0; at < len(t.Args); {
		p := t.Args[at].(*ir.Load).Place.(*ir.IndexPlace).X
		c.fragments = append(c.fragments, s.given(l, &ir.Load{Place: p}, t.Pos))
		at += int(p.Type().Len)
	}
}

// matrixFunction returns the function of package kernel/host for a matrix operation, ""
// for other operations.
func matrixFunction(op ir.WarpOp) string {
	if !op.IsMMA() && !op.IsLoadMatrix() && !op.IsGroupMMA() {
		return ""
	}
	name := op.String()
	if op.IsMMA() {
		return "MMA" + strings.TrimPrefix(name, "mma")
	}
	return strings.ToUpper(name[:1]) + name[1:]
}
