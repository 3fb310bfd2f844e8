package ir_test

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"

	"quern.dev/internal/compiler/ir"
)

func TestIntrinsicsAreDeclaredInFull(t *testing.T) {
	names, calls := map[string]bool{}, map[string]bool{}
	for _, op := range ir.Intrinsics {
		if op.Name == "" || op.Args == 0 || op.Class == nil || names[op.Name] {
			t.Errorf("%q lacks a name, arguments or their class, or has another's name", op.Name)
		}
		names[op.Name] = true
		for _, call := range op.Calls {
			if calls[call] {
				t.Errorf("%s is two intrinsics", call)
			}
			calls[call] = true
		}
		if op.Approximate && op.Fold == nil {
			t.Errorf("%s is approximate, and nothing says of what", op.Name)
		}
		if op.Rounds && op.Range == nil {
			t.Errorf("%s rounds no range", op.Name)
		}
	}
	for _, c := range []struct {
		path, name string
		want       *ir.IntrinsicOp
	}{
		{"math/bits", "ReverseBytes", ir.ReverseBytes},
		{"math/bits", "ReverseBytes16", ir.ReverseBytes},
		{"math/bits", "Len64", nil},
		{"math", "FMA", ir.FMA},
		{"math", "Log2", nil},
		{"quern.dev/kernel", "FMA", ir.FMA},
	} {
		if got := ir.IntrinsicFunction(c.path, c.name); got != c.want {
			t.Errorf("%s.%s is %v, want %v", c.path, c.name, got, c.want)
		}
	}
}

