package byhand

import "quern.dev/bench/parity/kernels"

// Pathfinder extends the cheapest paths through a grid by some rows, in parts of the columns
// that fit in the cache. A part includes the columns on both sides that its results depend
// on.
func Pathfinder(cols, start, steps int, wall, src, dst []int32) {
	const part = 1 << 12
	parallel((cols+part-1)/part, func(lo, hi int) {
		a, b := make([]int32, part+2*steps), make([]int32, part+2*steps)
		for p := lo; p < hi; p++ {
			first, end := p*part, min((p+1)*part, cols)
			left, right := max(first-steps, 0), min(end+steps, cols)
			from, to := a[:right-left], b[:right-left]
			copy(from, src[left:right])
			for s := range steps {
				row := wall[(start+s)*cols+left:][:len(to)]
				last := from[0]
				for x, cost := range row {
					here := from[x]
					to[x] = min(last, here, from[min(x+1, len(from)-1)]) + cost
					last = here
				}
				from, to = to, from
			}
			copy(dst[first:end], from[first-left:])
		}
	})
}

// Needle computes one diagonal of tiles of the scores of global alignments.
func Needle(n, diagonal int, penalty int32, a, b []uint8, scores []int32) {
	const tile = kernels.NeedleTile
	w := n + 1
	parallel(len(a)/n, func(lo, hi int) {
		for pair := lo; pair < hi; pair++ {
			s := scores[pair*w*w:][:w*w]
			for bx := range diagonal + 1 {
				x0, y0 := bx*tile, (diagonal-bx)*tile
				letters := (*[tile]uint8)(a[pair*n+x0:])
				for y := y0; y < y0+tile; y++ {
					letter := b[pair*n+y]
					above := (*[tile + 1]int32)(s[y*w+x0:])
					row := (*[tile + 1]int32)(s[(y+1)*w+x0:])
					left := row[0]
					for x, other := range letters {
						gain := int32(kernels.NeedleMismatch)
						if other == letter {
							gain = kernels.NeedleMatch
						}
						left = max(above[x]+gain, left-penalty, above[x+1]-penalty)
						row[x+1] = left
					}
				}
			}
		}
	})
}
