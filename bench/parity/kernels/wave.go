package kernels

import "quern.dev/kernel"

const (
	// WaveRadius is the number of neighbors on each side that enter a difference of
	// order 8.
	WaveRadius = 4

	// Block of wave.
	WaveWidth  = 32
	WaveHeight = 8
)

// WaveWeights holds the weights of the point itself, then of the points at increasing
// distance.
type WaveWeights [WaveRadius + 1]float32

// wave computes one time step of the wave equation on an nx x ny x nz grid, with second
// order in time and order 8 in space. The border of WaveRadius points is not written. Each
// block moves along z with the current plane in shared memory, and each thread keeps the
// points above and below its own.
//
//quern:kernel block=WaveWidth,WaveHeight also=unchecked
func wave(t kernel.Thread, weights WaveWeights, nx, ny, nz int, previous, current, next []float32) {
	const r = WaveRadius
	tile := kernel.Shared[[WaveHeight + 2*r][WaveWidth + 2*r]float32](t)
	x, y := t.Global2()
	tx, ty := t.ThreadIdx.X+r, t.ThreadIdx.Y+r
	within := x < nx && y < ny
	inner := x >= r && x < nx-r && y >= r && y < ny-r
	plane, at := nx*ny, y*nx+x
	var column [2*r + 1]float32 // from z-r to z+r
	if within {
		for k := range 2 * r {
			column[k+1] = current[at+k*plane]
		}
	}
	for z := r; z < nz-r; z++ {
		for k := range 2 * r {
			column[k] = column[k+1]
		}
		here := at + z*plane
		t.Sync()
		if within {
			column[2*r] = current[here+r*plane]
			tile[ty][tx] = column[r]
			if t.ThreadIdx.X < r {
				if x >= r {
					tile[ty][tx-r] = current[here-r]
				}
				if x+WaveWidth < nx {
					tile[ty][tx+WaveWidth] = current[here+WaveWidth]
				}
			}
			if t.ThreadIdx.Y < r {
				if y >= r {
					tile[ty-r][tx] = current[here-r*nx]
				}
				if y+WaveHeight < ny {
					tile[ty+WaveHeight][tx] = current[here+WaveHeight*nx]
				}
			}
		}
		t.Sync()
		if inner {
			sum := 3 * weights[0] * column[r]
			for k := 1; k <= r; k++ {
				sum += weights[k] * (tile[ty][tx-k] + tile[ty][tx+k] +
					tile[ty-k][tx] + tile[ty+k][tx] + column[r-k] + column[r+k])
			}
			next[here] = 2*column[r] - previous[here] + sum
		}
	}
}
