package byhand

import (
	"math"
	"math/rand/v2"
	"testing"

	"quern.dev/bench/parity/kernels"
)

func numbersBetween(n int, low, high float32) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = low + (high-low)*rand.Float32()
	}
	return v
}

func near(a, b float32, tolerance float64) bool { return math.Abs(float64(a-b)) <= tolerance }

func TestSoftmaxAddsUpToOneAndKeepsRatios(t *testing.T) {
	const columns = 50
	in, out := numbersBetween(columns, 100, 105), make([]float32, columns)
	Softmax(columns, in, out)
	var sum float32
	for _, v := range out {
		sum += v
	}
	if !near(sum, 1, 1e-5) {
		t.Errorf("the sum is %v", sum)
	}
	if ratio, want := out[3]/out[4], exp(in[3]-in[4]); !near(ratio/want, 1, 1e-4) {
		t.Errorf("two results have the ratio %v, want %v", ratio, want)
	}
}

func TestLayerNormNormalizes(t *testing.T) {
	const columns = 200
	in, out := numbersBetween(columns, 3, 9), make([]float32, columns)
	scale, shift := numbersBetween(columns, 2, 2), numbersBetween(columns, 5, 5)
	LayerNorm(1, columns, 1e-5, scale, shift, in, out)
	var sum, squares float32
	for _, v := range out {
		sum += v
		squares += (v - 5) * (v - 5)
	}
	if mean, variance := sum/columns, squares/columns; !near(mean, 5, 1e-3) || !near(variance, 4, 1e-2) {
		t.Errorf("mean %v and variance %v, want 5 and 4", mean, variance)
	}
}

func TestAttentionFollowsTheMatchingKey(t *testing.T) {
	const n, length = kernels.HeadSize, 20
	keys, values := numbersBetween(2*n*length, -1, 1), numbersBetween(2*n*length, -1, 1)
	out := make([]float32, len(values))
	// With a large scale, each query selects the key that is equal to it.
	Attention(length, 50, keys, keys, values, out)
	for i, v := range out {
		if !near(v, values[i], 1e-3) {
			t.Fatalf("result %d is %v, want the value %v", i, v, values[i])
		}
	}
	// With scale 0, all keys count the same.
	Attention(length, 0, keys, keys, values, out)
	var mean float32
	for i := range length {
		mean += values[i*n] / length
	}
	if !near(out[5*n], mean, 1e-5) {
		t.Errorf("the mean value is %v, want %v", out[5*n], mean)
	}
}

func TestGELU(t *testing.T) {
	out := make([]float32, 4)
	GELU(4, []float32{0, 0, 0.5, 1}, []float32{-10, 0, 0.5, -2}, out)
	for i, want := range []float32{0, 0, 0.841192, -0.158808} {
		if !near(out[i], want, 1e-5) {
			t.Errorf("result %d is %v, want %v", i, out[i], want)
		}
	}
}

func TestDotInt8IsSigned(t *testing.T) {
	x := []kernels.Int8x16{{0x0201ff80, 0, 0, 0x7f000000}}
	matrix := []kernels.Int8x16{{0x01020380, 5, 5, 0xff000000}}
	y := make([]int32, 1)
	DotInt8(matrix, x, y)
	// -128*-128 - 1*3 + 1*2 + 2*1 + 127*-1.
	if want := int32(16384 - 3 + 2 + 2 - 127); y[0] != want {
		t.Errorf("the product is %d, want %d", y[0], want)
	}
}
