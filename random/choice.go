package random

import (
	"math/bits"

	"quern.dev/gpu"
	"quern.dev/kernel"
)

// AliasEntry is an element of the table that [Choose] uses. The zero value is not
// valid; see [NewAlias].
type AliasEntry struct {
	Threshold uint64 // probability of the entry's own index, as a fraction of 2^64
	Other     uint64 // the other index
}

// Choose returns the index that word w chooses: each index has the probability for
// which the table was made, to within 2^-53. Kernels call it with a word of
// [Source.Uint64] and with a table of [Alias.Table]. It is 0 if the table is empty.
func Choose(w uint64, table []AliasEntry) uint64 {
	// The product's upper half is a uniformly distributed index, and its lower half is
	// uniformly distributed for each index.
	at, rest := bits.Mul64(w, uint64(len(table)))
	if int(at) >= len(table) {
		return 0
	}
	if e := table[int(at)]; rest >= e.Threshold {
		return e.Other
	}
	return at
}

// Alias is a discrete distribution with given weights: a table on a device from
// which a number is drawn in constant time (Walker, 1977; Vose, 1991). It is safe
// for concurrent use.
type Alias struct{ table *gpu.Buffer[AliasEntry] }

// NewAlias makes the distribution in which index i has a probability proportional to
// weights[i]. Weights are finite and not negative, and their sum is positive. The
// stream orders the copy to the device. The caller closes the distribution.
func NewAlias(s *gpu.Stream, weights []float64) (*Alias, error) {
	const op = "NewAlias"
	if s == nil {
		return nil, invalid(op, "s", "is nil")
	}
	if len(weights) == 0 {
		return nil, invalid(op, "weights", "is empty; give at least one weight")
	}
	greatest := 0.0
	for i, w := range weights {
		if !(w >= 0) || !finite(w) {
			return nil, invalid(op, "weights", "has %v at index %d; weights must be finite and not negative", w, i)
		}
		greatest = max(greatest, w)
	}
	if greatest == 0 {
		return nil, invalid(op, "weights", "are all 0; one must be positive")
	}
	table, err := gpu.Upload(s, aliasTable(weights, greatest))
	if err != nil {
		return nil, failed(op, err)
	}
	return &Alias{table}, nil
}

// aliasTable builds a table with Vose's algorithm. Entries whose weight is below the
// mean get the rest of their probability from one above it.
func aliasTable(weights []float64, greatest float64) []AliasEntry {
	n := len(weights)
	sum := 0.0
	for _, w := range weights {
		sum += w / greatest
	}
	share := make([]float64, n) // in units of the mean
	small, large := make([]int, 0, n), make([]int, 0, n)
	for i, w := range weights {
		share[i] = float64(w/greatest) / sum * float64(n)
		if share[i] < 1 {
			small = append(small, i)
		} else {
			large = append(large, i)
		}
	}
	table := make([]AliasEntry, n)
	for len(small) > 0 && len(large) > 0 {
		i, j := small[len(small)-1], large[len(large)-1]
		small = small[:len(small)-1]
		table[i] = AliasEntry{threshold(share[i]), uint64(j)}
		if share[j] -= 1 - share[i]; share[j] < 1 {
			large = large[:len(large)-1]
			small = append(small, j)
		}
	}
	// What is left has a share of 1, but for rounding.
	for _, i := range append(small, large...) {
		table[i] = AliasEntry{^uint64(0), uint64(i)}
	}
	return table
}

// threshold returns a fraction below 1 as one of 2^64.
func threshold(x float64) uint64 { return uint64(x*0x1p53) << 11 }

// Table returns the table, for kernels that call [Choose]. It is valid until the
// distribution is closed. A nil Alias has none.
func (a *Alias) Table() *gpu.Buffer[AliasEntry] {
	if a == nil {
		return nil
	}
	return a.table
}

// Close frees the table once the work that uses it is done.
func (a *Alias) Close() error {
	if a == nil {
		return nil
	}
	return a.table.Close()
}

//quern:kernel specialise=shift:0 instantiate=int32,int64
func fillChoice[T int32 | int64](t kernel.Thread, src Source, shift int, table []AliasEntry, dst []T) {
	if i := t.Global(); 2*i-shift < len(dst) {
		a, b := src.words64(t)
		store2(dst, i, shift, T(Choose(a, table)), T(Choose(b, table)))
	}
}

// Choice fills dst with indices from the distribution. Element i is Choose of
// src.Uint64(i).
func Choice[T int32 | int64](s *gpu.Stream, src Source, dst *gpu.Buffer[T], weights *Alias) error {
	const op = "Choice"
	if err := check(op, s, src, dst); err != nil {
		return err
	}
	if weights == nil || weights.table == nil {
		return invalid(op, "weights", "was not made by NewAlias")
	}
	if n := uint64(weights.table.Len()); uint64(T(n-1)) != n-1 {
		return invalid(op, "weights", "has %d entries, which %T cannot number", n, T(0))
	}
	if dst.Len() == 0 {
		return nil
	}
	g, shift := src.grid64(dst.Len())
	return failed(op, LaunchFillChoice(s, g, src, shift, weights.table, dst))
}
