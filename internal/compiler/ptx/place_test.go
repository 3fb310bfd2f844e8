package ptx

import (
	"strings"
	"testing"

	"quern.dev/internal/compiler/ir"
	"quern.dev/internal/compiler/ir/irtest"
)

func pos(line int) ir.Pos { return ir.Pos{File: "kernel.go", Line: line, Col: 2} }

// tid sets an int variable to the thread's index.
func tid(i *ir.Local) ir.Stmt { return irtest.Set(i, irtest.Thread(ir.ThreadIdxX)) }

func elem32(s *ir.Local, i ir.Expr) ir.Place { return irtest.Elem(s, i) }

func int32s(n int, f func(int) int64) irtest.Value {
	list := make([]int64, n)
	for i := range list {
		list[i] = f(i)
	}
	return ints(list...)
}

var mixed = ir.StructOf("kernel.Mixed",
	ir.Field{Name: "a", Type: ir.TInt8}, ir.Field{Name: "b", Type: ir.TBool}, ir.Field{Name: "c", Type: ir.TUint16},
	ir.Field{Name: "d", Type: ir.TFloat64}, ir.Field{Name: "e", Type: ir.ArrayOf(3, ir.TInt32)}, ir.Field{Name: "f", Type: ir.TUint8})

func TestFieldsOfStructsInSlicesHaveGosLayout(t *testing.T) {
	s, out, i := irtest.Local("s", ir.SliceOf(mixed)), irtest.Local("out", ir.SliceOf(mixed)), irtest.Local("i", ir.TInt)
	body := []ir.Stmt{tid(i)}
	for f, field := range mixed.Fields {
		from, to := irtest.Field(irtest.Elem(s, ir.Get(i)), f), irtest.Field(irtest.Elem(out, ir.Get(i)), f)
		if field.Type.Kind != ir.Array {
			body = append(body, irtest.SetPlace(to, irtest.Load(from)))
			continue
		}
		for j := range field.Type.Len {
			body = append(body, irtest.SetPlace(irtest.Index(ir.ClonePlace(to), irtest.Int(field.Type.Len-1-j)), irtest.Load(irtest.Index(ir.ClonePlace(from), irtest.Int(j)))))
		}
	}
	var cells []irtest.Value
	for n := range int64(8) {
		cells = append(cells, irtest.IntValue(-n), irtest.IntValue(n%2), irtest.IntValue(n*1000), irtest.FloatValue(float64(n)/3),
			irtest.IntValue(n), irtest.IntValue(-n), irtest.IntValue(n<<20), irtest.IntValue(200+n))
	}
	in := irtest.Value{Object: &irtest.Object{Cells: cells}, Len: 8, Cap: 8}
	same(t, irtest.Kernel("fields", []*ir.Local{s, out}, []*ir.Local{i}, body...), 8, in, irtest.SliceValue(mixed, 8))
}

func TestParametersOfEveryKindArrive(t *testing.T) {
	kinds := append(append([]*ir.Type{ir.TBool}, integerTypes...), ir.TFloat32, ir.TFloat64)
	var params []*ir.Local
	var args []irtest.Value
	var body []ir.Stmt
	for n, typ := range kinds {
		p, out := irtest.Local("p_"+typ.String(), typ), irtest.Local("out_"+typ.String(), ir.SliceOf(typ))
		params = append(params, p, out)
		v := irtest.IntValue(-5)
		switch {
		case typ.IsFloat():
			v = irtest.FloatValue(-2.5)
		case typ.Kind == ir.Bool:
			v = irtest.IntValue(1)
		case !typ.IsSigned():
			v = irtest.Value{Bits: ir.WrapBits(typ.Kind, 1<<63|uint64(250+n))}
		}
		args = append(args, v, irtest.SliceValue(typ, 2))
		body = append(body, irtest.SetPlace(irtest.Elem(out, irtest.Int(1)), ir.Get(p)))
	}
	same(t, irtest.Kernel("parameters", params, nil, body...), 1, args...)
}

