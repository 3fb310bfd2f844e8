package ptxvm

import "math"

// space is a PTX state space.
type space uint8

const (
	genericSpace space = iota
	globalSpace
	constSpace
	sharedSpace
	localSpace
	paramSpace
)

var spaceNames = [...]string{"generic", "global", "constant", "shared", "local", "parameter"}

func (s space) String() string { return spaceNames[s] }

var spaceByModifier = map[string]space{
	"global":      globalSpace,
	"const":       constSpace,
	"shared":      sharedSpace,
	"shared::cta": sharedSpace,
	"local":       localSpace,
	"param":       paramSpace,
}

// Limits on the declarations of a module. Those on shared and local memory are the
// hardware's (227 KiB per block, 512 KiB per thread). The limit on parameters is that of
// PTX before version 8.1. The others protect the host from a damaged module.
const (
	maxShared    = 227 << 10
	maxLocal     = 512 << 10
	maxParams    = 4352
	maxVariable  = 1 << 30
	maxRegisters = 1 << 16
)

// variable is a declared variable in any state space but .reg.
type variable struct {
	name   string
	space  space
	typ    dataType
	align  int
	size   int    // bytes
	offset uint64 // in shared, local or parameter memory
	init   []byte // leading bytes; the rest is zero
	relocs []dataReloc
}

// dataReloc asks for the address of a variable in an initializer.
type dataReloc struct {
	offset   int
	variable *variable
	addend   uint64
}

// declaration parses a variable after its space directive: alignment, type, and one or
// more names with dimensions and initializers. terminated says whether a semicolon
// follows, as it does everywhere but in a parameter list.
func (p *parser) declaration(sp space, terminated bool) []*variable {
	proto := variable{space: sp}
	align, vector := 0, 1
	for p.peek().kind == dotted {
		switch word := p.next().text; word {
		case "align": // for a .ptr parameter, the alignment of the memory it points to, which is ignored
			if n := p.alignment(); proto.typ == noType {
				align = n
			}
		case "v2":
			vector = 2
		case "v4":
			vector = 4
		case "attribute":
			p.skipParentheses()
		case "ptr", "global", "const", "shared", "local":
			if sp != paramSpace {
				p.fail("unexpected .%s", word)
			}
		default:
			t, ok := dataTypeByName[word]
			if !ok || t == pred || proto.typ != noType {
				p.fail("unknown variable type .%s", word)
			}
			proto.typ = t
		}
	}
	if proto.typ == noType {
		p.fail("a variable without a type")
	}
	element := proto.typ.size() * vector
	var vars []*variable
	for {
		v := proto
		if v.align = align; align == 0 {
			v.align = element
		}
		v.name = p.expect(identifier, "a variable name").text
		count := p.dimensions(&v, sp == sharedSpace)
		if count > maxVariable/element {
			p.fail("variable %s is larger than %d bytes", v.name, maxVariable)
		}
		v.size = count * element
		if p.accept("=") {
			if sp != globalSpace && sp != constSpace {
				p.fail("variable %s in %s memory cannot be initialized", v.name, sp)
			}
			p.initializer(&v)
		}
		vars = append(vars, &v)
		if !terminated || !p.accept(",") {
			break
		}
	}
	if terminated {
		p.expectPunctuation(";")
	}
	return vars
}

func (p *parser) alignment() int {
	n := p.expect(integer, "an alignment").value
	if n == 0 || n > 1<<12 || n&(n-1) != 0 {
		p.fail("invalid alignment %d", n)
	}
	return int(n)
}

// dimensions parses [n][m]... and returns the number of elements. An empty first dimension
// counts as zero if dynamic is set.
func (p *parser) dimensions(v *variable, dynamic bool) int {
	count := 1
	for first := true; p.accept("["); first = false {
		if p.accept("]") {
			if !first {
				p.fail("only the first dimension of %s may be empty", v.name)
			}
			if dynamic {
				count = 0
			} else {
				count = -1 // the initializer sets it
			}
			continue
		}
		n := p.constant()
		p.expectPunctuation("]")
		if n == 0 || n > maxVariable || count > 0 && uint64(count) > maxVariable/n {
			p.fail("invalid dimension %d of %s", n, v.name)
		}
		if count < 0 {
			p.fail("array %s has no size", v.name)
		}
		count *= int(n)
	}
	if count < 0 {
		p.fail("array %s has no size", v.name)
	}
	return count
}

// initializer parses the value of v, or its braced and possibly nested list of values. It
// assumes that nested lists are complete.
func (p *parser) initializer(v *variable) {
	if !p.accept("{") {
		p.initialValue(v)
		return
	}
	depth := 1
	for depth > 0 {
		switch {
		case p.accept("{"):
			depth++
		case p.accept("}"):
			depth--
		case p.accept(","):
		default:
			p.initialValue(v)
		}
	}
}

func (p *parser) initialValue(v *variable) {
	size := v.typ.size()
	if len(v.init)+size > v.size {
		p.fail("too many initial values for %s", v.name)
	}
	var bits uint64
	if t := p.peek(); t.kind == identifier && t.text != "WARP_SZ" {
		name := p.next().text
		if name == "generic" && p.accept("(") {
			name = p.expect(identifier, "a variable name").text
			p.expectPunctuation(")")
		}
		target, ok := p.scope.lookup(name).(*variable)
		if !ok || target.space != globalSpace && target.space != constSpace || size != 8 {
			p.fail("%s cannot initialise %s", name, v.name)
		}
		r := dataReloc{offset: len(v.init), variable: target}
		if p.accept("+") {
			r.addend = p.constant()
		}
		v.relocs = append(v.relocs, r)
	} else {
		bits = p.immediate(v.typ)
	}
	for range size {
		v.init = append(v.init, byte(bits))
		bits >>= 8
	}
}

// immediate parses a constant operand of type t and returns its bits.
func (p *parser) immediate(t dataType) uint64 {
	tok := p.peek()
	negative := false
	for tok.kind == punctuation && tok.text == "-" {
		p.next()
		negative = !negative
		tok = p.peek()
	}
	switch tok.kind {
	case float32Text, float64Text:
		p.next()
		bits, ok := floatBits(tok, t, negative)
		if !ok {
			p.fail("%s is not a value of type .%s", tok, t)
		}
		return bits
	}
	n := p.constant()
	if negative {
		n = -n
	}
	return n
}

// floatBits converts the floating-point constant tok to the bits of type t.
func floatBits(tok token, t dataType, negative bool) (uint64, bool) {
	bits, single := tok.value, tok.kind == float32Text
	if negative {
		if single {
			bits ^= 1 << 31
		} else {
			bits ^= 1 << 63
		}
	}
	switch t {
	case f64, b64:
		if single {
			return math.Float64bits(float64(math.Float32frombits(uint32(bits)))), t == f64
		}
		return bits, true
	case f32, b32:
		if single {
			return bits, true
		}
		return uint64(math.Float32bits(float32(math.Float64frombits(bits)))), t == f32
	}
	return 0, false
}

// place assigns v the next aligned offset in a memory with used occupied bytes. It returns
// the number of bytes that are then occupied.
func (v *variable) place(used int) int {
	used = (used + v.align - 1) &^ (v.align - 1)
	v.offset = uint64(used)
	return used + v.size
}
