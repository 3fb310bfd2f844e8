package kernels

import (
	"math"

	"quern.dev/kernel"
)

const (
	// HeadSize is the number of elements of a query, key or value.
	HeadSize = 32

	// AttentionThreads is the number of threads per block of attention, one per query.
	AttentionThreads = 128

	attentionTile = 32 // keys and values in shared memory at a time
)

// attention computes the attention of each query to all keys of its head: the average of
// the values, weighted by the softmax of scale times the products of the query with the
// keys. A head has length queries, keys and values. The softmax is computed in one pass
// (Milakov and Gimelshein, 2018).
//
//quern:kernel block=AttentionThreads also=unchecked
func attention(t kernel.Thread, length int, scale float32, queries, keys, values, out []float32) {
	keyTile := kernel.Shared[[attentionTile][HeadSize]float32](t)
	valueTile := kernel.Shared[[attentionTile][HeadSize]float32](t)
	head := t.BlockIdx.Y * length * HeadSize
	mine := t.Global()
	var query, sum [HeadSize]float32
	if mine < length {
		for d := range HeadSize {
			query[d] = scale * queries[head+mine*HeadSize+d]
		}
	}
	most, total := float32(-math.MaxFloat32), float32(0)
	for first := 0; first < length; first += attentionTile {
		t.Sync()
		for i := t.ThreadIdx.X; i < attentionTile*HeadSize; i += AttentionThreads {
			var k, v float32
			if first+i/HeadSize < length {
				k, v = keys[head+first*HeadSize+i], values[head+first*HeadSize+i]
			}
			keyTile[i/HeadSize][i%HeadSize], valueTile[i/HeadSize][i%HeadSize] = k, v
		}
		t.Sync()
		for j := range min(attentionTile, length-first) {
			var score float32
			for d := range HeadSize {
				score += query[d] * keyTile[j][d]
			}
			if score > most {
				correction := kernel.Exp(most - score)
				total *= correction
				for d := range HeadSize {
					sum[d] *= correction
				}
				most = score
			}
			weight := kernel.Exp(score - most)
			total += weight
			for d := range HeadSize {
				sum[d] += weight * valueTile[j][d]
			}
		}
	}
	if mine < length {
		for d := range HeadSize {
			out[head+mine*HeadSize+d] = sum[d] / total
		}
	}
}
