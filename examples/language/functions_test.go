package language

import (
	"slices"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
)

func TestGenericKernels(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		s := d.DefaultStream()
		integers := gputest.Upload(t, d, []int32{-5, 5, 50})
		if err := LaunchClampAll(s, gpu.Linear(3), 0, 10, integers); err != nil {
			t.Fatal(err)
		}
		if got := gputest.Download(t, d, integers); !slices.Equal(got, []int32{0, 5, 10}) {
			t.Errorf("clampAll of int32: %v", got)
		}
		lengths := gputest.Upload(t, d, []meters{-5, 5, 50})
		if err := LaunchClampAll(s, gpu.Linear(3), 0, 7.5, lengths); err != nil {
			t.Fatal(err)
		}
		if got := gputest.Download(t, d, lengths); !slices.Equal(got, []meters{0, 5, 7.5}) {
			t.Errorf("clampAll of meters: %v", got)
		}
		from, to := gputest.Upload(t, d, []float64{0.5, -2, 3.25}), gputest.Upload(t, d, make([]int32, 3))
		if err := LaunchConvertAll(s, gpu.Linear(3), 100, from, to); err != nil {
			t.Fatal(err)
		}
		if got := gputest.Download(t, d, to); !slices.Equal(got, []int32{50, -200, 325}) {
			t.Errorf("convertAll: %v", got)
		}
	})
}

func TestFunctionValues(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		s := d.DefaultStream()
		rows := gputest.Upload(t, d, []int32{3, -1, 4, -5, -9, -2})
		most, negatives := gputest.Upload(t, d, make([]int32, 2)), gputest.Upload(t, d, make([]int32, 2))
		if err := LaunchExtremes(s, gpu.Linear(2), 3, rows, most, negatives); err != nil {
			t.Fatal(err)
		}
		if got := gputest.Download(t, d, most); !slices.Equal(got, []int32{4, -2}) {
			t.Errorf("extremes: most is %v", got)
		}
		if got := gputest.Download(t, d, negatives); !slices.Equal(got, []int32{1, 3}) {
			t.Errorf("extremes: negatives are %v", got)
		}
		x := gputest.Upload(t, d, []float32{2, -3})
		if err := LaunchReturnedFunctions(s, gpu.Linear(2), x); err != nil {
			t.Fatal(err)
		}
		if got := gputest.Download(t, d, x); !slices.Equal(got, []float32{12, -18}) {
			t.Errorf("returnedFunctions: %v", got)
		}
		lengths := gputest.Upload(t, d, []meters{0, 1524})
		if err := LaunchMethodValues(s, gpu.Linear(2), lengths); err != nil {
			t.Fatal(err)
		}
		if got := gputest.Download(t, d, lengths); got[0] != 0 || got[1] < 4999.9 || got[1] > 5000.1 {
			t.Errorf("methodValues: %v", got)
		}
		sorted, at := gputest.Upload(t, d, []float32{1, 2, 4, 8}), gputest.Upload(t, d, make([]int32, 3))
		wanted := gputest.Upload(t, d, []float32{0, 4, 9})
		if err := LaunchPositions(s, gpu.Linear(3), sorted, wanted, at); err != nil {
			t.Fatal(err)
		}
		if got := gputest.Download(t, d, at); !slices.Equal(got, []int32{0, 2, 4}) {
			t.Errorf("positions: %v", got)
		}
	})
}

func TestSpecialisedKernelsTakeEveryValue(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		s := d.DefaultStream()
		in := gputest.Upload(t, d, []float32{0, 3, 6, 9, 12, 15, 18, 21, 24, 27})
		for radius := range 5 {
			out := gputest.Upload(t, d, make([]float32, 10))
			if err := LaunchBoxBlur(s, gpu.Linear(10), radius, in, out); err != nil {
				t.Fatal(err)
			}
			for i, got := range gputest.Download(t, d, out) {
				want := float32(3 * i) // the mean of a straight line
				if i < radius || i+radius >= 10 {
					want = 0
				}
				if got != want {
					t.Errorf("radius %d: element %d is %v, want %v", radius, i, got, want)
				}
			}
		}
	})
}
