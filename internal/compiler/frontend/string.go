package frontend

import (
	"go/token"
	"slices"

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
		t = &ir.Table{Name: "string", Type: ir.ArrayOf(int64(len(text)), ir.TUint8), Data: []byte(text)}
		l.tables[key] = t
	}
	if !slices.Contains(l.kernel.Tables, t) {
		l.kernel.Tables = append(l.kernel.Tables, t)
	}
	return &ir.TablePlace{Table: t}
}
