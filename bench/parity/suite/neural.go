package suite

import (
	"math"
	"math/rand/v2"

	"quern.dev/bench/parity/byhand"
	"quern.dev/bench/parity/kernels"
	"quern.dev/gpu"
)

// Layers of neural networks.

func softmax(z Size) *Case {
	rows, columns := z.of(5, 512, 1<<15), z.of(301, 1024, 1024)
	// Results are about 1/columns, so the largest input of each row has a large share.
	src := in(random(rows*columns, between(-20, 20)))
	dst := out[float32](rows*columns, Agreement{Tolerance: 1e-6})
	return &Case{
		Name: "softmax", Kernel: kernels.Softmax,
		Grid: gpu.Blocks(gpu.Dim3{X: rows}, gpu.Dim3{X: kernels.SoftmaxThreads}),
		Args: []any{columns, src, dst},
		Unit: Bytes, Work: 8 * float64(rows) * float64(columns),
		ByHand: func() { byhand.Softmax(columns, src.Host, dst.Hand) },
	}
}

func layerNorm(z Size) *Case {
	const epsilon = 1e-5
	rows, columns := z.of(13, 4096, 1<<16), z.of(101, 768, 768)
	scale, shift := in(random(columns, between(0.5, 2))), in(random(columns, between(-1, 1)))
	src, dst := in(random(rows*columns, between(-1, 3))), out[float32](rows*columns, rounding)
	return &Case{
		Name: "layer_norm", Kernel: kernels.LayerNorm,
		Grid: gpu.Blocks(gpu.Dim3{X: ceilDiv(rows, kernels.LayerNormRows)}, gpu.Dim3{X: 32 * kernels.LayerNormRows}),
		Args: []any{rows, columns, float32(epsilon), scale, shift, src, dst},
		Unit: Bytes, Work: 8 * float64(rows) * float64(columns),
		ByHand: func() {
			byhand.LayerNorm(rows, columns, epsilon, scale.Host, shift.Host, src.Host, dst.Hand)
		},
	}
}

func attention(z Size) *Case {
	const size = kernels.HeadSize
	heads, length := z.of(2, 4, 32), z.of(45, 256, 2048)
	n := heads * length * size
	q, k, v := in(random(n, between(-3, 3))), in(random(n, between(-3, 3))), in(random(n, between(-1, 1)))
	dst := out[float32](n, Agreement{Tolerance: 1e-4})
	scale := float32(1 / math.Sqrt(size))
	return &Case{
		Name: "attention", Kernel: kernels.Attention,
		Grid: gpu.Blocks(gpu.Dim3{X: ceilDiv(length, kernels.AttentionThreads), Y: heads}, gpu.Dim3{X: kernels.AttentionThreads}),
		Args: []any{length, scale, q, k, v, dst},
		Unit: Flops, Work: 4 * size * float64(heads) * float64(length) * float64(length),
		ByHand: func() { byhand.Attention(length, scale, q.Host, k.Host, v.Host, dst.Hand) },
	}
}

func dotInt8(z Size) *Case {
	rows, chunks := z.of(13, 4096, 1<<14), z.of(37, 128, 1024)
	chunk := func(r *rand.Rand) kernels.Int8x16 {
		return kernels.Int8x16{r.Uint32(), r.Uint32(), r.Uint32(), r.Uint32()}
	}
	matrix, x, y := in(random(rows*chunks, chunk)), in(random(chunks, chunk)), out[int32](rows, exact)
	return &Case{
		Name: "dot_int8", Kernel: kernels.DotInt8,
		Grid: gpu.Blocks(gpu.Dim3{X: ceilDiv(rows, kernels.DotRows)}, gpu.Dim3{X: 32 * kernels.DotRows}),
		Args: []any{matrix, x, y},
		Unit: Bytes, Work: 16*float64(rows)*float64(chunks) + 16*float64(chunks) + 4*float64(rows),
		ByHand: func() { byhand.DotInt8(matrix.Host, x.Host, y.Hand) },
	}
}

func gelu(z Size) *Case {
	rows, columns := z.of(7, 512, 1<<14), z.of(143, 1024, 4096)
	bias, src := in(random(columns, between(-1, 1))), in(random(rows*columns, between(-5, 5)))
	dst := out[float32](rows*columns, rounding)
	return &Case{
		Name: "gelu", Kernel: kernels.GELU, Grid: linear(rows*columns, 256),
		Args: []any{columns, bias, src, dst},
		Unit: Bytes, Work: 8 * float64(rows) * float64(columns),
		ByHand: func() { byhand.GELU(columns, bias.Host, src.Host, dst.Hand) },
	}
}

// embedding adds up 8 to 39 embeddings per bag.
func embedding(z Size) *Case {
	const size = kernels.EmbeddingSize
	bags, vocabulary := z.of(5, 1<<12, 1<<14), z.of(50, 1<<13, 1<<20)
	starts := offsets(bags, func(int) int { return 8 + rand.IntN(32) })
	count := int(starts[bags])
	s, tokens := in(starts), in(random(count, below(vocabulary)))
	table, dst := in(random(vocabulary*size, between(-1, 1))), out[float32](bags*size, rounding)
	return &Case{
		Name: "embedding", Kernel: kernels.Embedding,
		Grid: gpu.Blocks(gpu.Dim3{X: bags}, gpu.Dim3{X: size}),
		Args: []any{s, tokens, table, dst},
		Unit: Bytes, Work: (4*size+4)*float64(count) + (4*size+4)*float64(bags), // embeddings that are read
		ByHand: func() { byhand.Embedding(s.Host, tokens.Host, table.Host, dst.Hand) },
	}
}
