package host

import (
	"fmt"
	"math"
	"testing"

	"quern.dev/kernel"
)

func checkConversion[To kernel.Integer, From kernel.Float](t *testing.T, convert func(From) To) {
	t.Helper()
	for bits := -2; bits <= 70; bits++ {
		limit := math.Ldexp(1, bits)
		for _, x := range []float64{limit - 1, limit - 0.5, limit, limit + 0.5, limit + 1, math.Nextafter(limit, 0), 1.37 * limit, math.Inf(1), math.NaN()} {
			for _, x := range []From{From(x), From(-x), From(math.Nextafter32(float32(x), 0))} {
				if got, want := convert(x), kernel.ToInteger[To](x); got != want {
					t.Errorf("%T(%T(%v)) is %d, want %d", got, x, x, got, want)
				}
			}
		}
	}
}

func TestConversionsAgreeWithToInteger(t *testing.T) {
	checkConversion(t, Narrow[int8, float32])
	checkConversion(t, Narrow[int8, float64])
	checkConversion(t, Narrow[uint8, float32])
	checkConversion(t, Narrow[uint8, float64])
	checkConversion(t, Narrow[int16, float32])
	checkConversion(t, Narrow[int16, float64])
	checkConversion(t, Narrow[uint16, float32])
	checkConversion(t, Narrow[uint16, float64])
	checkConversion(t, Narrow[int32, float32])
	checkConversion(t, Narrow[int32, float64])
	checkConversion(t, Narrow[uint32, float32])
	checkConversion(t, Narrow[uint32, float64])
	checkConversion(t, Int64[int, float32])
	checkConversion(t, Int64[int64, float64])
	checkConversion(t, Uint64[uint, float32])
	checkConversion(t, Uint64[uint64, float64])
}

// BenchmarkConversion compares the conversions with Go's own.
func BenchmarkConversion(b *testing.B) {
	in, bytes, words := make([]float32, 4096), make([]uint8, 4096), make([]int, 4096)
	for i := range in {
		in[i] = float32(i) / 17
	}
	for _, c := range []struct {
		name string
		loop func()
	}{
		{"uint8 Go", func() {
			for i, x := range in {
				bytes[i] = uint8(x)
			}
		}},
		{"uint8", func() {
			for i, x := range in {
				bytes[i] = Narrow[uint8](x)
			}
		}},
		{"int Go", func() {
			for i, x := range in {
				words[i] = int(x)
			}
		}},
		{"int", func() {
			for i, x := range in {
				words[i] = Int64[int](x)
			}
		}},
	} {
		b.Run(fmt.Sprint(c.name), func(b *testing.B) {
			b.SetBytes(int64(4 * len(in)))
			for b.Loop() {
				c.loop()
			}
		})
	}
}
