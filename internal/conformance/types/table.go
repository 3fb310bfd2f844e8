package types

import (
	"math"

	"quern.dev/kernel"
)

// stage is an element of a table of structs.
type stage struct {
	Gain  float32
	Taps  [3]int16
	Phase complex64
	Scale kernel.Float16
	Shift kernel.Vec2[int8]
}

const base = 1 << 3

// stages is a table of structs with omitted elements and fields.
var stages = [6]stage{
	{Gain: 0.5, Taps: [3]int16{1, -2, 3}, Phase: 1 + 2i, Scale: kernel.ToFloat16(0.1), Shift: kernel.V2[int8](1, -1)},
	2: {Gain: math.Pi * base, Taps: [...]int16{2: base + 1}, Phase: 1i, Scale: kernel.ToFloat16(3)},
	{1, [3]int16{base, base * 2, base * 4}, complex(3, -4), kernel.Float16FromBits(0x7bff), kernel.Vec2[int8]{X: 'a', Y: 7}},
}

// matrix is an array of arrays.
var matrix = [3][4]float64{{1, 2, 3, 4}, {math.Sqrt2, math.E}, {2: 1e-300, 3: -math.MaxFloat64}}

// weights has 16-bit elements.
var weights = [8]kernel.BFloat16{kernel.ToBFloat16(1), kernel.ToBFloat16(-0.25), kernel.ToBFloat16(uint64(1<<63 + 1<<55 + 1)), 7: kernel.ToBFloat16(1e-40)}

// roots has complex elements.
var roots = [...]complex128{1, 1i, -1, -1i}

// bias is a single number, mask a single struct.
var (
	bias = int32(-7 * base)
	mask = struct{ Low, High uint16 }{0xff, 1 << 15}
)

// lookups reads tables at indices that are uniform in a warp, and at others.
//
//quern:kernel
func lookups(t kernel.Thread, n int, out []float64, z []complex128) {
	i := t.Global()
	if i >= len(out) || i >= len(z) {
		return
	}
	sum := float64(bias) + float64(mask.Low) - float64(mask.High)
	for k := range n { // uniform
		s := stages[k%6]
		sum += float64(s.Gain)*float64(s.Taps[k%3]) + s.Scale.Float64() + float64(s.Shift.Y)
		sum += matrix[k%3][k%4]
		z[i] += roots[k%4] * complex128(s.Phase)
	}
	w := weights[i%8] // divergent
	out[i] = sum*1e-3 + w.Float64() + matrix[i%3][(i+1)%4]
}
