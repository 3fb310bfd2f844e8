package main

import (
	"slices"

	"quern.dev/algo"
	"quern.dev/gpu"
)

func algoCases(q *suite) {
	reductions(q)
	scans(q)
	sorts(q)
	selections(q)
	searches(q)
}

// shape returns a random axis, its shape, and the number of elements.
func (q *suite) shape() (axis algo.Axis, shape []int, n int) {
	axis = algo.Axis{Outer: q.size(40), N: q.size(q.most / 64), Inner: q.size(40)}
	return axis, []int{axis.Outer, axis.N, axis.Inner}, axis.Outer * axis.N * axis.Inner
}

// ends returns the ends of random segments of n elements.
func (q *suite) ends(n int) []int32 {
	ends := make([]int32, 1+q.size(200))
	for i := range ends {
		ends[i] = int32(q.rng.IntN(n + 1))
	}
	slices.Sort(ends)
	return ends
}

// sumBound is the bound of a sum of the numbers x.
const sumBound = "(8 + xp.log2(x.shape[A])) * U * xp.abs(x.astype('d')).sum(A)"

func reductions(q *suite) {
	s, n := q.s, q.size(q.most)
	t := q.test("algo.Reduce, sum of float32", "x.astype('d').sum(keepdims=True)", replace(sumBound, "A", "0", "U", "u32"))
	x, y := input(t, "x", between[float32](q, n, -1, 1)), output[float32](t, "got", 1)
	t.run(func() error { return algo.Reduce(s, algo.Sum[float32](), y, x) })

	t = q.test("algo.Reduce, product of int64", "xp.prod(x, keepdims=True)", "0")
	i, j := input(t, "x", between[int64](q, n, -1e9, 1e9)), output[int64](t, "got", 1)
	t.run(func() error { return algo.Reduce(s, algo.Product[int64](), j, i) })

	t = q.test("algo.SumCompensated", "xp.asarray(__import__('math').fsum(x.tolist()))", "2 * u64 * xp.abs(got.sum()) + 1e-25 * xp.abs(x).sum()").of("got.sum()")
	wide, parts := input(t, "x", between[float64](q, n, -1, 1)), output[float64](t, "got", 2)
	t.run(func() error {
		return algo.SumCompensated(s, gpu.Reinterpret[algo.Compensated[float64]](parts), wide)
	})

	axis, shape, n := q.shape()
	t = q.test("algo.ReduceAxis, sum of float32", "x.astype('d').sum(1)", replace(sumBound, "A", "1", "U", "8 * u32"))
	x, y = input(t, "x", between[float32](q, n, -1, 1), shape...), output[float32](t, "got", axis.Outer, axis.Inner)
	t.run(func() error { return algo.ReduceAxis(s, algo.Sum[float32](), axis, y, x) })

	t = q.test("algo.ReduceAxis, max of float64", "x.max(1)", "0")
	wide, most := input(t, "x", between[float64](q, n, -1, 1), shape...), output[float64](t, "got", axis.Outer, axis.Inner)
	t.run(func() error { return algo.ReduceAxis(s, algo.Max[float64](), axis, most, wide) })

	for _, c := range []struct {
		name string
		f    func(*gpu.Stream, algo.Less[int32], algo.Axis, *gpu.Buffer[int], *gpu.Buffer[int32], ...*gpu.Workspace) error
	}{{"min", algo.ArgMinAxis[int32]}, {"max", algo.ArgMaxAxis[int32]}} {
		t = q.test("algo.Arg"+c.name+"Axis", "x.arg"+c.name+"(1)", "0")
		few, at := input(t, "x", between[int32](q, n, -50, 50), shape...), output[int](t, "got", axis.Outer, axis.Inner)
		t.run(func() error { return c.f(s, algo.Ascending[int32](), axis, at, few) })
	}

	t = q.test("algo.CountAxis", "xp.count_nonzero(x, axis=1)", "0")
	few, count := input(t, "x", between[int32](q, n, -2, 2), shape...), output[int](t, "got", axis.Outer, axis.Inner)
	t.run(func() error { return algo.CountAxis(s, algo.NonZero[int32](), axis, count, few) })

	// The moments of a line are a count, a mean and a sum of squares.
	t = q.test("algo.MomentsAxis", "xp.stack([x.mean(1), x.var(1)], -1)", "1e-13 * (1 + xp.abs(x).max())**2")
	t.of("xp.stack([got[..., 1], got[..., 2] / x.shape[1]], -1)")
	wide, found := input(t, "x", between[float64](q, n, 9, 10), shape...), output[float64](t, "got", axis.Outer, axis.Inner, 3)
	t.run(func() error { return algo.MomentsAxis(s, axis, gpu.Reinterpret[algo.Moments](found), wide) })

	ends := q.ends(n)
	segment := func(f string) string {
		return "xp.asarray([" + f + " for a, b in zip(ends[:-1].tolist(), ends[1:].tolist())])"
	}
	t = q.test("algo.ReduceSegments", segment("x[a:b].sum() if b > a else -1"), "0")
	at, in, sums := input(t, "ends", ends), input(t, "x", between[int64](q, n, -1e9, 1e9)), output[int64](t, "got", len(ends)-1)
	t.run(func() error { return algo.ReduceSegments(s, algo.Sum[int64](), -1, sums, in, at) })

	t = q.test("algo.ArgMinSegments", segment("int(x[a:b].argmin()) if b > a else -1"), "0")
	at, in, index := input(t, "ends", ends), input(t, "x", between[int64](q, n, -9, 9)), output[int](t, "got", len(ends)-1)
	t.run(func() error { return algo.ArgMinSegments(s, algo.Ascending[int64](), index, in, at) })

	t = q.test("algo.CountSegments", segment("int(xp.count_nonzero(x[a:b]))"), "0")
	at, in, index = input(t, "ends", ends), input(t, "x", between[int64](q, n, -2, 2)), output[int](t, "got", len(ends)-1)
	t.run(func() error { return algo.CountSegments(s, algo.NonZero[int64](), index, in, at) })

	t = q.test("algo.MomentsSegments", segment("[b - a, float(x[a:b].mean()) if b > a else 0, float(x[a:b].var()) * (b - a) if b > a else 0]"), "1e-13 * x.size")
	at, wide, found = input(t, "ends", ends), input(t, "x", between[float64](q, n, -1, 1)), output[float64](t, "bytes", len(ends)-1, 3)
	t.of("xp.concatenate([bytes.view('i8')[:, :1], bytes[:, 1:]], 1)")
	t.run(func() error { return algo.MomentsSegments(s, gpu.Reinterpret[algo.Moments](found), wide, at) })
}

