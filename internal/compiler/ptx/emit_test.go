package ptx

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"quern.dev/internal/compiler/ir"
	"quern.dev/internal/compiler/ir/irtest"
	"quern.dev/internal/ptxas"
	"quern.dev/internal/testmodule"
)

var update = flag.Bool("update", false, "write golden files")

// saxpy returns y[i] += a*x[i] in the form of the narrow variant.
func saxpy() *ir.Kernel {
	a, x, y := irtest.Local("a", ir.TFloat32), irtest.Local("x", ir.SliceOf(ir.TFloat32)), irtest.Local("y", ir.SliceOf(ir.TFloat32))
	i := irtest.Local("i", ir.TInt32)
	low := func(e ir.Expr) ir.Expr { return irtest.To(ir.TInt32, e) }
	at := func(s *ir.Local, check bool) ir.Place {
		return &ir.ElemPlace{Slice: ir.Get(s), Index: ir.Get(i), Check: check, Pos: ir.Pos{File: "saxpy.go", Line: 16, Col: 15}}
	}
	k := irtest.Kernel("saxpy", []*ir.Local{a, x, y}, []*ir.Local{i},
		&ir.Assign{Dst: irtest.Var(i), Src: irtest.Add(irtest.Mul(low(irtest.Thread(ir.BlockIdxX)), low(irtest.Thread(ir.BlockDimX))), low(irtest.Thread(ir.ThreadIdxX))),
			Pos: ir.Pos{File: "saxpy.go", Line: 15, Col: 5}},
		&ir.If{Cond: irtest.Lt(ir.Get(i), low(irtest.Len(y))), Pos: ir.Pos{File: "saxpy.go", Line: 15, Col: 2}, Then: []ir.Stmt{
			&ir.Assign{Dst: at(y, false), Pos: ir.Pos{File: "saxpy.go", Line: 16, Col: 3},
				Src: &ir.Intrinsic{Op: ir.FMA, T: ir.TFloat32, Args: []ir.Expr{ir.Get(a), irtest.Load(at(x, true)), irtest.Load(at(y, false))}}}}})
	k.Limits = ir.Limits{{X: &ir.Sym{Op: ir.SymArg, Value: 1}, Max: 1<<31 - 1}, {X: &ir.Sym{Op: ir.SymArg, Value: 2}, Max: 1<<31 - 1}}
	return k
}

// matmul returns c = a*b for square matrices in 16x16 tiles.
func matmul() *ir.Kernel {
	const tile = 16
	n := irtest.Local("n", ir.TInt32)
	a, b, c := irtest.Local("a", ir.SliceOf(ir.TFloat32)), irtest.Local("b", ir.SliceOf(ir.TFloat32)), irtest.Local("c", ir.SliceOf(ir.TFloat32))
	square := ir.ArrayOf(tile, ir.ArrayOf(tile, ir.TFloat32))
	as, bs := &ir.SharedVar{Name: "as", Type: square}, &ir.SharedVar{Name: "bs", Type: square, ID: 1}
	tx, ty := irtest.Local("tx", ir.TInt32), irtest.Local("ty", ir.TInt32)
	row, col := irtest.Local("row", ir.TInt32), irtest.Local("col", ir.TInt32)
	k0, k, sum := irtest.Local("k0", ir.TInt32), irtest.Local("k", ir.TInt32), irtest.Local("sum", ir.TFloat32)
	low := func(e ir.Expr) ir.Expr { return irtest.To(ir.TInt32, e) }
	i32 := func(v int64) ir.Expr { return ir.IntConst(ir.TInt32, v) }
	shared := func(s *ir.SharedVar, i, j ir.Expr) ir.Place {
		return &ir.IndexPlace{X: &ir.IndexPlace{X: irtest.Shared(s), Index: i}, Index: j}
	}
	at := func(s, i *ir.Local, j ir.Expr) ir.Place {
		return irtest.Elem(s, irtest.Add(irtest.Mul(ir.Get(i), ir.Get(n)), j))
	}
	kern := irtest.Kernel("matmul", []*ir.Local{n, a, b, c}, []*ir.Local{tx, ty, row, col, k0, k, sum}, irtest.Body(
		irtest.Set(tx, low(irtest.Thread(ir.ThreadIdxX))), irtest.Set(ty, low(irtest.Thread(ir.ThreadIdxY))),
		irtest.Set(row, irtest.Add(irtest.Mul(low(irtest.Thread(ir.BlockIdxY)), i32(tile)), ir.Get(ty))),
		irtest.Set(col, irtest.Add(irtest.Mul(low(irtest.Thread(ir.BlockIdxX)), i32(tile)), ir.Get(tx))),
		irtest.Set(sum, irtest.F32(0)), irtest.Set(k0, i32(0)),
		&ir.Loop{Label: &ir.Label{}, Cond: irtest.Lt(ir.Get(k0), ir.Get(n)), Post: []ir.Stmt{irtest.Set(k0, irtest.Add(ir.Get(k0), i32(tile)))}, Body: irtest.Body(
			irtest.SetPlace(shared(as, ir.Get(ty), ir.Get(tx)), irtest.Load(at(a, row, irtest.Add(ir.Get(k0), ir.Get(tx))))),
			irtest.SetPlace(shared(bs, ir.Get(ty), ir.Get(tx)), irtest.Load(irtest.Elem(b, irtest.Add(irtest.Mul(irtest.Add(ir.Get(k0), ir.Get(ty)), ir.Get(n)), ir.Get(col))))),
			&ir.Barrier{},
			irtest.For(k, i32(0), i32(tile), irtest.Set(sum, &ir.Intrinsic{Op: ir.FMA, T: ir.TFloat32, Args: []ir.Expr{
				irtest.Load(shared(as, ir.Get(ty), ir.Get(k))), irtest.Load(shared(bs, ir.Get(k), ir.Get(tx))), ir.Get(sum)}})),
			&ir.Barrier{},
		)},
		irtest.SetPlace(at(c, row, ir.Get(col)), ir.Get(sum)),
	)...)
	kern.Shared = []*ir.SharedVar{as, bs}
	kern.Options.Block = [3]int{tile, tile, 1}
	return kern
}

