package algo_test

import (
	"context"
	"fmt"
	"log"

	"quern.dev/algo"
	"quern.dev/gpu"
)

// open returns the stream of a device. Examples run on the CPU.
func open() (*gpu.Device, *gpu.Stream) {
	dev, err := gpu.Open(gpu.Config{Device: "cpu"})
	if err != nil {
		log.Fatal(err)
	}
	return dev, dev.DefaultStream()
}

// must ends the example if something failed.
func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// read returns the elements of a buffer.
func read[T any](s *gpu.Stream, b *gpu.Buffer[T]) []T {
	x := make([]T, b.Len())
	check(gpu.Download(context.Background(), s, x, b))
	return x
}

func ExampleReduce() {
	dev, s := open()
	defer dev.Close()
	x := must(gpu.Upload(s, []float32{3, 1, 4, 1, 5}))
	defer x.Close()
	result := must(gpu.Alloc[float32](dev, 1))
	defer result.Close()

	check(algo.Reduce(s, algo.Sum[float32](), result, x))
	fmt.Println(read(s, result))
	check(algo.Reduce(s, algo.Max[float32](), result, x))
	fmt.Println(read(s, result))
	// Output:
	// [14]
	// [5]
}

func ExampleScan() {
	dev, s := open()
	defer dev.Close()
	x := must(gpu.Upload(s, []int32{3, 1, 4, 1, 5}))
	defer x.Close()

	check(algo.Scan(s, algo.Sum[int32](), x, x)) // in place
	fmt.Println(read(s, x))
	check(algo.ScanExclusive(s, algo.Max[int32](), 0, x, x))
	fmt.Println(read(s, x))
	// Output:
	// [3 4 8 9 14]
	// [0 3 4 8 9]
}

func ExampleReduceAxis() {
	dev, s := open()
	defer dev.Close()
	// A matrix of 2 rows and 3 columns.
	x := must(gpu.Upload(s, []int32{1, 2, 3, 4, 5, 6}))
	defer x.Close()
	rows, columns := must(gpu.Alloc[int32](dev, 2)), must(gpu.Alloc[int32](dev, 3))
	defer rows.Close()
	defer columns.Close()

	check(algo.ReduceAxis(s, algo.Sum[int32](), must(algo.AxisOf(1, 2, 3)), rows, x))
	check(algo.ReduceAxis(s, algo.Sum[int32](), must(algo.AxisOf(0, 2, 3)), columns, x))
	fmt.Println(read(s, rows), read(s, columns))
	// Output: [6 15] [5 7 9]
}

func ExampleSortPairs() {
	dev, s := open()
	defer dev.Close()
	keys := must(gpu.Upload(s, []float64{2.5, -1, 7, -1}))
	defer keys.Close()
	values := must(gpu.Upload(s, []int32{0, 1, 2, 3}))
	defer values.Close()

	check(algo.SortPairs(s, keys, values)) // equal keys keep their order
	fmt.Println(read(s, keys), read(s, values))
	check(algo.SortRadix(s, algo.Radix{Descending: true}, keys))
	fmt.Println(read(s, keys))
	// Output:
	// [-1 -1 2.5 7] [1 3 0 2]
	// [7 2.5 -1 -1]
}

func ExampleSortAxis() {
	dev, s := open()
	defer dev.Close()
	x := must(gpu.Upload(s, []float32{3, 1, 2, 6, 5, 4}))
	defer x.Close()

	rows := must(algo.AxisOf(-1, 2, 3))
	check(algo.SortAxis(s, algo.Radix{}, rows, x))
	fmt.Println(read(s, x))
	// Output: [1 2 3 4 5 6]
}

func ExampleSortPairsAxis() {
	dev, s := open()
	defer dev.Close()
	distances := must(gpu.Upload(s, []float32{3, 1, 2, 6, 5, 4}))
	defer distances.Close()
	names := must(gpu.Upload(s, []int32{10, 11, 12, 20, 21, 22}))
	defer names.Close()

	rows := must(algo.AxisOf(-1, 2, 3))
	check(algo.SortPairsAxis(s, algo.Radix{}, rows, distances, names))
	fmt.Println(read(s, distances), read(s, names))
	// Output: [1 2 3 4 5 6] [11 12 10 22 21 20]
}

