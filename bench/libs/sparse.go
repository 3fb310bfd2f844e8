package main

import (
	"context"
	"fmt"
	"math"

	"quern.dev/gpu"
	"quern.dev/sparse"
)

func init() { register("sparse", measureSparse) }

// sparseCase is a matrix by a formula, which peers_sparse.py has too: length gives the
// number of entries of each row, and their columns are those of stencil, relative to the
// row, or pseudo-random.
type sparseCase struct {
	name    string
	rows    int
	length  func(i uint64) int
	stencil []int
}

func stencil3D(n int) []int {
	var out []int
	for z := -1; z <= 1; z++ {
		for y := -1; y <= 1; y++ {
			for x := -1; x <= 1; x++ {
				out = append(out, (z*n+y)*n+x)
			}
		}
	}
	return out
}

func lengthOf(n int) func(uint64) int { return func(uint64) int { return n } }

// sparseCases are matrices of different structure. peers_sparse.py has the same ones.
var sparseCases = []sparseCase{
	{"diagonal", 1 << 24, nil, []int{0}},
	{"stencil of 5 points", 1 << 22, nil, []int{-2048, -1, 0, 1, 2048}},
	{"stencil of 27 points", 1 << 21, nil, stencil3D(128)},
	{"band of 65", 1 << 19, nil, span(-32, 33)},
	{"random, 3 per row", 1 << 22, lengthOf(3), nil},
	{"random, 16 per row", 1 << 21, lengthOf(16), nil},
	{"random, 200 per row", 1 << 17, lengthOf(200), nil},
	{"random, 1 to 64 per row", 1 << 20, func(i uint64) int { return 1 + int(mix(i)%64) }, nil},
	{"power law", 1 << 22, func(i uint64) int { return 2 + int(1<<22/(i+1)) }, nil},
	{"rows of 2^20 entries", 1 << 20, func(i uint64) int {
		if i%(1<<17) == 5 {
			return 1 << 20
		}
		return 4
	}, nil},
}

func span(low, high int) (out []int) {
	for i := low; i < high; i++ {
		out = append(out, i)
	}
	return out
}

// mix is the finalizer of SplitMix64.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// build returns the matrix. shrink divides the number of rows, for slow devices.
func (c *sparseCase) build(shrink int) *sparse.Entries[float32] {
	rows := c.rows / shrink
	e := &sparse.Entries[float32]{Rows: rows, Cols: rows}
	for i := range rows {
		if c.stencil != nil {
			for _, d := range c.stencil {
				if j := i + d; j >= 0 && j < rows {
					e.Add(i, j, 1)
				}
			}
			continue
		}
		for k := range min(c.length(uint64(i)), rows) {
			e.Add(i, int(mix(uint64(i)<<32|uint64(k))%uint64(rows)), 1)
		}
	}
	return e
}

// measureSparse prints the time of a product with a vector, the bandwidth of its
// entries, and the speed relative to cuSPARSE.
func measureSparse(ctx context.Context, dev *gpu.Device) error {
	peers, err := peer(ctx, "peers_sparse.py")
	if err != nil {
		fmt.Printf("no peers: %v\n", err)
	}
	s, shrink := dev.DefaultStream(), 1
	if dev.Backend() != gpu.CUDA {
		shrink = 64
	}
	methods := [...]string{sparse.ByRow: "rows", sparse.ByWarp: "warps", sparse.Merge: "merge"}
	fmt.Printf("%-26s %10s %6s %10s %8s%s %12s %8s\n", "", "entries", "kernel", "us", "GB/s", vendorHeader(), "cuSPARSE us", "relative")
	logs, compared := 0.0, 0
	for _, c := range sparseCases {
		seconds, entries, method, err := c.measure(ctx, s, shrink)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		fmt.Printf("%-26s %10d %6s %10.1f %8.0f%s", c.name, entries, methods[method], seconds*1e6, float64(8*entries+12*c.rows/shrink)/seconds/1e9, vendor(dev, seconds, func() (float64, error) {
			seconds, _, _, err := c.measure(ctx, s, shrink)
			return seconds, err
		}))
		if theirs, ok := peers[c.name]; ok && dev.Backend() == gpu.CUDA {
			fmt.Printf(" %12.1f %8.2f", theirs*1e6, theirs/seconds)
			logs += math.Log(theirs / seconds)
			compared++
		}
		fmt.Println()
	}
	if compared > 0 {
		fmt.Printf("geometric mean %.2f (goal 1.0)\n", math.Exp(logs/float64(compared)))
	}
	return nil
}

func (c *sparseCase) measure(ctx context.Context, s *gpu.Stream, shrink int) (seconds float64, entries int, method sparse.Method, err error) {
	a, err := sparse.UploadCSR(s, c.build(shrink))
	if err != nil {
		return 0, 0, 0, err
	}
	defer a.Close()
	x, err := gpu.Alloc[float32](s.Device(), a.Cols)
	if err != nil {
		return 0, 0, 0, err
	}
	defer x.Close()
	y, err := gpu.Alloc[float32](s.Device(), a.Rows)
	if err != nil {
		return 0, 0, 0, err
	}
	defer y.Close()
	if err := gpu.Fill(s, x, 1); err != nil {
		return 0, 0, 0, err
	}
	seconds, err = measure(ctx, s, func() error { return sparse.MulVec(s, false, 1, a, x, 0, y) })
	return seconds, a.Entries(), a.Method(s.Device()), err
}
