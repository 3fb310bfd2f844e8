package kernels

import "quern.dev/kernel"

// A block of tensorMatmul computes TensorM rows and TensorN columns of c. It has TensorK
// columns of a in shared memory at a time, while those of the next two steps are being
// copied. The matrix dimensions are multiples of these, and k is at least two steps.
const (
	TensorM, TensorN, TensorK = 128, 256, 64

	TensorThreads = 256
	TensorShared  = tensorStages * (TensorM + TensorN) * TensorK * 2 // bytes
	tensorStages  = 3
)

// Chunk is 16 bytes of a row of a matrix.
type Chunk = [8]kernel.BFloat16

// tensorStage holds a tile of a and the matching tile of b. Chunk c of row r is at c^r%8,
// so that eight rows that are read together are in different banks.
type tensorStage struct {
	a [TensorM][TensorK / 8]Chunk
	b [TensorK][TensorN / 8]Chunk
}

// tensorMatmul computes c = a*b on tensor cores. Rows of a have k chunks, rows of b have
// n. Each of the 8 warps of a block computes 64x64 elements of c.
//
//quern:kernel block=256
func tensorMatmul(t kernel.Thread, n, k int, a, b []Chunk, c []kernel.Vec2[float32]) {
	tensorBlock(t, n, k, a, b, c)
}

// tensorMatmulUnchecked is tensorMatmul without bounds checks.
//
//quern:kernel block=256 unchecked
func tensorMatmulUnchecked(t kernel.Thread, n, k int, a, b []Chunk, c []kernel.Vec2[float32]) {
	tensorBlock(t, n, k, a, b, c)
}

func tensorBlock(t kernel.Thread, n, k int, a, b []Chunk, c []kernel.Vec2[float32]) {
	stages := kernel.Shared[[tensorStages]tensorStage](t)
	lane, warp := t.Lane(), t.Warp()
	line, half := lane%16, lane/16
	top, left := warp/4*64, warp%4*64

	from := newTensorSource(t, a, b, n, k)
	steps := k / (TensorK / 8)
	for s := range tensorStages - 1 {
		for part := range 3 {
			from.copy(t, &stages[s], s, part)
		}
		kernel.AsyncCommit(t)
	}
	kernel.AsyncWait(t, tensorStages-2)
	t.Sync()

	var fa [2][4]kernel.MatrixA[kernel.BFloat16]
	var fb [2][8]kernel.MatrixB[kernel.BFloat16]
	var sum [4][8]kernel.Accumulator[float32]
	for i := range 4 {
		fa[0][i] = kernel.LoadMatrixA[kernel.BFloat16](t, &stages[0].a[line+top+i*16][half^line%8])
		fb[0][2*i], fb[0][2*i+1] = kernel.LoadMatrixB[kernel.BFloat16](t, &stages[0].b[line][(left/8+i*2+half)^line%8])
	}
	slot, free := 0, tensorStages-1
	for step := range steps {
		for kk := range TensorK / 16 {
			now, then, next := kk%2, (kk+1)%2, (kk+1)%4
			if kk == 3 {
				if slot++; slot == tensorStages {
					slot = 0
				}
			}
			tile := &stages[slot]
			for i := range 4 {
				fa[then][i] = kernel.LoadMatrixA[kernel.BFloat16](t, &tile.a[line+top+i*16][(next*2+half)^line%8])
				fb[then][2*i], fb[then][2*i+1] = kernel.LoadMatrixB[kernel.BFloat16](t, &tile.b[line+next*16][(left/8+i*2+half)^line%8])
				for j := range 8 {
					sum[i][j] = kernel.MMA(t, fa[now][i], fb[now][j], sum[i][j])
				}
				if next := step + tensorStages - 1; i == 1 && kk < 3 && next < steps {
					from.copy(t, &stages[free], next, kk)
				}
			}
			if kk == 2 { // the last reads of this step's tiles are done
				kernel.AsyncCommit(t)
				kernel.AsyncWait(t, tensorStages-2)
				t.Sync()
				if free++; free == tensorStages {
					free = 0
				}
			}
		}
	}

	var place kernel.Accumulator[float32]
	y := t.BlockIdx.Y*TensorM + top + place.Row(t, 0)
	x := (t.BlockIdx.X*TensorN + left + place.Column(t, 0)) / 2
	for i := range 4 {
		for j := range 8 {
			v := sum[i][j]
			c[(y+i*16)*n*4+x+j*4] = kernel.Vec2[float32]{X: v[0], Y: v[1]}
			c[(y+i*16+8)*n*4+x+j*4] = kernel.Vec2[float32]{X: v[2], Y: v[3]}
		}
	}
}

// tensorSource describes the elements that a thread copies.
type tensorSource struct {
	a, b             []Chunk
	i, j             int // first chunks of a and b
	strideA, strideB int // chunks in 32 rows of a, and in 8 rows of b
}

func newTensorSource(t kernel.Thread, a, b []Chunk, n, k int) tensorSource {
	thread := t.ThreadIdx.X
	return tensorSource{
		a, b,
		(t.BlockIdx.Y*TensorM+thread/8)*k + thread%8,
		thread/32*n + t.BlockIdx.X*(TensorN/8) + thread%32,
		32 * k, 8 * n,
	}
}

// copy starts the copy of a third of a step's tiles.
func (s tensorSource) copy(t kernel.Thread, to *tensorStage, step, part int) {
	thread := t.ThreadIdx.X
	if part == 0 {
		r, c := thread/8, thread%8
		for i := range 4 {
			kernel.AsyncCopy(t, &to.a[r+i*32][c^r%8], &s.a[s.i+step*8+i*s.strideA])
		}
		return
	}
	r, c := thread/32, thread%32
	for i := range 4 {
		i += (part - 1) * 4
		kernel.AsyncCopy(t, &to.b[r+i*8][c^r], &s.b[s.j+step*8*s.strideB+i*s.strideB])
	}
}
