package byhand

import "sync"

// Saxpy computes y = a*x + y.
func Saxpy(a float32, x, y []float32) {
	parallel(len(y), func(lo, hi int) {
		x, y := x[lo:hi], y[lo:hi]
		for i, v := range x {
			y[i] += a * v
		}
	})
}

// Transpose writes the w x h matrix in to out as an h x w matrix, in squares that fit in
// the cache.
func Transpose(w, h int, in, out []float32) {
	const tile = 32
	parallel((h+tile-1)/tile, func(lo, hi int) {
		for y0 := lo * tile; y0 < min(hi*tile, h); y0 += tile {
			for x0 := 0; x0 < w; x0 += tile {
				for x := x0; x < min(x0+tile, w); x++ {
					column := out[x*h+y0 : x*h+min(y0+tile, h)]
					for i := range column {
						column[i] = in[(y0+i)*w+x]
					}
				}
			}
		}
	})
}

// Reduce adds the elements of x to sum[0]. It uses partial sums, which keep rounding
// errors small.
func Reduce(x, sum []float32) {
	const part = 1 << 14
	var mu sync.Mutex
	parallel((len(x)+part-1)/part, func(lo, hi int) {
		var total float32
		for p := lo; p < hi; p++ {
			var a, b, c, d float32
			v := x[p*part : min((p+1)*part, len(x))]
			for ; len(v) >= 4; v = v[4:] {
				a += v[0]
				b += v[1]
				c += v[2]
				d += v[3]
			}
			for _, e := range v {
				a += e
			}
			total += a + b + (c + d)
		}
		mu.Lock()
		sum[0] += total
		mu.Unlock()
	})
}

// Histogram adds to bins the number of occurrences of each value in data.
func Histogram(data []uint8, bins []uint32) {
	var mu sync.Mutex
	parallel(len(data), func(lo, hi int) {
		var local [256]uint32
		for _, v := range data[lo:hi] {
			local[v]++
		}
		mu.Lock()
		for i, n := range local {
			bins[i] += n
		}
		mu.Unlock()
	})
}
