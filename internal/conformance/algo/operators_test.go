package algo

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"quern.dev/algo"
	"quern.dev/gpu"
	"quern.dev/gputest"
)

// run calls f on each device, with numbers of elements that make several tiles or parts.
func run(t *testing.T, f func(t *testing.T, d *gpu.Device, s *gpu.Stream, lengths []int)) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		lengths := []int{0, 1, 5, 256, 257, 1280, 1281, 5000}
		if d.Backend() == gpu.CPU {
			lengths = append(lengths, 8192, 8193, 70000)
		}
		f(t, d, d.DefaultStream(), lengths)
	})
}

func records(n int) []record {
	x := make([]record, n)
	for i := range x {
		x[i] = record{int32(rand.IntN(5)), float32(rand.IntN(20)), uint32(i)}
	}
	return x
}

// compare returns the order of a function, for package slices.
func compare[T any](less func(a, b T) bool) func(a, b T) int {
	return func(a, b T) int {
		switch {
		case less(a, b):
			return -1
		case less(b, a):
			return 1
		}
		return 0
	}
}

func TestSortByAnOrderWithBoundParameters(t *testing.T) {
	run(t, func(t *testing.T, d *gpu.Device, s *gpu.Stream, lengths []int) {
		for _, n := range lengths {
			for _, reversed := range []bool{false, true} {
				x := records(n)
				keys := gputest.Upload(t, d, x)
				if err := algo.SortBy(s, OpByScore(reversed, 7.5), keys); err != nil {
					t.Fatal(err)
				}
				slices.SortStableFunc(x, compare(func(a, b record) bool { return byScore(a, b, reversed, 7.5) }))
				if !gputest.Equal(t, gputest.Download(t, d, keys), x, gputest.Name(fmt.Sprintf("%d records", n))) {
					return
				}
			}
		}
	})
}

func TestSortByKeysOfManySizes(t *testing.T) {
	run(t, func(t *testing.T, d *gpu.Device, s *gpu.Stream, lengths []int) {
		for _, n := range lengths {
			if d.Backend() != gpu.CPU && n > 1500 {
				continue // enough: tiles of the wide ones have 256 elements
			}
			x, y, values := make([]wide, n), make([]small, n), make([]uint32, n)
			for i := range x {
				x[i].Key, x[i].Rest[9], x[i].Part[2] = int16(rand.IntN(50)-25), uint64(i), uint8(i)
				y[i].V, values[i] = uint8(rand.IntN(200)), uint32(i)
			}
			keys, bytes, with := gputest.Upload(t, d, x), gputest.Upload(t, d, y), gputest.Upload(t, d, values)
			if err := algo.SortBy(s, OpByKey, keys); err != nil {
				t.Fatal(err)
			}
			if err := algo.SortPairsBy(s, OpBySize, bytes, with); err != nil {
				t.Fatal(err)
			}
			slices.SortStableFunc(values, func(a, b uint32) int { return cmp.Compare(y[a].V, y[b].V) })
			slices.SortStableFunc(x, compare(byKey))
			slices.SortStableFunc(y, compare(bySize))
			if !gputest.Equal(t, gputest.Download(t, d, keys), x, gputest.Name(fmt.Sprintf("%d wide", n))) ||
				!gputest.Equal(t, gputest.Download(t, d, bytes), y, gputest.Name(fmt.Sprintf("%d small", n))) ||
				!gputest.Equal(t, gputest.Download(t, d, with), values, gputest.Name(fmt.Sprintf("values of %d small", n))) {
				return
			}
		}
	})
}

// each returns the results of f for the elements of x.
func each[T, R any](x []T, f func(T) R) []R {
	y := make([]R, len(x))
	for i := range x {
		y[i] = f(x[i])
	}
	return y
}

func TestMergeAndSetsTakeElementsFromTheFirstList(t *testing.T) {
	run(t, func(t *testing.T, d *gpu.Device, s *gpu.Stream, lengths []int) {
		order := func(a, b record) bool { return byScore(a, b, false, 3) }
		for _, n := range lengths {
			x, y := records(n), records(n/2)
			for i := range y {
				y[i].ID += 1 << 20
			}
			slices.SortStableFunc(x, compare(order))
			slices.SortStableFunc(y, compare(order))
			a, b := gputest.Upload(t, d, x), gputest.Upload(t, d, y)
			merged, both, count := gputest.Alloc[record](t, d, n+n/2), gputest.Alloc[record](t, d, n/2), gputest.Alloc[int](t, d, 1)
			if err := algo.Merge(s, OpByScore(false, 3), merged, a, b); err != nil {
				t.Fatal(err)
			}
			want := append(slices.Clone(x), y...)
			slices.SortStableFunc(want, compare(order))
			if !gputest.Equal(t, gputest.Download(t, d, merged), want, gputest.Name(fmt.Sprintf("merge of %d", n))) {
				return
			}
			id := func(r record) uint32 { return r.ID }
			ids := gputest.Alloc[uint32](t, d, n+n/2)
			if err := algo.MergePairs(s, OpByScore(false, 3), merged, ids, a, gputest.Upload(t, d, each(x, id)), b, gputest.Upload(t, d, each(y, id))); err != nil {
				t.Fatal(err)
			}
			if !gputest.Equal(t, gputest.Download(t, d, merged), want, gputest.Name(fmt.Sprintf("merge of %d with values", n))) ||
				!gputest.Equal(t, gputest.Download(t, d, ids), each(want, id), gputest.Name(fmt.Sprintf("values of the merge of %d", n))) {
				return
			}
			if err := algo.Intersection(s, OpByScore(false, 3), both, count, a, b); err != nil {
				t.Fatal(err)
			}
			want = nil
			for i, j := 0, 0; i < len(x) && j < len(y); {
				switch {
				case order(x[i], y[j]):
					i++
				case order(y[j], x[i]):
					j++
				default:
					want = append(want, x[i])
					i++
					j++
				}
			}
			if !gputest.Equal(t, gputest.Download(t, d, count), []int{len(want)}, gputest.Name(fmt.Sprintf("size of intersection of %d", n))) ||
				!gputest.Equal(t, gputest.Download(t, d, both)[:len(want)], want, gputest.Name(fmt.Sprintf("intersection of %d", n))) {
				return
			}
		}
	})
}

