package suite

import (
	"math/rand/v2"

	"quern.dev/bench/parity/byhand"
	"quern.dev/bench/parity/kernels"
	"quern.dev/gpu"
)

// Best paths through grids of costs or scores.

// upTo returns a source of random numbers in [0, n).
func upTo(n int32) func(r *rand.Rand) int32 {
	return func(r *rand.Rand) int32 { return r.Int32N(n) }
}

func pathfinder(z Size) *Case {
	cols, steps := z.of(1000, 1<<18, 1<<22), z.of(5, 20, 20)
	const start = 1
	wall, src := in(random(cols*(start+steps), upTo(10))), in(random(cols, upTo(100)))
	dst := out[int32](cols, exact)
	return &Case{
		Name: "pathfinder", Kernel: kernels.Pathfinder,
		Grid: gpu.Blocks(gpu.Dim3{X: ceilDiv(cols, kernels.PathThreads-2*steps)}, gpu.Dim3{X: kernels.PathThreads}),
		Args: []any{cols, start, steps, wall, src, dst},
		Unit: Bytes, Work: 4 * float64(cols) * float64(steps+2),
		ByHand: func() { byhand.Pathfinder(cols, start, steps, wall.Host, src.Host, dst.Hand) },
	}
}

func needle(z Size) *Case {
	const penalty = 2
	n, pairs := z.of(96, 256, 512), z.of(3, 384, 512)
	diagonal := n/kernels.NeedleTile - 1
	letter := func(r *rand.Rand) uint8 { return "ACGT"[r.IntN(4)] }
	a, b := in(random(pairs*n, letter)), in(random(pairs*n, letter))
	scores := inOut(random(pairs*(n+1)*(n+1), upTo(50)), exact)
	return &Case{
		Name: "needle", Kernel: kernels.Needle,
		Grid: gpu.Blocks(gpu.Dim3{X: diagonal + 1, Y: pairs}, gpu.Dim3{X: kernels.NeedleTile}),
		Args: []any{n, diagonal, int32(penalty), a, b, scores},
		Unit: Items, Work: float64(pairs) * float64(diagonal+1) * kernels.NeedleTile * kernels.NeedleTile,
		ByHand: func() { byhand.Needle(n, diagonal, penalty, a.Host, b.Host, scores.Hand) },
	}
}
