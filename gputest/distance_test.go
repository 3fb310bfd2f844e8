package gputest_test

import (
	"math"
	"testing"

	"quern.dev/gputest"
)

func TestDistances(t *testing.T) {
	inf, nan, negative := float32(math.Inf(1)), float32(math.NaN()), float32(math.Copysign(0, -1))
	for _, c := range []struct {
		name string
		x, y []float32
		want gputest.Distance
	}{
		{"equal", []float32{1, nan, inf, 0}, []float32{1, nan, inf, negative}, gputest.Distance{Numbers: 4, Index: -1}},
		{"one unit in the last place", []float32{0, 1}, []float32{0, 1 + 0x1p-23}, gputest.Distance{Numbers: 2, Different: 1, Absolute: 0x1p-23, Relative: 0x1p-23 / (1 + 0x1p-23), ULP: 1, Index: 1}},
		{"a NaN and an infinity", []float32{nan, inf, -inf}, []float32{1, 2, inf}, gputest.Distance{Numbers: 3, Different: 3, Mismatches: 3, Index: 0}},
	} {
		if got, err := gputest.Measure(c.x, c.y); err != nil || got != c.want {
			t.Errorf("%s: %+v, %v; want %+v", c.name, got, err, c.want)
		}
	}
	if d, err := gputest.Measure([]int8{-128}, []int8{127}); err != nil || d.Absolute != 255 || d.Different != 1 {
		t.Errorf("integers: %+v, %v", d, err)
	}
	if _, err := gputest.Measure([]int{1}, []int{1, 2}); err == nil {
		t.Error("slices of different lengths have a distance")
	}
	if _, err := gputest.Measure([]string{""}, []string{""}); err == nil {
		t.Error("strings have a distance")
	}
}