func scans(q *suite) {
	s, n := q.s, q.size(q.most)
	t := q.test("algo.Scan, sum of int32", "xp.cumsum(x, dtype='i4')", "0")
	x, y := input(t, "x", between[int32](q, n, -1e9, 1e9)), output[int32](t, "got", n)
	t.run(func() error { return algo.Scan(s, algo.Sum[int32](), y, x) })

	t = q.test("algo.ScanExclusive, sum of float64", "xp.cumsum(x) - x + 1", "(xp.log2(x.size) + 20) * 8 * u64 * (xp.cumsum(xp.abs(x)) + 1)")
	wide, sums := input(t, "x", between[float64](q, n, -1, 1)), output[float64](t, "got", n)
	t.run(func() error { return algo.ScanExclusive(s, algo.Sum[float64](), 1, sums, wide) })

	axis, shape, m := q.shape()
	t = q.test("algo.ScanAxis", "xp.cumsum(x, 1, dtype='i4')", "0")
	x, y = input(t, "x", between[int32](q, m, -1e9, 1e9), shape...), output[int32](t, "got", shape...)
	t.run(func() error { return algo.ScanAxis(s, algo.Sum[int32](), axis, y, x) })

	t = q.test("algo.ScanSegments", "xp.concatenate([xp.cumsum(p, dtype='i4') for p in xp.split(x, ends.tolist())])", "0")
	ends, x, y := input(t, "ends", q.ends(n)), input(t, "x", between[int32](q, n, -1e9, 1e9)), output[int32](t, "got", n)
	t.run(func() error { return algo.ScanSegments(s, algo.Sum[int32](), y, x, ends) })

	heads := "xp.flatnonzero(xp.concatenate([xp.ones(1, bool), keys[1:] != keys[:-1]]))"
	t = q.test("algo.ReduceByKey", "xp.stack([keys["+heads+"], xp.asarray([p.sum(dtype='i4') for p in xp.split(x, "+heads+"[1:].tolist())])])", "0")
	t.of("xp.stack([found[:count[0]], got[:count[0]]])")
	keys, x := input(t, "keys", between[int32](q, n, 0, 3)), input(t, "x", between[int32](q, n, -1e9, 1e9))
	found, y, count := output[int32](t, "found", n), output[int32](t, "got", n), output[int](t, "count", 1)
	t.run(func() error {
		return algo.ReduceByKey(s, algo.Same[int32](), algo.Sum[int32](), found, y, count, keys, x)
	})
}