// Folding computes what Go's own functions return, in each width.
func TestIntrinsicsOfConstantsAreWhatGoComputes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	word := func(t *ir.Type, v uint64) *ir.Const { return &ir.Const{T: t, Bits: ir.WrapBits(t.Kind, v)} }
	words := map[*ir.IntrinsicOp][4]func(v uint64, k int) uint64{
		ir.LeadingZeros: {
			func(v uint64, _ int) uint64 { return uint64(bits.LeadingZeros8(uint8(v))) },
			func(v uint64, _ int) uint64 { return uint64(bits.LeadingZeros16(uint16(v))) },
			func(v uint64, _ int) uint64 { return uint64(bits.LeadingZeros32(uint32(v))) },
			func(v uint64, _ int) uint64 { return uint64(bits.LeadingZeros64(v)) },
		},
		ir.TrailingZeros: {
			func(v uint64, _ int) uint64 { return uint64(bits.TrailingZeros8(uint8(v))) },
			func(v uint64, _ int) uint64 { return uint64(bits.TrailingZeros16(uint16(v))) },
			func(v uint64, _ int) uint64 { return uint64(bits.TrailingZeros32(uint32(v))) },
			func(v uint64, _ int) uint64 { return uint64(bits.TrailingZeros64(v)) },
		},
		ir.OnesCount: {
			func(v uint64, _ int) uint64 { return uint64(bits.OnesCount8(uint8(v))) },
			func(v uint64, _ int) uint64 { return uint64(bits.OnesCount16(uint16(v))) },
			func(v uint64, _ int) uint64 { return uint64(bits.OnesCount32(uint32(v))) },
			func(v uint64, _ int) uint64 { return uint64(bits.OnesCount64(v)) },
		},
		ir.ReverseBits: {
			func(v uint64, _ int) uint64 { return uint64(bits.Reverse8(uint8(v))) },
			func(v uint64, _ int) uint64 { return uint64(bits.Reverse16(uint16(v))) },
			func(v uint64, _ int) uint64 { return uint64(bits.Reverse32(uint32(v))) },
			func(v uint64, _ int) uint64 { return bits.Reverse64(v) },
		},
		ir.ReverseBytes: {
			func(v uint64, _ int) uint64 { return uint64(uint8(v)) },
			func(v uint64, _ int) uint64 { return uint64(bits.ReverseBytes16(uint16(v))) },
			func(v uint64, _ int) uint64 { return uint64(bits.ReverseBytes32(uint32(v))) },
			func(v uint64, _ int) uint64 { return bits.ReverseBytes64(v) },
		},
		ir.RotateLeft: {
			func(v uint64, k int) uint64 { return uint64(bits.RotateLeft8(uint8(v), k)) },
			func(v uint64, k int) uint64 { return uint64(bits.RotateLeft16(uint16(v), k)) },
			func(v uint64, k int) uint64 { return uint64(bits.RotateLeft32(uint32(v), k)) },
			func(v uint64, k int) uint64 { return bits.RotateLeft64(v, k) },
		},
	}
	types := [4][2]*ir.Type{{ir.TUint8, ir.TInt8}, {ir.TUint16, ir.TInt16}, {ir.TUint32, ir.TInt32}, {ir.TUint64, ir.TInt64}}
	for op, functions := range words {
		for i, want := range functions {
			for _, typ := range types[i] {
				for range 100 {
					v, k := r.Uint64()>>r.IntN(65), r.IntN(200)-100
					result := typ
					if op.Result == ir.BitCount {
						result = ir.TInt
					}
					args := []*ir.Const{word(typ, v), word(ir.TInt, uint64(k))}[:op.Args]
					if got, want := op.Fold(result, args), word(result, want(v, k)); *got != *want {
						t.Errorf("%s of %s: got %s, want %s", op, args[0], got, want)
					}
				}
			}
		}
	}
	for range 100 {
		x, y := r.Uint64()>>r.IntN(65), r.Uint64()>>r.IntN(65)
		hi, _ := bits.Mul64(x, y)
		if got := ir.MulHi.Fold(ir.TUint64, []*ir.Const{word(ir.TUint64, x), word(ir.TUint64, y)}); got.Bits != hi {
			t.Errorf("mulHi of %d and %d: got %d, want %d", x, y, got.Bits, hi)
		}
		if got, want := ir.MulHi.Fold(ir.TUint32, []*ir.Const{word(ir.TUint32, x), word(ir.TUint32, y)}), uint64(uint32(x))*uint64(uint32(y))>>32; got.Bits != want {
			t.Errorf("mulHi of %d and %d: got %d, want %d", uint32(x), uint32(y), got.Bits, want)
		}
		for _, typ := range []*ir.Type{ir.TInt32, ir.TUint32} {
			a, b := word(typ, x), word(typ, y)
			least, most := min(int32(x), int32(y)), max(int32(x), int32(y))
			wantMin, wantMax := word(typ, uint64(least)), word(typ, uint64(most))
			if typ == ir.TUint32 {
				wantMin, wantMax = word(typ, uint64(min(uint32(x), uint32(y)))), word(typ, uint64(max(uint32(x), uint32(y))))
			}
			if got := ir.Min.Fold(typ, []*ir.Const{a, b}); *got != *wantMin {
				t.Errorf("min of %s and %s: got %s, want %s", a, b, got, wantMin)
			}
			if got := ir.Max.Fold(typ, []*ir.Const{a, b}); *got != *wantMax {
				t.Errorf("max of %s and %s: got %s, want %s", a, b, got, wantMax)
			}
		}
	}

	floats := map[*ir.IntrinsicOp]func(x []float64) float64{
		ir.Sqrt:        func(x []float64) float64 { return math.Sqrt(x[0]) },
		ir.Abs:         func(x []float64) float64 { return math.Abs(x[0]) },
		ir.Floor:       func(x []float64) float64 { return math.Floor(x[0]) },
		ir.Ceil:        func(x []float64) float64 { return math.Ceil(x[0]) },
		ir.Trunc:       func(x []float64) float64 { return math.Trunc(x[0]) },
		ir.RoundToEven: func(x []float64) float64 { return math.RoundToEven(x[0]) },
		ir.Copysign:    func(x []float64) float64 { return math.Copysign(x[0], x[1]) },
		ir.Min:         func(x []float64) float64 { return min(x[0], x[1]) },
		ir.Max:         func(x []float64) float64 { return max(x[0], x[1]) },
		ir.FMA:         func(x []float64) float64 { return math.FMA(x[0], x[1], x[2]) },
	}
	special := []float64{0, math.Copysign(0, -1), 0.5, -2.5, 1e300, math.Inf(1), math.Inf(-1), math.NaN()}
	for op, want := range floats {
		for range 200 {
			var x []float64
			var args []*ir.Const
			for range op.Args {
				v := r.NormFloat64() * 10
				if r.IntN(3) == 0 {
					v = special[r.IntN(len(special))]
				}
				x, args = append(x, v), append(args, &ir.Const{T: ir.TFloat64, Float: v})
			}
			got := op.Fold(ir.TFloat64, args).Float
			if w := want(x); math.Float64bits(got) != math.Float64bits(w) && !(got != got && w != w) {
				t.Errorf("%s of %v: got %v, want %v", op, x, got, w)
			}
			if op.Range == nil {
				continue
			}
			var r []ir.Interval
			finite := true
			for _, v := range x {
				r = append(r, ir.Interval{Low: v, High: v + 1})
				finite = finite && math.Abs(v) < 1e100
			}
			if in := op.Range(r); finite && got == got && !(in.Low <= got && got <= in.High || op.Rounds) {
				t.Errorf("%s of %v is %v, outside of %v", op, x, got, in)
			}
		}
	}
}

func TestBitcastsKeepBits(t *testing.T) {
	cast := func(from, to *ir.Type, x ir.Const) *ir.Const { x.T = from; return ir.Bitcast.Fold(to, []*ir.Const{&x}) }
	if got := cast(ir.TFloat32, ir.TUint32, ir.Const{Float: 1.5}); got.Bits != uint64(math.Float32bits(1.5)) {
		t.Errorf("the bits of 1.5 are %#x", got.Bits)
	}
	if got := cast(ir.TUint64, ir.TFloat64, ir.Const{Bits: math.Float64bits(-3)}); got.Float != -3 {
		t.Errorf("the float of the bits of -3 is %v", got.Float)
	}
	if got := cast(ir.TInt16, ir.TFloat16, ir.Const{Bits: math.MaxUint64}); got.Bits != 0xFFFF {
		t.Errorf("the 16-bit float of -1 has the bits %#x", got.Bits)
	}
	if got := cast(ir.TFloat32, ir.TUint32, ir.Const{Float: math.NaN()}); got != nil {
		t.Errorf("the payload of a NaN is %#x, want it left open", got.Bits)
	}
}
