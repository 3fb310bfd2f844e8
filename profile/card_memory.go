package profile

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"strconv"
	"time"

	"quern.dev/gpu"
	"quern.dev/profile/internal/kernels"
)

// measurer measures a card.
type measurer struct {
	ctx context.Context
	s   *gpu.Stream
	d   *gpu.Device
	c   *Card
	gpu bool

	span   time.Duration // of the device for each value
	shrink int           // tests make arrays shorter: by this power of two
}

// cardBlock is the block size of the measurements.
const cardBlock = 256

// cardTime is the time of the device for each value.
const cardTime = 20 * time.Millisecond

// config returns the configuration of a measurement.
func (m *measurer) config(bytes int64, keepCache bool) BenchmarkConfig {
	return BenchmarkConfig{Name: "card", MinTime: m.span, MaxTime: 8 * m.span, Noise: 0.01, KeepCache: keepCache, Bytes: bytes, Warmup: 1}
}

// least returns the shortest time of a launch in seconds.
func (m *measurer) least(c BenchmarkConfig, run func(s *gpu.Stream) error) (float64, error) {
	r, err := benchmark(m.ctx, m.s, c, run)
	return max(r.Min, 1) / 1e9, err
}

// grid returns a grid for n threads.
func grid(n int) gpu.Grid {
	return gpu.Blocks(gpu.Dim3{X: max(1, (n+cardBlock-1)/cardBlock)}, gpu.Dim3{X: cardBlock})
}

// full returns a grid that fills the device several times.
func (m *measurer) full() (g gpu.Grid, threads int) {
	blocks := 8 * m.c.Multiprocessors
	if !m.gpu {
		blocks = 16 * m.c.Multiprocessors
	}
	return gpu.Blocks(gpu.Dim3{X: blocks}, gpu.Dim3{X: cardBlock}), blocks * cardBlock
}

// bounded returns n, or less if arrays with that many elements of the given size take more
// than a quarter of the free memory. It stays a power of two if n is one.
func (m *measurer) bounded(n, size int) int {
	n >>= m.shrink
	free, _ := m.d.Memory()
	for free > 0 && int64(n)*int64(size) > free/4 && n > cardBlock {
		n /= 2
	}
	return n
}

// arrays allocates arrays of zeros or other values, and passes them to f.
func arrays[T any](m *measurer, value T, f func(list []*gpu.Buffer[T]) error, lengths ...int) (err error) {
	var list []*gpu.Buffer[T]
	defer func() {
		for _, b := range list {
			err = errors.Join(err, b.Close())
		}
	}()
	for _, n := range lengths {
		b, err := gpu.Alloc[T](m.d, n)
		if err != nil {
			return err
		}
		list = append(list, b)
		if err := gpu.Fill(m.s, b, value); err != nil {
			return err
		}
	}
	if err := m.s.Synchronize(m.ctx); err != nil {
		return err
	}
	return f(list)
}

func (m *measurer) limits() error {
	l, err := Measure(m.ctx, m.s)
	if err != nil {
		return err
	}
	m.c.Machine = *l
	return nil
}

// Elements of BabelStream's arrays: its default, and fewer on the CPU.
const (
	streamGPU = 1 << 25
	streamCPU = 1 << 24
)

// dotBlocks is the number of blocks of the dot product per multiprocessor.
const dotBlocks = 4

