package byhand

import (
	"sync/atomic"

	"quern.dev/bench/parity/kernels"
)

// Pagerank computes one step of PageRank.
func Pagerank(damping float32, starts, sources, degrees []int32, shares, ranks, next []float32) {
	const pages = 1 << 10
	// Few pages have most of the links, so cores take parts in turns.
	parallelDynamic((len(ranks)+pages-1)/pages, func(part int) {
		for i := part * pages; i < min((part+1)*pages, len(ranks)); i++ {
			var sum float32
			for _, source := range sources[starts[i]:starts[i+1]] {
				sum += shares[source]
			}
			rank := 1 - damping + damping*sum
			ranks[i] = rank
			next[i] = rank / float32(degrees[i])
		}
	})
}

// Triangles adds the number of triangles to total[0].
func Triangles(starts, ends []int32, total []uint32) {
	var all atomic.Uint32
	parallel(len(starts)-1, func(lo, hi int) {
		var count uint32
		for u := lo; u < hi; u++ {
			successors := ends[starts[u]:starts[u+1]]
			for _, v := range successors {
				a, b := successors, ends[starts[v]:starts[v+1]]
				for len(a) > 0 && len(b) > 0 {
					switch x, y := a[0], b[0]; {
					case x < y:
						a = a[1:]
					case x > y:
						b = b[1:]
					default:
						count++
						a, b = a[1:], b[1:]
					}
				}
			}
		}
		all.Add(count)
	})
	total[0] += all.Load()
}

// Relax computes one round of the Bellman-Ford algorithm.
func Relax(starts, ends, lengths, distances, next []int32) {
	parallel(len(distances), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			distance := distances[i]
			if distance == kernels.Unreached {
				continue
			}
			first, end := starts[i], starts[i+1]
			nodes := ends[first:end]
			for e, length := range lengths[first:end][:len(nodes)] {
				atomicMin(&next[nodes[e]], distance+length)
			}
		}
	})
}

// atomicMin stores v in p if it is lower.
func atomicMin(p *int32, v int32) {
	for {
		old := atomic.LoadInt32(p)
		if old <= v || atomic.CompareAndSwapInt32(p, old, v) {
			return
		}
	}
}
