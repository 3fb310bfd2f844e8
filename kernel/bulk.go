package kernel

import "quern.dev/internal/mma"

// CopyBarrier is a shared variable on which the threads of a block wait for bulk
// copies. Declare it with [Shared], alone or in an array. It needs no
// initialization. Pass it by address; it cannot be copied.
//
//	arrived := kernel.Shared[kernel.CopyBarrier](t)
type CopyBarrier struct {
	_ uint64 // the barrier on a GPU; Each and the CPU use the block's barrier
}

// BulkCopy starts a copy of the elements of src, in global memory, to dst, in the
// block's shared memory. It copies as many elements as the shorter of the two
// has. All threads of the block must call it together, with the same arguments.
// On GPUs with a bulk copy engine (compute capability 9.0), and if the addresses
// are multiples of 16 bytes, one thread starts the engine. Otherwise the threads
// share the copy.
//
// The elements are present after the next [BulkWait] on the barrier. Until then,
// do not read dst, and do not write dst or src. If threads used dst before, place
// a barrier between that use and BulkCopy.
func BulkCopy[T any](t Thread, b *CopyBarrier, dst, src []T) {
	if t.linear() == 0 {
		copy(dst, src)
	}
}

// BulkWait waits until all copies started with the barrier are complete and all
// threads of the block have called it. It is also a barrier of the block, like
// Sync.
func BulkWait(t Thread, b *CopyBarrier) {
	t.Sync()
}

// TileMap is what the copy engine of a GPU knows about a matrix: an element of a slice
// parameter that only [MapTiles] and [BulkCopyTile] use. A block needs one for each
// matrix. The contents mean nothing to the program.
type TileMap struct {
	_ [16]uint64
}

// MapTiles prepares m for copies of tiles of a, a matrix in global memory that starts at
// the first element of the slice. Its rows begin stride elements apart and have a number
// of columns. A tile has tileRows rows of the matrix, at most 256. All threads of the
// block must call it together, with the same arguments.
func MapTiles[T any](t Thread, m *TileMap, a []T, rows, columns, stride, tileRows int) {}

// BulkCopyTile starts a copy of a part of a matrix to dst, a tile in the block's shared
// memory: for each of its rows, 128 bytes of a row of the matrix, from the given row and
// column on. What is outside the matrix becomes zero. Line i of a row of the tile is at
// [TileLine], and so [GroupMMA] can multiply it. The map and the matrix are those of a
// call of [MapTiles] by the block, and len(dst) is 8*tileRows. dst begins at a multiple of
// 64 lines of a shared variable. The rules for calls, barriers and the use of dst are
// those of [BulkCopy].
//
// GPUs of compute capability 9.0 have an engine for this. It copies if a, its rows and the
// column are at multiples of 16 bytes. Otherwise the threads share the copy, which is slow.
func BulkCopyTile[R MatrixLine, T any](t Thread, b *CopyBarrier, dst []R, m *TileMap, a []T, rows, columns, stride, row, column int) {
	if t.linear() == 0 {
		mma.CopyTile(dst, a, rows, columns, stride, row, column)
	}
}
