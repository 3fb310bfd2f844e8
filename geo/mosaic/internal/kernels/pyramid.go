package kernels

import (
	"math"

	"quern.dev/kernel"
)

// binomial is the filter of pyramids, without the factor 1/16.
var binomial = [5]float64{1, 4, 6, 4, 1}

// reduce makes a level from the one above: values are means over pixels that have data, weights are means over all. If weighted is false,
// those of the level are there already.
//
//quern:kernel
func reduce(t kernel.Thread, fine, coarse Window, weighted bool, values, present, weights, values2, present2, weights2 []float64) {
	x, y := t.Global2()
	if x >= coarse.W || y >= coarse.H {
		return
	}
	// The pixel of the level above, in its window.
	left, top := 2*(coarse.X+x)-fine.X-2, 2*(coarse.Y+y)-fine.Y-2
	first, end := max(-left, 0), min(fine.W-left, 5)
	var sum, total, weight float64
	for j := max(-top, 0); j < min(fine.H-top, 5); j++ {
		row := (top+j)*fine.W + left
		for i := first; i < end; i++ {
			w := float64(binomial[i] * binomial[j])
			if weighted {
				weight = math.FMA(w, weights[row+i], weight)
			}
			w = float64(w * present[row+i])
			sum, total = math.FMA(w, values[row+i], sum), total+w
		}
	}
	k := y*coarse.W + x
	values2[k] = 0
	if total > 0 {
		values2[k] = sum / total
	}
	if weighted {
		present2[k], weights2[k] = total/256, weight/256
	}
}

// expanded returns the value of a level at a pixel of the level above, from pixels that count.
func expanded(coarse *Window, values, counts []float64, x, y int) float64 {
	// One pixel and its neighbors, with weights 1, 6, 1, or two with the same weight.
	firstX, lastX, firstY, lastY := -1, 1, -1, 1
	if x&1 != 0 {
		firstX = 0
	}
	if y&1 != 0 {
		firstY = 0
	}
	left, top := x>>1-coarse.X, y>>1-coarse.Y
	firstX, lastX = max(firstX, -left), min(lastX, coarse.W-1-left)
	firstY, lastY = max(firstY, -top), min(lastY, coarse.H-1-top)
	var sum, total float64
	for j := firstY; j <= lastY; j++ {
		wy := between(y, j)
		row := (top+j)*coarse.W + left
		for i := firstX; i <= lastX; i++ {
			if !(counts[row+i] > 0) {
				continue
			}
			w := float64(between(x, i) * wy)
			sum, total = math.FMA(w, values[row+i], sum), total+w
		}
	}
	if total > 0 {
		return sum / total
	}
	return 0
}

// between returns the weight of the i-th pixel of a level, from the one at x/2 on, at pixel x of the level above.
func between(x, i int) float64 {
	switch {
	case x&1 != 0:
		return 4
	case i == 0:
		return 6
	}
	return 1
}

// add adds the details of an image at a level, which are what the next level lacks, to those of all images. The last
// level has all that is left. fine and coarse are levels of the image's box; whole is the level of the sums.
//
//quern:kernel
func add(t kernel.Thread, fine, coarse, whole Window, last, first bool, values, weights, values2, present2, sums, totals []float64) {
	x, y := t.Global2()
	if x >= fine.W || y >= fine.H {
		return
	}
	k := y*fine.W + x
	w := weights[k]
	if !(w > 0) {
		return
	}
	detail := values[k]
	if !last {
		detail -= expanded(&coarse, values2, present2, fine.X+x, fine.Y+y)
	}
	to, _ := whole.at(fine.X+x, fine.Y+y)
	sums[to] = math.FMA(w, detail, sums[to])
	if first {
		totals[to] += w
	}
}

// collapse adds a level's means of details to the levels below, which were collapsed before.
//
//quern:kernel
func collapse(t kernel.Thread, fine, coarse Window, last bool, sums, totals, sums2, totals2 []float64) {
	x, y := t.Global2()
	if x >= fine.W || y >= fine.H {
		return
	}
	k := y*fine.W + x
	if !(totals[k] > 0) {
		return
	}
	v := sums[k] / totals[k]
	if !last {
		v += expanded(&coarse, sums2, totals2, fine.X+x, fine.Y+y)
	}
	sums[k] = v
}

// Owners of pixels, and of cells of the last level.
const (
	Nobody  = -1
	Several = -2
)

// own notes which image has a weight in each cell of its box.
//
//quern:kernel
func own(t kernel.Thread, box, whole Window, image int32, weights []float64, owners []int32) {
	x, y := t.Global2()
	if x >= box.W || y >= box.H || !(weights[y*box.W+x] > 0) {
		return
	}
	claim(owners, &whole, box.X+x, box.Y+y, image)
}

func claim(owners []int32, whole *Window, x, y int, image int32) {
	i, _ := whole.at(x, y)
	if o := owners[i]; o == Nobody {
		owners[i] = image
	} else if o != image {
		owners[i] = Several
	}
}

// single marks the cells around which all cells that have an owner have the same.
//
//quern:kernel
func single(t kernel.Thread, cells Window, owners []int32, pure []uint8) {
	x, y := t.Global2()
	if x >= cells.W || y >= cells.H {
		return
	}
	owner := int32(Nobody)
	one := true
	for j := max(y-2, 0); j <= min(y+3, cells.H-1); j++ {
		for i := max(x-2, 0); i <= min(x+3, cells.W-1); i++ {
			o := owners[j*cells.W+i]
			if o == Nobody {
				continue
			}
			if owner == Nobody {
				owner = o
			}
			one = one && o == owner && owner != Several
		}
	}
	pure[y*cells.W+x] = 0
	if one {
		pure[y*cells.W+x] = 1
	}
}
