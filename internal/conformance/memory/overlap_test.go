package memory

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
	"quern.dev/kernel"
)

// shifts runs a kernel that assigns arrays, for all distances between them, with two
// buffers and with one. It compares the results with plain Go.
func shifts[E comparable](t *testing.T, d *gpu.Device, width int, of func(i int) E,
	plain func(t kernel.Thread, width, to, from int, dst, src []E),
	launch func(s *gpu.Stream, g gpu.Grid, width, to, from int, dst, src *gpu.Buffer[E]) error,
) {
	t.Helper()
	const threads = 6
	x, y := make([]E, threads*width), make([]E, threads*width)
	for i := range x {
		x[i], y[i] = of(i), of(-i)
	}
	for to := range 4 {
		for from := range 4 {
			apart, same := append([]E(nil), y...), append([]E(nil), x...)
			each(1, threads, func(th kernel.Thread) {
				plain(th, width, to, from, apart, x)
				plain(th, width, to, from, same, same)
			})
			src, dst := gputest.Upload(t, d, x), gputest.Upload(t, d, y)
			launched(t, launch(d.DefaultStream(), line(1, threads), width, to, from, dst, src))
			t.Run(fmt.Sprintf("%d to %d", from, to), func(t *testing.T) {
				gputest.Equal(t, gputest.Download(t, d, dst), apart)
				launched(t, launch(d.DefaultStream(), line(1, threads), width, to, from, src, src))
				gputest.Equal(t, gputest.Download(t, d, src), same)
			})
		}
	}
}

func TestOverlappingArraysAreAssignedAsInGo(t *testing.T) {
	number := func(i int) int32 { return int32(i) }
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		t.Run("few", func(t *testing.T) { shifts(t, d, 9, number, shiftFew, LaunchShiftFew) })
		t.Run("many", func(t *testing.T) { shifts(t, d, 160, number, shiftMany, LaunchShiftMany) })
		t.Run("structs", func(t *testing.T) {
			shifts(t, d, 40, func(i int) spot { return spot{int32(i), [3]int16{int16(i), int16(2 * i), int16(3 * i)}} }, shiftSpots, LaunchShiftSpots)
		})
	})
}

func TestOverlappingArraysInSharedAndLocalMemory(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		for to := range 4 {
			for from := range 4 {
				x := make([]int32, 800)
				for i := range x {
					x[i] = int32(i % 97)
				}
				b := gputest.Upload(t, d, x)
				each(2, 4, func(th kernel.Thread) { shiftPlaces(th, to, from, x) })
				launched(t, LaunchShiftPlaces(d.DefaultStream(), line(2, 4), to, from, b))
				t.Run(fmt.Sprintf("%d to %d", from, to), func(t *testing.T) { gputest.Equal(t, gputest.Download(t, d, b), x) })
			}
		}
	})
}

// TestReadsAheadOfWritesSeeThem passes parts of one buffer, at all distances that overlap.
func TestReadsAheadOfWritesSeeThem(t *testing.T) {
	const n, most = 64, 80
	rng := rand.New(rand.NewPCG(5, 6))
	start := make([]int32, 2*most)
	for i := range start {
		start[i] = 1 + rng.Int32N(n-1)
	}
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		for shift := -most + 1; shift <= most; shift++ {
			lo, hi := max(-shift, 0), max(shift, 0)
			want := append([]int32(nil), start...)
			want[lo], want[lo+1] = 2, n
			x := gputest.Upload(t, d, want)
			each(1, 1, func(th kernel.Thread) { chase(th, want[lo:lo+most], want[hi:hi+most]) })
			launched(t, LaunchChase(d.DefaultStream(), line(1, 1), x.Slice(lo, lo+most), x.Slice(hi, hi+most)))
			gputest.Equal(t, gputest.Download(t, d, x), want, gputest.Name(fmt.Sprint("shifted by ", shift)))
		}
	})
}