// streams measures the five kernels of BabelStream: the shortest time, without the first run.
func (m *measurer) streams() error {
	n := m.bounded(streamCPU, 3*8)
	if m.gpu {
		n = m.bounded(streamGPU, 3*8)
	}
	blocks := dotBlocks * m.c.Multiprocessors
	dot := gpu.Blocks(gpu.Dim3{X: blocks}, gpu.Dim3{X: kernels.DotThreads})
	return arrays(m, 0.1, func(l []*gpu.Buffer[float64]) error {
		a, b, c, sums := l[0], l[1], l[2], l[3]
		p := Pattern{Name: "stream", Title: fmt.Sprintf("BabelStream, %d float64", n), Axis: "kernel", Unit: "B/s", Lines: []Line{{Name: "bandwidth"}}}
		for _, k := range []struct {
			name   string
			arrays int64
			run    func(s *gpu.Stream) error
		}{
			{"copy", 2, func(s *gpu.Stream) error { return kernels.LaunchStreamCopy(s, grid(n), a, c) }},
			{"mul", 2, func(s *gpu.Stream) error { return kernels.LaunchStreamMul(s, grid(n), b, c) }},
			{"add", 3, func(s *gpu.Stream) error { return kernels.LaunchStreamAdd(s, grid(n), a, b, c) }},
			{"triad", 3, func(s *gpu.Stream) error { return kernels.LaunchStreamTriad(s, grid(n), a, b, c) }},
			{"dot", 2, func(s *gpu.Stream) error { return kernels.LaunchStreamDot(s, dot, a, b, sums) }},
		} {
			bytes := k.arrays * 8 * int64(n)
			t, err := m.least(m.config(bytes, true), k.run)
			if err != nil {
				return err
			}
			p.Labels = append(p.Labels, k.name)
			p.Lines[0].Values = append(p.Lines[0].Values, float64(bytes)/t)
		}
		m.c.Rates.Memory = p.value("bandwidth", "triad")
		m.c.Patterns = append(m.c.Patterns, p)
		return nil
	}, n, n, n, blocks)
}

// mostStride is the largest stride in elements.
const mostStride = 64

// strides measures copies of every element, every second one and so on, and random reads.
func (m *measurer) strides() error {
	count := m.bounded(1<<18, 2*4*mostStride)
	if m.gpu {
		count = m.bounded(1<<24, 2*4*mostStride)
	}
	return arrays(m, float32(1), func(l []*gpu.Buffer[float32]) error {
		x, y := l[0], l[1]
		p := Pattern{Name: "strided", Title: fmt.Sprintf("Copies of %d float32 at a distance, useful bytes", count), Axis: "stride", Unit: "B/s", Lines: []Line{{Name: "bandwidth"}}}
		add := func(label string, run func(s *gpu.Stream) error) (float64, error) {
			bytes := 2 * 4 * int64(count)
			t, err := m.least(m.config(bytes, false), run)
			p.Labels = append(p.Labels, label)
			p.Lines[0].Values = append(p.Lines[0].Values, float64(bytes)/t)
			return t, err
		}
		for stride := 1; stride <= mostStride; stride *= 2 {
			if _, err := add(strconv.Itoa(stride), func(s *gpu.Stream) error { return kernels.LaunchStrided(s, grid(count), count, stride, x, y) }); err != nil {
				return err
			}
		}
		few, err := y.Slice(0, count), error(nil)
		t, err := add("random", func(s *gpu.Stream) error { return kernels.LaunchGather(s, grid(count), x, few) })
		m.c.Rates.Scattered = float64(count) / t
		m.c.Patterns = append(m.c.Patterns, p)
		return err
	}, count*mostStride, count*mostStride)
}

// workingSets measures repeated reads of arrays that fit the caches, and that do not.
func (m *measurer) workingSets() error {
	largest := m.bounded(1<<25, 4)
	if m.gpu {
		largest = m.bounded(1<<28, 4)
	}
	g, threads := m.full()
	if !m.gpu {
		g = gpu.Blocks(gpu.Dim3{X: 4 * m.c.Multiprocessors}, gpu.Dim3{X: 1})
	}
	return arrays(m, float32(1), func(l []*gpu.Buffer[float32]) error {
		x, out := l[0], l[1]
		p := Pattern{Name: "cache", Title: "Repeated reads", Axis: "working set", Unit: "B/s", Lines: []Line{{Name: "bandwidth"}}}
		for n := 1 << 14; n <= largest; n *= 4 {
			part := x.Slice(0, n)
			passes := max(1, (m.c.Multiprocessors<<22>>m.shrink)/n)
			bytes := 4 * int64(n) * int64(passes)
			run := func(s *gpu.Stream) error { return kernels.LaunchRereadChunks(s, g, passes, part, out) }
			if m.gpu {
				rounds := max(512, n/threads)
				bytes = 4 * int64(threads) * int64(rounds)
				run = func(s *gpu.Stream) error { return kernels.LaunchReread(s, g, rounds, part, out) }
			}
			t, err := m.least(m.config(bytes, true), run)
			if err != nil {
				return err
			}
			p.Labels = append(p.Labels, size(4*n))
			p.Lines[0].Values = append(p.Lines[0].Values, float64(bytes)/t)
			miss, err := m.miss(part)
			if err != nil {
				return err
			}
			m.c.Caches = append(m.c.Caches, CacheRate{4 * float64(n), float64(bytes) / t, miss})
			if m.c.L2Size == 0 || 4*n <= m.c.L2Size/2 {
				m.c.Rates.Cached = max(0.25*float64(bytes)/t, m.c.Rates.Cached)
				if m.gpu { // the L2 cache, not that of a multiprocessor
					m.c.Rates.Cached = 0.25 * float64(bytes) / t
				}
			}
		}
		m.c.Patterns = append(m.c.Patterns, p)
		return nil
	}, largest, 1)
}

