package language

import (
	"bytes"
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
	"quern.dev/kernel"
)

func TestRandomNumbers(t *testing.T) {
	const threads, each = 512, 400
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		s := d.DefaultStream()
		hits := gputest.Upload(t, d, make([]int32, threads))
		if err := LaunchPiHits(s, gpu.Linear(threads), 1, each, hits); err != nil {
			t.Fatal(err)
		}
		sum := int32(0)
		for _, h := range gputest.Download(t, d, hits) {
			sum += h
		}
		if pi := 4 * float64(sum) / (threads * each); math.Abs(pi-math.Pi) > 0.02 {
			t.Errorf("pi is %g", pi)
		}

		one, many := gputest.Upload(t, d, make([]float32, 1000)), gputest.Upload(t, d, make([]float32, 1000))
		if err := errors.Join(LaunchNoise(s, gpu.Blocks(gpu.Dim3{X: 1}, gpu.Dim3{X: 32}), 9, 2, one), LaunchNoise(s, gpu.Linear(1000), 9, 2, many)); err != nil {
			t.Fatal(err)
		}
		a, b := gputest.Download(t, d, one), gputest.Download(t, d, many)
		squares := 0.0
		for _, x := range a {
			squares += float64(x) * float64(x) / 1000
		}
		if !slices.Equal(a, b) || squares < 3 || squares > 5 {
			t.Errorf("the noise depends on the grid, or has a variance of %g, want 4", squares)
		}

		keys := gputest.Upload(t, d, make([]uint32, 2))
		if err := LaunchShuffledKeys(s, gpu.Linear(2), [2]uint32{}, keys); err != nil {
			t.Fatal(err)
		}
		if got := gputest.Download(t, d, keys); got[0] != 0x6627e8d5 || got[1] == got[0] {
			t.Errorf("keys %x", got)
		}
	})
}

func TestPrintfAssertAndPanic(t *testing.T) {
	gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
		var printed bytes.Buffer
		d := gputest.Open(t, gpu.Config{Device: dev.ID(), Output: &printed})
		s := d.DefaultStream()
		if err := LaunchTrace(s, gpu.Linear(3), 5, gputest.Upload(t, d, []float32{1, 7.5, 3})); err != nil {
			t.Fatal(err)
		}
		if err := s.Synchronize(context.Background()); err != nil || printed.String() != "x[1] = 7.5 > 5\n" {
			t.Errorf("printed %q, %v", printed.String(), err)
		}
		if err := LaunchRoots(s, gpu.Linear(2), gputest.Upload(t, d, []float64{4, -4})); err != nil {
			t.Fatal(err)
		}
		if err := s.Synchronize(context.Background()); err == nil || !strings.Contains(err.Error(), "the input is not negative in block (0,0,0) thread (1,0,0)") {
			t.Errorf("have %v", err)
		}
		if err := LaunchDecode(s, gpu.Linear(3), gputest.Upload(t, d, []uint8("1x3")), gputest.Upload(t, d, make([]int32, 3))); err != nil {
			t.Fatal(err)
		}
		if err := s.Synchronize(context.Background()); err == nil || !strings.Contains(err.Error(), "kernel decode: panic: not a digit") {
			t.Errorf("have %v", err)
		}
	})
}

func TestTextures(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		s := d.DefaultStream()
		image, err := gpu.NewTexture2D[float32](s, 4, 2, []uint8{0, 51, 102, 153, 0, 51, 102, 153}, gpu.TextureOptions{Filter: gpu.FilterLinear})
		if err != nil {
			t.Fatal(err)
		}
		defer image.Close()
		out := gputest.Upload(t, d, make([]float32, 4))
		if err := LaunchZoom(s, gpu.Plane(4, 1), 2, image, 4, 1, out); err != nil {
			t.Fatal(err)
		}
		for i, got := range gputest.Download(t, d, out) {
			if want := 0.15 + 0.1*float64(i); math.Abs(float64(got)-want) > 1e-3 {
				t.Errorf("zoomed %d: %g, want %g", i, got, want)
			}
		}
		differences := gputest.Upload(t, d, make([]float32, 8))
		if err := LaunchEdges(s, gpu.Plane(4, 2), image, differences); err != nil {
			t.Fatal(err)
		}
		for i, got := range gputest.Download(t, d, differences) {
			if want := [4]float64{0.2, 0.4, 0.4, 0.2}[i%4]; math.Abs(float64(got)-want) > 1e-6 {
				t.Errorf("edge %d: %g, want %g", i, got, want)
			}
		}
	})
}

func TestInlinePTX(t *testing.T) {
	a := gputest.Slice("a", []uint32{0x01020304, 0xffffffff})
	b := gputest.Slice("b", []uint32{0x05060708, 0x02020202})
	sums := gputest.Output[uint32]("sums", 2)
	gputest.Compare(t,
		func(s *gpu.Stream) error {
			return LaunchDots(s, gpu.Linear(2), a.Device(), b.Device(), sums.Device())
		},
		func() {
			kernel.Each(kernel.Dim3{X: 1}, kernel.Dim3{X: 2}, func(th kernel.Thread) {
				dots(th, a.Host(), b.Host(), sums.Host())
			})
		},
		a, b, sums)
	if got := sums.Host()[0]; got != 70 {
		t.Errorf("1*5 + 2*6 + 3*7 + 4*8 = %d, want 70", got)
	}
}
