package mma

import "unsafe"

// TileLine returns the index of a line of 16 bytes in a tile: rows of 128 bytes in shared
// memory, whose lines are permuted so that eight rows of one column of lines lie in
// different banks.
func TileLine(row, line int) int { return row*TileLines + (line ^ row%TileLines) }

// TileLines is the number of lines in a row of a tile.
const TileLines = 8

// Decode stores the elements of words in out. Of TF32 elements it drops the bits that do
// not count.
func (f Format) Decode(words []uint32, out []float64) {
	n := 4 / f.Size()
	for i, word := range words {
		if f == TF32 {
			word &^= 1<<13 - 1
		}
		f.decode(word, out[i*n:], 0)
	}
}

// Dot returns c plus the products of the elements of row and column, rounded once.
func Dot[T Value](c T, row, column []float64) T {
	sum := float64(c)
	for k, v := range row[:len(column)] {
		sum += v * column[k]
	}
	return rounded[T](sum)
}

// MultiplyTile adds to sum the elements of a·bᵀ that a thread of a group holds. a has 64
// rows and b eight for each element of sum.
func MultiplyTile[T Value](fa, fb Format, thread int, a, b [][4]uint32, sum [][4]T) {
	var rows [2][128]float64
	var columns [2][128]float64
	n := 128 / fa.Size()
	top, lane := thread/Lanes%4*16, thread%Lanes
	for i := range rows {
		tileRow(fa, a, top+lane/4+8*i, &rows[i])
	}
	for j := range sum {
		for i := range columns {
			tileRow(fb, b, 8*j+lane%4*2+i, &columns[i])
		}
		for i := range sum[j] {
			sum[j][i] = Dot(sum[j][i], rows[i/2][:n], columns[i%2][:n])
		}
	}
}

func tileRow(f Format, tile [][4]uint32, row int, out *[128]float64) {
	n := 16 / f.Size()
	for i := range TileLines {
		f.Decode(tile[TileLine(row, i)][:], out[i*n:])
	}
}

// CopyTile copies a part of a matrix to a tile of lines of 16 bytes. Elements outside the
// matrix are zero.
func CopyTile[R, T any](dst []R, src []T, rows, columns, stride, row, column int) {
	if len(dst) == 0 {
		return
	}
	var zero T
	n := 16 / int(unsafe.Sizeof(zero))
	tile := unsafe.Slice((*T)(unsafe.Pointer(&dst[0])), len(dst)*n)
	for r := range len(dst) / TileLines {
		for i := range TileLines {
			line := tile[TileLine(r, i)*n:][:n]
			for e := range line {
				line[e] = zero
				if x := column + i*n + e; row+r >= 0 && row+r < rows && x >= 0 && x < columns {
					line[e] = src[(row+r)*stride+x]
				}
			}
		}
	}
}
