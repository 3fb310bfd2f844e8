package lint

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"quern.dev/internal/compiler/ir"
)

const (
	sector      = 32  // bytes that global memory transfers at once
	line        = 128 // bytes per cache lookup
	manySectors = 4   // ratio of touched to needed sectors that is reported
	manyLines   = 8   // the same for lines, if the ratio of sectors is at least two
	sectorCost  = 4   // cost of an unneeded sector
	fewLanes    = 8   // an access of fewer lanes is not the main work of the kernel
)

// neighbours is the advice if neighbouring threads access distant elements.
const neighbours = "let neighbouring threads access neighbouring elements: exchange the indices, or go through shared memory"

// coalescing reports accesses to global memory that touch many more sectors than
// necessary.
func (c *checker) coalescing(list []access) {
	for _, g := range groups(list) {
		first := g[0]
		switch {
		case first.at.spread():
			c.symbolic(g)
		case first.at.base == 0: // what every block reads again, such as a table, is cached
		default:
			if touched, needed := g.touch(g, sector); touched >= manySectors*needed {
				c.wasted(g, touched, needed)
			} else {
				c.divided(g)
			}
		}
	}
}

// symbolic reports accesses whose stride between threads has an unknown factor.
func (c *checker) symbolic(g group) {
	for _, a := range g {
		touched, needed := g.touch(group{a}, sector)
		stride := a.symbolicStride()
		if stride == "" || touched < manySectors*needed {
			continue
		}
		c.report(a.pos, "uncoalesced", neighbours, "neighbouring threads access elements of %s that are %s apart: a warp touches %d sectors of 32 bytes where %d would do",
			c.name(a.object), stride, touched, needed)
	}
}

// wasted reports accesses that use only a small part of the transferred bytes.
func (c *checker) wasted(g group, touched, needed int) {
	first, elem := g[0], g[0].elem()
	used := len(g.bytes())
	if fields := g.fields(); elem != nil && elem.Kind == ir.Struct && fields != "" && first.at.base%elem.Size() == 0 && first.distance() == elem.Size() {
		c.report(first.pos, "uncoalesced", fmt.Sprintf("keep %s in a slice of its own", fields),
			"a warp touches %d sectors of 32 bytes of %s where %d would do: of the %d bytes of %s, %d are used", touched, c.name(first.object), needed, elem.Size(), c.typeName(elem), used)
		return
	}
	c.report(first.pos, "uncoalesced", neighbours, "a warp touches %d sectors of 32 bytes of %s where %d would do%s", touched, c.name(first.object), needed, first.stride())
}

// divided reports elements that are transferred by several accesses, each of which
// touches many sectors, although together they use what they touch.
func (c *checker) divided(g group) {
	g = g.once()
	worst, most, best, lost := -1, 0, 0, 0
	total, farLines := 0, false // sectors of all accesses, and whether one access touches many lines
	distinct, _ := g.touch(g, sector)
	for i, a := range g {
		touched, needed := g.touch(group{a}, sector)
		lines, fewest := g.touch(group{a}, line)
		far := touched >= 2*needed && lines >= manyLines*fewest
		slow := far || touched > manySectors*needed || touched == manySectors*needed && a.inAggregate()
		total += touched
		farLines = farLines || far
		if slow && (worst < 0 || touched*best > most*needed) {
			worst, most, best = i, touched, needed
		}
		lost += a.weight * (touched - needed)
	}
	if worst < 0 || sectorCost*lost < c.work || !farLines && total < 3*distinct {
		return
	}
	a := g[worst]
	upTo := ""
	if !g.alike() {
		upTo = "up to "
	}
	c.report(g[0].pos, "divided accesses", c.wholeElements(g, a.bytes),
		"%s is %s; each touches %s%d sectors of 32 bytes where %d would do for neighbours%s", c.element(g[0]), g.counted(), upTo, most, best, a.stride())
}

