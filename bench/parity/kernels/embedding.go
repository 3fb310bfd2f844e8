package kernels

import "quern.dev/kernel"

// EmbeddingSize is the number of elements of an embedding, and of threads per block.
const EmbeddingSize = 128

// embedding adds up the embeddings of the tokens of each bag, one bag per block. Bag i has
// the tokens starts[i] to starts[i+1]-1.
//
//quern:kernel block=EmbeddingSize also=unchecked
func embedding(t kernel.Thread, starts, tokens []int32, table, out []float32) {
	bag, d := t.BlockIdx.X, t.ThreadIdx.X
	var sum float32
	for k := starts[bag]; k < starts[bag+1]; k++ {
		sum += table[int(tokens[k])*EmbeddingSize+d]
	}
	out[bag*EmbeddingSize+d] = sum
}
