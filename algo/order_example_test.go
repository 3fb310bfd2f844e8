package algo_test

import (
	"fmt"

	"quern.dev/algo"
	"quern.dev/gpu"
)

func ExampleSortPairsBy() {
	dev, s := open()
	defer dev.Close()
	scores := must(gpu.Upload(s, []float32{2, 9, 5, 9}))
	defer scores.Close()
	players := must(gpu.Upload(s, []int32{100, 101, 102, 103}))
	defer players.Close()

	check(algo.SortPairsBy(s, algo.Descending[float32](), scores, players))
	fmt.Println(read(s, scores), read(s, players))
	// Output:
	// [9 9 5 2] [101 103 102 100]
}

func ExampleMergePairs() {
	dev, s := open()
	defer dev.Close()
	morning := must(gpu.Upload(s, []float32{8, 9.5, 11}))
	defer morning.Close()
	readings := must(gpu.Upload(s, []int32{20, 21, 22}))
	defer readings.Close()
	late := must(gpu.Upload(s, []float32{9.5, 10}))
	defer late.Close()
	more := must(gpu.Upload(s, []int32{30, 31}))
	defer more.Close()
	times := must(gpu.Alloc[float32](dev, 5))
	defer times.Close()
	all := must(gpu.Alloc[int32](dev, 5))
	defer all.Close()

	check(algo.MergePairs(s, algo.Ascending[float32](), times, all, morning, readings, late, more))
	fmt.Println(read(s, times), read(s, all))
	// Output:
	// [8 9.5 9.5 10 11] [20 21 30 31 22]
}

func ExampleIntersection() {
	dev, s := open()
	defer dev.Close()
	a := must(gpu.Upload(s, []int32{1, 2, 2, 3, 7}))
	defer a.Close()
	b := must(gpu.Upload(s, []int32{2, 2, 2, 7, 8}))
	defer b.Close()
	both := must(gpu.Alloc[int32](dev, 5))
	defer both.Close()
	count := must(gpu.Alloc[int](dev, 1))
	defer count.Close()

	check(algo.Intersection(s, algo.Ascending[int32](), both, count, a, b))
	n := read(s, count)[0]
	fmt.Println(read(s, both)[:n])
	// Output:
	// [2 2 7]
}

func ExampleLowerBound() {
	dev, s := open()
	defer dev.Close()
	sorted := must(gpu.Upload(s, []float32{1, 2, 2, 5}))
	defer sorted.Close()
	values := must(gpu.Upload(s, []float32{2, 0, 9}))
	defer values.Close()
	positions := must(gpu.Alloc[int](dev, 3))
	defer positions.Close()

	check(algo.LowerBound(s, algo.Ascending[float32](), positions, sorted, values))
	fmt.Println(read(s, positions))
	// Output:
	// [1 0 4]
}

func ExampleArgMaxAxis() {
	dev, s := open()
	defer dev.Close()
	x := must(gpu.Upload(s, []float32{3, 9, 2, 6, 9, 4})) // 2 rows, 3 columns
	defer x.Close()
	rows, columns := must(gpu.Alloc[int](dev, 2)), must(gpu.Alloc[int](dev, 3))
	defer rows.Close()
	defer columns.Close()

	check(algo.ArgMaxAxis(s, algo.Ascending[float32](), must(algo.AxisOf(1, 2, 3)), rows, x))
	check(algo.ArgMaxAxis(s, algo.Ascending[float32](), must(algo.AxisOf(0, 2, 3)), columns, x))
	fmt.Println(read(s, rows), read(s, columns))
	// Output: [1 1] [1 0 1]
}

func ExampleArgMinSegments() {
	dev, s := open()
	defer dev.Close()
	x := must(gpu.Upload(s, []float32{3, 9, 2, 6}))
	defer x.Close()
	ends := must(gpu.Upload(s, []int32{0, 2, 2, 4})) // 2 elements, none, and 2
	defer ends.Close()
	at := must(gpu.Alloc[int](dev, 3))
	defer at.Close()

	check(algo.ArgMinSegments(s, algo.Ascending[float32](), at, x, ends))
	fmt.Println(read(s, at))
	// Output: [0 -1 0]
}

func ExampleArgMax() {
	dev, s := open()
	defer dev.Close()
	x := must(gpu.Upload(s, []float32{3, 8, 1, 8}))
	defer x.Close()
	at := must(gpu.Alloc[int](dev, 1))
	defer at.Close()

	check(algo.ArgMax(s, algo.Ascending[float32](), at, x))
	fmt.Println(read(s, at))
	// Output:
	// [1]
}

func ExampleRunLengths() {
	dev, s := open()
	defer dev.Close()
	x := must(gpu.Upload(s, []int32{4, 4, 4, 1, 4, 4}))
	defer x.Close()
	values := must(gpu.Alloc[int32](dev, 6))
	defer values.Close()
	lengths := must(gpu.Alloc[int](dev, 6))
	defer lengths.Close()
	count := must(gpu.Alloc[int](dev, 1))
	defer count.Close()

	check(algo.RunLengths(s, algo.Same[int32](), values, lengths, count, x))
	n := read(s, count)[0]
	fmt.Println(read(s, values)[:n], read(s, lengths)[:n])
	// Output:
	// [4 1 4] [3 1 2]
}

func ExampleReduceByKey() {
	dev, s := open()
	defer dev.Close()
	days := must(gpu.Upload(s, []int32{1, 1, 2, 4, 4, 4}))
	defer days.Close()
	sales := must(gpu.Upload(s, []float64{5, 2, 1, 3, 3, 3}))
	defer sales.Close()
	each := must(gpu.Alloc[int32](dev, 6))
	defer each.Close()
	totals := must(gpu.Alloc[float64](dev, 6))
	defer totals.Close()
	count := must(gpu.Alloc[int](dev, 1))
	defer count.Close()

	check(algo.ReduceByKey(s, algo.Same[int32](), algo.Sum[float64](), each, totals, count, days, sales))
	n := read(s, count)[0]
	fmt.Println(read(s, each)[:n], read(s, totals)[:n])
	// Output:
	// [1 2 4] [7 1 9]
}