func ExampleArgSort() {
	dev, s := open()
	defer dev.Close()
	x := must(gpu.Upload(s, []float32{3, 1, 2, 1}))
	defer x.Close()
	at := must(gpu.Alloc[uint32](dev, 4))
	defer at.Close()

	check(algo.ArgSort(s, algo.Radix{}, at, x))
	fmt.Println(read(s, at))
	// Output: [1 3 2 0]
}

func ExampleArgSortAxis() {
	dev, s := open()
	defer dev.Close()
	x := must(gpu.Upload(s, []float32{3, 1, 2, 6, 5, 4}))
	defer x.Close()
	at := must(gpu.Alloc[uint32](dev, 6))
	defer at.Close()

	columns := must(algo.AxisOf(0, 3, 2))
	check(algo.ArgSortAxis(s, algo.Radix{Descending: true}, columns, at, x))
	fmt.Println(read(s, at))
	// Output: [2 1 0 2 1 0]
}

func ExampleSortPairsSegments() {
	dev, s := open()
	defer dev.Close()
	x := must(gpu.Upload(s, []float32{3, 1, 2, 6, 5, 4}))
	defer x.Close()
	names := must(gpu.Upload(s, []int32{10, 11, 12, 20, 21, 22}))
	defer names.Close()
	ends := must(gpu.Upload(s, []int32{0, 3, 3, 5})) // 3 keys, none, and 2
	defer ends.Close()

	check(algo.SortPairsSegments(s, algo.Radix{}, x, names, ends))
	fmt.Println(read(s, x), read(s, names))
	// Output: [1 2 3 5 6 4] [11 12 10 21 20 22]
}

func ExampleSortSegments() {
	dev, s := open()
	defer dev.Close()
	x := must(gpu.Upload(s, []float32{3, 1, 2, 6, 5, 4}))
	defer x.Close()
	ends := must(gpu.Upload(s, []int32{0, 3, 3, 5})) // 3 keys, none, and 2
	defer ends.Close()

	check(algo.SortSegments(s, algo.Radix{}, x, ends))
	fmt.Println(read(s, x))
	// Output: [1 2 3 5 6 4]
}

func ExampleTopKIndices() {
	dev, s := open()
	defer dev.Close()
	x := must(gpu.Upload(s, []float32{3, 9, 2, 6, 9, 4}))
	defer x.Close()
	largest, at := must(gpu.Alloc[float32](dev, 3)), must(gpu.Alloc[uint32](dev, 3))
	defer largest.Close()
	defer at.Close()

	check(algo.TopKIndices(s, algo.Radix{Descending: true}, largest, at, x))
	fmt.Println(read(s, largest), read(s, at))
	// Output: [9 9 6] [1 4 3]
}

func ExampleSelect() {
	dev, s := open()
	defer dev.Close()
	x := must(gpu.Upload(s, []int32{0, 7, 0, 0, 8, 9}))
	defer x.Close()
	kept, count := must(gpu.Alloc[int32](dev, 6)), must(gpu.Alloc[int](dev, 1))
	defer kept.Close()
	defer count.Close()

	check(algo.Select(s, algo.NonZero[int32](), kept, count, x))
	n := read(s, count)[0]
	fmt.Println(n, read(s, kept)[:n])
	// Output: 3 [7 8 9]
}

func ExampleHistogramEven() {
	dev, s := open()
	defer dev.Close()
	x := must(gpu.Upload(s, []float32{0.1, 0.2, 0.55, 0.9, 1, 1.5}))
	defer x.Close()
	counts := must(gpu.Alloc[uint32](dev, 4))
	defer counts.Close()

	check(algo.HistogramEven(s, 0, 1, counts, x))
	fmt.Println(read(s, counts))
	// Output: [2 0 1 2]
}

func ExampleMomentsOf() {
	dev, s := open()
	defer dev.Close()
	x := must(gpu.Upload(s, []float32{2, 4, 4, 4, 5, 5, 7, 9}))
	defer x.Close()
	moments := must(gpu.Alloc[algo.Moments](dev, 1))
	defer moments.Close()

	check(algo.MomentsOf(s, moments, x))
	m := read(s, moments)[0]
	fmt.Println(m.Count, m.Mean, m.StandardDeviation())
	// Output: 8 5 2
}

