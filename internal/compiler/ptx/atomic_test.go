package ptx

import (
	"strings"
	"testing"

	"quern.dev/internal/compiler/ir"
	"quern.dev/internal/compiler/ir/irtest"
)

func TestAtomicOperationsChangeMemoryAndReturnTheOldValue(t *testing.T) {
	for _, typ := range []*ir.Type{ir.TInt32, ir.TUint32, ir.TInt64, ir.TUint64, ir.TInt, ir.TUint} {
		for op := ir.AtomicAdd; op <= ir.AtomicCompareAndSwap; op++ {
			s, old, out := irtest.Local("s", ir.SliceOf(typ)), irtest.Local("old", typ), irtest.Local("out", ir.SliceOf(typ))
			i := irtest.Local("i", ir.TInt)
			args := []ir.Expr{ir.IntConst(typ, -3)}
			if op == ir.AtomicCompareAndSwap {
				args = []ir.Expr{ir.IntConst(typ, 2), irtest.To(typ, ir.Get(i))}
			}
			k := irtest.Kernel("atomics", []*ir.Local{s, out}, []*ir.Local{i, old}, tid(i),
				&ir.Atomic{Dst: old, Op: op, Place: irtest.Elem(s, ir.Get(i)), Args: args},
				irtest.SetPlace(irtest.Elem(out, ir.Get(i)), ir.Get(old)),
				&ir.Atomic{Op: op, Place: irtest.Elem(s, irtest.Add(ir.Get(i), irtest.Int(4))), Args: []ir.Expr{irtest.To(typ, ir.Get(i)), ir.IntConst(typ, 9)}[:len(args)]})
			start := make([]irtest.Value, 8)
			for n, v := range []int64{5, 2, -7, 0, 0, 1, -2, 100} {
				start[n] = irtest.Value{Bits: ir.WrapBits(typ.Kind, uint64(v))}
			}
			same(t, k, 4, values(start), irtest.SliceValue(typ, 4))
		}
	}
}

func TestFloatAtomicsAddAndExchange(t *testing.T) {
	for _, c := range []struct {
		typ    *ir.Type
		target string
	}{{ir.TFloat32, "sm_50"}, {ir.TFloat64, "sm_60"}} {
		s, old, i := irtest.Local("s", ir.SliceOf(c.typ)), irtest.Local("old", c.typ), irtest.Local("i", ir.TInt)
		k := irtest.Kernel("floats", []*ir.Local{s}, []*ir.Local{i, old}, tid(i),
			&ir.Atomic{Op: ir.AtomicAdd, Place: irtest.Elem(s, ir.Get(i)), Args: []ir.Expr{ir.FloatConst(c.typ, 1.5)}},
			&ir.Atomic{Dst: old, Op: ir.AtomicSub, Place: irtest.Elem(s, ir.Get(i)), Args: []ir.Expr{ir.FloatConst(c.typ, 4)}},
			&ir.Atomic{Dst: old, Op: ir.AtomicExchange, Place: irtest.Elem(s, irtest.Add(ir.Get(i), irtest.Int(2))), Args: []ir.Expr{ir.Get(old)}},
			&ir.Atomic{Op: ir.AtomicExchange, Place: irtest.Elem(s, irtest.Add(ir.Get(i), irtest.Int(4))), Args: []ir.Expr{ir.Get(old)}})
		same(t, k, 2, values([]irtest.Value{irtest.FloatValue(1), irtest.FloatValue(2), irtest.FloatValue(3), irtest.FloatValue(4), irtest.FloatValue(5), irtest.FloatValue(6)}))
		if m := emit(t, k); m.Target != c.target || !strings.Contains(m.Text, ".target "+c.target+"\n") {
			t.Errorf("%s: target %s, want %s", c.typ, m.Target, c.target)
		}
	}
}

