package kernels

import (
	"math"

	"quern.dev/kernel"
)

// Sample is a type of samples that float64 holds exactly.
type Sample interface {
	uint8 | int8 | uint16 | int16 | uint32 | int32 | float32 | float64
}

// Window is a rectangle of pixels of a level.
type Window struct{ X, Y, W, H int }

// Half returns the window of the next level: the pixels whose positions are in w.
func (w Window) Half() Window {
	x, y := (w.X+1)>>1, (w.Y+1)>>1
	return Window{x, y, (w.X+w.W+1)>>1 - x, (w.Y+w.H+1)>>1 - y}
}

// at returns the index of a pixel, and whether it is in the window.
func (w *Window) at(x, y int) (int, bool) {
	x, y = x-w.X, y-w.Y
	return y*w.W + x, x >= 0 && y >= 0 && x < w.W && y < w.H
}

// load takes a band of an image in a box: its values, with a gain and an offset, where it has data, and where it is chosen. Pixels
// have stride samples, and alpha last. Labels, and the values that are chosen, are those of the whole window.
//
//quern:kernel instantiate=uint8,int8,uint16,int16,uint32,int32,float32,float64
func load[T Sample](t kernel.Thread, box, whole Window, stride, band int, gain, offset float64, image int32, pixels []T, labels []int32, values, present, weights, chosen []float64) {
	x, y := t.Global2()
	if x >= box.W || y >= box.H {
		return
	}
	i := y*box.W + x
	value, here, mine := 0.0, 0.0, 0.0
	if pixels[i*stride+stride-1] != 0 {
		value, here = math.FMA(float64(pixels[i*stride+band]), gain, offset), 1
		if k, _ := whole.at(box.X+x, box.Y+y); labels[k] == image {
			mine = 1
			chosen[k] = value
		}
	}
	values[i], present[i], weights[i] = value, here, mine
}

// finish writes the pixels of a tile. Where a single image counts, they are its own; elsewhere they are the blended values. pure says it
// for the cells of a level.
//
//quern:kernel instantiate=uint8,int8,uint16,int16,uint32,int32,float32,float64
func finish[T Sample](t kernel.Thread, tile, whole, cells Window, level, stride, band int, integer, noData bool, least, most, none float64, labels []int32, pure []uint8, chosen, blended []float64, dst []T) {
	x, y := t.Global2()
	if x >= tile.W || y >= tile.H {
		return
	}
	i, _ := whole.at(tile.X+x, tile.Y+y)
	to := (y*tile.W+x)*stride + band
	if labels[i] < 0 {
		dst[to] = T(none)
		return
	}
	// The cell may be before the first one.
	c, _ := cells.at(max((tile.X+x)>>uint(level), cells.X), max((tile.Y+y)>>uint(level), cells.Y))
	value := blended[i]
	if pure[c] != 0 {
		value = chosen[i]
	}
	if !integer {
		dst[to] = T(value)
		return
	}
	value = min(max(math.Floor(value+0.5), least), most)
	// A pixel that has data must not look like one without.
	if noData && value == none {
		if value == least {
			value++
		} else {
			value--
		}
	}
	dst[to] = T(value)
}