// wholeElements returns the advice for elements that are transferred in accesses of the
// given number of bytes.
func (c *checker) wholeElements(g group, bytes int64) string {
	a, elem := g[0], g[0].elem()
	actor := c.source.ActorOf(c.kernel.Name) != nil || c.source.OperatorOf(c.kernel.Name) != nil // its slices are not in the source
	if elem == nil || !elem.IsAggregate() || a.distance() != elem.Size() {
		if elem != nil && !actor && !c.isParameter(a.place) && len(g.bytes()) == int(a.distance()) {
			return fmt.Sprintf("index %s itself: elements of a part of it are moved one by one", c.name(a.object))
		}
		return neighbours
	}
	apart := "use one slice per field"
	if elem.Kind == ir.Array {
		apart = "let neighbouring threads share an element"
	}
	size := elem.Size()
	whole := min(size&-size, ir.VectorBytes) // largest possible access within an element
	switch {
	case !isUniform(elem):
		return apart
	case whole < 8 && size > ir.VectorBytes/2:
		padded := (size + ir.VectorBytes - 1) / ir.VectorBytes * ir.VectorBytes
		return fmt.Sprintf("pad %s from %d to %d bytes and copy elements as a whole, which moves up to 16 bytes per access, or %s", c.typeName(elem), size, padded, apart)
	case bytes >= whole:
		return apart + ", or copy elements to shared memory with neighbouring threads side by side"
	case actor:
		return neighbours
	case !c.isParameter(a.place):
		return fmt.Sprintf("index %s itself: elements of a part of it are moved number by number", c.name(a.object))
	}
	advice := fmt.Sprintf("copy the element, v := %s", c.element(a))
	if slices.ContainsFunc(g, func(a access) bool { return a.store }) {
		advice += ", and store it as a whole"
	}
	advice += fmt.Sprintf(", which moves %d bytes per access", whole)
	if size > 2*ir.VectorBytes {
		advice += ", or " + apart
	}
	return advice
}

// isUniform reports whether all numbers in a type have the same size.
func isUniform(t *ir.Type) bool {
	size, uniform := int64(0), true
	var look func(t *ir.Type)
	look = func(t *ir.Type) {
		switch t.Kind {
		case ir.Array:
			look(t.Elem)
		case ir.Struct:
			for _, f := range t.Fields {
				look(f.Type)
			}
		default:
			uniform = uniform && (size == 0 || size == t.Size())
			size = t.Size()
		}
	}
	look(t)
	return uniform
}

// inAggregate reports whether an access is to a part of a struct or an array.
func (a access) inAggregate() bool {
	elem := a.elem()
	return elem != nil && elem.IsAggregate()
}

// isParameter reports whether a place is in an element of a whole slice parameter, not
// of a part of one.
func (c *checker) isParameter(p ir.Place) bool {
	e, ok := ir.Root(p).(*ir.ElemPlace)
	if !ok {
		return false
	}
	v, ok := ir.Variable(e.Slice)
	return ok && slices.Contains(c.kernel.Func.Params, v)
}

// group is a set of accesses to an object that differ by constant offsets, like those
// to the fields of a struct: they use the same sectors.
type group []access

// groups groups the accesses to global memory in which enough lanes take part.
func groups(list []access) []group {
	var out []group
	for _, a := range list {
		if _, ok := a.object.(*ir.Local); !ok || bits.OnesCount32(a.active) < fewLanes {
			continue
		}
		i := slices.IndexFunc(out, func(g group) bool {
			b := g[0]
			return b.object == a.object && b.at.pattern(a.at) && b.at.base == a.at.base
		})
		if i < 0 {
			out = append(out, group{a})
		} else {
			out[i] = append(out[i], a)
		}
	}
	return out
}

// once returns the group with each access of the source once, however many copies of
// its loop body there are.
func (g group) once() group {
	type written struct {
		pos       ir.Pos
		at, bytes int64
		store     bool
	}
	seen := map[written]bool{}
	var out group
	for _, a := range g {
		if w := (written{a.pos, a.at.lane[0], a.bytes, a.store}); !seen[w] {
			seen[w] = true
			out = append(out, a)
		}
	}
	return out
}

// bytes returns the offsets of the bytes that a lane accesses, relative to the first
// access.
func (g group) bytes() map[int64]bool {
	own := map[int64]bool{}
	for _, a := range g {
		moved := a.at.lane[0] - g[0].at.lane[0]
		for k := moved; k < moved+a.bytes; k++ {
			own[k] = true
		}
	}
	return own
}

