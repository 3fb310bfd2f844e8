package algo

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
)

// calls are one call of each function with n elements, and without a workspace for those that
// take none.
func calls(t testing.TB, d *gpu.Device, n int) map[string]func(s *gpu.Stream, work ...*gpu.Workspace) error {
	x, y, rejected := gputest.Upload(t, d, random[float32](n, 100)), gputest.Alloc[float32](t, d, n), gputest.Alloc[float32](t, d, n)
	one, count, index := gputest.Alloc[float32](t, d, 1), gputest.Alloc[int](t, d, 1), gputest.Upload(t, d, make([]uint32, n))
	values, bins, flags := gputest.Alloc[[3]int32](t, d, n), gputest.Alloc[uint32](t, d, 100), gputest.Upload(t, d, make([]uint8, n))
	moments, exact, ends := gputest.Alloc[Moments](t, d, 1), gputest.Alloc[Compensated[float32]](t, d, 1), gputest.Upload(t, d, []int32{0, int32(n)})
	sum, nonZero, axis := Sum[float32](), NonZero[float32](), Axis{1, n, 1}
	at := gputest.Alloc[uint32](t, d, 1)
	two, twoAt := gputest.Alloc[float32](t, d, 2), gputest.Alloc[uint32](t, d, 2)
	edges := gputest.Upload(t, d, append(make([]float32, 100), 1))
	all := map[string]func(s *gpu.Stream, w ...*gpu.Workspace) error{
		"Reduce":         func(s *gpu.Stream, w ...*gpu.Workspace) error { return Reduce(s, sum, one, x, w...) },
		"ReduceAxis":     func(s *gpu.Stream, w ...*gpu.Workspace) error { return ReduceAxis(s, sum, axis, one, x, w...) },
		"ReduceSegments": func(s *gpu.Stream, _ ...*gpu.Workspace) error { return ReduceSegments(s, sum, 0, one, x, ends) },
		"MomentsAxis":    func(s *gpu.Stream, w ...*gpu.Workspace) error { return MomentsAxis(s, axis, moments, x, w...) },
		"MomentsSegments": func(s *gpu.Stream, _ ...*gpu.Workspace) error {
			return MomentsSegments(s, moments, x, ends)
		},
		"CountAxis":     func(s *gpu.Stream, _ ...*gpu.Workspace) error { return CountAxis(s, nonZero, axis, count, x) },
		"CountSegments": func(s *gpu.Stream, _ ...*gpu.Workspace) error { return CountSegments(s, nonZero, count, x, ends) },
		"ScanSegments":  func(s *gpu.Stream, w ...*gpu.Workspace) error { return ScanSegments(s, sum, y, x, ends, w...) },
		"TopKIndicesAxis": func(s *gpu.Stream, w ...*gpu.Workspace) error {
			return TopKIndicesAxis(s, Radix{}, Axis{2, n / 2, 1}, two, twoAt, x, w...)
		},
		"Scan":      func(s *gpu.Stream, w ...*gpu.Workspace) error { return Scan(s, sum, y, x, w...) },
		"ScanAxis":  func(s *gpu.Stream, _ ...*gpu.Workspace) error { return ScanAxis(s, sum, axis, y, x) },
		"Sort":      func(s *gpu.Stream, w ...*gpu.Workspace) error { return Sort(s, y, w...) },
		"SortPairs": func(s *gpu.Stream, w ...*gpu.Workspace) error { return SortPairs(s, y, values, w...) },
		"TopKIndices": func(s *gpu.Stream, w ...*gpu.Workspace) error {
			return TopKIndices(s, Radix{}, one, at, x, w...)
		},
		"SortAxis": func(s *gpu.Stream, w ...*gpu.Workspace) error {
			return SortAxis(s, Radix{}, Axis{2, n / 2, 1}, y, w...)
		},
		"SortPairsAxis": func(s *gpu.Stream, w ...*gpu.Workspace) error {
			return SortPairsAxis(s, Radix{}, Axis{2, n / 2, 1}, y, values, w...)
		},
		"SortPairsSegments": func(s *gpu.Stream, w ...*gpu.Workspace) error {
			return SortPairsSegments(s, Radix{}, y, values, ends, w...)
		},
		"ArgSort": func(s *gpu.Stream, w ...*gpu.Workspace) error { return ArgSort(s, Radix{}, index, x, w...) },
		"ArgSortAxis": func(s *gpu.Stream, w ...*gpu.Workspace) error {
			return ArgSortAxis(s, Radix{}, Axis{1, n / 2, 2}, index, x, w...)
		},
		"SortSegments": func(s *gpu.Stream, w ...*gpu.Workspace) error {
			return SortSegments(s, Radix{}, y, ends, w...)
		},
		"Select": func(s *gpu.Stream, w ...*gpu.Workspace) error { return Select(s, nonZero, y, count, x, w...) },
		"Partition": func(s *gpu.Stream, w ...*gpu.Workspace) error {
			return Partition(s, nonZero, y, rejected, count, x, w...)
		},
		"Where":           func(s *gpu.Stream, w ...*gpu.Workspace) error { return Where(s, nonZero, index, count, x, w...) },
		"SelectFlagged":   func(s *gpu.Stream, w ...*gpu.Workspace) error { return SelectFlagged(s, flags, y, count, x, w...) },
		"Count":           func(s *gpu.Stream, _ ...*gpu.Workspace) error { return Count(s, nonZero, count, x) },
		"HistogramEven":   func(s *gpu.Stream, w ...*gpu.Workspace) error { return HistogramEven(s, 0, 1, bins, x, w...) },
		"HistogramEdges":  func(s *gpu.Stream, w ...*gpu.Workspace) error { return HistogramEdges(s, edges, bins, x, w...) },
		"MomentsOf":       func(s *gpu.Stream, w ...*gpu.Workspace) error { return MomentsOf(s, moments, x, w...) },
		"SumCompensated":  func(s *gpu.Stream, w ...*gpu.Workspace) error { return SumCompensated(s, exact, x, w...) },
		"HistogramValues": func(s *gpu.Stream, w ...*gpu.Workspace) error { return HistogramValues(s, bins, flags, w...) },
	}
	maps.Copy(all, orderCalls(t, d, n))
	return all
}