func TestAggregateParametersAreReadInPlaceOrCopied(t *testing.T) {
	weights := ir.ArrayOf(5, ir.TFloat32)
	setup := ir.StructOf("kernel.Setup", ir.Field{Name: "n", Type: ir.TInt32}, ir.Field{Name: "w", Type: weights}, ir.Field{Name: "on", Type: ir.TBool})
	argument := func() irtest.Value {
		return irtest.Value{Object: &irtest.Object{Cells: []irtest.Value{irtest.IntValue(3), irtest.FloatValue(1), irtest.FloatValue(2),
			irtest.FloatValue(4), irtest.FloatValue(8), irtest.FloatValue(16), irtest.IntValue(1)}}}
	}
	newKernel := func(name string, change func(p *ir.Local) []ir.Stmt) *ir.Kernel {
		p, out, i := irtest.Local("p", setup), irtest.Local("out", ir.SliceOf(ir.TFloat32)), irtest.Local("i", ir.TInt)
		w := irtest.Field(irtest.Var(p), 1)
		body := irtest.Body(tid(i), change(p),
			irtest.SetPlace(irtest.Elem(out, ir.Get(i)), irtest.Load(irtest.Index(w, ir.Get(i)))),
			irtest.If(irtest.Op(irtest.Load(irtest.Field(irtest.Var(p), 2)), ir.LAnd,
				irtest.Op(irtest.To(ir.TInt, irtest.Load(irtest.Field(irtest.Var(p), 0))), ir.Eq, ir.Get(i))),
				irtest.SetPlace(irtest.Elem(out, ir.Get(i)), irtest.F32(-1))))
		return irtest.Kernel(name, []*ir.Local{p, out}, []*ir.Local{i}, body...)
	}
	t.Run("only read", func(t *testing.T) {
		k := newKernel("read", func(*ir.Local) []ir.Stmt { return nil })
		same(t, k, 5, argument(), irtest.SliceValue(ir.TFloat32, 5))
		if text := emit(t, k).Text; strings.Contains(text, ".local") {
			t.Errorf("a parameter that is only read was copied\n%s", text)
		}
	})
	t.Run("assigned", func(t *testing.T) {
		same(t, newKernel("assigned", func(p *ir.Local) []ir.Stmt {
			return []ir.Stmt{irtest.SetPlace(irtest.Index(irtest.Field(irtest.Var(p), 1), irtest.Int(2)), irtest.F32(100))}
		}), 5, argument(), irtest.SliceValue(ir.TFloat32, 5))
	})
	t.Run("pointed to", func(t *testing.T) {
		k := newKernel("pointed", func(p *ir.Local) []ir.Stmt { return nil })
		q := irtest.Local("q", ir.PointerTo(ir.TInt32))
		k.Func.Locals = append(k.Func.Locals, q)
		k.Func.Body = irtest.Body(irtest.Set(q, irtest.Addr(irtest.Field(irtest.Var(k.Func.Params[0]), 0))),
			irtest.SetPlace(irtest.Deref(q), ir.IntConst(ir.TInt32, 1)), k.Func.Body)
		same(t, k, 5, argument(), irtest.SliceValue(ir.TFloat32, 5))
	})
}

