package main

import (
	"context"
	"errors"
	"fmt"

	"quern.dev/algo"
	"quern.dev/gpu"
)

func init() { register("algo", measureAlgo) }

// algoCase is a call of package algo. peers_algo.py has the same one, by name, where CuPy or
// torch can do it.
type algoCase struct {
	name  string
	n     int
	bytes int     // read and written at least, per element
	goal  float64 // least speed, relative to the fastest peer
	run   func() error
}

// algoBuffers are what the cases of one type of elements work on.
type algoBuffers[T any] struct{ in, out, one *gpu.Buffer[T] }

// measureAlgo prints the time of each call, its rate, the bandwidth that it needs at least, and
// its speed relative to the fastest of CuPy and torch.
func measureAlgo(ctx context.Context, dev *gpu.Device) (err error) {
	peers, missing := peer(ctx, "peers_algo.py")
	if missing != nil {
		fmt.Printf("no peers: %v\n", missing)
	}
	s := dev.DefaultStream()
	large, sorted := 1<<28, 1<<26
	if dev.Backend() == gpu.CPU {
		large, sorted = 1<<24, 1<<22
	}
	var buffers []interface{ Close() error }
	defer func() {
		for _, b := range buffers {
			err = errors.Join(err, b.Close())
		}
	}()
	floats, failed := algoUpload(s, &buffers, large, func(i uint32) float32 { return float32(i>>8) / (1 << 24) })
	err = errors.Join(err, failed)
	ints, failed := algoUpload(s, &buffers, sorted, func(i uint32) int32 { return int32(i) })
	err = errors.Join(err, failed)
	bytes, failed := algoUpload(s, &buffers, large, func(i uint32) uint8 { return uint8(i >> 24) })
	err = errors.Join(err, failed)
	count, failed := gpu.Alloc[int](dev, 1)
	err = errors.Join(err, failed)
	bins, failed := gpu.Alloc[uint32](dev, 256)
	err = errors.Join(err, failed)
	moments, failed := gpu.Alloc[algo.Moments](dev, 1)
	err = errors.Join(err, failed)
	top, failed := gpu.Alloc[float32](dev, 100)
	err = errors.Join(err, failed)
	topAt, failed := gpu.Alloc[uint32](dev, 100)
	err = errors.Join(err, failed)
	rows, failed := gpu.Alloc[float32](dev, 1<<14)
	if err = errors.Join(err, failed); err != nil {
		return err
	}
	buffers = append(buffers, count, bins, moments, rows, top, topAt)
	values, failed := algoUpload(s, &buffers, sorted, func(i uint32) int32 { return int32(i) })
	if failed != nil {
		return failed
	}
	small := floats.in.Slice(0, 1<<16)
	sum, nonZero := algo.Sum[float32](), algo.NonZero[float32]()
	byRow, byColumn := algo.Axis{Outer: 1 << 14, N: large >> 14, Inner: 1}, algo.Axis{Outer: 1, N: large >> 14, Inner: 1 << 14}
	cases := []algoCase{
		{"sum", large, 4, 1, func() error { return algo.Reduce(s, sum, floats.one, floats.in) }},
		{"sum of 65536", 1 << 16, 4, 1, func() error { return algo.Reduce(s, sum, floats.one, small) }},
		{"sum of rows", large, 4, 1, func() error { return algo.ReduceAxis(s, sum, byRow, rows, floats.in) }},
		{"sum of columns", large, 4, 1, func() error { return algo.ReduceAxis(s, sum, byColumn, rows, floats.in) }},
		{"mean and variance", large, 4, 1, func() error { return algo.MomentsOf(s, moments, floats.in) }},
		{"inclusive scan", large, 8, 1.2, func() error { return algo.Scan(s, sum, floats.out, floats.in) }},
		{"select", large, 8, 1, func() error { return algo.Select(s, nonZero, floats.out, count, floats.in) }},
		{"count", large, 4, 1, func() error { return algo.Count(s, nonZero, count, floats.in) }},
		{"histogram", large, 4, 1, func() error { return algo.HistogramEven(s, 0, 1, bins, floats.in) }},
		{"bincount", large, 1, 1, func() error { return algo.HistogramValues(s, bins, bytes.in) }},
		{"sort", sorted, 8, 1, func() error { return errors.Join(gpu.Copy(s, ints.out, ints.in), algo.Sort(s, ints.out)) }},
		{"sort pairs", sorted, 16, 1, func() error {
			return errors.Join(gpu.Copy(s, ints.out, ints.in), algo.SortPairs(s, ints.out, values.out))
		}},
	}
	short := ints.out.Slice(0, 4096)
	lines := algo.Axis{Outer: sorted >> 10, N: 1 << 10, Inner: 1}
	cases = append(cases,
		algoCase{"sort of 4096", 4096, 8, 1, func() error { return errors.Join(gpu.Copy(s, short, ints.in.Slice(0, 4096)), algo.Sort(s, short)) }},
		algoCase{"top 100", large, 4, 1, func() error {
			return algo.TopKIndices(s, algo.Radix{Descending: true}, top, topAt, floats.in)
		}},
		algoCase{"sort rows of 1024", sorted, 8, 1, func() error {
			return errors.Join(gpu.Copy(s, ints.out, ints.in), algo.SortAxis(s, algo.Radix{}, lines, ints.out))
		}})
	fmt.Printf("%-28s %10s %10s %8s %10s %8s\n", "", "us", "Melem/s", "GB/s", "peer us", "relative")
	for _, c := range cases {
		seconds, err := measure(ctx, s, c.run)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		fmt.Printf("%-28s %10.1f %10.0f %8.0f", c.name, seconds*1e6, float64(c.n)/seconds/1e6, float64(c.n*c.bytes)/seconds/1e9)
		if theirs, ok := peers[c.name]; ok {
			fmt.Printf(" %10.1f %8.2f", theirs*1e6, theirs/seconds)
			if c.goal > 0 && theirs/seconds < c.goal {
				fmt.Printf(" MISSED (goal %g)", c.goal)
			}
		}
		fmt.Println()
	}
	return nil
}

// algoUpload makes buffers of n elements. The elements of the first are functions of a random
// number.
func algoUpload[T any](s *gpu.Stream, buffers *[]interface{ Close() error }, n int, f func(random uint32) T) (b algoBuffers[T], err error) {
	x := make([]T, n)
	state := uint32(1)
	for i := range x {
		state = state*1664525 + 1013904223
		x[i] = f(state)
	}
	var errs [3]error
	b.in, errs[0] = gpu.Upload(s, x)
	b.out, errs[1] = gpu.Alloc[T](s.Device(), n)
	b.one, errs[2] = gpu.Alloc[T](s.Device(), 1)
	*buffers = append(*buffers, b.in, b.out, b.one)
	return b, errors.Join(errs[:]...)
}
