package language

import (
	"hash/adler32"
	"math/bits"
	"slices"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
)

func TestIntegersAndFloats(t *testing.T) {
	data := make([]uint8, 4*1000)
	for i := range data {
		data[i] = uint8(i * i)
	}
	words := []uint64{1, 0xff00, 1 << 63, 0}
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		s := d.DefaultStream()
		sums := gputest.Upload(t, d, make([]uint32, 4))
		if err := LaunchAdler(s, gpu.Linear(4), 1000, gputest.Upload(t, d, data), sums); err != nil {
			t.Fatal(err)
		}
		for i, got := range gputest.Download(t, d, sums) {
			if want := adler32.Checksum(data[i*1000 : (i+1)*1000]); got != want {
				t.Errorf("row %d: %#x, want %#x", i, got, want)
			}
		}
		ones, highest := gputest.Upload(t, d, make([]int, 4)), gputest.Upload(t, d, make([]int, 4))
		if err := LaunchPopulation(s, gpu.Linear(4), gputest.Upload(t, d, words), ones, highest); err != nil {
			t.Fatal(err)
		}
		gotOnes, gotHighest := gputest.Download(t, d, ones), gputest.Download(t, d, highest)
		for i, w := range words {
			if gotOnes[i] != bits.OnesCount64(w) || gotHighest[i] != bits.Len64(w)-1 {
				t.Errorf("%#x: %d ones, highest %d", w, gotOnes[i], gotHighest[i])
			}
		}
		middle := gputest.Upload(t, d, make([]float64, 2))
		if err := LaunchMidpoints(s, gpu.Linear(2), gputest.Upload(t, d, []float64{1, 0.1}), gputest.Upload(t, d, []float64{3, 0.7}), middle); err != nil {
			t.Fatal(err)
		}
		a, b := 0.1, 0.7
		if got, want := gputest.Download(t, d, middle), []float64{2, float64(0.5*a) + float64(0.5*b)}; !slices.Equal(got, want) {
			t.Errorf("midpoints %v, want %v", got, want)
		}
	})
}

func TestBarriers(t *testing.T) {
	x := make([]float32, 512)
	for i := range x {
		x[i] = float32(i)
	}
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		b := gputest.Upload(t, d, x)
		if err := LaunchReverseBlocks(d.DefaultStream(), gpu.Linear(512), b); err != nil {
			t.Fatal(err)
		}
		for i, got := range gputest.Download(t, d, b) {
			if want := float32(i/256*256 + 255 - i%256); got != want {
				t.Fatalf("element %d is %g, want %g", i, got, want)
			}
		}
	})
}
