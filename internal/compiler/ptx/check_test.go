package ptx

import (
	"reflect"
	"testing"

	"quern.dev/internal/compiler/ir"
	"quern.dev/internal/compiler/ir/irtest"
)

func TestFailedChecksAreRecorded(t *testing.T) {
	s, n := irtest.Local("s", ir.SliceOf(ir.TInt)), irtest.Local("n", ir.TInt)
	array, p := irtest.Local("array", ir.ArrayOf(4, ir.TInt)), irtest.Local("p", ir.PointerTo(ir.TInt))
	element := func(i ir.Expr) ir.Place { return &ir.ElemPlace{Slice: ir.Get(s), Index: i, Check: true, Pos: pos(10)} }
	slice := func(x ir.Expr, lo, hi, max ir.Expr) ir.Stmt {
		return irtest.Set(s, &ir.SliceExpr{T: s.Type, X: x, Lo: lo, Hi: hi, Max: max, Check: true, Pos: pos(11)})
	}
	binary := func(op ir.BinaryOp, x, y ir.Expr) ir.Stmt {
		return irtest.SetPlace(irtest.Elem(s, irtest.Int(0)), &ir.Binary{Op: op, X: x, Y: y, Check: true, Pos: pos(12)})
	}
	narrow := func() ir.Expr { return irtest.To(ir.TInt32, ir.Get(n)) }
	for _, c := range []struct {
		name          string
		n             int64
		body          ir.Stmt
		kind          SiteKind
		index, length int64
	}{
		{"an index equal to the length", 8, irtest.SetPlace(element(ir.Get(n)), irtest.Int(1)), IndexSite, 8, 8},
		{"a negative index", -1, irtest.SetPlace(element(ir.Get(n)), irtest.Int(1)), IndexSite, -1, 8},
		{"a negative index of 32 bits", -3, irtest.SetPlace(element(narrow()), irtest.Int(1)), IndexSite, -3, 8},
		{"an index of 8 bits", 200, irtest.SetPlace(element(irtest.To(ir.TUint8, ir.Get(n))), irtest.Int(1)), IndexSite, 200, 8},
		{"an index with a constant part", 6, irtest.SetPlace(element(irtest.Add(narrow(), ir.IntConst(ir.TInt32, 2))), irtest.Int(1)), IndexSite, 8, 8},
		{"a load", 9, irtest.Set(n, irtest.Load(element(ir.Get(n)))), IndexSite, 9, 8},
		{"a check alone", 9, &ir.Check{Place: element(ir.Get(n))}, IndexSite, 9, 8},
		{"an address", 9, &ir.Check{Place: &ir.DerefPlace{Ptr: irtest.Addr(element(ir.Get(n)))}}, IndexSite, 9, 8},
		{"a constant index", 0, irtest.SetPlace(element(irtest.Int(8)), irtest.Int(1)), IndexSite, 8, 8},
		{"an array index", 4, irtest.SetPlace(&ir.IndexPlace{X: irtest.Var(array), Index: ir.Get(n), Check: true, Pos: pos(10)}, irtest.Int(1)), IndexSite, 4, 4},
		{"a constant array index", 0, irtest.SetPlace(&ir.IndexPlace{X: irtest.Var(array), Index: irtest.Int(5), Check: true, Pos: pos(10)}, irtest.Int(1)), IndexSite, 5, 4},
		{"a slice beyond the capacity", 9, slice(ir.Get(s), nil, ir.Get(n), nil), SliceSite, 9, 8},
		{"a slice below its start", 6, slice(ir.Get(s), ir.Get(n), irtest.Int(5), nil), SliceSite, 6, 5},
		{"a slice with a negative start", -2, slice(ir.Get(s), ir.Get(n), nil, nil), SliceSite, -2, 8},
		{"a limit beyond the capacity", 9, slice(ir.Get(s), irtest.Int(0), irtest.Int(1), ir.Get(n)), SliceSite, 9, 8},
		{"an end beyond the limit", 7, slice(ir.Get(s), irtest.Int(0), ir.Get(n), irtest.Int(6)), SliceSite, 7, 6},
		{"a slice of an array", 5, irtest.Set(s, &ir.SliceExpr{T: s.Type, Array: irtest.Var(array), Hi: ir.Get(n), Check: true, Pos: pos(11)}), SliceSite, 5, 4},
		{"a division by zero", 0, binary(ir.Div, irtest.Int(7), ir.Get(n)), DivideSite, 0, 0},
		{"a remainder by constant zero", 0, binary(ir.Rem, ir.Get(n), irtest.Int(0)), DivideSite, 0, 0},
		{"a negative shift count", -5, binary(ir.Shl, irtest.Int(7), ir.Get(n)), ShiftSite, -5, 0},
		{"a negative shift count of 32 bits", -6, binary(ir.Shr, irtest.Int(7), narrow()), ShiftSite, -6, 0},
		{"a constant negative shift count", -8, &ir.Assign{Dst: irtest.Elem(s, irtest.Int(0)), Src: &ir.Binary{Op: ir.Shl, X: ir.Get(n), Y: irtest.Int(-8), Check: true, Pos: pos(12)}}, ShiftSite, -8, 0},
		{"a shift count that a conversion makes negative", -7, binary(ir.Shr, irtest.Int(7), irtest.To(ir.TInt, irtest.To(ir.TUint64, ir.Get(n)))), ShiftSite, -7, 0},
		{"a nil pointer", 0, &ir.Check{Place: &ir.DerefPlace{Ptr: ir.Get(p), Check: true, Pos: pos(14)}}, NilSite, 0, 0},
		{"a pointer that is always nil", 0, irtest.Set(n, irtest.Load(&ir.DerefPlace{Ptr: &ir.Zero{T: p.Type}, Check: true, Pos: pos(14)})), NilSite, 0, 0},
		{"a pointer to memory of the thread that is nil", 9, irtest.Set(n, irtest.Load(&ir.DerefPlace{Ptr: &ir.Select{
			Cond: irtest.Lt(ir.Get(n), irtest.Int(5)), X: irtest.Addr(irtest.Index(irtest.Var(array), irtest.Int(1))), Y: ir.Get(p)}, Check: true, Pos: pos(14)})), NilSite, 0, 0},
		{"a panic", 0, &ir.Panic{Reason: "impossible", Pos: pos(13)}, PanicSite, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := irtest.Kernel("fails", []*ir.Local{s, n}, []*ir.Local{array, p}, irtest.Set(p, &ir.Zero{T: p.Type}),
				irtest.SetPlace(irtest.Elem(s, irtest.Int(1)), irtest.Int(5)), c.body, irtest.SetPlace(irtest.Elem(s, irtest.Int(0)), irtest.Int(99)))
			m := emit(t, k)
			d := newDevice(t, k, []irtest.Value{ints(1, 2, 3, 4, 5, 6, 7, 8), irtest.IntValue(c.n)})
			got := d.launch(m, 1)
			want := faultRecord{failed: true, site: got.site, kernel: kernelNumber, index: c.index, length: c.length}
			if got != want || m.Sites[got.site].Kind != c.kind {
				t.Fatalf("record %+v of kind %s, want %+v of kind %s\n%s", got, m.Sites[got.site].Kind, want, c.kind, m.Text)
			}
			if contents := d.read(d.buffers[0], 16); contents[0] != 1 || contents[8] != 5 {
				t.Errorf("the slice starts with %v: want the store before the fault and not the one after", contents)
			}
		})
	}
}

