package suite

import (
	"math/rand/v2"

	"quern.dev/bench/parity/byhand"
	"quern.dev/bench/parity/kernels"
)

// Kernels that search text.

func shiftAnd(z Size) *Case {
	n := z.of(16_003, 1<<23, 1<<27)
	masks := make([]uint64, 256)
	var first, last uint64
	bit := 0
	for _, length := range []int{3, 4, 5, 6, 8, 12} {
		first |= 1 << bit
		for range length {
			masks["ACGT"[rand.IntN(4)]] |= 1 << bit
			bit++
		}
		last |= 1 << (bit - 1)
	}
	text := in(random(n, func(r *rand.Rand) uint8 { return "ACGT"[r.IntN(4)] }))
	m, hits := in(masks), inOut(make([]uint32, 1), exact)
	return &Case{
		Name: "shift_and", Kernel: kernels.ShiftAnd,
		Grid: linear(ceilDiv(n, kernels.ShiftAndEach), kernels.ShiftAndThreads),
		Args: []any{first, last, m, text, hits},
		Unit: Bytes, Work: float64(n),
		ByHand: func() { byhand.ShiftAnd(first, last, m.Host, text.Host, hits.Hand) },
	}
}

func kmers(z Size) *Case {
	n, k := z.of(5_003, 1<<22, 1<<26), z.of(4, 8, 10)
	genome := in(random(n, func(r *rand.Rand) uint8 {
		if r.IntN(100) == 0 {
			return 'N' // unknown
		}
		return "ACGT"[r.IntN(4)]
	}))
	counts := inOut(make([]uint32, 1<<(2*k)), exact)
	return &Case{
		Name: "kmers", Kernel: kernels.Kmers, Grid: linear(ceilDiv(n, kernels.KmersEach), 256),
		Args: []any{k, genome, counts},
		Unit: Bytes, Work: float64(n) + 8*float64(len(counts.Host)),
		ByHand: func() { byhand.Kmers(k, genome.Host, counts.Hand) },
	}
}
