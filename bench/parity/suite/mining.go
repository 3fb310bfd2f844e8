package suite

import (
	"math/rand/v2"

	"quern.dev/bench/parity/byhand"
	"quern.dev/bench/parity/kernels"
	"quern.dev/gpu"
)

// Graphs, clusters and training.

// bfs visits a graph with 1 to 16 edges per vertex, to random vertices. Half of the vertices
// have been visited, and half of these are the frontier. Work is the number of their edges.
func bfs(z Size) *Case {
	n := z.of(1000, 1<<20, 1<<22)
	starts := make([]int32, n+1)
	frontier, visited := make([]uint32, ceilDiv(n, 32)), make([]uint32, ceilDiv(n, 32))
	examined := 0
	for v := range n {
		degree := 1 + rand.Int32N(16)
		starts[v+1] = starts[v] + degree
		switch rand.IntN(4) {
		case 0:
			frontier[v/32] |= 1 << (v % 32)
			visited[v/32] |= 1 << (v % 32)
			examined += int(degree)
		case 1:
			visited[v/32] |= 1 << (v % 32)
		}
	}
	s, e := in(starts), in(random(int(starts[n]), upTo(int32(n))))
	f, v, next := in(frontier), in(visited), inOut(make([]uint32, len(frontier)), exact)
	return &Case{
		Name: "bfs", Kernel: kernels.BFS, Grid: flat(n),
		Args: []any{s, e, f, v, next},
		Unit: Items, Work: float64(examined),
		ByHand: func() { byhand.BFS(s.Host, e.Host, f.Host, v.Host, next.Hand) },
	}
}

func kmeans(z Size) *Case {
	n, k, d := z.of(300, 1<<15, 1<<20), z.of(5, 16, 16), z.of(7, 32, 32)
	// Distances are exact, and some points have several nearest centers.
	few := func(r *rand.Rand) float32 { return float32(r.IntN(4)) }
	features, centers := in(random(n*d, few)), in(random(k*d, few))
	nearest := out[int32](n, exact)
	return &Case{
		Name: "kmeans", Kernel: kernels.KMeans, Grid: flat(n),
		Args: []any{n, k, d, features, centers, nearest},
		Unit: Flops, Work: 3 * float64(n) * float64(k) * float64(d),
		ByHand: func() { byhand.KMeans(n, k, d, features.Host, centers.Host, nearest.Hand) },
	}
}

func backprop(z Size) *Case {
	const tile = kernels.BackpropTile
	n, hidden := z.of(48, 16384, 65536), z.of(32, 1024, 1024)
	// Launches multiply the weights again and again; they neither vanish nor overflow.
	inputs := in(random(n, between(0.98, 1.02)))
	weights, sums := inOut(random(n*hidden, between(-1, 1)), rounding), out[float32](n/tile*hidden, rounding)
	return &Case{
		Name: "backprop", Kernel: kernels.Backprop,
		Grid: gpu.Blocks(gpu.Dim3{X: hidden / tile, Y: n / tile}, gpu.Dim3{X: tile, Y: tile}),
		Args: []any{hidden, inputs, weights, sums},
		Unit: Bytes, Work: 8*float64(n)*float64(hidden) + 4*float64(n) + 4*float64(n/tile)*float64(hidden),
		ByHand: func() { byhand.Backprop(hidden, inputs.Host, weights.Hand, sums.Hand) },
	}
}