func sorts(q *suite) {
	s, n := q.s, q.size(q.most)
	sortCase(q, "float32", between[float32](q, n, -1, 1))
	sortCase(q, "int16", between[int16](q, n, -1<<15, 1<<15-1))
	sortCase(q, "uint64", between[uint64](q, n, 0, 1<<63))

	t := q.test("algo.SortPairs", "xp.argsort(x, kind='stable')", "0")
	keys := input(t, "x", between[int32](q, n, -99, 99))
	numbers := make([]int64, n)
	for i := range numbers {
		numbers[i] = int64(i)
	}
	values := input(t, "numbers", numbers)
	save(t, "got", values)
	t.run(func() error { return algo.SortPairs(s, keys, values) })

	t = q.test("algo.SortBy, float64", "xp.sort(x)", "0")
	wide := input(t, "x", between[float64](q, n, -1, 1))
	save(t, "got", wide)
	t.run(func() error { return algo.SortBy(s, algo.Ascending[float64](), wide) })

	axis, shape, m := q.shape()
	t = q.test("algo.SortAxis", "xp.sort(x, 1)", "0")
	lines := input(t, "x", between[float32](q, m, -1, 1), shape...)
	save(t, "got", lines, shape...)
	t.run(func() error { return algo.SortAxis(s, algo.Radix{}, axis, lines) })

	t = q.test("algo.SortPairsAxis", "xp.stack([xp.sort(x, 1), xp.argsort(x, 1, kind='stable')])", "0").of("xp.stack([keys, got])")
	keys = input(t, "x", between[int32](q, m, -99, 99), shape...)
	inLine := make([]int32, m)
	for i := range inLine {
		inLine[i] = int32(i / axis.Inner % axis.N)
	}
	moved := input(t, "numbers", inLine, shape...)
	save(t, "keys", keys, shape...)
	save(t, "got", moved, shape...)
	t.run(func() error { return algo.SortPairsAxis(s, algo.Radix{}, axis, keys, moved) })

	t = q.test("algo.ArgSortAxis", "xp.argsort(x, 1, kind='stable')", "0")
	short, order := input(t, "x", between[int16](q, m, -99, 99), shape...), output[uint32](t, "got", shape...)
	t.run(func() error { return algo.ArgSortAxis(s, algo.Radix{}, axis, order, short) })

	t = q.test("algo.ArgSort, descending", "xp.argsort(-x, kind='stable')", "0")
	wide, order = input(t, "x", between[float64](q, n, -1, 1)), output[uint32](t, "got", n)
	t.run(func() error { return algo.ArgSort(s, algo.Radix{Descending: true}, order, wide) })

	t = q.test("algo.SortPairsSegments", "xp.concatenate([xp.argsort(x[a:b], kind='stable') + a for a, b in zip([0] + ends.tolist(), ends.tolist() + [x.size])])", "0")
	bounds := q.ends(n)
	at32 := make([]uint32, n)
	for i := range at32 {
		at32[i] = uint32(i)
	}
	input(t, "ends", bounds)
	all, keys, where := input(t, "all", slices.Concat([]int32{0}, bounds, []int32{int32(n)})), input(t, "x", between[int32](q, n, -99, 99)), input(t, "numbers", at32)
	save(t, "got", where)
	t.run(func() error { return algo.SortPairsSegments(s, algo.Radix{}, keys, where, all) })

	k := 1 + q.rng.IntN(axis.N)
	t = q.test("algo.TopKIndicesAxis", "xp.argsort(-x.astype('i8'), 1, kind='stable')[:, :at.shape[1]]", "0").of("at")
	few := input(t, "x", between[int32](q, m, -99, 99), shape...)
	first, at := output[int32](t, "first", shape[0], k, shape[2]), output[uint32](t, "at", shape[0], k, shape[2])
	t.run(func() error {
		return algo.TopKIndicesAxis(s, algo.Radix{Descending: true}, axis, first, at, few)
	})

	k = 1 + q.rng.IntN(n)
	t = q.test("algo.TopK", "xp.sort(x)[:got.size]", "0")
	x, y := input(t, "x", between[float32](q, n, -1, 1)), output[float32](t, "got", k)
	t.run(func() error { return algo.TopK(s, algo.Radix{}, y, x) })
}

