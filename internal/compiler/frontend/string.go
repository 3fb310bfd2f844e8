package frontend

import (
	"go/token"

	"quern.dev/internal/compiler/ir"
)

// stringTable returns the place of the bytes of a constant string that is indexed.
func (fn *function) stringTable(text string, pos token.Pos) ir.Place {
	l := fn.l
	if len(text) > maxTable {
		fn.errorf(pos, "the string has %d bytes; a kernel can read at most %d; pass it as a slice", len(text), maxTable)
		return fn.badPlace(ir.ArrayOf(int64(len(text)), ir.TUint8))
	}
	key := "\"" + text // not a valid variable name
	t, ok := l.tables[key]
	if !ok {
		if !fn.hasRoom(int64(len(text)), pos) {
			return fn.badPlace(ir.ArrayOf(int64(len(text)), ir.TUint8))
		}
		t = &ir.Table{Name: "string", Type: ir.ArrayOf(int64(len(text)), ir.TUint8), Data: []byte(text)}
		l.tables[key] = t
	}
	return fn.readTable(t)
}