func TestLocalArraysAreIndexedAndSliced(t *testing.T) {
	out, i, j := irtest.Local("out", ir.SliceOf(ir.TInt32)), irtest.Local("i", ir.TInt), irtest.Local("j", ir.TInt)
	grid := irtest.Local("grid", ir.ArrayOf(4, ir.ArrayOf(5, ir.TInt32)))
	row := irtest.Local("row", ir.SliceOf(ir.TInt32))
	p := irtest.Local("p", ir.PointerTo(ir.TInt32))
	cell := func(a, b ir.Expr) ir.Place { return irtest.Index(irtest.Index(irtest.Var(grid), a), b) }
	body := irtest.Body(tid(i),
		irtest.For(j, irtest.Int(0), irtest.Int(20),
			irtest.SetPlace(cell(irtest.Op(ir.Get(j), ir.Div, irtest.Int(5)), irtest.Op(ir.Get(j), ir.Rem, irtest.Int(5))),
				irtest.To(ir.TInt32, irtest.Mul(ir.Get(j), ir.Get(j))))),
		// row := grid[i][1:]; p := &row[2]; *p += 1000
		irtest.Set(row, &ir.SliceExpr{T: row.Type, Array: irtest.Index(irtest.Var(grid), ir.Get(i)), Lo: irtest.Int(1), Check: true}),
		irtest.Set(p, irtest.Addr(irtest.Elem(row, irtest.Int(2)))),
		irtest.SetPlace(irtest.Deref(p), irtest.Add(irtest.Load(irtest.Deref(p)), ir.IntConst(ir.TInt32, 1000))),
		irtest.SetPlace(elem32(out, ir.Get(i)), irtest.Load(cell(ir.Get(i), irtest.Int(3)))),
		irtest.SetPlace(elem32(out, irtest.Add(ir.Get(i), irtest.Int(4))), irtest.Load(irtest.Elem(row, ir.Get(i)))),
		irtest.SetPlace(elem32(out, irtest.Add(ir.Get(i), irtest.Int(8))), irtest.To(ir.TInt32, irtest.Add(irtest.Len(row), &ir.Cap{X: ir.Get(row)}))),
	)
	k := irtest.Kernel("arrays", []*ir.Local{out}, []*ir.Local{i, j, grid, row, p}, body...)
	same(t, k, 4, irtest.SliceValue(ir.TInt32, 12))
	if m := emit(t, k); !strings.Contains(m.Text, "st.local.u32") || strings.Contains(m.Text, "\tst.u32") || m.LocalBytes != 80 {
		t.Errorf("local accesses are not in the local space, or %d bytes of local memory are not 80\n%s", m.LocalBytes, m.Text)
	}
}

func TestConstantPartsOfIndicesAreFoldedIntoOffsets(t *testing.T) {
	for _, typ := range []*ir.Type{ir.TInt32, ir.TInt, ir.TUint32, ir.TInt8} {
		t.Run(typ.String(), func(t *testing.T) {
			in, out, i := irtest.Local("in", ir.SliceOf(ir.TInt32)), irtest.Local("out", ir.SliceOf(ir.TInt32)), irtest.Local("i", typ)
			c := func(v int64) ir.Expr { return ir.IntConst(typ, v) }
			sum := irtest.Add(irtest.Add(
				irtest.Load(irtest.Elem(in, irtest.Sub(ir.Get(i), c(1)))),
				irtest.Load(irtest.Elem(in, irtest.Add(c(2), ir.Get(i))))),
				irtest.Load(irtest.Elem(in, irtest.Add(ir.Get(i), c(-3)))))
			k := irtest.Kernel("stencil", []*ir.Local{in, out}, []*ir.Local{i},
				irtest.Set(i, irtest.Add(irtest.To(typ, irtest.Thread(ir.ThreadIdxX)), c(3))),
				irtest.SetPlace(irtest.Elem(out, irtest.Sub(ir.Get(i), c(3))), sum))
			args := func() []irtest.Value {
				return []irtest.Value{int32s(70, func(i int) int64 { return int64(i * i) }), irtest.SliceValue(ir.TInt32, 64)}
			}
			same(t, k, 64, args()...)
			k.Limits = ir.Limits{{X: &ir.Sym{Op: ir.SymArg, Value: 0}, Max: 1 << 30}, {X: &ir.Sym{Op: ir.SymArg, Value: 1}, Max: 1 << 30}}
			same(t, k, 64, args()...)
			if typ == ir.TInt32 {
				for _, want := range []string{"+8]", "+-4]", "+-12]", "setp.ge.u32"} {
					if text := emit(t, k).Text; !strings.Contains(text, want) {
						t.Errorf("no %q in\n%s", want, text)
					}
				}
			}
		})
	}
}

