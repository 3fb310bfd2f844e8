// Package spans implements sets of array elements.
package spans

import (
	"fmt"
	"slices"
)

// Span is the range of elements Lo to Hi-1.
type Span struct{ Lo, Hi int }

// String returns "[Lo:Hi]".
func (r Span) String() string { return fmt.Sprintf("[%d:%d]", r.Lo, r.Hi) }

// Empty reports whether the span has no elements.
func (r Span) Empty() bool { return r.Lo >= r.Hi }

// Overlaps reports whether the spans have a common element.
func (r Span) Overlaps(o Span) bool { return r.Lo < o.Hi && o.Lo < r.Hi && !r.Empty() && !o.Empty() }

// Set is a set of elements: spans in ascending order. No span is empty or touches the
// next.
type Set []Span

// Add adds the elements of r.
func (s *Set) Add(r Span) {
	if r.Empty() {
		return
	}
	first, last := 0, 0 // s[first:last] touch r
	for first < len(*s) && (*s)[first].Hi < r.Lo {
		first++
	}
	for last = first; last < len(*s) && (*s)[last].Lo <= r.Hi; last++ {
		r.Lo, r.Hi = min(r.Lo, (*s)[last].Lo), max(r.Hi, (*s)[last].Hi)
	}
	*s = slices.Replace(*s, first, last, r)
}

// Remove removes the elements of r.
func (s *Set) Remove(r Span) {
	var rest [2]Span
	for i := 0; i < len(*s); {
		have := (*s)[i]
		if !have.Overlaps(r) {
			i++
			continue
		}
		left := rest[:0]
		if before := (Span{have.Lo, r.Lo}); !before.Empty() {
			left = append(left, before)
		}
		if after := (Span{r.Hi, have.Hi}); !after.Empty() {
			left = append(left, after)
		}
		*s = slices.Replace(*s, i, i+1, left...)
		i += len(left)
	}
}

// Within returns the elements that are in r.
func (s Set) Within(r Span) Set {
	var found Set
	for _, have := range s {
		if have.Overlaps(r) {
			found = append(found, Span{max(have.Lo, r.Lo), min(have.Hi, r.Hi)})
		}
	}
	return found
}

// Overlaps reports whether the set has an element of r.
func (s Set) Overlaps(r Span) bool {
	return slices.ContainsFunc(s, r.Overlaps)
}

// Missing returns the first run of elements of r that are not in the set.
func (s Set) Missing(r Span) (gap Span, found bool) {
	for _, have := range s {
		if have.Hi <= r.Lo {
			continue
		}
		if have.Lo > r.Lo {
			break
		}
		r.Lo = have.Hi
	}
	if r.Empty() {
		return Span{}, false
	}
	for _, have := range s {
		if have.Lo > r.Lo {
			r.Hi = min(r.Hi, have.Lo)
			break
		}
	}
	return r, true
}
