package algo

import (
	"errors"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
)

// orderCalls are calls of the functions that take a [Less] or an [Equal]; see calls.
func orderCalls(t testing.TB, d *gpu.Device, n int) map[string]func(s *gpu.Stream, work ...*gpu.Workspace) error {
	x, y := gputest.Upload(t, d, random[float32](n, 100)), gputest.Upload(t, d, random[float32](n, 100))
	twice, same, again := gputest.Alloc[float32](t, d, 2*n), gputest.Alloc[float32](t, d, n), gputest.Alloc[float32](t, d, n)
	values, at, lengths := gputest.Upload(t, d, make([][3]int32, n)), gputest.Alloc[int](t, d, n), gputest.Alloc[int](t, d, n)
	twiceValues := gputest.Alloc[[3]int32](t, d, 2*n)
	one, two, sorted := gputest.Alloc[int](t, d, 1), gputest.Alloc[float32](t, d, 2), gputest.Alloc[uint32](t, d, 1)
	up, equal, sum := Ascending[float32](), Same[float32](), Sum[float32]()
	axis, ends := Axis{1, n, 1}, gputest.Upload(t, d, []int32{0, int32(n)})
	// Merge and the set operations get sorted arguments; the other calls sort y.
	s := d.DefaultStream()
	a, b := gputest.Upload(t, d, random[float32](n, 100)), gputest.Upload(t, d, random[float32](n, 100))
	if err := errors.Join(Sort(s, a), Sort(s, b)); err != nil {
		t.Fatal(err)
	}
	return map[string]func(s *gpu.Stream, w ...*gpu.Workspace) error{
		"SortBy":      func(s *gpu.Stream, w ...*gpu.Workspace) error { return SortBy(s, up, y, w...) },
		"SortPairsBy": func(s *gpu.Stream, w ...*gpu.Workspace) error { return SortPairsBy(s, up, y, values, w...) },
		"Merge":       func(s *gpu.Stream, w ...*gpu.Workspace) error { return Merge(s, up, twice, a, b, w...) },
		"MergePairs": func(s *gpu.Stream, w ...*gpu.Workspace) error {
			return MergePairs(s, up, twice, twiceValues, a, values, b, values, w...)
		},
		"Union": func(s *gpu.Stream, w ...*gpu.Workspace) error { return Union(s, up, twice, one, a, b, w...) },
		"Intersection": func(s *gpu.Stream, w ...*gpu.Workspace) error {
			return Intersection(s, up, same, one, a, b, w...)
		},
		"LowerBound": func(s *gpu.Stream, _ ...*gpu.Workspace) error { return LowerBound(s, up, at, a, x) },
		"IsSorted":   func(s *gpu.Stream, _ ...*gpu.Workspace) error { return IsSorted(s, up, sorted, a) },
		"ArgMin":     func(s *gpu.Stream, w ...*gpu.Workspace) error { return ArgMin(s, up, one, x, w...) },
		"ArgMaxAxis": func(s *gpu.Stream, w ...*gpu.Workspace) error { return ArgMaxAxis(s, up, axis, one, x, w...) },
		"ArgMaxSegments": func(s *gpu.Stream, _ ...*gpu.Workspace) error {
			return ArgMaxSegments(s, up, one, x, ends)
		},
		"MinMax": func(s *gpu.Stream, w ...*gpu.Workspace) error { return MinMax(s, up, two, x, w...) },
		"Unique": func(s *gpu.Stream, w ...*gpu.Workspace) error { return Unique(s, equal, same, one, x, w...) },
		"RunLengths": func(s *gpu.Stream, w ...*gpu.Workspace) error {
			return RunLengths(s, equal, same, lengths, one, x, w...)
		},
		"ReduceByKey": func(s *gpu.Stream, w ...*gpu.Workspace) error {
			return ReduceByKey(s, equal, sum, same, again, one, a, x, w...)
		},
		"ScanByKey": func(s *gpu.Stream, w ...*gpu.Workspace) error { return ScanByKey(s, equal, sum, same, a, x, w...) },
	}
}

