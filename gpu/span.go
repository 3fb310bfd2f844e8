package gpu

import (
	"fmt"
	"slices"
)

// span is the elements lo to hi-1.
type span struct{ lo, hi int }

func (r span) String() string { return fmt.Sprintf("[%d:%d]", r.lo, r.hi) }

func (r span) empty() bool { return r.lo >= r.hi }

func (r span) overlaps(o span) bool { return r.lo < o.hi && o.lo < r.hi && !r.empty() && !o.empty() }

// spans is a set of elements: spans in order, none empty, none touching the
// next.
type spans []span

// add adds the elements of r.
func (s *spans) add(r span) {
	if r.empty() {
		return
	}
	first, last := 0, 0 // s[first:last] touch r
	for first < len(*s) && (*s)[first].hi < r.lo {
		first++
	}
	for last = first; last < len(*s) && (*s)[last].lo <= r.hi; last++ {
		r.lo, r.hi = min(r.lo, (*s)[last].lo), max(r.hi, (*s)[last].hi)
	}
	*s = slices.Replace(*s, first, last, r)
}

// remove takes the elements of r away.
func (s *spans) remove(r span) {
	var rest [2]span
	for i := 0; i < len(*s); {
		have := (*s)[i]
		if !have.overlaps(r) {
			i++
			continue
		}
		left := rest[:0]
		if before := (span{have.lo, r.lo}); !before.empty() {
			left = append(left, before)
		}
		if after := (span{r.hi, have.hi}); !after.empty() {
			left = append(left, after)
		}
		*s = slices.Replace(*s, i, i+1, left...)
		i += len(left)
	}
}

// within returns the elements that lie in r.
func (s spans) within(r span) spans {
	var found spans
	for _, have := range s {
		if have.overlaps(r) {
			found = append(found, span{max(have.lo, r.lo), min(have.hi, r.hi)})
		}
	}
	return found
}

// overlaps reports whether the set has an element of r.
func (s spans) overlaps(r span) bool {
	return slices.ContainsFunc(s, r.overlaps)
}

// missing returns the first run of elements of r that the set has not.
func (s spans) missing(r span) (gap span, found bool) {
	for _, have := range s {
		if have.hi <= r.lo {
			continue
		}
		if have.lo > r.lo {
			break
		}
		r.lo = have.hi
	}
	if r.empty() {
		return span{}, false
	}
	for _, have := range s {
		if have.lo > r.lo {
			r.hi = min(r.hi, have.lo)
			break
		}
	}
	return r, true
}
