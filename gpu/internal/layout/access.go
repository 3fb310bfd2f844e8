package layout

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"quern.dev/gpu/compiled"
	"quern.dev/internal/driver"
)

// Locate returns the slice element that an access is to, and a text that also names the
// elements of other parameters in the same memory. It reports false if the access is
// not near any slice.
func Locate(a *driver.Access, params []compiled.Param) (e Element, text string, ok bool) {
	found := accessed(a, params)
	if len(found) == 0 {
		return Element{}, "", false
	}
	texts := make([]string, len(found))
	for i := range found {
		texts[i] = found[i].String()
	}
	text = texts[0]
	if others := texts[1:]; len(others) > 0 {
		text += " (the same memory as " + strings.Join(others, ", ") + ")"
	}
	return found[0], text, true
}

// Element is the position of an access in a slice argument.
type Element struct {
	Param         string
	Index, Length int64 // Length is the length of the slice

	part  string // of the element: ".X"
	bytes int64  // offset of the access in the part
	count int64  // number of elements that the access touches
}

// accessed returns the elements that an access is to, several if slices overlap. If there
// are none, it returns elements of the nearest slices in the same allocation; their
// indices are negative or beyond the end.
func accessed(a *driver.Access, params []compiled.Param) []Element {
	var found []Element
	least := uint64(math.MaxUint64) // distance of the access from the nearest slice so far
	for _, s := range a.Slices {
		p := &params[s.Param]
		if s.Addr < a.Lo || s.Addr > a.Hi || s.Length == 0 || a.Write && p.ReadOnly {
			continue
		}
		size := int64(p.Size)
		e := Element{Param: paramName(p, s.Param), Length: s.Length}
		off := int64(a.Address - s.Addr)
		e.Index = off / size
		if off%size < 0 {
			e.Index--
		}
		e.bytes = off - e.Index*size
		e.count = (e.bytes + int64(a.Size) + size - 1) / size
		if l, known := Parse(cmp.Or(p.Layout, p.Type)); known {
			e.part, e.bytes = l.At(e.bytes)
		}
		away := uint64(0)
		switch {
		case off < 0:
			away = uint64(-off)
		case e.Index >= s.Length:
			away = uint64(off - s.Length*size + 1)
		}
		if away < least {
			found, least = nil, away
		}
		if away == least {
			found = append(found, e)
		}
	}
	return found
}

// String returns a description such as "x[3].Y of 8 elements".
func (e *Element) String() string {
	text := fmt.Sprintf("%s[%d]%s", e.Param, e.Index, e.part)
	switch {
	case e.bytes > 0:
		text = fmt.Sprintf("byte %d of %s", e.bytes, text)
	case e.count > 1 && e.part == "":
		text = fmt.Sprintf("%s[%d:%d]", e.Param, e.Index, e.Index+e.count)
	}
	if e.Index < 0 || e.Index+e.count > e.Length {
		text += " of " + count(e.Length, "element")
	}
	return text
}

// paramName returns the name of a parameter for messages.
func paramName(p *compiled.Param, number int) string {
	if p.Name == "" || p.Name == "_" {
		return fmt.Sprintf("parameter %d", number)
	}
	return p.Name
}
