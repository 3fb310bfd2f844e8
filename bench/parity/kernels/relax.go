package kernels

import "quern.dev/kernel"

// Unreached is the distance of nodes to which no path is known.
const Unreached = 1<<31 - 1

// relax computes one round of the Bellman-Ford algorithm. The edges of node i lead to
// ends[starts[i]] to ends[starts[i+1]-1] and have the given lengths. next initially equals
// distances.
//
//quern:kernel block=256 also=unchecked
func relax(t kernel.Thread, starts, ends, lengths, distances, next []int32) {
	i := t.Global()
	if i >= len(distances) {
		return
	}
	distance := distances[i]
	if distance == Unreached {
		return
	}
	for e := starts[i]; e < starts[i+1]; e++ {
		kernel.AtomicMin(&next[ends[e]], distance+lengths[e])
	}
}