// Every function works with a workspace of the size that it asks for, in graphs, and allocates
// nothing when it runs again.
func TestCallsKeepTheContract(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		s := d.DefaultStream()
		for name, call := range calls(t, d, 9000) {
			if err := call(s); err != nil {
				t.Fatal(name, err)
			}
			measure := gpu.MeasureWorkspace()
			if err := call(s, measure); err != nil {
				t.Fatal(name, err)
			}
			size := measure.Size()
			work := gpu.NewWorkspace(gputest.Alloc[byte](t, d, size))
			if err := call(s, work); err != nil {
				t.Fatal(name, err)
			}
			if size > 0 {
				small := gpu.NewWorkspace(gputest.Alloc[byte](t, d, size-1))
				if err := call(s, small); !errors.Is(err, gpu.ErrInvalid) {
					t.Errorf("%s: a workspace that is too small: %v", name, err)
				}
			}
			g, err := d.Capture(func(s *gpu.Stream) error { return call(s) })
			if err != nil {
				t.Fatal(name, err)
			}
			exec, err := g.Instantiate()
			if err != nil {
				t.Fatal(name, err)
			}
			if err := errors.Join(exec.Launch(s), s.Synchronize(t.Context()), exec.Close()); err != nil {
				t.Fatal(name, err)
			}
			if d.Backend() == gpu.CPU {
				list := []*gpu.Workspace{work}
				if n := testing.AllocsPerRun(50, func() { call(s, list...) }); n > 0 {
					t.Errorf("%s allocates %v times per call", name, n)
				}
			}
		}
	})
}

