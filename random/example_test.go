package random_test

import (
	"context"
	"fmt"
	"log"
	"slices"

	"quern.dev/gpu"
	"quern.dev/random"
)

func open() (*gpu.Device, *gpu.Stream) {
	dev, err := gpu.Open(gpu.Config{Device: "cpu"})
	if err != nil {
		log.Fatal(err)
	}
	return dev, dev.DefaultStream()
}

// filled returns n numbers that fill has written.
func filled[T any](s *gpu.Stream, n int, fill func(dst *gpu.Buffer[T]) error) []T {
	dst, err := gpu.Alloc[T](s.Device(), n)
	if err != nil {
		log.Fatal(err)
	}
	defer dst.Close()
	if err := fill(dst); err != nil {
		log.Fatal(err)
	}
	out := make([]T, n)
	if err := gpu.Download(context.Background(), s, out, dst); err != nil {
		log.Fatal(err)
	}
	return out
}

func Example() {
	dev, s := open()
	defer dev.Close()
	src := random.Source{Seed: 42}
	x := filled(s, 4, func(dst *gpu.Buffer[float32]) error { return random.Normal(s, src, dst, 0, 1) })
	fmt.Printf("%.4f\n", x)
	fmt.Println(x[3] == src.Normal32(3))
	// Output:
	// [-0.9702 0.1940 -1.2356 1.9239]
	// true
}

// Two halves of a sequence, which could be on two devices.
func ExampleSource_At() {
	dev, s := open()
	defer dev.Close()
	src := random.Source{Seed: 7}
	dice := func(src random.Source, n int) []int32 {
		return filled(s, n, func(dst *gpu.Buffer[int32]) error { return random.Integers(s, src, dst, 1, 7) })
	}
	fmt.Println(dice(src, 10))
	fmt.Println(dice(src, 5), dice(src.At(5), 5))
	// Output:
	// [6 5 1 1 3 5 2 6 1 1]
	// [6 5 1 1 3] [5 2 6 1 1]
}

func ExampleChoice() {
	dev, s := open()
	defer dev.Close()
	weights, err := random.NewAlias(s, []float64{5, 0, 1})
	if err != nil {
		log.Fatal(err)
	}
	defer weights.Close()
	x := filled(s, 12, func(dst *gpu.Buffer[int32]) error { return random.Choice(s, random.Source{Seed: 1}, dst, weights) })
	fmt.Println(x)
	// Output:
	// [0 0 2 0 0 2 2 0 0 0 0 0]
}

func ExamplePermutation() {
	dev, s := open()
	defer dev.Close()
	x := filled(s, 10, func(dst *gpu.Buffer[int32]) error { return random.Permutation(s, random.Source{Seed: 3}, dst, 10) })
	fmt.Println(x)
	slices.Sort(x)
	fmt.Println(x)
	// Output:
	// [7 6 0 5 8 2 1 9 3 4]
	// [0 1 2 3 4 5 6 7 8 9]
}

func ExamplePoints() {
	dev, s := open()
	defer dev.Close()
	q, err := random.NewSobol(s, 2)
	if err != nil {
		log.Fatal(err)
	}
	defer q.Close()
	fmt.Println(filled(s, 2*4, func(dst *gpu.Buffer[float32]) error { return random.Points(s, q, 0, dst) }))
	// Output:
	// [0 0 0.5 0.5 0.75 0.25 0.25 0.75]
}
