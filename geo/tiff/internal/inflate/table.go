package inflate

import "math/bits"

// entry is what a table has for the next bits of the input:
//
//	bits  0-7   bits that the code takes, with those of a second literal
//	bits  8-10  kind
//	bits 11-15  extra bits of a length or distance; of a link, the index bits of the second table
//	bits 16-31  one or two literals, the base of a length or distance, or the place of a second table
type entry uint32

const (
	invalid = iota
	literal1
	literal2
	match
	end
	link
)

func (e entry) width() uint   { return uint(e & 0xff) }
func (e entry) kind() uint    { return uint(e>>8) & 7 }
func (e entry) extra() uint   { return uint(e>>11) & 31 }
func (e entry) value() int    { return int(e >> 16) }
func (e entry) isShort() bool { return e&0x700 != 0 && e&0x700 <= literal2<<8 }

func makeEntry(kind, extra, value int) entry {
	return entry(kind<<8 | extra<<11 | value<<16)
}

const (
	litBits  = 11 // index bits of the first table of literals and lengths
	distBits = 8
	maxBits  = 15
	// Upper bounds of the sizes of both tables, from zlib's program enough for 288 and 32 symbols.
	litSize  = 1<<litBits + 1<<10
	distSize = 1<<distBits + 1<<9
)

// symbols of literals and lengths, and of distances, as entries without width.
var (
	litSymbols  [288]entry
	distSymbols [32]entry
)

func init() {
	for i := range 256 {
		litSymbols[i] = makeEntry(literal1, 0, i)
	}
	litSymbols[256] = makeEntry(end, 0, 0)
	base := 3
	for i := 257; i < 285; i++ {
		extra := max(0, (i-261)/4)
		litSymbols[i] = makeEntry(match, extra, base)
		base += 1 << extra
	}
	litSymbols[285] = makeEntry(match, 0, 258)
	base = 1
	for i := range 30 {
		extra := max(0, i/2-1)
		distSymbols[i] = makeEntry(match, extra, base)
		base += 1 << extra
	}
}

// build fills a table for codes with the given lengths. It reports false if the lengths are not those of
// a complete code; a single code of length 1 is allowed, and none for distances that are not used.
func build(table []entry, index int, symbols []entry, lengths []uint8) bool {
	var count [maxBits + 1]int
	for _, n := range lengths {
		count[n]++
	}
	count[0] = 0
	left, used := 1, 0
	for n := 1; n <= maxBits; n++ {
		left = left<<1 - count[n]
		if left < 0 {
			return false
		}
		used += count[n]
	}
	if left > 0 && (used > 1 || used == 1 && count[1] != 1) {
		return false
	}
	var next [maxBits + 2]int // the next code of each length
	for n := 1; n <= maxBits; n++ {
		next[n+1] = (next[n] + count[n]) << 1
	}
	clear(table[:1<<index])
	var codes [288]uint16
	var longest [1 << litBits]uint8 // of the long codes with the same first bits
	for s, n := range lengths {
		if n == 0 {
			continue
		}
		code := bits.Reverse16(uint16(next[n])) >> (16 - n)
		next[n]++
		codes[s] = code
		if int(n) > index {
			start := code & (1<<index - 1)
			longest[start] = max(longest[start], n)
			continue
		}
		for i := int(code); i < 1<<index; i += 1 << n {
			table[i] = symbols[s] | entry(n)
		}
	}
	return buildLong(table, index, symbols, lengths, codes[:], longest[:])
}

// buildLong adds the codes that are longer than the index of the first table. They continue in second
// tables, one per start.
func buildLong(table []entry, index int, symbols []entry, lengths []uint8, codes []uint16, longest []uint8) bool {
	free := 1 << index
	for s, n := range lengths {
		if int(n) <= index {
			continue
		}
		code := int(codes[s])
		start := code & (1<<index - 1)
		more := int(longest[start]) - index
		if table[start].kind() != link {
			if free+1<<more > len(table) {
				return false
			}
			clear(table[free : free+1<<more])
			table[start] = makeEntry(link, more, free) | entry(index)
			free += 1 << more
		}
		at := table[start].value()
		for i := code >> index; i < 1<<more; i += 1 << (int(n) - index) {
			table[at+i] = symbols[s] | entry(int(n)-index)
		}
	}
	return true
}

// pair makes entries of two literals where both codes fit the index.
func pair(table []entry) {
	for i := 1<<litBits - 1; i >= 0; i-- {
		a := table[i]
		if a.kind() != literal1 || a.width() >= litBits {
			continue
		}
		b := table[i>>a.width()] // not changed yet: its index is smaller, or the same if i is 0
		if n := a.width() + b.width(); b.kind() == literal1 && n <= litBits {
			table[i] = makeEntry(literal2, 0, a.value()|b.value()<<8) | entry(n)
		}
	}
}
