package suite

import (
	"testing"

	"quern.dev/kernel"
)

func TestCheckFindsADifferenceInAnyNumber(t *testing.T) {
	differ := func(name string, got, want sequence, count int) {
		t.Helper()
		if got.length != count {
			t.Errorf("%s: %d numbers, want %d", name, got.length, count)
		}
		if err := exact.check(want, want); err != nil {
			t.Errorf("%s: equal arrays: %v", name, err)
		}
		if exact.check(got, want) == nil {
			t.Errorf("%s: a difference is not found", name)
		}
	}
	differ("int8", numbers([]int8{1, -1}), numbers([]int8{1, 1}), 2)
	differ("uint8", numbers([]uint8{1, 255}), numbers([]uint8{1, 0}), 2)
	differ("float64", numbers([]float64{1, 2 + 1e-12}), numbers([]float64{1, 2}), 2)
	differ("arrays", numbers([][4]uint32{{}, {3: 1}}), numbers(make([][4]uint32, 2)), 8)
	differ("vectors", numbers([]kernel.Vec4[float32]{{}, {W: 1}}), numbers(make([]kernel.Vec4[float32], 2)), 8)
	differ("nested arrays", numbers([][2][2]float32{{1: {1: 1}}}), numbers(make([][2][2]float32, 1)), 4)
}
