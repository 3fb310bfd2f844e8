package host

import "quern.dev/internal/mma"

// CopyTile copies a part of a matrix to a tile. It does not need the map.
func CopyTile[M, R, T any](_ *M, dst []R, src []T, rows, columns, stride, row, column int) {
	mma.CopyTile(dst, src, rows, columns, stride, row, column)
}
