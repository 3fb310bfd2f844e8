package kernels

import (
	"math"

	"quern.dev/kernel"
)

// binomial returns the weight of a distance in the filter 1 4 6 4 1.
func binomial(d int) float64 {
	switch d {
	case 0:
		return 6
	case -1, 1:
		return 4
	}
	return 1
}

// reduce makes a level from the one above: values are means over pixels that have data, weights are means over all.
//
//quern:kernel
func reduce(t kernel.Thread, fine, coarse Window, values, present, weights, values2, present2, weights2 []float64) {
	x, y := t.Global2()
	if x >= coarse.W || y >= coarse.H {
		return
	}
	cx, cy := 2*(coarse.X+x), 2*(coarse.Y+y)
	var sum, total, weight float64
	for j := -2; j <= 2; j++ {
		for i := -2; i <= 2; i++ {
			k, ok := fine.at(cx+i, cy+j)
			if !ok {
				continue
			}
			w := float64(binomial(i) * binomial(j))
			weight = math.FMA(w, weights[k], weight)
			w = float64(w * present[k])
			sum, total = math.FMA(w, values[k], sum), total+w
		}
	}
	k := y*coarse.W + x
	values2[k], present2[k], weights2[k] = 0, total/256, weight/256
	if total > 0 {
		values2[k] = sum / total
	}
}

// expanded returns the value of a level at a pixel of the level above, from pixels that count.
func expanded(coarse *Window, values, counts []float64, x, y int) float64 {
	left, top := x>>1, y>>1
	var sum, total float64
	for j := -1; j <= 1; j++ {
		for i := -1; i <= 1; i++ {
			wx, wy := between(x, i), between(y, j)
			k, ok := coarse.at(left+i, top+j)
			if !ok || wx == 0 || wy == 0 || !(counts[k] > 0) {
				continue
			}
			w := float64(wx * wy)
			sum, total = math.FMA(w, values[k], sum), total+w
		}
	}
	if total > 0 {
		return sum / total
	}
	return 0
}

// between returns the weight of the i-th pixel of a level, from the one at x/2 on, at pixel x of the level above.
func between(x, i int) float64 {
	if x&1 != 0 {
		if i < 0 {
			return 0
		}
		return 4
	}
	if i == 0 {
		return 6
	}
	return 1
}

// add adds the details of an image at a level, which are what the next level lacks, to those of all images. The last
// level has all that is left.
//
//quern:kernel
func add(t kernel.Thread, fine, coarse Window, last, first bool, values, weights, values2, present2, sums, totals []float64) {
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
	sums[k] = math.FMA(w, detail, sums[k])
	if first {
		totals[k] += w
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

// Owners of cells of the last level.
const (
	Nobody  = -1
	Several = -2
)

// own notes which image has a weight in each cell.
//
//quern:kernel
func own(t kernel.Thread, n int, image int32, weights []float64, owners []int32) {
	i := t.Global()
	if i >= n || !(weights[i] > 0) {
		return
	}
	if o := owners[i]; o == Nobody {
		owners[i] = image
	} else if o != image {
		owners[i] = Several
	}
}

// purify marks the pixels whose blended value comes from one image: all cells of the last level around them that have
// an owner have the same.
//
//quern:kernel
func purify(t kernel.Thread, whole, cells Window, levels int, owners []int32, pure []uint8) {
	x, y := t.Global2()
	if x >= whole.W || y >= whole.H {
		return
	}
	cx, cy := (whole.X+x)>>uint(levels), (whole.Y+y)>>uint(levels)
	owner := int32(Nobody)
	one := true
	for j := -2; j <= 3; j++ {
		for i := -2; i <= 3; i++ {
			k, ok := cells.at(cx+i, cy+j)
			if !ok || owners[k] == Nobody {
				continue
			}
			if owner == Nobody {
				owner = owners[k]
			}
			one = one && owners[k] == owner && owner != Several
		}
	}
	k := y*whole.W + x
	pure[k] = 0
	if one {
		pure[k] = 1
	}
}
