package byhand

import (
	"math"
	"math/bits"
	"sync/atomic"

	"quern.dev/bench/parity/kernels"
)

// BFS adds to next the vertices that have an edge from the frontier and have not been
// visited.
func BFS(starts, edges []int32, frontier, visited, next []uint32) {
	parallel(len(frontier), func(lo, hi int) {
		for w := lo; w < hi; w++ {
			for set := frontier[w]; set != 0; set &= set - 1 {
				v := w*32 + bits.TrailingZeros32(set)
				for _, to := range edges[starts[v]:starts[v+1]] {
					word, bit := uint32(to)/32, uint32(1)<<(uint32(to)%32)
					if visited[word]&bit == 0 && atomic.LoadUint32(&next[word])&bit == 0 {
						atomic.OrUint32(&next[word], bit)
					}
				}
			}
		}
	})
}

// KMeans finds the nearest of k centers for each of n points with d features. It computes
// the distances of as many points at a time as fit in the cache.
func KMeans(n, k, d int, features, centers []float32, nearest []int32) {
	const part = 512
	parallel((n+part-1)/part, func(lo, hi int) {
		var distances, least [part]float32
		for first := lo * part; first < min(hi*part, n); first += part {
			count := min(part, n-first)
			sums, least, at := distances[:count], least[:count], nearest[first:][:count]
			for i := range least {
				least[i] = math.MaxFloat32
			}
			for c := range k {
				clear(sums)
				for f, center := range centers[c*d:][:d] {
					for i, v := range features[f*n+first:][:len(sums)] {
						sums[i] += (v - center) * (v - center)
					}
				}
				for i, sum := range sums {
					if sum < least[i] {
						least[i], at[i] = sum, int32(c)
					}
				}
			}
		}
	})
}

// Backprop multiplies the weights of each input by the input, and adds up the products of
// every kernels.BackpropTile inputs for each hidden unit, by halves in weights.
func Backprop(hidden int, inputs, weights, sums []float32) {
	const tile = kernels.BackpropTile
	parallel(len(inputs)/tile, func(lo, hi int) {
		for b := lo; b < hi; b++ {
			row := func(y int) []float32 { return weights[(b*tile+y)*hidden:][:hidden] }
			for y, node := range inputs[b*tile:][:tile] {
				products := row(y)
				for x := range products {
					products[x] *= node
				}
			}
			for half := 1; half < tile; half *= 2 {
				for y := 0; y < tile; y += 2 * half {
					to := row(y)
					for x, v := range row(y + half) {
						to[x] += v
					}
				}
			}
			copy(sums[b*hidden:][:hidden], row(0))
		}
	})
}
