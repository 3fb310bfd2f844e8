package byhand

import (
	"math"

	"quern.dev/bench/parity/kernels"
)

func exp(x float32) float32 { return float32(math.Exp(float64(x))) }

// Softmax computes the softmax of each row of a matrix.
func Softmax(columns int, in, out []float32) {
	parallel(len(in)/columns, func(lo, hi int) {
		for row := lo; row < hi; row++ {
			from, to := in[row*columns:][:columns], out[row*columns:][:columns]
			most := from[0]
			for _, v := range from {
				most = max(most, v)
			}
			var sum float32
			for c, v := range from {
				e := exp(v - most)
				to[c] = e
				sum += e
			}
			factor := 1 / sum
			for c := range to {
				to[c] *= factor
			}
		}
	})
}

// LayerNorm normalizes each row of a matrix.
func LayerNorm(rows, columns int, epsilon float32, scale, shift, in, out []float32) {
	parallel(rows, func(lo, hi int) {
		for row := lo; row < hi; row++ {
			from, to := in[row*columns:][:columns], out[row*columns:][:columns]
			var sum float32
			for _, v := range from {
				sum += v
			}
			mean := sum / float32(columns)
			var squares float32
			for _, v := range from {
				squares += (v - mean) * (v - mean)
			}
			factor := 1 / float32(math.Sqrt(float64(squares/float32(columns)+epsilon)))
			factors, shifts := scale[:len(from)], shift[:len(from)]
			for c, v := range from {
				to[c] = (v-mean)*factor*factors[c] + shifts[c]
			}
		}
	})
}

// Attention computes the attention of each query to all keys of its head.
func Attention(length int, scale float32, queries, keys, values, out []float32) {
	const n = kernels.HeadSize
	heads := len(queries) / (length * n)
	parallel(heads*length, func(lo, hi int) {
		weights := make([]float32, length)
		for i := lo; i < hi; i++ {
			head := i / length * length * n
			query := (*[n]float32)(queries[i*n:])
			most := float32(math.Inf(-1))
			for j := range weights {
				key := (*[n]float32)(keys[head+j*n:])
				var a, b, c, d float32
				for k := 0; k < n; k += 4 {
					a += query[k] * key[k]
					b += query[k+1] * key[k+1]
					c += query[k+2] * key[k+2]
					d += query[k+3] * key[k+3]
				}
				weights[j] = scale * (a + b + (c + d))
				most = max(most, weights[j])
			}
			var sum [n]float32
			var total float32
			for j, score := range weights {
				weight := exp(score - most)
				total += weight
				value := (*[n]float32)(values[head+j*n:])
				for k, v := range value {
					sum[k] += weight * v
				}
			}
			to := (*[n]float32)(out[i*n:])
			for k, s := range sum {
				to[k] = s / total
			}
		}
	})
}

// DotInt8 multiplies a matrix of signed bytes with the vector x, which it unpacks once.
func DotInt8(matrix, x []kernels.Int8x16, y []int32) {
	vector := make([][16]int32, len(x))
	for i, packed := range x {
		for k := range vector[i] {
			vector[i][k] = int32(int8(packed[k/4] >> (k % 4 * 8)))
		}
	}
	parallel(len(y), func(lo, hi int) {
		for row := lo; row < hi; row++ {
			var sum int32
			for i, packed := range matrix[row*len(x):][:len(vector)] {
				v := &vector[i]
				for k, word := range packed {
					sum += int32(int8(word))*v[4*k] + int32(int8(word>>8))*v[4*k+1] +
						int32(int8(word>>16))*v[4*k+2] + int32(int8(word>>24))*v[4*k+3]
				}
			}
			y[row] = sum
		}
	})
}

// GELU adds a bias to each column of a matrix and applies the Gaussian error linear unit.
func GELU(columns int, bias, in, out []float32) {
	parallel(len(in)/columns, func(lo, hi int) {
		for row := lo; row < hi; row++ {
			from := in[row*columns:][:columns]
			to, biases := out[row*columns:][:len(from)], bias[:len(from)]
			for c, v := range from {
				x := v + biases[c]
				// (1 + tanh(z)) / 2 is 1 / (1 + exp(-2*z)).
				to[c] = x / (1 + exp(-2*0.79788456*(x+0.044715*x*x*x)))
			}
		}
	})
}

// Embedding adds up the embeddings of the tokens of each bag.
func Embedding(starts, tokens []int32, table, out []float32) {
	const n = kernels.EmbeddingSize
	parallel(len(starts)-1, func(lo, hi int) {
		for bag := lo; bag < hi; bag++ {
			sums := (*[n]float32)(out[bag*n:])
			clear(sums[:])
			for _, token := range tokens[starts[bag]:starts[bag+1]] {
				for d, v := range (*[n]float32)(table[int(token)*n:]) {
					sums[d] += v
				}
			}
		}
	})
}
