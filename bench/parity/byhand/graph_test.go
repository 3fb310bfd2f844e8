package byhand

import (
	"slices"
	"testing"

	"quern.dev/bench/parity/kernels"
)

func TestTrianglesCountsAllTriplesOfACompleteGraph(t *testing.T) {
	const nodes = 12
	starts := []int32{0}
	var ends []int32
	for u := range nodes {
		for v := u + 1; v < nodes; v++ {
			ends = append(ends, int32(v))
		}
		starts = append(starts, int32(len(ends)))
	}
	total := make([]uint32, 1)
	Triangles(starts, ends, total)
	if want := uint32(nodes * (nodes - 1) * (nodes - 2) / 6); total[0] != want {
		t.Errorf("%d triangles, want %d", total[0], want)
	}
}

func TestRelaxFindsShorterPaths(t *testing.T) {
	// Edges 0-1 of length 5, 0-2 of 9, 1-2 of 3, and 3-0, whose start is unreached.
	starts, ends, lengths := []int32{0, 2, 3, 3, 4}, []int32{1, 2, 2, 0}, []int32{5, 9, 3, 1}
	distances := []int32{0, 4, kernels.Unreached, kernels.Unreached}
	next := slices.Clone(distances)
	Relax(starts, ends, lengths, distances, next)
	if want := []int32{0, 4, 7, kernels.Unreached}; !slices.Equal(next, want) {
		t.Errorf("distances %d, want %d", next, want)
	}
}

func TestPagerankOfACycleIsUniform(t *testing.T) {
	starts, sources, degrees := []int32{0, 1, 2, 3}, []int32{2, 0, 1}, []int32{1, 1, 1}
	ranks, next := make([]float32, 3), make([]float32, 3)
	Pagerank(0.85, starts, sources, degrees, []float32{1, 1, 1}, ranks, next)
	for i := range ranks {
		if ranks[i] < 0.99999 || ranks[i] > 1.00001 || next[i] != ranks[i] {
			t.Errorf("page %d has rank %v and share %v, want 1", i, ranks[i], next[i])
		}
	}
}