func ExampleMomentsAxis() {
	dev, s := open()
	defer dev.Close()
	x := must(gpu.Upload(s, []float32{1, 3, 2, 6})) // 2 rows, 2 columns
	defer x.Close()
	moments := must(gpu.Alloc[algo.Moments](dev, 2))
	defer moments.Close()

	check(algo.MomentsAxis(s, must(algo.AxisOf(1, 2, 2)), moments, x))
	for _, m := range read(s, moments) {
		fmt.Println(m.Mean, m.Variance())
	}
	// Output:
	// 2 1
	// 4 4
}

func ExampleMomentsSegments() {
	dev, s := open()
	defer dev.Close()
	x := must(gpu.Upload(s, []float32{1, 3, 5}))
	defer x.Close()
	ends := must(gpu.Upload(s, []int32{0, 2, 3}))
	defer ends.Close()
	moments := must(gpu.Alloc[algo.Moments](dev, 2))
	defer moments.Close()

	check(algo.MomentsSegments(s, moments, x, ends))
	fmt.Println(read(s, moments)[0].Mean, read(s, moments)[1].Mean)
	// Output: 2 5
}

func ExampleCountAxis() {
	dev, s := open()
	defer dev.Close()
	x := must(gpu.Upload(s, []int32{1, 1, 0, 2, 0, 0})) // 3 rows
	defer x.Close()
	count := must(gpu.Alloc[int](dev, 3))
	defer count.Close()

	check(algo.CountAxis(s, algo.NonZero[int32](), must(algo.AxisOf(1, 3, 2)), count, x))
	for _, n := range read(s, count) {
		fmt.Println("any:", n > 0, "all:", n == 2)
	}
	// Output:
	// any: true all: true
	// any: true all: false
	// any: false all: false
}

func ExampleCountSegments() {
	dev, s := open()
	defer dev.Close()
	x := must(gpu.Upload(s, []int32{1, 0, 2}))
	defer x.Close()
	ends := must(gpu.Upload(s, []int32{0, 2, 3}))
	defer ends.Close()
	count := must(gpu.Alloc[int](dev, 2))
	defer count.Close()

	check(algo.CountSegments(s, algo.NonZero[int32](), count, x, ends))
	fmt.Println(read(s, count))
	// Output: [1 1]
}

func ExampleTopKIndicesAxis() {
	dev, s := open()
	defer dev.Close()
	x := must(gpu.Upload(s, []float32{3, 9, 2, 6, 9, 4})) // 2 rows
	defer x.Close()
	largest, at := must(gpu.Alloc[float32](dev, 4)), must(gpu.Alloc[uint32](dev, 4))
	defer largest.Close()
	defer at.Close()

	check(algo.TopKIndicesAxis(s, algo.Radix{Descending: true}, must(algo.AxisOf(1, 2, 3)), largest, at, x))
	fmt.Println(read(s, largest), read(s, at))
	// Output: [9 3 9 6] [1 0 1 0]
}

func ExampleScanSegments() {
	dev, s := open()
	defer dev.Close()
	x := must(gpu.Upload(s, []int32{1, 2, 3, 4}))
	defer x.Close()
	ends := must(gpu.Upload(s, []int32{0, 1, 4}))
	defer ends.Close()

	check(algo.ScanSegments(s, algo.Sum[int32](), x, x, ends))
	fmt.Println(read(s, x))
	// Output: [1 2 5 9]
}

// A program that owns the temporary memory.
func ExampleSort_workspace() {
	dev, s := open()
	defer dev.Close()
	keys := must(gpu.Upload(s, []uint32{5, 2, 9}))
	defer keys.Close()

	measure := gpu.MeasureWorkspace()
	check(algo.Sort(s, keys, measure)) // does nothing else
	memory := must(gpu.Alloc[byte](dev, measure.Size()))
	defer memory.Close()

	work := gpu.NewWorkspace(memory)
	check(algo.Sort(s, keys, work))
	fmt.Println(read(s, keys))
	// Output: [2 5 9]
}
