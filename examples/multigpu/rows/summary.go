package rows

import (
	"context"
	"math"

	"quern.dev/gpu"
	"quern.dev/kernel"
)

// Summary holds statistics of a set of numbers.
type Summary struct {
	Count    int
	Sum      float64
	Min, Max float32 // +Inf and -Inf if there are no numbers; unspecified if one is NaN
}

// Mean returns the arithmetic mean, or NaN if there are no numbers.
func (s Summary) Mean() float64 { return s.Sum / float64(s.Count) }

// join returns the summary of the numbers of both.
func (s Summary) join(o Summary) Summary {
	return Summary{s.Count + o.Count, s.Sum + o.Sum, min(s.Min, o.Min), max(s.Max, o.Max)}
}

// nothing returns the summary of no numbers.
func nothing() Summary {
	return Summary{Min: float32(math.Inf(1)), Max: float32(math.Inf(-1))}
}

// partial is the result of one block of summarise.
type partial struct {
	sum    float64
	lo, hi float32
}

const (
	blockThreads = 256
	warps        = blockThreads / 32

	// blocksPerCore keeps enough loads in flight to use the full bandwidth.
	blocksPerCore = 8
)

// summarise computes the sum, minimum and maximum of the elements that the
// threads of each block read. x must not be empty.
//
//quern:kernel block=256
func summarise(t kernel.Thread, x []float32, out []partial) {
	sums := kernel.Shared[[warps]float64](t)
	los := kernel.Shared[[warps]float32](t)
	his := kernel.Shared[[warps]float32](t)
	// A thread without elements of its own starts with the first element of x,
	// which affects neither the minimum nor the maximum.
	var sum float64
	lo, hi := x[0], x[0]
	for i := t.Global(); i < len(x); i += t.Stride() {
		v := x[i]
		sum += float64(v)
		// Unlike min and max, these do not distinguish the zeros or check for NaN.
		if v < lo {
			lo = v
		}
		if v > hi {
			hi = v
		}
	}
	sum, lo, hi = kernel.WarpReduceAdd(t, sum), kernel.WarpReduceMin(t, lo), kernel.WarpReduceMax(t, hi)
	if t.Lane() == 0 {
		sums[t.Warp()], los[t.Warp()], his[t.Warp()] = sum, lo, hi
	}
	t.Sync()
	if t.ThreadIdx.X == 0 {
		for i := 1; i < warps; i++ {
			sum += sums[i]
			lo, hi = min(lo, los[i]), max(hi, his[i])
		}
		out[t.BlockIdx.X] = partial{sum, lo, hi}
	}
}

// Summarise returns the summary of all elements of x. It waits for the devices'
// default streams. The sum is computed in float64, in an order that depends on
// the devices.
func Summarise(ctx context.Context, x *gpu.Distributed[float32]) (Summary, error) {
	found := make([]Summary, len(x.Parts()))
	devs := make([]*gpu.Device, len(found))
	for i, p := range x.Parts() {
		devs[i] = p.Device
	}
	err := gpu.OnEach(ctx, devs, func(ctx context.Context, i int, _ *gpu.Device) (err error) {
		found[i], err = summariseOne(ctx, x.Parts()[i].Data, launchElements)
		return err
	})
	all := nothing()
	for _, s := range found {
		all = all.join(s)
	}
	return all, err
}

// launchElements is the maximum number of elements per launch. The kernel is
// faster if 32-bit indices are sufficient.
const launchElements = 1 << 30

// summariseOne summarizes the elements on one device, in launches of at most the
// given number of elements.
func summariseOne(ctx context.Context, x *gpu.Buffer[float32], most int) (Summary, error) {
	all := nothing()
	if x.Len() == 0 {
		return all, nil
	}
	d := x.Device()
	s := d.DefaultStream()
	blocks := min(blocksPerCore*d.Attributes().Multiprocessors, divideUp(x.Len(), blockThreads))
	launches := divideUp(x.Len(), most)
	out, err := gpu.Acquire[partial](d.Pool(), s, launches*blocks)
	if err != nil {
		return all, err
	}
	defer out.Close()
	grid := gpu.Blocks(gpu.Dim3{X: blocks}, gpu.Dim3{X: blockThreads})
	for i := range launches {
		piece := x.Slice(i*most, min((i+1)*most, x.Len()))
		if err := LaunchSummarise(s, grid, piece, out.Slice(i*blocks, (i+1)*blocks)); err != nil {
			return all, err
		}
	}
	parts := make([]partial, out.Len())
	if err := gpu.Download(ctx, s, parts, out); err != nil {
		return all, err
	}
	for _, p := range parts {
		all = all.join(Summary{0, p.sum, p.lo, p.hi})
	}
	all.Count = x.Len()
	return all, nil
}

func divideUp(n, by int) int { return (n + by - 1) / by }
