package profile

import (
	"testing"

	"quern.dev/gpu"
	"quern.dev/profile/internal/kernels"
)

// cpuCard is the card of a CPU whose figures are easy to compute with.
func cpuCard() *Card {
	return &Card{
		Backend: string(gpu.CPU), Multiprocessors: 2,
		Machine: Machine{CopyBandwidth: 1e10, Flops32: 1e10, Flops64: 1e10},
		Rates:   Rates{Memory: 1e10, Integers: 1e9, Roots: 1e9, Functions: 1e9, Shared: 1e9, Cached: 1e9, Scattered: 1e8, Atomics: 1e9, Contended: 1e9, Threads: 1e9, Barriers: 1e9},
		Caches:  []CacheRate{{Bytes: 1 << 16, Bandwidth: 1e11}, {Bytes: 1 << 20, Bandwidth: 1e11, Miss: 1e-9}, {Bytes: 1 << 24, Bandwidth: 1e10, Miss: 21e-9}},
	}
}

func TestThreadsHaveTheIntegersOfTheKernelThatMeasuresThem(t *testing.T) {
	const n = 1 << 14
	w, err := Count(t.Context(), Workload{Name: "touch", Prepare: func(s *gpu.Stream, n int) (*Instance, error) {
		out, err := gpu.Alloc[uint8](s.Device(), n)
		return &Instance{Launch: func(s *gpu.Stream) error { return kernels.LaunchTouch(s, grid(n), out) }, Close: out.Close}, err
	}}, n)
	if err != nil {
		t.Fatal(err)
	}
	if got := w.Integers / w.Threads; got < threadIntegers-0.5 || got > threadIntegers+0.5 {
		t.Errorf("a thread of kernels.touch has %.2f integer instructions, and threadIntegers is %d", got, threadIntegers)
	}
}

func TestIntegersThatComputeNoIndexCostTheirTime(t *testing.T) {
	w := Work{Launches: 1, Blocks: 100, Threads: 1000, Integers: 1e9 + threadIntegers*1000, Global: 1000}
	if got := cpuCard().cpuKernel(&w).seconds; got < 0.99 || got > 1.01 {
		t.Errorf("1e9 operations at 1e9 per second take %v s", got)
	}
	w.Global = 1e9 / indexIntegers
	if got, want := w.cpuIntegers(), indexShare*1e9; got < 0.99*want || got > 1.01*want {
		t.Errorf("%v of 1e9 integer operations for indices count, want %v", got, want)
	}
}

func TestManyShortLaunchesTakeTheTimeOfTheHost(t *testing.T) {
	card := cpuCard()
	card.Backend, card.Latency = string(gpu.CUDA), Latency{Launch: 5e-6, Wait: 10e-6, Kernel: 1e-6}
	for _, x := range []struct{ launches, want float64 }{{1, 11e-6}, {101, 510e-6}} { // with the wait
		p := predictor{AdviseConfig: AdviseConfig{Resident: true}}
		got := p.add(card, factors{1, 1}, &countedSize{n: 1, work: Work{Launches: x.launches}}).Total
		if got < 0.99*x.want || got > 1.01*x.want {
			t.Errorf("%v launches take %v s, want %v", x.launches, got, x.want)
		}
	}
}

func TestRandomAccessesCostMoreInLargerArrays(t *testing.T) {
	c := cpuCard()
	for _, x := range []struct{ bytes, want float64 }{
		{1000, 0}, {1 << 16, 0}, {1 << 18, 0.5e-9}, {1 << 20, 1e-9}, {1 << 22, 11e-9}, {1 << 24, 21e-9}, {1 << 30, 21e-9},
	} {
		if got := c.miss(x.bytes); got < 0.99*x.want || got > 1.01*x.want {
			t.Errorf("a random read of %v bytes takes %v s longer, want %v", x.bytes, got, x.want)
		}
	}
	// The same reads, of adjacent elements and at random.
	adjacent := Work{Launches: 1, Blocks: 100, Threads: 1e6, Global: 1e6, AccessedBytes: 4e6, ReadBytes: 4e6}
	random := adjacent
	random.Scattered, random.ScatteredBytes = 1e6, 1e6*(1<<24)
	extra := c.cpuKernel(&random).seconds - c.cpuKernel(&adjacent).seconds
	if want := 1e6 * 21e-9; extra < 0.99*want || extra > 1.01*want {
		t.Errorf("random reads take %v s longer, want %v", extra, want)
	}
	if got := c.cpuKernel(&random).bound; got != boundScatter {
		t.Errorf("bound by %s, want %s", got, boundScatter)
	}
}
