package byhand

import "quern.dev/bench/parity/kernels"

// SpMV multiplies a sparse matrix in CSR format with x.
func SpMV(starts, columns []int32, values, x, y []float32) {
	parallel(len(y), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			first, end := starts[i], starts[i+1]
			elements := values[first:end]
			places := columns[first:end][:len(elements)]
			var sum float32
			for e, v := range elements {
				sum += v * x[places[e]]
			}
			y[i] = sum
		}
	})
}

// BitonicSort sorts every kernels.SortTile keys with a bitonic network.
func BitonicSort(keys []uint32) {
	const n = kernels.SortTile
	parallel(len(keys)/n, func(lo, hi int) {
		for tile := lo; tile < hi; tile++ {
			k := (*[n]uint32)(keys[tile*n:])
			for size := 2; size <= n; size *= 2 {
				for stride := size / 2; stride > 0; stride /= 2 {
					for first := 0; first < n; first += 2 * stride {
						a := k[first:][:stride]
						b := k[first+stride:][:stride]
						if first&size == 0 {
							for i, v := range a {
								w := b[i]
								a[i], b[i] = min(v, w), max(v, w)
							}
						} else {
							for i, v := range a {
								w := b[i]
								a[i], b[i] = max(v, w), min(v, w)
							}
						}
					}
				}
			}
		}
	})
}

// BlockScan writes the running sums of every kernels.ScanTile elements of in to
// out, and the sum of each tile to totals.
func BlockScan(in, out, totals []uint32) {
	parallel(len(totals), func(lo, hi int) {
		for tile := lo; tile < hi; tile++ {
			src := in[tile*kernels.ScanTile : min((tile+1)*kernels.ScanTile, len(in))]
			dst := out[tile*kernels.ScanTile:][:len(src)]
			var sum uint32
			for i, v := range src {
				sum += v
				dst[i] = sum
			}
			totals[tile] = sum
		}
	})
}

// Align computes the scores of local alignments, row by row.
func Align(length int, queries, targets []uint8, scores []int32) {
	parallel(len(scores), func(lo, hi int) {
		row := make([]int32, length+1)
		for pair := lo; pair < hi; pair++ {
			clear(row)
			target := targets[pair*length:][:length]
			var best int32
			for _, letter := range queries[pair*kernels.QueryLength:][:kernels.QueryLength] {
				var diagonal, left int32
				above := row[1:][:len(target)]
				for j, other := range target {
					var match int32 = kernels.ScoreMismatch
					if other == letter {
						match = kernels.ScoreMatch
					}
					up := above[j]
					score := max(0, diagonal+match, up+kernels.ScoreGap, left+kernels.ScoreGap)
					above[j] = score
					best = max(best, score)
					left, diagonal = score, up
				}
			}
			scores[pair] = best
		}
	})
}

// FFT transforms every kernels.FFTSize points in three passes of radix 8
// (Stockham).
func FFT(twiddles, in, out []kernels.Complex) {
	const n = kernels.FFTSize
	parallel(len(in)/n, func(lo, hi int) {
		var a, b [n]complex64
		var w [n]complex64
		for i, t := range twiddles {
			w[i] = complex(t.Re, t.Im)
		}
		for k := lo; k < hi; k++ {
			for i, v := range in[k*n:][:n] {
				a[i] = complex(v.Re, v.Im)
			}
			pass(&a, &b, &w, 1)
			pass(&b, &a, &w, 8)
			pass(&a, &b, &w, 64)
			for i, v := range b {
				out[k*n+i] = kernels.Complex{Re: real(v), Im: imag(v)}
			}
		}
	})
}

// pass computes transforms of 8*done points from those of done points.
func pass(from, to, w *[kernels.FFTSize]complex64, done int) {
	const eighth = kernels.FFTSize / 8
	turn := func(v complex64) complex64 { return complex(imag(v), -real(v)) }
	const half = 0.70710678
	for j := range eighth {
		var v [8]complex64
		for r := range v {
			v[r] = from[j+r*eighth]
		}
		if k := j % done * (eighth / done); k > 0 {
			for r := 1; r < 8; r++ {
				v[r] *= w[r*k]
			}
		}
		a0, a4 := v[0]+v[4], v[0]-v[4]
		a1, a5 := v[1]+v[5], v[1]-v[5]
		a2, a6 := v[2]+v[6], turn(v[2]-v[6])
		a3, a7 := v[3]+v[7], v[3]-v[7]
		a5 = complex(half*(real(a5)+imag(a5)), half*(imag(a5)-real(a5)))
		a7 = complex(half*(imag(a7)-real(a7)), -half*(imag(a7)+real(a7)))
		b0, b2 := a0+a2, a0-a2
		b1, b3 := a1+a3, turn(a1-a3)
		b4, b6 := a4+a6, a4-a6
		b5, b7 := a5+a7, turn(a5-a7)
		results := [8]complex64{b0 + b1, b4 + b5, b2 + b3, b6 + b7, b0 - b1, b4 - b5, b2 - b3, b6 - b7}
		first := j/done*done*8 + j%done
		for r, v := range results {
			to[first+r*done] = v
		}
	}
}
