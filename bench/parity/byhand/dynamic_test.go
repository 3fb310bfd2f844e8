package byhand

import (
	"math/rand/v2"
	"strings"
	"testing"

	"quern.dev/bench/parity/kernels"
)

func TestKnapsackSolvesAProblemItemByItem(t *testing.T) {
	weights, values := []int{3, 4, 5, 9}, []int32{30, 50, 60, 100}
	best, next := make([]int32, 13), make([]int32, 13)
	for i, w := range weights {
		Knapsack(w, values[i], best, next)
		best, next = next, best
	}
	for capacity := range best {
		var want int32
		for set := range 1 << len(weights) {
			weight, value := 0, int32(0)
			for i := range weights {
				if set>>i&1 != 0 {
					weight, value = weight+weights[i], value+values[i]
				}
			}
			if weight <= capacity {
				want = max(want, value)
			}
		}
		if best[capacity] != want {
			t.Errorf("capacity %d: value %d, want %d", capacity, best[capacity], want)
		}
	}
}

func TestFoldFindsTheMaximumNumberOfPairs(t *testing.T) {
	const length, count = 14, 20
	sequences := make([]uint8, count*length)
	for i := range sequences {
		sequences[i] = "ACGU"[rand.IntN(4)]
	}
	copy(sequences, "GGGAAAUCCAAAAA")
	pairs := make([]int32, count)
	Fold(length, sequences, pairs)
	if pairs[0] != 3 {
		t.Errorf("a stem of three pairs has %d", pairs[0])
	}
	for i, got := range pairs {
		s := string(sequences[i*length:][:length])
		if want := mostPairs(s); got != want {
			t.Errorf("%s has %d pairs, want %d", s, got, want)
		}
	}
}

// mostPairs tries all partners of the first base.
func mostPairs(s string) int32 {
	if len(s) == 0 {
		return 0
	}
	most := mostPairs(s[1:])
	for k := kernels.FoldLoop + 1; k < len(s); k++ {
		if strings.Contains("AU UA CG GC GU UG", s[:1]+s[k:k+1]) {
			most = max(most, 1+mostPairs(s[1:k])+mostPairs(s[k+1:]))
		}
	}
	return most
}