func sortCase[K int16 | uint64 | float32](q *suite, name string, x []K) {
	t := q.test("algo.Sort, "+name, "xp.sort(x)", "0")
	keys := input(t, "x", x)
	save(t, "got", keys)
	t.run(func() error { return algo.Sort(q.s, keys) })
}

func selections(q *suite) {
	s, n := q.s, q.size(q.most)
	t := q.test("algo.Partition", "xp.concatenate([x[x != 0], x[x == 0]])", "0").of("xp.concatenate([got[:count[0]], rest[:x.size - count[0]]])")
	x, y := input(t, "x", between[int32](q, n, -2, 2)), output[int32](t, "got", n)
	rest, count := output[int32](t, "rest", n), output[int](t, "count", 1)
	t.run(func() error { return algo.Partition(s, algo.NonZero[int32](), y, rest, count, x) })

	t = q.test("algo.Where", "xp.flatnonzero(x)", "0").of("got[:count[0]]")
	x, at, count := input(t, "x", between[int32](q, n, -2, 2)), output[uint32](t, "got", n), output[int](t, "count", 1)
	t.run(func() error { return algo.Where(s, algo.NonZero[int32](), at, count, x) })

	t = q.test("algo.RunLengths", "x", "0").of("xp.repeat(got[:count[0]], lengths[:count[0]].tolist())")
	x, y = input(t, "x", between[int32](q, n, 0, 2)), output[int32](t, "got", n)
	lengths, count := output[int](t, "lengths", n), output[int](t, "count", 1)
	t.run(func() error { return algo.RunLengths(s, algo.Same[int32](), y, lengths, count, x) })

	// The edges are exact in both.
	t = q.test("algo.HistogramEven", "xp.histogram(x, got.size, (0, 1))[0]", "0")
	exact := between[float32](q, n, -100, 1124)
	for i := range exact {
		exact[i] = float32(int(exact[i])) / 1024
	}
	floats, bins := input(t, "x", exact), output[uint32](t, "got", 64)
	t.run(func() error { return algo.HistogramEven(s, 0, 1, bins, floats) })

	t = q.test("algo.HistogramEdges", "xp.histogram(x, edges)[0]", "0")
	edges := between[float64](q, 1+q.size(3000), -1, 1)
	slices.Sort(edges)
	in, wide, bins := input(t, "edges", edges), input(t, "x", between[float64](q, n, -1.1, 1.1)), output[uint32](t, "got", len(edges)-1)
	t.run(func() error { return algo.HistogramEdges(s, in, bins, wide) })

	t = q.test("algo.HistogramValues", "xp.bincount(x, minlength=300)", "0")
	b, bins := input(t, "x", between[uint16](q, n, 0, 300)), output[uint32](t, "got", 300)
	t.run(func() error { return algo.HistogramValues(s, bins, b) })

	t = q.test("algo.Gather", "x[at]", "0")
	index := between[uint32](q, q.size(q.most), 0, float64(n))
	from, x, y := input(t, "at", index), input(t, "x", between[int32](q, n, -1e9, 1e9)), output[int32](t, "got", len(index))
	t.run(func() error { return algo.Gather(s, y, x, from) })
}

