package ptxvm

// dataType is a fundamental type of PTX (PTX ISA, "Fundamental Types").
type dataType uint8

const (
	noType dataType = iota
	pred
	b8
	b16
	b32
	b64
	u8
	u16
	u32
	u64
	s8
	s16
	s32
	s64
	f16
	f16x2
	bf16
	bf16x2
	f32
	f64
)

// typeClass says which types of the same size are compatible: untyped bits with every
// type, integers with integers of either sign, and a floating-point type only with itself.
type typeClass uint8

const (
	predicateClass typeClass = iota
	bitsClass
	integerClass
	floatClass
)

var dataTypes = [...]struct {
	name  string
	size  int // bytes
	class typeClass
}{
	noType: {"none", 0, bitsClass},
	pred:   {"pred", 1, predicateClass},
	b8:     {"b8", 1, bitsClass},
	b16:    {"b16", 2, bitsClass},
	b32:    {"b32", 4, bitsClass},
	b64:    {"b64", 8, bitsClass},
	u8:     {"u8", 1, integerClass},
	u16:    {"u16", 2, integerClass},
	u32:    {"u32", 4, integerClass},
	u64:    {"u64", 8, integerClass},
	s8:     {"s8", 1, integerClass},
	s16:    {"s16", 2, integerClass},
	s32:    {"s32", 4, integerClass},
	s64:    {"s64", 8, integerClass},
	f16:    {"f16", 2, floatClass},
	f16x2:  {"f16x2", 4, floatClass},
	bf16:   {"bf16", 2, floatClass},
	bf16x2: {"bf16x2", 4, floatClass},
	f32:    {"f32", 4, floatClass},
	f64:    {"f64", 8, floatClass},
}

var dataTypeByName = func() map[string]dataType {
	names := make(map[string]dataType)
	for t := pred; t <= f64; t++ {
		names[dataTypes[t].name] = t
	}
	return names
}()

func (t dataType) String() string   { return dataTypes[t].name }
func (t dataType) size() int        { return dataTypes[t].size }
func (t dataType) class() typeClass { return dataTypes[t].class }

func (t dataType) signed() bool { return t >= s8 && t <= s64 }

// integral reports whether t holds plain bits or integers.
func (t dataType) integral() bool { return t >= b8 && t <= s64 }

// accepts reports whether a register of type r may be an operand of an instruction of type
// t.
func (t dataType) accepts(r dataType) bool {
	if t == pred || r == pred {
		return t == r
	}
	if t.size() != r.size() {
		return false
	}
	return t.class() == bitsClass || r.class() == bitsClass || t.class() == r.class() && (t.class() == integerClass || t == r)
}

// acceptsWide reports whether a register of type r may be the operand of a load, store or
// conversion of type t. The register may be wider than the value.
func (t dataType) acceptsWide(r dataType) bool {
	if t.accepts(r) {
		return true
	}
	if r == pred || r.size() <= t.size() {
		return false
	}
	switch t.class() {
	case floatClass:
		return r.class() == bitsClass
	default:
		return r.class() != floatClass
	}
}

// wide returns the integer type with twice the size of t.
func (t dataType) wide() dataType {
	switch t {
	case u16:
		return u32
	case s16:
		return s32
	case u32:
		return u64
	case s32:
		return s64
	}
	return noType
}
