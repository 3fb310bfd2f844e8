package lint

import (
	"fmt"
	"slices"

	"quern.dev/internal/compiler/ir"
)

const (
	manyWays = 8 // number of serialized accesses to a bank that is reported
	fewWays  = 2 // the number left with longer rows, if these help
)

// banks reports accesses to shared memory with many accesses to the same bank: the
// worst of the copies of an access, and one per line.
func (c *checker) banks(list []access) {
	worst := map[ir.Pos]int{}
	for _, a := range list {
		if _, ok := a.object.(*ir.SharedVar); ok && !a.at.spread() {
			worst[a.pos] = max(worst[a.pos], ways(a.at, a.active, a.bytes))
		}
	}
	type place struct {
		v      *ir.SharedVar
		number int
	}
	seen := map[place]bool{}
	for _, a := range list {
		v, ok := a.object.(*ir.SharedVar)
		if !ok || seen[place{v, a.pos.Line}] || a.at.spread() || worst[a.pos] < manyWays || ways(a.at, a.active, a.bytes) < worst[a.pos] {
			continue
		}
		seen[place{v, a.pos.Line}] = true
		c.report(a.pos, "bank conflict", c.otherBanks(v, a), "%d accesses of a warp to %s go to one bank of shared memory, one after another", worst[a.pos], c.name(v))
	}
}

// otherBanks returns the advice for an access.
func (c *checker) otherBanks(v *ir.SharedVar, a access) string {
	if !a.padded.data && !a.padded.pattern(a.at) && ways(a.padded, a.active, a.bytes) <= fewWays {
		return fmt.Sprintf("make the rows of %s one element longer, %s, or exchange the indices", c.name(v), longer(v.Type))
	}
	size := a.place.Type().Size()
	if v.Type.Elem != nil {
		size = v.Type.Elem.Size()
	}
	if size < line/2 && line%size == 0 {
		return fmt.Sprintf("let neighbouring threads access neighbouring elements, or put element i at i + i/%d", line/size)
	}
	return "let neighbouring threads access neighbouring elements"
}

// longer returns the type of an array with longer rows.
func longer(t *ir.Type) string {
	if t.Elem.Kind == ir.Array {
		return fmt.Sprintf("[%d]%s", t.Len, longer(t.Elem))
	}
	return fmt.Sprintf("[%d]%s", t.Len+1, t.Elem)
}

// ways returns the maximum number of words that one bank serves for one access.
// Accesses of 8 and 16 bytes are served for half and a quarter of the warp at a time.
func ways(at value, active uint32, bytes int64) int {
	const banks, word = 32, 4
	group := 32 * word / int(min(max(bytes, word), 16))
	worst := 0
	for first := 0; first < 32; first += group {
		var words [banks][]int64
		for i := first; i < first+group; i++ {
			if active>>i&1 == 0 {
				continue
			}
			for b := floorDiv(at.lane[i], word); b*word < at.lane[i]+bytes; b++ {
				bank := ((b % banks) + banks) % banks
				if !slices.Contains(words[bank], b) {
					words[bank] = append(words[bank], b)
				}
			}
		}
		for _, w := range words {
			worst = max(worst, len(w))
		}
	}
	return worst
}
