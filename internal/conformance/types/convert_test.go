package types

import (
	"fmt"
	"math"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
	"quern.dev/internal/conformance/types/levels"
	"quern.dev/kernel"
)

// limits returns floats near the limits of all integer types.
func limits[F kernel.Float]() []F {
	list := []F{F(math.NaN()), F(math.Inf(1)), F(math.Inf(-1)), 0, 0.5, 0.999, 1e10, 1e30, F(math.MaxFloat32), 1e-40}
	for bits := 7; bits <= 64; bits++ {
		limit := math.Ldexp(1, bits)
		for _, x := range []float64{limit - 1, limit - 0.5, limit, limit + 0.5, limit + 1, math.Nextafter(limit, 0), float64(math.Nextafter32(float32(limit), 0)), 1.3 * limit} {
			list = append(list, F(x))
		}
	}
	for _, x := range list {
		list = append(list, -x)
	}
	return list
}

func conversions[From float32 | float64, To int8 | uint8 | int16 | uint16 | int32 | uint32 | int64 | uint64 | int | uint](t *testing.T) {
	x := limits[From]()
	want := make([]To, len(x))
	for i := range x {
		want[i] = kernel.ToInteger[To](x[i])
	}
	t.Run(fmt.Sprintf("%T to %T", x[0], want[0]), func(t *testing.T) {
		gputest.Each(t, func(t *testing.T, d *gpu.Device) {
			in := gputest.Upload(t, d, x)
			var out [3]*gpu.Buffer[To]
			for i := range out {
				out[i] = gputest.Upload(t, d, make([]To, len(x)))
			}
			launched(t, LaunchToIntegers(d.DefaultStream(), blocks(len(x)), in, out[0], out[1], out[2]))
			for i, what := range []string{"direct", "called", "asked"} {
				for j, got := range gputest.Download(t, d, out[i]) {
					if got != want[j] {
						t.Errorf("%s: %v becomes %d, want %d", what, x[j], got, want[j])
					}
				}
			}
		})
	})
}

func TestFloatToIntegerSaturates(t *testing.T) {
	conversions[float32, int8](t)
	conversions[float32, uint8](t)
	conversions[float32, int16](t)
	conversions[float32, uint16](t)
	conversions[float32, int32](t)
	conversions[float32, uint32](t)
	conversions[float32, int64](t)
	conversions[float32, uint64](t)
	conversions[float32, int](t)
	conversions[float32, uint](t)
	conversions[float64, int8](t)
	conversions[float64, uint8](t)
	conversions[float64, int16](t)
	conversions[float64, uint16](t)
	conversions[float64, int32](t)
	conversions[float64, uint32](t)
	conversions[float64, int64](t)
	conversions[float64, uint64](t)
	conversions[float64, int](t)
	conversions[float64, uint](t)
}

func TestConversionsInFunctionsSaturate(t *testing.T) {
	x := limits[float32]()
	n := len(x)
	levelsOf, packed, bytes := make([][2]level, n), make([]uint32, n), make([]uint8, n)
	shorts, tiny, words := make([]int16, n), make([]int8, n), make([]int32, 6*n)
	for i, x := range x {
		levelsOf[i] = [2]level{kernel.ToInteger[level](x), kernel.ToInteger[level](255 * x)}
		packed[i] = uint32(levelsOf[i][0])<<8 | 1
		if levelsOf[i][1] > 200 {
			high := kernel.ToInteger[int8](x * 1e6)
			packed[i] = uint32(levelsOf[i][0]) + uint32(high)
		}
		bytes[i], shorts[i] = kernel.ToInteger[uint8](x), kernel.ToInteger[int16](2*x)
		tiny[i] = levels.NewGauge(3).Level(x)
		words[6*i], words[6*i+1], words[6*i+2] = math.MaxInt32, kernel.ToInteger[int32](x), math.MinInt32
		words[6*i+3] = kernel.ToInteger[int32](kernel.ToFloat16(x).Float64() * 1e6)
		words[6*i+4] = kernel.ToInteger[int32](x * x)
		words[6*i+5] = int32(uint8(kernel.ToInteger[int32](x))) + int32(uint8(i))/2
	}
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		dx, dl, dp := gputest.Upload(t, d, x), gputest.Upload(t, d, make([][2]level, n)), gputest.Upload(t, d, make([]uint32, n))
		db, ds, dt := gputest.Upload(t, d, make([]uint8, n)), gputest.Upload(t, d, make([]int16, n)), gputest.Upload(t, d, make([]int8, n))
		dw := gputest.Upload(t, d, make([]int32, 6*n))
		launched(t, LaunchToLevels(d.DefaultStream(), blocks(n), dx, dl, dp, db, ds, dt, dw))
		expect(t, "levels", gputest.Download(t, d, dl), levelsOf)
		expect(t, "packed", gputest.Download(t, d, dp), packed)
		expect(t, "bytes", gputest.Download(t, d, db), bytes)
		expect(t, "shorts", gputest.Download(t, d, ds), shorts)
		expect(t, "tiny", gputest.Download(t, d, dt), tiny)
		expect(t, "words", gputest.Download(t, d, dw), words)
	})
}
