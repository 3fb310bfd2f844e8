package generic

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
	"quern.dev/kernel"
)

// agree runs body as plain Go and launch on every device, each on a copy of x, and
// compares the results.
func agree[T comparable](t *testing.T, grid, block kernel.Dim3, x []T, body func(t kernel.Thread, x []T), launch func(s *gpu.Stream, g gpu.Grid, x *gpu.Buffer[T]) error) {
	t.Helper()
	want := slices.Clone(x)
	kernel.Each(grid, block, func(th kernel.Thread) { body(th, want) })
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		b := gputest.Upload(t, d, x)
		if err := launch(d.DefaultStream(), gpu.Blocks(grid, block), b); err != nil {
			t.Fatal(err)
		}
		got := gputest.Download(t, d, b)
		for i := range want {
			if got[i] != want[i] {
				t.Fatalf("element %d is %v, want %v", i, got[i], want[i])
			}
		}
	})
}

func dim(x int) kernel.Dim3 { return kernel.Dim3{X: x, Y: 1, Z: 1} }

func numbers[T kernel.Number](n int) []T {
	x := make([]T, n)
	for i := range x {
		x[i] = T(i*7%101) / 2
	}
	return x
}

func scales[T kernel.Number](t *testing.T, name string, a T, launch func(s *gpu.Stream, g gpu.Grid, a T, x *gpu.Buffer[T]) error) {
	t.Run(name, func(t *testing.T) {
		agree(t, dim(3), dim(64), numbers[T](150),
			func(th kernel.Thread, x []T) { scale(th, a, x) },
			func(s *gpu.Stream, g gpu.Grid, x *gpu.Buffer[T]) error { return launch(s, g, a, x) })
	})
}

func TestInstancesMatchPlainGo(t *testing.T) {
	scales(t, "float32", 2.5, LaunchScale[float32])
	scales(t, "float64", 0.1, LaunchScale[float64])
	scales(t, "a narrow integer wraps around", 1000, LaunchScale[int16])
	scales(t, "a wide integer wraps around", 1<<60+3, LaunchScale[uint64])
	scales(t, "a type of the package", 1.5, LaunchScale[Celsius])
}

func fills[T comparable](t *testing.T, name string, v T, launch func(s *gpu.Stream, g gpu.Grid, v T, x *gpu.Buffer[T]) error) {
	t.Run(name, func(t *testing.T) {
		agree(t, dim(2), dim(32), make([]T, 150),
			func(th kernel.Thread, x []T) { fill(th, v, x) },
			func(s *gpu.Stream, g gpu.Grid, x *gpu.Buffer[T]) error { return launch(s, g, v, x) })
	})
}

func TestNonNumericTypeArguments(t *testing.T) {
	fills(t, "bool", true, LaunchFill[bool])
	fills(t, "a struct", Point{1, -2}, LaunchFill[Point])
	fills(t, "an array", [3]int8{1, -2, 3}, LaunchFill[[3]int8])
	fills(t, "an instance of a generic struct", Pair[uint8, float64]{7, 0.5}, LaunchFill[Pair[uint8, float64]])
}

func TestSharedVariablesOfTypeParameters(t *testing.T) {
	agree(t, dim(4), dim(64), numbers[int32](256), reverse[int32], LaunchReverse[int32])
	agree(t, dim(4), dim(64), numbers[float64](256), reverse[float64], LaunchReverse[float64])
	points := make([]Point, 256)
	for i := range points {
		points[i] = Point{float64(i), float64(-i)}
	}
	agree(t, dim(4), dim(64), points, reverse[Point], LaunchReverse[Point])
}

