package suite

import (
	"math/rand/v2"

	"quern.dev/bench/parity/byhand"
	"quern.dev/bench/parity/kernels"
	"quern.dev/gpu"
)

// Kernels on graphs.

// linear returns a grid with blocks of the given number of threads, at least one thread
// for each of n elements.
func linear(n, threads int) gpu.Grid {
	return gpu.Blocks(gpu.Dim3{X: ceilDiv(n, threads)}, gpu.Dim3{X: threads})
}

// offsets returns the running sums of n counts, from 0: where the parts of an array start
// and end.
func offsets(n int, count func(i int) int) []int32 {
	starts := make([]int32, n+1)
	for i := range n {
		starts[i+1] = starts[i] + int32(count(i))
	}
	return starts
}

// below returns a source of random numbers in [0, n).
func below(n int) func(r *rand.Rand) int32 {
	return func(r *rand.Rand) int32 { return r.Int32N(int32(n)) }
}

// pagerank uses a graph in which few pages have most of the incoming links: up to 400,
// about 18 on average.
func pagerank(z Size) *Case {
	const damping = 0.85
	pages := z.of(501, 1<<18, 1<<21)
	starts := offsets(pages, func(int) int { return int(4 / (rand.Float32() + 0.01)) })
	links := int(starts[pages])
	s, sources := in(starts), in(random(links, below(pages)))
	degrees := in(random(pages, func(r *rand.Rand) int32 { return 1 + r.Int32N(35) }))
	shares := in(random(pages, between(0, 0.2)))
	ranks, next := out[float32](pages, rounding), out[float32](pages, rounding)
	return &Case{
		Name: "pagerank", Kernel: kernels.Pagerank, Grid: linear(pages, 256),
		Args: []any{float32(damping), s, sources, degrees, shares, ranks, next},
		Unit: Bytes, Work: 4*float64(links) + 20*float64(pages),
		ByHand: func() {
			byhand.Pagerank(damping, s.Host, sources.Host, degrees.Host, shares.Host, ranks.Hand, next.Hand)
		},
	}
}

// triangles uses a graph whose nodes are connected with a quarter of those with similar
// numbers.
func triangles(z Size) *Case {
	const near = 48
	nodes := z.of(151, 1<<14, 1<<20)
	starts := make([]int32, nodes+1)
	var begins, ends []int32
	for u := range nodes {
		for v := u + 1; v < min(u+near, nodes); v++ {
			if rand.Uint32()&3 == 0 {
				begins, ends = append(begins, int32(u)), append(ends, int32(v))
			}
		}
		starts[u+1] = int32(len(ends))
	}
	s, b, e := in(starts), in(begins), in(ends)
	total := inOut(make([]uint32, 1), exact)
	return &Case{
		Name: "triangles", Kernel: kernels.Triangles, Grid: linear(len(ends), 256),
		Args: []any{s, b, e, total},
		Unit: Items, Work: float64(len(ends)), // edges
		ByHand: func() { byhand.Triangles(s.Host, e.Host, total.Hand) },
	}
}

func relax(z Size) *Case {
	nodes := z.of(501, 1<<18, 1<<21)
	starts := offsets(nodes, func(int) int { return 4 + rand.IntN(9) })
	edges := int(starts[nodes])
	known := random(nodes, func(r *rand.Rand) int32 {
		if r.Uint32()&3 == 0 {
			return kernels.Unreached
		}
		return r.Int32N(1000)
	})
	s, ends, lengths := in(starts), in(random(edges, below(nodes))), in(random(edges, below(500)))
	distances, next := in(known), inOut(known, exact)
	return &Case{
		Name: "relax", Kernel: kernels.Relax, Grid: linear(nodes, 256),
		Args: []any{s, ends, lengths, distances, next},
		Unit: Bytes, Work: 8*float64(edges) + 16*float64(nodes),
		ByHand: func() { byhand.Relax(s.Host, ends.Host, lengths.Host, distances.Host, next.Hand) },
	}
}
