package profile

import (
	"math"
	"slices"
	"testing"

	"quern.dev/gpu"
	"quern.dev/profile/internal/kernels"
)

func TestFactorsAreInterpolatedBetweenSizes(t *testing.T) {
	c := correction{{100, factors{1, 4}}, {10_000, factors{4, 1}}}
	for n, want := range map[int]factors{1: {1, 4}, 100: {1, 4}, 1000: {2, 2}, 10_000: {4, 1}, 1e6: {4, 1}} {
		if got := c.at(n); math.Abs(got.kernel/want.kernel-1) > 1e-9 || math.Abs(got.copies/want.copies-1) > 1e-9 {
			t.Errorf("size %d: %v, want %v", n, got, want)
		}
	}
	if got := (correction{{7, factors{3, 5}}}).at(1000); got != (factors{3, 5}) {
		t.Errorf("with one size: %v", got)
	}
}

func TestCalibrationSizesAreSpread(t *testing.T) {
	p := &predictor{AdviseConfig: AdviseConfig{Sizes: []int{1000, 1001, 1002, 1e4, 1e5, 1e6, 1e7, 1e8}}, counts: []countedSize{{n: 1}, {n: 1000}}}
	list := p.calibrationSizes()
	if len(list) != mostCalibrated || list[0] != 1 || list[len(list)-1] != 1e8 || !slices.IsSorted(list) {
		t.Errorf("all sizes: %v", list)
	}
	p.CalibrateSizes = []int{50, 5}
	if list := p.calibrationSizes(); !slices.Equal(list, []int{5, 50}) {
		t.Errorf("given sizes: %v", list)
	}
}

// The CPU stands for a GPU here: what is tested is that a trip copies and launches.
func TestARoundTripMovesAllArrays(t *testing.T) {
	d, err := gpu.Open(gpu.Config{Device: "cpu"})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	launches := 0
	i := &Instance{Launch: func(s *gpu.Stream) error {
		launches++
		return kernels.LaunchEmpty(s, gpu.Linear(1))
	}, In: []int64{1 << 20, 3}, Out: []int64{1 << 10}}
	for _, pinned := range []bool{false, true} {
		before := d.Stats()
		trip, free, err := roundTrip(t.Context(), d.DefaultStream(), i, pinned)
		if err != nil {
			t.Fatal(err)
		}
		if err := trip(); err != nil {
			t.Error(err)
		}
		after := d.Stats()
		if n, b := after.Copies-before.Copies, after.CopiedBytes-before.CopiedBytes; n != 3 || b != 1<<20+3+1<<10 {
			t.Errorf("page-locked %v: %d copies of %d bytes", pinned, n, b)
		}
		if err := free(); err != nil {
			t.Error(err)
		}
	}
	if launches != 2 {
		t.Errorf("%d launches, want 2", launches)
	}
}