func TestBuiltInOrdersAreNotAllocated(t *testing.T) {
	d := gputest.Open(t, gpu.Config{Device: "cpu"})
	s := d.DefaultStream()
	x, at, count := gputest.Upload(t, d, []uint32{3, 1, 2}), gputest.Alloc[int](t, d, 1), gputest.Alloc[int](t, d, 1)
	y := gputest.Alloc[uint32](t, d, 3)
	if n := testing.AllocsPerRun(50, func() {
		ArgMin(s, Ascending[uint32](), at, x)
		ArgMax(s, Descending[uint32](), at, x)
		Unique(s, Same[uint32](), y, count, x)
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestBadArgumentsOfOrders(t *testing.T) {
	d := gputest.Open(t, gpu.Config{Device: "cpu"})
	s := d.DefaultStream()
	four, five, nine := gputest.Alloc[float32](t, d, 4), gputest.Alloc[float32](t, d, 5), gputest.Alloc[float32](t, d, 9)
	more := gputest.Alloc[float32](t, d, 9)
	other := gputest.Alloc[float32](t, d, 5)
	empty, count, flag := gputest.Alloc[float32](t, d, 0), gputest.Alloc[int](t, d, 1), gputest.Alloc[uint32](t, d, 2)
	up, equal, sum := Ascending[float32](), Same[float32](), Sum[float32]()
	for _, tt := range []struct {
		err  error
		want string
	}{
		{SortBy(s, Less[float32]{}, five), "algo: SortBy: operator: it has no kernels for type float32: declare it with //quern:op, list the type in instantiate=, and run go generate"},
		{SortBy(s, up, nil), "algo: SortBy: keys: the buffer is nil"},
		{SortPairsBy(s, up, five, four), "algo: SortPairsBy: values: 4 elements, want 5"},
		{Merge(s, up, nine, four, nil), "algo: Merge: b: the buffer is nil"},
		{Merge(s, up, five, four, five), "algo: Merge: dst: 5 elements, want 9"},
		{MergePairs(s, up, nine, five, four, four, five, five), "algo: MergePairs: dstValues: 5 elements, want 9"},
		{MergePairs(s, up, nine, nine, four, five, five, five), "algo: MergePairs: aValues: 5 elements, want 4"},
		{MergePairs(s, up, nine, nine, four, four, five, nil), "algo: MergePairs: bValues: the buffer is nil"},
		{MergePairs(s, up, five, nine, four, four, five, five), "algo: MergePairs: dst: 5 elements, want 9"},
		{MergePairs(s, up, nine, more, nine.Slice(0, 4), four, five, five), "algo: MergePairs: dst: it shares memory with a"},
		{MergePairs(s, up, nine, more, four, four, five, more.Slice(4, 9)), "algo: MergePairs: dstValues: it shares memory with bValues"},
		{Merge(s, up, nine, four, nine.Slice(4, 9)), "algo: Merge: dst: it shares memory with b"},
		{Union(s, up, nine, count, four, nine.Slice(0, 5)), "algo: Union: dst: it shares memory with b"},
		{MinMax(s, up, nine.Slice(7, 9), nine), "algo: MinMax: dst: it shares memory with src"},
		{Unique(s, equal, five, count, five), "algo: Unique: dst: it shares memory with src"},
		{Union(s, up, five, count, four, five), "algo: Union: dst: 5 elements, want 9"},
		{Union(s, up, nine, nil, four, five), "algo: Union: count: the buffer is nil"},
		{Intersection(s, up, five, count, four, five), "algo: Intersection: dst: 5 elements, want 4"},
		{Difference(s, up, five, count, four, five), "algo: Difference: dst: 5 elements, want 4"},
		{SymmetricDifference(s, up, five, count, nil, five), "algo: SymmetricDifference: a: the buffer is nil"},
		{LowerBound(s, up, count, four, five), "algo: LowerBound: dst: 1 elements, want 5"},
		{UpperBound(s, up, count, nil, five), "algo: UpperBound: sorted: the buffer is nil"},
		{IsSorted(s, up, flag, five), "algo: IsSorted: dst: 2 elements, want 1"},
		{ArgMin(s, up, count, empty), "algo: ArgMin: src: no elements, and ArgMin has no result for none"},
		{ArgMax(s, up, nil, five), "algo: ArgMax: dst: the buffer is nil"},
		{ArgMinAxis(s, up, Axis{1, 0, 1}, count, empty), "algo: ArgMinAxis: axis: it has no elements, and ArgMinAxis has no result for none"},
		{ArgMaxAxis(s, up, Axis{5, 1, 1}, count, five), "algo: ArgMaxAxis: dst: 1 elements, want 5"},
		{MinMax(s, up, four, five), "algo: MinMax: dst: 4 elements, want 2"},
		{Unique(s, equal, four, count, five), "algo: Unique: dst: 4 elements, want 5"},
		{Unique(s, Equal[float32]{}, other, count, five), "algo: Unique: operator: it has no kernels for type float32: declare it with //quern:op, list the type in instantiate=, and run go generate"},
		{RunLengths(s, equal, other, count, count, five), "algo: RunLengths: lengths: 1 elements, want 5"},
		{ReduceByKey(s, equal, sum, four, other, count, five, five), "algo: ReduceByKey: dstKeys: 4 elements, want 5"},
		{ReduceByKey(s, equal, sum, five, other, count, five, five), "algo: ReduceByKey: dstKeys: it shares memory with keys"},
		{ReduceByKey(s, equal, sum, more.Slice(4, 9), other, count, four, five), "algo: ReduceByKey: keys: 4 elements, want 5"},
		{ScanByKey(s, equal, sum, five, five, nil), "algo: ScanByKey: src: the buffer is nil"},
		{ScanExclusiveByKey(s, equal, sum, 0, four, five, five), "algo: ScanExclusiveByKey: dst: 4 elements, want 5"},
	} {
		if tt.err == nil || tt.err.Error() != tt.want || !errors.Is(tt.err, gpu.ErrInvalid) {
			t.Errorf("got  %v\nwant %s", tt.err, tt.want)
		}
	}
	for name, err := range map[string]error{
		"SortBy":     SortBy(nil, up, five),
		"Union":      Union(nil, up, nine, count, four, five),
		"LowerBound": LowerBound(nil, up, gputest.Alloc[int](t, d, 5), four, five),
		"IsSorted":   IsSorted(nil, up, gputest.Alloc[uint32](t, d, 1), five),
		"ArgMin":     ArgMin(nil, up, count, five),
		"Unique":     Unique(nil, equal, other, count, five),
		"ScanByKey":  ScanByKey(nil, equal, sum, five, five, five),
	} {
		if !errors.Is(err, gpu.ErrInvalid) {
			t.Errorf("%s without a stream: %v", name, err)
		}
	}
}
