package kernels

import "quern.dev/kernel"

// pagerank computes one step of PageRank, where ranks add up to the number of pages. Page
// i is linked from the pages sources[starts[i]] to sources[starts[i+1]-1], and has
// degrees[i] links to others. A share is a rank divided by the number of links.
//
//quern:kernel block=256 also=unchecked
func pagerank(t kernel.Thread, damping float32, starts, sources, degrees []int32, shares, ranks, next []float32) {
	i := t.Global()
	if i >= len(ranks) {
		return
	}
	var sum float32
	for e := starts[i]; e < starts[i+1]; e++ {
		sum += shares[sources[e]]
	}
	rank := 1 - damping + damping*sum
	ranks[i] = rank
	next[i] = rank / float32(degrees[i])
}