func TestSearchesWithAnOrder(t *testing.T) {
	run(t, func(t *testing.T, d *gpu.Device, s *gpu.Stream, lengths []int) {
		for _, n := range lengths[1:] {
			x := records(n)
			in, at, both := gputest.Upload(t, d, x), gputest.Alloc[int](t, d, 1), gputest.Alloc[record](t, d, 2)
			order := func(a, b record) bool { return byScore(a, b, false, 3) }
			lo, hi := 0, 0
			for i := range x {
				if order(x[i], x[lo]) {
					lo = i
				}
				if order(x[hi], x[i]) {
					hi = i
				}
			}
			if err := algo.ArgMin(s, OpByScore(false, 3), at, in); err != nil {
				t.Fatal(err)
			}
			gputest.Equal(t, gputest.Download(t, d, at), []int{lo}, gputest.Name(fmt.Sprintf("ArgMin of %d", n)))
			if err := algo.ArgMax(s, OpByScore(false, 3), at, in); err != nil {
				t.Fatal(err)
			}
			gputest.Equal(t, gputest.Download(t, d, at), []int{hi}, gputest.Name(fmt.Sprintf("ArgMax of %d", n)))
			if err := algo.MinMax(s, OpByScore(false, 3), both, in); err != nil {
				t.Fatal(err)
			}
			gputest.Equal(t, gputest.Download(t, d, both), []record{x[lo], x[hi]}, gputest.Name(fmt.Sprintf("MinMax of %d", n)))
		}
	})
}

func TestRunsOfStructs(t *testing.T) {
	run(t, func(t *testing.T, d *gpu.Device, s *gpu.Stream, lengths []int) {
		for _, n := range lengths {
			x := records(n)
			spans := make([]span, n)
			var heads []record
			var want []span
			for i := range x {
				v := rand.Float32()
				spans[i] = span{v, v, v, 1}
				if i == 0 || !sameGroup(x[i-1], x[i]) {
					heads, want = append(heads, x[i]), append(want, spans[i])
				} else {
					want[len(want)-1] = join(want[len(want)-1], spans[i])
				}
			}
			keys, values := gputest.Upload(t, d, x), gputest.Upload(t, d, spans)
			dstKeys, dst, count := gputest.Alloc[record](t, d, n), gputest.Alloc[span](t, d, n), gputest.Alloc[int](t, d, 1)
			if err := algo.ReduceByKey(s, OpSameGroup, OpJoin, dstKeys, dst, count, keys, values); err != nil {
				t.Fatal(err)
			}
			if !gputest.Equal(t, gputest.Download(t, d, count), []int{len(want)}, gputest.Name(fmt.Sprintf("runs of %d", n))) ||
				!gputest.Equal(t, gputest.Download(t, d, dstKeys)[:len(want)], heads, gputest.Name(fmt.Sprintf("keys of %d", n))) ||
				!gputest.Equal(t, gputest.Download(t, d, dst)[:len(want)], want, gputest.Name(fmt.Sprintf("spans of %d", n))) {
				return
			}
		}
	})
}

func TestUniqueWithABoundParameter(t *testing.T) {
	run(t, func(t *testing.T, d *gpu.Device, s *gpu.Stream, _ []int) {
		x := []float32{1, 1.5, 2, 4, 4.25, 9, 9, 7.5}
		in, out, count := gputest.Upload(t, d, x), gputest.Alloc[float32](t, d, len(x)), gputest.Alloc[int](t, d, 1)
		if err := algo.Unique(s, OpWithin(0.5), out, count, in); err != nil {
			t.Fatal(err)
		}
		want := []float32{1, 4, 9, 7.5}
		gputest.Equal(t, gputest.Download(t, d, count), []int{len(want)})
		gputest.Equal(t, gputest.Download(t, d, out)[:len(want)], want)
	})
}
