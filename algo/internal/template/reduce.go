package template

import "quern.dev/kernel"

// Threads is the size of the blocks of most kernels.
const Threads = 256

const (
	warpSize = 32
	warps    = Threads / warpSize
)

// ReduceRows combines the elements of rows of n elements, of which row r begins at r*pitch.
// Each row is divided into as many parts as the grid has blocks along X, each a multiple of
// the tile long. Part p of row r is written to out[r*parts+p].
//
//quern:template Combine block=256
func ReduceRows[T any](t kernel.Thread, combine func(a, b T) T, n, pitch, part int, in, out []T) {
	partial := kernel.Shared[[warps]T](t)
	row := in[t.BlockIdx.Y*pitch:][:n]
	first := t.BlockIdx.X * part
	last := min(first+part, n)
	count := last - first
	var sum T
	i := first + t.ThreadIdx.X
	if i < last {
		sum = row[i]
		for i += Threads; i < last; i += Threads {
			sum = combine(sum, row[i])
		}
	}
	sum = reduceBlock(t, combine, min(count, Threads), sum, partial)
	if t.ThreadIdx.X == 0 {
		out[t.BlockIdx.Y*t.GridDim.X+t.BlockIdx.X] = sum
	}
}

// reduceBlock combines the values of the first count threads of a block, at least one. The
// first thread gets the result.
func reduceBlock[T any](t kernel.Thread, combine func(a, b T) T, count int, v T, partial *[warps]T) T {
	i := t.ThreadIdx.X
	v = reduceWarp(t, combine, count-i+t.Lane(), v)
	if t.Lane() == 0 {
		partial[t.Warp()] = v
	}
	t.Sync()
	if i == 0 {
		for w := 1; w < (count+warpSize-1)/warpSize; w++ {
			v = combine(v, partial[w])
		}
	}
	return v
}

// reduceWarp combines the values of the first count lanes of a warp. The first lane gets
// the result.
func reduceWarp[T any](t kernel.Thread, combine func(a, b T) T, count int, v T) T {
	for d := 1; d < warpSize; d *= 2 {
		other := kernel.ShuffleDown(t, v, d)
		if t.Lane()+d < count {
			v = combine(v, other)
		}
	}
	return v
}
