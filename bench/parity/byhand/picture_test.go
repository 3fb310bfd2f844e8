package byhand

import (
	"math/rand/v2"
	"slices"
	"testing"

	"quern.dev/bench/parity/kernels"
)

func TestMedianIsTheMiddleOfNineSortedPixels(t *testing.T) {
	const w, h = 11, 7
	in, out := make([]uint8, w*h), make([]uint8, w*h)
	for i := range in {
		in[i] = uint8(rand.IntN(256))
	}
	Median(w, h, in, out)
	for i, got := range out {
		var around []uint8
		for dy := -1; dy <= 1; dy++ {
			for dx := -1; dx <= 1; dx++ {
				x, y := min(max(i%w+dx, 0), w-1), min(max(i/w+dy, 0), h-1)
				around = append(around, in[y*w+x])
			}
		}
		slices.Sort(around)
		if got != around[4] {
			t.Errorf("pixel %d is %d, the pixels around it are %d", i, got, around)
		}
	}
}

func TestYUVOfPrimaryColors(t *testing.T) {
	in := []kernels.RGB{{}, {R: 255, G: 255, B: 255}, {R: 255}, {G: 255}, {B: 255}}
	y, u, v := make([]uint8, 5), make([]uint8, 5), make([]uint8, 5)
	YUV(in, y, u, v)
	// ITU-R BT.601.
	for i, want := range [][3]uint8{{16, 128, 128}, {235, 128, 128}, {82, 90, 240}, {144, 54, 34}, {41, 240, 110}} {
		if got := [3]uint8{y[i], u[i], v[i]}; got != want {
			t.Errorf("%v becomes %v, want %v", in[i], got, want)
		}
	}
}

func TestBilateralKeepsEdges(t *testing.T) {
	const w, h = 16, 8
	in, out := make([]float32, w*h), make([]float32, w*h)
	for i := range in {
		if i%w >= w/2 {
			in[i] = 1
		}
	}
	var weights kernels.BilateralWeights
	for y := range weights {
		for x := range weights[y] {
			weights[y][x] = 1
		}
	}
	check := func(sharpness float32, x int, low, high float32) {
		t.Helper()
		Bilateral(weights, sharpness, w, h, in, out)
		if got := out[3*w+x]; got < low || got > high {
			t.Errorf("with sharpness %v, pixel %d is %v, want %v to %v", sharpness, x, got, low, high)
		}
	}
	check(100, w/2-1, 0, 1e-6)
	check(100, w/2, 1-1e-6, 1)
	// Without sharpness it is the mean, here of three columns of seven.
	check(0, w/2-1, 3./7-1e-6, 3./7+1e-6)
}
