package kernels

import "quern.dev/kernel"

const (
	// FoldLength is the maximum length of fold's sequences, and the number of threads per
	// block.
	FoldLength = 128

	// FoldLoop is the smallest number of bases between the two of a pair.
	FoldLoop = 3

	foldStride = FoldLength + 4 // bytes; an odd number of words prevents bank conflicts
)

// fold computes the maximum number of nested base pairs of RNA sequences (Nussinov), each
// of length bases. One block folds one sequence.
//
//quern:kernel block=FoldLength also=unchecked
func fold(t kernel.Thread, length int, sequences []uint8, pairs []int32) {
	// best[i][j] is the result for the bases i to j.
	best := kernel.Shared[[FoldLength][foldStride]uint8](t)
	bases := kernel.Shared[[FoldLength]uint8](t)
	i, first := t.ThreadIdx.X, t.BlockIdx.X*length
	if i < length {
		bases[i] = sequences[first+i]
		for j := i; j < length && j <= i+FoldLoop; j++ {
			best[i][j] = 0
		}
	}
	for span := FoldLoop + 1; span < length; span++ {
		t.Sync()
		j := i + span
		if j >= length {
			continue
		}
		most := best[i][j-1] // j is not paired
		for k := i; k < j-FoldLoop; k++ {
			if !foldPairs(bases[k], bases[j]) {
				continue
			}
			n := best[k+1][j-1] + 1
			if k > i {
				n += best[i][k-1]
			}
			most = max(most, n)
		}
		best[i][j] = most
	}
	t.Sync()
	if i == 0 {
		pairs[t.BlockIdx.X] = int32(best[0][length-1])
	}
}

// foldPairs reports whether two bases pair: A with U, C with G, or G with U.
func foldPairs(a, b uint8) bool {
	switch a {
	case 'A':
		return b == 'U'
	case 'C':
		return b == 'G'
	case 'G':
		return b == 'C' || b == 'U'
	default:
		return b == 'A' || b == 'G'
	}
}
