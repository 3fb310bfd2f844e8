package opt

import (
	"cmp"
	"slices"
	"testing"

	"quern.dev/internal/compiler/ir"
	. "quern.dev/internal/compiler/ir/irtest"
)

// Neighbours at the index of a variable move together if its value is known to be aligned.
func TestVectorsAtTheIndexOfAVariable(t *testing.T) {
	for _, c := range []struct {
		name string
		set  func(at, i *ir.Local) []ir.Stmt
		want string
	}{
		{"a multiple of two", func(at, i *ir.Local) []ir.Stmt { return []ir.Stmt{Set(at, Mul(ir.Get(i), Int(2)))} },
			lines("limit 1 <= 1", "limit &p0%16 <= 0", "at = i * 2", "part, part = vector x[at]", "v = part", "w = part")},
		{"any index", func(at, i *ir.Local) []ir.Stmt { return []ir.Stmt{Set(at, Mul(ir.Get(i), Int(3)))} },
			lines("limit 1 <= 1", "at = i * 3", "v = x[at]", "w = x[at + 1]")},
		{"two values", func(at, i *ir.Local) []ir.Stmt {
			return []ir.Stmt{Set(at, Mul(ir.Get(i), Int(2))), If(Lt(ir.Get(i), Int(5)), Set(at, ir.Get(i)))}
		}, lines("limit 1 <= 1", "at = i * 2", "if i < 5 {", "at = i", "v = x[at]", "w = x[at + 1]")},
	} {
		t.Run(c.name, func(t *testing.T) {
			x, i, at := Local("x", ir.SliceOf(ir.TFloat64)), Local("i", ir.TInt), Local("at", ir.TInt)
			v, w := Local("v", ir.TFloat64), Local("w", ir.TFloat64)
			element := func(index ir.Expr) ir.Expr { return Load(&ir.ElemPlace{Slice: ir.Get(x), Index: index}) }
			body := append(c.set(at, i), Set(v, element(ir.Get(at))), Set(w, element(Add(ir.Get(at), Int(1)))))
			k := Kernel("k", locals(x, i), locals(at, v, w), body...)
			k.Limits = ir.Limits{{X: &ir.Sym{Value: 1}, Max: 1}} // it has launch conditions
			vectorise(k)
			if err := ir.Verify(k, ir.StageFinal); err != nil {
				t.Error(err)
			}
			if got := text(k); got != c.want {
				t.Errorf("got:\n%s\nwant:\n%s", got, c.want)
			}
		})
	}
}

// Reads of 16 bytes of a shared variable become one access, also in forms without launch
// conditions, unless something is written between them or the index may not be aligned.
func TestVectorsInSharedMemory(t *testing.T) {
	quads := &ir.SharedVar{Name: "quads", Type: ir.ArrayOf(8, ir.ArrayOf(4, ir.TFloat32))}
	flat := &ir.SharedVar{Name: "flat", Type: ir.ArrayOf(32, ir.TFloat32), ID: 1}
	small := &ir.SharedVar{Name: "small", Type: ir.ArrayOf(3, ir.TFloat32), ID: 2}
	i, v, w, x, y := Local("i", ir.TInt), Local("v", ir.TFloat32), Local("w", ir.TFloat32), Local("x", ir.TFloat32), Local("y", ir.TFloat32)
	at := func(p ir.Place, i ir.Expr) ir.Place { return &ir.IndexPlace{X: p, Index: i} }
	four := func(place func(j int64) ir.Place) (list []ir.Stmt) {
		for j, dst := range []*ir.Local{v, w, x, y} {
			list = append(list, Set(dst, Load(place(int64(j)))))
		}
		return list
	}
	quad := func(j int64) ir.Place { return at(at(Shared(quads), ir.Get(i)), Int(j)) }
	inFlat := func(factor int64) func(j int64) ir.Place {
		return func(j int64) ir.Place {
			index := Mul(ir.Get(i), Int(factor))
			if j > 0 {
				index = Add(index, Int(j))
			}
			return at(Shared(flat), index)
		}
	}
	joined := func(first string) string {
		return lines("part, part, part, part = vector shared "+first, "v = part", "w = part", "x = part", "y = part")
	}
	for _, c := range []struct {
		name string
		body []ir.Stmt
		want string // empty: nothing changes
	}{
		{"an array", four(quad), joined("quads.0[i][0]")},
		{"neighbours at a multiple of four", four(inFlat(4)), joined("flat.1[i * 4]")},
		{"neighbours at a multiple of two", four(inFlat(2)), ""},
		{"two of four", four(quad)[:2], ""},
		{"a write in between", slices.Insert(four(quad), 2, SetPlace(quad(3), F32(1))), ""},
		{"a write to another variable in between", slices.Insert(four(quad), 2, SetPlace(at(Shared(flat), Int(3)), F32(1))), ""},
		{"a barrier in between", slices.Insert(four(quad), 1, ir.Stmt(&ir.Barrier{})), ""},
		{"another index in between", slices.Insert(four(quad), 2, Set(i, Int(5))), ""},
		{"less than 16 bytes", []ir.Stmt{Set(v, Load(at(Shared(small), Int(0)))), Set(w, Load(at(Shared(small), Int(1))))}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := Kernel("k", locals(i), locals(v, w, x, y), c.body...)
			k.Shared = []*ir.SharedVar{quads, flat, small}
			want := cmp.Or(c.want, text(k))
			vectorise(k)
			if err := ir.Verify(k, ir.StageFinal); err != nil {
				t.Error(err)
			}
			if got := text(k); got != want {
				t.Errorf("got:\n%s\nwant:\n%s", got, want)
			}
		})
	}
}
