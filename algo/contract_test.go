package algo

import (
	"errors"
	"maps"
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

func TestBadArguments(t *testing.T) {
	d := gputest.Open(t, gpu.Config{Device: "cpu"})
	s := d.DefaultStream()
	four, five, one := gputest.Alloc[float32](t, d, 4), gputest.Alloc[float32](t, d, 5), gputest.Alloc[float32](t, d, 1)
	empty, count := gputest.Alloc[float32](t, d, 0), gputest.Alloc[int](t, d, 1)
	nine, indices := gputest.Alloc[float32](t, d, 9), gputest.Upload(t, d, []uint32{0, 1, 2, 3})
	for _, tt := range []struct {
		err  error
		want string
	}{
		{Reduce(s, Sum[float32](), four, five), "algo: Reduce: dst: 4 elements, want 1"},
		{Reduce(s, Sum[float32](), one, empty), "algo: Reduce: src: no elements, and Reduce has no result for none"},
		{Reduce(s, Combine[float32]{}, one, five), "algo: Reduce: operator: it has no kernels for type float32: declare it with //quern:op, list the type in instantiate=, and run go generate"},
		{Scan(s, Sum[float32](), four, five), "algo: Scan: dst: 4 elements, want 5"},
		{Scan(s, Sum[float32](), nil, five), "algo: Scan: dst: the buffer is nil"},
		{Scan(s, Sum[float32](), five, nil), "algo: Scan: src: the buffer is nil"},
		{SortPairs(s, five, four), "algo: SortPairs: values: 4 elements, want 5"},
		{Sort[float32](s, nil), "algo: Sort: keys: the buffer is nil"},
		{SortRadix(s, Radix{Bits: 8}, five), "algo: SortRadix: r: bits 0 to 8 of floating-point keys; all 32 bits of them count"},
		{SortRadix(s, Radix{FirstBit: 30, Bits: 3}, gputest.Alloc[int32](t, d, 3)), "algo: SortRadix: r: bits 30 to 33 of keys of 32 bits"},
		{SortAxis(s, Radix{}, Axis{2, 2, 1}, five), "algo: SortAxis: keys: 5 elements, but 2x[2]x1 are 4"},
		{SortPairsAxis(s, Radix{}, Axis{2, 2, 1}, four, five), "algo: SortPairsAxis: values: 5 elements, want 4"},
		{SortPairsAxis(s, Radix{}, Axis{-1, -2, 2}, four, four), "algo: SortPairsAxis: axis: negative extent in -1x[-2]x2"},
		{SortPairsAxis[float32, float32](s, Radix{}, Axis{}, nil, five), "algo: SortPairsAxis: keys: the buffer is nil"},
		{SortPairsSegments(s, Radix{}, four, five, gputest.Upload(t, d, []int32{0, 4})), "algo: SortPairsSegments: values: 5 elements, want 4"},
		{SortPairsSegments(s, Radix{}, four, four, nil), "algo: SortPairsSegments: ends: no elements; want one more than there are segments"},
		{ArgSort(s, Radix{}, gputest.Alloc[uint32](t, d, 5), four), "algo: ArgSort: dst: 5 elements, want 4"},
		{ArgSort(s, Radix{Bits: 8}, gputest.Alloc[uint32](t, d, 4), four), "algo: ArgSort: r: bits 0 to 8 of floating-point keys; all 32 bits of them count"},
		{ArgSortAxis(s, Radix{}, Axis{2, 2, 1}, nil, four), "algo: ArgSortAxis: dst: the buffer is nil"},
		{SortSegments[float32](s, Radix{}, nil, nil), "algo: SortSegments: keys: the buffer is nil"},
		{SortSegments(s, Radix{}, five, nil), "algo: SortSegments: ends: no elements; want one more than there are segments"},
		{SortAxis[float32](s, Radix{}, Axis{2, 2, 1}, nil), "algo: SortAxis: keys: the buffer is nil"},
		{SortAxis(s, Radix{Bits: 8}, Axis{5, 1, 1}, five), "algo: SortAxis: r: bits 0 to 8 of floating-point keys; all 32 bits of them count"},
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
		{Gather(s, four, five, gputest.Alloc[uint32](t, d, 5)), "algo: Gather: at: 5 elements, want 4"},
	} {
		if tt.err == nil || tt.err.Error() != tt.want || !errors.Is(tt.err, gpu.ErrInvalid) {
			t.Errorf("got  %v\nwant %s", tt.err, tt.want)
		}
	}
	if err := Scatter(s, nine.Slice(4, 8), nine.Slice(0, 4), indices); err != nil {
		t.Errorf("neighbouring parts of a buffer: %v", err)
	}
	if err := Sort(nil, five); !errors.Is(err, gpu.ErrInvalid) {
		t.Errorf("no stream: %v", err)
	}
}
