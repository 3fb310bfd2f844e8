package main

import (
	"slices"
	"testing"

	"quern.dev/gpu"
)

func init() { register("pool", measurePool) }

// poolElements is the size of the buffers: 4 MiB, the same as for the peers.
const poolElements = 1 << 20

// measurePool measures acquiring a buffer from a pool that has a free one, and closing it.
func measurePool(r *run) error {
	s := r.dev.DefaultStream()
	p, err := r.dev.NewPool(gpu.PoolConfig{})
	if err != nil {
		return err
	}
	defer p.Close()
	var failed error
	warm := func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			buffer, err := gpu.Acquire[float32](p, s, poolElements)
			if err != nil {
				failed = err
				b.FailNow()
			}
			buffer.Close()
		}
	}
	var results []testing.BenchmarkResult
	for range 3 {
		results = append(results, testing.Benchmark(warm))
	}
	if failed != nil {
		return failed
	}
	best := slices.MinFunc(results, func(a, b testing.BenchmarkResult) int {
		return int(a.NsPerOp() - b.NsPerOp())
	})
	nanoseconds := float64(best.T.Nanoseconds()) / float64(best.N)
	r.atMost("acquire and release, warm", nanoseconds, 300, "ns")
	r.atMost("allocations", float64(best.AllocsPerOp()), 0, "")
	r.show("of Go's memory, in pieces for 128 handles", float64(best.MemBytes)/float64(best.N), "B")

	crowd := testing.Benchmark(func(b *testing.B) {
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if buffer, err := gpu.Acquire[float32](p, s, poolElements); err == nil {
					buffer.Close()
				}
			}
		})
	})
	r.show("with all cores at once, each", float64(crowd.T.Nanoseconds())/float64(crowd.N), "ns")

	pinned := testing.Benchmark(func(b *testing.B) {
		for b.Loop() {
			h, err := gpu.AcquireHost[float32](r.dev.HostPool(), poolElements)
			if err != nil {
				failed = err
				b.FailNow()
			}
			h.Close()
		}
	})
	if failed != nil {
		return failed
	}
	r.show("acquire and release of page-locked memory", float64(pinned.T.Nanoseconds())/float64(pinned.N), "ns")

	direct := testing.Benchmark(func(b *testing.B) {
		for b.Loop() {
			buffer, err := gpu.Alloc[float32](r.dev, poolElements)
			if err != nil {
				failed = err
				b.FailNow()
			}
			buffer.Close()
		}
	})
	if failed != nil {
		return failed
	}
	r.show("alloc and free without a pool", float64(direct.NsPerOp()), "ns")

	peers, err := r.peer("pool.py")
	if err != nil {
		return err
	}
	for _, name := range []string{"cupy async pool", "torch empty"} {
		if ns, ok := peers[name]; ok {
			r.show(name, ns, "ns")
		}
	}
	r.show("cupy pool", peers["cupy pool"], "ns")
	r.atLeast("CuPy's pool over Quern's", peers["cupy pool"]/nanoseconds, 1, "")
	return nil
}