func TestAnIndexThatWrapsIsNotFolded(t *testing.T) {
	// uint32 arithmetic may wrap into the slice: -2 + 3 is 1.
	in, out, i := irtest.Local("in", ir.SliceOf(ir.TInt32)), irtest.Local("out", ir.SliceOf(ir.TInt32)), irtest.Local("i", ir.TUint32)
	k := irtest.Kernel("wraps", []*ir.Local{in, out}, []*ir.Local{i},
		irtest.Set(i, irtest.Sub(irtest.To(ir.TUint32, irtest.Thread(ir.ThreadIdxX)), ir.IntConst(ir.TUint32, 2))),
		irtest.SetPlace(irtest.Elem(out, irtest.Thread(ir.ThreadIdxX)), irtest.Load(irtest.Elem(in, irtest.Add(ir.Get(i), ir.IntConst(ir.TUint32, 3))))))
	same(t, k, 4, ints(1, 2, 3, 4, 5, 6), irtest.SliceValue(ir.TInt32, 4))
}

func TestPointersToSeveralSpacesAreGeneric(t *testing.T) {
	out, i := irtest.Local("out", ir.SliceOf(ir.TInt32)), irtest.Local("i", ir.TInt)
	own := irtest.Local("own", ir.TInt32)
	shared := &ir.SharedVar{Name: "tile", Type: ir.ArrayOf(8, ir.TInt32)}
	p, q := irtest.Local("p", ir.PointerTo(ir.TInt32)), irtest.Local("q", ir.PointerTo(ir.TInt32))
	odd := irtest.Op(irtest.Op(ir.Get(i), ir.And, irtest.Int(1)), ir.Ne, irtest.Int(0))
	same(t, &ir.Kernel{Name: "generic", Shared: []*ir.SharedVar{shared}, Func: irtest.Func("generic", []*ir.Local{out}, nil, []*ir.Local{i, own, p, q},
		irtest.Body(tid(i), irtest.Set(own, ir.IntConst(ir.TInt32, 5)),
			irtest.SetPlace(irtest.Index(irtest.Shared(shared), ir.Get(i)), ir.IntConst(ir.TInt32, 70)),
			irtest.Set(q, irtest.Addr(irtest.Index(irtest.Shared(shared), ir.Get(i)))),
			irtest.Else(irtest.If(odd, irtest.Set(p, irtest.Addr(irtest.Var(own)))), irtest.Set(p, ir.Get(q))),
			irtest.If(irtest.Op(ir.Get(i), ir.Eq, irtest.Int(6)), irtest.Set(p, irtest.Addr(irtest.Elem(out, irtest.Int(6))))),
			irtest.SetPlace(irtest.Deref(p), irtest.Add(irtest.Load(irtest.Deref(p)), ir.IntConst(ir.TInt32, 1))),
			irtest.SetPlace(elem32(out, ir.Get(i)), irtest.Add(ir.Get(own), irtest.Load(irtest.Index(irtest.Shared(shared), ir.Get(i))))),
			irtest.If(irtest.Op(irtest.Op(ir.Get(p), ir.Eq, ir.Get(q)), ir.LAnd, irtest.Op(ir.Get(q), ir.Ne, &ir.Zero{T: q.Type})),
				irtest.SetPlace(elem32(out, ir.Get(i)), ir.IntConst(ir.TInt32, -1))),
		)...)}, 8, irtest.SliceValue(ir.TInt32, 8))
}

