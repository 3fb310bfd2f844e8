package gputest_test

import (
	"fmt"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
	"quern.dev/kernel"
)

// saxpy is a kernel, marked //quern:kernel. quern gen writes its launcher,
// LaunchSaxpy.
func saxpy(t kernel.Thread, a float32, x, y []float32) {
	if i := t.Global(); i < len(y) {
		y[i] += a * x[i]
	}
}

var LaunchSaxpy func(s *gpu.Stream, g gpu.Grid, a float32, x, y *gpu.Buffer[float32]) error

// The results of the devices are compared with those of the kernel's function.
func ExampleCompare() {
	test := func(t *testing.T) { // func TestSaxpy
		grid, block := gpu.Dim3{X: 4}, gpu.Dim3{X: 256}
		x, y := gputest.Slice("x", ramp(1000)), gputest.Slice("y", ramp(1000), gputest.ULP(1))
		gputest.Compare(t,
			func(s *gpu.Stream) error {
				return LaunchSaxpy(s, gpu.Blocks(grid, block), 2, x.Device(), y.Device())
			},
			func() {
				kernel.Each(grid, block, func(t kernel.Thread) { saxpy(t, 2, x.Host(), y.Host()) })
			},
			x, y)
	}
	_ = test
}

// A test of more than a single launch runs on each device.
func ExampleEach() {
	test := func(t *testing.T) { // func TestSaxpyTwice
		gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
			s := dev.DefaultStream()
			x, y := gputest.Upload(t, dev, []float32{1, 2}), gputest.Upload(t, dev, []float32{10, 20})
			for range 2 {
				if err := LaunchSaxpy(s, gpu.Linear(2), 3, x, y); err != nil {
					t.Fatal(err)
				}
			}
			gputest.Equal(t, gputest.Download(t, dev, y), []float32{16, 32})
		})
	}
	_ = test
}

func ExampleEqual() {
	var t testing.TB = printing{}
	got := []float32{0.1 + 0.2, 1, 2.5}
	gputest.Equal(t, got, []float32{0.3, 1, 2}, gputest.ULP(1), gputest.Name("sums"))
	// Output:
	// sums: 1 of 3 elements differs:
	// 	[2]: got 2.5, want 2 (2097152 ULP, 0.5 apart)
}

func ExampleNaNEqual() {
	var t testing.TB = printing{}
	zero := 0.0
	fmt.Println(gputest.Equal(t, []float64{zero / zero}, []float64{zero / zero}, gputest.NaNEqual))
	gputest.Equal(t, []float64{zero / zero}, []float64{zero / zero})
	// Output:
	// true
	// 1 of 1 elements differs:
	// 	[0]: got NaN, want NaN
}

// printing is a testing.TB that prints its messages.
type printing struct{ testing.TB }

func (printing) Helper()           {}
func (printing) Error(args ...any) { fmt.Println(args...) }
