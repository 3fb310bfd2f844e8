package algo

import (
	"math"
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

			// Lines of a random shape: the extremes are elements that no other one of the line beats,
			// and counts and moments are those of the whole.
			a := Axis{Outer: 1, N: 1, Inner: 1 + rand.IntN(4)}
			a.Outer = 1 + rand.IntN(n/a.Inner+1)
			a.N = n / (a.Outer * a.Inner)
			if size := a.size(); a.N > 0 {
				part, at, found := in.Slice(0, size), gputest.Alloc[int](t, d, a.lines()), gputest.Alloc[Moments](t, d, a.lines())
				check(ArgMaxAxis(s, Ascending[int32](), a, at, part))
				lines := linesOfSlice(x[:size], a)
				for i, j := range gputest.Download(t, d, at) {
					if slices.Index(lines[i], slices.Max(lines[i])) != j {
						t.Fatalf("%v: element %d of line %d is not the first greatest one", a, j, i)
					}
				}
				check(CountAxis(s, NonZero[int32](), a, at, part))
				check(MomentsAxis(s, a, found, part))
				all, total := Moments{}, 0
				moments := gputest.Download(t, d, found)
				for i, n := range gputest.Download(t, d, at) {
					total += n
					all = all.Merge(moments[i])
				}
				nonZero, sum := 0, 0.0
				for _, v := range x[:size] {
					sum += float64(v)
					if v != 0 {
						nonZero++
					}
				}
				if total != nonZero || all.Count != int64(size) || math.Abs(all.Mean-sum/float64(size)) > 1e-9*(1+float64(values)) {
					t.Fatalf("%v: %d are not zero, %v; want %d, mean %v", a, total, all, nonZero, sum/float64(size))
				}
			}

			// Values that are the positions of the keys say which key is where after sorting and merging.
			positions, index := make([]uint32, n), gputest.Alloc[uint32](t, d, n)
			for i := range positions {
				positions[i] = uint32(i)
			}
			keys, at := gputest.Upload(t, d, x), gputest.Upload(t, d, positions)
			cut := rand.IntN(n + 1)
			ends := gputest.Upload(t, d, []int32{0, int32(cut), int32(n)})
			check(SortPairsSegments(s, Radix{}, keys, at, ends))
			check(MergePairs(s, Ascending[int32](), out, index, keys.Slice(0, cut), at.Slice(0, cut), keys.Slice(cut, n), at.Slice(cut, n)))
			order := gputest.Download(t, d, index)
			check(ArgSort(s, Radix{}, index, in))
			if !slices.Equal(gputest.Download(t, d, index), order) {
				t.Fatalf("%d elements, cut at %d: two parts, sorted and merged, are not in the order of the whole", n, cut)
			}
			for i, v := range gputest.Download(t, d, out) {
				if v != x[order[i]] {
					t.Fatalf("%d elements: %d is not the key at position %d", n, v, order[i])
				}
			}

			check(Sort(s, in))
			if slices.Sort(x); !slices.Equal(gputest.Download(t, d, in), x) {
				t.Fatalf("%d elements of %d values: not sorted", n, values)
			}
		}
	})
}
