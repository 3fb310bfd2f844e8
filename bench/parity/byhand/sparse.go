package byhand

// ELL multiplies a sparse matrix in ELLPACK format with x, in parts of rows that stay in
// the cache.
func ELL(width int, columns []int32, values, x, y []float32) {
	const part = 1 << 10
	rows := len(y)
	parallel((rows+part-1)/part, func(lo, hi int) {
		for first := lo * part; first < min(hi*part, rows); first += part {
			sums := y[first:min(first+part, rows)]
			clear(sums)
			for k := range width {
				elements := values[k*rows+first:][:len(sums)]
				places := columns[k*rows+first:][:len(sums)]
				for i, column := range places {
					if column >= 0 {
						sums[i] += elements[i] * x[column]
					}
				}
			}
		}
	})
}

// BSR multiplies a sparse matrix of blocks of 4 x 4 elements with x.
func BSR(starts, columns []int32, values [][4][4]float32, x [][4]float32, y []float32) {
	parallel(len(y)/4, func(lo, hi int) {
		for row := lo; row < hi; row++ {
			first, end := starts[row], starts[row+1]
			blocks := values[first:end]
			places := columns[first:end][:len(blocks)]
			var s0, s1, s2, s3 float32
			for e := range blocks {
				a, b := &blocks[e], &x[places[e]]
				b0, b1, b2, b3 := b[0], b[1], b[2], b[3]
				s0 += a[0][0]*b0 + a[0][1]*b1 + a[0][2]*b2 + a[0][3]*b3
				s1 += a[1][0]*b0 + a[1][1]*b1 + a[1][2]*b2 + a[1][3]*b3
				s2 += a[2][0]*b0 + a[2][1]*b1 + a[2][2]*b2 + a[2][3]*b3
				s3 += a[3][0]*b0 + a[3][1]*b1 + a[3][2]*b2 + a[3][3]*b3
			}
			*(*[4]float32)(y[4*row:]) = [4]float32{s0, s1, s2, s3}
		}
	})
}
