package kernels

import "quern.dev/kernel"

// triangles adds the number of triangles of a graph to total[0]. Each edge leads from the
// node with the smaller number to the one with the larger number. The edges of node i lead
// to ends[starts[i]] to ends[starts[i+1]-1], in increasing order; edge e begins at
// begins[e]. Each thread counts the common successors of the nodes of one edge.
//
//quern:kernel block=256 also=unchecked
func triangles(t kernel.Thread, starts, begins, ends []int32, total []uint32) {
	var count uint32
	if e := t.Global(); e < len(ends) {
		u, v := begins[e], ends[e]
		i, j := starts[u], starts[v]
		lastI, lastJ := starts[u+1], starts[v+1]
		for i < lastI && j < lastJ {
			a, b := ends[i], ends[j]
			if a == b {
				count++
			}
			if a <= b {
				i++
			}
			if b <= a {
				j++
			}
		}
	}
	count = kernel.WarpReduceAdd(t, count)
	if t.Lane() == 0 {
		kernel.AtomicAdd(&total[0], count)
	}
}
