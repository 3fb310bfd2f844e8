package kernels

import (
	"math"

	"quern.dev/kernel"
)

// BackpropTile is the number of inputs and of hidden units of a block of backprop.
const BackpropTile = 16

// bfs adds to next the vertices that have an edge from the frontier and have not been
// visited (Rodinia, bfs). Edges of vertex i are starts[i] to starts[i+1]-1. Vertex sets are
// bitmaps.
//
//quern:kernel also=unchecked
func bfs(t kernel.Thread, starts, edges []int32, frontier, visited, next []uint32) {
	v := t.Global()
	if v >= len(starts)-1 || frontier[v/32]>>(v%32)&1 == 0 {
		return
	}
	for e := starts[v]; e < starts[v+1]; e++ {
		to := edges[e]
		bit := uint32(1) << (to % 32)
		if visited[to/32]&bit == 0 {
			kernel.AtomicOr(&next[to/32], bit)
		}
	}
}

// kmeans finds the nearest of k centers for each of n points with d features (Rodinia,
// kmeans). Feature f of point i is at f*n+i, and that of center c at c*d+f.
//
//quern:kernel also=unchecked
func kmeans(t kernel.Thread, n, k, d int, features, centers []float32, nearest []int32) {
	i := t.Global()
	if i >= n {
		return
	}
	least, at := float32(math.MaxFloat32), int32(-1)
	for c := range k {
		sum := float32(0)
		for f := range d {
			diff := features[f*n+i] - centers[c*d+f]
			sum += diff * diff
		}
		if sum < least {
			least, at = sum, int32(c)
		}
	}
	nearest[i] = at
}

// backprop multiplies the weights of each input by the input, and adds up the products of
// every BackpropTile inputs for each hidden unit (Rodinia, backprop). The partial sums of
// the addition remain in weights.
//
//quern:kernel block=16x16 also=unchecked
func backprop(t kernel.Thread, hidden int, inputs, weights, sums []float32) {
	node := kernel.Shared[[BackpropTile]float32](t)
	m := kernel.Shared[[BackpropTile][BackpropTile]float32](t)
	tx, ty, by := t.ThreadIdx.X, t.ThreadIdx.Y, t.BlockIdx.Y
	at := (by*BackpropTile+ty)*hidden + t.BlockIdx.X*BackpropTile + tx
	if tx == 0 {
		node[ty] = inputs[by*BackpropTile+ty]
	}
	t.Sync()
	m[ty][tx] = weights[at] * node[ty]
	t.Sync()
	for half := 1; half < BackpropTile; half *= 2 {
		if ty%(2*half) == 0 {
			m[ty][tx] += m[ty+half][tx]
		}
		t.Sync()
	}
	weights[at] = m[ty][tx]
	if ty == 0 {
		sums[by*hidden+t.BlockIdx.X*BackpropTile+tx] = m[0][tx]
	}
}
