package byhand

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func genomeOf(n int, letters string) []uint8 {
	text := make([]uint8, n)
	for i := range text {
		text[i] = letters[rand.IntN(len(letters))]
	}
	return text
}

func TestShiftAndCountsOverlappingOccurrences(t *testing.T) {
	text := genomeOf(5000, "ab")
	var first, last uint64
	masks := make([]uint64, 256)
	bit, want := 0, uint32(0)
	for _, pattern := range []string{"aba", "bb", "abaabb"} {
		first |= 1 << bit
		for _, c := range []byte(pattern) {
			masks[c] |= 1 << bit
			bit++
		}
		last |= 1 << (bit - 1)
		for i := range len(text) - len(pattern) + 1 {
			if string(text[i:i+len(pattern)]) == pattern {
				want++
			}
		}
	}
	hits := make([]uint32, 1)
	ShiftAnd(first, last, masks, text, hits)
	if hits[0] != want {
		t.Errorf("%d occurrences, want %d", hits[0], want)
	}
}

func TestKmersCountsEverySequence(t *testing.T) {
	const k = 3
	genome := genomeOf(2000, "ACGTACGTACGTN")
	want := make([]uint32, 1<<(2*k))
	for i := range len(genome) - k + 1 {
		number := 0
		for _, c := range genome[i : i+k] {
			number = 4*number + slices.Index([]uint8("ACTG"), c)
		}
		if !slices.Contains(genome[i:i+k], 'N') {
			want[number]++
		}
	}
	counts := make([]uint32, len(want))
	Kmers(k, genome, counts)
	if !slices.Equal(counts, want) {
		t.Errorf("counts %d, want %d", counts, want)
	}
}
