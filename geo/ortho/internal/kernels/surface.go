package kernels

import (
	"math"

	"quern.dev/geo/internal/projection"
	"quern.dev/kernel"
)

// Place leads from pixels of an output to pixels of a surface.
type Place struct {
	Output    Affine
	Source    Affine // from coordinates of the surface to its pixels
	Same      bool
	Operation projection.Operation
}

// Position returns where a point of the output is in the surface, or NaN.
func (p *Place) Position(subgrids []projection.Subgrid, nodes []float32, x, y float64) (float64, float64) {
	x, y = p.Output.Apply(x, y)
	if !p.Same {
		x, y, _ = p.Operation.Apply(subgrids, nodes, x, y, 0)
	}
	return p.Source.Apply(x, y)
}

// Window is a rectangle of pixels.
type Window struct{ X, Y, W, H int }

// Relief is a window of a surface of Width x Height pixels, and what its values mean: Scale*value + Offset is a height.
type Relief struct {
	Width, Height int
	Window        Window
	Scale, Offset float64
}

// HeightAt interpolates between the pixels around a position that have data. It is NaN if the pixel at the position
// has none. window has the pixels of r.Window.
func (r *Relief) HeightAt(window []float32, x, y float64) float64 {
	if !(x >= 0 && y >= 0 && x <= float64(r.Width) && y <= float64(r.Height)) {
		return math.NaN()
	}
	column, row := min(int(x), r.Width-1), min(int(y), r.Height-1)
	w := r.Window
	if column < w.X || row < w.Y || column >= w.X+w.W || row >= w.Y+w.H || window[(row-w.Y)*w.W+column-w.X] != window[(row-w.Y)*w.W+column-w.X] {
		return math.NaN()
	}
	fx, fy := math.Floor(x-0.5), math.Floor(y-0.5)
	qx, qy := x-0.5-fx, y-0.5-fy
	left, top := int(fx), int(fy)
	var sum, total float64
	for j := range 2 {
		for i := range 2 {
			column, row := min(max(left+i, 0), r.Width-1)-w.X, min(max(top+j, 0), r.Height-1)-w.Y
			if column < 0 || row < 0 || column >= w.W || row >= w.H {
				continue
			}
			wx, wy := 1-qx, 1-qy
			if i == 1 {
				wx = qx
			}
			if j == 1 {
				wy = qy
			}
			v, weight := float64(window[row*w.W+column]), float64(wx*wy)
			if v == v && weight > 0 {
				sum, total = fma(v, weight, sum), total+weight
			}
		}
	}
	return fma(sum/total, r.Scale, r.Offset)
}

// heights writes the heights of the centers of output pixels in a part of a window; NaN where there are none.
//
//quern:kernel
func heights(t kernel.Thread, part, whole Window, places []Place, subgrids []projection.Subgrid, nodes []float32, r Relief, window, out []float32) {
	x, y := t.Global2()
	if x >= part.W || y >= part.H {
		return
	}
	px, py := places[0].Position(subgrids, nodes, float64(part.X+x)+0.5, float64(part.Y+y)+0.5)
	out[(part.Y-whole.Y+y)*whole.W+part.X-whole.X+x] = float32(r.HeightAt(window, px, py))
}

// level writes the same height everywhere.
//
//quern:kernel
func level(t kernel.Thread, height float32, out []float32) {
	if i := t.Global(); i < len(out) {
		out[i] = height
	}
}

// CellSize is the width and height of the cells whose greatest heights let rays skip them.
const CellSize = 16

// peaks writes the greatest height of each cell of a window, and of the pixels next to it.
//
//quern:kernel
func peaks(t kernel.Thread, w Window, heights, out []float32) {
	cx, cy := t.Global2()
	across, down := (w.W+CellSize-1)/CellSize, (w.H+CellSize-1)/CellSize
	if cx >= across || cy >= down {
		return
	}
	peak := float32(math.Inf(-1))
	for y := max(cy*CellSize-1, 0); y < min((cy+1)*CellSize+1, w.H); y++ {
		for x := max(cx*CellSize-1, 0); x < min((cx+1)*CellSize+1, w.W); x++ {
			if h := heights[y*w.W+x]; h > peak {
				peak = h
			}
		}
	}
	out[cy*across+cx] = peak
}