// A call whose workspace is too small writes nothing.
func TestSmallWorkspaceWritesNothing(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		s, n := d.DefaultStream(), 9000
		words := gputest.Upload(t, d, random[uint32](n, 100))
		bytes := gpu.Reinterpret[uint8](words).Slice(0, n)
		for name, call := range map[string]func(dst, index *gpu.Buffer[uint32], w *gpu.Workspace) error{
			"TopK": func(dst, _ *gpu.Buffer[uint32], w *gpu.Workspace) error { return TopK(s, Radix{}, dst, words, w) },
			"TopKIndices": func(dst, index *gpu.Buffer[uint32], w *gpu.Workspace) error {
				return TopKIndices(s, Radix{}, dst, index, words, w)
			},
			"TopKAxis": func(dst, _ *gpu.Buffer[uint32], w *gpu.Workspace) error {
				return TopKAxis(s, Radix{}, Axis{2, n / 2, 1}, dst, words, w)
			},
			"TopKIndices of bytes": func(dst, index *gpu.Buffer[uint32], w *gpu.Workspace) error {
				return TopKIndices(s, Radix{}, gpu.Reinterpret[uint8](dst).Slice(0, 20), index, bytes, w)
			},
		} {
			want := make([]uint32, 20)
			dst, index := gputest.Upload(t, d, want), gputest.Upload(t, d, want)
			measure := gpu.MeasureWorkspace()
			if err := call(dst, index, measure); err != nil {
				t.Fatal(name, err)
			}
			small := gpu.NewWorkspace(gputest.Alloc[byte](t, d, measure.Size()-1))
			if err := call(dst, index, small); !errors.Is(err, gpu.ErrInvalid) {
				t.Errorf("%s: %v", name, err)
			}
			if got := gputest.Download(t, d, dst); !slices.Equal(got, want) {
				t.Errorf("%s has written %v", name, got)
			}
			if got := gputest.Download(t, d, index); !slices.Equal(got, want) {
				t.Errorf("%s has written the indices %v", name, got)
			}
		}
	})
}

// Buffers without elements that no function accepts: they are not arrays that happen to be empty.
func TestUnusableBuffersAreNotEmptyOnes(t *testing.T) {
	d := gputest.Open(t, gpu.Config{Device: "cpu"})
	s := d.DefaultStream()
	four, count, bins := gputest.Alloc[float32](t, d, 4), gputest.Alloc[int](t, d, 1), gputest.Alloc[uint32](t, d, 4)
	for name, b := range map[string]*gpu.Buffer[float32]{"zero value": {}, "view of it": new(gpu.Buffer[float32]).Slice(0, 0), "view outside": four.Slice(2, 9)} {
		for _, c := range []struct {
			err  error
			want string
		}{
			{Scan(s, Sum[float32](), b, b), "algo: Scan: src: "},
			{ScanAxis(s, Sum[float32](), Axis{}, b, b), "algo: ScanAxis: src: "},
			{Sort(s, b), "algo: Sort: keys: "},
			{SortPairs(s, b, b), "algo: SortPairs: keys: "},
			{SortBy(s, Ascending[float32](), b), "algo: SortBy: "},
			{Select(s, NonZero[float32](), b, count, b), "algo: Select: src: "},
			{Count(s, NonZero[float32](), count, b), "algo: Count: src: "},
			{Unique(s, Same[float32](), b, count, b), "algo: Unique: "},
			{TopK(s, Radix{}, b, four), "algo: TopK: dst: "},
			{HistogramEven(s, 0, 1, bins, b), "algo: HistogramEven: src: "},
			{Gather(s, b, four, bins.Slice(0, 0)), "algo: Gather: dst: "},
			{Merge(s, Ascending[float32](), b, b, b), "algo: Merge: "},
		} {
			if !errors.Is(c.err, gpu.ErrInvalid) || !strings.HasPrefix(c.err.Error(), c.want) {
				t.Errorf("%s: got %v, want %s...", name, c.err, c.want)
			}
		}
	}
}

