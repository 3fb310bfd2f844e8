package kernels

import "quern.dev/kernel"

const (
	// PathThreads is the number of threads per block of pathfinder. The columns for which
	// a block computes results are fewer by two per step.
	PathThreads = 256

	// NeedleTile is the side of the square of scores that a block of needle computes.
	NeedleTile = 32

	// Scores of needle for a pair of letters.
	NeedleMatch    = 5
	NeedleMismatch = -3
)

// pathfinder extends the cheapest paths through a grid with cols columns by some rows
// (Rodinia, pathfinder). src and dst hold the costs of the paths to each cell of row start-1
// and of row start+steps-1.
//
//quern:kernel block=256 also=unchecked
func pathfinder(t kernel.Thread, cols, start, steps int, wall, src, dst []int32) {
	previous := kernel.Shared[[PathThreads]int32](t)
	next := kernel.Shared[[PathThreads]int32](t)
	tx := t.ThreadIdx.X
	x0 := t.BlockIdx.X*(PathThreads-2*steps) - steps
	x := x0 + tx
	inside := x >= 0 && x < cols
	if inside {
		previous[tx] = src[x]
	}
	t.Sync()
	left, right := max(tx-1, -x0), min(tx+1, cols-1-x0)
	mine := false
	for i := range steps {
		mine = inside && tx > i && tx < PathThreads-1-i
		if mine {
			next[tx] = min(previous[left], previous[tx], previous[right]) + wall[(start+i)*cols+x]
		}
		t.Sync()
		if mine {
			previous[tx] = next[tx]
		}
		t.Sync()
	}
	if mine {
		dst[x] = previous[tx]
	}
}

// needle computes one diagonal of tiles of the scores of global alignments (Needleman and
// Wunsch; Rodinia, nw). Sequences have n letters, and each pair has (n+1) x (n+1) scores.
// Block (x, y) computes the tile in column x of pair y. penalty is the cost of a gap.
//
//quern:kernel block=32 also=unchecked
func needle(t kernel.Thread, n, diagonal int, penalty int32, a, b []uint8, scores []int32) {
	cell := kernel.Shared[[NeedleTile + 1][NeedleTile + 1]int32](t)
	letters := kernel.Shared[[NeedleTile]uint8](t)
	tx, bx, pair := t.ThreadIdx.X, t.BlockIdx.X, t.BlockIdx.Y
	x0, y0, w := bx*NeedleTile, (diagonal-bx)*NeedleTile, n+1
	s := scores[pair*w*w : (pair+1)*w*w]
	cell[0][tx+1] = s[y0*w+x0+1+tx]
	cell[tx+1][0] = s[(y0+1+tx)*w+x0]
	if tx == 0 {
		cell[0][0] = s[y0*w+x0]
	}
	letter := a[pair*n+x0+tx]
	letters[tx] = b[pair*n+y0+tx]
	t.SyncWarp()
	for k := range 2*NeedleTile - 1 {
		if y := k - tx; y >= 0 && y < NeedleTile {
			gain := int32(NeedleMismatch)
			if letters[y] == letter {
				gain = NeedleMatch
			}
			cell[y+1][tx+1] = max(cell[y][tx]+gain, cell[y+1][tx]-penalty, cell[y][tx+1]-penalty)
		}
		t.SyncWarp()
	}
	for y := range NeedleTile {
		s[(y0+1+y)*w+x0+1+tx] = cell[y+1][tx+1]
	}
}
