package algo

import (
	"math/rand/v2"
	"slices"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
)

func TestSelect(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		s := d.DefaultStream()
		count := gputest.Upload(t, d, []int{-1})
		for _, n := range lengths {
			for _, density := range []int{1, 2, 50, 1 << 30} { // one of so many is selected; all, none
				x, flags := make([]int32, n), make([]uint8, n)
				var want, rest []int32
				var where []uint32
				for i := range x {
					if rand.IntN(density) == 0 {
						x[i], flags[i] = int32(i+1), uint8(1+rand.IntN(255))
						want, where = append(want, x[i]), append(where, uint32(i))
					} else {
						rest = append(rest, 0)
					}
				}
				in, kept, rejected, index := gputest.Upload(t, d, x), gputest.Alloc[int32](t, d, n), gputest.Alloc[int32](t, d, n), gputest.Alloc[uint32](t, d, n)
				check := func(name string, err error) {
					t.Helper()
					if err != nil {
						t.Fatal(err)
					}
					if got := gputest.Download(t, d, count)[0]; got != len(want) {
						t.Fatalf("%s: n=%d: %d are selected, want %d", name, n, got, len(want))
					}
				}
				check("select", Select(s, NonZero[int32](), kept, count, in))
				got := gputest.Download(t, d, kept)
				gputest.Equal(t, got[:len(want)], want, gputest.Name("select"))
				if slices.ContainsFunc(got[len(want):], func(v int32) bool { return uint32(v) != 0xA5A5A5A5 }) {
					t.Error("elements after the selected ones have changed")
				}
				check("partition", Partition(s, NonZero[int32](), kept, rejected, count, in))
				gputest.Equal(t, gputest.Download(t, d, kept)[:len(want)], want, gputest.Name("partition"))
				gputest.Equal(t, gputest.Download(t, d, rejected)[:len(rest)], rest, gputest.Name("rejected"))
				check("where", Where(s, NonZero[int32](), index, count, in))
				gputest.Equal(t, gputest.Download(t, d, index)[:len(where)], where, gputest.Name("where"))
				check("flagged", SelectFlagged(s, gputest.Upload(t, d, flags), kept, count, in))
				gputest.Equal(t, gputest.Download(t, d, kept)[:len(want)], want, gputest.Name("flagged"))
				check("count", Count(s, NonZero[int32](), count, in))
				if t.Failed() {
					t.Fatalf("n=%d, density=%d", n, density)
				}
			}
		}
	})
}
