package types

import (
	"errors"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
	"quern.dev/kernel"
)

func TestElementsThatOthersName(t *testing.T) {
	const rows, n, elements = 70, 21, 50
	var ends, at, next []int32
	for i := range int32(rows + 1) {
		ends = append(ends, i*(i-1)/2%1000+3*i) // from none to many; some rows are empty or end before they begin
	}
	size := max(rows*n, 3000)
	for i := range int32(size) {
		at = append(at, (i*i*7+i)%elements)
	}
	for i := range int32(elements) {
		next = append(next, (i*11+4)%elements)
	}
	w, x := random[int32](size), random[int32](elements)
	sums, least, which, seen := make([]int32, rows), make([]int32, rows), make([]int32, rows), make([]int32, elements)
	g, b := grid(elements)
	rowGrid, rowBlock := grid(rows)
	kernel.Each(rowGrid, rowBlock, func(t kernel.Thread) {
		weighted(t, ends, at, w, x, sums)
		nearest(t, n, at, next, x, least, which)
	})
	kernel.Each(g, b, func(t kernel.Thread) { walk(t, n, next, seen) })
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		s := d.DefaultStream()
		upAt, upNext, upX := gputest.Upload(t, d, at), gputest.Upload(t, d, next), gputest.Upload(t, d, x)
		upSums, upLeast, upWhich, upSeen := gputest.Upload(t, d, make([]int32, rows)), gputest.Upload(t, d, make([]int32, rows)), gputest.Upload(t, d, make([]int32, rows)), gputest.Upload(t, d, make([]int32, elements))
		launched(t, LaunchWeighted(s, blocks(rows), gputest.Upload(t, d, ends), upAt, gputest.Upload(t, d, w), upX, upSums))
		launched(t, LaunchNearest(s, blocks(rows), n, upAt, upNext, upX, upLeast, upWhich))
		launched(t, LaunchWalk(s, blocks(elements), n, upNext, upSeen))
		expect(t, "sums", gputest.Download(t, d, upSums), sums)
		expect(t, "least", gputest.Download(t, d, upLeast), least)
		expect(t, "which", gputest.Download(t, d, upWhich), which)
		expect(t, "seen", gputest.Download(t, d, upSeen), seen)
	})
}

// The fault is that of the first iteration which fails, at the check that failed in it.
func TestTheFirstOfSeveralFailuresIsReported(t *testing.T) {
	const n, elements = 40, 10
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		s := d.DefaultStream()
		for _, c := range []struct {
			name          string
			at            map[int]int32 // the index that an iteration reads
			weights       int
			index, length int64
		}{
			{"an element in the first batch", map[int]int32{2: 11, 3: -7, 30: 99}, n, 11, elements},
			{"below zero", map[int]int32{9: -2, 10: 12}, n, -2, elements},
			{"the last one", map[int]int32{n - 1: 77}, n, 77, elements},
			{"weights are too few", map[int]int32{21: 88}, 20, 20, 20},
			{"weights are too few after an element", map[int]int32{19: 88}, 20, 88, elements},
			{"weights are too few before an element of the same iteration", map[int]int32{20: 88}, 20, 20, 20},
		} {
			t.Run(c.name, func(t *testing.T) {
				at := make([]int32, n)
				for i, v := range c.at {
					at[i] = v
				}
				sums := gputest.Upload(t, d, make([]int32, 1))
				x := gputest.Upload(t, d, make([]int32, elements))
				launched(t, LaunchWeighted(s, blocks(1), gputest.Upload(t, d, []int32{0, n}), gputest.Upload(t, d, at), gputest.Upload(t, d, make([]int32, c.weights)), x, sums))
				err := s.Synchronize(t.Context())
				var fault *gpu.KernelError
				if !errors.As(err, &fault) || fault.Kind != gpu.OutOfRange || fault.Index != c.index || fault.Length != c.length {
					t.Errorf("%v, want index %d out of range [0,%d)", err, c.index, c.length)
				}
			})
		}
	})
}
