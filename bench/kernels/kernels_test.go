package kernels

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
	"quern.dev/kernel"
)

// The tests run the kernels as plain Go functions and on every device, checked and
// unchecked.

type blurFunc func(t kernel.Thread, weights Weights, w, h int, in, out []float32)
type blurLaunch func(s *gpu.Stream, g gpu.Grid, weights Weights, w, h int, in, out *gpu.Buffer[float32]) error
type matmulFunc func(t kernel.Thread, m, n, k int, a, b, c []float32)
type matmulLaunch func(s *gpu.Stream, g gpu.Grid, m, n, k int, a, b, c *gpu.Buffer[float32]) error

func TestSaxpy(t *testing.T) {
	const n, a = 1000, 1.5
	x, y := random(n), random(n)
	want := make([]float64, n)
	for i := range want {
		want[i] = a*float64(x[i]) + float64(y[i])
	}
	got := slices.Clone(y)
	kernel.Each(kernel.Dim3{X: 8}, kernel.Dim3{X: 128}, func(t kernel.Thread) { saxpy(t, a, x, got) })
	closeTo(t, got, want, 1e-6)

	onDevices(t, "saxpy", [][]float32{x, y}, want, 1e-6, func(s *gpu.Stream, b []*gpu.Buffer[float32]) error {
		return LaunchSaxpy(s, gpu.Linear(n), a, b[0], b[1])
	})
	onDevices(t, "saxpyUnchecked", [][]float32{x, y}, want, 1e-6, func(s *gpu.Stream, b []*gpu.Buffer[float32]) error {
		return LaunchSaxpyUnchecked(s, gpu.Linear(n), a, b[0], b[1])
	})
}

func TestBlur(t *testing.T) {
	var weights Weights
	for k := range weights {
		weights[k] = float32(Radius+1-k) / ((Radius + 1) * (Radius + 1))
	}
	for _, size := range []struct{ w, h int }{{1, 1}, {300, 5}, {7, 90}, {64, 64}} {
		w, h := size.w, size.h
		rows := [2]kernel.Dim3{{X: (w + RowTile - 1) / RowTile, Y: h, Z: 1}, {X: RowTile, Y: 1, Z: 1}}
		columns := [2]kernel.Dim3{
			{X: (w + ColumnTileWidth - 1) / ColumnTileWidth, Y: (h + ColumnTileHeight - 1) / ColumnTileHeight, Z: 1},
			{X: ColumnTileWidth, Y: ColumnThreads, Z: 1},
		}
		in := random(w * h)
		for _, c := range []struct {
			name   string
			plain  blurFunc
			launch blurLaunch
			grid   [2]kernel.Dim3
			dx, dy int
		}{
			{"blurRows", blurRows, LaunchBlurRows, rows, 1, 0},
			{"blurRowsUnchecked", blurRowsUnchecked, LaunchBlurRowsUnchecked, rows, 1, 0},
			{"blurColumns", blurColumns, LaunchBlurColumns, columns, 0, 1},
			{"blurColumnsUnchecked", blurColumnsUnchecked, LaunchBlurColumnsUnchecked, columns, 0, 1},
		} {
			want := make([]float64, w*h)
			for i := range want {
				for k := -Radius; k <= Radius; k++ {
					x, y := min(max(i%w+k*c.dx, 0), w-1), min(max(i/w+k*c.dy, 0), h-1)
					want[i] += float64(weights[max(k, -k)]) * float64(in[y*w+x])
				}
			}
			got := make([]float32, w*h)
			kernel.Each(c.grid[0], c.grid[1], func(t kernel.Thread) { c.plain(t, weights, w, h, in, got) })
			closeTo(t, got, want, 1e-6)
			onDevices(t, fmt.Sprintf("%s of %dx%d", c.name, w, h), [][]float32{in, make([]float32, w*h)}, want, 1e-6,
				func(s *gpu.Stream, b []*gpu.Buffer[float32]) error {
					return c.launch(s, gpu.Blocks(c.grid[0], c.grid[1]), weights, w, h, b[0], b[1])
				})
		}
	}
}

func TestMatmul(t *testing.T) {
	square := kernel.Dim3{X: 16, Y: 16, Z: 1}
	for _, c := range []struct {
		name    string
		plain   matmulFunc
		launch  matmulLaunch
		tile    int
		m, n, k int
	}{
		{"tileMatmul", tileMatmul, LaunchTileMatmul, Tile, 32, 48, 16},
		{"tileMatmul with guarded edges", tileMatmul, LaunchTileMatmul, Tile, 17, 5, 33},
		{"tileMatmulUnchecked", tileMatmulUnchecked, LaunchTileMatmulUnchecked, Tile, 19, 21, 40},
		{"registerMatmul", registerMatmul, LaunchRegisterMatmul, BlockTile, 128, 256, 32},
		{"registerMatmulUnchecked", registerMatmulUnchecked, LaunchRegisterMatmulUnchecked, BlockTile, 256, 128, 16},
	} {
		m, n, k := c.m, c.n, c.k
		a, b := random(m*k), random(k*n)
		want := make([]float64, m*n)
		for i := range want {
			for p := range k {
				want[i] += float64(a[i/n*k+p]) * float64(b[p*n+i%n])
			}
		}
		grid := kernel.Dim3{X: (n + c.tile - 1) / c.tile, Y: (m + c.tile - 1) / c.tile, Z: 1}
		got := make([]float32, m*n)
		kernel.Each(grid, square, func(t kernel.Thread) { c.plain(t, m, n, k, a, b, got) })
		closeTo(t, got, want, 1e-5)
		onDevices(t, c.name, [][]float32{a, b, make([]float32, m*n)}, want, 1e-5,
			func(s *gpu.Stream, d []*gpu.Buffer[float32]) error {
				return c.launch(s, gpu.Blocks(grid, square), m, n, k, d[0], d[1], d[2])
			})
	}
}

// onDevices uploads the arrays to every device, calls launch, and compares the last array
// with want.
func onDevices(t *testing.T, name string, arrays [][]float32, want []float64, tolerance float64, launch func(*gpu.Stream, []*gpu.Buffer[float32]) error) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
			var buffers []*gpu.Buffer[float32]
			for _, host := range arrays {
				buffers = append(buffers, gputest.Upload(t, dev, host))
			}
			if err := launch(dev.DefaultStream(), buffers); err != nil {
				t.Fatal(err)
			}
			closeTo(t, gputest.Download(t, dev, buffers[len(buffers)-1]), want, tolerance)
		})
	})
}

func closeTo(t *testing.T, got []float32, want []float64, tolerance float64) {
	t.Helper()
	for i, w := range want {
		if !(math.Abs(float64(got[i])-w) <= tolerance) {
			t.Fatalf("element %d is %v, want %v", i, got[i], w)
		}
	}
}

func random(n int) []float32 {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	v := make([]float32, n)
	for i := range v {
		v[i] = 2*r.Float32() - 1
	}
	return v
}