func TestUnsupportedAtomicsAreErrors(t *testing.T) {
	local := irtest.Local("v", ir.TInt32)
	place := func(typ *ir.Type) (*ir.Local, ir.Place) {
		s := irtest.Local("s", ir.SliceOf(typ))
		return s, irtest.Elem(s, irtest.Int(0))
	}
	s16, e16 := place(ir.TInt16)
	s32, e32 := place(ir.TFloat32)
	for _, c := range []struct {
		name string
		k    *ir.Kernel
		want string
	}{
		{"an integer of 16 bits", irtest.Kernel("k", []*ir.Local{s16}, nil, &ir.Atomic{Op: ir.AtomicAdd, Place: e16, Args: []ir.Expr{ir.IntConst(ir.TInt16, 1)}, Pos: pos(3)}), "kernel.go:3:2: kernel k: no atomic operation of this kind on int16"},
		{"the union of floats", irtest.Kernel("k", []*ir.Local{s32}, nil, &ir.Atomic{Op: ir.AtomicOr, Place: e32, Args: []ir.Expr{irtest.F32(1)}, Pos: pos(4)}), "kernel.go:4:2: kernel k: no atomic operation of this kind on float32"},
		{"a variable of one thread", irtest.Kernel("k", nil, []*ir.Local{local}, irtest.Set(local, ir.IntConst(ir.TInt32, 0)),
			irtest.SetPlace(irtest.Var(local), ir.IntConst(ir.TInt32, 0)),
			&ir.Check{Place: &ir.DerefPlace{Ptr: irtest.Addr(irtest.Var(local))}},
			&ir.Atomic{Op: ir.AtomicAdd, Place: irtest.Var(local), Args: []ir.Expr{ir.IntConst(ir.TInt32, 1)}, Pos: pos(5)}), "kernel.go:5:2: kernel k: atomic operation on a variable that belongs to one thread"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Emit(c.k, Options{})
			if err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("error %v, want %s", err, c.want)
			}
		})
	}
}

func TestThreadsOfABlockCountTogether(t *testing.T) {
	// A histogram in shared memory, then in global memory.
	in, out := irtest.Local("in", ir.SliceOf(ir.TUint8)), irtest.Local("out", ir.SliceOf(ir.TUint32))
	bins := &ir.SharedVar{Name: "bins", Type: ir.ArrayOf(32, ir.TUint32)}
	i := irtest.Local("i", ir.TInt32)
	shared := func(e ir.Expr) ir.Place { return irtest.Index(irtest.Shared(bins), e) }
	k := irtest.Kernel("histogram", []*ir.Local{in, out}, []*ir.Local{i},
		irtest.Set(i, irtest.To(ir.TInt32, irtest.Thread(ir.ThreadIdxX))),
		irtest.If(irtest.Lt(ir.Get(i), ir.IntConst(ir.TInt32, 32)), irtest.SetPlace(shared(ir.Get(i)), ir.IntConst(ir.TUint32, 0))),
		&ir.Barrier{},
		&ir.Atomic{Op: ir.AtomicAdd, Place: shared(irtest.Load(irtest.Elem(in, ir.Get(i)))), Args: []ir.Expr{ir.IntConst(ir.TUint32, 1)}},
		&ir.Barrier{}, &ir.Fence{},
		irtest.If(irtest.Lt(ir.Get(i), ir.IntConst(ir.TInt32, 32)),
			&ir.Atomic{Op: ir.AtomicAdd, Place: irtest.Elem(out, ir.Get(i)), Args: []ir.Expr{irtest.Load(shared(ir.Get(i)))}}))
	k.Shared = []*ir.SharedVar{bins}
	m := emit(t, k)
	d := newDevice(t, k, []irtest.Value{int32s(128, func(i int) int64 { return int64(i * i % 32) }), int32s(32, func(int) int64 { return 10 })})
	if r := d.launch(m, 128); r.failed {
		t.Fatalf("fault %+v", r)
	}
	want := make([]uint64, 32)
	for i := range 128 {
		want[i*i%32]++
	}
	for i, v := range decode(nil, ir.ArrayOf(32, ir.TUint32), d.read(d.buffers[1], 128)) {
		if v.Bits != want[i]+10 {
			t.Errorf("bin %d holds %d, want %d", i, v.Bits, want[i]+10)
		}
	}
	if m.SharedBytes != 128 || !strings.Contains(m.Text, "red.shared.add.u32") {
		t.Errorf("%d bytes of shared memory, want 128, or no reduction in shared memory\n%s", m.SharedBytes, m.Text)
	}
}
