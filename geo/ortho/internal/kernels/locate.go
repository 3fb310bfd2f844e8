package kernels

import (
	"math"

	"quern.dev/geo/internal/projection"
	"quern.dev/kernel"
)

// Occlusion says how rays are tested.
type Occlusion struct {
	Test      bool
	Peak      float64 // no height is above it
	Tolerance float64 // by which a height may be above a ray, in meters
}

// between interpolates heights of the centers of pixels.
func between(w *Window, heights []float32, column, row float64) float64 {
	x, y := column-0.5-float64(w.X), row-0.5-float64(w.Y)
	fx, fy := math.Floor(x), math.Floor(y)
	left, top := int(fx), int(fy)
	if left < 0 || top < 0 || left >= w.W || top >= w.H {
		return math.NaN()
	}
	qx, qy := x-fx, y-fy
	i := top*w.W + left
	h := float64(heights[i])
	// Where there is nothing between pixels, the others need not have data.
	if qx > 0 {
		if left+1 >= w.W {
			return math.NaN()
		}
		h = fma(qx, float64(heights[i+1])-h, h)
	}
	if qy > 0 {
		if top+1 >= w.H {
			return math.NaN()
		}
		below := float64(heights[i+w.W])
		if qx > 0 {
			below = fma(qx, float64(heights[i+w.W+1])-below, below)
		}
		h = fma(qy, below-h, h)
	}
	return h
}

// hidden reports whether a surface is above the line of sight of a point. The ray goes from pixel to pixel of the output, until it
// is above all heights.
func hidden(o *Occlusion, w *Window, heights, peaks []float32, column, row, height, sx, sy, most float64) bool {
	length := max(math.Abs(sx), math.Abs(sy)) // pixels per meter of height
	if !(length > 1e-9) {
		return false
	}
	dx, dy, dz := sx/length, sy/length, 1/length // per step, which is a pixel
	steps := int(min(math.Ceil(min(o.Peak-height, most)*length), 1<<24))
	across := (w.W + CellSize - 1) / CellSize
	for k := 1; k <= steps; {
		at := float64(k)
		x, y, z := fma(at, dx, column), fma(at, dy, row), fma(at, dz, height)+o.Tolerance
		// Heights are between the centers of pixels.
		i, j := int(math.Floor(x-0.5))-w.X, int(math.Floor(y-0.5))-w.Y
		if i < 0 || j < 0 || i >= w.W || j >= w.H {
			return false
		}
		if cx, cy := i/CellSize, j/CellSize; z > float64(peaks[cy*across+cx]) {
			// The ray rises, so nothing in this cell hides the point.
			k += skip(x-0.5-float64(w.X+cx*CellSize), dx, y-0.5-float64(w.Y+cy*CellSize), dy)
			continue
		}
		if between(w, heights, x, y) > z {
			return true
		}
		k++
	}
	return false
}

// skip returns how many steps stay in a cell, in which a ray is at (x, y).
func skip(x, dx, y, dy float64) int {
	n := float64(CellSize)
	if dx > 0 {
		n = min(n, (CellSize-x)/dx)
	} else if dx < 0 {
		n = min(n, -(x / dx))
	}
	if dy > 0 {
		n = min(n, (CellSize-y)/dy)
	} else if dy < 0 {
		n = min(n, -(y / dy))
	}
	return max(int(n), 1)
}

// locate writes the positions of the points of a tile in an image: its pixels from (tile.X, tile.Y) on, moved by half, which is
// 0.5 for centers and 0 for corners. It is NaN where the image does not show the point. window has heights at the
// centers of pixels.
//
//quern:kernel
func locate(t kernel.Thread, tile Window, half float64, views []View, subgrids []projection.Subgrid, nodes []float32, o Occlusion, w Window, heights, peaks []float32, xs, ys []float64) {
	x, y := t.Global2()
	if x >= tile.W || y >= tile.H {
		return
	}
	i := y*tile.W + x
	v := &views[0]
	column, row := float64(tile.X+x)+half, float64(tile.Y+y)+half
	height := between(&w, heights, column, row)
	var s Sight
	//quern:nounroll
	for k := range v.Points() {
		c, r, z := Point(k, column, row, height)
		px, py := v.Output.Apply(c, r)
		if !v.Same {
			px, py, z = v.Operation.Apply(subgrids, nodes, px, py, z)
		}
		px, py = v.Image(px, py, z)
		s.Add(k, px, py)
	}
	sx, sy := v.Slope(&s, column, row, height)
	most := math.Inf(1)
	if v.Camera.Model != Rational {
		most = v.Eye[2] - height
	}
	if height != height || o.Test && v.Inside(s.X, s.Y) && hidden(&o, &w, heights, peaks, column, row, height, sx, sy, most) {
		s.X, s.Y = math.NaN(), math.NaN()
	}
	xs[i], ys[i] = s.X, s.Y
}
