package opt

import (
	"strings"
	"testing"

	"quern.dev/internal/compiler/ir"
	. "quern.dev/internal/compiler/ir/irtest"
)

func TestReadsOfGlobalMemoryPassWritesToSharedMemory(t *testing.T) {
	ints := ir.SliceOf(ir.TInt32)
	w := Local("w", ir.TInt32)
	x, y, s := Local("x", ints), Local("y", ints), Local("s", ints)
	tests := []struct {
		name  string
		index bool // indices of the tile are checked
		body  func(i, v *ir.Local, tile func(at ir.Expr) ir.Place) []ir.Stmt
		want  string
	}{
		{"copies", false, func(i, v *ir.Local, tile func(ir.Expr) ir.Place) []ir.Stmt {
			return []ir.Stmt{
				SetPlace(tile(ir.Get(i)), Load(Elem(x, ir.Get(i)))),
				Set(v, Load(Elem(y, ir.Get(i)))),
				SetPlace(tile(Int(7)), Add(ir.Get(v), Load(Elem(y, Int(1))))),
				SetPlace(tile(Int(8)), ir.Get(v)),
			}
		}, lines("filled = x[?i]", "v = y[?i]", "filled = v + y[?1]", "tile[i] = filled", "tile[7] = filled", "tile[8] = v")},
		{"checks of the tile stay where they are", true, func(i, v *ir.Local, tile func(ir.Expr) ir.Place) []ir.Stmt {
			return []ir.Stmt{SetPlace(tile(ir.Get(i)), Load(Elem(x, ir.Get(i)))), SetPlace(tile(Int(7)), Load(Elem(y, Int(1))))}
		}, lines("tile[?i] = x[?i]", "tile[?7] = y[?1]")},
		{"vectors", false, func(i, v *ir.Local, tile func(ir.Expr) ir.Place) []ir.Stmt {
			return []ir.Stmt{
				&ir.StoreVector{Place: tile(Int(0)), Src: []ir.Expr{ir.Get(v), ir.Get(v)}},
				&ir.LoadVector{Dst: []*ir.Local{nil, w}, Place: Elem(x, ir.Get(i))},
				&ir.StoreVector{Place: tile(Int(2)), Src: []ir.Expr{ir.Get(v), ir.Get(w)}},
				&ir.LoadVector{Dst: []*ir.Local{v, nil}, Place: Elem(y, ir.Get(i))},
			}
		}, lines("_, w = vector x[?i]", "vector tile[0] = v, v", "vector tile[2] = v, w", "v, _ = vector y[?i]")},
		{"a vector at an index in shared memory", false, func(i, v *ir.Local, tile func(ir.Expr) ir.Place) []ir.Stmt {
			return []ir.Stmt{
				SetPlace(tile(ir.Get(i)), ir.Get(v)),
				&ir.LoadVector{Dst: []*ir.Local{nil, w}, Place: Elem(x, To(ir.TInt, Load(tile(Int(7)))))},
			}
		}, lines("tile[i] = v", "_, w = vector x[?int(tile[7])]")},
		{"a read of shared memory", false, func(i, v *ir.Local, tile func(ir.Expr) ir.Place) []ir.Stmt {
			return []ir.Stmt{SetPlace(tile(ir.Get(i)), Load(Elem(x, ir.Get(i)))), Set(v, Load(tile(Int(7)))), SetPlace(tile(Int(7)), Load(Elem(y, ir.Get(i))))}
		}, lines("filled = x[?i]", "tile[i] = filled", "v = tile[7]", "filled = y[?i]", "tile[7] = filled")},
		{"a variable that a write needs", false, func(i, v *ir.Local, tile func(ir.Expr) ir.Place) []ir.Stmt {
			return []ir.Stmt{SetPlace(tile(ir.Get(i)), Load(Elem(x, ir.Get(i)))), Set(i, Int(3)), SetPlace(tile(ir.Get(i)), ir.Get(v)), Set(v, ir.IntConst(ir.TInt32, 1))}
		}, lines("filled = x[?i]", "tile[i] = filled", "i = 3", "tile[i] = v", "v = 1i32")},
		{"a write to global memory, and a barrier", false, func(i, v *ir.Local, tile func(ir.Expr) ir.Place) []ir.Stmt {
			return []ir.Stmt{
				SetPlace(tile(ir.Get(i)), ir.Get(v)), SetPlace(Elem(x, ir.Get(i)), ir.Get(v)), Set(v, Load(Elem(y, Int(1)))),
				SetPlace(tile(ir.Get(i)), ir.Get(v)), &ir.Barrier{}, Set(v, Load(Elem(y, Int(2)))),
			}
		}, lines("tile[i] = v", "x[?i] = v", "v = y[?1]", "tile[i] = v", "barrier", "v = y[?2]")},
		{"through a slice that may be of shared memory", false, func(i, v *ir.Local, tile func(ir.Expr) ir.Place) []ir.Stmt {
			return []ir.Stmt{SetPlace(tile(ir.Get(i)), ir.Get(v)), Set(s, ir.Get(x)), Set(v, Load(Elem(s, Int(1))))}
		}, lines("s = x", "tile[i] = v", "v = s[?1]")},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			shared := &ir.SharedVar{Name: "tile", Type: ir.ArrayOf(64, ir.TInt32)}
			i, v := Local("i", ir.TInt), Local("v", ir.TInt32)
			tile := func(at ir.Expr) ir.Place {
				return &ir.IndexPlace{X: Shared(shared), Index: at, Check: test.index}
			}
			k := Kernel("k", locals(x, y, i, v), locals(s, w), test.body(i, v, tile)...)
			k.Shared = append(k.Shared, shared)
			fill(k)
			if err := ir.Verify(k, ir.StageFinal); err != nil {
				t.Error(err)
			}
			if got := strings.ReplaceAll(text(k), "shared tile.0", "tile"); got != test.want {
				t.Errorf("got:\n%s\nwant:\n%s", got, test.want)
			}
		})
	}
}
