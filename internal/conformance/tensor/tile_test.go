package tensor

import (
	"math/rand/v2"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
	"quern.dev/kernel"
)

func TestCopiesOfTiles(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		t.Run("bfloat16", func(t *testing.T) {
			checkTiles(t, d, bfloat16s, lines8[kernel.BFloat16], tiles[[8]kernel.BFloat16], LaunchTiles)
		})
		t.Run("float8", func(t *testing.T) {
			checkTiles(t, d, e4m3s, lines16[kernel.Float8E4M3], tiles[[16]kernel.Float8E4M3], LaunchTiles)
		})
		t.Run("float32", func(t *testing.T) { checkTiles(t, d, float32s, lines4, tiles[[4]float32], LaunchTiles) })
	})
}

// checkTiles compares tiles with parts of the matrix: whole ones, with places outside of the
// matrix, and of matrices whose rows do not begin at multiples of 16 bytes.
func checkTiles[T kernel.MatrixElement, R comparable](t *testing.T, d *gpu.Device, e element[T], lines func([]T) []R,
	run func(t kernel.Thread, rows, columns, stride, row, column int, maps []kernel.TileMap, a []T, out []R),
	launch func(s *gpu.Stream, g gpu.Grid, rows, columns, stride, row, column int, maps *gpu.Buffer[kernel.TileMap], a *gpu.Buffer[T], out *gpu.Buffer[R]) error) {
	wide := 128 / e.format.Size()
	rng := rand.New(rand.NewPCG(12, uint64(e.format)))
	for _, c := range []struct{ rows, columns, stride, row, column, skip int }{
		{90, 3 * wide, 3 * wide, 5, 16, 0},
		{60, 2*wide - 3, 2 * wide, 3, wide, 0},
		{50, 2 * wide, 2 * wide, 40, wide + 16, 0},
		{30, 2 * wide, 2 * wide, 35, 0, 0}, // below the matrix
		{80, 2*wide + 5, 2*wide + 5, 1, 3, 0},
		{80, 2 * wide, 2 * wide, 0, 0, 1},
		{1, 1, 16, 0, 0, 16},
	} {
		const blocks = 2
		data := randoms(e, c.skip+c.rows*c.stride, rng)
		a := data[c.skip:]
		var want []T
		for b := range blocks {
			for i := range 3 * tileRows * wide {
				var v T
				if y, x := c.row+i/wide, c.column+b+i%wide; y < c.rows && x < c.columns {
					v = a[y*c.stride+x]
				}
				want = append(want, v)
			}
		}
		wantLines := lines(want)
		grid, block := gpu.Dim3{X: blocks}, gpu.Dim3{X: 64}
		each := make([]R, len(wantLines))
		kernel.Each(grid, block, func(th kernel.Thread) {
			run(th, c.rows, c.columns, c.stride, c.row, c.column, make([]kernel.TileMap, blocks), a, each)
		})
		out := gputest.Upload(t, d, make([]R, len(wantLines)))
		if err := launch(d.DefaultStream(), gpu.Blocks(grid, block), c.rows, c.columns, c.stride, c.row, c.column, gputest.Upload(t, d, make([]kernel.TileMap, blocks)), gputest.Upload(t, d, data).Slice(c.skip, len(data)), out); err != nil {
			t.Fatal(err)
		}
		got := gputest.Download(t, d, out)
		for i, w := range wantLines {
			if got[i] != w || each[i] != w {
				t.Fatalf("%+v: line %d is %v, with Each %v, want %v", c, i, got[i], each[i], w)
			}
		}
	}
}
