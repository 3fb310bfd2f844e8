package ptx

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"quern.dev/internal/compiler/ir"
	"quern.dev/internal/compiler/ir/irtest"
	"quern.dev/internal/ptxas"
)

// Results are rounded once, both on devices that have the instructions and on those
// that do not.
func TestHalvesAreRoundedOnceOnAllDevices(t *testing.T) {
	const threads = 1024
	random := rand.New(rand.NewPCG(1, 2))
	bits16 := func() irtest.Value {
		v := random.Uint32() & 0xffff
		switch random.IntN(4) {
		case 0:
			v &= 0x83ff // near zero
		case 1:
			v |= 0x7f80 // large, infinite or NaN
		}
		return irtest.Value{Bits: uint64(v)}
	}
	fill := func(next func() irtest.Value) irtest.Value {
		cells := make([]irtest.Value, threads)
		for i := range cells {
			cells[i] = next()
		}
		return values(cells)
	}
	// Numbers at, just above and just below the middle of two neighbours.
	near := func(single bool) func() irtest.Value {
		return func() irtest.Value {
			v := math.Float64frombits(uint64(random.Uint32())<<32 | 1<<44)
			if random.IntN(2) == 0 {
				v = math.Ldexp(float64(random.IntN(1<<10)|1)+float64(random.IntN(3)-1)*1e-13, random.IntN(280)-150)
			}
			if single {
				v = float64(float32(v) * (1 + float32(random.IntN(3)-1)*0x1p-23))
			}
			return floatValue(v)
		}
	}
	for _, half := range []*ir.Type{ir.TFloat16, ir.TBFloat16} {
		params := []*ir.Local{
			irtest.Local("f", ir.SliceOf(ir.TFloat32)), irtest.Local("d", ir.SliceOf(ir.TFloat64)),
			irtest.Local("x", ir.SliceOf(half)), irtest.Local("y", ir.SliceOf(half)), irtest.Local("z", ir.SliceOf(half)),
		}
		inputs := []irtest.Value{fill(near(true)), fill(near(false)), fill(bits16), fill(bits16), fill(bits16)}
		i := irtest.Local("i", ir.TInt)
		in := func(p int) ir.Expr { return irtest.Load(irtest.Elem(params[p], ir.Get(i))) }
		wide := func(p int) ir.Expr { return irtest.To(ir.TFloat32, in(p)) }
		results := []ir.Expr{
			irtest.To(half, in(0)), irtest.To(half, in(1)),
			irtest.To(half, irtest.Add(wide(2), wide(3))), irtest.To(half, irtest.Sub(wide(2), wide(3))),
			irtest.To(half, irtest.Mul(wide(2), wide(3))), irtest.To(half, irtest.Op(wide(2), ir.Div, wide(3))),
			irtest.To(half, irtest.Mul(wide(2), irtest.F32(1.5))),
			&ir.Intrinsic{Op: ir.FMA, T: half, Args: []ir.Expr{in(2), in(3), in(4)}},
			&ir.Intrinsic{Op: ir.Bitcast, T: half, Args: []ir.Expr{&ir.Intrinsic{Op: ir.Bitcast, T: ir.TUint16, Args: []ir.Expr{in(2)}}}},
		}
		body := []ir.Stmt{irtest.Set(i, irtest.Thread(ir.ThreadIdxX))}
		for n, e := range results {
			out := irtest.Local(fmt.Sprintf("out%d", n), ir.SliceOf(half))
			params = append(params, out)
			body = append(body, irtest.SetPlace(irtest.Elem(out, ir.Get(i)), e))
		}
		for _, p := range []int{2, 0} { // and exactly the middle again
			for _, wide := range []*ir.Type{ir.TFloat32, ir.TFloat64} {
				out := irtest.Local("wide_"+wide.String(), ir.SliceOf(wide))
				params = append(params, out)
				x := in(p)
				if p == 0 {
					x = irtest.To(half, x)
				}
				body = append(body, irtest.SetPlace(irtest.Elem(out, ir.Get(i)), irtest.To(wide, x)))
			}
		}
		k := irtest.Kernel("halves", params, []*ir.Local{i}, body...)
		for _, target := range []int{0, 50} {
			t.Run(fmt.Sprintf("%s target %d", half.Kind, target), func(t *testing.T) {
				if err := ir.Verify(k, ir.StageFinal); err != nil {
					t.Fatal(err)
				}
				m, err := Emit(k, Options{Target: target})
				if err != nil {
					t.Fatal(err)
				}
				if _, err := ptxas.Find(); err == nil {
					if _, err := ptxas.Assemble(m.Text, "sm_90"); err != nil {
						t.Error(err)
					}
				}
				args := append([]irtest.Value{}, inputs...)
				for _, p := range params[len(inputs):] {
					args = append(args, irtest.SliceValue(p.Type.Elem, threads))
				}
				d := newDevice(t, k, args)
				if r := d.launch(m, threads); r.failed {
					t.Fatalf("fault %v", m.Sites[r.site])
				}
				for n := range threads {
					if err := irtest.Run(k, irtest.Coordinates{ir.ThreadIdxX: int64(n)}, args...); err != nil {
						t.Fatal(err)
					}
				}
				d.compare(m)
			})
		}
	}
}
