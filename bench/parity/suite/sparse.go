package suite

import (
	"math/rand/v2"

	"quern.dev/bench/parity/byhand"
	"quern.dev/bench/parity/kernels"
)

// Products of sparse matrices with vectors.

// nearColumn returns a random column near the diagonal of a square matrix.
func nearColumn(r *rand.Rand, row, columns int) int32 {
	return int32(min(max(row+r.IntN(1024)-512, 0), columns-1))
}

// ell multiplies a matrix with 12 to 16 elements per row.
func ell(z Size) *Case {
	const width = 16
	rows := z.of(301, 1<<19, 1<<21)
	places := make([]int32, width*rows)
	elements := 0
	r := rand.New(rand.NewPCG(rand.Uint64(), 0))
	for i := range rows {
		count := 12 + r.IntN(width-11)
		for k := range width {
			places[k*rows+i] = -1
			if k < count {
				places[k*rows+i] = nearColumn(r, i, rows)
			}
		}
		elements += count
	}
	columns, values := in(places), in(random(width*rows, between(-1, 1)))
	x, y := in(random(rows, between(-1, 1))), out[float32](rows, rounding)
	return &Case{
		Name: "ell", Kernel: kernels.ELL, Grid: linear(rows, 256),
		Args: []any{width, columns, values, x, y},
		Unit: Bytes, Work: 8*float64(elements) + 8*float64(rows),
		ByHand: func() { byhand.ELL(width, columns.Host, values.Host, x.Host, y.Hand) },
	}
}

// bsr multiplies a matrix with 8 to 23 blocks per row of blocks.
func bsr(z Size) *Case {
	const side = kernels.BSRSide
	rows := z.of(77, 1<<16, 1<<18)
	starts := offsets(rows, func(int) int { return 8 + rand.IntN(16) })
	blocks := int(starts[rows])
	places := make([]int32, blocks)
	r := rand.New(rand.NewPCG(rand.Uint64(), 0))
	for i := range rows {
		for e := starts[i]; e < starts[i+1]; e++ {
			places[e] = nearColumn(r, i, rows)
		}
	}
	row := func(r *rand.Rand) (v [side]float32) {
		for k := range v {
			v[k] = 2*r.Float32() - 1
		}
		return v
	}
	values := in(random(blocks, func(r *rand.Rand) (v [side][side]float32) {
		for k := range v {
			v[k] = row(r)
		}
		return v
	}))
	s, columns, x := in(starts), in(places), in(random(rows, row))
	y := out[float32](side*rows, Agreement{Tolerance: 1e-4})
	return &Case{
		Name: "bsr", Kernel: kernels.BSR, Grid: linear(side*rows, 128),
		Args: []any{s, columns, values, x, y},
		Unit: Bytes, Work: (4*side*side+4)*float64(blocks) + (8*side+4)*float64(rows),
		ByHand: func() { byhand.BSR(s.Host, columns.Host, values.Host, x.Host, y.Hand) },
	}
}