func searches(q *suite) {
	s, n, m := q.s, q.size(q.most), q.size(q.most)
	sorted := func(n int) []int32 {
		x := between[int32](q, n, -1e4, 1e4)
		slices.Sort(x)
		return x
	}
	t := q.test("algo.Merge", "xp.sort(xp.concatenate([x, y]))", "0")
	x, y, out := input(t, "x", sorted(n)), input(t, "y", sorted(m)), output[int32](t, "got", n+m)
	t.run(func() error { return algo.Merge(s, algo.Ascending[int32](), out, x, y) })

	// The values are the positions of the keys in both lists together.
	t = q.test("algo.MergePairs", "xp.argsort(xp.concatenate([x, y]), kind='stable')", "0")
	x, y, out = input(t, "x", sorted(n)), input(t, "y", sorted(m)), output[int32](t, "keys", n+m)
	numbers := make([]int64, n+m)
	for i := range numbers {
		numbers[i] = int64(i)
	}
	u, v, moved := input(t, "u", numbers[:n]), input(t, "v", numbers[n:]), output[int64](t, "got", n+m)
	t.run(func() error { return algo.MergePairs(s, algo.Ascending[int32](), out, moved, x, u, y, v) })

	for _, c := range []struct {
		name, want string
		f          func(*gpu.Stream, algo.Less[int32], *gpu.Buffer[int32], *gpu.Buffer[int], *gpu.Buffer[int32], *gpu.Buffer[int32], ...*gpu.Workspace) error
		size       func(a, b int) int
	}{
		{"Union", "xp.union1d(x, y)", algo.Union[int32], func(a, b int) int { return a + b }},
		{"Intersection", "xp.intersect1d(x, y)", algo.Intersection[int32], func(a, b int) int { return min(a, b) }},
		{"Difference", "xp.setdiff1d(x, y)", algo.Difference[int32], func(a, _ int) int { return a }},
		{"SymmetricDifference", "xp.setxor1d(x, y)", algo.SymmetricDifference[int32], func(a, b int) int { return a + b }},
	} {
		t := q.test("algo."+c.name, c.want, "0").of("got[:count[0]]")
		a, b := slices.Compact(sorted(n)), slices.Compact(sorted(m))
		x, y, count := input(t, "x", a), input(t, "y", b), output[int](t, "count", 1)
		out := output[int32](t, "got", c.size(len(a), len(b)))
		t.run(func() error { return c.f(s, algo.Ascending[int32](), out, count, x, y) })
	}

	for _, c := range []struct {
		name, side string
		f          func(*gpu.Stream, algo.Less[int32], *gpu.Buffer[int], *gpu.Buffer[int32], *gpu.Buffer[int32]) error
	}{{"LowerBound", "left", algo.LowerBound[int32]}, {"UpperBound", "right", algo.UpperBound[int32]}} {
		t := q.test("algo."+c.name, "xp.searchsorted(x, y, '"+c.side+"')", "0")
		x, y, at := input(t, "x", sorted(n)), input(t, "y", between[int32](q, m, -2e4, 2e4)), output[int](t, "got", m)
		t.run(func() error { return c.f(s, algo.Ascending[int32](), at, x, y) })
	}
}