func TestSeveralTypeParameters(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		s := d.DefaultStream()
		from := gputest.Upload(t, d, []float32{-1.5, 0, 2.75})
		to := gputest.Upload(t, d, make([]int32, 3))
		if err := LaunchConvert(s, gpu.Linear(3), from, to); err != nil {
			t.Fatal(err)
		}
		if got := gputest.Download(t, d, to); !slices.Equal(got, []int32{-1, 0, 2}) {
			t.Errorf("got %v, want [-1 0 2]", got)
		}
		wide := gputest.Upload(t, d, make([]int64, 3))
		err := LaunchConvert(s, gpu.Linear(3), from, wide)
		if !errors.Is(err, gpu.ErrInvalid) || !strings.Contains(err.Error(), "add float32:int64 to instantiate=") {
			t.Errorf("a pair of types without an instance: %v", err)
		}

		a := gputest.Upload(t, d, []uint8{1, 2, 3})
		b := gputest.Upload(t, d, []float64{0.1, 0.2, 0.3})
		out := gputest.Upload(t, d, make([]Pair[uint8, float64], 3))
		if err := LaunchPack(s, gpu.Linear(3), a, b, out); err != nil {
			t.Fatal(err)
		}
		if got, want := gputest.Download(t, d, out), []Pair[uint8, float64]{{1, 0.1}, {2, 0.2}, {3, 0.3}}; !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
		points := gputest.Upload(t, d, []Point{{1, 2}, {3, 4}})
		sums := gputest.Upload(t, d, make([]float64, 2))
		if err := LaunchTotal(s, gpu.Linear(2), points, sums); err != nil {
			t.Fatal(err)
		}
		if got := gputest.Download(t, d, sums); !slices.Equal(got, []float64{3, 7}) {
			t.Errorf("got %v, want [3 7]", got)
		}
	})
}

func TestErrorsNameInstance(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		x := gputest.Upload(t, d, make([]float64, 4))
		if err := x.Close(); err != nil {
			t.Fatal(err)
		}
		err := LaunchScale(d.DefaultStream(), gpu.Linear(4), 2, x)
		if !errors.Is(err, gpu.ErrClosed) || !strings.Contains(err.Error(), "launch scale[float64]") {
			t.Errorf("got %v", err)
		}
	})
}

func TestInstancesCompileAtRunTime(t *testing.T) {
	const src = `package p
import "quern.dev/kernel"
//quern:kernel instantiate=int32
func scale[T kernel.Number](t kernel.Thread, a T, x []T) { x[t.Global()] *= a }
//quern:kernel
func pair[A, B kernel.Number](t kernel.Thread, a []A, b []B) { b[t.Global()] = B(a[t.Global()]) }
`
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		s := d.DefaultStream()
		x := gputest.Upload(t, d, []float32{1, 2, 3})
		k, err := d.Compile(t.Context(), src, "scale[float32]")
		if err != nil {
			t.Fatal(err)
		}
		if err := k.Launch(s, gpu.Blocks(dim(1), dim(3)), float32(2), x); err != nil {
			t.Fatal(err)
		}
		y := gputest.Upload(t, d, make([]int8, 3))
		if k, err = d.Compile(t.Context(), src, "pair[float32, int8]"); err != nil {
			t.Fatal(err)
		}
		if err := k.Launch(s, gpu.Blocks(dim(1), dim(3)), x, y); err != nil {
			t.Fatal(err)
		}
		if got := gputest.Download(t, d, y); !slices.Equal(got, []int8{2, 4, 6}) {
			t.Errorf("got %v, want [2 4 6]", got)
		}
		for _, c := range []struct{ name, want string }{
			{"scale[string]", "kernels are instantiated with numbers"},
			{"scale[Missing]", "undefined: Missing"},
			{"scale[bool]", "does not satisfy"},
			{"pair[int32]", "has 2 type parameters, and \"int32\" names 1 type;"},
			{"scale", "has no kernel scale; it has [scale[int32]]"},
		} {
			if _, err := d.Compile(t.Context(), src, c.name); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: got %v, want %q in it", c.name, err, c.want)
			}
		}
	})
}

func TestLaunchesOfInstancesDoNotAllocate(t *testing.T) {
	d, err := gpu.Open(gpu.Config{Device: "cpu"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	s := d.DefaultStream()
	x := gputest.Upload(t, d, make([]float32, 64))
	points := gputest.Upload(t, d, make([]Point, 64))
	from, to := gputest.Upload(t, d, make([]int8, 64)), gputest.Upload(t, d, make([]uint16, 64))
	allocations := testing.AllocsPerRun(100, func() {
		if err := errors.Join(
			LaunchScale(s, gpu.Linear(64), 2, x),
			LaunchFill(s, gpu.Linear(64), Point{}, points),
			LaunchConvert(s, gpu.Linear(64), from, to),
		); err != nil {
			t.Fatal(err)
		}
	})
	if allocations > 0 {
		t.Errorf("three launches allocate %v times", allocations)
	}
}
