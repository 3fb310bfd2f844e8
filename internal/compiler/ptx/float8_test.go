package ptx

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"quern.dev/internal/compiler/ir"
	"quern.dev/internal/compiler/ir/irtest"
	"quern.dev/internal/mma"
	"quern.dev/internal/ptxas"
)

// Products of 8-bit floats are the same on devices that have the instruction and on those that
// convert the factors to float16: A and B contain every value.
func TestProductsOfFloat8OnAllDevices(t *testing.T) {
	formats := []mma.Format{mma.E4M3, mma.E5M2}
	for _, fa := range formats {
		for _, fb := range formats {
			for _, target := range []int{0, 80} {
				t.Run(fmt.Sprintf("formats %d and %d, target %d", fa, fb, target), func(t *testing.T) { testFloat8(t, fa, fb, target) })
			}
		}
	}
}

func testFloat8(t *testing.T, fa, fb mma.Format, target int) {
	op, _ := ir.MMA(fa, fb)
	in, out := irtest.Local("in", ir.SliceOf(ir.TUint32)), irtest.Local("out", ir.SliceOf(ir.TFloat32))
	i := irtest.Local("i", ir.TInt)
	product := &ir.Warp{Op: op}
	locals := []*ir.Local{i}
	body := []ir.Stmt{irtest.Set(i, irtest.Thread(ir.ThreadIdxX)), product}
	for w := range 6 {
		product.Args = append(product.Args, irtest.Load(irtest.Elem(in, irtest.Add(irtest.Mul(ir.Get(i), irtest.Int(6)), irtest.Int(int64(w))))))
	}
	for e := range 4 {
		sum := irtest.Local(fmt.Sprintf("sum%d", e), ir.TFloat32)
		locals = append(locals, sum)
		product.Dst = append(product.Dst, sum)
		product.Args = append(product.Args, irtest.F32(0))
		body = append(body, irtest.SetPlace(irtest.Elem(out, irtest.Add(irtest.Mul(ir.Get(i), irtest.Int(4)), irtest.Int(int64(e)))), ir.Get(sum)))
	}
	k := irtest.Kernel("product", []*ir.Local{in, out}, locals, body...)
	k.Options.Block = [3]int{32}
	m, err := Emit(k, Options{Target: target})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ptxas.Find(); err == nil {
		if _, err := ptxas.Assemble(m.Text, "sm_90"); err != nil {
			t.Error(err)
		}
	}

	var a mma.A
	var b mma.B
	order := rand.New(rand.NewPCG(3, 4)).Perm(512)
	cells := make([]irtest.Value, 6*32)
	for lane := range 32 {
		for w := range 6 {
			word := uint32(0)
			for j := range 4 {
				v := uint32(order[lane*16+w%4*4+j]) & 0xff
				if w >= 4 || lane%4 != 0 { // so that some sums are numbers
					v &= 0xbb
				}
				word |= v << (8 * j)
			}
			cells[lane*6+w] = irtest.Value{Bits: uint64(word)}
			if w < 4 {
				a[lane][w] = word
			} else {
				b[lane][w-4] = word
			}
		}
	}
	d := newDevice(t, k, []irtest.Value{values(cells), irtest.SliceValue(ir.TFloat32, 4*32)})
	if r := d.launch(m, 32); r.failed {
		t.Fatalf("fault %v", m.Sites[r.site])
	}
	got := decode(nil, ir.ArrayOf(4*32, ir.TFloat32), d.read(d.buffers[1], 4*4*32))
	var want mma.C[float32]
	mma.Multiply(fa, fb, &a, &b, &want)
	numbers := 0
	for lane := range want {
		for e, w := range want[lane] {
			x, y := math.Float64frombits(got[lane*4+e].Bits), float64(w)
			if x == x && !math.IsInf(x, 0) {
				numbers++
			}
			if !(math.Abs(x-y) <= 1e-5*math.Abs(y)) && !(x != x && y != y) && x != y {
				t.Fatalf("element %d of lane %d is %v, want %v\n%s", e, lane, x, y, m.Text)
			}
		}
	}
	t.Logf("%d of 128 sums are numbers", numbers)
}
