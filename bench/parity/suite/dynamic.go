package suite

import (
	"math/rand/v2"

	"quern.dev/bench/parity/byhand"
	"quern.dev/bench/parity/kernels"
	"quern.dev/gpu"
)

// Dynamic programming.

func knapsack(z Size) *Case {
	const value = 400
	n, weight := z.of(10_007, 1<<23, 1<<26), z.of(1_234, 12_345, 12_345)
	best, next := in(random(n, below(1000))), out[int32](n, exact)
	return &Case{
		Name: "knapsack", Kernel: kernels.Knapsack, Grid: linear(n, 256),
		Args: []any{weight, int32(value), best, next},
		Unit: Bytes, Work: 8 * float64(n),
		ByHand: func() { byhand.Knapsack(weight, value, best.Host, next.Hand) },
	}
}

func fold(z Size) *Case {
	count, length := z.of(3, 16, 1<<12), z.of(43, kernels.FoldLength, kernels.FoldLength)
	sequences := in(random(count*length, func(r *rand.Rand) uint8 { return "ACGU"[r.IntN(4)] }))
	pairs := out[int32](count, exact)
	return &Case{
		Name: "fold", Kernel: kernels.Fold,
		Grid: gpu.Blocks(gpu.Dim3{X: count}, gpu.Dim3{X: kernels.FoldLength}),
		Args: []any{length, sequences, pairs},
		Unit: Items, Work: float64(count) * float64(length) * float64(length+1) / 2, // subsequences
		ByHand: func() { byhand.Fold(length, sequences.Host, pairs.Hand) },
	}
}
