package language

import (
	"math"
	"slices"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
	"quern.dev/kernel"
)

func launch(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func halves(x ...float64) []kernel.Float16 {
	out := make([]kernel.Float16, len(x))
	for i := range x {
		out[i] = kernel.ToFloat16(x[i])
	}
	return out
}

func TestHalves(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		s := d.DefaultStream()
		y := gputest.Upload(t, d, halves(2048, 0.5, math.Inf(1)))
		launch(t, LaunchAddHalves(s, gpu.Linear(3), gputest.Upload(t, d, halves(1, 0.25, 3)), y))
		// 2049 is halfway between two numbers of 11 bits.
		if got, want := gputest.Download(t, d, y), halves(2048, 0.75, math.Inf(1)); !slices.Equal(got, want) {
			t.Errorf("sums = %v, want %v", got, want)
		}

		row := [64]kernel.BFloat16{}
		for i := range row {
			row[i] = kernel.ToBFloat16(3)
		}
		out := gputest.Upload(t, d, make([]kernel.BFloat16, 1))
		launch(t, LaunchNorm(s, gpu.Linear(1), gputest.Upload(t, d, [][64]kernel.BFloat16{row}), out))
		if got := gputest.Download(t, d, out)[0]; got != kernel.ToBFloat16(24) {
			t.Errorf("norm = %v, want 24", got)
		}

		x := gputest.Upload(t, d, halves(math.NaN(), -9, 2, 100))
		launch(t, LaunchLimitHalves(s, gpu.Linear(4), kernel.ToFloat16(5), x))
		if got, want := gputest.Download(t, d, x), halves(0, -5, 2, 5); !slices.Equal(got, want) {
			t.Errorf("limited = %v, want %v", got, want)
		}

		launch(t, LaunchScaleAny(s, gpu.Linear(4), 0.5, x))
		if got, want := gputest.Download(t, d, x), halves(0, -2.5, 1, 2.5); !slices.Equal(got, want) {
			t.Errorf("scaled = %v, want %v", got, want)
		}
		f := gputest.Upload(t, d, []float32{3, -4})
		launch(t, LaunchScaleAny(s, gpu.Linear(2), 0.5, f))
		if got := gputest.Download(t, d, f); !slices.Equal(got, []float32{1.5, -2}) {
			t.Errorf("scaled = %v, want [1.5 -2]", got)
		}
	})
}

func TestComplexNumbers(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		s := d.DefaultStream()
		steps := gputest.Upload(t, d, make([]int32, 3))
		launch(t, LaunchJulia(s, gpu.Linear(3), -1, gputest.Upload(t, d, []complex128{0, 2i, 1.7}), steps))
		if got := gputest.Download(t, d, steps); !slices.Equal(got, []int32{100, 1, 2}) {
			t.Errorf("steps = %v, want [100 1 2]", got)
		}
		z := gputest.Upload(t, d, []complex64{1, 0})
		launch(t, LaunchImpedance(s, gpu.Linear(2), 1, z))
		if got := gputest.Download(t, d, z); !slices.Equal(got, []complex64{0.5 - 0.5i, 0}) {
			t.Errorf("impedance = %v, want [(0.5-0.5i) (0+0i)]", got)
		}
	})
}

func TestVectors(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		s := d.DefaultStream()
		position := gputest.Upload(t, d, []kernel.Vec4[float32]{kernel.V4[float32](1, 2, 3, 0)})
		velocity := gputest.Upload(t, d, []kernel.Vec4[float32]{kernel.V4[float32](10, 20, 30, 0)})
		launch(t, LaunchPush(s, gpu.Linear(1), 0.5, position, velocity))
		if got, want := gputest.Download(t, d, position)[0], kernel.V4[float32](6, 12, 18, 0); got != want {
			t.Errorf("position = %v, want %v", got, want)
		}
		out := gputest.Upload(t, d, make([]float32, 2))
		normals := gputest.Upload(t, d, []kernel.Vec3[float32]{kernel.V3[float32](0, 4, 0), kernel.V3[float32](0, -1, 0)})
		launch(t, LaunchShade(s, gpu.Linear(2), kernel.V3[float32](0, 1, 0), normals, out))
		if got := gputest.Download(t, d, out); !slices.Equal(got, []float32{1, 0}) {
			t.Errorf("light = %v, want [1 0]", got)
		}
	})
}

func TestStructsAndArrays(t *testing.T) {
	var row [4]sample
	for k := range row {
		row[k] = sample{Valid: k != 3, Counts: [3]uint16{2: uint16(k)}}
		row[k].Range.High = float64(k * k)
	}
	want := row[2]
	want.Counts[2]++
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		out := gputest.Upload(t, d, make([]sample, 1))
		launch(t, LaunchWidest(d.DefaultStream(), gpu.Linear(1), gputest.Upload(t, d, [][4]sample{row}), out))
		if got := gputest.Download(t, d, out)[0]; got != want {
			t.Errorf("widest = %+v, want %+v", got, want)
		}
	})
}

func TestTables(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		out := gputest.Upload(t, d, make([]float32, 7))
		launch(t, LaunchFilter(d.DefaultStream(), gpu.Linear(7), 2, gputest.Upload(t, d, []float32{0, 0, 16, 0, 0, 0, 0}), out))
		tenth := kernel.ToFloat16(0.1).Float32()
		if got, want := gputest.Download(t, d, out), []float32{0, 0, 6 * tenth, 4 * tenth, kernel.ToFloat16(math.Sqrt2).Float32(), 0, 0}; !slices.Equal(got, want) {
			t.Errorf("filtered = %v, want %v", got, want)
		}
	})
}

func TestQuantize(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		out := gputest.Upload(t, d, make([]kernel.Float8E4M3, 4))
		if err := LaunchQuantize(d.DefaultStream(), gpu.Linear(4), 0.5, gputest.Upload(t, d, []float32{1, -100, 1e6, 0}), out); err != nil {
			t.Fatal(err)
		}
		for i, want := range []float32{2, -192, 448, 0} {
			if got := gputest.Download(t, d, out)[i].Float32(); got != want {
				t.Errorf("element %d is %v, want %v", i, got, want)
			}
		}
	})
}
