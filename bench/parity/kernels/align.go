package kernels

import "quern.dev/kernel"

const (
	// QueryLength is the length of align's queries, one letter per thread.
	QueryLength = 128

	// TargetLength is the maximum length of targets.
	TargetLength = 512

	// Scores of an alignment.
	ScoreMatch    = 3
	ScoreMismatch = -3
	ScoreGap      = -2 // per letter
)

// align computes the score of the best local alignment (Smith and Waterman) of each query
// with the target at the same index. Targets have length letters. One block aligns one
// pair.
//
//quern:kernel block=128
func align(t kernel.Thread, length int, queries, targets []uint8, scores []int32) {
	alignPair(t, length, queries, targets, scores)
}

// alignUnchecked is align without bounds checks.
//
//quern:kernel block=128 unchecked
func alignUnchecked(t kernel.Thread, length int, queries, targets []uint8, scores []int32) {
	alignPair(t, length, queries, targets, scores)
}

func alignPair(t kernel.Thread, length int, queries, targets []uint8, scores []int32) {
	// Each thread has one row of the matrix, and the block moves along its antidiagonals:
	// row[p][k+1] is the score of thread k on the last antidiagonal of parity p.
	row := kernel.Shared[[2][QueryLength + 1]int32](t)
	best := kernel.Shared[int32](t)
	target := kernel.Shared[[TargetLength]uint8](t)
	k, pair := t.ThreadIdx.X, t.BlockIdx.X
	for i := k; i < length; i += QueryLength {
		target[i] = targets[pair*length+i]
	}
	letter := queries[pair*QueryLength+k]
	row[0][k+1], row[1][k+1] = 0, 0
	if k == 0 {
		row[0][0], row[1][0] = 0, 0
		*best = 0
	}
	var left, diagonal, most int32
	for step := range length + QueryLength - 1 {
		t.Sync()
		up := row[(step+1)&1][k]
		if column := step - k; column >= 0 && column < length {
			var match int32 = ScoreMismatch
			if target[column] == letter {
				match = ScoreMatch
			}
			score := max(0, diagonal+match, up+ScoreGap, left+ScoreGap)
			row[step&1][k+1] = score
			most = max(most, score)
			left, diagonal = score, up
		}
	}
	kernel.AtomicMax(best, most)
	t.Sync()
	if k == 0 {
		scores[pair] = *best
	}
}