func TestBadArguments(t *testing.T) {
	d := gputest.Open(t, gpu.Config{Device: "cpu"})
	s := d.DefaultStream()
	four, five, one := gputest.Alloc[float32](t, d, 4), gputest.Alloc[float32](t, d, 5), gputest.Alloc[float32](t, d, 1)
	empty, count := gputest.Alloc[float32](t, d, 0), gputest.Alloc[int](t, d, 1)
	nine, indices := gputest.Alloc[float32](t, d, 9), gputest.Upload(t, d, []uint32{0, 1, 2, 3})
	ints, ends := gputest.Alloc[int](t, d, 4), gputest.Upload(t, d, []int32{0, 4})
	for _, tt := range []struct {
		err  error
		want string
	}{
		{Reduce(s, Sum[float32](), four, five), "algo: Reduce: dst: 4 elements, want 1"},
		{Reduce(s, Sum[float32](), one, empty), "algo: Reduce: src: no elements, and Reduce has no result for none"},
		{Reduce(s, Sum[float32](), one, nil), "algo: Reduce: src: the buffer is nil"},
		{ArgMin(s, Ascending[float32](), count, nil), "algo: ArgMin: src: the buffer is nil"},
		{MinMax(s, Ascending[float32](), four.Slice(0, 2), nil), "algo: MinMax: src: the buffer is nil"},
		{HistogramValues(s, nil, gputest.Alloc[uint8](t, d, 4)), "algo: HistogramValues: counts: the buffer is nil"},
		{HistogramEven(s, 0, 1e-44, gputest.Alloc[uint32](t, d, 3), five), "algo: HistogramEven: low and high: 0 to 1e-44; 3 bins of this range are too narrow for float32"},
		{ScanAxis(s, Sum[float32](), Axis{1 << 31, 1 << 31, 5}, five, five), "algo: ScanAxis: src: 5 elements, but 2147483648x[2147483648]x5 are more than an int"},
		{CountAxis(s, NonZero[float32](), Axis{1<<62 + 1, 0, 4}, gputest.Alloc[int](t, d, 4), empty), "algo: CountAxis: axis: 4611686018427387905x[0]x4 has more lines than an int"},
		{Reduce(s, Combine[float32]{}, one, five), "algo: Reduce: operator: it has no kernels for type float32: declare it with //quern:op, list the type in instantiate=, and run go generate"},
		{Scan(s, Sum[float32](), four, five), "algo: Scan: dst: 4 elements, want 5"},
		{Scan(s, Sum[float32](), nil, five), "algo: Scan: dst: the buffer is nil"},
		{Scan(s, Sum[float32](), five, nil), "algo: Scan: src: the buffer is nil"},
		{SortPairs(s, five, four), "algo: SortPairs: values: 4 elements, want 5"},
		{Sort[float32](s, nil), "algo: Sort: keys: the buffer is nil"},
		{SortRadix(s, Radix{Bits: 8}, five), "algo: SortRadix: r: FirstBit is 0 and Bits is 8, but all 32 bits of floating-point keys count; leave both 0"},
		{SortRadix(s, Radix{FirstBit: 30, Bits: 3}, gputest.Alloc[int32](t, d, 3)), "algo: SortRadix: r: FirstBit is 30 and Bits is 3, but keys have 32 bits"},
		{SortRadix(s, Radix{FirstBit: 1, Bits: math.MaxInt}, indices), fmt.Sprintf("algo: SortRadix: r: FirstBit is 1 and Bits is %d, but keys have 32 bits", math.MaxInt)},
		{TopK(s, Radix{FirstBit: math.MaxInt, Bits: math.MaxInt}, indices.Slice(0, 1), indices.Slice(1, 4)), fmt.Sprintf("algo: TopK: r: FirstBit is %[1]d and Bits is %[1]d, but keys have 32 bits", math.MaxInt)},
		{SortAxis(s, Radix{}, Axis{2, 2, 1}, five), "algo: SortAxis: keys: 5 elements, but 2x[2]x1 are 4"},
		{SortPairsAxis(s, Radix{}, Axis{2, 2, 1}, four, five), "algo: SortPairsAxis: values: 5 elements, want 4"},
		{SortPairsAxis(s, Radix{}, Axis{-1, -2, 2}, four, four), "algo: SortPairsAxis: axis: negative extent in -1x[-2]x2"},
		{SortPairsAxis[float32, float32](s, Radix{}, Axis{}, nil, five), "algo: SortPairsAxis: keys: the buffer is nil"},
		{SortPairsSegments(s, Radix{}, four, five, gputest.Upload(t, d, []int32{0, 4})), "algo: SortPairsSegments: values: 5 elements, want 4"},
		{SortPairsSegments(s, Radix{}, four, four, nil), "algo: SortPairsSegments: ends: no elements; want one more than there are segments"},
		{ArgSort(s, Radix{}, gputest.Alloc[uint32](t, d, 5), four), "algo: ArgSort: dst: 5 elements, want 4"},
		{ArgSort(s, Radix{Bits: 8}, gputest.Alloc[uint32](t, d, 4), four), "algo: ArgSort: r: FirstBit is 0 and Bits is 8, but all 32 bits of floating-point keys count; leave both 0"},
		{ArgSortAxis(s, Radix{}, Axis{2, 2, 1}, nil, four), "algo: ArgSortAxis: dst: the buffer is nil"},
		{SortSegments[float32](s, Radix{}, nil, nil), "algo: SortSegments: keys: the buffer is nil"},
		{SortSegments(s, Radix{}, five, nil), "algo: SortSegments: ends: no elements; want one more than there are segments"},
		{SortAxis[float32](s, Radix{}, Axis{2, 2, 1}, nil), "algo: SortAxis: keys: the buffer is nil"},
		{SortAxis(s, Radix{Bits: 8}, Axis{5, 1, 1}, five), "algo: SortAxis: r: FirstBit is 0 and Bits is 8, but all 32 bits of floating-point keys count; leave both 0"},
		{TopK(s, Radix{}, five, four), "algo: TopK: dst: 5 elements, but src has 4"},
		{TopKIndices(s, Radix{}, four, gputest.Alloc[uint32](t, d, 5), five), "algo: TopKIndices: index: 5 elements, want 4"},
		{TopKAxis(s, Radix{}, Axis{2, 2, 1}, one, four), "algo: TopKAxis: dst: 1 elements; want as many for each of the 2 lines, up to 2"},
		{TopKAxis(s, Radix{}, Axis{2, 2, 1}, gputest.Alloc[float32](t, d, 6), four), "algo: TopKAxis: dst: 6 elements; want as many for each of the 2 lines, up to 2"},
		{CountAxis(s, NonZero[float32](), Axis{2, 2, 1}, count, four), "algo: CountAxis: dst: 1 elements, want 2"},
		{CountSegments(s, NonZero[float32](), count, four, nil), "algo: CountSegments: ends: the buffer is nil"},
		{MomentsAxis(s, Axis{2, 2, 1}, gputest.Alloc[Moments](t, d, 2), five), "algo: MomentsAxis: src: 5 elements, but 2x[2]x1 are 4"},
		{ScanSegments(s, Sum[float32](), five, five, nil), "algo: ScanSegments: ends: no elements; want one more than there are segments"},
		{Select(s, NonZero[float32](), four, count, five), "algo: Select: dst: 4 elements, want 5"},
		{HistogramEven(s, 1, 0, gputest.Alloc[uint32](t, d, 3), five), "algo: HistogramEven: low and high: 1 to 0; want finite numbers, the first below the second"},
		{HistogramEdges(s, four, gputest.Alloc[uint32](t, d, 4), five), "algo: HistogramEdges: edges: 4 elements, want 5"},
		{HistogramEven(s, 0, 1, gputest.Alloc[uint32](t, d, 0), five), "algo: HistogramEven: counts: no bins"},
		{Select(s, NonZero[float32](), five, count, five), "algo: Select: dst: it shares memory with src"},
		{Partition(s, NonZero[float32](), nine.Slice(0, 5), nine.Slice(4, 9), count, five), "algo: Partition: rejected: it shares memory with dst"},
		{Gather(s, nine.Slice(0, 4), nine.Slice(3, 7), gputest.Alloc[uint32](t, d, 4)), "algo: Gather: dst: it shares memory with src"},
		{Gather(s, indices, gputest.Alloc[uint32](t, d, 5), indices), "algo: Gather: dst: it shares memory with at"},
		{Scatter(s, nine.Slice(3, 7), nine.Slice(0, 4), indices), "algo: Scatter: dst: it shares memory with src"},
		{TopK(s, Radix{}, nine.Slice(0, 1), nine), "algo: TopK: dst: it shares memory with src"},
		{TopKAxis(s, Radix{}, Axis{3, 3, 1}, nine.Slice(0, 3), nine), "algo: TopKAxis: dst: it shares memory with src"},
		{ArgSort(s, Radix{}, indices, indices), "algo: ArgSort: dst: it shares memory with keys"},
		{Scan(s, Sum[float32](), nine.Slice(1, 6), nine.Slice(0, 5)), "algo: Scan: dst: it shares memory with src"},
		{ScanAxis(s, Sum[float32](), Axis{1, 4, 2}, nine.Slice(1, 9), nine.Slice(0, 8)), "algo: ScanAxis: dst: it shares memory with src"},
		{ScanByKey(s, Same[float32](), Sum[float32](), four, four, nine.Slice(0, 4)), "algo: ScanByKey: dst: it shares memory with keys"},
		{ScanSegments(s, Sum[float32](), nine.Slice(0, 5), nine.Slice(1, 6), ends), "algo: ScanSegments: dst: it shares memory with src"},
		{ReduceAxis(s, Sum[float32](), Axis{4, 2, 1}, nine.Slice(2, 6), nine.Slice(0, 8)), "algo: ReduceAxis: dst: it shares memory with src"},
		{ReduceSegments(s, Sum[float32](), 0, nine.Slice(8, 9), nine, ends), "algo: ReduceSegments: dst: it shares memory with src"},
		{ReduceByKey(s, Same[float32](), Sum[float32](), nine.Slice(0, 4), nine.Slice(3, 7), count, four, five.Slice(0, 4)), "algo: ReduceByKey: dst: it shares memory with dstKeys"},
		{SortPairs(s, four, four), "algo: SortPairs: values: it shares memory with keys"},
		{SortPairsBy(s, Ascending[float32](), nine.Slice(0, 5), nine.Slice(4, 9)), "algo: SortPairsBy: values: it shares memory with keys"},
		{SortPairsAxis(s, Radix{}, Axis{2, 2, 1}, nine.Slice(0, 4), nine.Slice(3, 7)), "algo: SortPairsAxis: values: it shares memory with keys"},
		{SortPairsSegments(s, Radix{}, four, four, ends), "algo: SortPairsSegments: values: it shares memory with keys"},
		{TopKIndices(s, Radix{}, indices.Slice(0, 2), indices.Slice(1, 3), gputest.Alloc[uint32](t, d, 5)), "algo: TopKIndices: index: it shares memory with dst"},
		{LowerBound(s, Ascending[int64](), ints, gpu.Reinterpret[int64](ints), gpu.Reinterpret[int64](ints)), "algo: LowerBound: dst: it shares memory with sorted"},
		{Count(s, NonZero[int64](), ints.Slice(3, 4), gpu.Reinterpret[int64](ints)), "algo: Count: dst: it shares memory with src"},
		{ArgMax(s, Ascending[int64](), ints.Slice(3, 4), gpu.Reinterpret[int64](ints)), "algo: ArgMax: dst: it shares memory with src"},
		{IsSorted(s, Ascending[uint32](), indices.Slice(3, 4), indices), "algo: IsSorted: dst: it shares memory with x"},
		{HistogramValues(s, indices, gpu.Reinterpret[int32](indices)), "algo: HistogramValues: counts: it shares memory with src"},
		{Unique(s, Same[int64](), gpu.Reinterpret[int64](ints), ints.Slice(0, 1), gputest.Alloc[int64](t, d, 4)), "algo: Unique: count: it shares memory with dst"},
		{RunLengths(s, Same[float32](), nine.Slice(0, 4), ints, ints.Slice(0, 1), four), "algo: RunLengths: count: it shares memory with lengths"},
		{Union(s, Ascending[int64](), gputest.Alloc[int64](t, d, 8), ints.Slice(0, 1), gpu.Reinterpret[int64](ints), gputest.Alloc[int64](t, d, 4)), "algo: Union: count: it shares memory with a"},
		{Gather(s, four, five, gputest.Alloc[uint32](t, d, 5)), "algo: Gather: at: 5 elements, want 4"},
	} {
		if tt.err == nil || tt.err.Error() != tt.want || !errors.Is(tt.err, gpu.ErrInvalid) {
			t.Errorf("got  %v\nwant %s", tt.err, tt.want)
		}
	}
	if err := Scatter(s, nine.Slice(4, 8), nine.Slice(0, 4), indices); err != nil {
		t.Errorf("neighbouring parts of a buffer: %v", err)
	}
	if err := Reduce(s, Sum[float32](), nine.Slice(8, 9), nine); err != nil {
		t.Errorf("a sum in an element of its argument: %v", err)
	}
	if err := Sort(nil, five); !errors.Is(err, gpu.ErrInvalid) {
		t.Errorf("no stream: %v", err)
	}
}