// miss returns the time of a random read of x beyond that of one in the smallest working set; see
// CacheRate.
func (m *measurer) miss(x *gpu.Buffer[float32]) (float64, error) {
	if m.gpu || len(m.c.Caches) == 0 {
		return 0, nil
	}
	count := max(1<<14, x.Len()/16) // each line of 64 bytes once, on average
	var times [2]float64
	err := arrays(m, float32(1), func(l []*gpu.Buffer[float32]) (err error) {
		for i, of := range []*gpu.Buffer[float32]{x.Slice(0, int(m.c.Caches[0].Bytes)/4), x} {
			times[i], err = m.least(m.config(0, true), func(s *gpu.Stream) error { return kernels.LaunchGather(s, grid(count), of, l[0]) })
			if err != nil {
				return err
			}
		}
		return nil
	}, count)
	return max(0, times[1]-times[0]) / float64(count), err
}

// size formats a number of bytes: "64 KiB".
func size(n int) string {
	units := []string{"B", "KiB", "MiB", "GiB"}
	u := min(max(0, bits.Len(uint(n))-1)/10, len(units)-1)
	return strconv.Itoa(n>>(10*u)) + " " + units[u]
}

// sharedMemory measures reads with bank conflicts: with a stride of s words, s lanes of a warp
// read the same bank.
func (m *measurer) sharedMemory() error {
	g, threads := m.full()
	rounds := 4
	if m.gpu {
		rounds = 256
	}
	return arrays(m, int32(0), func(l []*gpu.Buffer[int32]) error {
		p := Pattern{Name: "shared", Title: "Reads of shared memory by lanes at a distance", Axis: "words between lanes", Unit: "B/s", Lines: []Line{{Name: "bandwidth"}}}
		for stride := 1; stride <= 32; stride *= 2 {
			bytes := 4 * int64(threads) * int64(rounds) * kernels.SharedReads
			t, err := m.least(m.config(bytes, true), func(s *gpu.Stream) error { return kernels.LaunchConflicts(s, g, rounds, stride, l[0]) })
			if err != nil {
				return err
			}
			p.Labels = append(p.Labels, strconv.Itoa(stride))
			p.Lines[0].Values = append(p.Lines[0].Values, float64(bytes)/t)
		}
		m.c.Rates.Shared = p.Lines[0].Values[0] / 4
		m.c.Patterns = append(m.c.Patterns, p)
		return nil
	}, 1)
}

// atomics measures additions to one address and to many.
func (m *measurer) atomics() error {
	g, threads := m.full()
	const most = 1 << 20
	rounds := 1
	if m.gpu {
		rounds = 32
	}
	return arrays(m, uint32(0), func(l []*gpu.Buffer[uint32]) error {
		p := Pattern{Name: "atomics", Title: "Atomic additions", Axis: "addresses", Unit: "op/s", Lines: []Line{{Name: "rate"}}}
		for n := 1; n <= most; n *= 32 {
			part := l[0].Slice(0, n)
			t, err := m.least(m.config(0, true), func(s *gpu.Stream) error { return kernels.LaunchAddAtomically(s, g, rounds, part) })
			if err != nil {
				return err
			}
			p.Labels = append(p.Labels, strconv.Itoa(n))
			p.Lines[0].Values = append(p.Lines[0].Values, float64(threads)*float64(rounds)/t)
		}
		v := p.Lines[0].Values
		m.c.Rates.Contended, m.c.Rates.Atomics = v[0], v[len(v)-1]
		m.c.Patterns = append(m.c.Patterns, p)
		return nil
	}, most)
}
