package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"quern.dev/algo"
	"quern.dev/gpu"
)

func init() { register("order", measureOrder) }

// orderLength is the number of elements of the cases of measureOrder, as in peers_order.py.
const orderLength = 1 << 26

// orderCase is a call of a function of package algo that takes an order or an equality.
type orderCase struct {
	name  string
	bytes int // read and written at least, per element
	goal  float64
	run   func() error
}

// measureOrder prints the time of each call, its rate, and its speed relative to the fastest of
// CuPy and torch. They sort numbers by radix, so the rate of SortBy has no goal.
func measureOrder(ctx context.Context, dev *gpu.Device) (err error) {
	peers, missing := peer(ctx, "peers_order.py")
	if missing != nil {
		fmt.Printf("no peers: %v\n", missing)
	}
	s := dev.DefaultStream()
	const n = orderLength
	random, sorted, runs, sums := make([]float32, n), make([]float32, n), make([]float32, n), make([]float32, n)
	state := uint32(1)
	for i := range random {
		state = state*1664525 + 1013904223
		random[i] = float32(state >> 8)
		runs[i] = float32(i / (1 + int(state>>28)))
		sums[i] = 1
	}
	copy(sorted, random)
	slices.Sort(sorted)
	var buffers []interface{ Close() error }
	defer func() {
		for _, b := range buffers {
			err = errors.Join(err, b.Close())
		}
	}()
	upload := func(x []float32) *gpu.Buffer[float32] {
		b, failed := gpu.Upload(s, x)
		err = errors.Join(err, failed)
		buffers = append(buffers, b)
		return b
	}
	x, keys, a, b, groups, ones := upload(random), upload(random), upload(sorted[:n/2]), upload(sorted[n/2:]), upload(runs), upload(sums)
	y, z := upload(sums), upload(sums)
	positions, failed := gpu.Alloc[int](dev, n)
	err = errors.Join(err, failed)
	count, failed := gpu.Alloc[int](dev, 1)
	err = errors.Join(err, failed)
	two, failed := gpu.Alloc[float32](dev, 2)
	if err = errors.Join(err, failed); err != nil {
		return err
	}
	buffers = append(buffers, positions, count, two)
	up, same, sum := algo.Ascending[float32](), algo.Same[float32](), algo.Sum[float32]()
	cases := []orderCase{
		{"sort by comparison", 8, 0, func() error { return errors.Join(gpu.Copy(s, keys, x), algo.SortBy(s, up, keys)) }},
		{"sort pairs by comparison", 16, 0, func() error { return errors.Join(gpu.Copy(s, keys, x), algo.SortPairsBy(s, up, keys, y)) }},
		{"merge", 8, 0, func() error { return algo.Merge(s, up, y, a, b) }},
		{"union", 8, 0, func() error { return algo.Union(s, up, y, count, a, b) }},
		{"lower bound", 12, 1, func() error { return algo.LowerBound(s, up, positions, a, x) }},
		{"argmin", 4, 1, func() error { return algo.ArgMin(s, up, count, x) }},
		{"minmax", 4, 1, func() error { return algo.MinMax(s, up, two, x) }},
		{"unique of runs", 8, 1, func() error { return algo.Unique(s, same, y, count, groups) }},
		{"run lengths", 16, 1, func() error { return algo.RunLengths(s, same, y, positions, count, groups) }},
		{"reduce by key", 16, 0, func() error { return algo.ReduceByKey(s, same, sum, y, z, count, groups, ones) }},
		{"scan by key", 12, 0, func() error { return algo.ScanByKey(s, same, sum, z, groups, ones) }},
	}
	fmt.Printf("%-28s %10s %10s %8s %10s %8s\n", "", "us", "Melem/s", "GB/s", "peer us", "relative")
	for _, c := range cases {
		seconds, err := measure(ctx, s, c.run)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		fmt.Printf("%-28s %10.1f %10.0f %8.0f", c.name, seconds*1e6, n/seconds/1e6, float64(c.bytes)*n/seconds/1e9)
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