func TestEmittedTextMatchesItsGolden(t *testing.T) {
	testmodule.NeedSource(t)
	for _, k := range []*ir.Kernel{saxpy(), matmul()} {
		m := emit(t, k, ptxas.Architectures...)
		golden := filepath.Join("testdata", k.Name+".ptx")
		if *update {
			if err := os.WriteFile(golden, []byte(m.Text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if m.Text != string(want) {
			t.Errorf("%s differs from %s; run with -update to accept\n%s", k.Name, golden, m.Text)
		}
	}
}

func TestATiledProductNeedsNoWideArithmeticInItsLoop(t *testing.T) {
	m := emit(t, matmul())
	start, end := strings.Index(m.Text, "bar.sync"), strings.LastIndex(m.Text, "bar.sync")
	if loop := m.Text[start:end]; strings.Contains(loop, "%rd") {
		t.Errorf("64-bit instructions between the barriers:\n%s", loop)
	}
	if m.SharedBytes != 2*16*16*4 || !strings.Contains(m.Text, ".reqntid 16, 16, 1\n") {
		t.Errorf("%d bytes of shared memory, want 2048, or no block size\n%s", m.SharedBytes, m.Text)
	}
}

func TestTheSameKernelGivesTheSameText(t *testing.T) {
	first := emit(t, matmul()).Text
	for range 10 {
		m, err := Emit(matmul(), Options{})
		if err != nil || m.Text != first {
			t.Fatalf("error %v or another text", err)
		}
	}
}

func TestEmitLeavesTheKernelAlone(t *testing.T) {
	k := matmul()
	before := k.String()
	emit(t, k)
	if k.String() != before {
		t.Errorf("the kernel changed to\n%s", k)
	}
}

func TestLinesAreOmittedOnRequest(t *testing.T) {
	m, err := Emit(saxpy(), Options{OmitLines: true})
	if err != nil || strings.Contains(m.Text, ".loc") || strings.Contains(m.Text, ".file") {
		t.Errorf("error %v or lines in\n%s", err, m.Text)
	}
}

func TestNamesBecomePTXIdentifiers(t *testing.T) {
	s := irtest.Local("größe", ir.SliceOf(ir.TInt))
	tile := &ir.SharedVar{Name: "add", Type: ir.ArrayOf(4, ir.TInt)}
	names := []*ir.Local{s, irtest.Local("größe", ir.TInt), irtest.Local("add", ir.TInt), irtest.Local("_", ir.TInt), irtest.Local("", ir.TInt),
		irtest.Local("WARP_SZ", ir.TInt), irtest.Local("quern_fault", ir.TInt), irtest.Local("mov", ir.TInt), irtest.Local("x_len", ir.TInt), irtest.Local("x", ir.SliceOf(ir.TInt))}
	body := []ir.Stmt{irtest.SetPlace(irtest.Index(irtest.Shared(tile), irtest.Int(0)), irtest.Int(1))}
	for _, p := range names[1:] {
		e := ir.Get(p)
		if p.Type.Kind == ir.Slice {
			e = irtest.Len(p)
		}
		body = append(body, irtest.SetPlace(irtest.Elem(s, irtest.Int(0)), e))
	}
	body = append(body, &ir.Panic{Reason: "größer", Pos: ir.Pos{File: "größe.go", Line: 1, Col: 1}})
	k := irtest.Kernel("add[float32]", names, nil, body...)
	k.Shared = []*ir.SharedVar{tile}
	m := emit(t, k)
	if m.Entry != "add_float32" {
		t.Errorf("entry %q", m.Entry)
	}
	seen := map[string]bool{}
	for _, p := range regexp.MustCompile(`(?m)\.param \.u64 (\w+)`).FindAllStringSubmatch(m.Text, -1) {
		if seen[p[1]] {
			t.Errorf("parameter %s twice", p[1])
		}
		seen[p[1]] = true
	}
}

func TestKernelsThatAreNotFinalAreErrors(t *testing.T) {
	s := irtest.Local("s", ir.ArrayOf(2, ir.TInt))
	empty := irtest.Local("empty", ir.StructOf("kernel.Empty"))
	label := &ir.Label{Name: "gone"}
	half, most := irtest.Local("half", ir.ArrayOf(256<<10, ir.TUint8)), irtest.Local("most", ir.ArrayOf(256<<10+1, ir.TUint8))
	element := func(v *ir.Local) ir.Stmt {
		return irtest.SetPlace(&ir.IndexPlace{X: irtest.Var(v), Index: &ir.ThreadValue{Op: ir.ThreadIdxX}}, ir.IntConst(ir.TUint8, 1))
	}
	for _, c := range []struct {
		name string
		k    *ir.Kernel
		want string
	}{
		{"a call", irtest.Kernel("k", nil, nil, &ir.Call{Func: irtest.Func("f", nil, nil, nil), Pos: pos(1)}), "kernel.go:1:2: kernel k: call of f was not inlined"},
		{"an array assigned as a whole", irtest.Kernel("k", nil, []*ir.Local{s}, &ir.Assign{Dst: irtest.Var(s), Src: &ir.Zero{T: s.Type}, Pos: pos(2)}), "kernel.go:2:2: kernel k: assignment of type [2]int as a whole"},
		{"a parameter without a size", irtest.Kernel("k", []*ir.Local{empty}, nil), "kernel k: parameter empty has no size"},
		{"variables beyond local memory", irtest.Kernel("k", nil, []*ir.Local{half, most}, element(half), element(most)), "kernel k: the kernel's variables take 524289 bytes of local memory; a thread has at most 524288; use slice parameters"},
		{"a jump to nowhere", irtest.Kernel("k", nil, nil, &ir.Break{Label: label}), "kernel k: jump to label gone, which encloses nothing"},
		{"a foreign variable", irtest.Kernel("k", nil, nil, irtest.Set(irtest.Local("x", ir.TInt), irtest.Int(1))), "kernel k: variable x is not the kernel's"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Emit(c.k, Options{})
			if err == nil || err.Error() != c.want {
				t.Errorf("error %v, want %s", err, c.want)
			}
		})
	}
}

func TestStrictOperationsAreNotContracted(t *testing.T) {
	s, a, b := irtest.Local("s", ir.SliceOf(ir.TFloat32)), irtest.Local("a", ir.TFloat32), irtest.Local("b", ir.TFloat32)
	set := func(e ir.Expr) ir.Stmt { return irtest.SetPlace(irtest.Elem(s, irtest.Int(0)), e) }
	strict := func(x ir.Expr, op ir.BinaryOp, y ir.Expr) ir.Expr {
		return &ir.Binary{Op: op, X: x, Y: y, Strict: true}
	}
	product := func() ir.Expr { return irtest.Mul(ir.Get(a), ir.Get(b)) }
	for _, c := range []struct {
		name string
		expr ir.Expr
		want []string
	}{
		{"an ordinary product and sum", irtest.Add(product(), ir.Get(a)), []string{"\tmul.f32", "\tadd.f32"}},
		{"strict operations", strict(strict(ir.Get(a), ir.Mul, ir.Get(b)), ir.Add, ir.Get(a)), []string{"\tmul.rn.f32", "\tadd.rn.f32"}},
		{"an explicit conversion", irtest.Sub(irtest.To(ir.TFloat32, product()), ir.Get(a)), []string{"\tmul.rn.f32", "\tsub.rn.f32"}},
		{"a division", irtest.Op(product(), ir.Div, ir.Get(a)), []string{"\tdiv.rn.f32"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := emit(t, irtest.Kernel("k", []*ir.Local{s, a, b}, nil, set(c.expr))).Text
			for _, want := range c.want {
				if !strings.Contains(text, want) {
					t.Errorf("no %q in\n%s", want, text)
				}
			}
		})
	}
}

func TestCoordinatesComeFromTheThread(t *testing.T) {
	s := irtest.Local("s", ir.SliceOf(ir.TInt))
	var body []ir.Stmt
	for op := ir.ThreadIdxX; op <= ir.WarpID; op++ {
		body = append(body, irtest.SetPlace(irtest.Elem(s, irtest.Add(irtest.Mul(irtest.Thread(ir.ThreadIdxX), irtest.Int(16)), irtest.Int(int64(op)))), irtest.Thread(op)))
	}
	same(t, irtest.Kernel("coordinates", []*ir.Local{s}, nil, body...), 64, irtest.SliceValue(ir.TInt, 64*16))
}

func BenchmarkEmit(b *testing.B) {
	k := matmul()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Emit(k, Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
