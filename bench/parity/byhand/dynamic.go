package byhand

import "quern.dev/bench/parity/kernels"

// Knapsack adds an item to a knapsack problem.
func Knapsack(weight int, value int32, best, next []int32) {
	parallel(len(best), func(lo, hi int) {
		if lo < weight {
			split := min(weight, hi)
			copy(next[lo:split], best[lo:split])
			lo = split
		}
		if lo == hi {
			return
		}
		without, with := best[lo:hi], best[lo-weight:hi-weight]
		with = with[:len(without)]
		to := next[lo:hi][:len(without)]
		for c, v := range without {
			to[c] = max(v, with[c]+value)
		}
	})
}

// foldPartners has the bases that pair with a base, one bit each.
var foldPartners = [256]uint8{'A': 1 << 3, 'C': 1 << 2, 'G': 1<<1 | 1<<3, 'U': 1<<0 | 1<<2}

// foldBases numbers the bases.
var foldBases = [256]uint8{'A': 0, 'C': 1, 'G': 2, 'U': 3}

// Fold computes the maximum number of nested base pairs of RNA sequences. The table is
// stored by columns, which the inner loop reads.
func Fold(length int, sequences []uint8, pairs []int32) {
	const n, loop = kernels.FoldLength, kernels.FoldLoop
	parallel(len(pairs), func(lo, hi int) {
		var best [n + 1][n + 1]uint8 // best[j+1][i] is the result for the bases i to j
		for s := lo; s < hi; s++ {
			bases := sequences[s*length:][:length]
			for j := range length {
				column := &best[j+1]
				for i := max(j-loop, 0); i <= j; i++ {
					column[i] = 0
				}
				base, inside := foldBases[bases[j]], &best[j]
				for i := j - loop - 1; i >= 0; i-- {
					most := inside[i]
					for k := i; k < j-loop; k++ {
						if foldPartners[bases[k]]>>base&1 == 0 {
							continue
						}
						pairsWithin := inside[k+1] + 1
						if k > i {
							pairsWithin += best[k][i]
						}
						most = max(most, pairsWithin)
					}
					column[i] = most
				}
			}
			pairs[s] = int32(best[length][0])
		}
	})
}
