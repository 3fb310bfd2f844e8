package main

import "quern.dev/kernel"

//go:generate go tool quern gen

// rate is the share of the difference from its neighbors that a cell loses in a step. At
// more than a quarter, the method is not stable.
const rate = 0.24

// diffused returns the temperature of a cell after a step. The conversion keeps devices from
// fusing the product with the sum, so that all have the same bits.
func diffused(cell, left, right, above, below float32) float32 {
	return cell + float32(rate*((left+right)+(above+below)-4*cell))
}

// step computes a step of the plate, w x h cells. Cells that are held keep their
// temperature. It is 0 around the plate.
//
//quern:kernel
func step(t kernel.Thread, w, h int, held []uint8, from, to []float32) {
	x, y := t.Global2()
	if x >= w || y >= h {
		return
	}
	i := y*w + x
	cell := from[i]
	if held[i] == 0 {
		var left, right, above, below float32
		if x > 0 {
			left = from[i-1]
		}
		if x < w-1 {
			right = from[i+1]
		}
		if y > 0 {
			above = from[i-w]
		}
		if y < h-1 {
			below = from[i+w]
		}
		cell = diffused(cell, left, right, above, below)
	}
	to[i] = cell
}

const (
	side   = 64              // of a tile
	margin = 8               // of a tile, and the most steps of a launch
	middle = side - 2*margin // what a block writes
	strip  = 8               // cells of a column that a thread computes
	rows   = side / strip    // of threads
)

// steps computes up to margin steps.
//
//quern:kernel block=side,rows
func steps(t kernel.Thread, w, h, count int, held []uint8, from, to []float32) {
	tiles := kernel.Shared[[2][side][side]float32](t)
	column, row := t.ThreadIdx.X, t.ThreadIdx.Y*strip
	x, y := t.BlockIdx.X*middle-margin+column, t.BlockIdx.Y*middle-margin+row
	var cells [strip]float32
	fixed := [strip]bool{}
	for k := range strip {
		if x >= 0 && x < w && y+k >= 0 && y+k < h {
			i := (y+k)*w + x
			cells[k], fixed[k] = from[i], held[i] != 0
		} else {
			fixed[k] = true
		}
	}
	// Cells at the edge of the tile have themselves as neighbors. This is wrong, but it
	// advances by one cell per step, and does not reach the middle.
	left, right := max(column-1, 0), min(column+1, side-1)
	above, below := max(row-1, 0), min(row+strip, side-1)
	for n := range count {
		tile := &tiles[n%2]
		for k := range strip {
			tile[row+k][column] = cells[k]
		}
		t.Sync()
		last, end := tile[above][column], tile[below][column]
		for k := range strip {
			cell, next := cells[k], end
			if k < strip-1 {
				next = cells[k+1]
			}
			if !fixed[k] {
				cells[k] = diffused(cell, tile[row+k][left], tile[row+k][right], last, next)
			}
			last = cell
		}
	}
	if column < margin || column >= side-margin || x >= w {
		return
	}
	for k := range strip {
		if row+k >= margin && row+k < side-margin && y+k < h {
			to[(y+k)*w+x] = cells[k]
		}
	}
}