// touch counts the units of memory that the lanes touch in some accesses of the group,
// and the units that adjacent lanes would touch. Lanes with a stride of unknown factor
// share no units.
func (g group) touch(some group, unit int64) (touched, needed int) {
	type place struct {
		row [4]int64
		n   int64
	}
	own := some.bytes()
	active := uint32(0)
	for _, a := range some {
		active |= a.active
	}
	first := some[0].at
	seen := map[place]bool{}
	for i, at := range first.lane {
		if active>>i&1 == 0 {
			continue
		}
		var p place
		for j, t := range first.terms[:min(len(first.terms), len(p.row))] {
			p.row[j] = t.lane[i]
		}
		for k := range own {
			p.n = floorDiv(at+k, unit)
			seen[p] = true
		}
	}
	return len(seen), max(1, (bits.OnesCount32(active)*len(own)+int(unit)-1)/int(unit))
}

// fields names the accessed fields of a struct, "" if there are many.
func (g group) fields() string {
	var names []string
	for _, a := range g {
		f, ok := a.place.(*ir.FieldPlace)
		for ok {
			next, inner := f.X.(*ir.FieldPlace)
			if !inner {
				break
			}
			f = next
		}
		if !ok {
			return ""
		}
		if name := f.X.Type().Fields[f.Field].Name; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) > 3 {
		return ""
	}
	return enumerate(names)
}

// enumerate joins words to a list.
func enumerate(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

// alike reports whether all accesses have the same width.
func (g group) alike() bool {
	return !slices.ContainsFunc(g, func(a access) bool { return a.bytes != g[0].bytes })
}

// counted says how a group transfers its bytes: "read in 9 accesses of 4 bytes and
// written in 7 of 4 bytes".
func (g group) counted() string {
	var parts []string
	noun := "access"
	for _, store := range [...]bool{false, true} {
		number := map[int64]int{}
		for _, a := range g {
			if a.store == store {
				number[a.bytes]++
			}
		}
		var widths []string
		for _, bytes := range [...]int64{16, 8, 4, 2, 1} {
			n := number[bytes]
			if n == 0 {
				continue
			}
			what := fmt.Sprint(n)
			if noun != "" {
				what += " " + noun
				if n > 1 {
					what += "es"
				}
			}
			noun = ""
			unit := "bytes"
			if bytes == 1 {
				unit = "byte"
			}
			widths = append(widths, fmt.Sprintf("%s of %d %s", what, bytes, unit))
		}
		if len(widths) > 0 {
			parts = append(parts, map[bool]string{false: "read", true: "written"}[store]+" in "+enumerate(widths))
		}
	}
	return enumerate(parts)
}

// spread reports whether the stride between lanes has an unknown factor.
func (v value) spread() bool { return len(v.terms) > 0 && !v.termsEqual() }

func (v value) termsEqual() bool {
	for _, t := range v.terms {
		if !t.lane.equal() {
			return false
		}
	}
	return true
}

// symbolicStride returns the stride between neighbouring lanes if it is a multiple of
// an unknown factor, or "" if it is not or few lanes take part.
func (a access) symbolicStride() string {
	size := max(a.place.Type().Size(), 1)
	if e := a.elem(); e != nil {
		size = e.Size()
	}
	for _, t := range a.at.terms {
		changes, first := 0, int64(0)
		for i := 1; i < len(t.lane); i++ {
			if d := t.lane[i] - t.lane[i-1]; d != 0 {
				changes++
				if first == 0 {
					first = d
				}
			}
		}
		if changes < len(t.lane)/2 {
			continue // several threads share a row
		}
		n, factor := first/size, t.factor
		switch {
		case factor == "":
			return "a number that is not known here"
		case n == 1 || n == -1:
			return factor
		case strings.ContainsAny(factor, "+-"):
			factor = "(" + factor + ")"
		}
		return fmt.Sprintf("%d*%s", n, factor)
	}
	return ""
}

// elem returns the element type of the slice that an access is in, nil if it is not in
// a slice.
func (a access) elem() *ir.Type {
	if e, ok := ir.Root(a.place).(*ir.ElemPlace); ok {
		return e.Type()
	}
	return nil
}

// distance returns the stride between neighbouring lanes in bytes, 0 if it varies.
func (a access) distance() int64 {
	d := a.at.lane[1] - a.at.lane[0]
	for i := 2; i < len(a.at.lane); i++ {
		if a.at.lane[i]-a.at.lane[i-1] != d {
			return 0
		}
	}
	return max(d, -d)
}

// stride describes the stride between neighbouring lanes.
func (a access) stride() string {
	if d := a.distance(); d != 0 {
		return fmt.Sprintf(" (a stride of %d bytes)", d)
	}
	return ""
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