func TestSlicesInMemoryHoldGenericAddresses(t *testing.T) {
	in, out := irtest.Local("in", ir.SliceOf(ir.TInt32)), irtest.Local("out", ir.SliceOf(ir.TInt32))
	i, j := irtest.Local("i", ir.TInt), irtest.Local("j", ir.TInt)
	parts := irtest.Local("parts", ir.ArrayOf(2, ir.SliceOf(ir.TInt32)))
	part := func(e ir.Expr) ir.Place { return irtest.Index(irtest.Var(parts), e) }
	chosen := irtest.Local("chosen", ir.SliceOf(ir.TInt32))
	same(t, irtest.Kernel("slices", []*ir.Local{in, out}, []*ir.Local{i, j, parts, chosen}, irtest.Body(tid(i),
		irtest.SetPlace(part(irtest.Int(0)), ir.Get(in)),
		irtest.SetPlace(part(irtest.Int(1)), &ir.SliceExpr{T: in.Type, X: ir.Get(in), Lo: ir.Get(i), Hi: irtest.Int(6), Max: irtest.Int(7), Check: true}),
		irtest.Set(j, irtest.Op(ir.Get(i), ir.Rem, irtest.Int(2))),
		irtest.Set(chosen, irtest.Load(part(ir.Get(j)))),
		irtest.SetPlace(elem32(out, ir.Get(i)), irtest.Load(irtest.Elem(chosen, irtest.Int(0)))),
		irtest.SetPlace(elem32(out, irtest.Add(ir.Get(i), irtest.Int(4))), irtest.To(ir.TInt32, irtest.Len(chosen))),
		irtest.Set(chosen, &ir.Select{Cond: irtest.Lt(ir.Get(i), irtest.Int(2)), X: ir.Get(chosen), Y: &ir.Zero{T: chosen.Type}}),
		irtest.SetPlace(elem32(out, irtest.Add(ir.Get(i), irtest.Int(8))), irtest.To(ir.TInt32, &ir.Cap{X: ir.Get(chosen)})),
	)...), 4, int32s(8, func(i int) int64 { return int64(10 * i) }), irtest.SliceValue(ir.TInt32, 12))
}

func TestReassignedSliceParametersKeepTheirParts(t *testing.T) {
	in, out, i := irtest.Local("in", ir.SliceOf(ir.TFloat64)), irtest.Local("out", ir.SliceOf(ir.TFloat64)), irtest.Local("i", ir.TInt)
	same(t, irtest.Kernel("reassigned", []*ir.Local{in, out}, []*ir.Local{i}, irtest.Body(tid(i),
		irtest.If(irtest.Op(ir.Get(i), ir.Gt, irtest.Int(1)), irtest.Set(in, &ir.SliceExpr{T: in.Type, X: ir.Get(in), Lo: irtest.Int(2), Check: true})),
		irtest.SetPlace(irtest.Elem(out, ir.Get(i)), irtest.Add(irtest.Load(irtest.Elem(in, irtest.Int(0))), irtest.To(ir.TFloat64, irtest.Len(in)))),
	)...), 4, values([]irtest.Value{irtest.FloatValue(1), irtest.FloatValue(2), irtest.FloatValue(4)}), irtest.SliceValue(ir.TFloat64, 4))
}

func TestTablesAreReadAndConstantElementsFolded(t *testing.T) {
	table := &ir.Table{Name: "example.com/filter.weights", Type: ir.ArrayOf(4, ir.TFloat32)}
	for _, v := range []float64{0.5, 1.5, -2, 8} {
		table.Data = encode(table.Data, ir.TFloat32, []irtest.Value{irtest.FloatValue(v)})
	}
	bytes := &ir.Table{Name: "bytes", Type: ir.ArrayOf(3, ir.TUint8), Data: []byte{1, 2, 255}}
	out, i := irtest.Local("out", ir.SliceOf(ir.TFloat32)), irtest.Local("i", ir.TInt)
	at := func(e ir.Expr) ir.Expr { return irtest.Load(irtest.Index(&ir.TablePlace{Table: table}, e)) }
	k := irtest.Kernel("tables", []*ir.Local{out}, []*ir.Local{i}, irtest.Body(tid(i),
		irtest.SetPlace(irtest.Elem(out, ir.Get(i)), irtest.Add(at(ir.Get(i)), at(irtest.Int(2)))),
		irtest.SetPlace(irtest.Elem(out, irtest.Add(ir.Get(i), irtest.Int(3))), irtest.To(ir.TFloat32, irtest.Load(irtest.Index(&ir.TablePlace{Table: bytes}, ir.Get(i))))),
	)...)
	k.Tables = []*ir.Table{table, bytes}
	same(t, k, 3, irtest.SliceValue(ir.TFloat32, 6))
	if text := emit(t, k).Text; !strings.Contains(text, "0fC0000000") || strings.Count(text, "ld.global.nc.f32") != 1 {
		t.Errorf("the constant element is not an immediate\n%s", text)
	}
}