func TestOnlyTheThreadThatFailsStops(t *testing.T) {
	s, i := irtest.Local("s", ir.SliceOf(ir.TInt32)), irtest.Local("i", ir.TInt)
	k := irtest.Kernel("half", []*ir.Local{s}, []*ir.Local{i}, tid(i),
		irtest.SetPlace(&ir.ElemPlace{Slice: ir.Get(s), Index: irtest.Mul(ir.Get(i), irtest.Int(2)), Check: true, Pos: pos(4)}, ir.IntConst(ir.TInt32, 1)),
		&ir.Barrier{},
		irtest.SetPlace(&ir.ElemPlace{Slice: ir.Get(s), Index: irtest.Add(irtest.Mul(ir.Get(i), irtest.Int(2)), irtest.Int(1)), Check: true, Pos: pos(5)}, ir.IntConst(ir.TInt32, 2)))
	m := emit(t, k)
	d := newDevice(t, k, []irtest.Value{irtest.SliceValue(ir.TInt32, 7)})
	r := d.launch(m, 6)
	site := m.Sites[r.site]
	if !r.failed || site.Line != 4 || r.thread[0] < 4 || r.index != 2*int64(r.thread[0]) || r.length != 7 {
		t.Errorf("record %+v at %+v, want index 8 or 10 of 7 in line 4", r, site)
	}
	got := decode(nil, ir.ArrayOf(7, ir.TInt32), d.read(d.buffers[0], 28))
	for j, v := range got {
		if want := uint64(1 + j%2); v.Bits != want {
			t.Errorf("element %d is %d, want %d", j, v.Bits, want)
		}
	}
}

func TestEqualSitesShareANumber(t *testing.T) {
	s := irtest.Local("s", ir.SliceOf(ir.TInt))
	at := func(line int, i int64) ir.Stmt {
		return irtest.SetPlace(&ir.ElemPlace{Slice: ir.Get(s), Index: irtest.Int(i), Check: true, Pos: pos(line)}, irtest.Int(0))
	}
	m := emit(t, irtest.Kernel("sites", []*ir.Local{s}, nil, at(1, 0), at(1, 1), at(2, 2), &ir.Panic{Reason: "end", Pos: pos(3)}))
	want := []Site{{IndexSite, "kernel.go", 1, 2, ""}, {IndexSite, "kernel.go", 2, 2, ""}, {PanicSite, "kernel.go", 3, 2, "end"}}
	if !reflect.DeepEqual(m.Sites, want) {
		t.Errorf("sites %v, want %v", m.Sites, want)
	}
}
