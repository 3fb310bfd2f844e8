package payload

import (
	"cmp"
	"slices"
)

// extent is a range of bytes of the memory, from lo to hi-1.
type extent struct{ lo, hi int64 }

// extents are the free ranges, in order; no extent touches the next.
type extents []extent

// take finds the first free range of the given size that begins at a multiple of align.
func (s *extents) take(bytes, align int64) (offset int64, ok bool) {
	for i, f := range *s {
		at := (f.lo + align - 1) / align * align
		if at+bytes > f.hi {
			continue
		}
		rest := make([]extent, 0, 2)
		for _, r := range [...]extent{{f.lo, at}, {at + bytes, f.hi}} {
			if r.lo < r.hi {
				rest = append(rest, r)
			}
		}
		*s = slices.Replace(*s, i, i+1, rest...)
		return at, true
	}
	return 0, false
}

// add returns a range.
func (s *extents) add(f extent) {
	i, _ := slices.BinarySearchFunc(*s, f, func(x, y extent) int { return cmp.Compare(x.lo, y.lo) })
	j := i
	if i > 0 && (*s)[i-1].hi == f.lo {
		i--
		f.lo = (*s)[i].lo
	}
	if j < len(*s) && (*s)[j].lo == f.hi {
		f.hi = (*s)[j].hi
		j++
	}
	*s = slices.Replace(*s, i, j, f)
}

// sizes returns the total free size, and the size of the largest free range.
func (s extents) sizes() (sum, largest int64) {
	for _, f := range s {
		sum, largest = sum+f.hi-f.lo, max(largest, f.hi-f.lo)
	}
	return sum, largest
}

func gcd(x, y int64) int64 {
	for y != 0 {
		x, y = y, x%y
	}
	return x
}
