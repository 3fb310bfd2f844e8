package suite

import (
	"math"
	"math/rand/v2"

	"quern.dev/bench/parity/byhand"
	"quern.dev/bench/parity/kernels"
	"quern.dev/gpu"
)

// Kernels whose blocks work on independent parts, and irregular kernels.

func word(r *rand.Rand) uint32 { return r.Uint32() }

// spmv multiplies a matrix with 8 to 56 elements per row, most of them near the diagonal.
func spmv(z Size) *Case {
	rows := z.of(301, 1<<16, 1<<21)
	starts := make([]int32, rows+1)
	for i := range rows {
		starts[i+1] = starts[i] + 8 + rand.Int32N(49)
	}
	elements := int(starts[rows])
	columns := make([]int32, elements)
	for i := range rows {
		for e := starts[i]; e < starts[i+1]; e++ {
			near := i + rand.IntN(1024) - 512
			columns[e] = int32(min(max(near, 0), rows-1))
		}
	}
	s, c := in(starts), in(columns)
	v, x := in(random(elements, between(-1, 1))), in(random(rows, between(-1, 1)))
	y := out[float32](rows, Agreement{Tolerance: 1e-4})
	return &Case{
		Name: "spmv", Kernel: kernels.SpMV,
		Grid: gpu.Blocks(gpu.Dim3{X: ceilDiv(rows, 128)}, gpu.Dim3{X: 128}),
		Args: []any{s, c, v, x, y},
		Unit: Bytes, Work: 8*float64(elements) + 12*float64(rows),
		ByHand: func() { byhand.SpMV(s.Host, c.Host, v.Host, x.Host, y.Hand) },
	}
}

func bitonicSort(z Size) *Case {
	tiles := z.of(2, 512, 1<<15)
	keys := inOut(random(tiles*kernels.SortTile, word), exact)
	return &Case{
		Name: "bitonic_sort", Kernel: kernels.BitonicSort,
		Grid: gpu.Blocks(gpu.Dim3{X: tiles}, gpu.Dim3{X: kernels.SortTile / 2}),
		Args: []any{keys},
		Unit: Items, Work: float64(tiles) * kernels.SortTile,
		ByHand: func() { byhand.BitonicSort(keys.Hand) },
	}
}

func blockScan(z Size) *Case {
	n := z.of(3000, 1<<22, 1<<26)
	tiles := ceilDiv(n, kernels.ScanTile)
	src, dst, totals := in(random(n, word)), out[uint32](n, exact), out[uint32](tiles, exact)
	return &Case{
		Name: "block_scan", Kernel: kernels.BlockScan,
		Grid: gpu.Blocks(gpu.Dim3{X: tiles}, gpu.Dim3{X: kernels.ScanThreads}),
		Args: []any{src, dst, totals},
		Unit: Bytes, Work: 8 * float64(n),
		ByHand: func() { byhand.BlockScan(src.Host, dst.Hand, totals.Hand) },
	}
}

func align(z Size) *Case {
	pairs, length := z.of(3, 256, 1<<14), z.of(50, 512, 512)
	letter := func(r *rand.Rand) uint8 { return "ACGT"[r.IntN(4)] }
	queries, targets := in(random(pairs*kernels.QueryLength, letter)), in(random(pairs*length, letter))
	scores := out[int32](pairs, exact)
	return &Case{
		Name: "align", Kernel: kernels.Align,
		Grid: gpu.Blocks(gpu.Dim3{X: pairs}, gpu.Dim3{X: kernels.QueryLength}),
		Args: []any{length, queries, targets, scores},
		Unit: Items, Work: float64(pairs) * float64(length) * kernels.QueryLength,
		ByHand: func() { byhand.Align(length, queries.Host, targets.Host, scores.Hand) },
	}
}

func sha256(z Size) *Case {
	n := z.of(150, 1<<15, 1<<22)
	messages, digests := in(random(n*kernels.MessageWords, word)), out[uint32](n*kernels.DigestWords, exact)
	return &Case{
		Name: "sha256", Kernel: kernels.SHA256,
		Grid: gpu.Blocks(gpu.Dim3{X: ceilDiv(n, 128)}, gpu.Dim3{X: 128}),
		Args: []any{messages, digests},
		Unit: Items, Work: float64(n),
		ByHand: func() { byhand.SHA256(messages.Host, digests.Hand) },
	}
}

func chacha20(z Size) *Case {
	n := z.of(150, 1<<16, 1<<22)
	key := [8]uint32(random(8, word))
	nonce := [3]uint32(random(3, word))
	src, dst := in(random(n*kernels.ChaChaWords, word)), out[uint32](n*kernels.ChaChaWords, exact)
	return &Case{
		Name: "chacha20", Kernel: kernels.ChaCha20,
		Grid: gpu.Blocks(gpu.Dim3{X: ceilDiv(n, 128)}, gpu.Dim3{X: 128}),
		Args: []any{key, nonce, src, dst},
		Unit: Bytes, Work: 8 * kernels.ChaChaWords * float64(n),
		ByHand: func() { byhand.ChaCha20(key, nonce, src.Host, dst.Hand) },
	}
}

func fft(z Size) *Case {
	transforms := z.of(3, 512, 1<<16)
	twiddles := make([]kernels.Complex, kernels.FFTSize)
	for k := range twiddles {
		sin, cos := math.Sincos(-2 * math.Pi * float64(k) / kernels.FFTSize)
		twiddles[k] = kernels.Complex{Re: float32(cos), Im: float32(sin)}
	}
	number := func(r *rand.Rand) kernels.Complex {
		return kernels.Complex{Re: 2*r.Float32() - 1, Im: 2*r.Float32() - 1}
	}
	w, src := in(twiddles), in(random(transforms*kernels.FFTSize, number))
	dst := out[kernels.Complex](transforms*kernels.FFTSize, Agreement{Tolerance: 1e-4})
	return &Case{
		Name: "fft", Kernel: kernels.FFT,
		Grid: gpu.Blocks(gpu.Dim3{X: transforms}, gpu.Dim3{X: kernels.FFTThreads}),
		Args: []any{w, src, dst},
		Unit: Bytes, Work: 16 * kernels.FFTSize * float64(transforms),
		ByHand: func() { byhand.FFT(w.Host, src.Host, dst.Hand) },
	}
}
