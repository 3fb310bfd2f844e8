package gpu

import (
	"fmt"
	"math"
	"strings"

	"quern.dev/gpu/compiled"
	"quern.dev/internal/driver"
)

// locate says in the words of the kernel's parameters where an access was that the
// simulator has refused, if it was to one of them.
func (e *KernelError) locate(a *driver.Access, params []compiled.Param) {
	found := accessed(a, params)
	if len(found) == 0 {
		return
	}
	texts := make([]string, len(found))
	for i := range found {
		texts[i] = found[i].String()
	}
	text := texts[0]
	if others := texts[1:]; len(others) > 0 {
		text += " (the same memory as " + strings.Join(others, ", ") + ")"
	}
	e.Param, e.Index, e.Length = found[0].param, found[0].index, found[0].length
	e.Reason = strings.Replace(e.Reason, a.Where, text, 1)
}

// element is where in a slice argument an access begins.
type element struct {
	param         string
	index, length int64  // the length is the slice's
	part          string // of the element: ".X"
	bytes         int64  // of the part that come before the access
	count         int64  // of elements that the access reaches
}

// accessed returns the elements of slice arguments that an access is to: of several
// slices if they overlap. If it is to none, it returns those of the nearest slices in
// the same allocation, which have negative indices or such beyond the slice's end.
func accessed(a *driver.Access, params []compiled.Param) []element {
	var found []element
	least := uint64(math.MaxUint64) // bytes from a slice that was found to the access
	for _, s := range a.Slices {
		p := (*param)(&params[s.Param])
		if s.Addr < a.Lo || s.Addr > a.Hi || s.Length == 0 || a.Write && p.ReadOnly {
			continue
		}
		size := int64(p.Size)
		e := element{param: p.name(s.Param), length: s.Length}
		off := int64(a.Address - s.Addr)
		e.index = off / size
		if off%size < 0 {
			e.index--
		}
		e.bytes = off - e.index*size
		e.count = (e.bytes + int64(a.Size) + size - 1) / size
		if l, known := parseLayout(p.layout()); known {
			e.part, e.bytes = l.at(e.bytes)
		}
		away := uint64(0)
		switch {
		case off < 0:
			away = uint64(-off)
		case e.index >= s.Length:
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

// String is "x[3].Y", with what there is to say about it.
func (e *element) String() string {
	text := fmt.Sprintf("%s[%d]%s", e.param, e.index, e.part)
	switch {
	case e.bytes > 0:
		text = fmt.Sprintf("byte %d of %s", e.bytes, text)
	case e.count > 1 && e.part == "":
		text = fmt.Sprintf("%s[%d:%d]", e.param, e.index, e.index+e.count)
	}
	if e.index < 0 || e.index+e.count > e.length {
		text += " of " + count64(e.length, "element")
	}
	return text
}

// name is the parameter's, for messages.
func (p *param) name(number int) string {
	if p.Name == "" || p.Name == "_" {
		return fmt.Sprintf("parameter %d", number)
	}
	return p.Name
}
