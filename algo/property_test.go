package algo

import (
	"math/rand/v2"
	"slices"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
)

// What holds for the results of any input: lengths and numbers of different values are random.
func TestProperties(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		s := d.DefaultStream()
		rounds, most := 20, 20000
		if d.Backend() == gpu.Sim {
			rounds, most = 3, 9000
		}
		check := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		for range rounds {
			n := 1 + rand.IntN(most)
			values := 1 + rand.Int32N(1<<rand.IntN(31))
			x := make([]int32, n)
			for i := range x {
				x[i] = rand.Int32N(values)
			}
			in, count := gputest.Upload(t, d, x), gputest.Alloc[int](t, d, 1)
			out, others := gputest.Alloc[int32](t, d, n), gputest.Alloc[int32](t, d, n)
			lengths := gputest.Alloc[int](t, d, n)

			check(Scan(s, Sum[int32](), out, in))
			sums := gputest.Download(t, d, out)
			for i := range x {
				if before := sums[max(i-1, 0)]; i > 0 && sums[i]-before != x[i] || sums[0] != x[0] {
					t.Fatalf("%d elements: the sums up to %d differ by %d, not by element %d", n, i, sums[i]-before, x[i])
				}
			}

			check(Partition(s, NonZero[int32](), out, others, count, in))
			kept := gputest.Download(t, d, count)[0]
			var want []int32
			for _, v := range x {
				if v != 0 {
					want = append(want, v)
				}
			}
			if got := gputest.Download(t, d, out)[:kept]; !slices.Equal(got, want) {
				t.Fatalf("%d elements: %d are selected, want %d in their order", n, kept, len(want))
			}
			if rest := gputest.Download(t, d, others)[:n-kept]; slices.ContainsFunc(rest, func(v int32) bool { return v != 0 }) {
				t.Fatalf("%d elements: a rejected one is not zero", n)
			}

			check(Unique(s, Same[int32](), others, count, in))
			unique := gputest.Download(t, d, others)[:gputest.Download(t, d, count)[0]]
			check(RunLengths(s, Same[int32](), out, lengths, count, in))
			runs := gputest.Download(t, d, count)[0]
			var again []int32
			each := gputest.Download(t, d, lengths)
			for i, v := range gputest.Download(t, d, out)[:runs] {
				again = append(again, slices.Repeat([]int32{v}, each[i])...)
			}
			if !slices.Equal(again, x) || !slices.Equal(unique, slices.Compact(slices.Clone(x))) {
				t.Fatalf("%d elements: runs do not make up the input", n)
			}

			check(Sort(s, in))
			if slices.Sort(x); !slices.Equal(gputest.Download(t, d, in), x) {
				t.Fatalf("%d elements of %d values: not sorted", n, values)
			}
		}
	})
}
