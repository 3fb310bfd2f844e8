package tensor

import "quern.dev/kernel"

// tileRows is the number of rows of the tiles of the kernel tiles.
const tileRows = 24

// tiles copies three tiles of a matrix, one below the other, through two places in shared
// memory, and writes their lines in the order of the rows.
//
//quern:kernel block=64 instantiate=[8]kernel.BFloat16:kernel.BFloat16,[16]kernel.Float8E4M3:kernel.Float8E4M3,[4]float32:float32
func tiles[R kernel.MatrixLine, T any](t kernel.Thread, rows, columns, stride, row, column int, maps []kernel.TileMap, a []T, out []R) {
	arrived := kernel.Shared[[2]kernel.CopyBarrier](t)
	tile := kernel.Shared[[2 * tileRows * 8]R](t)
	m := &maps[t.BlockIdx.X]
	out = out[t.BlockIdx.X*3*tileRows*8:]
	kernel.MapTiles(t, m, a, rows, columns, stride, tileRows)
	column += t.BlockIdx.X
	kernel.BulkCopyTile(t, &arrived[0], tile[:tileRows*8], m, a, rows, columns, stride, row, column)
	for i := range 3 {
		stage := i % 2
		kernel.BulkWait(t, &arrived[stage])
		if i < 2 {
			kernel.BulkCopyTile(t, &arrived[1-stage], tile[(1-stage)*tileRows*8:][:tileRows*8], m, a, rows, columns, stride, row+(i+1)*tileRows, column)
		}
		for j := t.ThreadIdx.X; j < tileRows*8; j += t.BlockDim.X {
			out[i*tileRows*8+j] = tile[stage*tileRows*8+kernel.TileLine(j/8, j%8)]
		}
	}
}
